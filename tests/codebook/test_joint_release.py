"""The joint release of a small corpus, exactly: no document loses more than was asked for.

A release shows which documents were the pilot and what each document released. The probability of
every such release is computed as a fraction, over all choices of the pilot, and compared with that
of the same corpus after one document was changed.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.codebook.plan import Plan, make_plan
from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.core.exact import log_up
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader

PLANS = {
    "one pilot document of two": (2, Plan("topics", 1, 1.5, 3, 1, 1, 2, 1)),
    "one pilot document of three": (3, Plan("topics", 1, 1.5, 3, 1, 1, 2, 1)),
    "two pilot documents of three": (3, Plan("topics", 1, 1.5, 3, 1, 2, 3, 1)),
    "words in pairs": (2, Plan("words", 1, 1.5, 3, 2, 1, 2, 1)),
    "two draws each": (2, Plan("topics", 2, 0.75, 3, 1, 1, 2, 1)),
    "no pilot": (3, Plan("topics", 1, 1.5, 3, 1)),
}
"""Documents of a corpus, and how their loss of 1.5 is spent."""

LOSS = 1.5
DOCUMENTS = ((1, 2), (30, 31), (12,), (), (20, 21, 21), (25,), (33, 34), (0, 0, 0))


class Releases:
    """The exact distribution of the releases of small corpora.

    A document is a tuple of words. Two broken programs can be tried: one that sharpens the list by
    the true answers of the pilot (`by_truth`), and one in which the pilot answers twice (`twice`).
    """

    def __init__(self, encoder, plan, *, by_truth=False, twice=False):
        self.mechanism = DocumentMechanism(encoder, LOSS, plan)
        self.by_truth, self.twice = by_truth, twice
        self._chances, self._lists = {}, {}

    def targets(self, document, entry_list):
        encoder = self.mechanism.encoder
        starts = np.array([0, len(document)], dtype=np.int64)
        encoded = encoder.encode(Documents(starts, np.array(document, dtype=np.int32)))
        return entry_list.targets(encoded, encoder, self.mechanism.plan.draws)[0]

    def chances(self, document, entry_list):
        """The probability of each tuple of answers of one document, its draws together."""
        key = document, entry_list.digest
        if key not in self._chances:
            response = self.mechanism.response(entry_list)
            rows = [
                [Fraction(weight, response.total) for weight in response.weights(target).tolist()]
                for target in self.targets(document, entry_list).tolist()
            ]
            self._chances[key] = {
                answers: prod(row[answer] for row, answer in zip(rows, answers, strict=True))
                for answers in product(range(entry_list.answers), repeat=len(rows))
            }
        return self._chances[key]

    def sharpened(self, released):
        if released not in self._lists:
            self._lists[released] = self.mechanism.sharpen(np.array(released))
        return self._lists[released]

    def joint(self, documents):
        """The probability of every release: the pilot, and the answers of all documents."""
        general, size = self.mechanism.general, self.mechanism.plan.pilot
        found = Counter()
        for pilot in combinations(range(len(documents)), size):
            chosen = Fraction(1, comb(len(documents), size))
            rest = [place for place in range(len(documents)) if place not in pilot or self.twice]
            first = [self.chances(documents[place], general) for place in pilot]
            for released in product(*first):
                others = general
                if size and self.by_truth:
                    true = [self.targets(documents[place], general).tolist() for place in pilot]
                    others = self.sharpened(tuple(map(tuple, true)))
                elif size:
                    others = self.sharpened(released)
                chance = prod(map(dict.__getitem__, first, released), start=chosen)
                second = [self.chances(documents[place], others) for place in rest]
                for more in product(*second):
                    together = prod(map(dict.__getitem__, second, more), start=chance)
                    found[pilot, released, more, others.digest] += together
        assert sum(found.values()) == 1
        return found

    def worst_ratio(self, number):
        """The worst ratio between corpora that differ in one document; None if it is infinite."""
        base = list(DOCUMENTS[:number])
        original, worst = self.joint(base), Fraction(1)
        for place in range(number):
            for other in DOCUMENTS[number:]:
                changed = self.joint([*base[:place], other, *base[place + 1 :]])
                if changed.keys() != original.keys():
                    return None
                for seen, chance in original.items():
                    worst = max(worst, chance / changed[seen], changed[seen] / chance)
        return worst


@pytest.mark.parametrize("name", PLANS)
def test_no_document_loses_more_than_was_asked_for(toy_encoder, name):
    number, plan = PLANS[name]
    worst = Releases(toy_encoder, plan).worst_ratio(number)
    assert log_up(worst) <= LOSS
    assert float(worst) > exp(LOSS) * 0.99  # the bound is attained, so the test has power


def test_the_brute_force_finds_a_list_sharpened_by_true_answers(toy_encoder):
    number, plan = PLANS["one pilot document of two"]
    broken = Releases(toy_encoder, plan, by_truth=True)
    assert broken.worst_ratio(number) is None  # a release that another text makes impossible


def test_the_brute_force_finds_a_pilot_that_is_drawn_twice(toy_encoder):
    number, plan = PLANS["one pilot document of two"]
    worst = Releases(toy_encoder, plan, twice=True).worst_ratio(number)
    assert log_up(worst) > 1.9 * LOSS


# No setting can be named that loses more than asked


def check_plan(plan, loss, outputs, leaves):
    """Check the exact loss of both lists of a plan."""
    assert Fraction(plan.loss_per_draw) * plan.draws <= Fraction(loss)
    sizes = [(plan.entries, plan.size)]
    if plan.pilot:
        sizes.append((plan.sharpened_entries, plan.sharpened_size))
    for entries, size in sizes:
        most = leaves if plan.kind == "topics" else outputs
        response = ResponseMechanism(comb(min(entries, most), size), loss=plan.loss_per_draw)
        assert Fraction(log_up(response.ratio)) * plan.draws <= Fraction(loss)


@given(
    loss=st.floats(1e-3, 5e3),
    documents=st.one_of(st.none(), st.integers(0, 10**9)),
    pilot=st.booleans(),
    near=st.booleans(),
    named=st.booleans(),
    leaves=st.integers(2, 10_000),
)
def test_every_plan_keeps_to_the_loss(loss, documents, pilot, near, named, leaves):
    plan = make_plan(loss, documents, pilot=pilot, near=near, named=named, leaves=leaves)
    check_plan(plan, loss, 16_000, leaves)


@given(loss=st.floats(0, 1e6, exclude_min=True), answers=st.integers(1, 2**55))
@settings(max_examples=200)
def test_every_response_keeps_to_its_loss_or_is_refused(loss, answers):
    try:
        response = ResponseMechanism(answers, loss=loss)
    except SyntfError:  # the loss is below what whole numbers can express
        assert loss < 1e-6 * answers
        return
    assert log_up(response.ratio) <= loss
    assert response.background >= 1


@pytest.fixture(scope="module")
def prepared(toy_encoder, toy_vectors):
    reader = WordReader(Analyzer(), toy_vectors.words)

    def made(**chosen):
        settings = Settings.from_preset("document", vectors=toy_vectors, **chosen)
        return DocumentAnonymizer(settings, reader, toy_encoder, entropy.system)

    return made


@given(loss=st.floats(1e-2, 2e3), documents=st.one_of(st.none(), st.integers(0, 10**6)))
@settings(max_examples=40)
def test_the_guarantee_states_the_loss_that_was_asked_for(prepared, loss, documents):
    anonymizer = prepared(document_loss=loss)
    mechanism = anonymizer.mechanism(documents)
    guarantee = anonymizer.guarantee(mechanism)
    assert guarantee.loss_per_document == loss == guarantee.epsilon
    exact = Fraction(log_up(Fraction(guarantee.loss_ratio))) * guarantee.document.draws
    assert exact <= Fraction(loss)


@pytest.mark.parametrize("loss", [0, -1, float("nan"), float("inf"), "ten", True])
def test_an_unusable_loss_is_refused(loss):
    with pytest.raises(SyntfError, match="document_loss"):
        Settings.from_preset("document", document_loss=loss)
