"""Counts that cannot have been drawn from a table are refused; drawn counts never are."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.verification import plausibility
from syntf.verification.plausibility import Plausibility, RepeatedRows

OUTPUTS = 60
WORDS = "the of and to in a is that it was for on are with as they be at one have this".split()


def rows(lists, outputs):
    """Counts from lists of output words."""
    counted = [sorted(Counter(words).items()) for words in lists]
    indptr = np.cumsum([0, *map(len, counted)], dtype=np.int32)
    columns = np.array([word for row in counted for word, _ in row], dtype=np.int32)
    counts = np.array([count for row in counted for _, count in row], dtype=np.int32)
    return Rows(counts, columns, indptr, (len(lists), outputs))


def neighbourhood(epsilon, count=1, outputs=OUTPUTS):
    near = [[(word + place) % outputs for place in range(count)] for word in range(outputs)]
    return NeighbourhoodMechanism(near, outputs=outputs, epsilon=epsilon)


def graded(epsilon, outputs=OUTPUTS):
    return ExponentialMechanism(np.eye(outputs)[::-1] * 0.9, epsilon=epsilon)


def check(mechanism, lists, draws="systematic"):
    """Look at the rows in two shards."""
    length, half = len(lists[0]), len(lists) // 2
    found = Plausibility(mechanism, length, len(lists), draws)
    before = RepeatedRows(mechanism.shape[1])
    for first, some in ((0, lists[:half]), (half, lists[half:])):
        if some:
            counts = rows(some, mechanism.shape[1])
            found.add(counts, first, before.find(counts))
    return found.check()


@given(st.lists(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), max_size=6)))
def test_repeated_rows_are_those_that_occurred_in_any_shard_before(shards):
    before, seen = RepeatedRows(5), set()
    for lists in shards:
        repeated = []
        for place, words in enumerate(lists):
            row = tuple(sorted(words))
            repeated += [place] if row in seen else []
            seen.add(row)
        assert before.find(rows(lists, 5)).tolist() == repeated


MECHANISMS = [
    neighbourhood(0.02), neighbourhood(2.0), neighbourhood(16.0), neighbourhood(16.0, 3),
    graded(0.02), graded(8.0), graded(47.5),
]  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("length", [1, 2, 20, 125])
@pytest.mark.parametrize("kind", ["one word", "two words", "all words", "empty"])
def test_drawn_counts_pass_whatever_the_documents_are(mechanism, length, kind):
    inputs = {
        "one word": [7] * length, "two words": [3, 4] * length, "empty": [OUTPUTS] * length,
        "all words": list(range(OUTPUTS)) * length,
    }[kind][:length]  # fmt: skip
    inputs = [min(word, mechanism.shape[0] - 1) for word in inputs]
    lists = mechanism.sample(np.array([inputs] * 300)).tolist()
    assert check(mechanism, lists).status == "ok"


def texts(documents, length, outputs):
    """Counts of words as texts have them: a few words are frequent."""
    random = np.random.default_rng(5)
    weights = 1 / np.arange(1, outputs + 1)
    return random.choice(outputs, (documents, length), p=weights / weights.sum()).tolist()


@pytest.mark.parametrize("epsilon", [0.02, 0.2])
@pytest.mark.parametrize(("documents", "length"), [(1, 125), (300, 125), (300, 20), (1000, 10)])
def test_true_counts_with_a_small_stated_loss_are_refused(epsilon, documents, length):
    mechanism = neighbourhood(epsilon, outputs=4000)
    with pytest.raises(SyntfError, match="cannot have been drawn from this table"):
        check(mechanism, texts(documents, length, 4000))


def test_one_impossible_row_among_many_is_named():
    mechanism = neighbourhood(16.0, outputs=4000)
    lists = mechanism.sample(np.arange(500 * 125).reshape(500, 125) % 4000).tolist()
    assert check(mechanism, lists).status == "ok"
    lists[321] = [5] * 125
    with pytest.raises(SyntfError, match="document 321"):
        check(mechanism, lists)


@pytest.mark.parametrize("place", [3, 400])
def test_a_copied_row_is_refused(place):
    mechanism = neighbourhood(16.0, outputs=4000)
    lists = mechanism.sample(np.arange(500 * 125).reshape(500, 125) % 4000).tolist()
    lists[place] = lists[2][::-1]
    with pytest.raises(SyntfError, match=f"document {place} has the same counts"):
        check(mechanism, lists)


def test_a_copied_row_of_independent_draws_is_refused():
    mechanism = graded(47.5, outputs=400)
    lists = mechanism.sample(np.random.default_rng(1).integers(0, 400, (60, 150))).tolist()
    assert check(mechanism, lists, "independent").status == "ok"
    lists[59] = lists[0]
    with pytest.raises(SyntfError, match="document 59 has the same counts"):
        check(mechanism, lists, "independent")


def test_short_rows_may_repeat():
    assert check(neighbourhood(16.0), [[4]] * 5000).status == "ok"
    assert check(neighbourhood(16.0), [[4, 5]] * 50).status == "ok"


# The theorems, by exhaustion on small tables

TINY = [
    neighbourhood(1.0, outputs=3), neighbourhood(6.0, outputs=3), neighbourhood(6.0, 2, 3),
    graded(3.0, 3),
]  # fmt: skip
LENGTH = 4


def probabilities(mechanism, inputs):
    """The exact probability of every row, for the input words of a document."""
    table = [
        [Fraction(int(weight), mechanism.total) for weight in mechanism.weights(word)]
        for word in inputs
    ]
    found = Counter()
    for drawn in product(range(3), repeat=len(inputs)):
        chance = Fraction(1)
        for row, word in zip(table, drawn, strict=True):
            chance *= row[word]
        found[tuple(sorted(drawn))] += chance
    return found


def bounds(mechanism, drawn, draws):
    """The ratios A/B of all urns, and the bound on the probability, for one row."""
    made = Plausibility(mechanism, LENGTH, 1, draws)
    counts = rows([drawn], 3)
    sizes = np.diff(counts.indptr)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausibility, "NEGLIGIBLE", -np.inf)
        made._add_ratios(*made._find_ratios(counts, sizes, slice(0, 1)))
    (chance,) = made._largest_chances(counts, sizes, np.array([0]))
    assert (made._mean <= made._best[sizes[0]] + 1e-9).all()
    return np.exp(made._mean), exp(chance)


@pytest.mark.parametrize("mechanism", TINY)
def test_the_expected_ratio_is_at_most_one_for_every_document(mechanism):
    every = list(combinations_with_replacement(range(3), LENGTH))
    known = {drawn: bounds(mechanism, drawn, "systematic") for drawn in every}
    for inputs in combinations_with_replacement(range(mechanism.shape[0]), LENGTH):
        chances = probabilities(mechanism, inputs)
        assert (sum(float(chances[row]) * known[row][0] for row in every) <= 1 + 1e-9).all()
        for row in every:
            assert float(chances[row]) <= known[row][1] * (1 + 1e-9)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10), min_size=3, max_size=3).filter(any))
def test_independent_draws_have_no_larger_chance_than_the_bound(weights):
    mechanism = TINY[1]
    mixture = [
        sum(
            Fraction(weight * int(mechanism.weights(word)[output]), sum(weights) * mechanism.total)
            for word, weight in enumerate(weights)
        )
        for output in range(3)
    ]
    for drawn in combinations_with_replacement(range(3), LENGTH):
        orders = len(
            set(product(range(3), repeat=LENGTH))
            & {order for order in product(range(3), repeat=LENGTH) if tuple(sorted(order)) == drawn}
        )
        chance = Fraction(orders)
        for word in drawn:
            chance *= mixture[word]
        assert float(chance) <= bounds(mechanism, drawn, "independent")[1] * (1 + 1e-9)
