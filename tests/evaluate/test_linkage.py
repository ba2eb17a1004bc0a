"""The attacker who holds a text, compared with brute force, and with what no attack can beat."""

from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np
import polars as pl
import pytest

from syntf.core import entropy
from syntf.evaluate import linkage as module
from syntf.evaluate import measures as names
from syntf.evaluate.corpus import UNKNOWN, Corpus
from syntf.evaluate.linkage import Holder, linkage
from syntf.evaluate.release import Release
from syntf.mechanism.response import ResponseMechanism
from syntf.rows import Drawn, Scheme, draw


@dataclass
class NumberRows:
    """Rows whose texts are their own targets, such as ``1 4``; an empty text is unknown."""

    def encode(self, texts, source=entropy.system):
        return np.array([[int(n) for n in text.split()] or [-1, -1] for text in texts])

    def unknown(self, encoded):
        return encoded[:, 0] < 0


def scheme_of(answers, loss, draws, listed=True, shift=0, **others):
    mechanism = ResponseMechanism(answers, loss=loss)
    return Scheme(
        mechanism=mechanism, draws=draws, terms=[f"w{n}" for n in range(answers)], profiles=None,
        names=[str(n) for n in range(answers)],
        find_targets=lambda encoded: (np.maximum(encoded, 0)[:, :draws] + shift) % answers,
        digest="", listed=listed, **others,
    )  # fmt: skip


def corpus_of(texts, labels=None):
    texts = pl.Series("text", texts)
    labels = np.full(len(texts), UNKNOWN) if labels is None else np.array(labels)
    return Corpus(texts, labels, np.full(len(texts), UNKNOWN), np.arange(len(texts)) % 3 > 0)


def attack(corpus, drawn):
    rows = NumberRows()
    holder = Holder.of(corpus, rows, rows.encode(corpus.texts), drawn.rest)
    counts = np.zeros((len(corpus), 1))
    release = Release.of_rows(corpus, counts, drawn=drawn, holder=holder)
    return {one.name: one for one in linkage(corpus, release)}


def released(corpus, scheme, seed=0):
    return draw(scheme, NumberRows().encode(corpus.texts), entropy.Seeded(seed))


def chance_of(scheme, targets, answers):
    """Return the exact probability of a row: in order, or as the mean over targets says."""
    weights = [scheme.mechanism.weights(int(target)).tolist() for target in targets]
    product, total = Fraction(1), scheme.mechanism.total
    for place, answer in enumerate(answers):
        seen = [weights[place]] if scheme.listed else weights
        product *= Fraction(sum(row[answer] for row in seen), total * len(seen))
    return product


def brute_force(corpus, drawn, text, labelled=False):
    """Return the evidence of every row for a text, and the probability that its row is first."""
    encoded = NumberRows().encode(corpus.texts)
    odds = []
    for row in range(len(corpus)):
        scheme = drawn.first if drawn.pilot[row] else drawn.rest
        same_list = np.flatnonzero(drawn.pilot == drawn.pilot[row]).tolist()
        others = [each for each in same_list if each != text]
        answers = drawn.answers[row].tolist()
        targets = scheme.find_targets(encoded)
        usual = sum(chance_of(scheme, targets[each], answers) for each in others) / len(others)
        odds.append(chance_of(scheme, targets[text], answers) / usual)
    among = [
        row
        for row in range(len(corpus))
        if not labelled or corpus.labels[row] == corpus.labels[text]
    ]
    above = sum(odds[row] > odds[text] * (1 + Fraction(1, 10**6)) for row in among)
    equal = sum(abs(odds[row] / odds[text] - 1) <= Fraction(1, 10**6) for row in among)
    return odds, above, equal


CASES = {
    "one answer": (scheme_of(7, 2.0, 1), False),
    "two answers in order": (scheme_of(7, 2.0, 2), False),
    "two answers as a sum": (scheme_of(7, 2.0, 2, listed=False), False),
    "a pilot": (scheme_of(7, 2.0, 1), True),
}


@pytest.mark.parametrize("case", CASES)
def test_ranks_are_those_of_exact_likelihoods(case):
    scheme, with_pilot = CASES[case]
    generator = np.random.default_rng(3)
    texts = [f"{a} {b}" for a, b in generator.integers(0, 7, (20, 2)).tolist()]
    corpus = corpus_of(texts, generator.integers(0, 3, 20))
    drawn = released(corpus, scheme)
    if with_pilot:
        other = scheme_of(5, 2.0, 1, shift=1)
        pilot = np.arange(20) % 4 == 0
        answers = np.where(pilot[:, None], drawn.answers, released(corpus, other).answers)
        drawn = Drawn(answers, pilot, scheme, other)
    found = attack(corpus, drawn)
    exact = [brute_force(corpus, drawn, text)[1:] for text in range(20)]
    of_label = [brute_force(corpus, drawn, text, labelled=True)[1:] for text in range(20)]

    def first(ranks):
        return np.mean([(above == 0) / equal for above, equal in ranks])

    assert found[names.FIRST].value == pytest.approx(first(exact))
    assert found[names.FIRST_OF_LABEL].value == pytest.approx(first(of_label))
    tens = [min(1, max(0, (10 - above) / equal)) for above, equal in exact]
    assert found[names.TEN].value == pytest.approx(np.mean(tens))
    places = [above + (equal + 1) / 2 for above, equal in exact]
    assert found[names.PLACE].value == pytest.approx(np.mean(places))


@pytest.mark.parametrize("case", CASES)
def test_evidence_is_the_likelihood_ratio_with_and_without_the_own_row(case, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 5)
    scheme, _ = CASES[case]
    corpus = corpus_of([f"{n % 3} {n % 2}" for n in range(12)])
    drawn = released(corpus, scheme)
    encoded = NumberRows().encode(corpus.texts)
    holder = Holder.of(corpus, NumberRows(), encoded, scheme)
    part = module._Part.of(corpus, holder, drawn, scheme, np.arange(12))
    _, _, evidence = module._compare([part], corpus.labels)
    for text in range(len(corpus)):
        odds, _, _ = brute_force(corpus, drawn, text)
        assert evidence[0, text] == pytest.approx(log(sum(odds) / 12), abs=1e-5)
        assert evidence[1, text] == pytest.approx(log((sum(odds) - odds[text]) / 11), abs=1e-5)


def test_the_mean_over_others_loses_nothing_to_a_column_far_above():
    given = np.array([[0.0, -900.0, -901.0], [-5.0, -5.0, -5.0]])
    found = module._mean_of_others(given)
    with_others = np.log(np.exp(0) / 2 + np.exp(-1) / 2) - 900
    assert found[0] == pytest.approx([with_others, -np.log(2), -np.log(2)])
    assert found[1] == pytest.approx([-5, -5, -5])


def test_chance_and_the_label_alone_are_exact():
    labels = [0] * 20 + [1] * 9 + [UNKNOWN]
    corpus = corpus_of([f"{n % 5} 0" for n in range(30)], labels)
    found = attack(corpus, released(corpus, scheme_of(5, 0.1, 1)))
    alone = [20] * 20 + [9] * 9 + [1]
    first, ten, place = (found[name] for name in (names.FIRST, names.TEN, names.PLACE))
    assert (first.chance, ten.chance, place.chance) == pytest.approx((1 / 30, 1 / 3, 15.5))
    assert first.references[names.LABEL] == pytest.approx(np.mean([1 / n for n in alone]))
    assert ten.references[names.LABEL] == pytest.approx(np.mean([min(1, 10 / n) for n in alone]))
    assert place.references[names.LABEL] == pytest.approx(np.mean([(n + 1) / 2 for n in alone]))


def test_without_labels_nothing_is_said_about_them():
    corpus = corpus_of([f"{n % 5} 0" for n in range(30)])
    found = attack(corpus, released(corpus, scheme_of(5, 1.0, 1)))
    assert names.FIRST_OF_LABEL not in found
    assert not any(one.references for one in found.values())


def test_distinct_targets_without_noise_are_all_found():
    corpus = corpus_of([f"{n} 0" for n in range(40)], [0, 1] * 20)
    found = attack(corpus, released(corpus, scheme_of(40, 30.0, 1)))
    assert found[names.FIRST].value == found[names.TEN].value == found[names.PLACE].value == 1.0
    assert found[names.FIRST].light == "red"


def test_equal_targets_are_found_by_chance_however_small_the_noise():
    corpus = corpus_of(["3 0"] * 40)
    found = attack(corpus, released(corpus, scheme_of(40, 30.0, 1)))
    assert found[names.FIRST].value == pytest.approx(found[names.FIRST].chance)
    assert found[names.FIRST].light == "green"


@pytest.mark.parametrize("loss", [0.05, 1.0, 3.0])
def test_no_more_is_found_than_the_loss_allows(loss):
    # A random row of n is the own one. Its odds rise by e^loss twice: its answer is likelier for
    # this text, and the answers of all others are not.
    size = 60
    corpus = corpus_of([f"{n} 0" for n in range(size)])
    scheme = scheme_of(size, loss, 1)
    shares = [
        attack(corpus, released(corpus, scheme, seed))[names.FIRST].value for seed in range(9)
    ]
    assert np.mean(shares) <= 1.3 * np.exp(loss) / (np.exp(loss) + size - 1)
    if loss == 3.0:  # and the attack is worth its name
        assert np.mean(shares) > 5 / size


def test_the_order_of_the_rows_does_not_matter():
    generator = np.random.default_rng(5)
    corpus = corpus_of(
        [f"{n} 0" for n in generator.integers(0, 9, 50)], generator.integers(0, 2, 50)
    )
    drawn = released(corpus, scheme_of(9, 2.0, 1))
    order = generator.permutation(50)
    moved = Corpus(
        corpus.texts[order], corpus.labels[order], corpus.authors[order], corpus.train[order]
    )
    before, after = attack(corpus, drawn), attack(moved, drawn.at(order))
    for name, measure in before.items():
        assert after[name].value == pytest.approx(measure.value), name


def test_rare_texts_are_recognised_at_10_and_not_at_a_tenth():
    corpus = corpus_of([f"{n} 0" for n in range(100)] + ["200 0"] * 400)
    for loss in (10.0, 0.1):
        found = attack(corpus, released(corpus, scheme_of(300, loss, 1)))
        rare, common = found[names.RARE], found[names.MEMBER]
        assert common.chance == pytest.approx(0.01, abs=0.01)
        assert rare.among == 100
        if loss == 10.0:
            assert rare.value > 0.9 > 10 * rare.chance
            assert (rare.light, common.light) == ("red", "red")
        else:
            assert rare.value <= rare.chance + 0.1
            assert rare.light != "red"


def test_texts_without_a_known_word_are_not_looked_for():
    corpus = corpus_of(["", "1 0"] * 20)
    drawn = released(corpus, scheme_of(5, 1.0, 1))
    encoded = NumberRows().encode(corpus.texts)
    assert Holder.of(corpus, NumberRows(), encoded, drawn.rest).places.tolist() == [
        *range(1, 40, 2)
    ]
    nothing = corpus_of([""] * 30)
    assert attack(nothing, released(nothing, scheme_of(5, 1.0, 1))) == {}


def test_rows_that_belong_to_no_document_are_not_linked():
    corpus = corpus_of(["1 0"] * 30)
    release = Release(np.zeros((5, 1)), np.zeros(5), np.zeros(5), np.zeros((10, 1)))
    assert linkage(corpus, release) == []
