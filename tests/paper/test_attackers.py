"""Attackers: what each can see and what it cannot see."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as sparse_random
from sklearn.svm import SVC

from paper import attackers
from paper.attackers import ORDERS, reverse
from paper.writeprints import WritePrintsLimited

AUTHORS = np.array(["ann", "bob"] * 10)
NEW = np.array(["ann", "bob"] * 4)


def texts(ann, bob, times):
    return [ann, bob] * times


@pytest.mark.parametrize(
    ("ann", "bob", "succeeds"),
    [("cat dog bird", "car bus road", True), ("cat, dog!! bird", "cat dog bird", False)],
)
def test_word_attacker_sees_words_alone(ann, bob, succeeds):
    found = attackers.word_attacker(texts(ann, bob, 10), AUTHORS, texts(ann, bob, 4))
    for guessed in found.values():
        assert (guessed == NEW).all() == succeeds


def test_writeprints_attacker_tags_each_text_once():
    tagged = []

    def tagger(text):
        tagged.append(text)
        return ["NN"] * len(text.split())

    seen, new = texts("a cat!", "cats, 12", 10), texts("a dog!", "dogs, 17", 4)
    attack = attackers.writeprints_attacker(tagger, list(dict.fromkeys([*seen, *new])))
    for _ in range(2):
        assert (attack(seen, AUTHORS, new)["nb"] == NEW).all()
    assert sorted(tagged) == sorted({*seen, *new})


def test_writeprints_attacker_predicts_like_features_fitted_on_the_training_texts_alone():
    """Texts that are measured together share columns; each attack must see its own alone."""
    rng = np.random.default_rng(4)
    words = [f"{a}{b}{mark}" for a in "abcdeXYZ12" for b in "fghijk" for mark in ("", ".", "1")]
    some = [" ".join(rng.choice(words, rng.integers(0, 60))) for _ in range(40)]
    authors = np.array(["ann", "bob", "eve"])[np.arange(20) % 3]

    def tagger(text):
        return [f"T{len(word)}" for word in text.split()]

    attack = attackers.writeprints_attacker(tagger, list(dict.fromkeys(some)))
    for start in (0, 8, 20):
        train = [*some[start:], *some[:start]][:20]
        test = [text for text in some if text not in train] + train[:3]
        style = WritePrintsLimited(tagger=tagger)
        wanted = attackers.weka_predictions(
            style.fit_transform(train), authors, style.transform(test)
        )
        found = attack(train, authors, test)
        assert {name: list(one) for name, one in found.items()} == {
            name: list(one) for name, one in wanted.items()
        }


@pytest.mark.parametrize("seed", range(5))
def test_svm_of_weka_predicts_like_a_linear_kernel(seed):
    rng = np.random.default_rng(seed)
    rows = sparse_random(90, 40, density=0.2, random_state=rng, format="csr")
    authors = np.array(["ann", "bob", "eve", "zoe"])[rng.integers(0, 4, 60)]
    train, test = rows[:60], rows[60:]
    scale = attackers.MinMaxScaling(train)
    wanted = SVC(kernel="linear", C=1).fit(scale(train), authors).predict(scale(test))
    found = attackers.weka_predictions(train, authors, test)["svm"]
    assert found.tolist() == wanted.tolist()
    assert len(set(wanted)) > 1


def test_naive_bayes_of_weka_by_its_formula():
    """NaiveBayesMultinomial: one is added to the count of each word, and of each class."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        rows = rng.integers(0, 4, (30, 6)).astype(float)
        authors = np.array(["ann", "bob", "eve"])[rng.choice(3, 30, p=[0.7, 0.2, 0.1])]
        authors[:3] = ["ann", "bob", "eve"]
        score = []
        for author in ("ann", "bob", "eve"):
            words = rows[authors == author].sum(axis=0)
            chance = (1 + words) / (6 + words.sum())
            score.append(np.log(((authors == author).sum() + 1) / 33) + rows @ np.log(chance))
        wanted = np.array(["ann", "bob", "eve"])[np.argmax(score, axis=0)]
        found = attackers.weka_predictions(csr_matrix(rows), authors, csr_matrix(rows))["nb"]
        assert found.tolist() == wanted.tolist()


def test_columns_are_scaled_by_the_training_rows():
    train = np.array([[1.0, 5.0, 0.0, -2.0], [3.0, 5.0, 4.0, -1.0]])
    test = np.array([[5.0, 9.0, 1.0, 0.0], [0.0, 0.0, 8.0, -4.0]])
    scale = attackers.MinMaxScaling(csr_matrix(train))
    assert scale(csr_matrix(train)).toarray().tolist() == [[0, 0, 0, 0], [1, 0, 1, 1]]
    assert scale(csr_matrix(test)).toarray().tolist() == [[2, 0, 0.25, 2], [-0.5, 0, 2, -2]]


# Texts from counts

TERMS = ["pear", "apple", "fig", "zoo", "Ant"]


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=6),
    st.sampled_from(ORDERS),
)
def test_every_word_is_repeated_as_often_as_counted(rows, order):
    texts = reverse(csr_matrix(rows), TERMS, order)
    assert len(texts) == len(rows)
    for text, row in zip(texts, rows, strict=True):
        expected = {term: count for term, count in zip(TERMS, row, strict=True) if count}
        assert Counter(text.split()) == expected


def test_words_are_alphabetical_by_default():
    assert reverse(csr_matrix([[1, 2, 0, 1, 1], [0, 0, 3, 0, 0]]), TERMS) == [
        "Ant apple apple pear zoo",
        "fig fig fig",
    ]


def test_frequency_order_puts_most_frequent_words_first():
    rows = csr_matrix([[1, 1, 0, 0, 0], [4, 0, 1, 2, 0], [0, 1, 0, 0, 2]])
    assert reverse(rows, TERMS, "frequency") == [
        "pear apple",
        "pear pear pear pear zoo zoo fig",
        "Ant Ant apple",
    ]


def test_random_order_depends_on_the_seed_only():
    rows = csr_matrix(np.full((3, 5), 4))
    first, again, other = (reverse(rows, TERMS, "random", seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(set(first)) == 3


def test_empty_row_gives_an_empty_text():
    assert reverse(csr_matrix((2, 5), dtype=np.int32), TERMS) == ["", ""]
