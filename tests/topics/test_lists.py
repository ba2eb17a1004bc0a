"""Lists of topics: cuts of the tree, targets, lists that follow a pilot, and profiles."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from syntf.mechanism.response import ResponseMechanism
from syntf.topics.integers import nearest_in_turn, stretch
from syntf.topics.lists import NOTHING_KNOWN, TopicList, topic_list
from syntf.topics.plan import Plan
from syntf.topics.profiles import COUNTS, profiles

documents = arrays(np.int64, (6, 8), elements=st.integers(-9, 9)).map(stretch)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_cut_covers_every_leaf_once(toy_codebook, size):
    assert len(topic_list(toy_codebook, size)) == size + 1


def test_a_list_has_at_most_as_many_topics_as_the_tree_has_leaves(toy_codebook):
    assert len(topic_list(toy_codebook, 99)) == 4 + 1


def test_the_widest_node_is_split_first(toy_codebook):
    vectors = topic_list(toy_codebook, 3).vectors.tolist()
    assert vectors == toy_codebook.topics[[1, 5, 6]].tolist()


def test_steps_of_k_means_move_topics_to_the_middle_of_their_points(toy_codebook):
    """Weighted by their numbers of points, and computed here from its definition."""
    for size in (2, 3):
        moved = topic_list(toy_codebook, size).vectors
        points = toy_codebook.topics[toy_codebook.leaves].astype(np.int64)
        weights = toy_codebook.points[toy_codebook.leaves].astype(np.int64)
        for _ in range(10):
            own = (points @ moved.T.astype(np.int64)).argmax(axis=1)
            moved = np.stack(
                [
                    stretch((points * weights[:, None])[own == topic].sum(axis=0)[None])[0]
                    if (own == topic).any()
                    else moved[topic]
                    for topic in range(size)
                ]
            )
        assert (topic_list(toy_codebook, size, rounds=10).vectors == moved).all()


@given(documents, st.integers(1, 4))
def test_targets_depend_on_one_document_alone(toy_codebook, encoded, draws):
    shift = np.arange(8, dtype=np.int16)
    for topics in (topic_list(toy_codebook, 4), replace(topic_list(toy_codebook, 4), shift=shift)):
        together = topics.targets(encoded, draws)
        assert together.dtype == np.int64
        assert together.min() >= 0
        assert together.max() < len(topics)
        for place, row in enumerate(encoded):
            assert topics.targets(row[None], draws)[0].tolist() == together[place].tolist()
            if row.any():
                assert len(set(together[place].tolist())) == draws
                assert len(topics) - 1 not in together[place]


def test_a_document_without_a_known_word_answers_nothing_known_first(toy_codebook):
    topics = topic_list(toy_codebook, 4)
    nothing = np.zeros((2, 8), dtype=np.int16)
    assert topics.targets(nothing).tolist() == [[4], [4]]
    assert topics.targets(nothing[:1], 3).tolist() == [[4, 0, 1]]
    shifted = replace(topics, shift=np.full(8, 900, dtype=np.int16))
    assert shifted.targets(nothing[:1], 2).tolist() == [[4, 0]]


def test_the_shift_is_subtracted_before_the_nearest_topic_is_found(toy_codebook):
    topics = topic_list(toy_codebook, 4)
    shifted = replace(topics, shift=(topics.vectors[0] * 0.8).astype(np.int16))
    document = stretch(topics.vectors[:1].astype(np.int64) * 3 + topics.vectors[2].astype(np.int64))
    assert topics.targets(document).tolist() == [[0]]
    expected = nearest_in_turn(
        stretch(document.astype(np.int64) - shifted.shift), topics.vectors, 1
    )
    assert shifted.targets(document).tolist() == expected.tolist()
    assert expected[0, 0] != 0


def test_the_digest_covers_vectors_shift_and_names(toy_codebook):
    topics = topic_list(toy_codebook, 4)
    others = [
        topics,
        topic_list(toy_codebook, 3),
        replace(topics, shift=np.ones(8, dtype=np.int16)),
        replace(topics, names=tuple("abcd")),
        replace(topics, names=tuple("abce")),
        replace(topics, vectors=topics.vectors[::-1]),
    ]
    assert len({one.digest for one in others}) == len(others)
    assert topics.digest == topic_list(toy_codebook, 4).digest


def test_a_sharpened_list_splits_where_the_pilot_answered(embedded_encoder):
    codebook = embedded_encoder.codebook
    general = topic_list(codebook, 50)
    mechanism = ResponseMechanism(len(general), loss=8.0)
    plan = Plan(50, 1, 8.0, 0, 400, 20)
    sharpened = general.sharpened(codebook, np.full((400, 1), 7), mechanism, plan)
    assert len(sharpened) == 21
    near = (sharpened.vectors.astype(float) @ general.vectors[7]) / 2000**2
    other = (topic_list(codebook, 20).vectors.astype(float) @ general.vectors[7]) / 2000**2
    assert np.median(near) > np.median(other) + 0.3
    expected = (0.4 * general.vectors[7]).astype(int)
    assert np.abs(sharpened.shift - expected).max() <= 1


@given(st.permutations(range(30)))
def test_a_sharpened_list_follows_from_the_numbers_of_answers_alone(toy_codebook, order):
    """Not from who answered, nor in which draw."""
    general = topic_list(toy_codebook, 4)
    mechanism = ResponseMechanism(len(general), loss=3.0)
    plan = Plan(4, 2, 3.0, 0, 15, 3)
    released = np.array([0] * 14 + [1] * 4 + [2] * 3 + [4] * 9)
    first = general.sharpened(toy_codebook, released.reshape(15, 2), mechanism, plan)
    again = general.sharpened(toy_codebook, released[order].reshape(15, 2), mechanism, plan)
    assert first.digest == again.digest


def test_noise_is_subtracted_from_what_a_pilot_released(toy_codebook):
    """A topic that is released no more often than by chance does not change the list."""
    general = topic_list(toy_codebook, 4)
    mechanism = ResponseMechanism(len(general), loss=1.0)
    plan = Plan(4, 1, 1.0, 0, 1000, 2)
    chance = int(1000 * mechanism.background / mechanism.total)
    released = np.repeat(np.arange(5), [1000 - 4 * chance, chance, chance, chance, chance])
    noise = general.sharpened(toy_codebook, released, mechanism, plan)
    alone = general.sharpened(toy_codebook, np.zeros(1000, dtype=np.int64), mechanism, plan)
    assert (noise.vectors == alone.vectors).all()


def test_nothing_known_says_nothing_about_topics(toy_codebook):
    general = topic_list(toy_codebook, 4)
    mechanism = ResponseMechanism(len(general), loss=5.0)
    plan = Plan(4, 1, 5.0, 0, 10, 3)
    some = np.array([1, 1, 1, 2])
    mixed = np.array([1, 1, 1, 2, *[4] * 6])
    assert (
        general.sharpened(toy_codebook, some, mechanism, plan).shift
        == general.sharpened(toy_codebook, mixed, mechanism, plan).shift
    ).all()


@pytest.mark.parametrize("released", [[0, 1, 2, 3] * 5, [4] * 20, []])
def test_a_pilot_of_noise_alone_leaves_a_usable_list(toy_codebook, released):
    general = topic_list(toy_codebook, 4)
    mechanism = ResponseMechanism(len(general), loss=0.01)
    plan = Plan(4, 1, 0.01, 0, 20, 3)
    made = general.sharpened(toy_codebook, np.array(released, dtype=np.int64), mechanism, plan)
    assert len(made) == 4
    assert made.vectors.any(axis=1).all()


def test_profiles_are_the_nearest_words_with_falling_counts(embedded_encoder):
    topics = topic_list(embedded_encoder.codebook, 30)
    found, names = profiles(topics, embedded_encoder)
    assert found.shape == (31, len(embedded_encoder.terms))
    assert len(names) == 31
    vectors = embedded_encoder.column_vectors.astype(np.int64)
    for answer in range(30):
        near = np.argsort(-(vectors @ topics.vectors[answer].astype(np.int64)), kind="stable")
        row = found[answer].toarray().ravel()
        assert row[near[: len(COUNTS)]].tolist() == list(COUNTS)
        assert row.sum() == sum(COUNTS)
    assert found[30].nnz == 0
    assert names[30] == NOTHING_KNOWN
    assert len(set(names)) > 25


def test_profiles_of_a_few_words_have_fewer_counts(toy_encoder, toy_codebook):
    few = replace(toy_codebook, outputs=np.array([4, 9], dtype=np.int32))
    found, names = profiles(TopicList(few.topics[3:]), type(toy_encoder)(few, toy_encoder.vectors))
    assert found.shape == (5, 2)
    assert found.sum(axis=1).ravel().tolist() == [[11, 11, 11, 11, 0]]
    assert all(", " in name for name in names[:-1])


def test_names_that_a_person_gave_are_kept(toy_encoder, toy_codebook):
    named = replace(toy_codebook, names=tuple("abcdefg"))
    _, names = profiles(topic_list(named, 4, rounds=10), toy_encoder)
    assert names == ["d", "e", "f", "g", NOTHING_KNOWN]
    assert (topic_list(named, 4, rounds=10).vectors == named.topics[3:]).all()


def test_embedded_topics_show_common_nouns_alone(embedded_encoder):
    """No names of persons, slurs, sexual terms or abbreviations that stood in earlier lists."""
    from lemminflect import getAllLemmas

    from syntf.topics.build import words_not_shown

    terms = set(embedded_encoder.terms)
    assert not terms & words_not_shown()
    hidden = "mohammed ahmed ali john smith clinton turkey beel eed hahm sexual homosexual rape"
    assert not terms & set(hidden.split())
    assert all("NOUN" in getAllLemmas(term) for term in terms)
