"""A session charges what a ledger would charge, in fewer transactions, and misses no change."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import BudgetError, NamingError, SyntfError
from syntf.ledger import store
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
from syntf.ledger.session import Due, Session

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # commits need no disk there

runs = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=4),
        st.sampled_from(["id", "text"]),
    ),
    max_size=8,
)


def due(ledger, *documents, by="id"):
    return Due.of(Names(documents, None, by), ledger.name_key())


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "texts.ledger", budget=10)


@settings(max_examples=40, deadline=None)
@given(runs, st.booleans(), st.integers(1, 4))
def test_a_session_charges_what_the_ledger_charges(chosen, authors, group):
    """The same runs are accepted, and every run has the same hash, however they are grouped."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "now", lambda: "2026-01-01T00:00:00+00:00")
        patch.setattr(store.entropy, "system", lambda size: b"k" * size)  # one key for both
        made = [
            Ledger.create(Path(folder, name), budget=12, author_budget=17 if authors else None)
            for name in ("one", "two")
        ]
        names = [
            Names([d for d, _ in rows], [a for _, a in rows] if authors else None, by)
            for rows, by in chosen
        ]
        expected = []
        for each in names:
            try:
                expected.append(made[0].spend(5, [each]).run)
            except BudgetError as error:
                expected.append(type(error))
        session, found = Session(made[1]), []
        dues = [Due.of(each, made[1].name_key()) for each in names]
        for start in range(0, len(dues), group):
            found += session.spend_each(5, dues[start : start + group])
        assert [one if isinstance(one, store.Run) else type(one) for one in found] == expected
        assert made[0].verify() == made[1].verify()


def test_runs_of_one_group_share_the_rest_of_a_budget(ledger):
    """The second run of a document sees what the first has lost, and the third run is refused."""
    session = Session(ledger)
    dues = [due(ledger, "a"), due(ledger, "a"), due(ledger, "b", "a"), due(ledger, "b", "b")]
    results = session.spend_each(5, [*dues, due(ledger, "c", by="text")])
    assert [type(one) for one in results] == [
        store.Run, store.Run, BudgetError, store.Run, NamingError,
    ]  # fmt: skip
    content = ledger.verify()
    assert list(content.runs) == [results[0], results[1], results[3]]


def test_hashes_are_checked_once_unless_the_file_changes(ledger, monkeypatch):
    checks = []
    real = store.read_checked
    monkeypatch.setattr(store, "read_checked", lambda db: checks.append(1) or real(db))
    session = Session(ledger)
    for number in range(5):
        session.spend_each(1, [due(ledger, str(number))])
    assert len(checks) == 1
    other = Session(Ledger(ledger.path))
    other.spend_each(1, [due(ledger, "other")])
    (run,) = session.spend_each(1, [due(ledger, "mine")])
    assert (run.number, len(checks)) == (7, 3)
    ledger.verify()


@pytest.mark.parametrize("way", ["by SQLite", "by bytes"])
def test_a_change_behind_the_session_is_found_before_the_next_charge(ledger, way):
    session = Session(ledger)
    session.spend_each(1, [due(ledger, "a")])
    digest = due(ledger, "a").names["document"][0]
    if way == "by SQLite":
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
            (sql,) = db.execute(
                "SELECT sql FROM sqlite_master WHERE name = 'no_DELETE_spends'"
            ).fetchone()
            db.execute("DROP TRIGGER no_DELETE_spends")
            db.execute("DELETE FROM spends")
            db.execute(sql)
    else:
        content = ledger.path.read_bytes()
        place = content.index(digest)
        with ledger.path.open("r+b") as file:
            file.seek(place)
            file.write(bytes([content[place] ^ 1]))
        after = ledger.path.stat()
        os.utime(ledger.path, ns=(after.st_atime_ns, after.st_mtime_ns + 1_000_000))
    with pytest.raises(SyntfError, match="the ledger is damaged"):
        session.spend_each(1, [due(ledger, "b")])


def test_a_failed_commit_charges_none_of_its_runs(ledger, monkeypatch):
    session = Session(ledger)
    session.spend_each(1, [due(ledger, "a")])

    def fail(*_):
        raise SyntfError("the disk fails")

    with monkeypatch.context() as patch:
        patch.setattr(store, "names_hash", fail)
        with pytest.raises(SyntfError, match="the disk fails"):
            session.spend_each(1, [due(ledger, "b"), due(ledger, "c")])
    assert len(ledger.verify().runs) == 1
    assert session.spend_each(1, [due(ledger, "b")])[0].number == 2


def test_a_ledger_that_was_moved_is_refused_and_works_again_when_it_is_back(ledger):
    session = Session(ledger)
    session.spend_each(1, [due(ledger, "a")])
    due_b = due(ledger, "b")
    moved = ledger.path.rename(ledger.path.with_name("moved"))
    with pytest.raises(SyntfError, match="no ledger at"):
        session.spend_each(1, [due_b])
    moved.rename(ledger.path)
    assert session.spend_each(1, [due_b])[0].number == 2


def test_authors_must_fit_the_budgets(ledger):
    wrong = Due.of(Names(["a"], ["x"], "id"), ledger.name_key())
    with pytest.raises(SyntfError, match="no budget for authors"):
        Session(ledger).spend_each(1, [wrong])
