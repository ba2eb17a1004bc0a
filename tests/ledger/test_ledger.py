"""The ledger: exact sums, all or nothing, and no way to more than the budget."""

import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing, suppress
from decimal import Decimal
from fractions import Fraction
from math import ceil, e, floor, inf, nan
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf import ledger as module
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger import Ledger, group_charge
from syntf.privacy.guarantee import ADDED_OR_REMOVED, SEEDED, Guarantee, Public

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")
UNIT = Fraction(1, 10**12)


def release(loss, delta=0.0, **more):
    """The guarantee of a release that is about to be drawn."""
    fields = {"loss_per_document": loss, "loss_if_replaced": loss, "delta": delta}
    return Guarantee(**{**fields, "composition": [], "settings": {}, "public": {}, **more})


def charge(ledger, loss, documents, authors=None, by="id", delta=0.0):
    names = ledger.names(by, authors=authors is not None)
    return ledger.charge(release(loss, delta), names.add(documents, authors))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "texts.ledger"


def largest(path, kind="document"):
    """What the most charged has lost."""
    return Ledger(path).summary()[kind].largest_loss


# Sums


DOCUMENTS = st.sampled_from(["a", "b", "é", "\ud800", ""])
ROWS = st.lists(st.tuples(DOCUMENTS, st.sampled_from(["x", "y", "", None])), max_size=6)
LOSSES = st.floats(0, 12) | st.sampled_from([0.1, 1e-12, 1e-13, 1 / 3, 5.0, 2.0**40, 1e300])
BUDGETS = st.none() | st.floats(1e-6, 30) | st.sampled_from([0.3, 5.0, 10.0, 1 / 3])


@settings(max_examples=60)
@given(
    st.tuples(BUDGETS, BUDGETS).filter(any),
    st.sampled_from(["id", "text"]),
    st.lists(st.tuples(LOSSES, ROWS, st.integers(0, 3)), max_size=6),
)
def test_a_ledger_keeps_exact_sums_for_documents_and_authors(both, by, steps):
    """The model: losses rounded up and budgets down to 10^-12; all of a run or nothing of it.

    An id costs as much as its rows, a text costs once. A missing author is the document itself.
    After a run, one of the runs before it may be cancelled.
    """
    limits = {
        kind: floor(Fraction(str(value)) / UNIT)
        for kind, value in zip(("document", "author"), both, strict=True)
        if value is not None
    }
    charges = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger")
        Ledger.create(path, document=both[0], author=both[1])
        for loss, rows, cancelled in steps:
            units = ceil(Fraction(str(loss)) / UNIT)
            names = {
                "document": [("document", text) for text, _ in rows],
                "author": [("author", author) if author else ("of", text) for text, author in rows],
            }
            if by == "text":
                names["document"] = {*names["document"]}
            asked = Counter(name for kind in limits for name in names[kind])
            due = Counter({name: count * units for name, count in asked.items()})
            total = sum(charges, Counter()) + due
            fits = all(
                total[name] <= limits[kind] for kind in limits for name in names[kind]
            )  # fmt: skip
            ledger = Ledger(path)
            collected = ledger.names(by, authors=True)
            for text, author in rows:
                collected.add([text], [author])
            if fits:
                run = ledger.charge(release(loss), collected)
                charges.append(due)
                assert (run.number, run.documents) == (len(charges), len(rows))
                assert Fraction(run.loss) == min(units * UNIT, 2_000_000)
            else:
                with pytest.raises(BudgetError, match="refuses this run"):
                    ledger.charge(release(loss), collected)
            if cancelled and charges and charges[-cancelled:][0]:
                number = len(charges[:-cancelled]) + 1
                if ledger.runs()[number - 1].cancelled is None:
                    ledger.cancel(number)
                    charges[number - 1] = Counter()
        accounts = Ledger(path).summary()
        total = sum(charges, Counter())
        assert set(accounts) == set(limits)
        for kind, limit in limits.items():
            own = [
                lost
                for name, lost in total.items()
                if (name[0] == "document") == (kind == "document")
            ]
            assert Fraction(accounts[kind].budget) == limit * UNIT
            assert Fraction(accounts[kind].largest_loss) == max(own, default=0) * UNIT


def test_ten_charges_of_a_tenth_are_exactly_one(path):
    """As floats, 0.1 three times is more than 0.3."""
    ledger = Ledger.create(path, document=1.0)
    for _ in range(10):
        charge(ledger, 0.1, ["a"])
    assert largest(path) == 1
    with pytest.raises(BudgetError, match=r"has lost 1 and would lose another 0\.000000000001;"):
        charge(ledger, 1e-30, ["a"])
    for _ in range(3):
        charge(ledger, 0.3, ["b"])


def test_what_equals_an_id_adds_up_and_what_equals_a_text_does_not(path, tmp_path):
    """Two rows with one id are one document; two rows with one text are two documents."""
    ledger = Ledger.create(path, document=10)
    with pytest.raises(
        BudgetError, match=r"1 document would .* document 2 of the run.* another 12"
    ):
        charge(ledger, 4, ["b", "a", "a", "a"])
    charge(ledger, 4, ["b", 7, "7"])
    assert largest(path) == 8
    texts = Ledger.create(tmp_path / "by text", document=10)
    charge(texts, 10, ["thanks", "", "thanks", None, "thanks"], by="text")
    assert texts.runs()[0].documents == 5
    with pytest.raises(BudgetError, match=r"2 documents would .* document 1 of the run"):
        charge(texts, 10, ["", "new", "thanks"], by="text")
    with pytest.raises(BudgetError, match=r"3 documents would .* document 2 of the run.* lost 10 "):
        charge(texts, 11, ["new", "thanks", ""], by="text")


def test_documents_without_an_author_are_authors_of_their_own(path):
    ledger = Ledger.create(path, author=5)
    charge(ledger, 4, ["1", "2", "3", "4"], [None, "x", b"", nan])
    assert ledger.summary()["author"].names == 4
    with pytest.raises(BudgetError, match=r"1 author would .* the author of document 2 of the run"):
        charge(ledger, 4, ["5", "1"], [None, None])
    with pytest.raises(BudgetError, match=r"1 author would .* another 8"):
        charge(ledger, 4, ["5", "6"], ["z", "z"])


def test_sums_are_charged_by_their_loss_for_a_replaced_document(path):
    """A release of sums promises less for a replaced document than for a removed one."""
    ledger = Ledger.create(path, document=3, delta=1.5e-6)
    sums = release(1.0, 1e-6, adjacency=ADDED_OR_REMOVED, loss_if_replaced=2.0, kind="corpus")
    run = ledger.charge(sums, ledger.names("id").add(["a"]))
    assert (run.loss, run.delta) == (2, Decimal("0.000001"))
    with pytest.raises(BudgetError, match=r"more than 0\.0000015 of δ; .* another 0\.000001;"):
        charge(ledger, 1.0, ["b", "a"], delta=1e-6)
    charge(ledger, 1.0, ["a"])
    assert ledger.summary()["document"].largest_delta == Decimal("0.000001")
    with pytest.raises(BudgetError, match="more than 0 of δ"):
        charge(Ledger.create(path.with_name("pure"), document=9), 1.0, ["a"], delta=1e-30)


@given(st.integers(0, 60 * 10**12), st.integers(0, 10**12), st.integers(1, 30))
def test_a_group_is_charged_what_its_replacements_cost_one_after_the_other(loss, delta, count):
    """Compared with the sum of the theorem; more than a δ of 1 exceeds every budget."""
    total, total_delta = group_charge(loss, delta, count)
    assert total == count * loss
    exact = sum(delta * e ** min(i * float(loss * UNIT), 600) for i in range(count))
    assert total_delta >= min(exact * (1 - 1e-9), 10**12)
    if exact < 10**12:
        assert total_delta <= exact * (1 + 1e-9) + 1


@pytest.mark.parametrize("budget", [nan, inf, 0, -1, True, 1e7, "9"])
def test_a_budget_must_be_a_number(path, budget):
    for name in ("document", "author"):
        with pytest.raises(SyntfError, match=f"the budget of each {name} must"):
            Ledger.create(path, **{name: budget})
    with pytest.raises(SyntfError, match="give a ledger a budget"):
        Ledger.create(path)
    with pytest.raises(SyntfError, match="the budget of δ must"):
        Ledger.create(path, document=1, delta=2)
    assert not path.exists()


@pytest.mark.parametrize("loss", [nan, inf, 1e300])
def test_a_loss_that_is_no_number_exceeds_every_budget(path, loss):
    with pytest.raises(BudgetError):
        charge(Ledger.create(path, document=10**6), loss, ["a"])


# Names


def test_neither_texts_nor_names_are_in_the_file(path, tmp_path):
    ledger = Ledger.create(path, document=10, author=10)
    charge(ledger, 1, ["canary text"], ["canary author"], by="text")
    with pytest.raises(BudgetError) as caught:
        charge(ledger, 10, ["canary text"], ["canary author"], by="text")
    assert "canary" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert b"canary" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600 or os.name != "posix"


def test_every_ledger_has_a_key_of_its_own_and_every_kind_of_name_too(tmp_path):
    found = []
    for name, by in (("a", "id"), ("b", "id"), ("c", "text")):
        charge(Ledger.create(tmp_path / name, document=9, author=9), 1, ["same"], ["same"], by=by)
        with closing(sqlite3.connect(tmp_path / name)) as db:
            found += db.execute("SELECT name FROM spends").fetchall()
    assert len(set(found)) == 6
    assert {len(name) for (name,) in found} == {16}


def test_a_document_cannot_get_a_second_budget_under_another_name(path):
    ledger = Ledger.create(path, document=10)
    early = ledger.names("text").add(["7"])
    charge(ledger, 8, ["7"])
    with pytest.raises(SyntfError, match=r"by ids, and this run by texts.*: use --id, as before"):
        ledger.names("text")
    with pytest.raises(SyntfError, match="by ids, and this run by texts"):
        ledger.charge(release(1), early)  # another run came first
    ledger.cancel(1)
    charge(ledger, 8, ["7"], by="text")
    with pytest.raises(SyntfError, match=r"by texts, and this run by ids.*: leave out --id, as be"):
        ledger.names("id")


def test_authors_must_be_named_if_they_have_a_budget_and_are_ignored_otherwise(path, tmp_path):
    with pytest.raises(SyntfError, match="has a budget for authors: name their column"):
        Ledger.create(path, author=10).names("text")
    charge(Ledger(path), 3, ["a", "a", "b"], ["x", "x", "x"], by="text")
    assert largest(path, "author") == 9
    other = Ledger.create(tmp_path / "other", document=1)
    charge(other, 1, ["a", "b"], ["x", "x"])
    assert list(other.summary()) == ["document"]


def test_only_the_rows_that_are_left_are_charged(path):
    """A limit for authors leaves documents out after all names were read, from polars columns."""
    ledger = Ledger.create(path, document=10, author=10)
    names = ledger.names("id", authors=True)
    names.add(pl.Series([1, 2, 3]), pl.Series(["x", "x", None]))
    names.add(pl.Series([4, 5]), pl.Series(["y", "x"]))
    assert len(names) == 5
    run = ledger.charge(release(5), names.at([0, 2, 4]))
    assert (run.documents, largest(path), largest(path, "author")) == (3, 5, 10)
    charge(ledger, 10, ["2", "4"], ["z", "y"])


def test_releases_that_are_not_private_are_not_charged(path):
    ledger = Ledger.create(path, document=10)
    for fault in ({"entropy": SEEDED}, {"public": {"vocabulary": Public("", "private")}}):
        with pytest.raises(SyntfError, match="not private, so no ledger can account for it"):
            ledger.charge(release(1, **fault), ledger.names("id").add(["a"]))
    assert ledger.runs() == []


# Cancelling


def test_a_cancelled_run_gives_back_what_it_was_charged_and_stays_in_the_list(path):
    ledger = Ledger.create(path, document=10, author=10)
    ledger.charge(release(6), ledger.names("id", authors=True).add(["a"], ["x"]), note="out")
    with pytest.raises(BudgetError):
        charge(ledger, 6, ["a"], ["y"])
    done = ledger.cancel(1)
    assert (done.number, done.loss, done.note) == (1, 6, "out")
    assert done.cancelled is not None
    assert ledger.runs() == [done]
    assert largest(path) == largest(path, "author") == 0
    assert charge(ledger, 6, ["a"], ["x"]).number == 2
    for number in (1, 3, 0):
        with pytest.raises(SyntfError, match=f"no run {number} counts"):
            ledger.cancel(number)
    with pytest.raises(BudgetError):
        charge(ledger, 6, ["a"], ["y"])


# The file


def test_opening_never_creates_a_ledger_and_creating_never_replaces_a_file(path, tmp_path):
    with pytest.raises(SyntfError, match="no ledger at"):
        Ledger(path)
    ledger = Ledger.create(path, document=10)
    names = ledger.names("id").add(["a"])
    with pytest.raises(SyntfError, match="exists already"):
        Ledger.create(path, document=10)
    path.rename(tmp_path / "moved")
    for use in (lambda: ledger.charge(release(1), names), ledger.summary, ledger.runs):
        with pytest.raises(SyntfError, match="cannot be opened"):
            use()
    assert os.listdir(tmp_path) == ["moved"]
    Ledger.create(path, document=10)
    with pytest.raises(SyntfError, match="was replaced by another ledger"):
        ledger.charge(release(1), names)
    path.unlink()
    path.with_name(f"{path.name}-journal").write_bytes(b"of a ledger that was moved")
    with pytest.raises(SyntfError, match="-journal exists already"):
        Ledger.create(path, document=10)
    assert not path.exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (None, "not a ledger|is damaged"),
        ("CREATE TABLE other (x)", "not a ledger"),
        ("PRAGMA application_id = 1398361684", "a ledger of another version"),
    ],
)
def test_files_that_are_not_ledgers_are_refused_and_left_alone(path, statement, message):
    path.write_bytes(b"" if statement else b"text\n" * 500)
    if statement:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE runs (number)")
            db.execute(statement)
    content = path.read_bytes()
    with pytest.raises(SyntfError, match=message):
        Ledger(path)
    assert path.read_bytes() == content
    with pytest.raises(SyntfError, match="no ledger at"):
        Ledger(path.parent)


def test_a_ledger_is_one_file_that_can_be_linked_to_and_sent_to_a_worker(path, tmp_path):
    ledger = pickle.loads(pickle.dumps(Ledger.create(path, document=10)))  # noqa: S301
    (tmp_path / "link").symlink_to(path)
    charge(Ledger(tmp_path / "link"), 6, ["a"])
    assert {*os.listdir(tmp_path)} == {path.name, "link"}
    with pytest.raises(BudgetError):
        charge(ledger, 6, ["a"])


def outcome(path):
    """What can be done with a file of two runs: its sums, and whether "a" may lose 3 or 2."""
    try:
        ledger = Ledger(path)
        accounts = ledger.summary()
        for loss in (3, 2):
            with suppress(BudgetError):
                charge(ledger, loss, [f"{i}" for i in range(300)])
                return accounts, loss
    except SyntfError as error:
        return re.search("damaged|not a ledger", str(error)) and "damaged"
    return accounts, None


def test_a_damaged_file_is_found_or_its_sums_are_right(path):
    """The file is cut at each page, and each page is overwritten by zeros, ones or another page."""
    ledger = Ledger.create(path, document=10)
    for _ in range(2):
        charge(ledger, 4, [f"{i}" for i in range(300)])
    whole = path.read_bytes()
    right = outcome(path)
    assert right[1] == 2
    pages = [whole[i : i + 4096] for i in range(0, len(whole), 4096)]
    assert len(pages) > 8
    for place in range(len(pages)):
        path.write_bytes(b"".join(pages[:place]))
        assert place == 0 or outcome(path) == "damaged"
        for page in (bytes(4096), b"\xff" * 4096, pages[place - 1]):
            path.write_bytes(b"".join([*pages[:place], page, *pages[place + 1 :]]))
            assert outcome(path) in ("damaged", right)


# Processes


HELPERS = """
import os, signal, sys, time
from contextlib import contextmanager
from syntf import ledger
from syntf.privacy.guarantee import Guarantee

def charge(path, loss, documents):
    made = ledger.Ledger(path)
    fields = dict(loss_per_document=loss, loss_if_replaced=loss, composition=[])
    return made.charge(
        Guarantee(**fields, settings={}, public={}), made.names("id").add(documents)
    )

class Watched:  # a connection that calls `before` with every statement
    def __init__(self, db, before):
        self.db, self.before = db, before
    def __getattr__(self, name):
        return getattr(self.db, name)
    def execute(self, statement, *values):
        return self.db.execute(self.before(statement) or statement, *values)

def watch(before, connected=ledger._connected):
    @contextmanager
    def watched(*arguments, **options):
        with connected(*arguments, **options) as db:
            yield Watched(db, before)
    ledger._connected = watched
"""

RACE = """
unlocked = []
def before(statement):
    if "TABLE total" in statement or "INTO runs" in statement:
        time.sleep(0.05)  # the others come while this one reads and writes
    if statement == "BEGIN IMMEDIATE" and sys.argv[1] == "fault":
        unlocked.append(1)
    if unlocked and statement in ("BEGIN IMMEDIATE", "COMMIT"):
        return "SELECT 1"
watch(before)
for line in sys.stdin:
    unlocked.clear()
    try:
        charge(line.strip(), 6, ["the last of it", str(os.getpid())])
        print("won", flush=True)
    except ledger.BudgetError:
        print("lost", flush=True)
"""


@pytest.mark.parametrize("fault", ["no", "fault"])
def test_one_of_several_racing_processes_gets_the_rest_of_a_budget(tmp_path, fault):
    """A ledger that does not lock the file lets two of them win."""
    command = [sys.executable, "-c", HELPERS + RACE, fault]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(3)]
    results = []
    try:
        for turn in range(5):
            path = tmp_path / f"{turn}"
            Ledger.create(path, document=10)
            for worker in workers:
                worker.stdin.write(f"{path}\n")
                worker.stdin.flush()
            won = [worker.stdout.readline().strip() for worker in workers].count("won")
            results.append((won, len(Ledger(path).runs())))
    finally:
        for worker in workers:
            worker.communicate()
    assert (results == [(1, 1)] * 5) == (fault == "no")


def test_waiting_too_long_for_the_lock_is_reported(path, monkeypatch):
    ledger = Ledger.create(path, document=10)
    monkeypatch.setattr(module, "WAIT", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(SyntfError, match="another run has locked it"):
            charge(ledger, 1, ["n"])
    assert ledger.runs() == []


KILLED = """
commits = []
def kill(statement):
    commits.extend([1] * (statement == "COMMIT"))
    if len(commits) == 2 and sys.argv[2] == "written":  # pages are on the disk, the end is not
        os.kill(os.getpid(), signal.SIGKILL)
watch(kill)
charge(sys.argv[1], 1, [f"{i}" for i in range(60_000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
@pytest.mark.parametrize("point", ["written", "committed"])
def test_a_killed_run_is_charged_whole_or_not_at_all(path, tmp_path, point):
    """After the charge, it stays charged until its owner cancels it."""
    Ledger.create(path, document=1)
    untouched = outcome(Ledger.create(tmp_path / "untouched", document=1).path)
    size = path.stat().st_size
    done = subprocess.run([sys.executable, "-c", HELPERS + KILLED, str(path), point])
    assert done.returncode == -signal.SIGKILL
    if point == "written":
        assert path.with_name(f"{path.name}-journal").stat().st_size > 0
        assert path.stat().st_size > size
        moved = tmp_path / "moved"  # without its journal, with half of a transaction in it
        shutil.copy(path, moved)
        assert outcome(moved) in ("damaged", untouched)
    ledger = Ledger(path)
    assert len(ledger.runs()) == (point == "committed")
    if point == "committed":
        with pytest.raises(BudgetError, match="1 document would"):
            charge(ledger, 1, ["7"])
        ledger.cancel(1)
    charge(ledger, 1, ["7"])


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    charge(sys.argv[1], 1, [f"{i}" for i in range(20_000)])
except ledger.SyntfError as error:
    print(error)
"""


@posix
@pytest.mark.parametrize("room", [20_000, 100_000, 600_000])
def test_nothing_is_charged_if_the_disk_is_full(path, room):
    """No file may grow beyond `room`: SQLite's scratch, its journal, or the ledger itself."""
    ledger = Ledger.create(path, document=10)
    command = [sys.executable, "-c", HELPERS + FULL, str(path), str(room)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "disk is full" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)
    assert ledger.runs() == []
    charge(ledger, 1, ["7"])


LARGE = """
import resource
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = ledger.Ledger(sys.argv[1])
before = peak()
charge(sys.argv[1], 4, (number for number in range(1_000_000)))
print(peak() - before)
"""


@posix
def test_a_million_documents_are_charged_in_seconds_and_little_memory(path):
    Ledger.create(path, document=10)
    command = [sys.executable, "-c", HELPERS + LARGE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 250e6
    assert Ledger(path).runs()[0].documents == 1_000_000
