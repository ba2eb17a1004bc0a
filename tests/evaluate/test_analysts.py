"""Analysts and attackers learn what there is to learn, and are compared with the right guesses."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import f1_score

from syntf.core.errors import SyntfError
from syntf.evaluate import measures as names
from syntf.evaluate.analysts import authors, chance, names_for_f1, suspects, topics
from syntf.evaluate.corpus import UNKNOWN, Corpus, divide, read_corpus
from syntf.evaluate.release import Release, original, vectors_of
from syntf.settings import Settings

KINDS = st.lists(st.integers(0, 3), min_size=1, max_size=40).map(np.array)


def corpus_of(labels, authors=None):
    """Return a corpus whose texts name their label, author and number."""
    labels = np.array(labels)
    authors = np.full(len(labels), UNKNOWN) if authors is None else np.array(authors)
    parts = zip(labels.tolist(), authors.tolist(), range(len(labels)), strict=True)
    texts = pl.Series("text", [f"label{a} author{b} number{n}" for a, b, n in parts])
    return Corpus(texts, labels, authors, divide(labels, authors))


def release_of(corpus, words):
    """Release the counts of words, each a list of numbers, one for each document."""
    columns = [np.eye(max(word) + 1)[word] for word in words]
    return Release.of_rows(corpus, csr_matrix(np.hstack(columns)))


def weighted(truth, predicted):
    return f1_score(truth, predicted, average="weighted", zero_division=0)


@given(KINDS, KINDS)
def test_chance_is_the_better_of_two_guesses(learned, tested):
    largest = np.bincount(learned).argmax()
    always = weighted(tested, np.full(len(tested), largest))
    assert chance(learned, tested) >= always - 1e-9
    assert chance(learned, tested) <= 1


def test_chance_is_what_guesses_reach():
    generator = np.random.default_rng(0)
    learned = generator.choice(3, 50_000, p=[0.5, 0.3, 0.2])
    tested = generator.choice(3, 50_000, p=[0.4, 0.4, 0.2])
    shuffled = weighted(tested, generator.permutation(learned))
    assert chance(learned, tested) == pytest.approx(shuffled, abs=0.01)


def test_names_for_f1_are_nearly_the_best_of_all_choices():
    shares = []
    for probabilities in np.random.default_rng(4).dirichlet([0.5, 0.8, 1.0], (40, 7)):
        sizes = probabilities.sum(axis=0)

        def expected(chosen, given=probabilities, sizes=sizes):
            own = np.eye(3)[list(chosen)]
            return (sizes * 2 * (own * given).sum(axis=0) / (sizes + own.sum(axis=0))).sum()

        best = max(map(expected, product(range(3), repeat=7)))
        found = expected(names_for_f1(probabilities))
        assert found >= expected(probabilities.argmax(axis=1)) - 1e-9
        shares.append(found / best)
    assert np.mean(shares) > 0.97


def test_names_for_f1_names_what_is_never_most_probable():
    probabilities = np.array([[0.6, 0.4]] * 50 + [[0.9, 0.1]] * 50)
    assert set(names_for_f1(probabilities)) == {0, 1}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(3, 9)), max_size=16))
def test_suspects_are_ranked_as_in_the_paper(counts):
    rows, documents = np.array(counts, dtype=int).reshape(-1, 2).T
    names = np.arange(len(counts))
    learned, tested = np.repeat(names, rows), np.append(np.repeat(names, documents), UNKNOWN)
    expected = sorted(
        (name for name in names.tolist() if documents[name] >= 5 and rows[name] > 1),
        key=lambda name: (-rows[name], -documents[name], name),
    )
    assert suspects(learned, tested).tolist() == expected[:10]


def test_an_analyst_learns_labels_and_not_noise():
    labels = np.repeat([0, 1, 2], 60)
    corpus = corpus_of(labels)
    (told,) = topics(corpus, release_of(corpus, [labels]))
    noise = np.random.default_rng(1).integers(0, 3, len(labels))
    (untold,) = topics(corpus, release_of(corpus, [noise]))
    assert told.value == 1.0
    assert untold.value == pytest.approx(untold.chance, abs=0.12)
    assert (told.among, told.chance) == (3, pytest.approx(1 / 3))


def test_documents_that_learning_saw_are_never_tested():
    labels = np.arange(90) % 2
    corpus = corpus_of(labels)
    own = np.arange(90)  # each document has a word of its own, which tells nothing of others
    (found,) = topics(corpus, release_of(corpus, [own]))
    assert found.value <= found.chance + 0.02


def test_rows_that_belong_to_no_document_are_tested_on_real_ones():
    # Rows sampled from noisy sums: labels of their own, and another number of rows.
    corpus = corpus_of(np.repeat([0, 1], 30), np.repeat([0, 1, 2], 20))
    real = np.eye(2)[corpus.labels[~corpus.train]]
    rows = np.array([[5, 0], [4, 0], [0, 3], [0, 6], [1, 4]])
    labels, nobody = np.array([0, 0, 1, 1, 1]), np.full(5, UNKNOWN)
    release = Release(csr_matrix(rows), labels, nobody, csr_matrix(real))
    (found,) = topics(corpus, release)
    assert found.value == 1.0
    assert authors(corpus, release) == []


def test_documents_without_a_label_are_left_out():
    labels = np.where(np.arange(90) % 5 == 0, UNKNOWN, np.arange(90) % 2)
    corpus = corpus_of(labels)
    (found,) = topics(corpus, release_of(corpus, [labels + 1]))
    assert found.value == 1.0
    assert (
        topics(corpus_of([UNKNOWN] * 60), release_of(corpus_of([UNKNOWN] * 60), [[0] * 60])) == []
    )


def test_the_label_alone_tells_authors_who_keep_to_it():
    writers = np.repeat([0, 1, 2, 3], 40)
    for labels, alone in ((writers // 2, 0.5), (writers, 1.0), (np.zeros(160, dtype=int), 0.25)):
        corpus = corpus_of(labels, writers)
        (found,) = authors(corpus, release_of(corpus, [labels]))  # the release shows labels alone
        floor = found.references[names.LABEL]
        assert floor <= alone + 0.01
        assert found.value == pytest.approx(floor, abs=0.02)
        assert found.light != "red"
        (told,) = authors(corpus, release_of(corpus, [writers]))
        assert told.value == 1.0
        assert told.light == ("red" if alone < 1 else "amber")


def test_originals_count_only_words_to_learn_from():
    corpus = corpus_of(np.arange(60) % 2)
    counts = original(corpus)
    assert (counts.getnnz(axis=1)[corpus.train] == 3).all()
    assert (counts.getnnz(axis=1)[~corpus.train] == 2).all()  # the number was never seen
    wordless = Corpus(pl.Series([""] * 60), corpus.labels, corpus.authors, corpus.train)
    assert original(wordless).nnz == 0
    (found,) = topics(wordless, Release.of_rows(wordless, original(wordless), np.zeros((1, 3))))
    assert found.value <= found.chance


def test_public_vectors_have_length_one_or_zero():
    vectors = vectors_of(["orbit", "qwxyzzy", "garlic"], Settings())
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1])


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 5)), min_size=3, max_size=90))
def test_each_author_and_label_is_divided_in_thirds(pairs):
    labels, writers = np.array(pairs).T
    train = divide(labels, writers)
    assert (~train).sum() == len(pairs) // 3
    for writer in np.unique(writers):
        own = writers == writer
        assert abs((~train[own]).sum() - own.sum() / 3) <= 1


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        ({"label": "text"}, ["a", "b"], "different columns"),
        ({"label": "topik"}, ["a", "b"], "did you mean 'topic'"),
        ({"label": "topic"}, ["a"], "1 different labels"),
        ({"label": "topic"}, [f"secret{n}" for n in range(40)], "few labels repeat"),
    ],
)
def test_wrong_columns_are_refused_without_a_word_of_a_document(tmp_path, columns, labels, message):
    rows = [f"private words {n},{labels[n % len(labels)]}" for n in range(40)]
    (tmp_path / "mails.csv").write_text("text,topic\n" + "\n".join(rows))
    with pytest.raises(SyntfError, match=message) as caught:
        read_corpus(tmp_path / "mails.csv", **columns)
    assert "private" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_corpus_reads_missing_values_as_unknown(tmp_path):
    rows = [f"text {n},{'ab'[n % 2]},{'' if n % 4 else 'ann'}" for n in range(40)]
    (tmp_path / "mails.csv").write_text("body,topic,from\n" + "\n".join(rows))
    corpus = read_corpus(tmp_path / "mails.csv", "body", "topic", "from")
    assert len(np.unique(corpus.labels)) == 2
    assert ((corpus.authors == UNKNOWN) == (np.arange(40) % 4 > 0)).all()
    assert corpus.columns == {"text": "body", "label": "topic", "author": "from"}
    (tmp_path / "few.csv").write_text("text,topic\n" + "a,b\n" * 9)
    with pytest.raises(SyntfError, match="at least 20"):
        read_corpus(tmp_path / "few.csv")
