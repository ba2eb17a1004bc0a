"""The search for parameters: planted optima, budgets, fronts and goals by brute force."""

from hashlib import sha256
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation.tuning.search import (
    MAX_NEARBY,
    Candidate,
    Goal,
    SearchSpace,
    confirm_finalists,
    max_measurements,
    pareto_front,
    search,
)

SPACE = SearchSpace()
CANDIDATES = st.builds(
    Candidate,
    st.sampled_from(SPACE.neighbours),
    st.sampled_from(SPACE.losses),
    st.integers(*SPACE.lengths),
    st.sampled_from(SPACE.sizes),
    st.sampled_from(SPACE.weights),
)
SCORES = st.dictionaries(CANDIDATES, st.sampled_from([0.5, 0.6, 0.7, 0.8]), min_size=1, max_size=9)
DOCUMENTS = (1, 2, 4, 12, 36)


def planted(neighbours, size, weights):
    """A utility that grows with loss and length as SynTF's does, best where it is planted."""

    def utility(one):
        good = one.neighbours * exp(one.loss) / (one.neighbours * exp(one.loss) + one.max_size)
        off = abs(SPACE.neighbours.index(one.neighbours) - SPACE.neighbours.index(neighbours))
        off += abs(SPACE.sizes.index(one.max_size) - SPACE.sizes.index(size))
        return (1 - exp(-good * one.length / 40)) * 0.95**off * (0.9, 1)[one.weights == weights]

    return utility


def grid():
    low, high = SPACE.lengths
    for k in SPACE.neighbours:
        for loss in SPACE.losses:
            for length in range(low, high + 1, 5):
                for size in SPACE.sizes:
                    for weights in SPACE.weights:
                        yield Candidate(k, loss, length, size, weights)


PLANTED = [(1, 2_000, "tf"), (3, 5_000, "tfidf"), (5, 500, "tf"), (2, 10_000, "tfidf")]


def noisy(utility, spread):
    """Adds noise that depends on the candidate and the round, and falls from round to round."""

    def measure(one, number):
        calls.append((one, number))
        share = int.from_bytes(sha256(repr((one, number)).encode()).digest()[:4]) / 2**32
        return utility(one) + (share - 0.5) * spread / DOCUMENTS[number] ** 0.5

    calls = measure.calls = []
    return measure


@pytest.mark.parametrize("spread", [0, 0.02])
@pytest.mark.parametrize("target", [0.6, 0.75, 0.87])
@pytest.mark.parametrize("where", PLANTED)
def test_planted_optimum_is_found_with_a_hundredth_of_the_measurements(where, target, spread):
    utility = planted(*where)
    goal = Goal(utility=target)
    measure = noisy(utility, spread)
    found = goal.best(search(goal, SPACE, measure))
    every = {one: utility(one) for one in grid()}
    least = goal.best(every)
    assert utility(found) >= target - spread
    assert found.document_loss <= (1.1 + 4 * spread) * least.document_loss
    work = sum(DOCUMENTS[number] for _, number in measure.calls)
    assert work < len(every) * DOCUMENTS[-2] / 100
    assert len(measure.calls) <= max_measurements(SPACE)


@pytest.mark.parametrize("limit", [150, 400, 800, 2800, 9000])
@pytest.mark.parametrize("where", PLANTED)
def test_most_utility_under_a_loss_is_found(where, limit):
    utility = planted(*where)
    goal = Goal(max_loss=limit)
    measure = noisy(utility, 0)
    scores = search(goal, SPACE, measure)
    found = goal.best(scores)
    every = {one: utility(one) for one in grid()}
    assert found.document_loss <= limit
    assert scores[found] >= 0.95 * every[goal.best(every)]
    assert len(measure.calls) <= max_measurements(SPACE)
    beyond = any(one.document_loss > limit for one in scores)
    assert beyond == (2 * limit <= SPACE.budgets[1])  # what twice the loss would bring


def test_limit_per_word_holds_with_other_limits():
    utility = planted(1, 2_000, "tf")
    goal = Goal(utility=0.5, max_loss_per_word=8.3)
    scores = search(goal, SPACE, noisy(utility, 0))
    assert max(one.loss for one in scores) == 8.3
    assert goal.best(scores) is not None


def test_search_with_remembered_measurements_repeats_none():
    utility = planted(3, 5_000, "tfidf")
    goal = Goal(utility=0.75)
    whole = noisy(utility, 0.02)
    wanted = search(goal, SPACE, whole)
    remembered = {}
    for stop in (5, 40, 10**6):
        fresh = noisy(utility, 0.02)

        def measure(one, number, fresh=fresh, stop=stop):
            if (one, number) not in remembered:
                if len(fresh.calls) == stop:
                    raise KeyboardInterrupt
                remembered[one, number] = fresh(one, number)
            return remembered[one, number]

        try:
            found = search(goal, SPACE, measure)
        except KeyboardInterrupt:
            assert stop < 10**6
    assert found == wanted
    assert list(remembered) == list(dict.fromkeys(whole.calls))


def test_impossible_target_gives_the_best_that_can_be_reached():
    goal = Goal(utility=0.999)
    measure = noisy(planted(1, 2_000, "tf"), 0)
    scores = search(goal, SPACE, measure)
    assert goal.best(scores) is None
    assert max(scores.values()) > 0.95
    assert len(measure.calls) < 80  # one budget, the largest, and no bisection


@given(st.floats(50, 4000))
def test_budget_is_used_and_never_exceeded(budget):
    low, high = SPACE.lengths
    spent = SPACE.lengths_by_loss(budget)
    for loss, length in spent.items():
        assert low <= length <= high
        assert loss * length <= budget + 1e-6
        assert length == high or loss * (length + 1) > budget
    assert len(set(spent.values())) == len(spent)
    for loss in SPACE.losses:  # whatever else is allowed is no better
        length = min(high, int(budget / loss))
        if length >= low:
            assert any(own >= loss and n >= length for own, n in spent.items())


@given(st.floats(100, 2800), st.integers(1, 40))
def test_design_uses_the_budget_without_duplicates(budget, count):
    spent = SPACE.lengths_by_loss(budget)
    made = SPACE.design(budget, count)
    assert len(set(made)) == len(made)
    assert len(made) == min(count, len(made))
    assert len(made) >= min(count, 8)
    for one in made:
        assert spent[one.loss] == one.length
        assert one.neighbours in SPACE.neighbours
        assert one.max_size in SPACE.sizes


def test_design_covers_every_value():
    made = SPACE.design(800, 32)
    assert len(made) == 32
    for name in ("neighbours", "max_size", "weights"):
        values = [getattr(one, name) for one in made]
        wanted = SPACE.sizes if name == "max_size" else getattr(SPACE, name)
        counts = [values.count(each) for each in wanted]
        assert min(counts) >= 32 / len(wanted) - 3
    assert {one.loss for one in made} >= {4.0, 14.0}


@given(CANDIDATES, st.floats(100, 2800))
def test_nearby_candidates_differ_in_one_step_and_use_the_budget(known, budget):
    spent = SPACE.lengths_by_loss(budget)
    like, *others = SPACE.nearby(known, budget)
    assert (like.neighbours, like.max_size, like.weights) == (known[0], known[3], known[4])
    assert abs(like.loss - known.loss) == min(abs(loss - known.loss) for loss in spent)
    for one in (like, *others):
        assert spent[one.loss] == one.length
    assert len(others) <= MAX_NEARBY
    for one in others:
        kinds = [one[i] != like[i] for i in (0, 3, 4)]
        assert sum(kinds) == (one.loss == like.loss or any(kinds))
        odds = [each.neighbours * exp(each.loss) / each.max_size for each in (one, known)]
        if any(kinds[:2]) and min(spent) < one.loss < max(spent):
            assert abs(log(odds[0] / odds[1])) <= 0.25 + 1e-9  # half a step of the loss


@given(SCORES)
def test_front_has_the_candidates_that_nothing_surpasses(scores):
    def excelled(one):
        return any(
            (other.document_loss, -scores[other]) != (one.document_loss, -scores[one])
            and other.document_loss <= one.document_loss
            and scores[other] >= scores[one]
            for other in scores
        )

    found = pareto_front(scores)
    wanted = {(one.document_loss, scores[one]) for one in scores if not excelled(one)}
    assert [(one.document_loss, scores[one]) for one in found] == sorted(wanted)


@given(SCORES, st.none() | st.sampled_from([0.55, 0.7, 0.9]), st.floats(4, 3000))
def test_best_candidate_is_within_the_limits(scores, target, limit):
    goal = Goal(utility=target, max_loss=limit, max_loss_per_word=12.0)
    allowed = [one for one in scores if one.loss <= 12 and one.document_loss <= limit + 1e-9]
    found = goal.best(scores)
    if target is None:
        assert (found is None) == (not allowed)
        assert found is None or scores[found] == max(scores[one] for one in allowed)
    else:
        reaching = [one.document_loss for one in allowed if scores[one] >= target]
        assert (found.document_loss if found else None) == min(reaching, default=None)
    assert found is None or found in pareto_front({one: scores[one] for one in allowed})


def line(count):
    """Candidates on a front, each a little dearer and better."""
    made = [Candidate(1, 8.0, 30 + 10 * i, 500, "tf") for i in range(count)]
    return {one: 0.5 + 0.05 * i for i, one in enumerate(made)}


def test_finalists_are_the_best_and_its_neighbours():
    scores = line(8)
    confirmed = confirm_finalists(Goal(utility=0.7), scores, scores.__getitem__)
    assert list(confirmed) == list(scores)[2:7]


def test_larger_losses_follow_if_the_best_is_not_confirmed():
    scores = line(9)
    asked = []

    def confirm(one):
        asked.append(one)
        return scores[one] - 0.16

    goal = Goal(utility=0.55)
    confirmed = confirm_finalists(goal, scores, confirm)
    assert asked == list(scores)[:6]
    assert goal.best(confirmed) == list(scores)[5]
    assert (
        list(confirm_finalists(Goal(utility=0.99), scores, scores.__getitem__)) == list(scores)[6:]
    )


def test_candidate_surpassed_by_chance_is_confirmed_later():
    cheap, good, dear = line(3)
    scores = {cheap: 0.7, good: 0.69, dear: 0.9}
    truth = {cheap: 0.6, good: 0.66, dear: 0.9}
    goal = Goal(utility=0.65)
    assert pareto_front(scores) == [cheap, dear]
    assert goal.best(confirm_finalists(goal, scores, truth.__getitem__)) == good


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "no goal: use at least one of"),
        ({"utility": 0.0}, "must be greater than 0"),
        ({"utility": float("nan")}, "must be greater than 0"),
        ({"utility": 87.0}, "must not be greater than 1"),
        ({"max_loss": -1.0}, "must be greater than 0"),
        ({"max_loss": 99.0}, "smallest that is tried is 100, 25 words at 4"),
        ({"max_loss_per_word": 3.0}, "smallest loss per word that is tried is 4"),
    ],
)
def test_impossible_goals_are_refused(given, says):
    with pytest.raises(SyntfError, match=says):
        search(Goal(**given), SPACE, lambda one, number: 1.0)
