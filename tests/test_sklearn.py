"""The estimator: scikit-learn's own checks, texts in every form, the pilot, and the ledger."""

import pickle
import re

import numpy as np
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

from syntf import BudgetError, Ledger, Settings, SynTF, SyntfError
from syntf.core import entropy
from syntf.rows import Scheme
from syntf.topics import plan
from syntf.topics.codebook import Codebook
from syntf.words.vectors import WordVectors

pd = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")

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
    """An estimator of single words."""
    words = {"preset": "words", "vectors": VECTORS, "vocabulary": WORDS, "length": 10}
    return SynTF(**{**words, **chosen})


@pytest.fixture(scope="module")
def codebook_file(toy_codebook, tmp_path_factory):
    path = tmp_path_factory.mktemp("codebook") / "toy.codebook"
    toy_codebook.save(path)
    return path


@pytest.fixture
def make_topics(codebook_file, toy_vectors):
    """An estimator of whole documents, with four topics and *nothing known*."""

    def made(**chosen):
        given = {"document_loss": 4.0, "codebook": codebook_file, "vectors": toy_vectors}
        return SynTF(**{**given, **chosen})

    return made


@pytest.fixture
def pilot(monkeypatch):
    """A pilot of 30 documents, from 100 documents on, also for a codebook of one's own."""
    monkeypatch.setattr(Codebook, "is_near", False)
    monkeypatch.setattr(plan, "PILOT_FROM", 100)
    monkeypatch.setattr(plan, "pilot_size", lambda documents: 30)


@pytest.fixture
def drawn(monkeypatch):
    """For how many documents each list of answers was drawn from, in order."""
    seen = []
    answer = Scheme.answer

    def record(self, encoded, source):
        seen.append((len(encoded), self.digest))
        return answer(self, encoded, source)

    monkeypatch.setattr(Scheme, "answer", record)
    return seen


# scikit-learn's checks


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


def check_name(case):
    return case[1].func.__name__


OF_WORDS = RowsAsTexts(
    preset="words", vectors=VECTORS, vocabulary=WORDS, length=5, source=same_every_time
)
OF_TOPICS = RowsAsTexts(document_loss=5, source=same_every_time)


OTHER = "check_do_not_raise_errors_in_init_or_set_params"
"""It gives a parameter `unknown`, which SynTF refuses. A test below has the same purpose."""


@pytest.mark.parametrize("case", [*estimator_checks_generator(OF_WORDS)], ids=check_name)
def test_scikit_learn_checks(case):
    """No check may fail; checks of repeatable results are skipped by the tag non_deterministic."""
    estimator, check = case
    if check_name(case) != OTHER:
        check(estimator)


@pytest.mark.parametrize("case", [*estimator_checks_generator(OF_TOPICS)], ids=check_name)
def test_scikit_learn_checks_of_topics(case, codebook_file, toy_vectors):
    estimator, check = case
    if check_name(case) != OTHER:
        check(estimator.set_params(codebook=codebook_file, vectors=toy_vectors))


def test_parameters_are_stored_as_they_are():
    for value in (-1, 3.0, "string", [], {}, None, np.nan, np.array([1, 2])):
        names = SynTF().get_params()
        made = SynTF(**dict.fromkeys(names, value))
        assert all(found is value for found in made.get_params(deep=False).values())
        made.set_params(**dict.fromkeys(names, value))


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable", "check_estimator_repr", "check_estimator_tags_renamed",
        "check_valid_tag_types", "check_no_attributes_set_in_init",
        "check_parameters_default_constructible", "check_get_params_invariance",
        "check_set_params", "check_mixin_order",
        "check_estimators_unfitted", "check_transformers_unfitted",
    ],
)  # fmt: skip
def test_checks_that_need_no_array_hold_for_syntf_itself(check):
    getattr(estimator_checks, check)("SynTF", make())


def test_tags_declare_text_input_and_randomness():
    tags = make().__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.non_deterministic
    assert tags.requires_fit


def test_clone_and_set_params_carry_every_parameter(make_topics):
    made = make_topics(language="en", preset="document")
    own, copied = made.get_params(), clone(made).get_params()
    assert own.pop("vectors").digest == copied.pop("vectors").digest
    assert own == copied
    changed = clone(made).set_params(document_loss=7)
    assert changed.fit([]).guarantee_.loss_per_document == 7


def test_a_pipeline_predicts_topics():
    texts = ["A cat, a dog, a horse"] * 20 + ["Cars, trains and a bus"] * 20
    topics = ["animals"] * 20 + ["vehicles"] * 20
    pipeline = make_pipeline(make(length=50, word_loss=20.0), TfidfTransformer(), MultinomialNB())
    pipeline.fit(texts, topics)
    found = pipeline.predict(["dogs", "a horse", "the train", "bus"]).tolist()
    assert found == ["animals", "animals", "vehicles", "vehicles"]
    copied = clone(pipeline).set_params(syntf__length=3)
    assert copied.fit(texts, topics)[0].transform(texts).sum() == 120


def test_a_global_output_format_changes_nothing():
    """Like the vectorisers of scikit-learn: the counts are sparse."""
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(make().fit_transform(TEXTS), csr_matrix)


def test_feature_names_are_the_output_words_in_order():
    names = make(vocabulary=["dog", "Car", "qwxyz", "cat"]).fit([]).get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == ["dog", "Car", "cat"]


def test_transform_before_fit_is_refused():
    for use in (lambda made: made.transform(TEXTS), lambda made: made.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            use(make())


# Texts in every form


@pytest.mark.parametrize(
    "document",
    ["", "cat", b"cat", b"\xff\xfe cat \x80", None, float("nan"), np.float64("nan"),
     np.datetime64("NaT"), pd.NA, pd.NaT, np.str_("cat"), "\x00\ud800", "cat " * 50_000,
     "c" * 1_000_000],
    ids=lambda document: repr(document)[:20],
)  # fmt: skip
def test_any_document_gives_as_many_words(document):
    made = make().fit([document]).transform([document, "dog"])
    assert isinstance(made, csr_matrix)
    assert made.dtype == np.int32
    assert made.sum(axis=1).ravel().tolist() == [[10, 10]]


def test_missing_values_are_empty_texts(make_topics):
    """They are asked for by their target: *nothing known*."""
    made = make_topics(document_loss=60.0).fit_transform([None, float("nan"), "", b"the cat"])
    assert made[:3].nnz == 0
    assert made[3].nnz > 0


@pytest.mark.parametrize(
    "several",
    [tuple, np.array, lambda texts: np.array(texts, dtype=object), iter, pd.Series, pl.Series,
     pa.array, lambda texts: pd.Series(texts, dtype="category"), lambda texts: (t for t in texts),
     lambda texts: pl.DataFrame({"text": texts}), lambda texts: pa.table({"text": texts}),
     lambda texts: pd.DataFrame({"text": texts}, index=range(7, 12)),
     lambda texts: np.array(texts)[:, None],
     lambda texts: pa.chunked_array([texts[:2], texts[2:]])],
)  # fmt: skip
def test_any_iterable_of_texts_is_read_alike(several):
    expected = make(source=entropy.Seeded(1)).fit_transform(TEXTS)
    found = make(source=entropy.Seeded(1)).fit_transform(several(TEXTS), [0, 1, 0, 1, 0])
    assert (found != expected).nnz == 0


TWO = {"text": TEXTS, "topic": TEXTS}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("cat", "got str: give a list"),
        (b"cat", "got bytes: give a list"),
        (np.str_("cat"), "got str_: give a list"),
        (TWO, "got dict: give a list, or one column"),
        (pd.DataFrame(TWO), "got a table of shape .5, 2.: choose the column, for example X"),
        (pl.DataFrame(TWO), "got a table of shape .5, 2.: choose the column, for example X"),
        (pl.LazyFrame(TWO), "got LazyFrame: give a list, or one column"),
        (pa.table(TWO), "got a table of shape .5, 2.: choose the column"),
        (pd.DataFrame({"topic": [0, 1]}), "got int.*: give the column of the texts"),
        (pd.DataFrame(index=range(5)), "got a table of shape .5, 0."),
        ([1, 2, 3], "got int: give the column of the texts"),
        (["cat", 3], "got int"),
        ([["cat"], ["dog"]], "got list"),
        (np.ones((2, 2)), "got a table of shape .2, 2."),
        ([np.datetime64("2020-01-01")], "got datetime64"),
        (pl.Series([True]), "got bool"),
    ],
)
def test_what_is_no_list_of_texts_is_refused_before_drawing(recorded, bad, message):
    """Going through a table would give its names of columns, or one text for all rows."""
    source = recorded()
    made = make(source=source).fit(TEXTS)
    for use in (made.transform, make().fit, made.fit_transform):
        with pytest.raises(SyntfError, match=f"expected .*texts.*{message}"):
            use(bad)
    assert source.sizes == []


def test_a_column_transformer_selects_the_column_of_texts():
    frame = pd.DataFrame({"topic": range(5), "text": TEXTS})
    for column in ("text", ["text"]):
        made = ColumnTransformer([("words", make(), column)], sparse_threshold=1.0)
        assert made.fit_transform(frame).shape == (5, 6)


def test_no_texts_have_no_rows(make_topics):
    made = make_topics()
    assert made.fit_transform([]).shape == (0, len(made.get_feature_names_out()))
    assert made.transform([]).shape[0] == 0


# Parameters


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"loss": 8}, r"loss is gone since 0\.3; use word_loss .* or document_loss"),
        ({"neighbours": 2}, "neighbours is gone since 0.3; use nothing"),
        ({"min_df": 2}, "min_df is gone since 0.3; use fit_vocabulary=N"),
        ({"morphology": "orth"}, "give morphology by settings: .*Settings.of.morphology="),
        ({"document_los": 8}, "no parameter 'document_los'; did you mean 'document_loss'"),
        ({"n_jobs": 2}, "no parameter 'n_jobs'"),
    ],
)
def test_a_parameter_that_is_gone_names_its_replacement(chosen, message):
    with pytest.raises(SyntfError, match=message):
        SynTF(**chosen)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"epsilon": 10}, "epsilon is the paper's parameter for one word: add preset='paper'"),
        ({"document_loss": 10, "word_loss": 8}, "document_loss and word_loss exclude each other"),
        ({"document_loss": 10, "length": 50}, "length belongs to word_loss and epsilon"),
        ({"preset": "words", "document_loss": 10}, "exclude each other"),
        ({"preset": "best"}, "preset must be document or words or accurate or paper"),
        ({"settings": Settings(), "length": 3}, "give settings or length, not both"),
        ({"settings": Settings(), "vocabulary": np.array(WORDS)}, "give settings or vocabulary"),
        *[
            ({"document_loss": bad}, f"document_loss must be .*{re.escape(str(bad))}")
            for bad in (0, -1, float("nan"), float("inf"), True, "10")
        ],
        *[({"length": bad}, f"length must be .*{bad}") for bad in (0, 1.5, True)],
    ],
)  # fmt: skip
def test_a_wrong_parameter_fails_in_fit_with_its_value(chosen, message):
    made = SynTF(**chosen)  # scikit-learn: parameters are checked in fit
    with pytest.raises(SyntfError, match=message):
        made.fit(TEXTS)
    assert not hasattr(made, "guarantee_")


def test_all_settings_can_be_given_at_once(codebook_file, toy_vectors):
    chosen = Settings.of(
        document_loss=3, codebook=codebook_file, vectors=toy_vectors, morphology="orth", pilot=False
    )
    made = SynTF(settings=chosen).fit([])
    assert made.guarantee_.loss_per_document == 3
    assert made.guarantee_.settings["morphology"] == "orth"


def test_a_failed_refit_leaves_the_old_fit():
    made = make(word_loss=3.0).fit(TEXTS)
    with pytest.raises(SyntfError):
        made.set_params(word_loss=-1).fit(TEXTS)
    assert made.guarantee_.loss_per_document == pytest.approx(30)


def test_the_guarantee_follows_the_last_fit():
    made = make(length=3).fit(TEXTS)
    made.set_params(length=4)
    assert made.transform(TEXTS).sum() == 15
    assert made.guarantee_.composition[0].draws == 3
    assert made.fit(TEXTS).transform(TEXTS).sum() == 20


# Draws


def test_the_same_texts_twice_give_different_draws(make_topics):
    for made in (make(length=100), make_topics(document_loss=0.5)):
        texts = TEXTS * 20
        made.fit(texts)
        assert (made.transform(texts) != made.transform(texts)).nnz > 0
        assert (made.fit_transform(texts) != made.fit_transform(texts)).nnz > 0


def test_a_seed_repeats_the_draws_and_voids_the_guarantee(make_topics):
    first, again, other = (
        make_topics(source=entropy.Seeded(seed)).fit_transform(TEXTS * 20) for seed in (1, 1, 2)
    )
    assert (first != again).nnz == 0
    assert (first != other).nnz > 0
    assert not make_topics(source=entropy.Seeded(1)).fit([]).guarantee_.private
    assert make_topics().fit([]).guarantee_.private


def test_fit_transform_sharpens_the_list_for_later_texts(make_topics, pilot, drawn):
    made = make_topics()
    counts = made.fit_transform(["the cat", "a car", "music", "bread and cheese"] * 30)
    (first, general), (rest, sharpened) = drawn
    assert (first, rest) == (30, 90)
    assert general != sharpened
    assert (made.pilot_.sum(), len(made.topics_), counts.shape[0]) == (30, 120, 120)
    assert len(made.guarantee_.composition) == 2
    assert made.guarantee_.documents == 120
    assert made.guarantee_.loss_per_document == 4
    made.transform(["a dog"])
    assert drawn[2:] == [(1, sharpened)]
    assert counts.shape[1] == made.transform(["a dog"]).shape[1]
    pickle.loads(pickle.dumps(made)).transform(["a dog"])  # noqa: S301
    assert drawn[-1] == (1, sharpened)
    made.fit([]).transform(["a dog"])
    assert drawn[-1] == (1, general)
    assert not hasattr(made, "topics_")


def test_what_was_released_has_a_readable_name(make_topics):
    made = make_topics(document_loss=60.0)
    made.fit_transform(["cat", "qwxyz"])
    assert made.topics_[1] == "nothing known"
    assert made.topics_[0] != "nothing known"
    assert not hasattr(make().fit_transform(TEXTS), "topics_")


@pytest.mark.parametrize("preset", ["words", "paper", "document"])
def test_a_pickle_draws_anew_and_holds_no_text(make_topics, preset):
    made = make_topics() if preset == "document" else make(preset=preset, length=100)
    made.fit_transform(["cat qwxyzcanary dog"])
    stored = pickle.dumps(made)
    assert b"qwxyzcanary" not in stored
    copied = pickle.loads(stored)  # noqa: S301
    assert copied.guarantee_ == made.guarantee_
    assert copied.get_feature_names_out().tolist() == made.get_feature_names_out().tolist()
    texts = ["a dog"] * 50
    assert (copied.transform(texts) != made.transform(texts)).nnz > 0


# The ledger


def test_the_ledger_is_charged_before_every_draw(tmp_path, make_topics, drawn):
    ledger = Ledger.create(tmp_path / "ledger", document=6)
    made = make_topics(ledger=ledger)
    made.fit_transform(TEXTS)
    assert len(drawn) == 1
    with pytest.raises(BudgetError, match="has lost 4 and would lose another 4"):
        made.transform(TEXTS[:1])  # a second draw for the same text
    assert len(drawn) == 1
    made.transform(["another text"])
    assert [run.documents for run in ledger.runs()] == [5, 1]


def test_ids_and_authors_are_charged_in_place_of_texts(tmp_path, make_topics):
    ledger = Ledger.create(tmp_path / "ledger", document=6, author=9)
    made = make_topics(ledger=ledger).fit([])
    made.transform(["a", "b"], ids=pd.Series([1, 2]), authors=(name for name in ("ann", "ann")))
    with pytest.raises(BudgetError, match="1 author would lose more than 9"):
        made.transform(["c"], ids=[3], authors=["ann"])
    with pytest.raises(BudgetError, match="1 document would lose more than 6"):
        made.transform(["d"], ids=[1], authors=["bob"])
    assert len(ledger.runs()) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"ids": [1]}, "there are 1 ids for 2 texts"),
        ({"ids": [1, 2, 3]}, "there are 3 ids for 2 texts"),
        ({"authors": ["ann"]}, "there are 1 authors for 2 texts"),
    ],
)
def test_ids_that_do_not_fit_are_refused(tmp_path, names, message):
    ledger = Ledger.create(tmp_path / "ledger", document=99, author=999)
    with pytest.raises(SyntfError, match=message):
        make(ledger=ledger).fit([]).transform(["a", "b"], **{"authors": ["x", "y"], **names})
    assert not ledger.runs()
    with pytest.raises(SyntfError, match="ids and authors are for a ledger"):
        make().fit([]).transform(["a", "b"], ids=[1, 2])
