"""Databases: SQLite by its file, PostgreSQL by a server that the test starts on loopback."""

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pytest

from syntf.core.errors import SyntfError
from syntf.inputs import corpus as corpora
from syntf.inputs.corpus import Corpus
from syntf.inputs.places import shown
from syntf.releases.job import release

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
VALUES = ["plain", "", None, 17, 17.0, 2.5, "007", "two\nlines", "nul\0", b"caf\xc3\xa9"]
TEXTS = ["plain", "", "", "17", "17", "2.5", "007", "two\nlines", "nul\0", "café"]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "mails.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mails (id INTEGER, body)")
        connection.executemany("INSERT INTO mails VALUES (?, ?)", enumerate(VALUES))
    connection.close()
    return path


QUERY = "SELECT id, body AS text FROM mails ORDER BY id"


@pytest.mark.parametrize("batch", [2, 1000])
def test_values_of_sqlite_become_text_each_by_itself(database, monkeypatch, batch):
    monkeypatch.setattr(corpora, "BATCH", batch)
    corpus = Corpus([database], "text", ["id"], query=QUERY)
    for _ in range(2):
        assert list(corpus.texts()) == TEXTS
    assert [i for frame in corpus for i in frame["id"]] == list(map(str, range(10)))


def test_an_address_of_sqlite_is_its_path(database, monkeypatch):
    monkeypatch.chdir(database.parent)
    for address in (f"sqlite:///{database}", "sqlite:///mails.db"):
        assert list(Corpus([address], "text", [], query=QUERY).texts()) == TEXTS
    with pytest.raises(SyntfError, match="no file or folder at other"):
        Corpus(["sqlite:///other.db"], query=QUERY)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "say what to read, such as --query .*; the tables are: mails"),
        ("SELECT 1 AS a, 2 AS a", "two columns of the same name"),
        ("SELECT missing FROM mails", "no such column: missing"),
        ("DELETE FROM mails", "readonly|--query must be a SELECT"),
        ("SELECT 1; SELECT 2", "--query must be one statement|one statement at a time"),
        ("SELECT id AS text FROM mails WHERE id > 99", "holds no rows"),
    ],
)
def test_other_queries_are_refused_and_change_nothing(database, query, message):
    before = database.read_bytes()
    with pytest.raises(SyntfError, match=message):
        list(Corpus([database], "text", [], query=query))
    assert database.read_bytes() == before


def test_a_query_that_gives_other_rows_each_time_is_refused(database):
    corpus = Corpus([database], "text", [], query="SELECT random() AS text FROM mails")
    list(corpus.texts())
    with pytest.raises(SyntfError, match="end it with ORDER BY"):
        list(corpus.texts())


def test_passwords_are_never_shown(monkeypatch):
    assert shown("postgresql://me:secret@h/d?password=secret") == "postgresql://h/d"
    with pytest.raises(SyntfError, match="an address begins with") as error:
        Corpus(["mysql://me:secret@h/d"])
    assert "secret" not in str(error.value)


@pytest.fixture(scope="module")
def server():
    """Start PostgreSQL on a free port of the loopback address."""
    if not SERVERS:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'syntf[postgres]'")
    tools = SERVERS[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="syntf-postgresql-"))
    account = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        account = {"user": "postgres"}
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/", **account}
    setup = [tools / "initdb", "-D", data, "-U", "me", "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run([*setup, "--locale=C"], **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
    control = [tools / "pg_ctl", "-D", data, "-w"]
    log = folder / "log"
    subprocess.run([*control, "-l", log, "-o", options, "start"], **quiet)
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
        cursor.execute("CREATE TABLE mails (id integer, body text, topic text)")
        cursor.execute(
            "INSERT INTO mails SELECT i, CASE WHEN i = 2 THEN NULL ELSE 'the cat ' || i END, "
            "'t' || i % 2 FROM generate_series(0, 999) AS i"
        )
    return server


@pytest.mark.parametrize("batch", [7, 1 << 15])
def test_rows_of_postgresql_are_the_same_in_every_pass(mails, monkeypatch, batch):
    monkeypatch.setattr(corpora, "BATCH", batch)
    corpus = Corpus([mails], "text", ["id"], query=f"{QUERY};")
    expected = ["" if i == 2 else f"the cat {i}" for i in range(1000)]
    corpus.read_first_texts(500)
    assert list(corpus.texts()) == expected
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(mails, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM mails")
    assert list(corpus.texts()) == expected  # the state at the first pass
    corpus.close()
    later = Corpus([mails], "text", ["id"], query=QUERY)
    with pytest.raises(SyntfError, match="holds no rows"):
        list(later)
    later.close()


def test_a_release_is_made_from_postgresql(mails, tmp_path):
    made = release(
        mails, tmp_path / "release", query="SELECT topic, body AS text FROM mails ORDER BY id",
        keep=["topic"], preset="words", length=5,
    )  # fmt: skip
    assert made.documents == 1000
    with pytest.raises(SyntfError, match="cannot be resumed"):
        release(mails, tmp_path / "other", query="SELECT 1", preset="words", resume=True)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (None, "the tables are: mails"),
        ("SELECT canary FROM mails", "check the address, your credentials and --query"),
        ("SELECT ('canary' || id)::int AS text FROM mails", "check the address"),
        ("DELETE FROM mails", "check the address"),
    ],
)
def test_failures_of_postgresql_quote_no_value(mails, query, message):
    corpus = Corpus([mails], "text", [], query=query)
    with pytest.raises(SyntfError, match=message) as error:
        list(corpus)
    corpus.close()
    assert "canary" not in str(error.value)


def test_an_unreachable_server_is_named_without_credentials():
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'syntf[postgres]'")
    with pytest.raises(SyntfError, match=r"cannot read postgresql://127\.0\.0\.1:1/d") as error:
        list(Corpus(["postgresql://me:secret@127.0.0.1:1/d"], "text", [], query="SELECT 1"))
    assert "secret" not in str(error.value)


def test_a_missing_driver_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(SyntfError, match=r"pip install 'syntf\[postgres\]'"):
        list(Corpus(["postgresql://h/d"], "text", [], query="SELECT 1"))
