"""A limit on the loss of authors: how many of their documents are released, and which."""

import json
from collections import Counter
from fractions import Fraction
from math import sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.codebook import plan
from syntf.core.errors import SyntfError
from syntf.inputs import corpus as corpora
from syntf.inputs.corpus import Corpus
from syntf.inputs.rows import Rows, concatenate
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentMechanism
from syntf.privacy.bounds import documents_within
from syntf.privacy.guarantee import canonical_json, checksum
from syntf.releases import authors, document_run, draft
from syntf.releases.job import release
from syntf.verification.result import FAILED, UNVERIFIABLE
from syntf.verification.verify import verify

AUTHORS = ["ann"] * 5 + ["bob"] * 2 + [""] * 4 + ["cid"] * 9
RELEASED = {"ann": 3, "bob": 2, "": 4, "cid": 3}
"""Documents of each author in a release of at most 3 documents of an author."""

UNITS = [{"document_loss": 10.0}, {"preset": "words", "loss": 1.0, "length": 10}]


@pytest.fixture
def mails(tmp_path):
    """20 mails by three authors, and four without an author."""
    texts = [f"the rocket carried a satellite into orbit {number}" for number in range(20)]
    frame = pl.DataFrame({"id": range(20), "sender": AUTHORS, "text": texts})
    frame.write_csv(tmp_path / "mails.csv")
    return tmp_path / "mails.csv"


def many(path, count=240):
    """Write `count` texts by 30 authors in turns."""
    rows = {
        "sender": [f"author {number % 30}" for number in range(count)],
        "text": [f"we cooked soup with garlic and onions {number}" for number in range(count)],
    }
    pl.DataFrame(rows).write_csv(path)
    return path


def read_documents(folder):
    return pl.concat(map(pl.read_parquet, sorted(folder.glob("documents*.parquet"))))


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_the_limit_is_the_largest_number_of_documents_within_the_loss(author_loss, loss):
    if author_loss < loss:
        with pytest.raises(SyntfError, match="below the loss"):
            documents_within(author_loss, loss)
        return
    most = documents_within(author_loss, loss)
    assert most * Fraction(loss) <= Fraction(author_loss) < (most + 1) * Fraction(loss)


@pytest.mark.parametrize("unit", UNITS)
def test_at_most_so_many_documents_of_an_author_are_released(mails, tmp_path, unit):
    made = release(
        mails, tmp_path / "out", author="sender", author_loss=35, keep=["sender"], **unit
    )
    found = pl.read_parquet(tmp_path / "out" / "documents.parquet")
    assert Counter(found["sender"].fill_null("")) == RELEASED
    assert found["document"].to_list() == list(range(12))
    assert (made.documents, made.left_out) == (12, 8)
    promised = made.guarantee
    assert promised.documents_per_author == 3
    assert promised.loss_per_author == pytest.approx(3 * promised.loss_per_document, rel=1e-15)
    assert promised.loss_per_author == pytest.approx(30)
    readme = " ".join((tmp_path / "out" / "README.txt").read_text().split())
    assert "loss per author 30.00" in readme
    assert "An author loses at most 30.00: at most 3 documents of each author" in readme
    assert "30.00" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("unit", UNITS)
def test_without_a_limit_the_release_says_that_losses_of_authors_add_up(mails, tmp_path, unit):
    made = release(mails, tmp_path / "out", **unit)
    assert (made.guarantee.documents_per_author, made.guarantee.loss_per_author) == (None, None)
    readme = " ".join((tmp_path / "out" / "README.txt").read_text().split())
    assert "An author of m documents in this release loses m times as much" in readme


def test_a_loss_below_that_of_a_document_is_refused(mails, tmp_path):
    with pytest.raises(SyntfError, match="loss of 9 per author is below the loss of 10 of"):
        release(mails, tmp_path / "out", author="sender", author_loss=9, document_loss=10)
    assert not (tmp_path / "out").exists()


def test_a_limit_needs_a_column_of_authors_and_a_column_needs_a_use(mails, tmp_path):
    with pytest.raises(SyntfError, match="name their column by --author"):
        release(mails, tmp_path / "out", author_loss=30, document_loss=10)
    with pytest.raises(SyntfError, match="give --ledger or --author-loss"):
        release(mails, tmp_path / "out", author="sender", document_loss=10)
    with pytest.raises(SyntfError, match="no column 'who'"):
        release(mails, tmp_path / "out", author="who", author_loss=30, document_loss=10)
    with pytest.raises(SyntfError, match="the documents of each author must be counted"):
        release("-", tmp_path / "out", author="sender", author_loss=30, document_loss=10,
                input_format="csv")  # fmt: skip


def test_texts_do_not_influence_which_documents_are_released(mails, tmp_path):
    given = {"author": "sender", "author_loss": 30, "document_loss": 10, "id": "id"}
    release(mails, tmp_path / "one", insecure_seed=4, **given)
    texts = pl.Series("text", [number % 3 * "other words " for number in range(20)])
    pl.read_csv(mails).with_columns(texts).write_csv(mails)
    release(mails, tmp_path / "two", insecure_seed=4, **given)
    one, two = (read_documents(tmp_path / name)["id"].to_list() for name in ("one", "two"))
    assert one == two


def test_every_document_of_an_author_is_chosen_equally_often(mails):
    runs = 2000
    times = np.zeros(20)
    for number in range(runs):
        key = number.to_bytes(32, "big")
        times += authors.select(Corpus([mails], "text"), "sender", 3, key).rows
    for author, share in (("ann", 3 / 5), ("cid", 1 / 3)):
        own = times[np.array(AUTHORS) == author]
        assert (np.abs(own - share * runs) < 4.5 * sqrt(runs * share * (1 - share))).all()
    assert (times[5:11] == runs).all()


def test_batches_and_memory_do_not_change_the_choice(tmp_path, monkeypatch):
    path = many(tmp_path / "many.csv")
    whole = authors.select(Corpus([path], "text"), "sender", 3, bytes(32))
    monkeypatch.setattr(corpora, "BATCH", 7)
    monkeypatch.setattr(authors, "ROWS_HELD", 20)
    parts = authors.select(Corpus([path], "text"), "sender", 3, bytes(32))
    assert parts.rows.tolist() == whole.rows.tolist()
    assert parts.digest == whole.digest
    assert whole.rows.sum() == 90


def test_an_input_that_changes_between_passes_is_refused(mails):
    corpus = Corpus([mails], "text")
    (batch,) = corpus
    selection = authors.select(corpus, "sender", 3, bytes(32))
    selection.begin()
    assert selection.take(batch).height == 12
    selection.end()
    for changed in (batch[:19], Rows.of(batch.frame().with_columns(sender=pl.lit("eve")))):
        selection.begin()
        selection.take(changed)
        with pytest.raises(SyntfError, match="the input changed"):
            selection.end()
    selection.begin()
    with pytest.raises(SyntfError, match="the input changed"):
        selection.take(concatenate([batch, batch]))


def test_a_resumed_run_releases_the_same_documents(tmp_path, monkeypatch):
    """Also with a pilot, which is chosen among the documents that are released."""
    monkeypatch.setattr(draft, "SHARD", 30)
    monkeypatch.setattr(document_run, "SAMPLE", 25)
    monkeypatch.setattr(plan, "PILOT_FROM", 60)
    monkeypatch.setattr(plan, "PILOT_MOST", 10)
    drawn, stopping = [], [True]

    def draw(self, encoded, entry_list, original=DocumentMechanism.draw):
        drawn.append(len(encoded))
        return original(self, encoded, entry_list)

    def add(self, counts, documents, original=draft.Draft.add):
        original(self, counts, documents)
        if stopping and self.documents >= 60:
            stopping.clear()
            raise KeyboardInterrupt

    monkeypatch.setattr(DocumentMechanism, "draw", draw)
    monkeypatch.setattr(draft.Draft, "add", add)
    given = {"author": "sender", "author_loss": 24, "document_loss": 8, "keep": ["sender"]}
    path = many(tmp_path / "many.csv")
    with pytest.raises(KeyboardInterrupt):
        release(path, tmp_path / "out", **given)
    made = release(path, tmp_path / "out", resume=True, **given)
    found = read_documents(tmp_path / "out")
    assert set(Counter(found["sender"]).values()) == {3}
    assert found["pilot"].sum() == 10
    assert sum(drawn) == made.documents == found.height == 90


def test_a_draft_without_its_key_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(draft, "SHARD", 30)

    def add(self, counts, documents, original=draft.Draft.add):
        original(self, counts, documents)
        raise KeyboardInterrupt

    given = {"author": "sender", "author_loss": 30, "preset": "words", "loss": 1.0, "length": 10}
    path = many(tmp_path / "many.csv")
    with monkeypatch.context() as patch:
        patch.setattr(draft.Draft, "add", add)
        with pytest.raises(KeyboardInterrupt):
            release(path, tmp_path / "out", **given)
    (tmp_path / ".out.partial" / draft.AUTHORS_FILE).unlink()
    with pytest.raises(SyntfError, match="start over with --force"):
        release(path, tmp_path / "out", resume=True, **given)


@pytest.mark.parametrize("author_budget", [None, 100.0])
def test_a_ledger_is_charged_for_released_documents_alone(mails, tmp_path, author_budget):
    Ledger.create(tmp_path / "ledger", budget=50.0, author_budget=author_budget)
    made = release(
        mails, tmp_path / "out", author="sender", author_loss=30, document_loss=10, id="id",
        ledger=tmp_path / "ledger",
    )  # fmt: skip
    assert made.ledger_run.documents == made.documents == 12


def test_a_receiver_learns_that_the_limit_cannot_be_checked(mails, tmp_path):
    release(mails, tmp_path / "out", author="sender", author_loss=30, **UNITS[1])
    result = verify(tmp_path / "out")
    assert result.verified
    listed = {check.name: check.detail for check in result.with_status(UNVERIFIABLE)}
    assert listed["loss_per_author"].startswith("30.00, at most 3 documents of each author")
    release(mails, tmp_path / "all", **UNITS[1])
    listed = {check.name for check in verify(tmp_path / "all").with_status(UNVERIFIABLE)}
    assert not {"loss_per_author", "documents_per_author"} & listed


@pytest.mark.parametrize("change", [{"loss_per_author": 10.0}, {"documents_per_author": None}])
def test_a_loss_per_author_that_does_not_follow_from_the_limit_is_refused(mails, tmp_path, change):
    release(mails, tmp_path / "out", author="sender", author_loss=30, **UNITS[1])
    path = tmp_path / "out" / "guarantee.json"
    record = {**json.loads(path.read_text()), **change}
    del record["checksum"]
    path.write_text(canonical_json({**record, "checksum": checksum(record)}))
    (failed,) = verify(tmp_path / "out").with_status(FAILED)
    assert "loss_per_author is not documents_per_author times" in failed.detail


def test_the_command_states_the_loss_of_an_author(call, mails, tmp_path):
    code, out, _ = call(
        "anonymize", mails, "--author", "sender", "--author-loss", "20", "--document-loss", "10",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 0
    assert "loss per author" in out
    assert "20.00  (2 of each author at most; 10 documents left out)" in out
