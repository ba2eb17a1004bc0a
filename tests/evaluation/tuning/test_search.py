"""The search for parameters: planted optima, budgets, fronts and goals by brute force."""

from hashlib import sha256
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation.tuning.search import Candidate, Goal, Space, finalists, front, longest, search

SPACE = Space()
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
    """The same noise whenever a candidate is measured on a rung, less on higher ones."""

    def measure(one, rung):
        calls.append((one, rung))
        number = int.from_bytes(sha256(repr((one, rung)).encode()).digest()[:4]) / 2**32
        return utility(one) + (number - 0.5) * spread / DOCUMENTS[rung] ** 0.5

    calls = measure.calls = []
    return measure


@pytest.mark.parametrize("spread", [0, 0.02])
@pytest.mark.parametrize("target", [0.6, 0.75, 0.87])
@pytest.mark.parametrize("where", PLANTED)
def test_a_planted_optimum_is_found_at_a_hundredth_of_the_grid(where, target, spread):
    utility = planted(*where)
    goal = Goal(utility=target)
    measure = noisy(utility, spread)
    found = goal.best(search(goal, SPACE, measure))
    every = {one: utility(one) for one in grid()}
    least = goal.best(every)
    assert utility(found) >= target - spread
    assert found.document_loss <= (1.1 + 4 * spread) * least.document_loss
    work = sum(DOCUMENTS[rung] for _, rung in measure.calls)
    assert work < len(every) * DOCUMENTS[-2] / 100
    assert len(measure.calls) <= longest(SPACE)


@pytest.mark.parametrize("limit", [150, 400, 800, 2800, 9000])
@pytest.mark.parametrize("where", PLANTED)
def test_the_most_utility_under_a_loss_is_found(where, limit):
    utility = planted(*where)
    goal = Goal(max_loss=limit)
    measure = noisy(utility, 0)
    scores = search(goal, SPACE, measure)
    found = goal.best(scores)
    every = {one: utility(one) for one in grid()}
    assert found.document_loss <= limit
    assert scores[found] >= 0.95 * every[goal.best(every)]
    assert len(measure.calls) <= longest(SPACE)
    beyond = any(one.document_loss > limit for one in scores)
    assert beyond == (2 * limit <= SPACE.budgets[1])  # what twice the loss would bring


def test_a_limit_on_words_holds_beside_the_others():
    utility = planted(1, 2_000, "tf")
    goal = Goal(utility=0.5, max_loss_per_word=8.3)
    scores = search(goal, SPACE, noisy(utility, 0))
    assert max(one.loss for one in scores) == 8.3
    assert goal.best(scores) is not None


def test_a_search_whose_measurements_are_remembered_goes_on_without_repeating():
    utility = planted(3, 5_000, "tfidf")
    goal = Goal(utility=0.75)
    whole = noisy(utility, 0.02)
    wanted = search(goal, SPACE, whole)
    remembered = {}
    for stop in (5, 40, 10**6):
        fresh = noisy(utility, 0.02)

        def measure(one, rung, fresh=fresh, stop=stop):
            if (one, rung) not in remembered:
                if len(fresh.calls) == stop:
                    raise KeyboardInterrupt
                remembered[one, rung] = fresh(one, rung)
            return remembered[one, rung]

        try:
            found = search(goal, SPACE, measure)
        except KeyboardInterrupt:
            assert stop < 10**6
    assert found == wanted
    assert list(remembered) == list(dict.fromkeys(whole.calls))


def test_an_impossible_target_leaves_the_best_that_can_be_reached():
    goal = Goal(utility=0.999)
    measure = noisy(planted(1, 2_000, "tf"), 0)
    scores = search(goal, SPACE, measure)
    assert goal.best(scores) is None
    assert max(scores.values()) > 0.95
    assert len(measure.calls) < 80  # one budget, the largest, and no bisection


@given(st.floats(50, 4000))
def test_a_budget_is_spent_and_never_exceeded(budget):
    low, high = SPACE.lengths
    spent = SPACE.spent(budget)
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
def test_a_design_spends_the_budget_and_repeats_nothing(budget, count):
    spent = SPACE.spent(budget)
    made = SPACE.design(budget, count)
    assert len(set(made)) == len(made)
    assert len(made) == min(count, len(made))
    assert len(made) >= min(count, 8)
    for one in made:
        assert spent[one.loss] == one.length
        assert one.neighbours in SPACE.neighbours
        assert one.max_size in SPACE.sizes


def test_a_design_spreads_over_every_value():
    made = SPACE.design(800, 32)
    assert len(made) == 32
    for name in ("neighbours", "max_size", "weights"):
        values = [getattr(one, name) for one in made]
        wanted = SPACE.sizes if name == "max_size" else getattr(SPACE, name)
        counts = [values.count(each) for each in wanted]
        assert min(counts) >= 32 / len(wanted) - 3
    assert {one.loss for one in made} >= {4.0, 14.0}


@given(CANDIDATES, st.floats(100, 2800))
def test_heirs_differ_in_one_step_and_spend_the_budget(known, budget):
    spent = SPACE.spent(budget)
    like, *others = SPACE.near(known, budget)
    assert (like.neighbours, like.max_size, like.weights) == (known[0], known[3], known[4])
    assert abs(like.loss - known.loss) == min(abs(loss - known.loss) for loss in spent)
    for one in (like, *others):
        assert spent[one.loss] == one.length
    assert len(others) <= search.NEAR
    for one in others:
        kinds = [one[i] != like[i] for i in (0, 3, 4)]
        assert sum(kinds) == (one.loss == like.loss or any(kinds))
        odds = [each.neighbours * exp(each.loss) / each.max_size for each in (one, known)]
        if any(kinds[:2]) and min(spent) < one.loss < max(spent):
            assert abs(log(odds[0] / odds[1])) <= 0.25 + 1e-9  # half a step of the loss


@given(SCORES)
def test_the_front_is_what_nothing_excels(scores):
    def excelled(one):
        return any(
            (other.document_loss, -scores[other]) != (one.document_loss, -scores[one])
            and other.document_loss <= one.document_loss
            and scores[other] >= scores[one]
            for other in scores
        )

    found = front(scores)
    wanted = {(one.document_loss, scores[one]) for one in scores if not excelled(one)}
    assert [(one.document_loss, scores[one]) for one in found] == sorted(wanted)


@given(SCORES, st.none() | st.sampled_from([0.55, 0.7, 0.9]), st.floats(4, 3000))
def test_the_best_is_that_of_all_that_the_goal_allows(scores, target, limit):
    goal = Goal(utility=target, max_loss=limit, max_loss_per_word=12.0)
    allowed = [one for one in scores if one.loss <= 12 and one.document_loss <= limit + 1e-9]
    found = goal.best(scores)
    if target is None:
        assert (found is None) == (not allowed)
        assert found is None or scores[found] == max(scores[one] for one in allowed)
    else:
        reaching = [one.document_loss for one in allowed if scores[one] >= target]
        assert (found.document_loss if found else None) == min(reaching, default=None)
    assert found is None or found in front({one: scores[one] for one in allowed})


def line(count):
    """Candidates on a front, each a little dearer and better."""
    made = [Candidate(1, 8.0, 30 + 10 * i, 500, "tf") for i in range(count)]
    return {one: 0.5 + 0.05 * i for i, one in enumerate(made)}


def test_finalists_are_the_best_and_those_beside_it():
    scores = line(8)
    confirmed = finalists(Goal(utility=0.7), scores, scores.__getitem__)
    assert list(confirmed) == list(scores)[2:7]


def test_a_best_that_does_not_stand_is_followed_by_dearer_ones_until_one_does():
    scores = line(9)
    asked = []

    def confirm(one):
        asked.append(one)
        return scores[one] - 0.16

    goal = Goal(utility=0.55)
    confirmed = finalists(goal, scores, confirm)
    assert asked == list(scores)[:6]
    assert goal.best(confirmed) == list(scores)[5]
    assert list(finalists(Goal(utility=0.99), scores, scores.__getitem__)) == list(scores)[6:]


def test_one_that_the_best_excelled_by_chance_gets_its_turn():
    cheap, good, dear = line(3)
    scores = {cheap: 0.7, good: 0.69, dear: 0.9}
    truth = {cheap: 0.6, good: 0.66, dear: 0.9}
    goal = Goal(utility=0.65)
    assert front(scores) == [cheap, dear]
    assert goal.best(finalists(goal, scores, truth.__getitem__)) == good


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "name a goal"),
        ({"utility": 0.0}, "must be above 0"),
        ({"utility": float("nan")}, "must be above 0"),
        ({"utility": 87.0}, "more than all of it"),
        ({"max_loss": -1.0}, "must be above 0"),
        ({"max_loss": 99.0}, "the least that is tried is 100, 25 words at 4"),
        ({"max_loss_per_word": 3.0}, "the least that is tried is 4"),
    ],
)
def test_goals_that_make_no_sense_are_refused(given, says):
    with pytest.raises(SyntfError, match=says):
        search(Goal(**given), SPACE, lambda one, rung: 1.0)
