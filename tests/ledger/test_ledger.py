"""The ledger: exact sums, all or nothing, and no way to more than the budget."""

import json
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, inf, nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from syntf import SynTF
from syntf.cli.app import main
from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.inputs import corpus
from syntf.inputs.sequences import as_names
from syntf.ledger import store
from syntf.ledger.ledger import LIMIT, UNIT, Ledger, chargeable_loss
from syntf.ledger.names import Names
from syntf.pipeline.anonymizer import Anonymizer
from syntf.releases import draft
from syntf.releases.contents import folder

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "texts.ledger"


def spent(path, kind="document"):
    """What the most charged has lost, in units."""
    return Ledger(path).accounts()[1][kind].most_charged


def sql(path, *statements):
    """Change the file behind the ledger's back, and leave its tables as they were."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        for name, text in triggers.fetchall():
            db.execute(f"DROP TRIGGER {name}")
            statements = (*statements, text)
        for statement in statements:
            db.execute(statement)


# Sums


names = st.lists(
    st.tuples(st.sampled_from("abcdé\ud800"), st.sampled_from(["", "x", "y"])), max_size=6
)
losses = st.one_of(
    st.floats(0, 12), st.sampled_from([0.0, 2.0**-20, 2.0**-21, 1 / 3, 5.0, 2.0**40, 1e300])
)
budgets = st.none() | st.floats(1e-6, 30) | st.sampled_from([5.0, 10.0, 1 / 3])


@settings(max_examples=50)
@given(
    st.tuples(budgets, budgets).filter(any),
    st.lists(st.tuples(losses, names, st.integers(1, 4)), max_size=6),
)
def test_a_ledger_keeps_exact_sums_for_documents_and_authors(both, runs):
    """The model: loss rounded up, budget down, to 2^-20; all of a run or nothing of it."""
    budget, author_budget = both
    limits = {
        kind: floor(Fraction(value) * 2**20)
        for kind, value in (("document", budget), ("author", author_budget))
        if value is not None
    }
    totals = {kind: Counter() for kind in limits}
    done = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger")
        Ledger.create(path, budget=budget, author_budget=author_budget)
        for loss, rows, size in runs:
            units = ceil(Fraction(loss) * 2**20)
            asked = {kind: Counter(row[kind == "author"] for row in rows) for kind in limits}
            fits = all(
                totals[kind][name] + count * units <= limits[kind]
                for kind in limits
                for name, count in asked[kind].items()
            )
            pieces = [rows[i : i + size] for i in range(0, len(rows), size)]
            writers = author_budget is not None
            batches = [
                Names([d for d, _ in piece], [a for _, a in piece] if writers else None)
                for piece in pieces
            ]
            if fits:
                charge = Ledger(path).spend(loss, iter(batches))
                for kind in limits:
                    for name, count in asked[kind].items():
                        totals[kind][name] += count * units
                if rows:
                    done.append((len(rows), units))
                    assert charge.run.number == len(done)
                else:
                    assert charge.run is None
                for batch in batches:
                    charge.confirm(batch)
            else:
                with pytest.raises(SyntfError, match="refuses this run"):
                    Ledger(path).spend(loss, iter(batches))
        content, accounts = Ledger(path).accounts()
        assert [(run.documents, run.loss) for run in content.runs] == done
        known = {kind: set() for kind in limits}
        for kind in limits:
            known[kind] = set(totals[kind])
            assert accounts[kind].budget == limits[kind]
            assert accounts[kind].names == len(known[kind])
            assert accounts[kind].most_charged == max(totals[kind].values(), default=0)
            assert accounts[kind].left == limits[kind] - accounts[kind].most_charged
        assert set(accounts) == set(limits)
        assert Ledger(path).verify() == content


def test_a_budget_of_three_losses_allows_three_runs(path):
    """0.1 three times is more than 0.3 as floats; here it is what was said, rounded safely."""
    loss = 3 * 2.0**-20
    ledger = Ledger.create(path, budget=3 * loss)
    for _ in range(3):
        ledger.spend(loss, [Names(["a"])])
    with pytest.raises(SyntfError, match=r"0\.00 left and would lose 0\.01"):
        ledger.spend(2.0**-40, [Names(["a"])])
    ledger.spend(loss, [Names(["b"])])


def test_the_same_document_twice_in_a_run_counts_twice(path):
    ledger = Ledger.create(path, budget=10)
    with pytest.raises(
        SyntfError, match=r"1 of 2 documents .* document 2 of the run, which has 10\.00"
    ):
        ledger.spend(4, [Names(["b", "a"]), Names(["a", "a"])])
    ledger.spend(4, [Names(["b", "a"]), Names(["a"])])
    assert spent(path) == 8 * UNIT


def test_the_refusal_names_the_limit_the_number_and_the_worst(path):
    ledger = Ledger.create(path, budget=10, author_budget=30)
    ledger.spend(4, [Names(["a", "b", "c"], ["x", "x", "y"])])
    with pytest.raises(SyntfError) as caught:
        ledger.spend(6.5, [Names(["n", "b", "m", "a"], ["z", "y", "x", "x"])])
    assert str(caught.value) == (
        "the ledger refuses this run: 2 of 4 documents would lose more than the 10.00 that each "
        "may lose; the worst is document 2 of the run, which has 6.00 left and would lose 6.50; "
        "nothing was charged or drawn"
    )
    with pytest.raises(SyntfError) as caught:
        ledger.spend(8, [Names(["n", "m", "a", "p", "q"], ["z", "x", "y", "x", "x"])])
    assert str(caught.value) == (
        "the ledger refuses this run: 1 of 5 documents would lose more than the 10.00 that each "
        "may lose; the worst is document 3 of the run, which has 6.00 left and would lose 8.00; "
        "1 of 3 authors would lose more than the 30.00 that each may lose; the worst is the author "
        "of document 2 of the run, which has 22.00 left and would lose 24.00; nothing was charged "
        "or drawn"
    )
    assert len(ledger.verify().runs) == 1


@pytest.mark.parametrize("loss", [nan, inf, -1.0])
def test_a_loss_must_be_a_number(path, loss):
    ledger = Ledger.create(path, budget=10)
    with pytest.raises(SyntfError, match="a loss must be a finite number"):
        ledger.spend(loss, [Names(["a"])])


@pytest.mark.parametrize("budget", [nan, inf, 0, -1, True, 1e-7, 2.0 * LIMIT, "9"])
def test_a_budget_must_be_a_number(path, budget):
    for name in ("budget", "author_budget"):
        with pytest.raises(SyntfError, match=r"the budget of each \w+ must"):
            Ledger.create(path, **{name: budget})
    assert not path.exists()


def test_budgets_are_fixed(path):
    with pytest.raises(SyntfError, match="give a ledger a budget"):
        Ledger.create(path)
    Ledger.create(path, budget=10)
    assert Ledger(path, budget=10.0).budgets == {"document": 10 * UNIT, "author": None}
    with pytest.raises(SyntfError, match=r"of each document in .* is 10.00, not 11"):
        Ledger(path, budget=11)
    with pytest.raises(SyntfError, match=r"of each author in .* is not limited, not 10"):
        Ledger(path, author_budget=10)
    with pytest.raises(SyntfError, match="exists already"):
        Ledger.create(path, budget=10)


# Names


def test_neither_texts_nor_names_are_in_the_file(path, tmp_path):
    ledger = Ledger.create(path, budget=10, author_budget=10)
    ledger.spend(1, [Names(["canary text"], ["canary author"])])
    ledger = Ledger.create(tmp_path / "ids", budget=10)
    ledger.spend(1, [Names(["canary id"], by="id")])
    for file in tmp_path.iterdir():
        raw = file.read_bytes()
        assert b"canary" not in raw
        assert file.stat().st_mode & 0o777 == 0o600 or os.name != "posix"
    with pytest.raises(SyntfError) as caught:
        Ledger(path).spend(10, [Names(["canary text"], ["canary author"])])
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(ledger.spend(1, [Names(["canary id"], by="id")]))


def test_every_ledger_has_a_key_of_its_own(tmp_path):
    """The same names look different in another ledger."""
    found = []
    for name in "ab":
        Ledger.create(tmp_path / name, budget=10).spend(1, [Names(["text"])])
        with closing(sqlite3.connect(tmp_path / name)) as db:
            found += db.execute("SELECT name FROM spends").fetchall()
    assert len(set(found)) == 2
    assert {len(name) for (name,) in found} == {16}


def test_a_document_cannot_get_a_second_budget_under_another_name(path):
    ledger = Ledger.create(path, budget=10)
    ledger.spend(8, [Names(["7"], by="id")])
    with pytest.raises(SyntfError, match=r"by ids, and this run by texts.*: use --id, as before"):
        ledger.spend(8, [Names(["7"])])
    other = Ledger.create(path.with_name("other"), budget=10)
    other.spend(8, [Names(["7"])])
    with pytest.raises(SyntfError, match=r"by texts, and this run by ids.*: leave out --id, as be"):
        other.spend(8, [Names(["7"], by="id")])
    with pytest.raises(SyntfError, match="by ids or by texts, not by both"):
        ledger.spend(1, [Names(["7"], by="id"), Names(["7"])])


def test_authors_must_be_named_if_and_only_if_they_have_a_budget(path, tmp_path):
    ledger = Ledger.create(path, author_budget=10)
    with pytest.raises(SyntfError, match="has a budget for authors: name their column"):
        ledger.spend(1, [Names(["a"])])
    ledger.spend(1, [Names(["a", "a", "b"], ["x", "x", "x"])])
    ledger.spend(1, [Names(["1"], ["y"], by="id")])  # documents are not counted at all
    assert ledger.accounts()[1]["author"].most_charged == 3 * UNIT
    with pytest.raises(SyntfError, match="has no budget for authors"):
        Ledger.create(tmp_path / "other", budget=1).spend(1, [Names(["a"], ["x"])])
    with pytest.raises(SyntfError, match="one author for each"):
        Names(["a"], ["x", "y"])


def test_a_document_and_an_author_of_the_same_name_are_distinct(path):
    ledger = Ledger.create(path, budget=10, author_budget=10)
    names = Names(["same"], ["same"])
    hashed = [*names.hashed(b"key").values(), Names(["same"], by="id").hashed(b"key")["document"]]
    assert len({digest for (digest,) in hashed}) == 3
    ledger.spend(6, [names])
    _, accounts = ledger.accounts()
    assert (accounts["document"].most_charged, accounts["author"].most_charged) == (
        6 * UNIT,
        6 * UNIT,
    )


def test_only_charged_batches_are_confirmed_and_only_once(path):
    ledger = Ledger.create(path, budget=10)
    first, second = Names(["a", "b"]), Names(["c"])
    for batches in ([second], [Names(["b", "a"])], [first, first], [first, second, second]):
        charge = ledger.spend(0.5, [first, second])
        *right, wrong = batches
        for batch in right:
            charge.confirm(batch)
        with pytest.raises(SyntfError, match="the input changed"):
            charge.confirm(wrong)


# Places


def test_opening_never_creates_a_ledger(path):
    with pytest.raises(SyntfError, match="no ledger at"):
        Ledger(path)
    with pytest.raises(SyntfError, match="cannot be opened"), store.connect(path):
        pass  # it went away after it was looked for
    assert not path.exists()
    ledger = Ledger.create(path, budget=10)
    path.rename(path.with_name("moved"))
    for action in (lambda: ledger.spend(1, [Names(["a"])]), ledger.verify, ledger.accounts):
        with pytest.raises(SyntfError, match="no ledger at"):
            action()
    assert os.listdir(path.parent) == ["moved"]
    assert Ledger(path.with_name("moved")).spend(1, [Names(["a"])]).run.number == 1


def swap(path):
    shutil.copy(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)


def relink(path):
    os.replace(path, path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@posix
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.rename(path.with_name("moved")), r"no ledger at|was moved"),
        (Path.unlink, r"no ledger at|was moved"),
        (swap, r"was replaced|was moved or replaced"),
        (lambda path: os.link(path, path.with_name("second")), "a second name"),
    ],
)
@pytest.mark.parametrize("when", ["between", "while names are read", "before commit", "after"])
def test_a_ledger_that_disappears_in_use_is_refused(path, monkeypatch, change, message, when):
    ledger = Ledger.create(path, budget=10)
    if when == "between":
        change(path)

    def batches():
        if when == "while names are read":
            change(path)
        yield Names(["a"])

    def hash_names(rows, original=store.names_hash):
        if when == "before commit":
            change(path)
        return original(rows)

    opened = store.connect

    def then_change(path):
        class Then:
            def __enter__(self):
                self.inner = opened(path)
                return self.inner.__enter__()

            def __exit__(self, *error):
                result = self.inner.__exit__(*error)
                change(path)
                return result

        return Then()

    monkeypatch.setattr(store, "names_hash", hash_names)
    if when == "after":
        monkeypatch.setattr(store, "connect", then_change)
    with pytest.raises(SyntfError, match=message):
        ledger.spend(1, batches())


@posix
def test_a_symbolic_link_is_followed_unless_it_changes(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    Ledger.create(real, budget=10)
    link.symlink_to(real)
    ledger = Ledger(link)
    ledger.spend(6, [Names(["a"])])
    with pytest.raises(SyntfError, match="refuses"):
        Ledger(real).spend(6, [Names(["a"])])
    other = tmp_path / "other"
    Ledger.create(other, budget=10)
    link.unlink()
    link.symlink_to(other)
    with pytest.raises(SyntfError, match="was replaced"):
        ledger.spend(6, [Names(["a"])])


def test_a_replaced_ledger_is_refused_even_with_the_same_inode(path, monkeypatch):
    """As where a deleted file's inode is used again."""
    ledger = Ledger.create(path, budget=10)
    path.unlink()
    Ledger.create(path, budget=10)
    ledger._identity = Ledger(path)._identity
    with pytest.raises(SyntfError, match="replaced by another"):
        ledger.spend(1, [Names(["a"])])


@pytest.mark.parametrize("content", [b"", b"text\n" * 500, None])
def test_files_that_are_not_ledgers_are_refused_and_left_alone(path, content):
    if content is None:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE other (x)")
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(SyntfError, match=r"not a ledger|is damaged"):
        Ledger(path)
    assert path.read_bytes() == content


def test_folders_and_leftover_journals_are_refused(path):
    with pytest.raises(SyntfError, match="is not a file"):
        Ledger(path.parent)
    journal = path.with_name(path.name + "-journal")
    journal.write_bytes(b"of a ledger that was moved")
    with pytest.raises(SyntfError, match="-journal exists already"):
        Ledger.create(path, budget=10)
    assert not path.exists()


def test_an_open_ledger_can_be_sent_to_a_worker(path):
    ledger = pickle.loads(pickle.dumps(Ledger.create(path, budget=10)))  # noqa: S301
    ledger.spend(6, [Names(["a"])])
    assert spent(path) == 6 * UNIT


# Damage


@pytest.fixture
def used(path):
    """Three runs; document "a" has 2 of its 10 left."""
    ledger = Ledger.create(path, budget=10, author_budget=40)
    ledger.spend(4, [Names(["a", "b"], ["x", "y"])])
    ledger.spend(4, [Names(["a", "c"], ["x", "x"])])
    ledger.spend(1, [Names(["d"], ["y"])])
    return path


CHANGES = {
    "DELETE FROM runs WHERE number = 3": "run 3 is missing",
    "DELETE FROM runs WHERE number = 2": "run 2 is missing",
    "DELETE FROM runs": "run 1 is missing|run 2 is missing|run 3 is missing",
    "UPDATE runs SET loss = 1 WHERE number = 2": "run 2 was changed",
    "UPDATE runs SET loss = 4.0 * loss WHERE number = 1": "run 1 was changed",
    "UPDATE runs SET time = 'yesterday' WHERE number = 1": "run 1 was changed",
    "UPDATE runs SET documents = NULL WHERE number = 1": "run 1 was changed",
    "UPDATE runs SET time = x'00' WHERE number = 1": "run 1 was changed",
    "UPDATE runs SET previous = hash WHERE number = 3": "run 3 was changed",
    "UPDATE ledger SET budget = budget * 2": "its budgets were changed",
    "UPDATE ledger SET author_budget = NULL": "its budgets were changed",
    "UPDATE ledger SET key = zeroblob(32)": "its budgets were changed",
    "UPDATE ledger SET key = 'text'": "its budgets were changed",
    "DELETE FROM ledger": "its budgets are missing",
    "INSERT INTO ledger SELECT * FROM ledger": "its budgets are missing",
    "DELETE FROM spends WHERE run = 2": "what run 2 charged",
    "DELETE FROM spends WHERE run = 1 AND kind = 'author'": "what run 1 charged",
    "UPDATE spends SET count = 0 WHERE run = 3": "what run 3 charged",
    "UPDATE spends SET count = '1' WHERE run = 1": "nothing",
    "UPDATE spends SET count = 1.5 WHERE run = 1": "what run 1 charged",
    "UPDATE spends SET count = NULL WHERE run = 1": "what run 1 charged",
    "UPDATE spends SET name = zeroblob(16) WHERE run = 3 AND kind = 'author'": "what run 3 charged",
    "UPDATE spends SET name = hex(name) WHERE run = 3": "what its runs charged",
    "UPDATE spends SET kind = 'other' WHERE run = 3 AND kind = 'author'": "what run 3 charged",
    "UPDATE spends SET run = 3 WHERE run = 2 AND kind = 'document'": "what run 2 charged",
    "UPDATE spends SET run = 4 WHERE run = 2": "run 4 is missing",
    "UPDATE spends SET run = 'x' WHERE run = 2": "what its runs charged",
    "DROP TABLE spends": "part is missing|its tables were changed|not what SQLite",
    "CREATE TRIGGER z AFTER INSERT ON runs BEGIN DELETE FROM spends; END": "its tables were",
    "CREATE INDEX i ON spends (run)": "its tables were changed",
    "PRAGMA application_id = 7": "not a ledger",
    "PRAGMA journal_mode = WAL": "its journal mode was changed",
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_named_and_nothing_can_be_charged(used, change):
    ledger = Ledger(used)
    try:
        sql(used, change)
    except sqlite3.OperationalError:  # a trigger on a table that is gone
        assert change.startswith("DROP")
    if CHANGES[change] == "nothing":  # what SQLite stores as the same number
        ledger.verify()
        return
    for action in (ledger.verify, ledger.accounts, lambda: ledger.spend(1, [Names(["n"], ["z"])])):
        with pytest.raises(SyntfError, match=CHANGES[change]):
            action()


@pytest.mark.parametrize("number", [2, 3])
def test_a_run_rewritten_with_its_own_hash_breaks_the_chain(used, number):
    """All but the last: whoever rewrites that one is found by its head alone."""
    ledger = Ledger(used)
    content = ledger.verify()
    run = replace(content.runs[number - 1], loss=1)
    sql(used, f"UPDATE runs SET loss = 1, hash = '{run.compute_hash()}' WHERE number = {number}")
    if number == 2:
        with pytest.raises(SyntfError, match="run 3 was changed"):
            ledger.spend(1, [Names(["n"], ["z"])])
    with pytest.raises(SyntfError, match=r"run 3 was changed|set back"):
        ledger.verify(content.head)


def test_rows_of_the_file_cannot_be_changed(used):
    columns = {"ledger": "budget", "runs": "loss", "spends": "count"}
    with closing(sqlite3.connect(used)) as db:
        for table, column in columns.items():
            for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {column} = 1"):
                with pytest.raises(sqlite3.Error, match="rows are only ever added"):
                    db.execute(statement)


def outcome(path):
    """What can be done with a file: all it says, and whether "a" may lose 2, and 3."""
    try:
        ledger = Ledger(path)
        content, accounts = ledger.accounts()
        for loss in (3, 2):
            try:
                ledger.spend(loss, [Names(["a"], ["x"])])
            except SyntfError as error:
                if "refuses" not in str(error):
                    return "damaged"
            else:
                return content, accounts, loss
    except SyntfError:
        return "damaged"
    return content, accounts, None


def test_a_changed_byte_is_found_or_changes_nothing(used):
    """Its first hundred bytes, and those of 300 others that are not zero, turned over."""
    whole = used.read_bytes()
    right = outcome(used)
    assert right[2] == 2
    damaged = 0
    places = [*range(100), *np.random.default_rng(7).integers(100, len(whole), 300)]
    where = [i for i in places if i < 100 or whole[i]]
    for place in where:
        raw = bytearray(whole)
        raw[place] ^= 0xFF
        used.write_bytes(raw)
        found = outcome(used)
        damaged += found == "damaged"
        assert found in ("damaged", right)
    assert damaged > len(where) / 2


def test_a_truncated_file_is_refused(used):
    whole = used.read_bytes()
    for size in [*range(0, len(whole), 1024), len(whole) - 1]:
        used.write_bytes(whole[:size])
        assert outcome(used) == "damaged"


def test_a_head_kept_elsewhere_reveals_a_file_that_was_set_back(used):
    ledger = Ledger(used)
    old = used.read_bytes()
    before = ledger.verify().head
    after = ledger.spend(1, [Names(["a"], ["x"])]).run.hash
    assert ledger.verify(after).head == after
    assert ledger.verify(before).head == after
    used.write_bytes(old)  # the same file, as after a restored disk
    assert ledger.verify(before).head == before
    with pytest.raises(SyntfError, match="set back to an earlier state"):
        ledger.verify(after)


def test_an_unused_ledger_is_one_file_that_can_be_copied(path, tmp_path):
    """With a write-ahead log, a copy or a move of the file alone would forget the last runs."""
    ledger = Ledger.create(path, budget=10)
    with closing(sqlite3.connect(path)) as reader:  # someone else has it open all the while
        reader.execute("SELECT * FROM runs").fetchall()
        ledger.spend(6, [Names(["a"])])
        assert os.listdir(tmp_path) == [path.name]
        copy = tmp_path / "copy"
        shutil.copy(path, copy)
    with pytest.raises(SyntfError, match="1 of 1 documents"):
        Ledger(copy).spend(6, [Names(["a"])])


def test_a_clock_that_goes_back_has_no_effect(path, monkeypatch):
    ledger = Ledger.create(path, budget=10)
    for year in (2030, 1970, 2026):
        monkeypatch.setattr(store, "now", lambda year=year: f"{year}-01-01T00:00:00+00:00")
        ledger.spend(3, [Names(["a"])])
    runs = ledger.verify().runs
    assert [run.time[:4] for run in runs] == ["2030", "1970", "2026"]
    assert [run.number for run in runs] == [1, 2, 3]
    with pytest.raises(SyntfError, match=r"1\.00 left"):
        ledger.spend(3, [Names(["a"])])


# Processes


RACE = """
import sys, time
from syntf.ledger import store
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
def check(db, original=store.read_checked):  # the others come while this one is at it
    content = original(db)
    time.sleep(0.03)
    return content
store.read_checked = check
for line in sys.stdin:
    try:
        Ledger(line.strip()).spend(6, [Names(["the last of it", str(id(line))])])
        print("won", flush=True)
    except SyntfError as error:
        print("lost" if "refuses" in str(error) else error, flush=True)
"""


def test_one_of_many_racing_processes_gets_the_rest_of_a_budget(tmp_path, trust):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    try:
        for turn in range(10):
            path = tmp_path / f"{turn}"
            Ledger.create(path, budget=10)
            for worker in workers:
                worker.stdin.write(f"{path}\n")
                worker.stdin.flush()
            found = sorted(worker.stdout.readline().strip() for worker in workers)
            assert found == ["lost", "lost", "lost", "won"]
            assert [run.documents for run in Ledger(path).verify().runs] == [2]
            trust["races for the last of a budget, one winner each"] += 1
    finally:
        for worker in workers:
            worker.communicate()


def test_waiting_too_long_for_the_lock_is_reported(used, monkeypatch):
    monkeypatch.setattr(store, "WAIT", 0.05)
    with closing(sqlite3.connect(used, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(SyntfError, match="another run has locked it"):
            Ledger(used).spend(1, [Names(["n"], ["z"])])
    assert len(Ledger(used).verify().runs) == 3


KILLED = """
import os, signal, sys
from syntf.ledger import store
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
def kill(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
ledger = Ledger(sys.argv[1])
if sys.argv[2] == "written":  # pages of the transaction are on the disk, its end is not
    places = []
    def place(original=ledger.refuse_replaced):
        places.append(1)
        len(places) == 2 and kill()
    ledger.refuse_replaced = place
ledger.spend(1, [Names([f"{i}" for i in range(60_000)])])
kill()
"""


@posix
@pytest.mark.parametrize("point", ["written", "committed"])
def test_a_killed_run_is_charged_whole_or_not_at_all(path, tmp_path, point):
    Ledger.create(path, budget=1)
    size = path.stat().st_size
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), point])
    assert done.returncode == -signal.SIGKILL
    if point == "written":
        journal = path.with_name(path.name + "-journal")
        assert journal.stat().st_size > 0
        assert path.stat().st_size > size
        moved = tmp_path / "moved"  # without its journal: half of a transaction is in it
        shutil.copy(path, moved)
        with pytest.raises(SyntfError, match="is damaged"):
            Ledger(moved).verify()
    assert len(Ledger(path).verify().runs) == (point == "committed")
    if point == "committed":
        with pytest.raises(SyntfError, match="1 of 1 documents"):
            Ledger(path).spend(1, [Names(["7"])])


FULL = """
import resource, sys
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    Ledger(sys.argv[1]).spend(1, [Names([f"{i}" for i in range(20_000)])])
except SyntfError as error:
    print(error)
"""


@posix
@pytest.mark.parametrize("room", [20_000, 100_000, 600_000])
def test_nothing_is_charged_if_the_disk_is_full(path, room):
    """No file may grow beyond `room`: SQLite's scratch, its journal, or the ledger itself."""
    ledger = Ledger.create(path, budget=10)
    command = [sys.executable, "-c", FULL, str(path), str(room)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "disk is full" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)
    assert ledger.verify().runs == ()
    ledger.spend(1, [Names(["7"])])


@posix
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_ledger_that_cannot_be_written_is_refused(path):
    ledger = Ledger.create(path, budget=10)
    path.chmod(0o400)
    with pytest.raises(SyntfError, match="cannot be written"):
        ledger.spend(1, [Names(["7"])])
    ledger.verify()


# anonymize --ledger

TERMS = ["cat", "dog", "car", "train", "music", "river", "bread", "garden"]
COUNT = 230


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("terms.txt").write_text("\n".join(TERMS))
    rows = "".join(f"n{i},{TERMS[i % 8]} number{i},w{i % 5}\n" for i in range(COUNT))
    Path("texts.csv").write_text("id,text,writer\n" + rows)
    return folder


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(corpus, "BATCH", 20)
    monkeypatch.setattr(draft, "SHARD", 60)


ARGUMENTS = ["anonymize", "texts.csv", "--vocabulary", "terms.txt", "--preset", "paper",
             "--loss", "2", "--length", "5", "--out", "out", "--ledger", "the.ledger"]  # fmt: skip


@pytest.fixture
def call(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        skipped = "broken row was left out" in err
        assert (caught.value.code == 0) == (err == "" or skipped)
        assert err == "" or (err.startswith("syntf: ") and err.count("\n") == 1 + skipped)
        return caught.value.code, out, err

    return run


def loss_of(folder="out"):
    return json.loads(Path(folder, "guarantee.json").read_text())["loss_per_document"]


def test_a_release_is_charged_with_its_guarantee(place, call):
    Ledger.create("the.ledger", budget=12, author_budget=1000)
    code, out, _ = call(*ARGUMENTS, "--id", "id", "--author", "writer")
    assert code == 0
    loss = ceil(Fraction(loss_of()) * UNIT)
    content, accounts = Ledger("the.ledger").accounts()
    assert accounts["document"].most_charged == loss
    assert accounts["author"].most_charged == 46 * loss
    assert (accounts["document"].names, accounts["author"].names) == (COUNT, 5)
    (run,) = content.runs
    assert (run.named_by, run.documents, run.loss) == ("id", COUNT, loss)
    assert content.head in out
    assert pl.read_parquet("out/documents.parquet").columns == ["document", "id"]
    code, _, err = call(*ARGUMENTS, "--id", "id", "--author", "writer", "--force")
    assert code == 1
    assert "230 of 230 documents would lose more than the 12.00 that each may lose" in err
    assert content == Ledger("the.ledger").verify()


def test_one_document_over_budget_stops_the_run_before_any_draw(place, call, monkeypatch):
    Ledger.create("the.ledger", budget=12).spend(7, [Names([f"{TERMS[1]} number201"])])
    monkeypatch.setattr(Anonymizer, "anonymize", None)
    code, _, err = call(*ARGUMENTS)
    assert code == 1
    assert "1 of 230 documents" in err
    assert "the worst is document 202 of the run, which has 5.00 left and would lose 10.00" in err
    assert sorted(os.listdir(place)) == ["terms.txt", "texts.csv", "the.ledger"]
    assert len(Ledger("the.ledger").verify().runs) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--ledger", "other"], "no ledger at"),
        (["--insecure-seed", "1"], "not private, so no ledger can account for it"),
        (["--vocabulary", "texts.csv", "--fit-vocabulary"], "exclude each other"),
        (["--weights", "tfidf", "--idf", "fitted"], "no ledger can account for it"),
        (["--author", "writer"], "no budget for authors"),
        (["--bad-rows", "stop", "--id", "nothing"], "no column 'nothing'"),
    ],
)
def test_runs_that_cannot_be_accounted_for_are_refused(place, call, more, message):
    Ledger.create("the.ledger", budget=12)
    code, _, err = call(*ARGUMENTS, *more)
    assert code == 2
    assert message in err
    assert sorted(os.listdir(place)) == ["terms.txt", "texts.csv", "the.ledger"]
    assert Ledger("the.ledger").verify().runs == ()


def test_other_refusals(place, call):
    Ledger.create("the.ledger", author_budget=12)
    assert "name their column with --author" in call(*ARGUMENTS)[2]
    plain = ARGUMENTS[:-2]
    assert "give --ledger or --author-loss too" in call(*plain, "--author", "writer")[2]
    stdin = ["anonymize", "-", "--input-format", "csv", *ARGUMENTS[2:], "--author", "writer"]
    assert "standard input can be read once, and a ledger" in call(*stdin)[2]
    assert Ledger("the.ledger").verify().runs == ()


def test_a_broken_row_at_the_end_is_found_before_anything_is_spent(place, small, call):
    Ledger.create("the.ledger", budget=12)
    with open("texts.csv", "a") as file:
        file.write("too,few\n")
    assert "too few fields" in call(*ARGUMENTS)[2]
    assert Ledger("the.ledger").verify().runs == ()
    assert call(*ARGUMENTS, "--bad-rows", "skip")[0] == 0
    assert Ledger("the.ledger").verify().runs[0].documents == COUNT


def test_an_input_that_changes_after_it_was_charged_is_not_drawn_for(
    place, small, call, monkeypatch
):
    Ledger.create("the.ledger", budget=12)
    spend = Ledger.spend

    def spend_then_edit(self, *arguments):
        charge = spend(self, *arguments)
        text = Path("texts.csv").read_text()
        Path("texts.csv").write_text(text.replace("number150", "number999"))
        return charge

    monkeypatch.setattr(Ledger, "spend", spend_then_edit)
    code, _, err = call(*ARGUMENTS)
    assert code == 2
    assert "the input changed while it was being read" in err
    assert "run 1 stays charged to the ledger" in err
    assert not Path("out").exists()


CLI_KILLED = """
import os, signal, sys
from syntf.inputs import corpus
from syntf.releases import draft
from syntf.pipeline.anonymizer import Anonymizer
corpus.BATCH, draft.SHARD = 20, 60
point = int(sys.argv.pop(1))
shards = 0
def draw_rows(self, documents, original=Anonymizer.draw_rows, **named):
    global shards
    shards += 1
    if shards == point:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, documents, **named)
Anonymizer.draw_rows = draw_rows
from syntf.cli.app import main
main()
"""


def killed_at(shard, *more):
    command = [sys.executable, "-c", CLI_KILLED, str(shard), *ARGUMENTS, *more]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL


@posix
def test_a_run_killed_before_its_output_stays_charged(place, call):
    Ledger.create("the.ledger", budget=12)
    killed_at(1)
    assert not Path("out").exists()
    assert [run.documents for run in Ledger("the.ledger").verify().runs] == [COUNT]
    code, _, err = call(*ARGUMENTS, "--force")
    assert code == 1
    assert "230 of 230 documents" in err


@posix
def test_a_resumed_run_is_charged_for_what_it_draws_again(place, small, call):
    """Killed in its second shard: 60 documents are done, 170 are drawn for and charged again."""
    Ledger.create("the.ledger", budget=22)
    killed_at(2)
    plain = ARGUMENTS[:-2]
    assert "another input or other options" in call(*plain, "--resume")[2]
    Ledger.create("another", budget=22)
    assert "another input or other options" in call(*plain, "--ledger", "another", "--resume")[2]
    assert call(*ARGUMENTS, "--resume")[0] == 0
    content, accounts = Ledger("the.ledger").accounts()
    assert [run.documents for run in content.runs] == [COUNT, 170]
    loss = content.runs[0].loss
    assert accounts["document"].most_charged == 2 * loss
    with closing(sqlite3.connect("the.ledger")) as db:
        rows = db.execute("SELECT n, count(*) FROM (SELECT count(*) AS n FROM spends GROUP BY "
                          "name) GROUP BY n").fetchall()  # fmt: skip
    assert rows == [(1, 60), (2, 170)]
    code, _, err = call(*ARGUMENTS, "--force")  # 170 of them have too little left
    assert code == 1
    assert "170 of 230 documents" in err
    assert "document 61 of the run" in err


@posix
def test_a_draft_begun_without_the_ledger_cannot_be_finished_with_it(place, small, call):
    Ledger.create("the.ledger", budget=12)
    plain = [a for a in ARGUMENTS if a not in ("--ledger", "the.ledger")]
    command = [sys.executable, "-c", CLI_KILLED, "2", *plain]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    assert "another input or other options" in call(*ARGUMENTS, "--resume")[2]
    assert Ledger("the.ledger").verify().runs == ()


def test_a_resumed_run_with_nothing_left_to_draw_is_not_charged(place, small, call, monkeypatch):
    Ledger.create("the.ledger", budget=12)
    readme = folder.render_readme

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "render_readme", fail)
    assert "run 1 stays charged to the ledger" in call(*ARGUMENTS)[2]
    monkeypatch.setattr(folder, "render_readme", readme)
    assert call(*ARGUMENTS, "--resume")[0] == 0
    assert len(Ledger("the.ledger").verify().runs) == 1


# syntf ledger


def test_the_commands(place, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call("ledger", "create", "l", "--budget", "2000", "--author-budget", "5e4")
    assert code == 0
    assert "documents at most 2,000.00 each" in " ".join(out.split())
    assert "authors at most 50,000.00 each" in " ".join(out.split())
    assert "exists already" in call("ledger", "create", "l", "--budget", "1")[2]
    assert "give a ledger a budget" in call("ledger", "create", "m")[2]
    assert "no ledger at" in call("ledger", "show", "m")[2]
    assert "no ledger at" in call("ledger", "verify", "m")[2]
    assert "No such file" in call("ledger", "create", "no/folder", "--budget", "1")[2]
    assert "No runs yet" in call("ledger", "show", "l")[1]
    heads = [Ledger("l").origin]
    for turn in range(22):
        names = Names(["a", f"{turn}"], ["x", "y"])
        heads.append(Ledger("l").spend(1.0004, [names]).run.hash)
    code, out, _ = call("ledger", "show", "l")
    assert max(map(len, out.splitlines())) <= 80
    lines = [line.split() for line in out.splitlines()]
    assert ["documents", "2,000.00", "23", "22.01", "1,977.99"] in lines
    assert ["authors", "50,000.00", "2", "22.01", "49,977.99"] in lines
    assert [line[0] for line in lines if line[-1:] == ["1.01"]] == [str(n) for n in range(3, 23)]
    assert "and 2 earlier runs" in out
    assert f"head {heads[-1]}" in out
    record = json.loads(call("ledger", "show", "l", "--json")[1])
    assert [run["head"] for run in record["runs"]] == heads[1:]
    units = ceil(Fraction(1.0004) * UNIT)
    assert record["documents"] == {
        "budget": 2000.0, "known": 23, "most_charged": 22 * units / UNIT,
        "least_left": 2000 - 22 * units / UNIT,
    }  # fmt: skip
    assert record["head"] == heads[-1]
    out = call("ledger", "verify", "l")[1]
    assert "Nothing was changed. Runs: 22. Documents charged: 44." in out
    assert heads[-1] in out
    assert "5 runs came after it" in call("ledger", "verify", "l", "--head", heads[-6])[1]
    assert "set back" in call("ledger", "verify", "l", "--head", "f" * 64)[2]
    sql("l", "UPDATE spends SET count = 0 WHERE run = 7")
    for command in ("show", "verify"):
        code, out, err = call("ledger", command, "l")
        assert (code, out) == (1, "")
        assert "what run 7 charged was changed" in err


def test_a_ledger_without_one_of_the_budgets(place, call):
    assert "authors no limit" in " ".join(
        call("ledger", "create", "l", "--budget", "20")[1].split()
    )
    assert "authors no limit" in " ".join(call("ledger", "show", "l")[1].split())
    assert set(json.loads(call("ledger", "show", "l", "--json")[1])) == {
        "created", "documents", "runs", "head",
    }  # fmt: skip


# SynTF(ledger=…)


def test_the_transformer_spends_before_it_draws(path):
    ledger = Ledger.create(path, budget=25, author_budget=45)
    made = SynTF(preset="paper", vocabulary=TERMS, loss=2, length=5, ledger=ledger)
    texts, authors = ["cat", "dog", "cat"], ["x", "y", None]
    made.fit(texts)
    assert ledger.verify().runs == ()
    loss = chargeable_loss(made.guarantee_)
    with pytest.raises(SyntfError, match="name their column"):
        made.transform(texts)
    assert made.transform(texts, authors=authors).shape == (3, 8)
    assert spent(path) == 2 * ceil(Fraction(loss) * UNIT)
    with pytest.raises(SyntfError, match="1 of 1 documents"):
        made.transform(["cat"], authors=["z"])
    assert made.transform(["dog"], authors=["z"]).shape == (1, 8)
    with pytest.raises(SyntfError, match="by ids"):
        made.fit_transform(["dog"], ids=[7], authors=["z"])
    assert len(ledger.verify().runs) == 2


def test_the_transformer_takes_ids(path):
    made = SynTF(
        preset="paper", vocabulary=TERMS, loss=2, length=5, ledger=Ledger.create(path, budget=15)
    )
    assert made.fit_transform(["cat", "cat"], ids=[1, 2]).shape == (2, 8)
    with pytest.raises(SyntfError, match="1 of 2 documents"):
        clone(made).fit_transform(["dog", "cat"], ids=["3", "2"])
    with pytest.raises(ValueError, match="one per text"):
        made.transform(["dog", "cat"], ids=[3])
    with pytest.raises(ValueError, match="need a ledger"):
        SynTF(preset="paper", vocabulary=TERMS).fit_transform(["dog"], ids=[3])


def test_releases_that_are_not_private_are_not_charged(path):
    ledger = Ledger.create(path, budget=15)
    seeded = SynTF(preset="paper", vocabulary=TERMS, source=entropy.Seeded(1), ledger=ledger)
    with pytest.raises(SyntfError, match="not private"):
        seeded.fit_transform(["cat"])
    assert ledger.verify().runs == ()


def test_ids_of_different_types_are_the_same_name():
    assert as_names(["a"] * 3, [17, 17.0, b"17"], None).documents == ["17"] * 3
    for bad in (2.5, True):
        with pytest.raises(ValueError, match="whole numbers"):
            as_names(["a"], [bad], None)
