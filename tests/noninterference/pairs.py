"""Compare two runs whose inputs differ in the text of one document.

With the same entropy, everything but the counts of that document must be byte-identical. A run is
anything that returns an :class:`Outcome`: the command on one machine, a cluster, the service.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

SEPARATOR = "From someone@example.org Mon Jan  1 10:00:00 2024"

TEXTS: dict[str, str] = {
    "empty": "",
    "one word": "cat",
    "blank": " \t ",
    "a newline": "cat\ndog",
    "newlines": "\n\n\ncat\n\n",
    "a carriage return": "cat\rdog",
    "carriage returns": "\r\r\n\r",
    "a Windows line": "cat\r\ndog\r\n",
    "other line ends": "cat\x0bdog\x0ccar\x85bus\u2028train\u2029",
    "the beginning of a message": f"cat\n\n{SEPARATOR}\nSubject: x\n\ndog\n",
    "From": "From here on\nFrom there\n>From quotes\n",
    "From after a gap": "cat\n\nFrom \n\nFrom me",
    "a content length": "Content-Length: 1\n\nContent-Length: 999999\n",
    "NUL": "cat\0dog\0",
    "a lone surrogate": "cat \ud83d dog",
    "surrogates": "\udc00\ud800",
    "an escape": "\\ud83d \\n \\",
    "a number": "17",
    "a decimal": "1.0",
    "a large number": "9" * 5000,
    "infinity": "1e999",
    "true": "true",
    "null": "null",
    "NaN": "NaN",
    "a byte order mark": "\ufeffcat",
    "a byte order mark and more": "\ufeffcat\ndog\ud83d\0",
    "quotes": '"cat" ""dog"" "',
    "one quote": '"',
    "commas": "a," * 10_000,
    "tabs": "cat\tdog\t" * 100,
    "JSON": '{"text": "cat", "id": [1, {"a": null}]}',
    "a JSON line": '"}\n{"id": "x", "text": "dog"}\n{"a": "',
    "a CSV row": 'cat"\n9,x,dog\n"',
    "markup": "<p>cat</p><script>",
    "mail": "Content-Type: multipart/mixed; boundary=x\n\n--x\n\ncat\n--x--\n",
    "a formula": "=1+1",
    "other alphabets": "кошка 猫 قطة 🐈 é",
    "combining marks": "e\u0301" * 50,
    "a long word": "cat" * 5000,
    "many words": "cat dog car " * 500,
    "control characters": "\x1b[2J\x07\x7f",
}
"""Texts that once broke something, or might: by what they hold."""


def texts() -> st.SearchStrategy[str]:
    """Generate texts, from single characters to several of the above joined."""
    pieces = st.one_of(
        st.sampled_from(sorted(TEXTS.values())),
        st.sampled_from(['"', ",", "\n", "\r", "\t", "\\", "From ", "\n\nFrom ", ">", "\0", " "]),
        st.text(max_size=12),
        st.text(st.characters(codec="latin-1"), max_size=12),
        st.text(st.characters(categories=["Cs", "Cc"]), max_size=4),
    )
    return st.lists(pieces, max_size=4).map("".join)


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of a run.

    status : the exit status, or the status of a response.
    output : what was printed on standard output, or returned beside the counts.
    files : the files of a release, by their paths, without those that hold counts or digests.
    rows : for each released document, in order, its counts.
    sealed : files that depend on the counts of all documents, by their paths. They must be equal
        if all rows are, and are compared otherwise after `rebuild` (see :func:`check`).
    """

    status: int
    output: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    rows: Sequence[Hashable] = ()
    sealed: Mapping[str, bytes] = field(default_factory=dict)


def check(first: Outcome, second: Outcome, place: int | None) -> int | None:
    """Check that two outcomes differ at most in the counts of one document.

    `place` is where that document stands in the release, or None if its place is unknown, as in a
    shuffled release without ids. Returns the place of the row that differs, if one does.
    """
    assert first.status == second.status
    assert first.output == second.output
    assert first.files.keys() == second.files.keys()
    for name, content in first.files.items():
        assert content == second.files[name], name
    assert first.sealed.keys() == second.sealed.keys()
    assert len(first.rows) == len(second.rows)
    differ = [i for i, row in enumerate(first.rows) if row != second.rows[i]]
    assert len(differ) <= 1, "the counts of other documents differ"
    if not differ:
        assert first.sealed == second.sealed
        return None
    assert place is None or differ == [place], "the counts of another document differ"
    return differ[0]


def without_digests(output: str) -> str:
    """Leave out what a JSON record says about the bytes of files with counts."""
    record: dict[str, Any] = json.loads(output)
    record["guarantee"].pop("files")
    record["guarantee"].pop("checksum", None)
    return json.dumps(record)
