"""Curves, points and tables of the frontier, and the command on a small corpus."""

import csv
import json
from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest

from syntf.cli import app as cli
from syntf.cli import frontier as command
from syntf.core.errors import SyntfError
from syntf.evaluation.attack.classifiers import Quality
from syntf.evaluation.experiment.judge import Finding
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.log import Log
from syntf.pipeline.settings import Settings
from syntf.research import frontier_plots, frontier_tables
from syntf.research.curves import QUICK, Asked, Curve, Grid, curves, maker
from syntf.research.frontier import Frontier, Point, better, points
from syntf.research.frontier_tables import Attack, attack_table, least_losses, scores

ANIMALS = "cat dog mouse horse cow bird fish"
ROADS = "car train bus boat road wheel engine"
COLUMNS = (
    "mechanism vocabulary varied outputs k length epsilon loss_per_word loss_per_document model "
    "runs f1 f1_std"
).split()
GRID = Grid((3.0, 9.0), (9.0,), (8,), (30.0,), (2.0,), (4.0,), (5,))


@pytest.fixture
def corpus():
    """Two topics told apart by words, three authors who keep to no topic."""
    rng = np.random.default_rng(2)
    number = np.arange(60)
    words = [ANIMALS.split(), ROADS.split()]
    texts = [" ".join(rng.choice(words[i % 2], 9)) for i in number]
    labels = np.array(["animal", "road"])[number % 2]
    authors = np.array(["ann", "bob", "eve"])[number // 2 % 3]
    return Labelled(texts, labels, authors, number < 36)


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


def test_curves_differ_from_the_settings_in_what_they_say(default, accurate, paper):
    found = curves(default, accurate, paper, 25, GRID)
    names = [(one.mechanism, one.vocabulary, one.neighbours) for one in found]
    public, fitted = ("accurate", "public"), ("accurate", "fitted")
    assert names == [
        ("default", "public", 1), (*public, 1), (*public, 1), (*public, 2), (*public, 1),
        (*fitted, 1), (*fitted, 2), (*fitted, 1), ("paper", "fitted", None),
        ("santext", "public", None), ("k-rr", "public", 1), ("custext", "public", 20),
    ]  # fmt: skip
    assert set(frontier_tables.NAMES) == set(frontier_plots.STYLES) == {one[:2] for one in names}
    assert found[0].points == [Asked("length", 8), Asked("length", 20)]
    assert found[0].at(Asked("length", 8)) == replace(default, length=8)
    assert found[1].points == [Asked("length", 8), Asked("length", 15)]
    assert found[2].points == [Asked("loss", 3.0), Asked("loss", 9.0)]
    assert found[2].at(Asked("loss", 3.0)) == replace(accurate, loss=3.0, max_size=25)
    many = replace(accurate, loss=4.0, neighbours=2, length=200)
    assert [found[3].at(asked) for asked in found[3].points] == [many]
    sure = replace(accurate, loss=10.5, max_size=5000, length=5)
    assert [found[4].at(asked) for asked in found[4].points] == [sure]
    assert found[5].settings.max_size == found[6].settings.max_size == 25
    assert found[8].at(Asked("epsilon", 30.0)) == replace(paper, epsilon=30.0)
    assert found[11].at(Asked("epsilon", 2.0)).loss is None


OURS = (("accurate", "public"), ("accurate", "fitted"), ("k-rr", "public"))


def test_small_losses_get_fewer_outputs(default, accurate, paper):
    losses = (4.0, 5.5, 6.0, 7.5, 7.6, 9.0)
    found = curves(default, accurate, paper, 3500, GRID._replace(losses=losses))
    for mechanism, vocabulary in OURS:
        sizes = {
            asked.value: one.settings.max_size
            for one in found
            if (one.mechanism, one.vocabulary) == (mechanism, vocabulary)
            if one.settings.length == accurate.length
            for asked in one.points
            if asked.name == "loss"
        }
        assert sizes == {4.0: 500, 5.5: 500, 6.0: 1000, 7.5: 2000, 7.6: 3500, 9.0: 3500}


def test_the_presets_make_curves():
    ours = Settings.from_preset(), Settings.from_preset("accurate")
    found = curves(*ours, Settings.from_preset("paper", fit_vocabulary=True), 99, QUICK)
    for curve in found:
        assert all(isinstance(curve.at(asked), Settings) for asked in curve.points)


def test_each_curve_draws_by_its_own_mechanism(default, accurate, paper, corpus):
    made = {
        (curve.mechanism, curve.vocabulary): maker(curve, corpus.seen)(curve.points[0])
        for curve in curves(default, replace(accurate, length=20), paper, 12, GRID)
        if curve.points[0].name != "length" and curve.settings.length == 20
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
    log = Log(tmp_path / "runs.jsonl", "test")
    about = {"mechanism": "custext", "vocabulary": "public", "max_size": 9,
             "varied": "epsilon", "asked": [9, 3, None, 2.0, 7],
             "outputs": 9, "k": 3, "length": 7, "epsilon": 2.0, "loss_per_word": inf}  # fmt: skip
    for number, (nb, svm) in enumerate(runs):
        found = [
            Finding("utility", "", model, "", Quality(f1, 0.0, 0.0))
            for model, f1 in (("nb", nb), ("svm", svm))
        ]
        log.add({**about, "run": number}, found)
    return log


def test_points_are_means_of_runs_and_survive_the_log(tmp_path):
    log_of(tmp_path, [(0.25, 0.5), (0.75, 0.5), (0.5, 0.8)])
    found = points(Log(tmp_path / "runs.jsonl", "test"))
    assert [(one.model, one.runs, one.f1, one.f1_std) for one in found] == [
        ("nb", 3, 0.5, 0.25), ("svm", 3, pytest.approx(0.6), pytest.approx(0.1732, abs=1e-4)),
    ]  # fmt: skip
    assert {(one.loss_per_word, one.loss_per_document) for one in found} == {(inf, inf)}
    assert [one.model for one in better(found)] == ["svm"]


def test_one_run_has_no_deviation(tmp_path):
    assert [one.f1_std for one in points(log_of(tmp_path, [(0.1, 0.2)]))] == [None, None]


def test_better_is_chosen_point_by_point():
    low = [point(model="nb", f1=0.5), point(model="svm", f1=0.6)]
    high = [point(model="nb", f1=0.9, epsilon=18.0), point(model="svm", f1=0.8, epsilon=18.0)]
    assert better([*low, *high]) == [low[1], high[0]]


def test_the_least_loss_is_the_least_that_reaches_the_paper():
    found = [
        point(loss_per_word=7.0, loss_per_document=70.0, epsilon=14.0, f1=0.59),
        point(loss_per_word=8.0, loss_per_document=1600.0, epsilon=16.0, length=200, f1=0.60),
        point(loss_per_word=9.04, loss_per_document=904.0, epsilon=18.0, length=100, f1=0.65),
        point(mechanism="santext", f1=0.2),
        point(mechanism="custext", loss_per_word=inf, loss_per_document=inf, f1=0.7),
    ]
    assert least_losses(found)[1:] == [
        ["the paper, as published", "25.4", "3,810", ".600"],
        ["SynTF, accurate", "8.0", "904", ".650"],
        ["SanText", "not reached", "not reached", ".200"],
        ["CusText", "∞", "∞", ".700"],
    ]


def test_scores_show_both_models_and_what_custext_states():
    found = [
        point(model="svm", f1=0.61, f1_std=None),
        point(),
        point(mechanism="custext", loss_per_word=inf, loss_per_document=inf, k=20, epsilon=3.0),
        point(mechanism="santext", k=None, loss_per_word=20.01, loss_per_document=200.1),
    ]
    lines = scores(found).splitlines()
    assert lines[2:] == [
        "| SynTF, accurate | 10 | 1 | 10 | 8.0 | 80.0 | .500 ± .010 | .610 |",
        "| SanText | 10 | – | 10 | 20.1 | 201 | .500 ± .010 | – |",
        "| CusText | 10 | 20 | 10 | ∞ (states 3) | ∞ | .500 ± .010 | – |",
    ]


def test_attacks_show_the_excess_with_its_sign():
    who = {"scenario": "top5-any", "attacker": "words", "model": "svm", "runs": 2}
    found = [
        Attack(data="default", **who, f1=0.75, f1_std=0.02, floor=0.88, writeprints=0.5),
        Attack(data="original", **who, f1=0.9, floor=0.88),
    ]
    assert attack_table(found).splitlines()[2:] == [
        "| original text | Top 5/Any | words, linear SVM | .900 | .880 | +.020 | – |",
        "| SynTF, default | Top 5/Any | words, linear SVM | .750 ± .020 | .880 | −.130 | .500 |",
    ]


def test_pictures_put_an_infinite_loss_at_the_edge():
    found = [
        point(loss_per_word=5.0, loss_per_document=50.0, epsilon=10.0, f1=0.3),
        point(),
        point(varied="length", loss_per_document=800.0, length=100),
        point(mechanism="custext", varied="epsilon", loss_per_word=inf, loss_per_document=inf),
    ]
    for draw, published in ((frontier_plots.per_word, 25.4), (frontier_plots.per_document, 3810)):
        (axes,) = draw(found).axes
        names = axes.get_legend_handles_labels()[1]
        assert sorted(names) == ["CusText", "SynTF, accurate", f"the paper: 0.60 at {published:,}"]
        assert "∞" in [text.get_text() for text in axes.texts]
        places = [x for line in axes.lines for x in np.atleast_1d(line.get_xdata())]
        assert np.isfinite(np.array(places, dtype=float)).all()
        assert max(places) > published
    assert axes.get_xscale() == "log"


def test_a_line_joins_points_that_differ_in_one_thing():
    found = [
        point(loss_per_word=5.0, epsilon=10.0, outputs=5),
        point(loss_per_word=9.0, epsilon=18.0),
        point(loss_per_word=7.0, epsilon=14.0, k=2, length=200),
        point(loss_per_word=8.0, epsilon=16.0, k=2, length=200),
    ]
    (axes,) = frontier_plots.per_word(found).axes
    lines = [line.get_xdata() for line in axes.lines if line.get_linestyle() == "-"]
    joined = {tuple(line) for line in lines if len(line) == 2 and len(set(line)) == 2}
    assert {(5.0, 9.0), (7.0, 8.0)} <= joined


def test_a_frontier_goes_on_where_it_was(default, accurate, paper, corpus, tmp_path, monkeypatch):
    every = curves(default, accurate, paper, 12, GRID)
    found = [every[2], every[1]]
    frontier = Frontier(corpus, found, runs=2)
    path = tmp_path / "runs.jsonl"
    assert len(list(frontier.run(Log(path, frontier.key)))) == 4
    text = path.read_text().splitlines(keepends=True)
    assert len(text) == 1 + 4 * 2
    path.write_text("".join(text[:-1]))
    assert len(list(frontier.run(Log(path, frontier.key)))) == 1
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    place = {"loss": 2, "length": 4}
    keys = sorted((one["varied"], one["asked"][place[one["varied"]]], one["run"])
                  for one in lines[1:])  # fmt: skip
    assert keys == [
        (name, value, run)
        for name, value in (("length", 8), ("length", 15), ("loss", 3.0), ("loss", 9.0))
        for run in (0, 1)
    ]
    monkeypatch.setattr("syntf.research.frontier.maker", None)  # nothing is made again
    assert list(frontier.run(Log(path, frontier.key))) == []
    more = Frontier(corpus, [Curve("accurate", accurate, found[0].points[:1])], runs=1)
    assert more.key == frontier.key  # points may be added
    other = Frontier(corpus, [Curve("accurate", replace(accurate, loss=5.0), [])])
    with pytest.raises(SyntfError, match="other parameters"):
        Log(path, other.key)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_from_end_to_end(
    default, accurate, paper, corpus, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("textblob", reason="needs a tagger: pip install 'syntf[evaluate]'")
    monkeypatch.setattr(command, "newsgroups", lambda home: corpus)
    monkeypatch.setattr(command, "QUICK", GRID)
    out = tmp_path / "out"
    options = dict(data_home=None, runs=5, quick=True, tagger="pattern", force=False, quiet=False)
    settings = {"default": default, "accurate": accurate, "paper": paper}
    command.run(out, **options, **settings)
    found = rows(out / "frontier.csv")
    assert list(found[0]) == COLUMNS
    assert len(found) == 3 * (2 + 6 + 4 + 1 + 1 + 2 + 1)
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
        data for data in ("original", "paper", "accurate", "default") for _ in range(2)
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
    command.run(out, **{**options, "quiet": True}, **settings)
    assert (out / "runs.jsonl").read_text() == before
    assert capsys.readouterr().out == ""
    command.run(out, **options, as_json=True, **settings)
    record = json.loads(capsys.readouterr().out)
    losses = {(row["mechanism"], row["loss_per_word"] is None) for row in record["points"]}
    assert {name for name, unbounded in losses if unbounded} == {"custext"}
    for key, lines in (("points", found), ("attacks", attacked)):
        assert [row["f1"] for row in record[key]] == [float(row["f1"]) for row in lines]
        assert list(record[key][0]) == list(lines[0])


def test_options_and_presets_reach_the_command(monkeypatch, tmp_path):
    called = {}
    monkeypatch.setattr(command, "run", lambda out, **options: called.update(options, out=out))
    monkeypatch.setattr("sys.argv", ["syntf", "frontier", "--out", str(tmp_path), "--runs", "3"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert not stopped.value.code
    assert (called["out"], called["runs"], called["quick"]) == (tmp_path, 3, False)
    assert called["default"] == Settings.from_preset()
    assert called["accurate"] == Settings.from_preset("accurate")
    assert called["paper"] == Settings.from_preset("paper", fit_vocabulary=True)
