"""Curves, points, tables and figures of the frontier, and the command on a small corpus."""

import csv
import json
from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest

from syntf.cli import app as cli
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment import newsgroups
from syntf.evaluation.experiment.evaluator import TaskScore
from syntf.evaluation.experiment.run_log import RunLog
from syntf.pipeline.settings import Settings
from syntf.research import curves, document_curves, frontier_figures, frontier_tables
from syntf.research.commands import frontier as command
from syntf.research.curves import QUICK, Change, Curve, CurveGrid, all_curves, anonymizer_factory
from syntf.research.document_curves import DOCUMENT_CURVES, DocumentCurve
from syntf.research.frontier import Frontier, Point, best_models, mean_points
from syntf.research.frontier_tables import (
    StrongestAttack,
    attacks_table,
    points_table,
    smallest_losses,
)

COLUMNS = (
    "mechanism vocabulary varied outputs k length epsilon loss_per_word loss_per_document model "
    "runs f1 f1_std"
).split()
GRID = CurveGrid((3.0, 9.0), (9.0,), (8,), (30.0,), (2.0,), (4.0,), (5,))


@pytest.fixture
def default(toy_vectors, toy_words):
    return Settings(
        vectors=toy_vectors, vocabulary=toy_words[:25], neighbours=1, loss=6.0, length=20,
        draws="systematic",
    )  # fmt: skip


@pytest.fixture
def accurate(default):
    return replace(default, length=15)


@pytest.fixture
def paper(toy_vectors):
    return Settings(vectors=toy_vectors, fit_vocabulary=True, length=20)


def point(**given):
    base = dict(
        mechanism="accurate", vocabulary="public", varied="loss", outputs=10, k=1, length=10,
        epsilon=16.0, loss_per_word=8.0, loss_per_document=80.0, model="nb", runs=2, f1=0.5,
        f1_std=0.01,
    )  # fmt: skip
    return Point(**{**base, **given})


def test_curves_change_one_setting(default, accurate, paper):
    found = all_curves(default, accurate, paper, 25, GRID)
    names = [(one.mechanism, one.vocabulary, one.neighbours) for one in found]
    public, fitted = ("accurate", "public"), ("accurate", "fitted")
    assert names == [
        ("default", "public", 1), (*public, 1), (*public, 1), (*public, 2), (*public, 1),
        (*fitted, 1), (*fitted, 2), (*fitted, 1), ("paper", "fitted", None),
        ("santext", "public", None), ("k-rr", "public", 1), ("custext", "public", 20),
    ]  # fmt: skip
    whole = {(one.mechanism, one.codebook) for one in DOCUMENT_CURVES}
    assert (
        set(frontier_tables.CURVE_NAMES)
        == set(frontier_figures.STYLES)
        == {one[:2] for one in names} | whole
    )
    assert found[0].changes == [Change("length", 8), Change("length", 20)]
    assert found[0].settings_at(Change("length", 8)) == replace(default, length=8)
    assert found[1].changes == [Change("length", 8), Change("length", 15)]
    assert found[2].changes == [Change("loss", 3.0), Change("loss", 9.0)]
    assert found[2].settings_at(Change("loss", 3.0)) == replace(accurate, loss=3.0, max_size=25)
    many = replace(accurate, loss=4.0, neighbours=2, length=200)
    assert [found[3].settings_at(change) for change in found[3].changes] == [many]
    sure = replace(accurate, loss=10.5, max_size=5000, length=5)
    assert [found[4].settings_at(change) for change in found[4].changes] == [sure]
    assert found[5].settings.max_size == found[6].settings.max_size == 25
    assert found[8].settings_at(Change("epsilon", 30.0)) == replace(paper, epsilon=30.0)
    assert found[11].settings_at(Change("epsilon", 2.0)).loss is None


OURS = (("accurate", "public"), ("accurate", "fitted"), ("k-rr", "public"))


def test_small_losses_have_fewer_outputs(default, accurate, paper):
    losses = (4.0, 5.5, 6.0, 7.5, 7.6, 9.0)
    found = all_curves(default, accurate, paper, 3500, GRID._replace(losses=losses))
    for mechanism, vocabulary in OURS:
        sizes = {
            change.value: one.settings.max_size
            for one in found
            if (one.mechanism, one.vocabulary) == (mechanism, vocabulary)
            if one.settings.length == accurate.length
            for change in one.changes
            if change.name == "loss"
        }
        assert sizes == {4.0: 500, 5.5: 500, 6.0: 1000, 7.5: 2000, 7.6: 3500, 9.0: 3500}


def test_presets_give_curves():
    ours = Settings.from_preset("words"), Settings.from_preset("accurate")
    found = all_curves(*ours, Settings.from_preset("paper", fit_vocabulary=True), 99, QUICK)
    for curve in found:
        assert all(isinstance(curve.settings_at(change), Settings) for change in curve.changes)


def test_each_curve_has_its_own_mechanism(default, accurate, paper, corpus):
    made = {
        (curve.mechanism, curve.vocabulary): anonymizer_factory(curve, corpus.training_texts)(
            curve.changes[0]
        )
        for curve in all_curves(default, replace(accurate, length=20), paper, 12, GRID)
        if curve.changes[0].name != "length" and curve.settings.length == 20
    }
    for ours in OURS:
        assert made[ours].mechanism.loss == pytest.approx(3, rel=1e-6)
    assert made["santext", "public"].mechanism.loss == pytest.approx(9, rel=0.003)
    assert made["custext", "public"].mechanism.loss == inf
    assert made["custext", "public"].mechanism.epsilon == 2
    assert made["paper", "fitted"].mechanism.epsilon == 30
    sizes = {key: one.mechanism.shape for key, one in made.items()}
    assert sizes["custext", "public"] == sizes["santext", "public"] == (41, 25)
    assert sizes["accurate", "public"] == (41, 12)
    assert sizes["k-rr", "public"] == (13, 12)
    assert sizes["accurate", "fitted"] == (41, 12)
    assert sizes["paper", "fitted"] == (15, 14)
    own = made["k-rr", "public"].mechanism.weights(7) / 2**62
    assert own[7] == pytest.approx(exp(3) / (exp(3) + 11), rel=1e-6)
    assert {one.settings.length for one in made.values()} == {20}
    assert made["k-rr", "public"].settings.draws == "systematic"


def log_of(tmp_path, runs):
    log = RunLog(tmp_path / "runs.jsonl", "test")
    about = {"mechanism": "custext", "vocabulary": "public", "max_size": 9,
             "varied": "epsilon", "asked": [9, 3, None, 2.0, 7],
             "outputs": 9, "k": 3, "length": 7, "epsilon": 2.0, "loss_per_word": inf}  # fmt: skip
    for number, (nb, svm) in enumerate(runs):
        found = [
            TaskScore("utility", "", model, "", f1, 0.0, 0.0)
            for model, f1 in (("nb", nb), ("svm", svm))
        ]
        log.add({**about, "run": number}, found)
    return log


def test_points_are_means_of_logged_runs(tmp_path):
    log_of(tmp_path, [(0.25, 0.5), (0.75, 0.5), (0.5, 0.8)])
    found = mean_points(RunLog(tmp_path / "runs.jsonl", "test"))
    assert [(one.model, one.runs, one.f1, one.f1_std) for one in found] == [
        ("nb", 3, 0.5, 0.25), ("svm", 3, pytest.approx(0.6), pytest.approx(0.1732, abs=1e-4)),
    ]  # fmt: skip
    assert {(one.loss_per_word, one.loss_per_document) for one in found} == {(inf, inf)}
    assert [one.model for one in best_models(found)] == ["svm"]


def test_single_run_has_no_standard_deviation(tmp_path):
    assert [one.f1_std for one in mean_points(log_of(tmp_path, [(0.1, 0.2)]))] == [None, None]


def test_best_model_is_chosen_for_each_point():
    low = [point(model="nb", f1=0.5), point(model="svm", f1=0.6)]
    high = [point(model="nb", f1=0.9, epsilon=18.0), point(model="svm", f1=0.8, epsilon=18.0)]
    assert best_models([*low, *high]) == [low[1], high[0]]


def test_smallest_loss_is_the_smallest_that_reaches_the_paper():
    found = [
        point(loss_per_word=7.0, loss_per_document=70.0, epsilon=14.0, f1=0.59),
        point(loss_per_word=8.0, loss_per_document=1600.0, epsilon=16.0, length=200, f1=0.60),
        point(loss_per_word=9.04, loss_per_document=904.0, epsilon=18.0, length=100, f1=0.65),
        point(mechanism="santext", f1=0.2),
        point(mechanism="custext", loss_per_word=inf, loss_per_document=inf, f1=0.7),
    ]
    assert smallest_losses(found)[1:] == [
        ["the paper, as published", "25.4", "3,810", ".600"],
        ["SynTF, accurate", "8.0", "904", ".650"],
        ["SanText", "not reached", "not reached", ".200"],
        ["CusText", "∞", "∞", ".700"],
    ]


def test_points_table_has_all_models_and_the_stated_epsilon():
    found = [
        point(model="svm", f1=0.61, f1_std=None),
        point(),
        point(mechanism="custext", loss_per_word=inf, loss_per_document=inf, k=20, epsilon=3.0),
        point(mechanism="santext", k=None, loss_per_word=20.01, loss_per_document=200.1),
    ]
    lines = points_table(found).splitlines()
    assert lines[2:] == [
        "| SynTF, accurate | 10 | 1 | 10 | 8.0 | 80.0 | .500 ± .010 | .610 |",
        "| SanText | 10 | – | 10 | 20.1 | 201 | .500 ± .010 | – |",
        "| CusText | 10 | 20 | 10 | ∞ (states 3) | ∞ | .500 ± .010 | – |",
    ]


def test_attacks_table_has_the_excess_with_its_sign():
    who = {"scenario": "top5-any", "attacker": "words", "model": "svm", "runs": 2}
    found = [
        StrongestAttack(data="default", **who, f1=0.75, f1_std=0.02, floor=0.88, writeprints=0.5),
        StrongestAttack(data="original", **who, f1=0.9, floor=0.88),
    ]
    assert attacks_table(found).splitlines()[2:] == [
        "| original text | Top 5/Any | words, linear SVM | .900 | .880 | +.020 | – |",
        "| SynTF, words | Top 5/Any | words, linear SVM | .750 ± .020 | .880 | −.130 | .500 |",
    ]


def test_figures_draw_an_infinite_loss_at_the_edge():
    found = [
        point(loss_per_word=5.0, loss_per_document=50.0, epsilon=10.0, f1=0.3),
        point(),
        point(varied="length", loss_per_document=800.0, length=100),
        point(mechanism="custext", varied="epsilon", loss_per_word=inf, loss_per_document=inf),
    ]
    for draw, published in (
        (frontier_figures.per_word, 25.4),
        (frontier_figures.per_document, 3810),
    ):
        (axes,) = draw(found).axes
        names = axes.get_legend_handles_labels()[1]
        assert sorted(names) == ["CusText", "SynTF, accurate", f"the paper: 0.60 at {published:,}"]
        assert "∞" in [text.get_text() for text in axes.texts]
        places = [x for line in axes.lines for x in np.atleast_1d(line.get_xdata())]
        assert np.isfinite(np.array(places, dtype=float)).all()
        assert max(places) > published
    assert axes.get_xscale() == "log"


def test_whole_documents_are_in_tables_and_in_one_figure():
    found = [
        point(), point(mechanism="document", vocabulary="embedded", loss_per_word=None, k=None,
                       loss_per_document=10.0, epsilon=10.0, length=1, outputs=290, f1=0.4),
        point(mechanism="privunit", vocabulary="embedded", loss_per_word=None, k=None,
              loss_per_document=60.0, epsilon=60.0, length=1, outputs=0, f1=0.7),
    ]  # fmt: skip
    (axes,) = frontier_figures.per_document(found).axes
    names = axes.get_legend_handles_labels()[1]
    assert {"SynTF, whole documents", "PrivUnit", "DP-BART, five news topics: 0.405 at 500"} <= set(
        names
    )
    assert axes.get_xscale() == "log"
    (axes,) = frontier_figures.per_word(found).axes
    assert sorted(axes.get_legend_handles_labels()[1]) == [
        "SynTF, accurate", "the paper: 0.60 at 25.4",
    ]  # fmt: skip
    assert smallest_losses(found)[2:] == [
        ["SynTF, whole documents", "–", "not reached", ".400"],
        ["PrivUnit", "–", "60.0", ".700"],
        ["SynTF, accurate", "not reached", "not reached", ".500"],
    ]
    lines = points_table(found).splitlines()
    assert lines[2] == "| SynTF, whole documents | 290 | – | 1 | – | 10.0 | .400 ± .010 |"
    assert lines[3] == "| PrivUnit | – | – | 1 | – | 60.0 | .700 ± .010 |"


def test_runs_of_whole_documents_continue(corpus, tmp_path):
    whole = [DocumentCurve("document", "near in topic", (10.0,)),
             DocumentCurve("privunit", "embedded", (200.0,))]  # fmt: skip
    frontier = Frontier(corpus, [], runs=1, document_curves=whole)
    path = tmp_path / "runs.jsonl"
    assert len(list(frontier.run(RunLog(path, frontier.key)))) == 2
    frontier.runs = 2
    assert len(list(frontier.run(RunLog(path, frontier.key)))) == 2
    assert len(list(frontier.run(RunLog(path, frontier.key)))) == 0
    points = {(one.mechanism, one.model): one for one in mean_points(RunLog(path, frontier.key))}
    assert set(points) == {
        ("document", "nb"), ("document", "svm"), ("document", "informed"),
        ("privunit", "informed"),
    }  # fmt: skip
    assert {one.runs for one in points.values()} == {2}
    assert points["privunit", "informed"].loss_per_document == 200.0
    assert points["privunit", "informed"].f1 > 0.9


def test_line_joins_points_that_differ_in_one_setting():
    found = [
        point(loss_per_word=5.0, epsilon=10.0, outputs=5),
        point(loss_per_word=9.0, epsilon=18.0),
        point(loss_per_word=7.0, epsilon=14.0, k=2, length=200),
        point(loss_per_word=8.0, epsilon=16.0, k=2, length=200),
    ]
    (axes,) = frontier_figures.per_word(found).axes
    lines = [line.get_xdata() for line in axes.lines if line.get_linestyle() == "-"]
    joined = {tuple(line) for line in lines if len(line) == 2 and len(set(line)) == 2}
    assert {(5.0, 9.0), (7.0, 8.0)} <= joined


def test_line_joins_whole_documents_with_different_numbers_of_entries():
    whole = {"mechanism": "document", "vocabulary": "embedded", "loss_per_word": None, "k": None}
    found = [
        point(**whole, loss_per_document=loss, epsilon=loss, length=entries)
        for loss, entries in ((10.0, 1), (20.0, 2), (40.0, 5))
    ]
    (axes,) = frontier_figures.per_document(found).axes
    assert [10.0, 20.0, 40.0] in [list(line.get_xdata()) for line in axes.lines]


def test_interrupted_frontier_continues(default, accurate, paper, corpus, tmp_path, monkeypatch):
    every = all_curves(default, accurate, paper, 12, GRID)
    found = [every[2], every[1]]
    frontier = Frontier(corpus, found, runs=2)
    path = tmp_path / "runs.jsonl"
    assert len(list(frontier.run(RunLog(path, frontier.key)))) == 4
    text = path.read_text().splitlines(keepends=True)
    assert len(text) == 1 + 4 * 2
    path.write_text("".join(text[:-1]))
    assert len(list(frontier.run(RunLog(path, frontier.key)))) == 1
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    place = {"loss": 2, "length": 4}
    keys = sorted((one["varied"], one["asked"][place[one["varied"]]], one["run"])
                  for one in lines[1:])  # fmt: skip
    assert keys == [
        (name, value, run)
        for name, value in (("length", 8), ("length", 15), ("loss", 3.0), ("loss", 9.0))
        for run in (0, 1)
    ]
    monkeypatch.setattr("syntf.research.frontier.anonymizer_factory", None)  # nothing is made again
    assert list(frontier.run(RunLog(path, frontier.key))) == []
    more = Frontier(corpus, [Curve("accurate", accurate, found[0].changes[:1])], runs=1)
    assert more.key == frontier.key  # points may be added
    other = Frontier(corpus, [Curve("accurate", replace(accurate, loss=5.0), [])])
    with pytest.raises(SyntfError, match="other parameters"):
        RunLog(path, other.key)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_command_writes_tables_and_figures(
    default, accurate, paper, corpus, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    monkeypatch.setattr(newsgroups, "newsgroups", lambda home: corpus)
    monkeypatch.setattr(curves, "QUICK", GRID)
    whole = (DocumentCurve("document", "embedded", (10.0,)),)
    monkeypatch.setattr(document_curves, "QUICK_DOCUMENT_CURVES", whole)
    out = tmp_path / "out"
    options = dict(data_home=None, runs=5, quick=True, tagger="pattern", force=False, quiet=False)
    options["as_json"] = False
    settings = {"paper": paper, "accurate": accurate, "default": default}
    settings["document"] = Settings(document_loss=10.0)
    command.run(out, settings, **options)
    found = rows(out / "frontier.csv")
    assert list(found[0]) == COLUMNS
    assert len(found) == 3 * (2 + 6 + 4 + 1 + 1 + 2 + 1) + 3
    *found, first, second, third = found
    for row in (first, second, third):
        assert (row["mechanism"], row["vocabulary"]) == ("document", "embedded")
        assert (row["loss_per_word"], row["loss_per_document"]) == ("", "10.0")
    assert {row["model"] for row in (first, second, third)} == {"nb", "svm", "informed"}
    assert {row["runs"] for row in found} == {"2"}
    assert {row["loss_per_word"] for row in found if row["mechanism"] == "custext"} == {"inf"}
    for row in found:
        wanted = float(row["loss_per_word"]) * int(row["length"])
        assert float(row["loss_per_document"]) == pytest.approx(wanted)
    told = [
        float(row["f1"]) for row in found
        if (row["mechanism"], row["model"], row["varied"]) == ("k-rr", "nb", "loss")
    ]  # fmt: skip
    assert told[1] > 0.9  # at a loss of 9
    attacked = rows(out / "attacks.csv")
    assert [row["data"] for row in attacked] == [
        data for data in ("original", "paper", "accurate", "default", "document") for _ in range(2)
    ]
    for row in attacked:
        wanted = float(row["f1"]) - float(row["floor"])
        assert float(row["excess"]) == pytest.approx(wanted)
        assert float(row["writeprints"]) <= float(row["f1"])
    text = (out / "frontier.md").read_text()
    assert text.count("## ") == 4
    assert "| CusText | 25 | 20 | 15 | ∞ (states 2) | ∞ |" in text
    for name in ("per-word", "per-document"):
        assert (out / f"{name}.png").stat().st_size > 10_000
        assert "<svg" in (out / f"{name}.svg").read_text()
    assert "the paper, as published" in capsys.readouterr().out
    before = (out / "runs.jsonl").read_text()
    command.run(out, settings, **{**options, "quiet": True})
    assert (out / "runs.jsonl").read_text() == before
    assert capsys.readouterr().out == ""
    command.run(out, settings, **{**options, "as_json": True})
    record = json.loads(capsys.readouterr().out)
    losses = {(row["mechanism"], row["loss_per_word"] is None) for row in record["points"]}
    assert {name for name, unbounded in losses if unbounded} == {"custext", "document"}
    found += [first, second, third]
    for key, lines in (("points", found), ("attacks", attacked)):
        assert [row["f1"] for row in record[key]] == [float(row["f1"]) for row in lines]
        assert list(record[key][0]) == list(lines[0])


def test_command_line_passes_options_and_presets(monkeypatch, tmp_path):
    called = {}
    monkeypatch.setattr(
        command, "run", lambda out, settings, **options: called.update(options, out=out, **settings)
    )
    monkeypatch.setattr("sys.argv", ["syntf", "frontier", "--out", str(tmp_path), "--runs", "3"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert not stopped.value.code
    assert (called["out"], called["runs"], called["quick"]) == (tmp_path, 3, False)
    assert called["default"] == Settings.from_preset("words")
    assert called["document"] == Settings.from_preset("document")
    assert called["accurate"] == Settings.from_preset("accurate")
    assert called["paper"] == Settings.from_preset("paper", fit_vocabulary=True)
