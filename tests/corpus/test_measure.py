"""The noise is the one that is paid for, on every coordinate; labels cost what they should."""

from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import exp, sqrt

import numpy as np
import pytest

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.corpus import measure as measuring
from syntf.corpus.documents import Documents
from syntf.corpus.measure import Budget, measure
from syntf.corpus.noisy import FIRST, LABELS, SIZE, WORDS, Measurement
from syntf.privacy import zcdp

LISTED = ("animals", "music", "cars", "never")
ARRAYS = ("size", "counts", "first", "words")
BUDGETS = [Budget(1.0, 1e-6), Budget(0.5, 1e-6, 3), Budget(4.0, 1e-5, 2, selects_labels=True)]


@pytest.fixture
def noisy_of(public):
    """A function that measures a corpus."""

    def made(corpus, budget=BUDGETS[0], labels=LISTED, run=measure, **more):
        with corpus.documents(batch=64) as documents:
            listed = None if budget.selects_labels else labels
            return run(documents, public, budget, labels=listed, **more)

    return made


@pytest.mark.parametrize("budget", BUDGETS)
def test_all_measurements_together_cost_the_budget(corpus_of, noisy_of, noise_of, budget):
    drawn = noise_of(lambda variance, size: np.zeros(size))
    noisy = noisy_of(corpus_of(30_000), budget)
    names = [each.name for each in noisy.measurements]
    assert names == [SIZE, *[LABELS] * budget.selects_labels, FIRST, WORDS]
    assert [each.variance for each in noisy.measurements] == [variance for variance, _ in drawn]
    rho = sum((each.rho for each in noisy.measurements), Fraction(0))
    person = zcdp.of_group(rho, budget.documents_per_person)
    assert zcdp.epsilon(person, budget.noise_delta) <= budget.epsilon
    assert zcdp.epsilon(person * Fraction(101, 100), budget.noise_delta) > budget.epsilon


def test_few_documents_pay_for_no_words(corpus_of, noisy_of, noise_of):
    noise_of(lambda variance, size: np.zeros(size))
    noisy = noisy_of(corpus_of(500))
    assert [each.name for each in noisy.measurements] == [SIZE, FIRST]
    assert len(noisy.words) == len(noisy.columns) == 0
    rho = sum((each.rho for each in noisy.measurements), Fraction(0))
    assert zcdp.epsilon(rho * Fraction(1001, 1000), 1e-6) > 1.0


def test_whether_words_are_measured_depends_on_the_noisy_size(corpus_of, noisy_of, noise_of):
    def with_size(noise):
        noise_of(lambda variance, size: np.full(size, noise if size == 1 else 0))
        return noisy_of(corpus_of(500))

    assert len(with_size(10_000).words) > 0
    assert len(with_size(0).words) == 0


# Faults: what a measurement may do wrong, found with noise that is known.


def faults(run, corpus_of, noise_of, noisy_of):
    """Return what is wrong with a way to measure."""
    found = set()
    corpus = corpus_of(12_000)
    noise_of(lambda variance, size: np.zeros(size))
    exact = noisy_of(corpus)
    assert len(exact.words)  # both sums are tried
    numbers = count(1)
    noise_of(lambda variance, size: [next(numbers) for _ in range(size)])
    known = noisy_of(corpus, run=run)
    noise = [getattr(known, name) - getattr(exact, name) for name in ARRAYS]
    if any((part == 0).any() for part in noise):
        found.add("no noise on some coordinate")
    added = np.concatenate([part[part != 0] for part in noise])
    if len(np.unique(added)) < len(added):
        found.add("noise used twice")
    variances = []
    for seed, size in ((0, 12_000), (1, 12_000), (2, 12_500)):
        drawn = noise_of(lambda variance, size: np.zeros(size))
        noisy_of(corpus_of(size, seed=seed), run=run)
        variances.append([variance for variance, _ in drawn])
    if any(each != variances[0] for each in variances):
        found.add("variance depends on data")
    noise_of(lambda variance, size: np.zeros(size))
    if noisy_of(corpus.at(range(100)), run=run).labels != LISTED:
        found.add("labels depend on data")
    return found


def on_cells_that_are_not_zero(documents, public, budget, **more):
    noisy = measure(documents, public, budget, **more)
    first = noisy.first.copy()
    first[3] = 0  # the count of a label that never occurs
    return replace(noisy, first=first)


def one_draw_for_two_parts(documents, public, budget, **more):
    noisy = measure(documents, public, budget, **more)
    quiet = measuring.DiscreteGaussian
    measuring.DiscreteGaussian = lambda variance: type(
        "Zero", (), {"sample": lambda self, size, source: np.zeros(size, dtype=np.int64)}
    )()
    exact = measure(documents, public, budget, **more)
    measuring.DiscreteGaussian = quiet
    first = noisy.first.copy()
    first[1] = exact.first[1] + (first[0] - exact.first[0])
    return replace(noisy, first=first)


def sigma_from_the_largest_number(documents, public, budget, **more):
    largest = int(documents.label_counts().max())
    return measure(documents, public, Budget(1.0, 1e-6 * (1 + largest / 1e6)), **more)


def labels_from_the_data(documents, public, budget, labels, **more):
    occur = tuple(label for label in labels if label in documents.labels)
    return measure(documents, public, budget, labels=occur, **more)


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        (measure, set()),
        (on_cells_that_are_not_zero, {"no noise on some coordinate"}),
        (one_draw_for_two_parts, {"noise used twice"}),
        (sigma_from_the_largest_number, {"variance depends on data"}),
        (labels_from_the_data, {"labels depend on data"}),
    ],
)
def test_broken_measurements_are_found(corpus_of, noise_of, noisy_of, run, fault):
    if run is labels_from_the_data:  # its sums have another shape than those they are compared with
        noise_of(lambda variance, size: np.zeros(size))
        assert noisy_of(corpus_of(100)).labels != noisy_of(corpus_of(100), run=run).labels
    else:
        assert faults(run, corpus_of, noise_of, noisy_of) == fault


def test_noise_comes_from_the_source_that_is_given(corpus_of, noisy_of):
    corpus = corpus_of(200)
    first = noisy_of(corpus, source=entropy.Seeded(1))
    again = noisy_of(corpus, source=entropy.Seeded(1))
    other = noisy_of(corpus, source=entropy.Seeded(2))
    assert (first.first == again.first).all()
    assert (first.first != other.first).all()


# Labels that are not public.


def gaussian(variance, tail=12):
    """The probabilities of a discrete Gaussian from −tail·σ to tail·σ."""
    edge = int(tail * sqrt(variance))
    weights = np.exp(-(np.arange(-edge, edge + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


def released(count, threshold, variance):
    """The probabilities of what is released of a label: its noisy count, or, last, nothing."""
    edge = len(gaussian(variance)) // 2
    counts = np.arange(-edge, edge + 1) + count
    line = np.zeros(3 * edge + 200)
    shown = counts >= threshold
    line[counts[shown]] = gaussian(variance)[shown]
    line[-1] = gaussian(variance)[~shown].sum() if count else 1.0
    return line


def lost(one, other, epsilon):
    """The least δ with which one distribution is (ε, δ)-close to another."""
    return np.maximum(one - exp(epsilon) * other, 0).sum()


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_label_of_one_person_costs_what_the_threshold_was_paid_for(most):
    budget = Budget(2.0, 1e-3, most, selects_labels=True)
    variance = 4 * most**2 * 10
    threshold = budget.threshold(Measurement(LABELS, 1, variance))
    rho = zcdp.of_group(zcdp.rho(1, variance), most)
    epsilon = zcdp.epsilon(rho, budget.noise_delta)

    def shown(documents, threshold):
        return 1 - released(documents, threshold, variance)[-1]

    paid = budget.delta - budget.noise_delta
    assert max(most * shown(1, threshold), shown(most, threshold)) <= paid
    assert shown(most, threshold - round(sqrt(variance))) > paid
    for before in range(60):  # documents of other persons with this label
        one, other = (released(n, threshold, variance) for n in (before, before + most))
        assert max(lost(one, other, epsilon), lost(other, one, epsilon)) <= budget.delta


def test_only_frequent_labels_exist(corpus_of, noisy_of, noise_of):
    noise_of(lambda variance, size: np.zeros(size))
    budget = Budget(1.0, 1e-6, 1, selects_labels=True)
    names = [f"{number:02}" for number in range(30)]
    corpus = corpus_of(1)
    corpus = corpus.at([0] * sum(range(5, 300, 10)))
    corpus.labels = [name for i, name in enumerate(names) for _ in range(5 + 10 * i)]
    noisy = noisy_of(corpus, budget)
    threshold = budget.threshold(next(m for m in noisy.measurements if m.name == LABELS))
    assert noisy.labels == tuple(n for i, n in enumerate(names) if 5 + 10 * i >= threshold)
    assert 0 < len(noisy.labels) < 30
    assert (noisy.counts >= threshold).all()


def test_public_topics_take_the_place_of_labels(corpus_of, noisy_of, public):
    corpus = corpus_of(300)
    corpus.labels = [str(number) for number in range(300)]  # each label is unique
    selected = noisy_of(corpus, Budget(1.0, 1e-6, 1, selects_labels=True))
    without = noisy_of(corpus, labels=None)
    for noisy in (selected, without):
        assert noisy.is_by_topic
        assert noisy.labels == public.topics(20)[1]
        assert noisy.labels[-1].endswith("nothing known")
        assert noisy.directions(public).shape == (len(noisy.labels), 8)


def test_an_empty_corpus_is_measured_like_any_other(public, noise_of):
    noise_of(lambda variance, size: np.zeros(size))
    for budget in BUDGETS:
        with Documents(40, 8) as documents:
            labels = None if budget.selects_labels else LISTED
            noisy = measure(documents, public, budget, labels=labels)
        assert not noisy.size.any()
        assert not noisy.first.any()


def test_a_list_of_labels_is_checked_before_anything_is_measured(public):
    with Documents(40, 8) as documents:
        for labels in ([], [str(number) for number in range(5001)]):
            with pytest.raises(SyntfError, match="number of labels"):
                measure(documents, public, BUDGETS[0], labels=labels)
