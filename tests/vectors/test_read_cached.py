"""Vectors read from a file are remembered by its bytes; what is damaged is read anew."""

import gzip
import mmap
import os
from contextlib import contextmanager

import numpy as np
import pytest

from syntf import SynTF
from syntf.core import cache_store
from syntf.core.errors import SyntfError
from syntf.vectors.word_vectors import WordVectors, read_cached

RAW = b"cat 1 2\ndog -1 3\ncat 5 5\nbus 7 1\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "v.txt").write_bytes(RAW)
    return tmp_path / "v.txt"


@pytest.fixture
def entry(path, empty_cache):
    """The entry of a file read once."""
    read_cached(path)
    (entry,) = empty_cache.iterdir()
    return entry


def load(path):
    """The vectors, and whether the file was read for them."""
    progress_calls = []

    @contextmanager
    def stages(name, total):
        progress_calls.append(name)
        yield lambda steps: None

    return read_cached(path, stages), bool(progress_calls)


def same(a, b):
    return list(a.words) == list(b.words) and (a.matrix == b.matrix).all() and a.notes == b.notes


def mapped(array):
    """Whether the numbers are those of a file, wherever views of it begin."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def test_a_file_is_read_once(path, empty_cache):
    first, new = load(path)
    assert new
    again, new = load(path)
    assert not new
    assert same(first, again)
    assert same(first, WordVectors.read(path))
    assert len(again.notes) == 1
    assert mapped(again.matrix)


def test_the_cache_key_is_the_bytes_of_the_file(path, entry, tmp_path):
    other = tmp_path / "other.txt"
    other.write_bytes(RAW)
    assert not load(other)[1]
    stat = path.stat()
    path.write_bytes(RAW.replace(b"-1", b"-2"))  # the same size
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # and time
    made, new = load(path)
    assert new
    assert same(made, WordVectors.read(path))
    other.write_bytes(gzip.compress(RAW))
    assert load(other)[1]


def test_the_cache_key_includes_the_format(tmp_path, empty_cache):
    raw = b"1 2\na AAAABBBB"
    for name in ("v.bin", "v.txt"):
        (tmp_path / name).write_bytes(raw)
    assert load(tmp_path / "v.bin")[1]
    with pytest.raises(SyntfError):
        load(tmp_path / "v.txt")


def test_a_damaged_entry_is_read_again_and_replaced(path, entry):
    raw = entry.read_bytes()
    damaged = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in range(len(raw))]
    for content in (*damaged, *(raw[:size] for size in range(len(raw))), raw + b"x", b"other"):
        entry.unlink()
        entry.write_bytes(content)
        made, new = load(path)
        assert new
        assert same(made, WordVectors.read(path))
        assert entry.read_bytes() == raw


def test_a_file_that_changes_during_reading_is_not_cached(path, empty_cache, monkeypatch):
    read = WordVectors.read

    def changing(source, stages):
        made = read(source, stages)
        path.write_bytes(RAW + b"new 1 1\n")
        return made

    monkeypatch.setattr(WordVectors, "read", changing)
    read_cached(path)
    assert not empty_cache.exists() or not list(empty_cache.iterdir())


def test_a_file_with_faults_is_not_cached(tmp_path, empty_cache):
    (tmp_path / "v.txt").write_bytes(b"cat 1 2\ndog 0 0\n")
    for _ in range(2):
        with pytest.raises(SyntfError, match="zero"):
            read_cached(tmp_path / "v.txt")
    assert not empty_cache.exists()


def test_clear_deletes_cached_vectors(path, entry, empty_cache):
    (empty_cache / "mine.vectors").write_text("mine")
    assert cache_store.clear() == 1
    assert [one.name for one in empty_cache.iterdir()] == ["mine.vectors"]
    assert load(path)[1]


def test_a_cache_that_cannot_be_written_does_not_stop_a_run(path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path / "file"))
    for _ in range(2):
        made, new = load(path)
        assert new
        assert same(made, WordVectors.read(path))


def test_cached_vectors_give_the_same_mechanism(path, empty_cache):
    made = [SynTF(vectors=path, vocabulary=["cat", "dog"], length=3).fit([]) for _ in range(2)]
    assert made[0].guarantee_ == made[1].guarantee_
    assert len(list(empty_cache.glob("*.vectors"))) == 1
