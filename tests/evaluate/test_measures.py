"""Figures are means with intervals, and lights compare with chance and references alone."""

import json
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.evaluate import measures as names
from syntf.evaluate.measures import Measure, average, interval

SHARES = st.floats(0.0, 1.0)


def topics(value, chance, original, low=None, high=None, **references):
    ends = None if low is None else (low, high)
    references = {names.ORIGINAL: original, **references}
    return Measure(
        name=names.TOPICS, value=value, interval=ends, chance=chance, references=references
    )


def finding(value, chance, low=None, high=None, name=names.FIRST):
    ends = None if low is None else (low, high)
    return Measure(name=name, value=value, interval=ends, chance=chance, among=5000)


def test_what_is_kept_is_counted_from_chance():
    # 0.2 called this "60 % of the accuracy is kept" and "topics can be predicted".
    nothing = topics(0.52, 0.50, 0.87, low=0.49, high=0.55)
    assert nothing.kept == pytest.approx(0.02 / 0.37)
    assert nothing.light == "red"
    assert "5.4 % of the distance from chance" in nothing.sentence
    assert "accuracy" not in nothing.sentence
    assert topics(0.3, 0.5, 0.9).kept == 0
    assert topics(0.5, 0.5, 0.5).kept is None  # the texts themselves tell nothing


def test_a_small_share_that_is_200_times_chance_is_red():
    # 0.2 said "hardly better than by guessing", in green.
    found = finding(0.04, 0.0002, low=0.038, high=0.042)
    assert found.light == "red"
    assert "4 % (3.8 % to 4.2 %)" in found.sentence
    assert "by chance 0.02 %" in found.sentence


@pytest.mark.parametrize(
    ("measure", "light"),
    [
        (topics(0.7, 0.2, 0.9, 0.68, 0.72), "green"),
        (topics(0.5, 0.2, 0.9, 0.48, 0.52), "amber"),
        (topics(0.3, 0.2, 0.9, 0.19, 0.41), "red"),
        (topics(0.7, 0.2, 0.9, 0.68, 0.72, **{names.NOTHING_PRIVATE: 0.69}), "red"),
        (finding(0.002, 0.002), "green"),
        (finding(0.0021, 0.002, 0.0015, 0.0027), "green"),
        (finding(0.0041, 0.002, 0.0015, 0.0067), "amber"),
        (finding(0.019, 0.002), "amber"),
        (finding(0.02, 0.002), "red"),
        (finding(0.0, 0.0), "green"),
    ],
)
def test_lights_follow_their_rules(measure, light):
    assert measure.light == light


@pytest.mark.parametrize(
    ("value", "label", "light"),
    [(0.1, 0.6, "green"), (0.5, 0.6, "amber"), (0.7, 0.6, "red"), (0.5, None, "red")],
)
def test_authors_are_compared_with_the_label_alone(value, label, light):
    references = {} if label is None else {names.LABEL: label}
    measure = Measure(
        name=names.AUTHORS, value=value, interval=(value - 0.02, value + 0.02), chance=0.1,
        references=references, among=10,
    )  # fmt: skip
    assert measure.light == light
    assert ("with the label alone" in measure.sentence) == (label is not None)


@given(SHARES, st.floats(1e-6, 0.5), st.floats(1e-3, 1e3))
def test_a_light_of_finding_depends_on_the_ratio_to_chance_alone(ratio, chance, scale):
    value = 20 * ratio * chance
    scaled = finding(value * 2.0 ** round(np.log2(scale)), chance * 2.0 ** round(np.log2(scale)))
    assert finding(value, chance).light == scaled.light


def test_a_figure_near_a_limit_says_so():
    assert finding(0.018, 0.002, 0.015, 0.021).near
    assert not finding(0.05, 0.002, 0.045, 0.055).near
    assert "near its limit" in finding(0.018, 0.002, 0.015, 0.021).sentence


@given(st.lists(SHARES, min_size=2, max_size=6))
def test_an_interval_holds_the_mean_and_stays_a_share(values):
    low, high = interval(values)
    assert 0 <= low <= fmean(values) + 1e-12
    assert fmean(values) - 1e-12 <= high <= 1


def test_intervals_hold_the_true_mean_as_often_as_they_say():
    rows = np.random.default_rng(1).normal(0.5, 0.05, (4000, 5))
    held = [low <= 0.5 <= high for low, high in map(interval, rows.tolist())]
    assert 0.935 < np.mean(held) < 0.965


def test_the_mean_takes_the_attacker_who_is_best_on_average():
    runs = [
        [Measure.strongest(names.AUTHORS, {"a": a, "b": b}, chance=0.1, among=3)]
        for a, b in ((0.9, 0.5), (0.1, 0.6), (0.2, 0.7))
    ]
    (mean,) = average(runs)
    assert (mean.best, mean.value) == ("b", pytest.approx(0.6))
    assert mean.interval == pytest.approx(interval([0.5, 0.6, 0.7]))


@pytest.mark.parametrize("name", sorted(names.SENTENCES))
def test_every_measure_has_a_sentence_and_json(name):
    measure = Measure(name=name, value=0.5, interval=(0.4, 0.6), chance=0.3, among=1000)
    record = json.loads(json.dumps(measure.as_dict(), allow_nan=False))
    assert record["sentence"].endswith(".")
    assert "{" not in record["sentence"]
    assert (record["light"] is None) == (record["rule"] is None) == (name not in names.RULES)
