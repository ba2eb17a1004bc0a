"""The estimator in the document unit: exactly the loss asked for, and scikit-learn's rules."""

import multiprocessing
import pickle
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from syntf import SynTF
from syntf.codebook import plan
from syntf.core import entropy
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.pipeline.document import DocumentMechanism
from syntf.releases.job import release

SPACE = "the rocket carried a satellite into orbit around the moon {}"
FOOD = "we cooked soup with garlic, onions and fresh bread {}"
TEXTS = [text.format(number) for number in range(60) for text in (SPACE, FOOD)]


@pytest.fixture
def small(monkeypatch):
    """A pilot from 100 documents on."""
    monkeypatch.setattr(plan, "PILOT_FROM", 100)


@pytest.fixture
def drawn(monkeypatch):
    """Records the number of documents and the list of every draw."""
    draws = []

    def draw(self, encoded, entry_list, original=DocumentMechanism.draw):
        draws.append((len(encoded), entry_list.digest))
        return original(self, encoded, entry_list)

    monkeypatch.setattr(DocumentMechanism, "draw", draw)
    return draws


@pytest.fixture
def earlier(tmp_path, small):
    """The folder of a release of 120 texts, made with a pilot, at a loss of 8."""
    pl.DataFrame({"text": TEXTS}).write_csv(tmp_path / "texts.csv")
    release(tmp_path / "texts.csv", tmp_path / "earlier", document_loss=8)
    return tmp_path / "earlier"


def same_every_time(size):
    return np.arange(size, dtype=np.uint8).tobytes()


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_no_attributes_set_in_init",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_get_params_invariance",
        "check_set_params",
        "check_transformers_unfitted",
    ],
)
def test_scikit_learn_checks_that_need_no_array_hold_for_syntf_itself(check):
    getattr(estimator_checks, check)("SynTF", SynTF(document_loss=10))


@pytest.mark.parametrize("loss", [1, 4, 10, 12.5, 20, 45])
def test_the_guarantee_states_exactly_the_loss_that_was_asked_for(loss):
    synthetic = SynTF(document_loss=loss)
    assert synthetic.fit([]).guarantee_.loss_per_document == loss
    counts = synthetic.fit_transform(TEXTS[:6])
    assert synthetic.guarantee_.loss_per_document == loss
    assert synthetic.guarantee_.private
    assert isinstance(counts, csr_matrix)
    assert counts.dtype == np.int32
    assert counts.shape == (6, len(synthetic.get_feature_names_out()))
    assert len(set(counts.sum(axis=1).ravel().tolist()[0])) == 1
    assert len(synthetic.labels_) == 6
    assert synthetic.pilot_.tolist() == [False] * 6


def test_fit_reads_no_text(recorded):
    source = recorded()
    first = SynTF(document_loss=10, source=source).fit(TEXTS).guarantee_
    assert first == SynTF(document_loss=10, source=source).fit([]).guarantee_
    assert source.sizes == []


def test_the_topic_survives_and_has_a_label():
    """The labels are words of the counts, and most texts on one topic have the same label."""
    synthetic = SynTF(document_loss=10).fit([])
    counts, labels = synthetic.transform_with_labels(TEXTS)
    names = synthetic.get_feature_names_out()
    for row, label in zip(counts, labels, strict=True):
        assert set(label.split(", ")) <= set(names[row.indices])
    leading = [Counter(labels[place::2]).most_common(1)[0] for place in (0, 1)]
    assert leading[0][0] != leading[1][0]
    assert all(times > 40 for _, times in leading)  # of 60, each kept with a probability of 97 %


def test_fit_transform_draws_for_every_document_once_and_sharpens_the_list(small, drawn):
    synthetic = SynTF(document_loss=8)
    counts = synthetic.fit_transform(TEXTS)
    unit = synthetic.guarantee_.document
    (pilot, general), (others, sharpened) = drawn
    assert counts.shape[0] == pilot + others == 120
    assert synthetic.pilot_.sum() == pilot == unit.pilot == 18
    assert [unit.general, unit.sharpened] == [f"sha256:{general}", f"sha256:{sharpened}"]
    synthetic.transform(TEXTS[:3])
    assert drawn[2] == (3, sharpened)


def test_without_a_pilot_all_answer_from_the_general_list(small, drawn):
    synthetic = SynTF(document_loss=8, pilot=False)
    synthetic.fit_transform(TEXTS)
    assert drawn == [(120, synthetic.guarantee_.document.general.removeprefix("sha256:"))]
    assert synthetic.guarantee_.document.sharpened == ""


def test_transform_leaves_the_estimator_as_it_was(small):
    synthetic = SynTF(document_loss=8).fit(TEXTS)
    synthetic.transform(TEXTS)
    assert not hasattr(synthetic, "labels_")
    synthetic.fit_transform(TEXTS)
    labels, guarantee = list(synthetic.labels_), synthetic.guarantee_
    synthetic.transform(TEXTS[:2])
    assert (synthetic.labels_, synthetic.guarantee_) == (labels, guarantee)
    assert not hasattr(synthetic.fit([]), "labels_")


# Lists and codebooks


def test_the_list_of_an_earlier_release_serves_later_documents(earlier, drawn):
    synthetic = SynTF(document_loss=8, list_from=earlier).fit([])
    unit = synthetic.guarantee_.document
    assert synthetic.guarantee_.loss_per_document == 8
    assert (unit.pilot, unit.sharpened_entries > 1) == (0, True)
    synthetic.transform(TEXTS[:2])
    synthetic.fit_transform(TEXTS)  # no second pilot
    assert drawn == [(size, unit.sharpened.removeprefix("sha256:")) for size in (2, 120)]


@pytest.mark.parametrize("loss", [12.5, 30])
def test_the_list_of_words_of_an_earlier_release_is_derived_again(tmp_path, small, loss):
    pl.DataFrame({"text": TEXTS}).write_csv(tmp_path / "texts.csv")
    made = release(tmp_path / "texts.csv", tmp_path / "out", document_loss=loss, shuffle=True)
    synthetic = SynTF(document_loss=loss, list_from=tmp_path / "out").fit([])
    assert synthetic.guarantee_.document.sharpened == made.guarantee.document.sharpened
    assert synthetic.transform(TEXTS[:2]).shape[0] == 2


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"document_loss": 10}, "made with a loss of 8 per document, not 10"),
        ({"loss": 8}, "give document_loss"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(earlier, chosen, message):
    with pytest.raises(SyntfError, match=message):
        SynTF(list_from=earlier, **chosen).fit([])


def test_a_release_without_a_usable_list_is_refused(earlier, tmp_path):
    def refused(folder, message):
        with pytest.raises(SyntfError, match=message):
            SynTF(document_loss=8, list_from=folder).fit([])

    texts = tmp_path / "texts.csv"
    refused(tmp_path / "nowhere", "is not a release")
    release(texts, tmp_path / "general", document_loss=8, pilot=False)
    refused(tmp_path / "general", "without a pilot")
    release(texts, tmp_path / "words", preset="words", length=5)
    refused(tmp_path / "words", "words unit")
    release(texts, tmp_path / "seeded", document_loss=8, insecure_seed=1)
    refused(tmp_path / "seeded", "not private")
    rows = pl.read_parquet(earlier / "documents.parquet")
    rows.with_columns(pilot=pl.lit(True)).write_parquet(earlier / "documents.parquet")
    refused(earlier, "do not lead to the list")
    rows.drop("pilot").write_parquet(earlier / "documents.parquet")
    refused(earlier, "no readable rows of a pilot")


def test_a_codebook_of_topics_names_what_is_released(tmp_path, embedded):
    from syntf.codebook.codebook import Codebook
    from syntf.text.tokenizer import Analyzer

    topics = ["space travel", "cooking", "football", "law and courts"]
    Codebook.from_topics(topics, embedded, Analyzer()).write(tmp_path / "topics.codebook")
    synthetic = SynTF(document_loss=10, codebook=tmp_path / "topics.codebook")
    synthetic.fit_transform(TEXTS)
    assert synthetic.guarantee_.supplied == ["codebook"]
    assert synthetic.labels_[:4].count("space travel") >= 1
    assert set(synthetic.labels_) <= set(topics)


# Errors


@pytest.mark.parametrize(
    "chosen",
    [
        {"document_loss": 10, "loss": 8},
        {"document_loss": 10, "length": 50},
        {"document_loss": 10, "vocabulary": ["cat", "dog"]},
        {"preset": "words", "document_loss": 10},
        {"preset": "words", "pilot": False},
    ],
    ids=str,
)
def test_settings_of_both_units_together_are_refused(chosen):
    with pytest.raises(SyntfError, match="leave"):
        SynTF(**chosen).fit([])


@pytest.mark.parametrize("loss", [0, -1, float("nan"), float("inf"), True, "10"])
def test_a_loss_that_is_no_positive_number_is_refused(loss):
    with pytest.raises(SyntfError, match="document_loss"):
        SynTF(document_loss=loss).fit([])


def test_labels_need_the_document_unit():
    with pytest.raises(SyntfError, match="document unit"):
        SynTF(loss=6, vocabulary=["cat", "dog"]).fit([]).transform_with_labels(["cat"])


# scikit-learn


def test_clone_and_set_params_carry_every_parameter(tmp_path):
    made = SynTF(document_loss=6.5, pilot=False, codebook=tmp_path, list_from=tmp_path)
    assert clone(made).get_params() == made.get_params()
    changed = clone(made).set_params(document_loss=7, codebook=None, list_from=None)
    assert changed.fit([]).guarantee_.loss_per_document == 7


def test_pipeline_predicts_topics():
    pipeline = make_pipeline(SynTF(document_loss=10), MultinomialNB())
    pipeline.fit(TEXTS, ["space", "food"] * 60)
    found = pipeline.predict(["A moon mission", "Bake the bread with garlic"] * 50)
    assert (found == np.array(["space", "food"] * 50)).mean() > 0.8
    assert pipeline.set_params(syntf__document_loss=4).fit(TEXTS, ["space", "food"] * 60)


def test_pickled_estimator_keeps_the_list_and_draws_anew(small, drawn):
    synthetic = SynTF(document_loss=8)
    synthetic.fit_transform([*TEXTS, "qwxyzcanary"])
    stored = pickle.dumps(synthetic)
    assert b"qwxyzcanary" not in stored
    copied = pickle.loads(stored)  # noqa: S301
    assert copied.guarantee_ == synthetic.guarantee_
    assert copied.get_feature_names_out().tolist() == synthetic.get_feature_names_out().tolist()
    first, second = copied.transform(TEXTS), synthetic.transform(TEXTS)
    assert drawn[-1] == drawn[-2] == (120, synthetic.guarantee_.document.sharpened[7:])
    assert (first != second).nnz > 0


def _transformed(synthetic):
    return synthetic.transform(TEXTS).toarray().tolist()


@pytest.mark.filterwarnings("ignore")  # libraries may warn of fork
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_processes_draw_differently():
    synthetic = SynTF(document_loss=4).fit([])
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        found = pool.map(_transformed, [synthetic] * 2, chunksize=1)
    assert found[0] != found[1]


def test_a_seeded_source_repeats_its_draws_and_is_marked():
    first, again = (
        SynTF(document_loss=4, source=entropy.Seeded(1)).fit_transform(TEXTS) for _ in range(2)
    )
    assert (first != again).nnz == 0
    assert not SynTF(document_loss=4, source=entropy.Seeded(1)).fit([]).guarantee_.private


def test_a_stream_gives_one_matrix_a_batch():
    synthetic = SynTF(document_loss=10).fit([])
    shapes = [part.shape[0] for part in synthetic.iter_transform(iter(TEXTS[:5]), batch_size=2)]
    assert shapes == [2, 2, 1]


def test_the_ledger_is_charged_the_loss_of_each_document(tmp_path, small, drawn):
    ledger = Ledger.create(tmp_path / "ledger", budget=15)
    synthetic = SynTF(document_loss=10, ledger=ledger)
    synthetic.fit_transform(TEXTS)
    before = list(drawn)
    with pytest.raises(BudgetError, match=r"has 5.00 left and would lose 10.00"):
        synthetic.transform(TEXTS[:1])  # a second draw for the same text
    with pytest.raises(BudgetError):
        synthetic.transform_with_labels(TEXTS[:1])
    assert drawn == before


def test_importing_the_estimator_does_not_load_polars(python):
    import subprocess

    script = (
        "import sys; from syntf import SynTF; SynTF(document_loss=10).fit_transform(['a']); "
        "sys.exit('polars' in sys.modules)"
    )
    assert subprocess.run([python, "-c", script]).returncode == 0
    assert "polars" in sys.modules


def test_no_texts_have_no_rows():
    synthetic = SynTF()
    assert synthetic.fit_transform([]).shape == (0, len(synthetic.get_feature_names_out()))
    assert synthetic.transform([]).shape[0] == 0
