"""The option, from WordNet's synsets to the vocabulary, the release and the guarantee."""

import io
import json
import os
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from syntf import SynTF
from syntf.cli.app import app
from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.tokenizer import Analyzer
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary import wordnet
from syntf.vocabulary.vocabulary import Vocabulary

WORDS = (
    "car auto machine gondola cat the two wagon bus Bus mice mouse e-mail january jan run rush "
    "track path asleep numb gone slumbering"
).split()


@pytest.fixture(scope="module")
def vectors():
    normal = np.random.default_rng(7).normal(size=(len(WORDS), 8))
    return WordVectors.quantize(list(WORDS), normal)


@pytest.fixture(autouse=True)
def installed(monkeypatch, toy_wordnet):
    monkeypatch.setenv("SYNTF_WORDNET", str(toy_wordnet))


def extended(terms, vectors, morphology="lemma", **options):
    analyzer = Analyzer(morphology, **options)
    return Vocabulary.given(terms, vectors).with_synonyms(analyzer, vectors)


def test_synonyms_follow_the_given_terms_sorted_in_inputs_and_outputs(vectors):
    made = extended(["run", "car"], vectors)
    assert made.outputs == ["run", "car", "auto", "gondola", "machine", "rush", "track"]
    assert made.inputs == made.outputs
    assert [vectors.words[row] for row in made.output_rows] == made.outputs
    assert made.input_rows == made.output_rows


def test_synonyms_of_synonyms_are_not_added(vectors):
    assert "path" in vectors.words
    assert extended(["track"], vectors).outputs == ["track", "path", "run"]
    assert "path" not in extended(["run"], vectors).outputs


def test_stop_words_numbers_split_words_and_words_without_a_vector_are_left_out(vectors):
    assert extended(["cat"], vectors).outputs == ["cat", "bus", "mice", "wagon"]
    kept = extended(["cat"], vectors, stop_words=set(), numbers=True)
    assert kept.outputs == ["cat", "bus", "mice", "the", "two", "wagon"]


@pytest.mark.parametrize(
    ("morphology", "wanted"),
    [
        ("lemma", ["cat", "bus", "mice", "wagon"]),
        ("lower", ["cat", "bus", "mice", "wagon"]),
        ("orth", ["cat", "Bus", "mice", "wagon"]),
    ],
)
def test_synonyms_follow_the_morphology(vectors, morphology, wanted):
    assert extended(["cat"], vectors, morphology).outputs == wanted


def test_orth_keeps_capitals_whose_vector_is_in_lower_case(vectors):
    made = extended(["January"], vectors, "orth")
    assert made.outputs == ["January", "Jan"]
    assert [vectors.words[row] for row in made.output_rows] == ["january", "jan"]


def test_a_lemma_whose_own_lemma_is_a_stop_word_is_left_out(vectors):
    stop_words = {"mouse"}
    assert "mice" not in extended(["cat"], vectors, stop_words=stop_words).outputs
    assert "mice" in extended(["cat"], vectors, "lower", stop_words=stop_words).outputs


@pytest.mark.parametrize("morphology", ["lemma", "lower", "orth"])
def test_only_outputs_of_the_default_are_extended(embedded, morphology):
    default = Vocabulary.default(embedded)
    made = default.with_synonyms(Analyzer(morphology), embedded)
    assert made.inputs is default.inputs
    assert made.input_rows is default.input_rows
    assert made.outputs[:10_000] == list(default.outputs)
    added = made.outputs[10_000:]
    assert added == ["gondola", "mice"]  # "jan" is there, no "Jan"; "asleep" names nothing
    assert [embedded.words[row] for row in made.output_rows[10_000:]] == added
    assert (made.provenance, made.dropped) == ("public", 0)


def test_fitted_stays_fitted_and_public_stays_public(vectors):
    texts = ["a car", "the car ran"]
    fitted = SynTF(vectors=vectors, fit_vocabulary=True, synsets=True).fit(texts)
    assert list(fitted.get_feature_names_out()) == ["car", "auto", "gondola", "machine"]
    assert (fitted.guarantee_.provenance["vocabulary"], fitted.guarantee_.private) == (
        "fitted",
        False,
    )
    given = SynTF(vectors=vectors, vocabulary=["car"], synsets=True).fit(texts)
    assert (given.guarantee_.provenance["vocabulary"], given.guarantee_.private) == ("public", True)


def test_terms_without_a_vector_are_still_counted_as_dropped(vectors):
    assert extended(["car", "absent"], vectors).dropped == 1


def test_a_text_with_a_synonym_counts_as_that_term(vectors):
    settings = {"vectors": vectors, "vocabulary": ["car"]}
    without = Anonymizer.build(Settings(**settings))
    with_synsets = Anonymizer.build(Settings(**settings, synsets=True))
    assert without.term("Machines") is None
    assert with_synsets.vocabulary.inputs[with_synsets.term("Machines")] == "machine"


def test_the_mechanism_equals_that_of_the_extended_list(vectors):
    made = (
        SynTF(preset="paper", vectors=vectors, vocabulary=["run", "car"], synsets=True)
        .fit([])
        .guarantee_
    )
    terms = ["run", "car", "auto", "gondola", "machine", "rush", "track"]
    outright = SynTF(preset="paper", vectors=vectors, vocabulary=terms).fit([]).guarantee_
    bare = SynTF(preset="paper", vectors=vectors, vocabulary=["run", "car"]).fit([]).guarantee_
    assert made.digest == outright.digest != bare.digest
    assert made.loss_per_word == outright.loss_per_word != bare.loss_per_word
    assert (made.vocabulary_size, made.input_size) == (7, 7)
    assert (bare.vocabulary_size, bare.input_size) == (2, 2)


def test_the_guarantee_records_synsets_and_wordnet(vectors):
    made = SynTF(vectors=vectors, vocabulary=["car"], synsets=True).fit([]).guarantee_
    assert made["synsets"] is True
    assert made.caveats == [
        "Public only according to the sender of this release: vocabulary and vectors and wordnet."
    ]
    bare = SynTF(vectors=vectors, vocabulary=["car", "run"]).fit([]).guarantee_
    assert bare["synsets"] is False
    assert "wordnet" not in bare.caveats[0]


def test_the_vocabulary_does_not_depend_on_how_python_orders_sets(python):
    code = (
        "from syntf.vocabulary.vocabulary import Vocabulary as V; from syntf.text.tokenizer "
        "import Analyzer;"
        "from syntf.vectors.word_vectors import WordVectors as W; w = W.embedded();"
        "print(V.given(['cat', 'asleep', 'run', 'car'], w).with_synonyms(Analyzer(), w).outputs)"
    )
    printed = {
        subprocess.run(
            [python, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(printed) == 1
    assert "'machine'" in printed.pop()


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mails.csv").write_text("text\nthe car ran\n")
    (tmp_path / "terms.txt").write_text("car\nrun\n")
    run = ["anonymize", "mails.csv", "--out", "release", "--vocabulary", "terms.txt", "--synsets"]
    result = CliRunner().invoke(app, run, catch_exceptions=False)
    assert result.exit_code == 0
    terms = (tmp_path / "release/vocabulary.txt").read_text().split()
    assert terms == ["car", "run", "auto", "gondola", "machine", "rush", "track"]
    record = json.loads((tmp_path / "release/guarantee.json").read_text())
    assert (record["synsets"], record["vocabulary_size"], record["private"]) == (True, 7, True)
    for command in (["bounds"], ["explain", "gondola"]):
        result = CliRunner().invoke(app, [*command, "--vocabulary", "terms.txt", "--synsets"])
        assert result.exit_code == 0
    assert "read as" not in result.output
    assert "gondola: stays itself" in result.output


def test_the_command_line_reports_how_to_get_wordnet(monkeypatch):
    monkeypatch.delenv("SYNTF_WORDNET")
    monkeypatch.setattr(wordnet, "candidate_places", lambda: iter(()))
    with pytest.raises(SyntfError, match="apt-get install wordnet-base"):
        CliRunner().invoke(app, ["bounds", "--synsets"], catch_exceptions=False)


def test_sizes_on_the_example_corpus_with_the_real_wordnet(monkeypatch):
    """As `benchmarks/synsets.py` prints them."""
    monkeypatch.delenv("SYNTF_WORDNET")
    data = Path("/usr/share/wordnet/data.noun")
    if not data.is_file():
        pytest.skip("Debian's WordNet is not here: apt-get install wordnet-base")
    sizes = {"WordNet 3.0": 3653, "WordNet 3.1": 3649}
    size = next(sizes[name] for name in sizes if f"{name} Copyright" in data.read_text())
    raw = files("syntf").joinpath("data", "example.csv").read_bytes()
    texts = pl.read_csv(io.BytesIO(raw))["text"].to_list()
    bare = SynTF(preset="paper", fit_vocabulary=True).fit(texts)
    made = SynTF(preset="paper", fit_vocabulary=True, synsets=True).fit(texts)
    assert bare.guarantee_.vocabulary_size == 657
    assert made.guarantee_.vocabulary_size == size
    assert made.guarantee_.digest != bare.guarantee_.digest
    names = list(made.get_feature_names_out())
    assert names[:657] == list(bare.get_feature_names_out())
    assert (made.transform(texts[:20]).sum(axis=1) == 150).all()
