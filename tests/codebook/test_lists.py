"""Lists of entries: cuts of the tree, lists that follow a pilot, and sets of words."""

from itertools import combinations

import numpy as np
import pytest

from syntf.codebook.encoder import Encoded
from syntf.codebook.frequency import estimate
from syntf.codebook.lists import (
    EntryList,
    sharpened_topics,
    sharpened_words,
    topic_list,
    word_list,
)
from syntf.codebook.profiles import TOPIC_COUNTS, make_profiles
from syntf.core import entropy
from syntf.core.counts import matrix
from syntf.mechanism.response import ResponseMechanism
from syntf.text.documents import Documents


def encode(encoder, lists) -> Encoded:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    terms = np.array([term for one in lists for term in one], dtype=np.int32)
    return encoder.encode(Documents(starts, terms))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_cut_covers_every_leaf_once(toy_codebook, size):
    assert len(topic_list(toy_codebook, size)) == size


def test_a_list_has_at_most_as_many_topics_as_the_tree_has_leaves(toy_codebook):
    assert len(topic_list(toy_codebook, 99)) == 4


def test_the_widest_node_is_split_first(toy_codebook):
    vectors = topic_list(toy_codebook, 3).vectors.tolist()
    nodes = toy_codebook.prototypes
    assert vectors == nodes[[1, 5, 6]].tolist()


def test_a_sharpened_list_splits_where_the_pilot_answered(embedded_encoder):
    codebook = embedded_encoder.codebook
    general = topic_list(codebook, 50)
    mechanism = ResponseMechanism(50, loss=8.0)
    released = np.full(400, 7)
    sharpened = sharpened_topics(codebook, general, released, mechanism, 20)
    near = (sharpened.vectors.astype(float) @ general.vectors[7]) / 2000**2
    other = (topic_list(codebook, 20).vectors.astype(float) @ general.vectors[7]) / 2000**2
    assert np.median(near) > np.median(other) + 0.3
    again = sharpened_topics(codebook, general, released, mechanism, 20)
    assert again.digest == sharpened.digest


def test_a_pilot_of_noise_alone_leaves_a_usable_list(toy_codebook):
    general = topic_list(toy_codebook, 4)
    mechanism = ResponseMechanism(4, loss=0.01)
    released = np.array([0, 1, 2, 3] * 5)
    assert len(sharpened_topics(toy_codebook, general, released, mechanism, 3)) == 3


def test_sets_of_words_are_the_documents_own_words(toy_encoder):
    words = word_list(toy_encoder.codebook, toy_encoder, 40, 2)
    encoded = encode(toy_encoder, [[3, 3, 3, 8, 8, 8], [5, 5, 11]])
    sets = words.entries(words.targets(encoded, toy_encoder)[:, 0])
    assert sets.tolist() == [[3, 8], [5, 11]]


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_documents_with_few_words_are_filled_up_with_different_entries(toy_encoder, draws):
    words = word_list(toy_encoder.codebook, toy_encoder, 40, 2)
    encoded = encode(toy_encoder, [[], [4], [4, 4, 9]])
    targets = words.targets(encoded, toy_encoder, draws)
    for row in targets:
        entries = words.entries(row).ravel().tolist()
        assert len(set(entries)) == 2 * draws


def test_targets_depend_on_one_document_alone(toy_encoder):
    lists = [[1, 2], [], [7, 7, 30], [39]]
    for entries in (
        topic_list(toy_encoder.codebook, 4),
        word_list(toy_encoder.codebook, toy_encoder, 30, 3),
    ):
        together = entries.targets(encode(toy_encoder, lists), toy_encoder)
        alone = [entries.targets(encode(toy_encoder, [one]), toy_encoder)[0] for one in lists]
        assert together.tolist() == [row.tolist() for row in alone]


def test_sharpened_words_follow_the_released_words(toy_encoder):
    words = word_list(toy_encoder.codebook, toy_encoder, 40, 1)
    sharpened = sharpened_words(words, np.array([6, 6, 6]), 5, 2)
    assert 6 in sharpened.rows
    assert len(sharpened) == 5
    assert sharpened.size == 2


def test_every_answer_stands_for_one_set():
    entries = EntryList("words", np.zeros((5, 2), np.int16), np.arange(5, dtype=np.int32), 2)
    sets = {tuple(row) for row in entries.entries(np.arange(entries.answers)).tolist()}
    assert sets == set(combinations(range(5), 2))


@pytest.mark.parametrize("size", [1, 2])
def test_estimated_frequencies_are_right_on_average(size):
    """The mean of many estimates lies within four standard errors of the truth."""
    entries = EntryList("words", np.zeros((6, 2), np.int16), np.arange(6, dtype=np.int32), size)
    mechanism = ResponseMechanism(entries.answers, loss=2.0)
    true = np.array([0] * 3000 + [entries.answers - 1] * 1000)
    source = entropy.Seeded(7)

    def released():
        drawn = mechanism.sample(true, source=source)
        return np.bincount(entries.entries(drawn).ravel(), minlength=6)

    runs = [estimate(entries, mechanism, released()) for _ in range(40)]
    truth = np.bincount(entries.entries(true).ravel(), minlength=6)
    mean = np.mean([run.counts for run in runs], axis=0)
    error = np.mean([run.errors for run in runs], axis=0)
    assert (np.abs(mean - truth) < 4 * error / np.sqrt(40)).all()
    spread = np.std([run.counts for run in runs], axis=0)
    assert (spread < 1.5 * error).all()
    assert (spread > 0.6 * error).all()


@pytest.mark.parametrize(("size", "loss"), [(1, 2.0), (1, 6.0), (2, 4.0)])
def test_intervals_of_frequencies_hold_the_truth_in_95_of_100_cases(size, loss):
    """Of 6 × 400 simulated intervals, the share that holds the truth is near 95 %."""
    entries = EntryList("words", np.zeros((6, 2), np.int16), np.arange(6, dtype=np.int32), size)
    mechanism = ResponseMechanism(entries.answers, loss=loss)
    true = np.repeat(np.arange(entries.answers), [4000 // 2**n for n in range(entries.answers)])
    truth = np.bincount(entries.entries(true).ravel(), minlength=6)
    source, held = entropy.Seeded(8), []
    for _ in range(400):
        drawn = mechanism.sample(true, source=source)
        released = np.bincount(entries.entries(drawn).ravel(), minlength=6)
        low, high = estimate(entries, mechanism, released).interval()
        held.append((low <= truth) & (truth <= high))
    assert abs(np.mean(held) - 0.95) < 0.015
    assert (np.mean(held, axis=0) > 0.9).all()


def test_profiles_add_up_to_the_same_number_of_words(embedded_encoder):
    topics = topic_list(embedded_encoder.codebook, 30)
    profiles = make_profiles(topics, embedded_encoder)
    counts = matrix(profiles.rows(np.array([[0, 3], [7, 7]]), 16_000)).toarray()
    assert counts.sum(axis=1).tolist() == [2 * sum(TOPIC_COUNTS)] * 2
    assert counts[1].max() == 2 * max(TOPIC_COUNTS)
    assert len(set(profiles.labels)) > 25
