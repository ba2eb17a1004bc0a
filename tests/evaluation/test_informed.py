"""The analyst who knows the mechanism of a release of whole documents."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from syntf.codebook.lists import EntryList
from syntf.evaluation.informed import (
    ReleasedEntries,
    discriminant_scores,
    entry_scores,
    label_probabilities,
    labels_for_f1,
)
from syntf.pipeline.document import Drawn

NO_ROWS = np.zeros(0, dtype=np.int32)


def topics(vectors, size=1):
    return EntryList("topics", np.array(vectors, dtype=np.int16), NO_ROWS, size)


def words(vectors, rows, size=1):
    return EntryList("words", np.array(vectors, dtype=np.int16), np.array(rows, np.int32), size)


def test_entries_of_both_lists_are_collected_in_the_order_of_documents():
    general, sharpened = topics([[3, 4], [5, 0]]), topics([[0, 5], [4, 3], [3, 4]])
    pilot = np.array([False, True, False, True])
    drawn = Drawn(np.array([[2], [1], [0], [0]]), pilot, general, sharpened)
    released = ReleasedEntries.of(drawn)
    assert released.entries.toarray().tolist() == [
        [0, 0, 0, 0, 1], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0],
    ]  # fmt: skip
    assert released.one_topic
    # Each list is centred by what its own documents released: (.6, .8) and (1, 0) of the pilot.
    assert released.vectors[[1, 3]].round(6).tolist() == [[0.2, -0.4], [-0.2, 0.4]]
    assert released.vectors[[0, 2]].round(6).tolist() == [[0.3, -0.1], [-0.3, 0.1]]
    assert released.positions.shape == (5, 2)
    assert np.allclose(released.positions[4], released.vectors[0])


def test_a_word_is_the_same_entry_in_both_lists():
    general = words([[1, 0], [0, 1], [1, 0]], rows=[2, 5, 7])
    sharpened = words([[0, 1], [1, 0]], rows=[5, 7], size=2)
    pilot = np.array([True, False])
    released = ReleasedEntries.of(Drawn(np.array([[1], [0]]), pilot, general, sharpened))
    assert not released.one_topic
    assert released.entries[0].indices.tolist() == [5]
    assert sorted(released.entries[1].indices.tolist()) == [5, 7]


def test_label_probabilities_follow_counts_where_there_are_many():
    """Both topics lie at the same place, so only the counted labels tell them apart."""
    topic = np.repeat([0, 1], 400)
    label = np.concatenate([np.repeat([0, 1], [300, 100]), np.repeat([0, 1], [40, 360])])
    same = np.zeros((2, 2))
    found = label_probabilities(topic, label, same, same[topic], 2)
    assert found[0, 0] == pytest.approx(0.75, abs=0.02)
    assert found[1, 0] == pytest.approx(0.10, abs=0.02)
    assert np.allclose(found.sum(axis=1), 1)


def test_label_of_a_topic_that_nobody_released_follows_its_position():
    places = np.array([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.0], [-0.9, 0.1], [0.95, -0.1]])
    topic = np.array([0, 1, 2, 3] * 20)
    label = np.array([0, 0, 1, 1] * 20)
    found = label_probabilities(topic, label, places, places[topic], 2)
    assert found[4].argmax() == 0
    assert np.isfinite(found).all()


def test_discriminant_matches_the_exact_posterior_of_two_gaussians():
    generator = np.random.default_rng(3)
    label = np.repeat([0, 1], 20_000)
    data = generator.normal(size=(40_000, 2)) + np.where(label[:, None] == 0, [1.0, 0], [-1.0, 0])
    asked = np.array([[0.5, 3.0], [-0.2, 0.0]])
    found = discriminant_scores(data, label, asked, 2)
    exact = 1 / (1 + np.exp(-2 * asked[:, 0] / 1.05))  # 5 % of the variance is added
    assert np.exp(found[:, 0]) == pytest.approx(exact, abs=0.02)


def test_naive_bayes_on_entries_by_hand():
    entries = csr_matrix([[2, 0], [1, 1], [0, 3]])
    found = entry_scores(entries, np.array([0, 0, 1]), csr_matrix([[1, 0], [0, 2]]), 2)
    frequent = np.array([3.5, 4.5]) / 8
    first = (np.array([3, 1]) + 0.1 * frequent) / 4.1
    second = (np.array([0, 3]) + 0.1 * frequent) / 3.1
    assert found[0] == pytest.approx(np.log([first[0] * 2 / 3, second[0] / 3]))
    assert found[1] == pytest.approx(np.log([first[1] ** 2 * 2 / 3, second[1] ** 2 / 3]))


@pytest.mark.parametrize("kind", ["topics", "sets of topics", "words"])
def test_informed_analyst_learns_labels_of_every_kind_of_answer(kind):
    generator = np.random.default_rng(5)
    vectors = [[100, 0, 0], [90, 40, 0], [0, 0, 100], [0, 40, 90]]
    entry_list = {
        "topics": topics(vectors),
        "sets of topics": topics(vectors, size=2),
        "words": words(vectors, rows=[1, 4, 6, 9]),
    }[kind]
    labels = np.array(["left", "right"])[generator.integers(0, 2, 400)]
    true = np.where(labels == "left", 0, 2) + generator.integers(0, 2, 400)
    if kind == "sets of topics":  # sets {0, 1} and {2, 3} are numbers 0 and 5
        true = np.where(labels == "left", 0, entry_list.answers - 1)
    noise = generator.integers(0, entry_list.answers, 400)
    answers = np.where(generator.random(400) < 0.8, true, noise).reshape(-1, 1)
    released = ReleasedEntries.of(Drawn(answers, np.zeros(400, dtype=bool), entry_list))
    train = np.arange(400) < 300
    predicted = released.predict(labels, train)
    assert np.mean(predicted == labels[~train]) > 0.8


def test_few_documents_can_be_learnt_from():
    released = ReleasedEntries.of(
        Drawn(np.array([[0], [1], [0]]), np.zeros(3, dtype=bool), words([[1, 0], [0, 1]], [0, 1]))
    )
    predicted = released.predict(np.array(["a", "b", "a"]), np.array([True, True, False]))
    assert predicted.tolist() == ["a"]


def expected_f1(probabilities, documents, labels):
    joint = probabilities * documents[:, None]
    sizes = joint.sum(axis=0)
    found = sum(
        2 * sizes[label] * joint[labels == label, label].sum()
        / (sizes[label] + documents[labels == label].sum())
        for label in range(len(sizes))
    )  # fmt: skip
    return found / sizes.sum()


@given(st.integers(0, 10_000), st.integers(2, 3), st.integers(1, 5))
def test_chosen_labels_are_at_least_as_good_as_the_most_probable(seed, classes, rows):
    generator = np.random.default_rng(seed)
    probabilities = generator.dirichlet(np.ones(classes), rows)
    documents = generator.integers(1, 30, rows).astype(float)
    chosen = expected_f1(probabilities, documents, labels_for_f1(probabilities, documents))
    plain = expected_f1(probabilities, documents, probabilities.argmax(axis=1))
    best = max(
        expected_f1(probabilities, documents, np.array(labels))
        for labels in product(range(classes), repeat=rows)
    )
    assert plain - 1e-9 <= chosen <= best + 1e-9


def test_a_label_that_is_never_the_most_probable_is_predicted_where_it_is_likely():
    """Label 1 has a share of 40 % in one of ten rows and of 5 % in the others."""
    probabilities = np.array([[0.6, 0.4]] + [[0.95, 0.05]] * 9)
    documents = np.full(10, 50.0)
    assert labels_for_f1(probabilities, documents).tolist() == [1] + [0] * 9
