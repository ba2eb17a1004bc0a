"""The paper's criterion for the best parameters, and which of them are run again."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from syntf.evaluation.experiment.results import Parameters, Result, Results
from syntf.research.criterion import (
    best_parameters,
    rank_parameters,
    select_best,
    smallest_gain,
)
from syntf.research.paper import OPTIMUM


def result(method, f1, parameters, model, scenario="", attacker="", runs=1):
    return Result(
        method=method,
        task="attack" if scenario else "utility",
        scenario=scenario,
        model=model,
        attacker=attacker,
        **(parameters or Parameters())._asdict(),
        runs=runs,
        f1=f1,
        precision=f1,
        recall=f1,
    )


def utility_result(method, f1, model="nb", parameters=None, runs=1):
    return result(method, f1, parameters, model, runs=runs)


def attack_result(
    method, scenario, f1, model="nb", parameters=None, attacker="writeprints", runs=1
):
    return result(method, f1, parameters, model, scenario, attacker, runs)


CHOICES = [OPTIMUM._replace(epsilon=float(epsilon)) for epsilon in (10, 20, 30, 40)]


@given(st.lists(st.none() | st.integers(1, 9), min_size=12, max_size=12))
def test_best_parameters_have_the_largest_smallest_gain(scores):
    """In integers: β_U is 1 everywhere, so the largest attack of a parameters decides."""
    rows = [
        utility_result("original", 1.0),
        *(utility_result("syntf", 1.0, parameters=parameters) for parameters in CHOICES),
    ]
    rows += [attack_result("original", scenario, 10.0) for scenario in "abc"]
    largest = {}
    for place, parameters in enumerate(CHOICES):
        own = scores[3 * place : 3 * place + 3]
        pairs = zip("abc", own, strict=True)
        rows += [
            attack_result("syntf", name, float(f1), parameters=parameters)
            for name, f1 in pairs
            if f1
        ]
        if None not in own:
            largest[parameters] = max(own)
    found = Results(rows)
    for parameters in CHOICES:
        wanted = 1 - largest[parameters] / 10 if parameters in largest else None
        assert smallest_gain(found, parameters, "nb") == wanted
    wanted = min(largest, key=largest.get) if largest else None  # the first of equals
    assert best_parameters(found, "nb") == wanted
    assert best_parameters(found, "svm") is None


def test_best_parameters_depend_on_model_and_attacker():
    rows = []
    for model, attacker, wins in itertools.product(["nb", "svm"], ["writeprints", "words"], "x"):
        place = ["nb", "svm"].index(model) + 2 * ["writeprints", "words"].index(attacker)
        rows.append(attack_result("original", wins, 0.9, model, attacker=attacker))
        for other, parameters in enumerate(CHOICES):
            f1 = 0.3 if other == place else 0.6
            rows.append(attack_result("syntf", wins, f1, model, parameters, attacker))
    for model in ("nb", "svm"):
        rows.append(utility_result("original", 0.7, model))
        rows += [utility_result("syntf", 0.6, model, parameters) for parameters in CHOICES]
    found = Results(rows)
    assert [best_parameters(found, model) for model in ("nb", "svm")] == CHOICES[:2]
    assert [best_parameters(found, model, attacker="words") for model in ("nb", "svm")] == CHOICES[
        2:
    ]
    assert best_parameters(Results([]), "nb") is None


def test_a_single_lucky_run_does_not_beat_the_mean_of_ten():
    rows = [utility_result("original", 1.0), attack_result("original", "a", 1.0)]
    for parameters, f1, runs in zip(CHOICES, (0.1, 0.4, 0.3, 0.2), (1, 10, 10, 2), strict=True):
        rows.append(utility_result("syntf", 1.0, parameters=parameters, runs=runs))
        rows.append(attack_result("syntf", "a", f1, parameters=parameters, runs=runs))
    found = Results(rows)
    assert rank_parameters(found, "nb") == [CHOICES[i] for i in (0, 3, 2, 1)]
    assert best_parameters(found, "nb") == CHOICES[2]


SCORE = st.integers(1, 4)
MANY = [
    OPTIMUM._replace(epsilon=float(epsilon), length=length)
    for epsilon in range(1, 5)
    for length in (100, 200)
]


@given(
    st.lists(st.tuples(*[SCORE] * 6), min_size=len(MANY), max_size=len(MANY)),
    st.integers(0, len(MANY) + 1),
    st.sets(st.sampled_from(MANY)),
)
def test_the_best_of_each_classifier_are_selected(scores, count, candidates):
    """By brute force over ordered pairs: a candidate is chosen if fewer than `count` beat it.

    Scores are few, so that many gains are equal; then the first in the order of display is better.
    """
    rows, gains = [], {}
    for place, model in enumerate(("nb", "svm")):
        rows.append(utility_result("original", 8.0, model))
        rows += [attack_result("original", scenario, 8.0, model) for scenario in "ab"]
        for parameters, own in zip(MANY, scores, strict=True):
            utility, *attacks = own[3 * place : 3 * place + 3]
            rows.append(utility_result("syntf", float(utility), model, parameters))
            rows += [
                attack_result("syntf", scenario, float(f1), model, parameters)
                for scenario, f1 in zip("ab", attacks, strict=True)
            ]
            gains[model, parameters] = utility - max(attacks)
    found = Results(reversed(rows))
    chosen = select_best(found, candidates, count)
    assert len(set(chosen)) == len(chosen)

    def beats(model, one, other):
        mine, theirs = gains[model, one], gains[model, other]
        return mine > theirs or (mine == theirs and MANY.index(one) < MANY.index(other))

    assert set(chosen) == {
        one
        for one in candidates
        for model in ("nb", "svm")
        if sum(beats(model, other, one) for other in candidates) < count
    }
