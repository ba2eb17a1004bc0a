"""Releases on a cluster charge the ledger on the driver, before anything is drawn."""

import pytest

from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.spark import anonymize, drawing, frames
from syntf.spark.inputs import read

LOSS = 120.0
"""Loss per document of the test's parameters: 30 words, 4 each."""


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "texts.ledger", budget=1.5 * LOSS)


def runs(ledger):
    return [(run.documents, run.named_by) for run in ledger.verify().runs]


@pytest.mark.parametrize("id", [None, "name"])
def test_a_release_is_charged_before_it_is_drawn(
    frame, parameters, ledger, tmp_path, monkeypatch, id
):
    charged_at_draw = []
    real = frames.Release._draw
    monkeypatch.setattr(
        frames.Release,
        "_draw",
        lambda self, drawing: charged_at_draw.append(runs(ledger)) or real(self, drawing),
    )
    distinct = frame(40, 4).where("text <> 'cat dog'")
    release = anonymize(distinct, id=id, ledger=ledger, **parameters)
    assert runs(ledger) == []
    written = release.write(str(tmp_path / "out"))
    expected = [(32, "id" if id else "text")]
    assert charged_at_draw == [expected]
    assert runs(ledger) == expected
    assert written.ledger_run.number == 1
    assert release.data.count() == 32


def test_a_refused_charge_draws_nothing(frame, parameters, ledger, tmp_path, monkeypatch):
    anonymize(frame(10, 2), id="name", ledger=ledger, **parameters).write(str(tmp_path / "first"))
    monkeypatch.setattr(frames.Release, "_draw", lambda *_: pytest.fail("drawn"))
    again = anonymize(frame(20, 2), id="name", ledger=ledger, **parameters)
    with pytest.raises(BudgetError, match="10 of 20 documents"):
        again.write(str(tmp_path / "second"))
    assert len(runs(ledger)) == 1
    assert not (tmp_path / "second").exists()


def test_equal_texts_are_charged_together(frame, parameters, ledger, tmp_path):
    """Without ids, two rows with one text are one document that is released twice."""
    release = anonymize(frame(10, 2), ledger=ledger, **parameters)
    with pytest.raises(BudgetError, match="1 of 9 documents"):
        release.write(str(tmp_path / "out"))


def test_a_failed_run_stays_charged_and_its_retry_is_not_charged_again(
    frame, parameters, ledger, tmp_path
):
    (tmp_path / "file").write_text("in the way")
    release = anonymize(frame(10, 2), id="name", ledger=ledger, **parameters)
    with pytest.raises(Exception) as caught:  # noqa: PT011 (of Spark)
        release.write(str(tmp_path / "file" / "out"))
    assert "run 1 stays charged" in "".join(caught.value.__notes__)
    assert runs(ledger) == [(10, "id")]
    assert release.write(str(tmp_path / "out")).ledger_run.number == 1
    assert runs(ledger) == [(10, "id")]


def test_a_taken_address_is_refused_before_charging(frame, parameters, ledger, tmp_path):
    with pytest.raises(SyntfError, match="already exists"):
        anonymize(frame(4, 1), id="name", ledger=ledger, **parameters).write(str(tmp_path))
    assert runs(ledger) == []


def test_authors_are_charged(frame, parameters, tmp_path):
    ledger = Ledger.create(tmp_path / "authors.ledger", author_budget=4.5 * LOSS)
    with pytest.raises(SyntfError, match="author"):
        anonymize(frame(12, 2), ledger=ledger, **parameters)
    release = anonymize(frame(12, 2), id="name", ledger=ledger, author="topic", **parameters)
    release.write(str(tmp_path / "out"))
    assert release.data.columns == ["name", "counts"]
    _, accounts = ledger.accounts()
    assert (accounts["author"].names, accounts["author"].most_charged / 2**20) == (3, 4 * LOSS)
    again = anonymize(frame(2, 1), id="name", ledger=ledger, author="topic", **parameters)
    with pytest.raises(BudgetError, match="2 of 2 authors"):
        again.write(str(tmp_path / "again"))


def test_documents_that_were_not_charged_are_not_drawn_for(
    spark, parameters, ledger, tmp_path, monkeypatch
):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "cat"}\n{"text": "dog"}\n')
    release = anonymize(read(spark, [str(path)], "text"), ledger=ledger, **parameters)
    real = frames.Release._draw

    def changed(self, drawing):
        path.write_text('{"text": "cat"}\n{"text": "cow"}\n')
        return real(self, drawing)

    monkeypatch.setattr(frames.Release, "_draw", changed)
    with pytest.raises(Exception, match="changed after the ledger was charged"):
        release.write(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert len(runs(ledger)) == 1


def test_data_of_a_charged_release_needs_writing_first(frame, parameters, ledger):
    release = anonymize(frame(4, 1), id="name", ledger=ledger, **parameters)
    with pytest.raises(SyntfError, match="write the release before"):
        _ = release.data


def test_an_author_without_a_ledger_is_refused(frame, parameters):
    with pytest.raises(SyntfError, match="ledger"):
        anonymize(frame(4, 1), author="topic", **parameters)


def test_the_reserved_order_column_is_refused(frame, parameters):
    renamed = frame(4, 1).withColumnRenamed("topic", drawing.ORDER)
    with pytest.raises(SyntfError, match="rename yours"):
        anonymize(renamed, keep=[drawing.ORDER], **parameters)
