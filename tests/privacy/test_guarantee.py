import dataclasses
import json
from decimal import Decimal, localcontext
from fractions import Fraction
from math import nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntf
from syntf import SynTF
from syntf.core import entropy
from syntf.mechanism import neighbourhood
from syntf.mechanism.exponential import SCHEME
from syntf.pipeline.settings import PRESETS
from syntf.privacy import bounds
from syntf.privacy.guarantee import FORMAT, declared_fields

FIELDS = {
    "mechanism",
    "epsilon",
    "length",
    "morphology",
    "analyzer",
    "vocabulary_size",
    "loss_per_word",
    "loss_per_document",
    "provenance",
    "kept_columns",
    "digest",
    "private",
    "version",
}
SUPPLIED = ["Public only according to the sender of this release: vocabulary and vectors."]
PUBLIC = {"vocabulary": "public", "vectors": "public", "stop_words": "public", "idf": "public"}


@pytest.fixture
def make(toy_vectors, toy_words):
    def fitted(texts=(), **chosen):
        given = {"preset": "paper", "vectors": toy_vectors, "vocabulary": toy_words, **chosen}
        return SynTF(**given).fit(texts)

    return fitted


def test_the_record_is_complete(make, toy_words):
    record = json.loads(make(epsilon=20.0, length=30, spelling=0.25).guarantee_.as_json())
    assert set(record) >= FIELDS
    assert record["mechanism"] == SCHEME
    assert (record["epsilon"], record["length"], record["spelling"]) == (20.0, 30, 0.25)
    assert (record["vocabulary_size"], record["input_size"]) == (40, 40)
    assert set(record["loss_per_word"]) == {"standard", "improved", "tight"}
    assert record["loss_per_word"]["standard"] == 20.0
    assert record["loss_per_word"]["improved"] == bounds.improved_loss(20.0, 40)
    assert record["provenance"] == PUBLIC
    assert (record["private"], record["supplied"]) == (True, ["vocabulary", "vectors"])
    assert (record["kept_columns"], record["format"]) == ([], FORMAT)
    assert record["version"] == syntf.__version__
    algorithm, _, digest = record["digest"].partition(":")
    assert (algorithm, len(bytes.fromhex(digest))) == ("sha256", 32)


def test_the_record_holds_no_sentences(make):
    """Sentences are derived from the fields, so rewording them leaves the record unchanged."""
    guarantee = make(source=entropy.Seeded(1)).guarantee_
    assert "caveats" not in guarantee.as_dict()
    assert guarantee.caveats[0].startswith("NOT PRIVATE")


def test_every_field_accepts_what_is_written(make):
    record = make().guarantee_.as_dict()
    for declared in declared_fields(FORMAT):
        if declared.name != "template":  # empty before a release is written
            assert declared.metadata["valid"](record[declared.name])


def test_the_record_reads_the_same_as_json_dict_and_items(make):
    guarantee = make().guarantee_
    assert json.loads(guarantee.as_json()) == guarantee.as_dict()
    assert guarantee.as_json().endswith("}\n")
    assert all(guarantee[key] == value for key, value in guarantee.as_dict().items())
    with pytest.raises(KeyError):
        guarantee["secret"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.private = True


def test_neighbours_are_recorded_and_name_their_mechanism(make):
    record = json.loads(make(neighbours=2, loss=4.0).guarantee_.as_json())
    assert (record["mechanism"], record["neighbours"]) == (neighbourhood.SCHEME, 2)
    assert (record["epsilon"], record["private"]) == (8.0, True)
    assert json.loads(make().guarantee_.as_json())["neighbours"] is None


@pytest.mark.parametrize("neighbours", [None, 1, 5])
@settings(max_examples=40)
@given(epsilon=st.floats(0.01, 300), spelling=st.floats(0, 1))
def test_tight_is_at_most_improved_is_at_most_standard(
    toy_vectors, toy_words, neighbours, epsilon, spelling
):
    made = SynTF(
        vectors=toy_vectors, vocabulary=toy_words, epsilon=epsilon, spelling=spelling,
        neighbours=neighbours, preset="paper",
    )  # fmt: skip
    losses = made.fit([]).guarantee_.loss_per_word
    assert 0 < losses.tight <= losses.improved <= losses.standard == epsilon
    assert neighbours is None or losses.tight <= epsilon / 2


@pytest.mark.parametrize("neighbours", [None, 1, 3])
def test_the_tight_loss_is_the_worst_ratio_of_any_two_rows_brute_force(make, neighbours):
    made = make(epsilon=30.0, neighbours=neighbours)
    mechanism = made._anonymizer.mechanism
    assert mechanism.shape == (41, 40)  # the empty document is a row like any other
    rows = np.array([mechanism.weights(row).tolist() for row in range(41)], dtype=object)
    worst = max(Fraction(max(column), min(column)) for column in rows.T)
    assert Fraction(made.guarantee_.loss_ratio) == worst
    with localcontext(prec=60):
        tight = Decimal(made.guarantee_.loss_per_word.tight)
        below = Decimal(nextafter(made.guarantee_.loss_per_word.tight, 0))
        exact = Decimal(worst.numerator) / Decimal(worst.denominator)
        assert below.exp() < exact <= tight.exp()


@pytest.mark.parametrize("length", [1, 2, 3, 7, 100, 150, 12_345, 1 << 20])
def test_the_loss_of_a_document_is_rounded_up_and_no_further(make, length):
    guarantee = make(length=length).guarantee_
    exact = length * Fraction(guarantee.loss_per_word.tight)
    assert Fraction(nextafter(guarantee.loss_per_document, 0)) < exact
    assert exact <= Fraction(guarantee.loss_per_document)


def test_the_preset_words_keeps_its_promise(words_synthetic):
    guarantee, chosen = words_synthetic.guarantee_, PRESETS["words"]
    losses = guarantee.loss_per_word
    assert (guarantee.vocabulary_size, guarantee.length) == (chosen["max_size"], chosen["length"])
    assert (guarantee.private, list(guarantee.caveats)) == (True, [])
    assert guarantee.input_size >= 100_000
    assert losses.tight <= chosen["loss"] == losses.standard / 2
    assert losses.tight == pytest.approx(chosen["loss"], abs=1e-9)
    assert Fraction(guarantee.loss_per_document) >= guarantee.length * Fraction(losses.tight)


def test_the_paper_keeps_what_it_promises():
    guarantee = SynTF(preset="paper").fit([]).guarantee_
    losses = guarantee.loss_per_word
    assert (guarantee.vocabulary_size, guarantee.length, guarantee.private) == (10_000, 150, True)
    assert (guarantee.neighbours, guarantee.weights, guarantee.draws) == (None, "tf", "independent")
    assert losses.tight <= losses.improved <= losses.standard == 47.5
    assert losses.tight == pytest.approx(25.6, abs=0.3)
    assert losses.improved == pytest.approx(32.96, abs=0.01)


def test_a_seeded_source_is_not_private(make):
    guarantee = make(source=entropy.Seeded(1)).guarantee_
    assert guarantee.private is False
    assert any("NOT PRIVATE" in caveat for caveat in guarantee.caveats)
    assert guarantee.provenance == PUBLIC


TEXTS = ["cat dog cat", "dog mouse", "mouse cat"]


def test_a_fitted_vocabulary_is_not_private(make):
    guarantee = make(TEXTS, vocabulary=None, fit_vocabulary=True).guarantee_
    assert guarantee.private is False
    assert guarantee.provenance == {**PUBLIC, "vocabulary": "fitted"}
    assert any("NOT COVERED: vocabulary fitted" in caveat for caveat in guarantee.caveats)


def test_a_fitted_idf_is_not_private(make):
    guarantee = make(TEXTS, weights="tfidf", idf="fitted").guarantee_
    assert guarantee.private is False
    assert guarantee.provenance == {**PUBLIC, "idf": "fitted"}
    assert any("NOT COVERED: idf fitted" in caveat for caveat in guarantee.caveats)


@pytest.mark.parametrize(
    ("weights", "idf"), [("tf", "public"), ("tfidf", "public"), ("tf", "fitted")]
)
def test_an_idf_that_is_public_or_unused_is_private(make, weights, idf):
    guarantee = make(TEXTS, weights=weights, idf=idf).guarantee_
    assert (guarantee.private, guarantee.provenance, guarantee.caveats) == (True, PUBLIC, SUPPLIED)


def test_all_that_stands_against_privacy_is_said(make):
    fitted = make(
        TEXTS, vocabulary=None, fit_vocabulary=True, weights="tfidf", idf="fitted",
        source=entropy.Seeded(1),
    )._anonymizer  # fmt: skip
    guarantee = fitted.guarantee(kept_columns=["label", "año"])
    said = " ".join(guarantee.caveats)
    for part in (
        "NOT PRIVATE",
        "vocabulary and idf fitted",
        "this release: vectors.",
        "label, año",
    ):
        assert part in said
    assert len(guarantee.caveats) == 4
    assert guarantee.private is False


def test_kept_columns_are_named_and_leave_the_counts_private(make):
    guarantee = make()._anonymizer.guarantee(kept_columns=["label", "date"], shuffled=True)
    assert guarantee["kept_columns"] == ["label", "date"]
    assert (guarantee.private, guarantee.shuffled) == (True, True)
    assert guarantee.caveats[:1] == SUPPLIED
    assert len(guarantee.caveats) == 2
    assert "outside the guarantee" in guarantee.caveats[1]
    assert "label, date" in guarantee.caveats[1]


def test_a_source_set_after_fitting_is_not_private_either(make):
    """Draws of a repeatable source must never come with a guarantee that says private."""
    made = make(length=5)
    made.set_params(source=entropy.Seeded(1))
    first = made.transform(["cat dog"] * 9).toarray()
    made.set_params(source=entropy.Seeded(1))
    repeatable = (made.transform(["cat dog"] * 9).toarray() == first).all()
    assert not (repeatable and made.guarantee_.private)


def test_the_system_s_entropy_named_or_not_is_private(make):
    assert make(source=entropy.system).guarantee_.private


def test_the_embedded_data_needs_no_word_for_it(words_synthetic):
    assert words_synthetic.guarantee_.caveats == []
