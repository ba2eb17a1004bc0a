import multiprocessing
import pickle
import re

import numpy as np
import polars
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

from syntf import SynTF
from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.ledger.ledger import Ledger
from syntf.pipeline.settings import PRESETS
from syntf.vectors.word_vectors import WordVectors

ANIMALS, VEHICLES = ["cat", "dog", "horse"], ["car", "train", "bus"]
WORDS = ANIMALS + VEHICLES
VECTORS = WordVectors.quantize(
    WORDS,
    [[9, 1, 0, 0], [9, 0, 1, 0], [8, 0, 0, 2], [0, 9, 1, 0], [0, 9, 0, 1], [1, 8, 0, 2]],
)
TEXTS = ["The cat and the dog", "My train is late", "", "buses, cars", "qwxyz 42"]


def same_every_time(size):
    return np.arange(size, dtype=np.uint8).tobytes()


def make(**chosen):
    return SynTF(**{"vectors": VECTORS, "vocabulary": WORDS, "length": 10, **chosen})


class RowsAsTexts(SynTF):
    """Apply SynTF to the arrays of scikit-learn's checks: each number of a row is a word."""

    def fit(self, X, y=None):
        return super().fit(self._texts(X, reset=True))

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(self._texts(X, reset=False))

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def _texts(self, X, reset):
        rows = validate_data(self, X, reset=reset).astype(float)
        words = self.vectors.words
        return [" ".join(words[int(abs(n) % len(words))] for n in row) for row in rows]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


WORDS_UNIT = RowsAsTexts(vectors=VECTORS, vocabulary=WORDS, length=5, source=same_every_time)
DOCUMENT_UNIT = RowsAsTexts(document_loss=5, source=same_every_time)


@pytest.fixture(scope="module")
def codebook_file(toy_codebook, tmp_path_factory):
    path = tmp_path_factory.mktemp("codebook") / "toy.codebook"
    toy_codebook.write(path)
    return path


def check_name(case):
    return case[1].func.__name__


@pytest.mark.parametrize("case", [*estimator_checks_generator(WORDS_UNIT)], ids=check_name)
def test_scikit_learn_checks(case):
    """No check may fail; checks of repeatable results are skipped by the tag non_deterministic."""
    estimator, check = case
    check(estimator)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", [*estimator_checks_generator(DOCUMENT_UNIT)], ids=check_name)
def test_scikit_learn_checks_of_the_document_unit(case, codebook_file, toy_vectors):
    """No check may fail or warn."""
    estimator, check = case
    check(estimator.set_params(codebook=codebook_file, vectors=toy_vectors))


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_valid_tag_types",
        "check_no_attributes_set_in_init",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_mixin_order",
        "check_estimators_unfitted",
        "check_transformers_unfitted",
    ],
)
def test_scikit_learn_checks_that_need_no_array_hold_for_syntf_itself(check):
    getattr(estimator_checks, check)("SynTF", make())


def test_tags_declare_text_input_and_randomness():
    tags = make().__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.non_deterministic
    assert tags.requires_fit


def test_clone_and_set_params_carry_every_parameter():
    made = make(epsilon=9.0, morphology="orth", stop_words={"cat"}, weights="tfidf", min_df=3)
    copied = clone(made)
    own, other = made.get_params(), copied.get_params()
    assert (own.pop("vectors").matrix == other.pop("vectors").matrix).all()
    assert own == other
    assert made.set_params(length=3, epsilon=5.0).fit(TEXTS).transform(TEXTS).sum() == 15
    assert made.guarantee_.epsilon == 5.0


def test_pipeline_predicts_topics():
    texts = ["A cat, a dog, a horse"] * 20 + ["Cars, trains and a bus"] * 20
    topics = ["animals"] * 20 + ["vehicles"] * 20
    pipeline = make_pipeline(
        make(length=50, epsilon=60.0, spelling=0.0), TfidfTransformer(), MultinomialNB()
    )
    pipeline.fit(texts, topics)
    assert pipeline.predict(["dogs", "a horse", "the train", "bus"]).tolist() == [
        "animals",
        "animals",
        "vehicles",
        "vehicles",
    ]
    copied = clone(pipeline).set_params(syntf__length=3)
    assert copied.fit(texts, topics)[0].transform(texts).sum() == 120


def test_transform_gives_csr_of_int32():
    made = make().fit_transform(TEXTS)
    assert isinstance(made, csr_matrix)
    assert issparse(made)
    assert (made.dtype, made.shape) == (np.int32, (5, 6))
    assert made.sum(axis=1).ravel().tolist() == [[10] * 5]


@pytest.mark.parametrize(
    "document",
    [
        "",
        "cat",
        b"cat",
        b"",
        b"\xff\xfe cat \x80",
        None,
        float("nan"),
        np.float64("nan"),
        np.datetime64("NaT"),
        np.str_("cat"),
        "\x00\ud800",
        "cat " * 250_000,
        "c" * 1_000_000,
        "qwxyz" * 10 + "\u202e",
    ],
    ids=lambda document: repr(document)[:20],
)
def test_any_document_gives_n_words(document):
    made = make().fit([document]).transform([document, "dog"])
    assert made.sum(axis=1).ravel().tolist() == [[10, 10]]


def test_bytes_are_decoded_and_missing_values_are_empty():
    made = make(neighbours=1, epsilon=1e5, spelling=0.0, length=500).fit([])
    columns = made.transform([b"The dog", "dogs’".encode(), b"\xff dog \xfe"]).toarray()
    assert (columns[:, 1] == 500).all()
    missing = made.transform([None, float("nan"), ""]).toarray()
    assert (missing > 20).all()  # uniform: 83 of each word, 20 is 7 standard deviations below


def test_the_same_texts_twice_give_different_draws():
    made = make(length=100).fit(TEXTS)
    assert (made.transform(TEXTS) != made.transform(TEXTS)).nnz > 0
    assert (made.fit_transform(TEXTS) != made.fit_transform(TEXTS)).nnz > 0


def test_seeded_source_is_repeatable_and_marked():
    first, again, other = (
        make(length=100, source=entropy.Seeded(seed)).fit_transform(TEXTS) for seed in (1, 1, 2)
    )
    assert (first != again).nnz == 0
    assert (first != other).nnz > 0
    assert not make(source=entropy.Seeded(1)).fit([]).guarantee_.private


@pytest.mark.parametrize("single", ["cat", "", b"cat", np.str_("cat")])
def test_a_single_text_is_refused(single):
    with pytest.raises(ValueError, match="put it in a list"):
        make().fit(single)
    with pytest.raises(ValueError, match="put it in a list"):
        make().fit([]).transform(single)


@pytest.mark.parametrize(
    "several",
    [tuple, np.array, lambda texts: np.array(texts, dtype=object), iter, dict.fromkeys],
    ids=["tuple", "array", "objects", "iterator", "keys"],
)
def test_any_iterable_of_texts_is_accepted(several):
    made = make().fit(several(TEXTS))
    assert made.transform(several(TEXTS)).shape == (5, 6)


def test_the_only_column_of_a_table_is_read():
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    frame = pandas.DataFrame({"text": TEXTS}, index=range(7, 12))
    tables = [
        frame, frame["text"], polars.DataFrame({"text": TEXTS}), polars.Series(TEXTS),
        arrow.table({"text": TEXTS}), arrow.array(TEXTS), np.array(TEXTS)[:, None],
        arrow.chunked_array([TEXTS[:2], TEXTS[2:]]),
    ]  # fmt: skip
    expected = make(source=entropy.Seeded(1)).fit_transform(TEXTS)
    for table in tables:
        found = make(source=entropy.Seeded(1)).fit_transform(table)
        assert (found != expected).nnz == 0
    (streamed,) = make(source=entropy.Seeded(1)).fit([]).iter_transform(frame)
    assert (streamed != expected).nnz == 0


def test_a_table_with_several_columns_is_refused():
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    for table in (
        pandas.DataFrame({"text": TEXTS, "topic": TEXTS}),
        polars.DataFrame({"text": TEXTS, "topic": TEXTS}),
        pandas.DataFrame(index=range(5)),
    ):
        for use in (make().fit, make().fit_transform, make().fit([]).iter_transform):
            with pytest.raises(ValueError, match="expected one column of texts"):
                use(table)


def test_a_column_transformer_selects_the_column_of_texts():
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    frame = pandas.DataFrame({"topic": range(5), "text": TEXTS})
    for column in ("text", ["text"]):
        made = ColumnTransformer([("words", make(), column)], sparse_threshold=1.0)
        assert made.fit_transform(frame).shape == (5, 6)


def test_a_generator_is_read_by_fit_and_by_transform():
    made = make(fit_vocabulary=True, vocabulary=None, min_df=1).fit(text for text in TEXTS)
    assert made.get_feature_names_out().tolist() == ["bus", "car", "cat", "dog", "train"]
    assert made.transform(text for text in TEXTS).shape == (5, 5)


def test_fit_transform_of_a_generator_transforms_all_of_it():
    assert make().fit_transform(text for text in TEXTS).shape == (5, 6)
    assert make().fit_transform((text for text in TEXTS), [0, 1, 0, 1, 0]).shape == (5, 6)


def test_transform_before_fit_is_refused():
    for use in (lambda made: made.transform(TEXTS), lambda made: made.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            use(make())


def test_feature_names_are_the_output_terms_in_order():
    names = make(vocabulary=["dog", "Car", "qwxyz", "cat"]).fit([]).get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == ["dog", "Car", "cat"]


def test_feature_names_of_the_preset_words_are_the_public_words(words_synthetic):
    names = words_synthetic.get_feature_names_out()
    assert len(names) == PRESETS["words"]["max_size"]
    made = words_synthetic.transform(["A cat chased the dog round the garden.", ""])
    assert made.shape == (2, len(names))
    assert made.sum(axis=1).ravel().tolist() == [[PRESETS["words"]["length"]] * 2]


def test_pickled_estimator_has_the_same_mechanism_and_new_draws():
    made = make(length=100, weights="tfidf").fit(TEXTS)
    copied = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert copied.guarantee_ == made.guarantee_
    assert copied.get_feature_names_out().tolist() == WORDS
    assert copied.transform(TEXTS).sum(axis=1).ravel().tolist() == [[100] * 5]
    assert (copied.transform(TEXTS) != made.transform(TEXTS)).nnz > 0


def test_pickled_estimator_contains_no_text():
    made = make().fit(["cat qwxyzcanary dog"])
    made.transform(["cat qwxyzcanary dog"])
    assert b"qwxyzcanary" not in pickle.dumps(made)


def transformed(made):
    return made.transform(TEXTS).toarray().tolist()


@pytest.mark.filterwarnings("ignore")  # libraries may warn of fork
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_processes_draw_differently():
    made = make(length=100).fit(TEXTS)
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        drawn = pool.map(transformed, [made] * 4, chunksize=1)
    drawn.append(transformed(made))
    assert all(np.sum(one, axis=1).tolist() == [100] * 5 for one in drawn)
    assert len({repr(one) for one in drawn}) == 5


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *[("epsilon", bad) for bad in (float("nan"), float("inf"), 0, -1, True)],
        *[("length", bad) for bad in (0, 1.5, True)],
        *[("spelling", bad) for bad in (-0.1, float("nan"), 2)],
        ("weights", "x"),
        ("morphology", "x"),
    ],
)
def test_a_bad_parameter_fails_in_fit_with_its_value(name, bad):
    made = make(**{name: bad})  # scikit-learn: parameters are checked in fit
    with pytest.raises(SyntfError, match=f"{name}.*{re.escape(str(bad))}"):
        made.fit(TEXTS)
    assert not hasattr(made, "guarantee_")


@pytest.mark.parametrize(
    "bad",
    [
        [1, 2, 3],
        ["cat", 3],
        [["cat"], ["dog"]],
        ["cat", 1.5],
        np.ones((2, 2)),
        np.array([["a", "b"], ["c", "d"]]),
        [np.datetime64("2020-01-01")],
    ],
    ids=["ints", "int", "lists", "float", "matrix", "text matrix", "date"],
)
def test_values_that_are_no_texts_are_refused_before_drawing(recorded, bad):
    source = recorded()
    made = make(source=source).fit(TEXTS)
    for use in (made.transform, made.fit, made.fit_transform):
        with pytest.raises(ValueError, match=r"expected (one column of )?texts"):
            use(bad)
    assert source.sizes == []


def test_failed_refit_leaves_the_old_fit():
    made = make(epsilon=9.0).fit(TEXTS)
    with pytest.raises(SyntfError):
        made.set_params(epsilon=-1).fit(TEXTS)
    assert made.guarantee_.epsilon == 9.0


def test_the_guarantee_follows_the_last_fit():
    made = make(length=3).fit(TEXTS)
    made.set_params(length=4)
    assert made.transform(TEXTS).sum() == 5 * made.guarantee_.length == 15
    assert made.fit(TEXTS).transform(TEXTS).sum() == 5 * made.guarantee_.length == 20


# Streams


def test_stream_equals_transform_of_the_same_texts():
    whole = make(source=entropy.Seeded(3)).fit([]).transform(TEXTS)
    (one,) = make(source=entropy.Seeded(3)).fit([]).iter_transform(iter(TEXTS))
    assert (whole != one).nnz == 0
    parts = list(make().fit([]).iter_transform(iter(TEXTS), batch_size=2))
    assert [part.shape for part in parts] == [(2, 6), (2, 6), (1, 6)]
    assert [part.sum(axis=1).tolist() for part in parts] == [[[10], [10]], [[10], [10]], [[10]]]


def test_stream_reads_nothing_ahead():
    read = []

    def texts():
        for number in range(10**9):
            read.append(number)
            yield f"cat {number}"

    stream = make().fit([]).iter_transform(texts(), batch_size=3)
    assert read == []
    for batch in range(1, 5):
        assert next(stream).shape == (3, 6)
        assert len(read) == 3 * batch


def test_stream_yields_finished_batches_before_an_error():
    def texts():
        yield from ["cat", "dog", "bus"]
        raise ConnectionError

    stream = make().fit([]).iter_transform(texts(), batch_size=2)
    assert next(stream).shape == (2, 6)
    with pytest.raises(ConnectionError):
        next(stream)


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", None])
def test_invalid_batch_size_is_refused_at_once(size):
    with pytest.raises(ValueError, match="batch_size must be a whole number, at least 1"):
        make().fit([]).iter_transform([], batch_size=size)


def test_stream_refuses_what_transform_refuses():
    with pytest.raises(ValueError, match="got a single text: put it in a list"):
        make().fit([]).iter_transform("cat")
    with pytest.raises(ValueError, match="ids and authors need a ledger"):
        make().fit([]).iter_transform([], ids=[])
    with pytest.raises(NotFittedError):
        make().iter_transform([])
    assert list(make().fit([]).iter_transform([])) == []


def test_a_path_is_no_ledger(tmp_path):
    Ledger.create(tmp_path / "ledger", budget=100)
    synthetic = make(loss=6, length=10, ledger=str(tmp_path / "ledger"))
    with pytest.raises(SyntfError, match=r"ledger is a Ledger: open the file with Ledger\(path\)"):
        synthetic.fit_transform(["cat"], ids=["m1"])


def test_stream_charges_the_ledger_per_batch(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=100)
    synthetic = make(loss=6, length=10, ledger=ledger).fit([])
    stream = synthetic.iter_transform(iter(["cat"] * 4), ids=iter("abca"), batch_size=2)
    assert next(stream).shape == (2, 6)
    with pytest.raises(SyntfError):  # the second draw for "a"
        next(stream)
