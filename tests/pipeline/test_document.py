"""The document unit: the joint release of all documents loses at most the loss for each."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from syntf.codebook.plan import Plan
from syntf.core import entropy
from syntf.core.exact import log_up
from syntf.pipeline.document import DocumentMechanism
from syntf.text.documents import Documents


def encode(encoder, lists):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    terms = np.array([term for one in lists for term in one], dtype=np.int32)
    return encoder.encode(Documents(starts, terms))


def plans():
    topics = Plan("topics", 1, 1.5, 3, 1, 2, 2, 1)
    words = Plan("words", 1, 1.5, 4, 2, 1, 3, 1)
    return {"topics": topics, "words": words, "no pilot": Plan("topics", 1, 1.5, 4, 1)}


def joint_distribution(mechanism, encoded, pilot):
    """The exact probability of every joint release, for a fixed choice of the pilot."""
    general = mechanism.general
    first, rest = np.flatnonzero(pilot), np.flatnonzero(~pilot)

    def rows(entry_list, places):
        response = mechanism.response(entry_list)
        targets = entry_list.targets(encoded.at(places), mechanism.encoder)[:, 0]
        weights = [response.weights(int(target)).tolist() for target in targets]
        return [[Fraction(weight, response.total) for weight in row] for row in weights]

    found = {}
    pilot_rows = rows(general, first)
    for answers in product(range(general.answers), repeat=len(first)):
        chance = Fraction(1)
        for row, answer in zip(pilot_rows, answers, strict=True):
            chance *= row[answer]
        others = mechanism.sharpen(np.array(answers).reshape(-1, 1)) if len(first) else general
        other_rows = rows(others, rest)
        for more in product(range(others.answers), repeat=len(rest)):
            joint = chance
            for row, answer in zip(other_rows, more, strict=True):
                joint *= row[answer]
            found[answers, more, others.digest] = joint
    assert sum(found.values()) == 1
    return found


@pytest.mark.parametrize("kind", ["topics", "words", "no pilot"])
@pytest.mark.parametrize("changed", range(4))
def test_every_joint_release_keeps_to_the_loss_of_each_document(toy_encoder, kind, changed):
    """Brute force over all joint releases of four documents, one of which is changed."""
    plan = plans()[kind]
    mechanism = DocumentMechanism(toy_encoder, 1.5, plan)
    pilot = np.array([plan.pilot > 0, plan.pilot > 1, False, False])
    before = [[1, 2], [30, 31], [12], [20, 21, 21]]
    worst = Fraction(1)
    original = joint_distribution(mechanism, encode(toy_encoder, before), pilot)
    for other in ([], [0, 0, 0], [33, 34], [25]):
        after = list(before)
        after[changed] = other
        changed_distribution = joint_distribution(mechanism, encode(toy_encoder, after), pilot)
        assert changed_distribution.keys() == original.keys()
        for release, chance in original.items():
            ratio = chance / changed_distribution[release]
            worst = max(worst, ratio, 1 / ratio)
    assert log_up(worst) <= 1.5
    assert float(worst) > exp(1.5) * 0.99  # the bound is attained, so the test has power


@pytest.mark.slow
def test_draws_follow_the_exact_probabilities(toy_encoder):
    """The program draws from the distribution that the brute force goes through."""
    plan = plans()["topics"]
    encoded = encode(toy_encoder, [[1, 2], [30, 31], [12], [20]])
    source = entropy.Seeded(11)
    mechanism = DocumentMechanism(toy_encoder, 1.5, plan, source)
    general = mechanism.general
    kept = 0
    for _ in range(2000):
        drawn = mechanism.release(encoded)
        assert drawn.pilot.sum() == 2
        again = mechanism.sharpen(drawn.answers[drawn.pilot])
        assert again.digest == drawn.sharpened.digest
        place = int(np.flatnonzero(drawn.pilot)[0])
        target = general.targets(encoded.at(np.array([place])), toy_encoder)[0, 0]
        kept += drawn.answers[place, 0] == target
    share = float(mechanism.response(general).keep_probability)
    assert abs(kept / 2000 - share) < 4 * (share * (1 - share) / 2000) ** 0.5


def test_the_pilot_does_not_depend_on_the_texts(toy_encoder):
    masks = []
    for lists in ([[1], [2], [3], [4]], [[], [39, 38], [7] * 20, [0]]):
        mechanism = DocumentMechanism(toy_encoder, 1.5, plans()["topics"], entropy.Seeded(3))
        masks.append(mechanism.release(encode(toy_encoder, lists)).pilot.tolist())
    assert masks[0] == masks[1]


def test_counts_and_labels_follow_from_the_released_answers(toy_encoder):
    mechanism = DocumentMechanism(toy_encoder, 1.5, plans()["topics"], entropy.Seeded(3))
    drawn = mechanism.release(encode(toy_encoder, [[1], [2], [3], [4]]))
    counts, labels = mechanism.described(drawn)
    assert counts.shape == (4, len(mechanism.terms))
    sums = np.add.reduceat(counts.data, counts.indptr[:-1])
    assert len(set(sums.tolist())) == 1
    assert all(labels)
