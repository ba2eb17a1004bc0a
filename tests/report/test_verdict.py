"""The verdict on an evaluation: its limits, its sentences, and what it says of missing parts."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.report.evaluation import (
    EvaluatedTexts,
    EvaluationScores,
    LinkScore,
    ScenarioScores,
    ScoreChange,
)
from syntf.report.verdict import (
    AMBER,
    BY_TOPIC,
    GREEN,
    MEANINGS,
    RED,
    SUBJECTS,
    UNPREDICTABLE,
    authors_light,
    judge,
    linking_light,
    topics_light,
)

RANK = {GREEN: 0, AMBER: 1, RED: 2}
shares = st.floats(0, 1)


def scores(*, analyst=(), scenarios=(), links=(), chance=None):
    return EvaluationScores(2, None, analyst, scenarios, links, 10.0, chance)


COMPLETE = scores(
    analyst=[ScoreChange("naive Bayes", 0.78, 0.69), ScoreChange("linear SVM", 0.85, 0.6),
             ScoreChange("informed", None, 0.67)],
    scenarios=[
        ScenarioScores("Top 5/Any", 5, [ScoreChange("words", 0.9, 0.21)], 0.06, 0.2),
        ScenarioScores("Top 10/Any", 8, [ScoreChange("words", 0.9, 0.1),
                                         ScoreChange("entries", None, 0.14)], 0.03, 0.125),
    ],
    links=[LinkScore("a text and its release", 0.98, 0.4, 0.192, 320),
           LinkScore("a text, released or not", 0.6, 0.1)],
    chance=0.2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "chance", "light"),
    [
        (1.0, 1.0, 0.2, GREEN), (1.0, 0.8, 0.2, GREEN), (1.0, 0.796, 0.2, GREEN),
        (1.0, 0.794, 0.2, AMBER), (1.0, 0.5, 0.2, AMBER), (1.0, 0.494, 0.2, RED),
        (0.5, 0.4, 0.2, GREEN), (0.5, 0.25, 0.2, AMBER), (0.5, 0.24, None, RED),
        (0.5, 0.45, 0.45, RED), (0.5, 0.45, 0.46, RED), (0.5, 0.45, 0.44, GREEN),
        (0.0, 0.0, None, RED), (0.7, 0.77, None, GREEN),
    ],
)  # fmt: skip
def test_topics_are_judged_by_the_share_that_is_kept(before, after, chance, light):
    assert topics_light(before, after, chance) == light


@pytest.mark.parametrize(
    ("best", "guessing", "light"),
    [
        (0.13, 0.2, GREEN), (0.2, 0.2, GREEN), (0.18, 0.13, GREEN), (0.25, 0.2, GREEN),
        (0.26, 0.2, AMBER), (0.4, 0.2, AMBER), (0.3, 0.1, AMBER), (0.41, 0.2, RED), (1, 0.2, RED),
    ],
)  # fmt: skip
def test_authors_are_judged_by_the_distance_to_guessing(best, guessing, light):
    assert authors_light(best, guessing) == light


@pytest.mark.parametrize(
    ("found", "chance", "light"),
    [
        (0.0, 0.01, GREEN), (0.06, 0.01, GREEN), (0.07, 0.01, AMBER), (0.51, 0.01, AMBER),
        (0.52, 0.01, RED), (1.0, 0.003, RED), (0.55, 0.5, GREEN), (1.0, 0.5, AMBER),
    ],
)  # fmt: skip
def test_linking_is_judged_by_the_distance_to_chance(found, chance, light):
    assert linking_light(found, chance) == light


@given(shares, shares, shares, shares)
def test_more_success_of_an_attacker_is_never_judged_better(first, second, guessing, before):
    low, high = sorted((first, second))
    for judged in (authors_light, linking_light):
        assert RANK[judged(low, guessing)] <= RANK[judged(high, guessing)]
    topics = [RANK[topics_light(before, after, guessing)] for after in (low, high)]
    assert topics[0] >= topics[1]


@given(shares, st.integers(2, 10_000))
def test_red_linking_means_most_texts(found, among):
    if linking_light(found, 1 / among) == RED:
        assert found > 0.5


def test_each_line_has_its_figures():
    verdict = judge(COMPLETE, 10.0)
    assert [(line.subject, line.light, line.text) for line in verdict.lines] == [
        ("Topics", GREEN, "81% of the accuracy is kept (F1 .69 of .85; by chance .20)."),
        ("Authors", GREEN, "the best attacker names the right one of 8 with F1 .14; "
                           "guessing by topic .03, by chance .12."),
        ("Linking", AMBER, "whoever holds a text finds its release at the first guess in 19%, "
                           "by chance in 0.3% (1 of 320)."),
    ]  # fmt: skip
    for subject, light in (("Topics", GREEN), ("Authors", GREEN), ("Linking", AMBER)):
        assert MEANINGS[subject, light] in verdict.meaning
    assert verdict.meaning.endswith(
        "This was measured on these texts with these attackers; others may find out more. "
        "The promise, against every attacker, is the loss: 10.00 per document."
    )
    assert "No verdict on" not in verdict.meaning


def test_every_light_of_every_subject_has_a_meaning():
    assert set(MEANINGS) == {(subject, light) for subject in SUBJECTS for light in RANK}


def test_no_loss_is_promised_without_a_guarantee():
    meaning = judge(COMPLETE, None).meaning
    assert "promise" not in meaning
    assert meaning.endswith("No guarantee covers a release with these settings.")


@pytest.mark.parametrize(("loss", "told"), [(100.0, False), (100.5, True), (1000.0, True)])
def test_a_very_large_loss_is_called_no_protection(loss, told):
    assert ("this excludes nothing" in judge(COMPLETE, loss).meaning) == told


@pytest.mark.parametrize(
    ("found", "subjects", "missing"),
    [
        (scores(), [], "topics, authors, linking"),
        (scores(analyst=COMPLETE.analyst), ["Topics"], "authors, linking"),
        (scores(scenarios=COMPLETE.scenarios), ["Authors"], "topics, linking"),
        (scores(links=COMPLETE.links), ["Linking"], "topics, authors"),
        (scores(analyst=[ScoreChange("informed", None, 0.5)]), [], "topics, authors, linking"),
        (scores(links=[LinkScore("a text and its release", 1.0, 1.0)]), [],
         "topics, authors, linking"),
        (scores(scenarios=[ScenarioScores("Top 5/Any", 5, [], 0.1, 0.2)]), [],
         "topics, authors, linking"),
        (scores(scenarios=[ScenarioScores("Top 5/Any", 5, [ScoreChange("words", 1, 1)], None)]),
         [], "topics, authors, linking"),
    ],
)  # fmt: skip
def test_what_was_not_measured_is_named_and_gets_no_light(found, subjects, missing):
    verdict = judge(found, 1.0)
    assert [line.subject for line in verdict.lines] == subjects
    assert f"No verdict on {missing}: this was not measured here." in verdict.meaning


def test_chance_and_topic_are_left_out_where_unknown():
    attackers = [ScoreChange("words", 0.9, 0.5)]
    only_topic = scores(
        analyst=[ScoreChange("naive Bayes", 0.8, 0.48)],
        scenarios=[ScenarioScores("Top 5/Any", 5, attackers, 0.4)],
    )
    topics, authors = judge(only_topic, 1.0).lines
    assert topics.text == "60% of the accuracy is kept (F1 .48 of .80)."
    assert authors.text.endswith("F1 .50; guessing by topic .40.")
    only_chance = scores(scenarios=[ScenarioScores("Top 5/Any", 5, attackers, None, 0.2)])
    (authors,) = judge(only_chance, 1.0).lines
    assert authors.light == RED
    assert authors.text.endswith("F1 .50; guessing by chance .20.")


def test_the_scenario_furthest_above_guessing_decides():
    def scenario(authors, best, floor):
        attackers = [ScoreChange("words", 1.0, best)]
        return ScenarioScores(f"{authors}", authors, attackers, floor, 1 / authors)

    high_floor, low_floor = scenario(5, 0.9, 0.89), scenario(10, 0.5, 0.1)
    for order in ([high_floor, low_floor], [low_floor, high_floor]):
        (line,) = judge(scores(scenarios=order), 1.0).lines
        assert line.light == RED
        assert "right one of 10 with F1 .50" in line.text


def test_an_analyst_without_success_on_the_texts_keeps_nothing():
    (line,) = judge(scores(analyst=[ScoreChange("naive Bayes", 0.0, 0.0)]), math.inf).lines
    assert (line.light, line.text) == (RED, "no accuracy to keep (F1 .00 of .00).")


@pytest.mark.parametrize(
    ("before", "after", "chance", "told"),
    [(0.0, 0.0, None, True), (0.2, 0.19, 0.2, True), (0.15, 0.1, 0.2, True),
     (0.21, 0.05, 0.2, False), (0.6, 0.1, None, False), (0.6, 0.55, 0.2, False)],
)  # fmt: skip
def test_labels_that_no_analyst_finds_in_the_texts_are_told(before, after, chance, told):
    found = judge(scores(analyst=[ScoreChange("nb", before, after)], chance=chance), 10.0)
    assert found.meaning.startswith(UNPREDICTABLE) == told
    assert ("A larger loss" in found.meaning) == (found.lines[0].light == RED and not told)


@pytest.mark.parametrize(
    ("best", "floor", "chance", "told"),
    [(0.56, 1.0, 0.28, True), (0.3, 1.0, 0.28, False), (0.56, 0.3, 0.28, False),
     (0.56, 1.0, None, False), (0.5, 0.5, 0.2, True)],
)  # fmt: skip
def test_green_authors_who_are_known_by_their_topics_are_told(best, floor, chance, told):
    scenario = ScenarioScores("Top 5/Any", 5, [ScoreChange("words", 0.9, best)], floor, chance)
    assert (BY_TOPIC in judge(scores(scenarios=[scenario]), 10.0).meaning) == told


def test_red_lights_say_what_would_help():
    assert all("loss" in text for (_, light), text in MEANINGS.items() if light == RED)


@pytest.mark.parametrize(("documents", "told"), [(40, True), (199, True), (200, False)])
def test_figures_from_few_documents_are_called_rough(documents, told):
    about = EvaluatedTexts("a.csv", "2026-11-16", documents, 0, None, [])
    meaning = judge(replace(COMPLETE, about=about), 10.0).meaning
    assert (f"only {documents} documents, so the figures are rough" in meaning) == told


@pytest.mark.parametrize(
    ("after", "spread", "light", "near", "told"),
    [
        (0.9, 0.05, GREEN, None, "(F1 .90 of 1.00)."),
        (0.84, 0.05, GREEN, AMBER, "Near the limit: releases differ by ± .05, so another "
                                   "evaluation may say amber."),
        (0.77, 0.05, AMBER, GREEN, "another evaluation may say green."),
        (0.52, 0.05, AMBER, RED, "another evaluation may say red."),
        (0.8, None, GREEN, AMBER, "Near the limit: another evaluation may say amber."),
        (0.83, None, GREEN, None, "(F1 .83 of 1.00)."),
    ],
)  # fmt: skip
def test_topics_near_a_limit_are_told(after, spread, light, near, told):
    changes = [ScoreChange("nb", 1.0, after, spread), ScoreChange("svm", 0.9, after - 0.2, 0.5)]
    (line,) = judge(scores(analyst=changes), 10.0).lines
    assert (line.light, line.near) == (light, near)
    assert line.text.endswith(told)


@pytest.mark.parametrize(("best", "light", "near"), [(0.25, GREEN, AMBER), (0.26, AMBER, GREEN)])
def test_authors_that_change_from_run_to_run_are_near_the_limit_each_time(best, light, near):
    attackers = [ScoreChange("words", 0.9, best, 0.01), ScoreChange("entries", None, 0.2, 0.3)]
    found = scores(scenarios=[ScenarioScores("Top 5/Any", 5, attackers, 0.06, 0.2)])
    (line,) = judge(found, 10.0).lines
    assert (line.light, line.near) == (light, near)


@given(shares, st.floats(0, 0.3))
def test_a_line_is_near_exactly_if_the_spread_reaches_another_light(best, spread):
    attackers = [ScoreChange("words", 1.0, best, spread)]
    found = scores(scenarios=[ScenarioScores("Top 5/Any", 5, attackers, None, 0.2)])
    (line,) = judge(found, 10.0).lines
    margin = max(spread, 0.01)
    lights = {authors_light(best + step, 0.2) for step in (-margin, 0.0, margin)}
    assert (line.near is not None) == (len(lights) > 1)
    assert line.near is None or line.near in lights - {line.light}
