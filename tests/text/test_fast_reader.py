"""The built-in reader counts what plain loops count, and each text by itself."""

import csv
import pickle
import re
import subprocess
import unicodedata
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.text import fast_reader
from syntf.text.lexicon import lemmas
from syntf.text.reader import reader_for
from syntf.words.language import embedded_pack

ENGLISH = embedded_pack()
MORPHOLOGIES = ("lemma", "lower", "orth")
WORDS = (
    "mouse mice Mouse run the two 2nd o'clock café CAFÉ straße σίσυφος мир 日本語 be x2 cat a b "
    "don't Ångström best 𝐀 é e i été עברית ｗｉｄｅ wide ガ 각 한국 हिन्दी n'été école "
    "été's 𐐨 ﬁn fin σ ς ǆ k å ss ß ⅷ ή heure l cat's"
).split()
ODD = (
    "\x00", "\x7f", "\x80", "\u00a0", "ª", "²", "½", "\u0301", "İ", "１２", "١٢", "ΣΊΣΥΦΟΣ",
    "ΣΊΣΥΦΟΣ.", "ﷺ", "😀", "❤️", "'", "’", "'s", "’S", "‘", "’’", "_", " ", "-", "\n", "\r", "mice",
    "ran", "2", "1990s", "L’heure", "a" * 9, "ｶﾞ", "ᄀ\u1161\u11a8", "\u200b", "\u00ad", "w" * 40,
)  # fmt: skip
# Characters that are new to this Python may be letters to polars already.
CHARACTER = st.characters(exclude_categories=("Cs", "Cn"))
TEXT = st.one_of(
    st.text(CHARACTER, max_size=60),
    st.text(st.sampled_from("aA1_'’ éE\u0301\u0327Σσ각\x00@[`{/:.sS"), max_size=40),
    st.lists(st.sampled_from([*WORDS, *map(str.upper, WORDS), *ODD]), max_size=25).map("".join),
    st.lists(st.sampled_from([*WORDS, *map(str.title, WORDS), *ODD]), max_size=25).map(" ".join),
)
CASES = {
    f"{morphology}, {name}": (morphology, stop_words, numbers, elision)
    for morphology in MORPHOLOGIES
    for name, stop_words, numbers, elision in (
        ("embedded", ENGLISH.stop_words, False, False),
        ("own stop words and numbers", frozenset({"a", "mouse", "2", "be"}), True, False),
        ("elision", frozenset({"l"}), False, True),
    )
}


def rows(counts):
    pairs = list(zip(counts.indices.tolist(), counts.data.tolist(), strict=True))
    return [dict(pairs[start:end]) for start, end in pairwise(counts.indptr.tolist())]


def read(reader, texts):
    return rows(reader.counts(pl.Series(texts, dtype=pl.String)))


@pytest.fixture(scope="module", params=CASES)
def case(request, defined):
    """A reader, and the definition of what it must count."""
    morphology, stop_words, numbers, elision = CASES[request.param]
    pack = replace(ENGLISH, tokenizer="elision" if elision else "words")
    options = {"morphology": morphology, "stop_words": stop_words, "numbers": numbers}

    def define(texts, words=WORDS):
        number_words = ENGLISH.number_words
        return defined(texts, words, **options, number_words=number_words, elision=elision)

    return reader_for(words=WORDS, pack=pack, **options), define


@given(texts=st.lists(st.none() | TEXT, max_size=6))
@example(texts=["fo'c's'le 'tis dogs' can''t can'’t ’’a’’ a’", "mice’s MICE'S Mice’S mice's_"])
@example(texts=["snake_case __init__ e-mail 3.14 1,000 x2 2x rock 'n' roll, cat's's a\u200bb"])
@example(texts=["cafe\u0301 \u0301 हिन्दी שָׁלוֹם ❤️ 1️⃣ ｗｉｄｅ’ｓ l'heure L’ÉTÉ ﬁn ΣΊΣΥΦΟΣ.α 𝐀"])
def test_counts_are_those_of_the_definition(case, texts):
    reader, define = case
    assert read(reader, texts) == define(texts)


def test_every_character_is_read_as_defined(defined):
    """Every character is a word by itself, in lower case, in parts, and after letters."""
    places = [*range(0x80, 0x2000), *range(0x2000, 0x11000, 3), *range(0x1D400, 0x1D500), 0x1E900]
    assigned = [chr(p) for p in places if unicodedata.category(chr(p)) not in ("Cs", "Cn")]
    words = {unicodedata.normalize("NFKC", form) for c in assigned for form in (c, c.lower())}
    words = sorted(words | {word.lower() for word in words} | {"é" + c for c in assigned})
    texts = [f"{c} é{c} a{c}é ’{c}’{c} é'{c}'s Σ{c} Σ{c}Α" for c in assigned]
    texts += [unicodedata.normalize("NFD", c) for c in assigned]
    reader = reader_for(words=words, morphology="orth", stop_words=set())
    wanted = defined(
        texts, words, morphology="orth", stop_words=set(), numbers=False, number_words=()
    )
    assert read(reader, texts) == wanted


def test_the_table_has_every_form_of_the_lexicon(defined, embedded):
    """All words and all forms, as they are, capitalised, and with a possessive ending."""
    forms = [*embedded.words, *lemmas(ENGLISH)["form"]]
    texts = [*forms[::2], *(f"{form.title()}’s {form.upper()}" for form in forms[::9])]
    wanted = defined(
        texts, embedded.words, morphology="lemma", stop_words=ENGLISH.stop_words, numbers=False,
        number_words=ENGLISH.number_words,
    )  # fmt: skip
    assert read(reader_for(words=embedded.words), texts) == wanted
    assert sum(map(bool, wanted)) > 80_000


SEEN_IN_0_2 = {
    ("lemma", False): "f9d3567ae8460c97",
    ("lemma", True): "7c715f58304c7847",
    ("orth", False): "d1e64047f2a07730",
}


@pytest.mark.parametrize(("morphology", "numbers"), SEEN_IN_0_2)
def test_counts_of_the_example_are_those_of_version_0_2(embedded, morphology, numbers):
    with ENGLISH.folder.joinpath("example.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    reader = reader_for(words=embedded.words, morphology=morphology, numbers=numbers)
    counts = reader.counts(pl.Series(texts))
    parts = (counts.indptr, counts.indices, counts.data)
    found = sha256(b"".join(part.astype("<i8").tobytes() for part in parts)).hexdigest()
    assert found[:16] == SEEN_IN_0_2[morphology, numbers]


@pytest.mark.slow
@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_20_newsgroups_are_read_as_defined(newsgroups_home, embedded, defined, morphology):
    from sklearn.datasets import fetch_20newsgroups

    texts = fetch_20newsgroups(data_home=newsgroups_home, download_if_missing=False).data[::4]
    wanted = defined(
        texts, embedded.words, morphology=morphology, stop_words=ENGLISH.stop_words,
        numbers=False, number_words=ENGLISH.number_words,
    )  # fmt: skip
    assert read(reader_for(words=embedded.words, morphology=morphology), texts) == wanted


# Each text by itself


@settings(max_examples=20)
@given(texts=st.lists(TEXT, min_size=1, max_size=8), size=st.integers(1, 40))
def test_a_text_is_counted_alike_in_any_batch(case, texts, size):
    reader, _ = case
    alone = [read(reader, [text])[0] for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_reader, "BLOCK_BYTES", size)
        assert read(reader, texts) == alone
        assert read(reader, texts[::-1] * 2) == alone[::-1] * 2


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000, "'" * 5_000_000, "a'" * 3_000_000, "\0" * 5_000_000, "ﷺ" * 200_000,
        "\u0301\u0323" * 1_000_000, "Σ" * 2_000_000, "日本語 " * 1_000_000,
        bytes(range(256)).decode("latin-1") * 20_000, bytes(range(256)).decode("utf-8", "replace"),
    ],
    ids=ascii,
)  # fmt: skip
def test_no_text_raises_an_error_or_changes_another(text):
    reader = reader_for(words=WORDS)
    (mouse,) = read(reader, ["a mouse"])
    assert read(reader, ["a mouse", text, "a mouse"])[::2] == [mouse, mouse]


@pytest.mark.parametrize("texts", [[], [None], ["", None, ""], ["the"]])
def test_texts_without_words_have_empty_rows(texts):
    reader = reader_for(words=WORDS)
    assert read(reader, texts) == [{}] * len(texts)
    assert reader.counts(pl.Series(texts)).shape == (len(texts), len(WORDS))  # of type Null, too


def test_the_matrix_is_int32_with_sorted_indices():
    counts = reader_for(words=WORDS).counts(pl.Series(["cat mouse wide cat", "run a mouse"] * 9))
    assert counts.has_canonical_format
    assert {part.dtype for part in (counts.data, counts.indices)} == {np.dtype(np.int32)}
    assert counts.shape == (18, len(WORDS))
    assert reader_for(words=[]).counts(pl.Series(["cat"])).shape == (1, 0)


# Words, stop words and numbers


@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_every_stop_word_is_left_out_however_it_is_written(morphology):
    stops = sorted(ENGLISH.stop_words)
    reader = reader_for(words=[*stops, "cat"], morphology=morphology)
    for write in (str, str.upper, lambda w: w.replace("'", "’"), lambda w: w + "'s"):
        assert read(reader, list(map(write, stops))) == [{}] * len(stops)


def test_a_stop_word_is_left_out_as_written_and_as_lemma():
    words = ["mouse", "mice"]
    assert read(reader_for(words=words, stop_words={"mouse"}), ["mouse Mice mice’s"]) == [{}]
    assert read(reader_for(words=words, stop_words={"mice"}), ["mouse Mice"]) == [{0: 1}]
    for morphology in ("lower", "orth"):  # without lemmas, mice are not a mouse
        reader = reader_for(words=words, stop_words={"mouse"}, morphology=morphology)
        assert read(reader, ["Mice mouse"]) == [{1: 1}]


@pytest.mark.parametrize("stop_words", [None, {"2", "two", "cat"}])
@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_numbers_are_left_out_unless_asked_for(morphology, stop_words):
    numbers = ["2", "1990", "2nd", "11th", "1990s", "١٢", "two", "ninety", "million"]
    words = [*numbers, "2x", "b2b", "2ndly"]
    text = " ".join([*words, "１９９０", "Two"])
    without = reader_for(words=words, morphology=morphology, stop_words=stop_words)
    assert read(without, [text]) == [{9: 1, 10: 1, 11: 1}]
    included = reader_for(words=words, morphology=morphology, stop_words=stop_words, numbers=True)
    wanted = {place: 1 for place in range(12)} | {1: 2, 6: 2}
    assert read(included, [text]) == [wanted]


def test_a_word_that_is_given_twice_is_counted_once():
    for morphology in MORPHOLOGIES:
        reader = reader_for(words=["cat", "mouse", "cat", "mouse"], morphology=morphology)
        assert read(reader, ["cat cat mouse"]) == [{0: 2, 1: 1}]


def test_spellings():
    reader = reader_for(words=["mouse", "Cat"], morphology="orth")
    texts = pl.Series(["The Mouse, the MOUSE's tail", None, "12 cats Cat two"])
    assert reader.spellings(texts) == ["Cat", "MOUSE", "Mouse", "cats", "tail"]


def test_a_pickled_reader_counts_alike():
    for morphology in MORPHOLOGIES:
        reader = reader_for(words=WORDS, morphology=morphology)
        reader.counts(pl.Series(["a secret mouse"]))
        raw = pickle.dumps(reader)
        assert b"secret" not in raw
        texts = ["Mice, CAFÉ o’clock", "Mouse"]
        assert read(pickle.loads(raw), texts) == read(reader, texts)  # noqa: S301


# Options


@pytest.mark.parametrize("morphology", ["x", "", "Lemma", None, 1, ["lemma"]])
def test_an_unknown_morphology_is_refused(morphology):
    with pytest.raises(SyntfError, match=re.escape(repr(morphology))):
        reader_for(words=WORDS, morphology=morphology)


def test_stop_words_that_are_a_text_are_refused():
    with pytest.raises(SyntfError, match="stop_words must be a set of words, not the text 'the'"):
        reader_for(words=WORDS, stop_words="the")


def test_the_fast_reader_imports_neither_lemminflect_nor_spacy(python):
    """Importing lemminflect takes seconds where spaCy is installed."""
    script = (
        "import sys; import polars as pl; from syntf.text.reader import reader_for; "
        "assert reader_for(words=['mouse']).counts(pl.Series(['mice'])).sum() == 1; "
        "assert not {'lemminflect', 'spacy', 'sklearn', 'pandas', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([python, "-c", script], check=True)
