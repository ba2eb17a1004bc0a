"""No mark of a release may depend on the texts: a vocabulary's header is no membership oracle.

Whoever supplies the "public" vocabulary could otherwise list digests of texts in its header and
read in the guarantee whether a text is among the released ones.
"""

import json
from hashlib import sha256

import pytest

from syntf import SynTF

TEXTS = ["the cat saw a dog", "a house by the river"]
OTHERS = ["the bus and the train", "bread and cheese"]
WORDS = ["cat", "dog", "bus", "house"]


def texts_digest(texts):
    """The digest that version 0.1 wrote into headers: the sum of the SHA-256 of the texts."""
    total = sum(int.from_bytes(sha256(text.encode()).digest()) for text in texts) % 2**256
    return f"{total:064x}"


def csv(texts):
    return "text\n" + "".join(f"{text}\n" for text in texts)


def vocabulary(path, **fields):
    """Write a vocabulary with a header that has these fields and return its path."""
    lines = ["# syntf vocabulary", *(f"# {key}: {value}" for key, value in fields.items()), ""]
    path.write_text("\n".join([*lines, *WORDS, ""]))
    return path


HEADERS = [
    {"texts-sha256": texts_digest(TEXTS)},
    {"source-sha256": sha256(csv(TEXTS).encode()).hexdigest()},
    {"texts-sha256": texts_digest(TEXTS), "provenance": "public"},
    {"texts-sha256": texts_digest(TEXTS), "public": "yes"},
    {"texts-sha256": texts_digest(TEXTS[:1]), "public": "yes"},
]


@pytest.mark.slow
@pytest.mark.parametrize("fields", HEADERS)
def test_command_line_marks_a_release_alike_for_any_texts(call, tmp_path, monkeypatch, fields):
    monkeypatch.chdir(tmp_path)
    vocabulary(tmp_path / "terms.txt", **fields)
    outcomes = []
    for number, texts in enumerate((TEXTS, OTHERS)):
        (tmp_path / f"{number}.csv").write_text(csv(texts))
        options = ["--vocabulary", "terms.txt", "--out", f"out{number}", "--length", 5, "--quiet"]
        code, out, _ = call("anonymize", f"{number}.csv", *options)
        guarantee = json.loads((tmp_path / f"out{number}" / "guarantee.json").read_text())
        marks = {key: value for key, value in guarantee.items() if key not in ("files", "checksum")}
        outcomes.append((code, out.replace(f"out{number}", "out"), marks))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("fields", HEADERS)
def test_estimator_marks_and_transforms_any_texts_alike(tmp_path, toy_vectors, fields):
    path = vocabulary(tmp_path / "terms.txt", **fields)

    def fitted(texts):
        return SynTF(vectors=toy_vectors, vocabulary=path, length=5).fit(texts)

    assert fitted(TEXTS).guarantee_ == fitted(OTHERS).guarantee_
    for texts in (TEXTS, OTHERS, TEXTS[:1]):
        assert fitted([]).transform(texts).sum() == 5 * len(texts)
        assert len(list(fitted([]).iter_transform(texts, batch_size=1))) == len(texts)


@pytest.mark.parametrize("fields", HEADERS)
def test_standard_input_is_read_with_any_vocabulary(call, tmp_path, monkeypatch, fields):
    monkeypatch.chdir(tmp_path)
    vocabulary(tmp_path / "terms.txt", **fields)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS))
    with open(tmp_path / "in.jsonl") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        code, _, err = call(
            "anonymize", "-", "--input-format", "jsonl", "--vocabulary", "terms.txt", "--out", "out"
        )
    assert code == 0, err
