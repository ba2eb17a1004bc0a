"""Tests of the benchmark suite: records, the history, changes between runs, and the page."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from suite import figures, history, page
from suite.figures import Figure
from suite.history import Run
from suite.record import Record, Section, merged
from suite.rows import Measured


def run(commit="c", processor="p", better="less", **found):
    """Return a run with some figures: median, minimum and maximum each."""
    figures = {key: (*values, better) for key, values in found.items()}
    return Run("2026-01-02 03:04", commit, processor, figures)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ((1.0, 0.9, 1.1), (1.3, 1.2, 1.4), "worse"),
        ((1.0, 0.9, 1.1), (0.8, 0.7, 0.85), "better"),
        ((1.0, 0.9, 1.25), (1.3, 1.2, 1.4), ""),  # the ranges overlap
        ((1.0, 1.0, 1.0), (1.04, 1.04, 1.04), ""),  # noise
        ((1.0, 1.0, 1.0), (1.06, 1.06, 1.06), "worse"),
        ((1.0, 0.9, 1.1), (1.2, 1.1, 1.3), ""),  # the ranges touch
    ],
)
def test_a_change_beyond_the_spread_is_worse_or_better(old, new, verdict):
    (change,) = history.changes(run(a=old, gone=old), run(a=new, came=new))
    assert (change.key, change.verdict) == ("a", verdict)
    other = {"worse": "better", "better": "worse", "": ""}[verdict]
    (change,) = history.changes(run(better="more", a=old), run(better="more", a=new))
    assert change.verdict == other


values = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=5)


@given(values, values)
def test_overlapping_ranges_are_no_change(old, new):
    before, after = figures.spread(old), figures.spread(new)
    (change,) = history.changes(run(a=before), run(a=after))
    if before.least <= after.most and after.least <= before.most:
        assert change.verdict == ""
    if change.verdict == "worse":
        assert min(new) > max(old)
        assert change.percent > 0


def test_runs_are_compared_on_the_same_processor(tmp_path):
    path = tmp_path / "history.jsonl"
    assert history.read(path) == []
    assert history.newest([]) is None
    figure = Figure("a", "A", [1.23456, 2.0, 9.0], better="more")
    first = Run.of("d", "1", "x", [figure])
    assert first.figures == {"a": (2.0, 1.235, 9.0, "more")}
    for each in (first, run("2", "y"), run("3", "x")):
        history.append(path, each)
    runs = history.read(path)
    assert runs[0] == first
    assert [one.commit for one in history.newest(runs)] == ["1", "3"]
    assert history.newest(runs[:2]) is None


@pytest.fixture
def record():
    rated = Measured(
        "limits/a", "limits/a", "words",
        [{"seconds": s, "cpu": s, "peak": 100.0, "amount": 10.0} for s in (2.0, 1.0)],
    )  # fmt: skip
    missing = Measured("limits/b", "other", "words", [], "could not be installed: no wheel")
    limited = Figure("limits/a", "ratio", [2.0, 1.0], must=1.0, aim=0.5)
    about = {
        "date": "2026-01-02 03:04", "commit": "abc+", "processor": "p", "cores": 2, "memory": 24,
        "load": 0.1,
        "versions": {"python": "3.11.7"},
    }  # fmt: skip
    return Record(about, [Section("limits", "Limits", "A note.", [rated, missing], [limited])])


def test_a_record_can_be_written_and_read(record, tmp_path):
    path = record.write(tmp_path / "new")
    assert path.name == "2026-01-02T0304-abc.json"
    assert Record.read(path) == record
    more = replace(record.sections[0], name="other")
    new = Record({**record.about, "commit": "new"}, [more])
    both = merged([record, new, new])
    assert [section.name for section in both.sections] == ["limits", "other"]
    assert {name: one["commit"] for name, one in both.about["runs"].items()} == {
        "limits": "abc+", "other": "new",
    }  # fmt: skip
    assert "Combined from several runs" in page.page(both, [])
    assert "Combined from" not in page.page(record, [])
    assert record.run.figures == {"limits/a": (1.5, 1.0, 2.0, "less")}


def test_page_shows_every_row_and_marks_what_became_worse(record):
    before = replace(record.run, commit="before", figures={"limits/a": (0.5, 0.4, 0.6, "less")})
    text = page.page(record, [before, record.run])
    assert "| ratio | ≤ 1.00 × | ≤ 0.500 × | 1.50 × (1.00–2.00) | **missed** |\n" in text
    assert "| limits/a | 1.50 (1.00–2.00) | 1.50 (1.00–2.00) | 100 | 7.50 (5.00–10.0) |\n" in text
    assert "| other | not measured: could not be installed: no wheel |  |  |  |\n" in text
    assert "| ratio, × | 0.500 | 1.50 | **worse** (+200 %) |\n" in text
    assert "| ratio, × | 1.50 |  |\n" in page.page(record, [record.run])
    assert page.page(record, []).endswith("The history holds no run of all parts.\n")
