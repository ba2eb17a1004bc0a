"""Figures of an evaluation and of the paper: every line, bar, label and note."""

import random
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from syntf.evaluation.experiment import plots
from syntf.evaluation.experiment.results import Parameters, Result, Results, analyst_gain
from syntf.evaluation.figures import save_figure
from syntf.research import paper_figures
from syntf.research.paper import GRID, OPTIMUM

SCENARIOS = ("top5-any", "top10-any", "top5-multi", "top10-multi")
ON_TEXT = {
    "nb": dict(zip(SCENARIOS, (0.85, 0.66, 0.77, 0.54), strict=True)),
    "svm": dict(zip(SCENARIOS, (0.71, 0.51, 0.72, 0.50), strict=True)),
}
ON_VECTORS = {
    "nb": dict(zip(SCENARIOS, (0.71, 0.61, 0.64, 0.46), strict=True)),
    "svm": dict(zip(SCENARIOS, (0.67, 0.43, 0.66, 0.37), strict=True)),
}
ON_RELEASE = {
    "nb": dict(zip(SCENARIOS, (0.75, 0.58, 0.65, 0.37), strict=True)),
    "svm": dict(zip(SCENARIOS, (0.73, 0.48, 0.56, 0.27), strict=True)),
}


MODELS = ("nb", "svm")
GREEN, RED = "#009e73", "#d55e00"
FIGURES = [plots.performance, plots.spelling, plots.scrubbing, paper_figures.attackers]


def result(
    method, task, model, f1, *, std=None, scenario="", attacker="", parameters=None, loss=None
):
    attacker = attacker or ("writeprints" if task == "attack" else "")
    return Result(
        method=method,
        task=task,
        scenario=scenario,
        model=model,
        attacker=attacker,
        **(parameters or Parameters())._asdict(),
        loss_per_word=loss,
        runs=1 if std is None else 10,
        f1=f1,
        f1_std=std,
        precision=f1 + 0.01,
        recall=f1 - 0.01,
    )


def realistic():
    """About what the experiment gives: two axes of the grid through the optimum, and scrubbing."""
    rng = random.Random(1)
    vectors = Parameters(morphology="lemma", synsets=False)
    cells = {OPTIMUM._replace(epsilon=epsilon) for epsilon in GRID["epsilon"]}
    cells |= {OPTIMUM._replace(spelling=spelling) for spelling in GRID["spelling"]}
    made = []
    for model, utility in (("nb", 0.69), ("svm", 0.69)):
        made.append(result("original", "utility", model, utility))
        made.append(result("vectorised", "utility", model, 0.98 * utility, parameters=vectors))
        made.append(result("scrubadub", "utility", model, 0.692))
        made.append(result("scrubadub-names", "utility", model, 0.65))
        for scenario in SCENARIOS:
            text = ON_TEXT[model][scenario]
            for method, f1, parameters in (
                ("original", text, None),
                ("vectorised", ON_VECTORS[model][scenario], vectors),
                ("scrubadub", 0.99 * text, None),
                ("scrubadub-names", 0.9 * text, None),
            ):
                made.append(
                    result(method, "attack", model, f1, scenario=scenario, parameters=parameters)
                )
        for parameters in sorted(cells):
            scale = 1 - ((55 - parameters.epsilon) / 36) ** 2 + 0.05
            more = {"parameters": parameters, "loss": parameters.epsilon * 25.61 / 47.5}
            made.append(result("syntf", "utility", model, 0.617 * scale, std=0.004, **more))
            for scenario in SCENARIOS:
                f1 = ON_RELEASE[model][scenario] * scale**1.4 * (1.06 - 0.2 * parameters.spelling)
                f1 += rng.gauss(0, 0.006)
                more["std"] = rng.uniform(0.015, 0.03)
                made.append(result("syntf", "attack", model, f1, scenario=scenario, **more))
        for scenario in SCENARIOS:
            for attacker, factor in (("writeprints-frequency", 0.96), ("writeprints-random", 0.2)):
                f1, more = ON_RELEASE[model][scenario], {"scenario": scenario, "attacker": attacker}
                made.append(
                    result(
                        "syntf", "attack", model, f1 * factor, std=0.02, parameters=OPTIMUM, **more
                    )
                )
    return made


@pytest.fixture(scope="module")
def rows():
    return realistic()


@pytest.fixture(scope="module")
def results(rows):
    return Results(rows)


def panels(figure):
    """The axes of each model and scenario, in the order of a page."""
    return dict(zip([(model, s) for model in MODELS for s in SCENARIOS], figure.axes, strict=True))


def laid_out(figure):
    """Draws it, so that every text has its place."""
    FigureCanvasAgg(figure).draw()


def ticks(axis):
    """The labels of an axis that are seen."""
    low, high = axis.get_view_interval()
    pairs = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False)
    return [text for place, text in pairs if low <= place <= high]


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines() if line.get_label()[0] != "_"}


def bars(axes):
    """Place, height, colour and label of each bar, from left to right."""
    found = [(bar.get_x() + bar.get_width() / 2, bar) for bar in axes.patches]
    return [
        (round(place, 9), bar.get_height(), to_hex(bar.get_facecolor()), bar.get_label())
        for place, bar in sorted(found, key=lambda each: each[0])
    ]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def f1(rows, parameters=None, **wanted):
    """The one result that has these values."""
    wanted |= (parameters or Parameters())._asdict()
    wanted.setdefault("attacker", "writeprints" if wanted.get("scenario") else "")
    wanted.setdefault("scenario", "")
    (found,) = [r for r in rows if all(getattr(r, name) == wanted[name] for name in wanted)]
    return found.f1, found.f1_std


def test_performance_draws_relative_scores(rows, results):
    vectors = Parameters(morphology="lemma", synsets=False)
    for (model, scenario), axes in panels(plots.performance(results, OPTIMUM)).items():
        drawn = lines(axes)
        assert list(drawn) == [
            "original text",
            "analyst, vectorised", "analyst, SynTF ± std. dev.",
            "attacker, vectorised", "attacker, SynTF ± std. dev.",
        ]  # fmt: skip
        assert list(drawn["original text"].get_ydata()) == [1, 1]
        assert drawn["original text"].get_linestyle() == ":"
        bands = axes.collections
        assert len(bands) == 2
        for who, where, colour, marker, band in (
            ("analyst", {}, GREEN, "o", bands[0]),
            ("attacker", {"scenario": scenario}, RED, "s", bands[1]),
        ):
            whole, _ = f1(rows, method="original", model=model, **where)
            level, _ = f1(rows, vectors, method="vectorised", model=model, **where)
            line = drawn[f"{who}, vectorised"]
            assert list(line.get_ydata()) == [level / whole] * 2
            assert (line.get_linestyle(), line.get_color().lower()) == ("--", colour)
            line = drawn[f"{who}, SynTF ± std. dev."]
            assert (line.get_linestyle(), line.get_color().lower()) == ("-", colour)
            assert line.get_marker() == marker
            assert list(line.get_xdata()) == list(GRID["epsilon"])
            cells = [OPTIMUM._replace(epsilon=epsilon) for epsilon in GRID["epsilon"]]
            made = [
                f1(rows, parameters, method="syntf", model=model, **where) for parameters in cells
            ]
            np.testing.assert_allclose(line.get_ydata(), [f1 / whole for f1, _ in made])
            edges = band.get_paths()[0].vertices
            for epsilon, (f1_mean, spread) in zip(GRID["epsilon"], made, strict=True):
                ends = edges[np.isclose(edges[:, 0], epsilon), 1]
                wanted = [(f1_mean - spread) / whole, (f1_mean + spread) / whole]
                np.testing.assert_allclose([ends.min(), ends.max()], wanted)
        whole, _ = f1(rows, method="original", model=model, scenario=scenario)
        assert texts(axes) == [f"F1 on text: analyst 0.69, attacker {whole:.2f}"]


def test_performance_has_loss_above_and_epsilon_below(results):
    figure = plots.performance(results, OPTIMUM)
    laid_out(figure)
    for (model, scenario), axes in panels(figure).items():
        tops = axes.child_axes
        assert len(tops) == (model == "nb")
        for top in tops:
            assert top.get_xlabel() == "loss per word ℓ"
            shown = [float(tick.get_text()) for tick in top.get_xticklabels()]
            wanted = [e * 25.61 / 47.5 for e in (35, 40, 45, 50, 55)]
            assert shown == pytest.approx(wanted, abs=0.05)
            assert list(top.get_xticks()) == [35, 40, 45, 50, 55]
        assert list(axes.get_xticks()) == [35, 40, 45, 50, 55]
        assert axes.get_xlabel() == ("privacy parameter ε" if model == "svm" else "")
        first = scenario == SCENARIOS[0]
        name = {"nb": "naive Bayes", "svm": "linear SVM"}[model]
        assert axes.get_ylabel() == (f"{name}\nF1 relative to original text" if first else "")
        assert [text.get_text() for text in ticks(axes.yaxis)] == (
            ["40%", "60%", "80%", "100%", "120%"] if first else []
        )


def test_notes_and_legend_do_not_cover_lines(results):
    """The note of each panel, and the legend, keep clear of all data."""
    figure = plots.performance(results, OPTIMUM)
    laid_out(figure)
    legend = figure.legends[0].get_window_extent()
    for axes in figure.axes:
        note = axes.transData.inverted().transform(axes.texts[0].get_window_extent().get_points())
        highest = max(np.max(line.get_ydata()) for line in axes.get_lines())
        highest = max(highest, axes.collections[1].get_paths()[0].vertices[:, 1].max())
        assert note[:, 1].min() > highest
        assert legend.y1 <= axes.get_window_extent().y0


def test_single_epsilon_is_a_point_with_an_error_bar(rows):
    one = [r for r in rows if r.method != "syntf" or r.parameters == OPTIMUM]
    for axes in panels(plots.performance(Results(one), OPTIMUM)).values():
        drawn = lines(axes)
        assert list(drawn["analyst, SynTF ± std. dev."].get_xdata()) == [47.5]
        assert list(drawn["analyst, SynTF ± std. dev."].get_ydata()) == [
            pytest.approx(f1(rows, OPTIMUM, method="syntf", model="nb")[0] / 0.69)
        ]
        (bar,) = axes.containers[0].lines[2]
        low, high = bar.get_segments()[0][:, 1]
        assert high - low == pytest.approx(2 * 0.004 / 0.69)


def test_single_run_has_no_band():
    cells = [OPTIMUM, OPTIMUM._replace(epsilon=50.0)]
    rows = [result("original", "utility", "nb", 0.7)]
    rows += [result("syntf", "utility", "nb", 0.5, parameters=parameters) for parameters in cells]
    (axes,) = plots.performance(Results(rows), OPTIMUM).axes
    assert list(lines(axes)) == ["original text", "analyst, SynTF"]
    assert axes.child_axes == []  # no loss is known


def test_colour_of_a_gain_shows_who_is_better_off(results):
    seen = set()
    for (model, scenario), axes in panels(plots.spelling(results, OPTIMUM)).items():
        cells = [OPTIMUM._replace(spelling=s) for s in GRID["spelling"]]
        gains = [analyst_gain(results, parameters, scenario, model) for parameters in cells]
        assert [bar[:2] for bar in bars(axes)] == list(enumerate(gains))
        for (_, height, colour, name), bar in zip(bars(axes), axes.patches, strict=True):
            assert colour == (GREEN if height >= 0 else RED)
            assert name == f"{'analyst' if height >= 0 else 'attacker'} is better off"
            assert bool(bar.get_hatch()) == (height < 0)
            seen.add(colour)
        assert texts(axes) == [f"{100 * each:+z.1f}".replace("-", "−") for each in gains]
        names = [text.get_text() for text in ticks(axes.xaxis)]
        assert names == ("0 0.1 0.2 0.3 0.4".split() if model == "svm" else [])
    assert seen == {GREEN, RED}


def test_scrubbing_draws_relative_scores(rows, results):
    for (model, scenario), axes in panels(plots.scrubbing(results, OPTIMUM)).items():
        wanted = []
        for place, method in enumerate(("syntf", "scrubadub", "scrubadub-names")):
            parameters = OPTIMUM if method == "syntf" else None
            for where, side, colour, name in (
                ({}, -0.21, GREEN, "analyst"),
                ({"scenario": scenario}, 0.21, RED, "attacker"),
            ):
                whole, _ = f1(rows, method="original", model=model, **where)
                left, _ = f1(rows, parameters, method=method, model=model, **where)
                wanted.append((place + side, left / whole, colour, name))
        assert bars(axes) == wanted
        assert texts(axes) == [f"{height:.0%}" for _, height, *_ in wanted]
        assert list(lines(axes)["original text"].get_ydata()) == [1, 1]


def test_attackers_draws_each_order_of_words(rows, results):
    for (model, scenario), axes in panels(paper_figures.attackers(results, OPTIMUM)).items():
        where = {"model": model, "scenario": scenario}
        orders = ["writeprints", "writeprints-frequency", "writeprints-random"]
        made = [f1(rows, OPTIMUM, method="syntf", attacker=each, **where)[0] for each in orders]
        assert [bar[:3] for bar in bars(axes)] == [(i, each, RED) for i, each in enumerate(made)]
        levels = {"original text": [], "vectorised": []}
        for each in axes.collections:
            if each.get_label() in levels:
                ((left, height), (right, _)) = each.get_segments()[0]
                levels[each.get_label()].append((round((left + right) / 2, 9), height))
        whole, _ = f1(rows, method="original", **where)
        assert levels == {
            "original text": [(place, whole) for place in range(3)],
            "vectorised": [(0, ON_VECTORS[model][scenario])],
        }
        names = [text.get_text() for text in ticks(axes.xaxis)]
        wanted = ["alphabetical", "by\nfrequency", "random\norder"]
        assert names == (wanted if model == "svm" else [])


@pytest.mark.parametrize("draw", FIGURES)
def test_missing_panels_are_marked(rows, draw):
    left = [r for r in rows if r.method != "syntf" or (r.model, r.scenario) != ("svm", "top10-any")]
    found = {place: texts(axes) for place, axes in panels(draw(Results(left), OPTIMUM)).items()}
    whole = {place: texts(axes) for place, axes in panels(draw(Results(rows), OPTIMUM)).items()}
    missing = found.pop(("svm", "top10-any"))
    del whole[("svm", "top10-any")]
    assert found == whole
    if draw is plots.performance:
        assert missing == ["F1 on text: analyst 0.69, attacker not run"]
    elif draw is plots.scrubbing:
        assert missing.count("–") == 1
    else:
        assert missing == ["not run"]


@pytest.mark.parametrize("draw", FIGURES)
def test_empty_results_give_one_marked_panel(draw):
    (axes,) = draw(Results([]), OPTIMUM).axes
    assert texts(axes) == ["not run"]


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("scenarios", [1, 3])
@pytest.mark.parametrize("models", [1, 2])
def test_each_scenario_has_a_panel(rows, draw, scenarios, models):
    """One parameters, scenarios by names of their own: a panel for each, under its name."""
    names = dict(zip(SCENARIOS, ("mine", "yours", "ours", "theirs"), strict=True))
    kept = [
        replace(r, scenario=names.get(r.scenario, ""))
        for r in rows
        if r.scenario in ("", *SCENARIOS[:scenarios])
        and r.model in MODELS[:models]
        and (r.method != "syntf" or r.parameters == OPTIMUM)
    ]
    figure = draw(Results(kept), OPTIMUM)
    assert len(figure.axes) == scenarios * models
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == sorted(list(names.values())[:scenarios])
    assert all("not run" not in texts(axes) for axes in figure.axes)


@pytest.mark.parametrize("draw", FIGURES)
def test_figures_have_a_title_and_one_legend(results, draw):
    figure = draw(results, OPTIMUM)
    assert "lemma" in figure.get_suptitle()
    assert ("ε\u00a0=\u00a047.5" in figure.get_suptitle()) == (draw is not plots.performance)
    assert ("s\u00a0=\u00a00.3" in figure.get_suptitle()) == (draw is not plots.spelling)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(names) == len(set(names)) >= 2
    assert all(axes.get_legend() is None for axes in figure.axes)


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("scenarios", [1, 2, 4])
@pytest.mark.slow
def test_texts_do_not_overlap(rows, draw, scenarios):
    """Titles, labels of axes and ticks, and the legend, of the figure as it is saved."""
    kept = [r for r in rows if r.scenario in ("", *SCENARIOS[:scenarios])]
    figure = draw(Results(kept), OPTIMUM)
    laid_out(figure)
    inside = figure.get_window_extent()
    found = [figure._suptitle, *figure.legends[0].get_texts()]
    for axes in figure.axes:
        for each in (axes, *axes.child_axes):
            found += [each.xaxis.label, each.yaxis.label, each.title]
            found += ticks(each.xaxis) + ticks(each.yaxis)
    boxes = [
        (text.get_text(), text.get_window_extent())
        for text in found
        if text.get_text() and text.get_visible()
    ]
    for place, (name, box) in enumerate(boxes):
        assert inside.x0 - 1 <= box.x0, name
        assert box.x1 <= inside.x1 + 1, name
        for other, second in boxes[:place]:
            assert not box.padded(-0.5).overlaps(second.padded(-0.5)), (name, other)


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.slow
def test_figures_are_saved_as_png_and_svg(tmp_path, results, draw):
    figure = draw(results, OPTIMUM)
    save_figure(figure, tmp_path / "a.png")
    assert int.from_bytes((tmp_path / "a.png").read_bytes()[16:20], "big") == 1710
    save_figure(figure, tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("}svg")
