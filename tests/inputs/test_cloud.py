"""Files in a cloud, by fsspec: in its memory, and in S3 from a server on loopback."""

import gzip
import sys
from hashlib import sha256

import polars as pl
import pytest

from syntf.core.errors import InputError, SyntfError, UnavailableError
from syntf.inputs import files
from syntf.inputs.corpus import Corpus
from syntf.releases.job import release

fsspec = pytest.importorskip("fsspec", reason="pip install 'syntf[cloud]'")


@pytest.fixture
def cloud():
    """Put files into fsspec's memory, and remove them afterwards."""
    system = fsspec.filesystem("memory")

    def put(name, raw):
        with system.open(f"/bucket/{name}", "wb") as file:
            file.write(raw)
        return f"memory://bucket/{name}"

    yield put
    system.rm("/bucket", recursive=True)


def texts(*inputs, **options):
    return list(Corpus(inputs, "text", [], **options).texts())


def test_files_of_every_kind_are_read(cloud, tmp_path):
    pl.DataFrame({"text": ["p", None]}).write_parquet(tmp_path / "a.parquet")
    found = texts(
        cloud("a.csv", b"id;text\n1;a\n"),
        cloud("b.jsonl.gz", gzip.compress(b'{"text": "b"}\n')),
        cloud("c.txt", b"a document"),
        cloud("d.parquet", (tmp_path / "a.parquet").read_bytes()),
    )
    assert found == ["a", "b", "a document", "p", ""]


def test_a_pattern_names_several_files(cloud):
    for name in ("x2.csv", "x1.csv", "y.csv"):
        cloud(name, f"text\n{name}\n".encode())
    assert texts("memory://bucket/x*.csv") == ["x1.csv", "x2.csv"]
    with pytest.raises(SyntfError, match="no file matches memory://bucket/z"):
        texts("memory://bucket/z*.csv")


def test_a_missing_file_a_folder_and_a_file_given_twice_are_refused(cloud):
    address = cloud("sub/a.csv", b"text\na\n")
    with pytest.raises(SyntfError, match="no file at memory://bucket/other"):
        texts("memory://bucket/other.csv")
    with pytest.raises(SyntfError, match=r"is a folder: name its files .*sub/\*\.csv"):
        texts("memory://bucket/sub", format="csv")
    with pytest.raises(SyntfError, match="is given twice"):
        texts(address, address)


@pytest.mark.parametrize("failure", [ConnectionError(), FileNotFoundError(), PermissionError()])
def test_a_cloud_that_fails_is_no_fault_of_the_input(cloud, monkeypatch, failure):
    """So a run that ends by it keeps its draft."""
    corpus = Corpus([cloud("a.csv", b"text\na\n"), cloud("b.csv", b"text\nb\n")], "text", [])

    def info(path, **options):
        raise failure

    monkeypatch.setattr(fsspec.filesystem("memory"), "info", info)
    with pytest.raises(UnavailableError, match=r"memory://bucket/a\.csv"):
        list(corpus.texts())


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("where", ["cloud", "disk"])
def test_a_damaged_packed_file_is_a_fault_of_the_input(cloud, tmp_path, suffix, where):
    """So no text decides whether a run that ends by it leaves a draft."""
    name = f"a.csv.{suffix}"
    (tmp_path / name).write_bytes(b"text\nnot packed at all\n")
    address = cloud(name, (tmp_path / name).read_bytes())
    with pytest.raises(InputError, match="it is cut short or not compressed so"):
        texts(tmp_path / name if where == "disk" else address)


def test_a_broken_row_is_located_by_its_address(cloud):
    address = cloud("a.csv", b"text\na\nb\nc\nd,canary\n")
    with pytest.raises(SyntfError, match=r"memory://bucket/a\.csv: line 5 has too many") as error:
        texts(address)
    assert "canary" not in str(error.value)


def test_a_changed_file_has_another_stamp(cloud):
    (place,) = Corpus([cloud("a.csv", b"text\na\n")]).paths
    before = files.stamps(place)
    assert files.stamps(place) == before
    cloud("a.csv", b"text\nb\nc\n")
    assert files.stamps(place) != before


def test_a_file_has_the_digest_of_its_bytes(cloud):
    raw = b"text\na\n"
    assert files.digest(cloud("a.csv", raw)) == sha256(raw).hexdigest()


def test_a_release_is_made_and_reads_as_often_as_it_must(cloud, tmp_path):
    address = cloud("a.csv", b"text,topic\nthe cat,x\na dog,y\n")
    made = release(address, tmp_path / "release", keep=["topic"], preset="words", length=5)
    assert made.documents == 2


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(SyntfError, match=r"gs:// needs the package gcsfs: pip install 'syntf\[clo"):
        texts("gs://bucket/a.csv")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(SyntfError, match=r"needs the package .*pip install 'syntf\[cloud\]'"):
        texts("s3://bucket/a.csv")


@pytest.fixture
def s3(monkeypatch):
    """Start a server with the interface of S3 on loopback."""
    pytest.importorskip("s3fs", reason="pip install 'syntf[cloud]'")
    server = pytest.importorskip("moto.server", reason="pip install 'moto[s3]' flask flask-cors")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    yield s3fs.S3FileSystem()
    s3fs.S3FileSystem.clear_instance_cache()
    started.stop()


@pytest.mark.filterwarnings("default")
def test_s3_is_read(s3):
    s3.mkdir("bucket")
    for name in ("a1.csv", "a2.csv"):
        with s3.open(f"bucket/mails/{name}", "wb") as file:
            file.write(f"text\n{name}\n".encode())
    assert texts("s3://bucket/mails/a1.csv") == ["a1.csv"]
    assert texts("s3://bucket/mails/*.csv") == ["a1.csv", "a2.csv"]
    with pytest.raises(SyntfError, match="no file at s3://bucket/mails/b"):
        texts("s3://bucket/mails/b.csv")
