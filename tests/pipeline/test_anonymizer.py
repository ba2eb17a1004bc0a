import json
import os
import pickle
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.pipeline import anonymizer as module
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text import token_table
from syntf.vectors.word_vectors import WordVectors

ANY_TEXT = st.text(st.characters(), max_size=60)
ANY_WORDS = st.lists(st.sampled_from(["cat", "Mice", "the", "qwxyz", "2", "dog's", "\ud800"]))


@pytest.fixture(scope="session")
def build(toy_vectors, toy_words):
    def built(texts=(), **chosen):
        chosen = {"vectors": toy_vectors, "vocabulary": toy_words, "length": 6, **chosen}
        return Anonymizer.build(Settings(**chosen), texts)

    return built


@pytest.fixture(scope="session")
def toy(build):
    return build()


@pytest.fixture(scope="session")
def faithful(build):
    """Build with so large an ε that words are drawn as themselves: weights of 1 and 2**52."""
    return build(epsilon=1e5, spelling=0.0)


def counts(vectors, *documents):
    return np.array([[document.count(w) for w in vectors.words] for document in documents])


@given(st.lists(st.one_of(ANY_TEXT, ANY_WORDS.map(" ".join)), max_size=5))
def test_every_text_gives_exactly_n_words(toy, texts):
    made = toy.anonymize(texts)
    assert (made.format, made.dtype, made.shape) == ("csr", np.int32, (len(texts), 40))
    assert (made.sum(axis=1) == 6).all()
    assert made.has_canonical_format
    assert made.nnz == 0 or made.data.min() > 0


@given(ANY_TEXT, ANY_WORDS.map(" ".join))
def test_entropy_use_does_not_depend_on_the_texts(toy, recorded, one, other):
    sources = recorded(), recorded()
    made = [
        replace(toy, source=source).anonymize([text])
        for text, source in zip((one, other), sources, strict=True)
    ]
    assert sources[0].sizes == sources[1].sizes == [8 * 6, 8 * 6]
    assert made[0].shape == made[1].shape
    assert made[0].dtype == made[1].dtype
    assert made[0].indptr.dtype == made[1].indptr.dtype
    assert made[0].indices.dtype == made[1].indices.dtype


def test_the_same_bytes_give_the_same_counts(toy):
    def zeros(size):
        return bytes(size)

    texts = ["cat dog", "", "mice"]
    same = replace(toy, source=zeros)
    assert (same.anonymize(texts) != same.anonymize(texts)).nnz == 0


def test_certain_draws_return_the_word_in_its_row_and_column(faithful, toy_vectors):
    made = faithful.anonymize(["cat", "The trains!", "mice", "Bread’s"])
    wanted = counts(toy_vectors, *[[w] * 6 for w in ("cat", "train", "mouse", "bread")])
    assert made.toarray().tolist() == wanted.tolist()


def test_rows_keep_their_order_over_batches(faithful, recorded, toy_words, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 3)
    source = recorded()
    recording = replace(faithful, source=source)
    made = recording.anonymize(["cat", "car", "song", "fish", "bus", "tree", "apple"])
    assert (made.format, made.dtype) == ("csr", np.int32)
    found = [toy_words[column] for column in made.toarray().argmax(axis=1)]
    assert found == ["cat", "car", "song", "fish", "bus", "tree", "apple"]
    assert (made.sum(axis=1) == 6).all()
    assert source.sizes == [3 * 48, 3 * 48] * 2 + [48, 48]


def test_only_known_words_of_the_document_are_drawn(faithful, toy_words):
    made = faithful.anonymize(["the qwxyz cat 2 _ guitar's"] * 200)
    assert {toy_words[c] for c in made.indices} == {"cat", "guitar"}
    share = made.sum(axis=0)[0, 0] / 1200
    assert 0.4 < share < 0.6  # 7 standard deviations


def test_a_document_without_known_words_is_uniform(build):
    drawn = build(epsilon=1e5, length=4000).anonymize(["", "the of", "qwxyz", "1 2 3"])
    expected = 100
    assert (np.abs(drawn.toarray() - expected) < 8 * np.sqrt(expected)).all()


def test_no_texts_give_no_rows(toy):
    made = toy.anonymize([])
    assert (made.format, made.dtype, made.shape) == ("csr", np.int32, (0, 40))


def test_public_idf_weighs_by_the_rank_of_the_vector(build, toy_vectors):
    made = build(weights="tfidf", vocabulary=["dog", "cat", "guitar"])
    assert made.weights.tolist() == pytest.approx([1 + log(3), 1 + log(1), 1 + log(40), 1.0])
    assert build().weights is None


def test_fitted_idf_weighs_by_document_frequency(build):
    texts = ["cat cat dog", "cats", "mouse", ""]
    made = build(texts, weights="tfidf", idf="fitted", vocabulary=["cat", "dog", "bus"])
    wanted = [log(5 / (1 + df)) + 1 for df in (2, 1, 0, 2)]  # "mouse" and "" are empty
    assert made.weights.tolist() == pytest.approx(wanted)


def test_tfidf_draws_rare_words_more_often(build, toy_words):
    texts = ["cat dog"] + ["cat"] * 300
    fitted = build(texts, weights="tfidf", idf="fitted", epsilon=1e5, spelling=0.0, length=20_000)
    drawn = fitted.anonymize(["cat dog"]).toarray()[0]
    cat, dog = log(302 / 302) + 1, log(302 / 2) + 1
    assert drawn[0] + drawn[2] == 20_000
    assert drawn[2] / 20_000 == pytest.approx(dog / (cat + dog), abs=0.02)


def test_texts_are_not_read_unless_something_is_fitted(build):
    class Untouchable:
        def __iter__(self):
            raise AssertionError("the texts were read")

        __len__ = __getitem__ = __iter__

    assert build(Untouchable()).mechanism.digest == build(["cat"]).mechanism.digest
    build(Untouchable(), weights="tfidf")
    with pytest.raises(AssertionError, match="were read"):
        build(Untouchable(), vocabulary=None, fit_vocabulary=True)


def test_measured_loss_is_at_most_the_wanted_loss(build):
    made = build(loss=4.0)
    assert 3.96 <= made.mechanism.loss <= 4.0
    assert made.guarantee().epsilon == made.mechanism.epsilon > 4.0
    assert made.guarantee().loss_per_word.tight == made.mechanism.loss


@pytest.mark.parametrize("neighbours", [1, 3, 40])
def test_loss_with_neighbours_is_half_of_epsilon(build, neighbours):
    made = build(neighbours=neighbours, epsilon=12.0)
    assert made.guarantee().epsilon == 12.0
    if neighbours < 40:
        assert 6 - 1e-9 < made.mechanism.loss <= 6
    wanted = build(neighbours=neighbours, loss=6.0)
    assert wanted.mechanism.digest == made.mechanism.digest
    assert wanted.guarantee().as_dict() == made.guarantee().as_dict()


def test_neighbours_are_the_best_of_the_graded_rating(build, toy_words):
    """The k neighbours are the k outputs with the largest weights of the graded mechanism."""
    graded, ours = build().mechanism, build(neighbours=3).mechanism
    for row in range(40):
        best = np.argsort(-graded.weights(row), kind="stable")[:3]
        assert set(np.argsort(-ours.weights(row), kind="stable")[:3]) == set(best)
    assert (ours.shape, ours.weights(40).max() - ours.weights(40).min() <= 1) == ((41, 40), True)


def test_with_neighbours_every_word_with_a_vector_is_an_input(build, toy_words):
    made = build(neighbours=1, vocabulary=["cat", "bus", "Piano"], epsilon=1e5, spelling=0.0)
    assert list(made.vocabulary.inputs) == [*toy_words, "Piano"]
    assert list(made.vocabulary.outputs) == ["cat", "bus", "Piano"]
    assert made.guarantee().input_size == 41
    drawn = made.anonymize(["cat", "a bus", "piano", "dog guitar"]).toarray()
    assert drawn[:3].tolist() == [[6, 0, 0], [0, 6, 0], [0, 0, 6]]
    fitted = build(["dog cat", "cat dog"], neighbours=1, vocabulary=None, fit_vocabulary=True)
    assert list(fitted.vocabulary.outputs) == ["cat", "dog"]
    assert (len(fitted.vocabulary.inputs), fitted.guarantee().private) == (40, False)


def test_more_neighbours_than_outputs_are_refused(build):
    with pytest.raises(SyntfError, match=r"neighbours must be .* outputs, 40; got 41"):
        build(neighbours=41)


def test_vectors_and_vocabulary_may_be_files(tmp_path, build):
    (tmp_path / "v.txt").write_text("cat 1 0\ndog 0 1\ncar 1 1\n")
    (tmp_path / "t.txt").write_text("dog\ncar\nqwxyz\n")
    for turn in (str, lambda path: path):
        files = {"vectors": turn(tmp_path / "v.txt"), "vocabulary": turn(tmp_path / "t.txt")}
        made = build(**files)
        assert list(made.vocabulary.outputs) == ["dog", "car"]
        assert made.vocabulary.dropped == 1
        assert made.anonymize(["dog cat"]).shape == (1, 2)


@pytest.mark.parametrize(
    ("neighbours", "first"), [(None, ("measuring the loss", 41)), (2, ("finding neighbours", 40))]
)
def test_progress_counts_all_rows_and_all_drawn_words(
    empty_cache, toy_vectors, toy_words, neighbours, first
):
    told = {}

    @contextmanager
    def stages(name, total):
        told[name] = [total, 0]

        def advance(steps):
            told[name][1] += steps

        yield advance

    settings = Settings(vectors=toy_vectors, vocabulary=toy_words, length=2, neighbours=neighbours)
    made = Anonymizer.build(settings, stages=stages)
    made.anonymize(["cat dog", "cat", ""], stages=stages)
    assert told[first[0]] == [first[1]] * 2
    assert told["reading words"][0] == 3
    assert told["drawing words"] == [6, 6]


BAD = [
    *[("epsilon", bad) for bad in (float("nan"), float("inf"), 0, -1, True, "1", 1j)],
    *[("loss", bad) for bad in (float("nan"), float("inf"), 0, -1, True, "1")],
    *[("length", bad) for bad in (0, -1, 1.5, True, "5", None, (1 << 20) + 1)],
    *[("min_df", bad) for bad in (0, -1, 0.0, 1.0, 1.5, float("nan"), True, "2", None)],
    *[("max_df", bad) for bad in (0, -1, 0.0, 1.5, float("nan"), True, "2", None)],
    *[("max_size", bad) for bad in (0, -1, 1.5, True, "2")],
    *[("neighbours", bad) for bad in (0, -1, 1.5, True, "2", float("nan"))],
    *[("spelling", bad) for bad in (-0.1, float("nan"), 2, True, "0.3", None)],
    *[("weights", bad) for bad in ("x", None, "TF")],
    *[("idf", bad) for bad in ("x", None)],
    *[("morphology", bad) for bad in ("x", None)],
]


@pytest.mark.parametrize(("name", "bad"), BAD)
def test_a_bad_setting_is_named_with_its_value(build, name, bad):
    with pytest.raises(SyntfError, match=f"{name}.*{re.escape(str(bad))}"):
        build(**{name: bad})


def test_vocabulary_and_fit_vocabulary_exclude_each_other(build):
    with pytest.raises(SyntfError, match="vocabulary and fit_vocabulary exclude each other"):
        build(["cat"], fit_vocabulary=True)


@pytest.mark.parametrize("neighbours", [None, np.int64(2)])
def test_settings_accept_numpy_numbers(build, neighbours):
    made = build(
        epsilon=np.float64(9), length=np.int64(7), spelling=np.float64(0.1), neighbours=neighbours
    )
    assert made.anonymize(["cat"]).sum() == 7
    assert json.loads(made.guarantee().as_json())["length"] == 7


def changed_component(vectors):
    matrix = vectors.matrix.copy()
    matrix[17, 3] += 1 if matrix[17, 3] < 100 else -1
    return WordVectors(vectors.words, matrix)


@pytest.mark.parametrize("neighbours", [None, 2])
def test_digest_depends_on_every_part_of_the_table(build, toy_vectors, toy_words, neighbours):
    build = partial(build, neighbours=neighbours)
    same = {build().guarantee().digest, build(length=9, weights="tfidf").guarantee().digest}
    assert len(same) == 1
    others = [
        build(epsilon=np.nextafter(47.5, 50)),
        build(spelling=np.nextafter(0.3, 1)),
        build(vocabulary=[*toy_words[:-1], "Guitar"]),  # the same vector, the same bigrams
        build(vocabulary=toy_words[:-1]),
        build(vocabulary=toy_words[::-1]),
        build(vectors=changed_component(toy_vectors)),
        build(neighbours=3),
    ]
    digests = {other.guarantee().digest for other in others}
    assert len(digests) == len(others)
    assert not digests & same


SCRIPT = """
import sys
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
made = Anonymizer.build(Settings(vectors=sys.argv[1], vocabulary=sys.argv[2], epsilon=20.0))
sys.stdout.write(made.guarantee().as_json())
"""


def test_the_guarantee_is_the_same_in_another_process(tmp_path, build, toy_vectors, python):
    lines = [
        " ".join([word, *map(str, row)])
        for word, row in zip(toy_vectors.words, toy_vectors.matrix.tolist(), strict=True)
    ]
    vectors, terms = tmp_path / "v.txt", tmp_path / "t.txt"
    vectors.write_text("\n".join(lines))
    terms.write_text("\n".join(toy_vectors.words))
    here = build(epsilon=20.0, length=150).guarantee().as_dict()
    for number, seed in enumerate(("1", "2")):  # each process has its own cache
        own = {"PYTHONHASHSEED": seed, "SYNTF_CACHE": str(tmp_path / seed)}
        if number:
            own |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        there = subprocess.run(
            [python, "-c", SCRIPT, str(vectors), str(terms)],
            env=os.environ | own, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert json.loads(there) == here
        assert list((tmp_path / seed).iterdir())


@pytest.mark.parametrize("morphology", ["lemma", "lower", "orth"])
@pytest.mark.parametrize("fitted", [False, True])
def test_compiled_and_python_readers_agree(build, monkeypatch, morphology, fitted):
    texts = ["The Mice’s CAT, cats & a café", "", "qwxyz", "running two DOGS; dog's", "Run, Cat!"]
    chosen = {"morphology": morphology, "weights": "tfidf", "idf": "fitted"}
    if fitted:
        chosen |= {"vocabulary": None, "fit_vocabulary": True, "min_df": 1}
    fast = build(texts=texts, **chosen)
    ours = fast.read(texts)
    monkeypatch.setattr(token_table, "compiled", None)
    plain = build(texts=texts, **chosen)
    assert plain.reader.table is None
    assert fast.vocabulary == plain.vocabulary
    assert fast.weights.tolist() == plain.weights.tolist()
    theirs = plain.read(texts)
    assert ours.terms.tolist() == theirs.terms.tolist()
    assert ours.starts.tolist() == theirs.starts.tolist()
    elsewhere = pickle.loads(pickle.dumps(fast))  # noqa: S301
    assert elsewhere.read(texts).terms.tolist() == ours.terms.tolist()


def test_unknown_tokens_are_left_out(build):
    made = build(vocabulary=["cat", "dog"])
    read = made.read(["qwxyz the 2 cat"])
    assert read.terms.tolist() == [0]


# A setting never loses other than asked


@pytest.mark.parametrize("neighbours", [None, 1])
def test_a_loss_that_cannot_be_reached_is_refused(toy_vectors, toy_words, neighbours):
    """Weights are 62-bit integers, so no word can lose more than about 43."""
    words = {"vectors": toy_vectors, "vocabulary": toy_words, "neighbours": neighbours}
    with pytest.raises(
        SyntfError, match=r"loss of 100 per word cannot be reached.* at most (38|42)\."
    ):
        Anonymizer.build(Settings(loss=100.0, **words))
    reached = Anonymizer.build(Settings(loss=30.0, **words)).mechanism.loss
    assert 29.7 <= reached <= 30


def test_a_single_output_word_loses_nothing_whatever_was_asked(toy_vectors):
    words = {"vectors": toy_vectors, "vocabulary": ["cat"], "neighbours": 1}
    assert Anonymizer.build(Settings(loss=8.0, **words)).mechanism.loss == 0


def test_a_missing_device_is_refused_although_the_cache_has_the_table(
    toy_vectors, toy_words, monkeypatch
):
    settings = Settings(loss=3.0, neighbours=1, vectors=toy_vectors, vocabulary=toy_words)
    Anonymizer.build(settings)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(SyntfError, match="cuda needs cupy"):
        Anonymizer.build(settings, device="cuda")
