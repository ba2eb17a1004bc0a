"""Inputs for fuzzing: well-formed files with a few edits, and random bytes."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

TOKENS = [
    b"\0", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b"\t", b" ", b":", b"{", b"}", b"[", b"]",
    b"\\", b"\\ud800", b"\\u0000", b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[2J", b"\x1f\x8b", b"PK\x03\x04", b"\x80\x04",
    b"\x93NUMPY", b"null", b"true", b"NaN", b"nan", b"inf", b"-1", b"0", b"1e999", b"9" * 40,
    b"=cmd()", b"From ", b"# ", b"text", b"id", b"\n\n\n", b"[" * 2000, b"x" * 70_000,
    "\u2028\x85\u0130".encode(),
]  # fmt: skip

PLACES = st.floats(0, 1, exclude_max=True)
SIZES = st.sampled_from([0, 1, 2, 4, 8, 50])
EDITS = st.one_of(
    st.tuples(st.just("replace"), PLACES, SIZES, st.sampled_from(TOKENS)),
    st.tuples(st.just("replace"), PLACES, SIZES, st.binary(max_size=8)),
    st.tuples(st.just("repeat"), PLACES, SIZES, st.just(b"")),
    st.tuples(st.just("truncate"), PLACES, st.just(0), st.just(b"")),
    st.tuples(st.just("flip"), PLACES, st.integers(0, 7), st.just(b"")),
)


def edited(raw: bytes, edits: Sequence[tuple[str, float, int, bytes]]) -> bytes:
    """Apply edits: replace, insert, remove or repeat some bytes, truncate the input, flip a bit."""
    for kind, place, size, token in edits:
        at = int(place * (len(raw) + 1))
        if kind == "replace":
            raw = raw[:at] + token + raw[at + size :]
        elif kind == "repeat":
            raw = raw[: at + size] + raw[at:]
        elif kind == "truncate":
            raw = raw[:at]
        elif at < len(raw):
            raw = raw[:at] + bytes([raw[at] ^ 1 << size]) + raw[at + 1 :]
    return raw


def damaged(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy for inputs: mostly edited seeds, sometimes random bytes."""
    edits = st.lists(EDITS, max_size=6)
    return st.one_of(
        st.builds(edited, st.sampled_from(list(seeds)), edits),
        st.builds(edited, st.sampled_from(list(seeds)), edits),
        st.binary(max_size=200),
    )


CHARACTERS = st.characters(exclude_categories=())
DOCUMENTS: st.SearchStrategy[Any] = st.one_of(
    st.text(CHARACTERS, max_size=60),
    st.binary(max_size=60),
    st.none(),
    st.just(float("nan")),
    st.builds(lambda token, times: token.decode("utf-8", "replace") * times,
              st.sampled_from(TOKENS), st.integers(1, 50)),
)  # fmt: skip
"""Documents for ``transform``: characters of every category, including lone surrogates."""
