import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.text.tokenizer import (
    Analyzer,
    english_stop_words,
    lemmatize,
    marks,
    normalize,
    tokenize,
)

ANY_TEXT = st.text(st.characters(), max_size=200)  # surrogates and unassigned ones included
MORPHOLOGIES = ("lemma", "lower", "orth")
DIGITS = ("2", "1990", "007", "2nd", "1st", "3rd", "11th", "1990s", "١٢", "１２")
NUMBER_WORDS = ("two", "Two", "ten", "hundred", "MILLION", "ninety")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \t\n\u00a0\u2028.,;!?—…", []),
        ("the cat's dog’s toys", ["the", "cat's", "dog’s", "toys"]),
        ("rock 'n' roll, 'tis the dogs' o'clock", "rock n roll tis the dogs o'clock".split()),
        ("fo'c's'le", ["fo'c", "s'le"]),
        ("snake_case __init__ _x_", ["snake", "case", "init", "x"]),
        ("e-mail a/b 3.14 1,000 x2 2x", "e mail a b 3 14 1 000 x2 2x".split()),
        ("naïve Straße ΣΊΣΥΦΟΣ мир 日本語", ["naïve", "Straße", "ΣΊΣΥΦΟΣ", "мир", "日本語"]),
        ("cafe\u0301 \u0301", ["cafe\u0301", "\u0301"]),  # a combining accent is part of a word
        ("हिन्दी שָׁלוֹם عَرَبِيّ", ["हिन्दी", "שָׁלוֹם", "عَرَبِيّ"]),  # vowel signs, right to left
        ("❤️ 1️⃣ ｃａｔ", ["1", "ｃａｔ"]),  # a variation selector is no part of a word
        ("a\u200bb a\u00adb", ["a", "b", "a", "b"]),  # zero-width space, soft hyphen
        ("😀cat😀", ["cat"]),
        ("can''t can'’t", ["can", "t", "can", "t"]),
        ("a\ud800b\udfff", ["a", "b"]),
    ],
)
def test_tokens_of_awkward_text(text, found):
    assert tokenize(text) == found


@given(ANY_TEXT)
def test_tokens_contain_every_letter_and_digit_and_nothing_else(text):
    letters = [c for c in text if c.isalnum() or re.match(f"[{marks()}]", c)]
    assert [c for token in tokenize(text) for c in token if c not in "'’"] == letters
    assert all(re.search(r"\s|_", token) is None for token in tokenize(text))
    assert all(token.count("'") + token.count("’") <= 1 for token in tokenize(text))


@pytest.mark.parametrize("morphology", MORPHOLOGIES)
@given(text=ANY_TEXT)
def test_arbitrary_text_never_raises_and_gives_at_most_two_terms_a_token(morphology, text):
    analyzer = Analyzer(morphology)
    for token in [*tokenize(text), text]:
        terms = analyzer.candidates(token)
        assert len(terms) <= 2
        assert not analyzer.stop_words.intersection(term.lower() for term in terms)


@pytest.mark.parametrize(
    ("token", "lemma", "lower", "orth"),
    [
        ("Mice", ("mouse", "mice"), ("mice",), ("Mice", "mice")),
        ("JUMPED", ("jump", "jumped"), ("jumped",), ("JUMPED", "jumped")),
        ("ran", ("run", "ran"), ("ran",), ("ran", "ran")),
        ("cat's", ("cat", "cat"), ("cat",), ("cat", "cat")),
        ("Cats’s", ("cat", "cats"), ("cats",), ("Cats", "cats")),
        ("CAT'S", ("cat", "cat"), ("cat",), ("CAT", "cat")),
        ("o’clock", ("o'clock", "o'clock"), ("o'clock",), ("o'clock", "o'clock")),
        ("Qwxyz", ("qwxyz", "qwxyz"), ("qwxyz",), ("Qwxyz", "qwxyz")),
        ("Straße", ("straße", "straße"), ("straße",), ("Straße", "straße")),
        ("x2", ("x2", "x2"), ("x2",), ("x2", "x2")),
    ],
)
def test_candidates_by_morphology(token, lemma, lower, orth):
    found = [Analyzer(morphology).candidates(token) for morphology in MORPHOLOGIES]
    assert found == [lemma, lower, orth]


def test_a_form_of_several_parts_of_speech_is_a_noun_before_a_verb():
    assert lemmatize("meeting") == "meeting"  # not meet
    assert lemmatize("saw") == "saw"  # not see
    assert lemmatize("was") == "be"


@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_every_public_stop_word_is_left_out_however_written(morphology):
    analyzer = Analyzer(morphology)
    for word in english_stop_words():
        for form in (word, word.upper(), word.replace("'", "’"), word + "'s", word + "’S"):
            assert analyzer.candidates(form) == ()


def test_the_public_stop_words_are_function_words():
    words = english_stop_words()
    assert len(words) == 512
    assert all(word == word.lower().strip() for word in words)
    assert {"the", "and", "of", "is", "don't", "whereas"} <= words
    assert not {"cat", "house", "run", "government", "computer"} & words


def test_given_stop_words_replace_the_public_list():
    analyzer = Analyzer("lower", stop_words={"cat"})
    assert [analyzer.candidates(t) for t in ("Cat", "cat’s", "the")] == [(), (), ("the",)]
    assert Analyzer("lower", stop_words=frozenset()).candidates("the") == ("the",)


def test_a_stop_word_is_left_out_as_written_and_as_lemma():
    by_lemma = Analyzer(stop_words={"mouse"})
    assert [by_lemma.candidates(t) for t in ("mouse", "Mice", "mice’s")] == [(), (), ()]
    by_surface = Analyzer(stop_words={"mice"})
    assert by_surface.candidates("Mice") == ()
    assert by_surface.candidates("mouse") == ("mouse", "mouse")
    for morphology in ("lower", "orth"):  # without lemmas, mice are not a mouse
        assert "mice" in Analyzer(morphology, stop_words={"mouse"}).candidates("mice")


@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_numbers_are_left_out_by_default(morphology):
    without = Analyzer(morphology, stop_words=set())
    kept = Analyzer(morphology, stop_words=set(), numbers=True)
    for number in (*DIGITS, *NUMBER_WORDS):
        assert without.candidates(number) == ()
        assert kept.candidates(number)[-1] == normalize(number).lower()
    for other in ("2x", "x2", "tenth", "someone", "2ndly", "b2b"):
        assert without.candidates(other)[-1] == other


@pytest.mark.parametrize("number", [*DIGITS, *NUMBER_WORDS])
def test_numbers_are_kept_with_the_public_stop_words_too(number):
    """`numbers : keep numbers, in digits or in words`."""
    assert Analyzer("lower", numbers=True).candidates(number) == (normalize(number).lower(),)


@pytest.mark.parametrize("morphology", ["x", "", "Lemma", None, 1, ["lemma"]])
def test_an_unknown_morphology_is_refused(morphology):
    with pytest.raises(SyntfError, match=re.escape(repr(morphology))):
        Analyzer(morphology)
