"""Attackers: what each can see and what it cannot see."""

import numpy as np
import pytest
from scipy.sparse import random as sparse_random
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC, LinearSVC

from syntf.evaluation import WritePrintsLimited
from syntf.evaluation.analysts import predict_all_labels
from syntf.evaluation.attack import attackers

AUTHORS = np.array(["ann", "bob"] * 10)
NEW = np.array(["ann", "bob"] * 4)


def texts(ann, bob, times):
    return [ann, bob] * times


@pytest.mark.parametrize(
    ("attack", "ann", "bob", "succeeds"),
    [
        (attackers.word_attacker, "cat dog bird", "car bus road", True),
        (attackers.word_attacker, "cat, dog!! bird", "cat dog bird", False),
        (attackers.character_attacker, "cat, dog!! bird", "cat dog bird", True),
        (attackers.character_attacker, "cat dog", "cat dog", False),
        (attackers.label_attacker, "x", "y", True),
        (attackers.label_attacker, "x", "x", False),
        (attackers.label_attacker, "x y", "y x", True),  # a label is one thing, whatever is in it
    ],
)
def test_each_attacker_sees_only_its_own_features(attack, ann, bob, succeeds):
    found = attack(texts(ann, bob, 10), AUTHORS, texts(ann, bob, 4))
    for guessed in found.values():
        assert (guessed == NEW).all() == succeeds


def test_word_attacker_uses_tfidf_and_a_linear_svm():
    rng = np.random.default_rng(3)
    many = [" ".join(rng.choice("cat dog bird car bus road".split(), 6)) for _ in range(28)]
    vectors = TfidfVectorizer()
    model = LinearSVC(C=1).fit(vectors.fit_transform(many[:20]), AUTHORS)
    expected = model.predict(vectors.transform(many[20:]))
    assert (
        attackers.word_attacker(many[:20], AUTHORS, many[20:])["svm"].tolist() == expected.tolist()
    )


def test_embedding_attacker_sees_meaning_not_spelling(embedded):
    seen = texts("cat dog horse", "car bus train", 10)
    new = texts("kitten puppy pony", "truck tram lorry", 4)
    attack = attackers.embedding_attacker(embedded, [*seen, *new])
    assert (attack(seen, AUTHORS, new)["logistic"] == NEW).all()


def test_embedding_of_a_text_without_known_words_is_zero(embedded):
    attack = attackers.embedding_attacker(embedded, ["cat", "", "qqqqzz"])
    found = attack(["cat", ""], np.array(["ann", "bob"]), ["qqqqzz"])
    assert found["logistic"].tolist() == ["bob"]


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


def test_predicted_labels_come_from_models_that_did_not_see_the_document():
    """Every document has a word of its own that gives its label away to who has seen it."""
    from scipy.sparse import csr_matrix

    labels = np.array(["x", "y"] * 20)
    own = np.eye(40) * 50
    found = predict_all_labels(csr_matrix(own), labels, np.arange(40) < 30)
    assert (found[:30] == labels[:30]).mean() < 0.8
    shared = own + np.array([[5, 0], [0, 5]] * 20) @ np.eye(2, 40)
    found = predict_all_labels(csr_matrix(shared), labels, np.arange(40) < 30)
    assert (found == labels).all()


def test_missing_labels_are_predicted_too():
    from scipy.sparse import csr_matrix

    labels = np.array(["x", "y"] * 10)
    counts = csr_matrix(np.array([[3, 0], [0, 3]] * 10))
    known = labels.copy()
    known[:2] = ""
    found = predict_all_labels(counts, known, np.arange(20) < 16)
    assert found.tolist() == labels.tolist()
