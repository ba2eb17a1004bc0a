"""Files of codebooks: written the same way every time, and refused if they cannot be used."""

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.topics import codebook as codebook_module
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import Encoder


def test_the_embedded_codebook_can_be_used(embedded):
    codebook = Codebook.embedded()
    assert codebook.origin == "embedded"
    assert codebook.vectors_digest == embedded.digest
    assert np.count_nonzero(codebook.leaves) == 3764
    Encoder(codebook, embedded)


def test_a_file_is_read_back_as_it_was_written(toy_codebook, tmp_path):
    named = replace(toy_codebook, names=tuple("abcdefg"), encoder="")
    for name in ("a", "b"):
        named.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    read = Codebook.read(tmp_path / "a")
    assert read.digest == named.digest
    assert read.made_from == "the tests"
    assert read.names == named.names


def test_the_digest_covers_every_number_and_name(toy_codebook):
    digests = {toy_codebook.digest, replace(toy_codebook, names=tuple("abcdefg")).digest}
    for name in codebook_module._ARRAYS:
        array = getattr(toy_codebook, name).copy()
        if array.size:
            array.flat[-1] += 1
        else:
            array = np.ones((1,) * array.ndim, array.dtype)
        digests.add(replace(toy_codebook, **{name: array}).digest)
    for name in ("encoder", "vectors_digest"):
        digests.add(replace(toy_codebook, **{name: "other"}).digest)
    assert len(digests) == 2 + len(codebook_module._ARRAYS) + 2


def test_a_file_cannot_declare_itself_embedded(toy_codebook, tmp_path):
    for declared, origin in (("embedded", "supplied"), ("private", "private")):
        replace(toy_codebook, origin=declared).save(tmp_path / "a")
        assert Codebook.read(tmp_path / "a").origin == origin


def nodes(codebook, row, value):
    changed = codebook.nodes.copy()
    changed[row] = value
    return {"nodes": changed}


BAD = {
    "of two topics or more": lambda c: {
        "nodes": c.nodes[:1], "child": np.zeros(1, np.int32), "points": c.points[:1],
        "spread": c.spread[:1],
    },
    "no direction": lambda c: nodes(c, 3, 0),
    "the same vector": lambda c: nodes(c, 3, c.nodes[4]),
    "another number of dimensions": lambda c: {"nodes": c.nodes[:, :7]},
    "not a tree": lambda c: {"child": np.array([1, 3, 3, 0, 0, 0, 0], np.int32)},
    "is not a tree": lambda c: {"points": np.zeros(7, np.int32)},
    "whole numbers": lambda c: {"whiten": np.full((8, 8), np.nan)},
    "numbers of the right type": lambda c: {"nodes": c.nodes.astype(np.float32) * np.nan},
    "of the right type": lambda c: {"nodes": np.array(3, np.int8)},
    "right type": lambda c: {"child": np.zeros((7, 1), np.int32)},
    "its tree": lambda c: {"spread": c.spread[:3]},
    "than its encoder": lambda c: {"whiten": np.eye(7, dtype=np.int16)},
    "have no vector": lambda c: {"outputs": np.array([0, 99], np.int32)},
    "no vector": lambda c: {"outputs": np.array([-1], np.int32)},
    "names words": lambda c: {"outputs": np.zeros(0, np.int32)},
    "twice": lambda c: {"outputs": np.array([1, 1], np.int32)},
    "own words": lambda c: {"own_centre": np.zeros(3, np.int16)},
    "own word vectors": lambda c: {"own_weight": np.ones(2, np.uint16)},
    "256 numbers": lambda c: {"tf": c.tf[:9]},
    "cannot be printed": lambda c: {"names": (*"abcdef", "b\x1b[2J")},
    "too long": lambda c: {"made_from": "x" * 401},
    "name every topic": lambda c: {"names": (*"abcdef", "")},
    "every topic": lambda c: {"names": ("a",)},
    "of its encoder": lambda c: {
        "encoder": "e", "own_rows": np.arange(1, dtype=np.int32),
        "own_weight": np.ones(1, np.uint16), "own_vectors": np.ones((1, 8), np.int8),
        "own_centre": np.zeros(8, np.int16),
    },
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_codebook_that_cannot_be_used_is_refused_with_the_reason(toy_codebook, tmp_path, what):
    replace(toy_codebook, **BAD[what](toy_codebook)).save(tmp_path / "bad")
    with pytest.raises(SyntfError, match=f"bad cannot be used as a codebook: .*{what}"):
        Codebook.read(tmp_path / "bad")


def rewritten(codebook, folder, **changed):
    """Write a codebook, then replace some members of its file; returns the path."""
    codebook.save(folder / "good")
    with zipfile.ZipFile(folder / "good") as good:
        parts = {name: good.read(name) for name in good.namelist()}
    with zipfile.ZipFile(folder / "bad", "w", zipfile.ZIP_DEFLATED) as bad:
        for name, content in {
            **parts,
            **{f"{key}.npy": raw for key, raw in changed.items()},
        }.items():
            bad.writestr(name, content)
    return folder / "bad"


def as_array(content, **options):
    raw = io.BytesIO()
    np.lib.format.write_array(raw, content, **options)
    return raw.getvalue()


def test_a_file_that_unpacks_to_too_much_is_refused_unread(toy_codebook, tmp_path, monkeypatch):
    path = rewritten(toy_codebook, tmp_path, nodes=bytes(10**6))
    monkeypatch.setattr(codebook_module, "_LARGEST", 10**6 - 1)
    assert path.stat().st_size < 10**5
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(SyntfError, match="too large for a codebook"):
        Codebook.read(path)


def test_an_array_that_states_another_size_is_refused(toy_codebook, tmp_path):
    """An array that claims 2**60 numbers must not be given room."""
    stated = io.BytesIO()
    kind = {"descr": "|i1", "fortran_order": False, "shape": (1 << 40, 1 << 20)}
    np.lib.format.write_array_header_1_0(stated, kind)
    for raw in (stated.getvalue(), b"", b"\x93NUMPY\x02\x00"):
        with pytest.raises(SyntfError, match=r"is not a codebook|cannot be used"):
            Codebook.read(rewritten(toy_codebook, tmp_path, nodes=raw))


@pytest.mark.parametrize(
    "header", [b"", b"[]", b"null", b'{"format": 1}', b"\xff", b"[" * 10**5, b'{"format": "x"}']
)
def test_another_header_is_refused(toy_codebook, tmp_path, header):
    raw = as_array(np.frombuffer(header, np.uint8))
    with pytest.raises(SyntfError, match="not a codebook"):
        Codebook.read(rewritten(toy_codebook, tmp_path, header=raw))


def test_no_pickle_is_loaded(toy_codebook, tmp_path):
    objects = as_array(np.array([print], dtype=object), allow_pickle=True)
    for forged in (objects, pickle.dumps([1])):
        with pytest.raises(SyntfError, match=r"is not a codebook|cannot be used"):
            Codebook.read(rewritten(toy_codebook, tmp_path, nodes=forged))
    (tmp_path / "pickled").write_bytes(pickle.dumps([1]))
    with pytest.raises(SyntfError, match="is not a codebook"):
        Codebook.read(tmp_path / "pickled")


def test_any_damaged_byte_is_read_as_another_codebook_or_refused(toy_codebook, tmp_path):
    toy_codebook.save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    for place in range(0, len(good), 97):
        (tmp_path / "bad").write_bytes(
            good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :]
        )
        try:
            read = Codebook.read(tmp_path / "bad")
        except SyntfError:
            continue
        assert read.digest == toy_codebook.digest


@pytest.mark.parametrize("content", [b"", b"PK", b"some text", as_array(np.zeros(3))])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(SyntfError, match="is not a codebook"):
        Codebook.read(tmp_path / "a")
    with pytest.raises(SyntfError, match="cannot read the codebook"):
        Codebook.read(tmp_path / "missing")


def test_a_file_of_an_older_format_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        old.writestr("header.json", json.dumps({"format": "syntf codebook 1"}))
    with pytest.raises(SyntfError, match="make one with syntf codebook"):
        Codebook.read(tmp_path / "old.zip")


def test_a_codebook_for_other_word_vectors_is_refused(toy_codebook, embedded):
    with pytest.raises(SyntfError, match="other word vectors"):
        Encoder(toy_codebook, embedded)


def test_a_codebook_that_names_the_vectors_of_another_size_is_refused(toy_codebook, toy_vectors):
    """The digest of the word vectors is stated, not computed: a file may state any digest."""
    fewer = replace(toy_codebook, weight=toy_codebook.weight[:30], outputs=toy_codebook.outputs[:9])
    with pytest.raises(SyntfError, match="for 30 word vectors of 8 dimensions, but there are 40"):
        Encoder(fewer, toy_vectors)
