"""Clouds by fsspec, from its memory and from servers on loopback; databases."""

import contextlib
import gzip
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.inputs import tables
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.places import Place

fsspec = pytest.importorskip("fsspec", reason="needs the extra 'cloud'")


def texts(*inputs, **reading):
    with contextlib.closing(Corpus(inputs, "text", [], Reading(**reading))) as corpus:
        return [text or "" for batch in corpus.batches() for text in batch["text"]]


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


def test_files_of_every_kind_are_read(cloud, tmp_path):
    pl.DataFrame({"text": ["p", None]}).write_parquet(tmp_path / "a.parquet")
    inputs = [
        cloud("a.csv", b"id;text\n1;a\n"),
        cloud("b.jsonl.gz", gzip.compress(b'{"text": "b"}\n')),
        cloud("c.txt", b"a document"),
        cloud("d.parquet", (tmp_path / "a.parquet").read_bytes()),
    ]
    assert texts(*inputs) == ["a", "b", "a document", "p", ""]
    corpus = Corpus(inputs)
    assert sum(batch.height for batch in corpus.batches()) == 5
    assert corpus.bytes_read == corpus.size > 0


def test_a_pattern_names_several_files(cloud):
    for name in ("x2.csv", "x1.csv", "y.csv"):
        cloud(name, f"text\n{name}\n".encode())
    assert texts("memory://bucket/x*.csv") == ["x1.csv", "x2.csv"]
    with pytest.raises(SyntfError, match="no file matches memory://bucket/z"):
        texts("memory://bucket/z*.csv")


def test_a_missing_file_and_a_file_given_twice_are_refused(cloud):
    address = cloud("sub/a.csv", b"text\na\n")
    with pytest.raises(SyntfError, match="no file at memory://bucket/other"):
        texts("memory://bucket/other.csv")
    with pytest.raises(SyntfError, match="is given twice"):
        texts(address, address)


@pytest.mark.parametrize("failure", [ConnectionError(), FileNotFoundError(), PermissionError()])
def test_a_cloud_that_fails_is_one_message(cloud, monkeypatch, failure):
    corpus = Corpus([cloud("a.csv", b"text\na\n"), cloud("b.csv", b"text\nb\n")])

    def fail(path, mode):
        raise failure

    monkeypatch.setattr(fsspec.filesystem("memory"), "open", fail)
    with pytest.raises(SyntfError, match=r"memory://bucket/a\.csv"):
        list(corpus.batches())


@pytest.mark.parametrize("missing", ["gcsfs", "fsspec.core"])
def test_a_missing_package_is_named_by_its_extra(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SyntfError, match=r"gs:// needs a package .*the extra 'cloud'"):
        texts("gs://bucket/a.csv")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_s3_is_read(monkeypatch):
    s3fs = pytest.importorskip("s3fs", reason="needs the extra 'cloud'")
    server = pytest.importorskip("moto.server", reason="pip install 'moto[s3]' flask flask-cors")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    try:
        s3fs.S3FileSystem.clear_instance_cache()
        system = s3fs.S3FileSystem()
        system.mkdir("bucket")
        for name in ("a1.csv", "a2.csv"):
            with system.open(f"bucket/mails/{name}", "wb") as file:
                file.write(f"text\n{name}\n".encode())
        assert texts("s3://bucket/mails/a1.csv") == ["a1.csv"]
        assert texts("s3://bucket/mails/*.csv") == ["a1.csv", "a2.csv"]
        with pytest.raises(SyntfError, match="no file at s3://bucket/mails/b"):
            texts("s3://bucket/mails/b.csv")
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        started.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Databases

VALUES = ["plain", "", None, 17, 17.0, 2.5, "007", "two\nlines", "nul\0", b"caf\xc3\xa9"]
TEXTS = ["plain", "", "", "17", "17", "2.5", "007", "two\nlines", "nul\0", "café"]
QUERY = "SELECT id, body AS text FROM mails ORDER BY id"


@pytest.fixture
def database(tmp_path):
    connection = sqlite3.connect(tmp_path / "mails.db")
    connection.execute("CREATE TABLE mails (id INTEGER, body)")
    connection.executemany("INSERT INTO mails VALUES (?, ?)", enumerate(VALUES))
    connection.commit()
    connection.close()
    return tmp_path / "mails.db"


@pytest.mark.parametrize("batch", [2, 1000])
def test_values_of_sqlite_become_text_each_by_itself(database, monkeypatch, batch):
    monkeypatch.setattr(tables, "BATCH", batch)
    assert texts(database, query=QUERY) == TEXTS


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "say what to read, such as --query .*; the tables are: mails"),
        ("SELECT 1 AS a, 2 AS a", "columns with different names: use AS"),
        ("SELECT missing FROM mails", "no such column: missing"),
        ("DELETE FROM mails", "readonly|--query must be a SELECT"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT id AS text FROM mails WHERE id > 99", "holds no rows"),
    ],
)
def test_other_queries_are_refused_and_change_nothing(database, query, message):
    before = database.read_bytes()
    with pytest.raises(SyntfError, match=message):
        texts(database, query=query)
    assert database.read_bytes() == before


def test_passwords_are_never_shown():
    pytest.importorskip("adbc_driver_postgresql", reason="needs the extra 'postgres'")
    secret = Place("postgresql://me:sec@ret@h/d?password=secret", "postgresql")
    assert (secret.shown, secret.name) == ("postgresql://h/d", "d")
    with pytest.raises(SyntfError, match=r"cannot read postgresql://127\.0\.0\.1:1/d") as error:
        texts("postgresql://me:secret@127.0.0.1:1/d", query="SELECT 1")
    assert "secret" not in str(error.value)


@pytest.fixture(scope="module")
def server():
    """Start PostgreSQL on a free port of the loopback address."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    pytest.importorskip("adbc_driver_postgresql", reason="needs the extra 'postgres'")
    tools = programs[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="syntf-postgresql-"))
    account = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        account = {"user": "postgres"}
        shutil.chown(folder, "postgres")
    port, data = free_port(), folder / "data"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/", **account}
    setup = [tools / "initdb", "-D", data, "-U", "me", "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run([*setup, "--locale=C"], **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
    control = [tools / "pg_ctl", "-D", data, "-w"]
    subprocess.run([*control, "-l", folder / "log", "-o", options, "start"], **quiet)
    try:
        yield f"postgresql://me@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder)


@pytest.fixture
def mails(server):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '10s'")  # an open transaction of a failed test
        cursor.execute("DROP TABLE IF EXISTS mails")
        cursor.execute("CREATE TABLE mails (id integer, body text)")
        cursor.execute(
            "INSERT INTO mails SELECT i, CASE WHEN i = 2 THEN NULL ELSE 'the cat ' || i END "
            "FROM generate_series(0, 999) AS i"
        )
    return server


@pytest.mark.slow
def test_rows_of_postgresql_are_read(mails):
    corpus = Corpus(mails, "text", ["id"], Reading(query=f"{QUERY};"))
    assert corpus.size == 0
    assert corpus.head(5)["id"].to_list() == [0, 1, 2, 3, 4]
    rows = pl.concat(list(corpus.batches()))
    assert rows["text"].to_list() == [None if i == 2 else f"the cat {i}" for i in range(1000)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "the tables are: mails"),
        ("SELECT canary FROM mails", "check the address, your credentials and --query"),
        ("SELECT ('canary' || id)::int AS text FROM mails", "check the address"),
        ("SELECT 1 AS text WHERE false", "holds no rows"),
    ],
)
def test_failures_of_postgresql_quote_no_value(mails, query, message):
    with pytest.raises(SyntfError, match=message) as error:
        texts(mails, query=query)
    assert "canary" not in str(error.value)
