"""Zip files that any reader opens, whatever their size, and that are the same every time."""

import io
import shutil
import subprocess
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, load_npz

from syntf.releases.contents import archive, writers

NAMES = st.text("abcdefgh.-_", min_size=1, max_size=20)
CONTENTS = st.dictionaries(NAMES, st.lists(st.binary(max_size=200), max_size=4), max_size=6)


def written(contents):
    file = io.BytesIO()
    archive.write(file, [archive.packed(name, pieces) for name, pieces in contents.items()])
    return file.getvalue()


@pytest.fixture(params=["isal", "zlib"])
def deflating(request, monkeypatch):
    """Both ways to pack; the second is that of platforms without the first."""
    if request.param == "isal":
        pytest.importorskip("isal", reason="needs isal: pip install isal")
    else:
        monkeypatch.setattr(archive, "deflating", zlib)
        monkeypatch.setattr(archive, "LEVEL", 1)


@pytest.mark.parametrize("large", [0xFFFFFFFF, 0, 1, 30, 100, 200])
@pytest.mark.usefixtures("deflating")
@given(contents=CONTENTS)
def test_members_are_read_back_by_zipfile(large, contents):
    """With fields of 64 bits too, as if numbers from `large` on did not fit 32."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGE", large)
        raw = written(contents)
    with zipfile.ZipFile(io.BytesIO(raw)) as found:
        assert found.testzip() is None
        assert {name: found.read(name) for name in found.namelist()} == {
            name: b"".join(pieces) for name, pieces in contents.items()
        }
        for info in found.infolist():
            assert info.compress_type == zipfile.ZIP_DEFLATED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.file_size == sum(map(len, contents[info.filename]))
            assert info.extract_version in (20, 45)
            assert info.extract_version == 45 or not info.extra


def test_small_archives_use_no_64_bit_fields():
    raw = written({"a.npy": [b"abc"], "b.npy": []})
    with zipfile.ZipFile(io.BytesIO(raw)) as found:
        assert {(info.extract_version, info.extra) for info in found.infolist()} == {(20, b"")}
    assert b"PK\6\6" not in raw
    assert b"PK\6\7" not in raw


def test_every_byte_follows_the_zip_format():
    """Byte by byte: a header, the packed bytes, an entry, the end."""
    raw = written({"n": [b"\0"]})
    packer = archive.deflating.compressobj(archive.LEVEL, archive.deflating.DEFLATED, -15)
    packed = packer.compress(b"\0") + packer.flush()
    size = len(packed).to_bytes(4, "little")
    about = b"\0\0\x08\0\0\0\x21\0" + zlib.crc32(b"\0").to_bytes(4, "little") + size + b"\1\0\0\0"
    header = b"PK\3\4\x14\0" + about + b"\1\0\0\0n"
    entry = b"PK\1\2\x2d\0\x14\0" + about + b"\1\0" + bytes(16) + b"n"
    at = (len(header) + len(packed)).to_bytes(4, "little")
    end = b"PK\5\6\0\0\0\0\1\0\1\0" + len(entry).to_bytes(4, "little") + at + b"\0\0"
    assert raw == header + packed + entry + end


@pytest.mark.skipif(not shutil.which("unzip"), reason="needs unzip")
@pytest.mark.parametrize("large", [0xFFFFFFFF, 100])
def test_unzip_finds_no_fault(tmp_path, monkeypatch, large):
    monkeypatch.setattr(archive, "LARGE", large)
    contents = {"a.npy": [bytes(1000)], "b.npy": [b"abc", b"d"], "c.npy": [b""]}
    (tmp_path / "a.zip").write_bytes(written(contents))
    found = subprocess.run(
        ["unzip", "-t", "a.zip"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
    assert "warning" not in found.stdout + found.stderr
    assert found.stdout.count(" OK") == 3


@pytest.mark.usefixtures("deflating")
@given(st.integers(0, 2**32), st.integers(0, 40), st.sampled_from([1, 300, 70_000]))
def test_counts_are_read_back_by_scipy_and_numpy(tmp_path_factory, seed, rows, width):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, min(width, 9) + 1, rows)
    indices = [np.sort(rng.choice(width, size, replace=False)) for size in sizes]
    counts = csr_matrix(
        (
            rng.integers(1, 2**31, sizes.sum()).astype(np.int32),
            np.concatenate([[], *indices]).astype(np.int32),
            np.concatenate([[0], np.cumsum(sizes)]),
        ),
        shape=(rows, width),
    )
    path = tmp_path_factory.mktemp("npz") / "v.npz"
    with path.open("wb") as file:
        writers.npz(file, counts, (), 0)
    found = load_npz(path)
    assert (found.format, found.dtype, found.shape) == ("csr", np.int32, (rows, width))
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found, name), getattr(counts, name))
        assert getattr(found, name).dtype == np.int32
    with np.load(path, allow_pickle=False) as arrays:
        assert set(arrays.files) == {"data", "indices", "indptr", "format", "shape"}
    first = path.read_bytes()
    with path.open("wb") as file:
        writers.npz(file, counts, (), 0)
    assert path.read_bytes() == first


def test_slices_of_larger_arrays_are_written_correctly(tmp_path):
    data, indices = np.arange(1, 13, dtype=np.int32)[::2], np.arange(12, dtype=np.int32)[::2]
    counts = csr_matrix((data, indices, [0, 6]), shape=(1, 12))
    assert not counts.data.flags.c_contiguous
    with (tmp_path / "v.npz").open("wb") as file:
        writers.npz(file, counts, (), 0)
    assert load_npz(tmp_path / "v.npz").toarray().tolist() == counts.toarray().tolist()
