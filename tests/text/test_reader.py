"""Texts to documents: the definition, and the same from compiled code."""

import unicodedata
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntf.core import parallel
from syntf.text import reader, token_table
from syntf.text.reader import letters, look_up, read_documents
from syntf.text.token_table import TokenTable
from syntf.text.tokenizer import Analyzer, Memo, first_known, letters_pattern

EMPTY = 9
MORPHOLOGIES = ("lemma", "lower", "orth")
compiled = pytest.mark.skipif(
    token_table.compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)


class Terms(dict):
    def __missing__(self, token):
        return -1


TERM_OF = Terms(cat=0, dog=1, cow=2)


def test_known_terms_are_kept_in_order():
    texts = ["cat dog cat", "the cow, a cat!", "the of", "", "dog"]
    read = read_documents(texts, TERM_OF, EMPTY)
    assert len(read) == 5
    assert read.starts.tolist() == [0, 3, 5, 6, 7, 8]
    assert read.terms.tolist() == [0, 1, 0, 2, 0, EMPTY, EMPTY, 1]
    assert (read.starts.dtype, read.terms.dtype) == (np.int64, np.int32)


def test_no_texts_and_texts_from_a_generator():
    assert len(read_documents([], TERM_OF, EMPTY)) == 0
    assert len(read_documents((text for text in ["cat", "dog"]), TERM_OF, EMPTY)) == 2


@pytest.mark.parametrize("count", [0, 1, 254, 255, 256, 257, 600])
def test_progress_counts_only_texts_that_were_read(count):
    progress_calls = []
    read_documents(["cat"] * count, TERM_OF, EMPTY, progress_calls.append)
    assert count - 256 < sum(progress_calls) <= count


# Compiled

INPUTS = (
    "mouse mice Mouse run the two 2nd o'clock café CAFÉ straße σίσυφος мир 日本語 be x2 cat a b "
    "don't Ångström best 𝐀 é e i"
).split()
ANALYZERS = [
    Analyzer(morphology, stop_words=stop_words, numbers=numbers)
    for morphology in MORPHOLOGIES
    for stop_words, numbers in ((None, False), (frozenset({"a", "mouse"}), True))
]
ODD = (
    "\x00", "\x7f", "\x80", "\u00a0", "ª", "²", "\u0301", "İ", "١٢", "ΣΊΣΥΦΟΣ", "\ud800", "\udfff",
    "😀", "'", "’", "'", "’", "'s", "’S", "‘", "’’", "_", " ", "-", "\n", "mice", "ran",
    "a" * 9, "q" * 15, "w" * 40,
)  # fmt: skip
PIECES = st.sampled_from([*INPUTS, *(word.upper() for word in INPUTS), *ODD])
TEXTS = st.one_of(
    st.text(st.characters(), max_size=60),
    st.text(st.characters(max_codepoint=0x7F), max_size=60),
    st.text(st.sampled_from("aA1_'’ é\x00@[`{/:"), max_size=40),
    st.lists(PIECES, max_size=25).map("".join),
)


def defined(texts, analyzer, inputs):
    number = {term: i for i, term in enumerate(inputs)}
    term = first_known(analyzer, number.__contains__)
    return read_documents(texts, Memo(lambda t: number.get(term(t), -1)), len(inputs))


def same(found, wanted):
    assert found.starts.tolist() == wanted.starts.tolist()
    assert found.terms.tolist() == wanted.terms.tolist()
    assert (found.starts.dtype, found.terms.dtype) == (np.int64, np.int32)


@pytest.fixture(scope="module", params=range(len(ANALYZERS)))
def case(request):
    analyzer = ANALYZERS[request.param]
    return analyzer, TokenTable.build(analyzer, INPUTS)


@compiled
@settings(max_examples=300)
@given(texts=st.lists(TEXTS, max_size=6))
@example(texts=[])
@example(texts=["", "", "cat", "", ""])
@example(texts=["fo'c's'le 'tis dogs' can''t can'’t ’’a’’ a’", "mice’s MICE'S Mice’S mice's_"])
def test_look_up_agrees_with_the_definition(case, texts):
    analyzer, table = case
    same(look_up(texts, table, len(INPUTS)), defined(texts, analyzer, INPUTS))


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("morphology", MORPHOLOGIES)
@given(text=TEXTS, at=st.integers(0, 70))
def test_a_token_is_found_at_any_position(morphology, text, at):
    """Words are found in 64 bytes at a time: every place in 64, and the end of a text."""
    analyzer = Analyzer(morphology)
    table = TokenTable.build(analyzer, INPUTS)
    texts = [" " * at + text, "cat" * at + " " + text, text + " mice's"]
    same(look_up(texts, table, len(INPUTS)), defined(texts, analyzer, INPUTS))


@compiled
@pytest.mark.parametrize(
    "text", ["mice", "mice's", "mice'S", "mice'", "can't", "can't've", "o'clock's", "a's'b", "x''y"]
)
def test_a_token_may_cross_the_end_of_64_bytes(case, text):
    analyzer, table = case
    texts = [" " * at + text for at in range(140)]
    texts += [" " * at + text + end for at in range(50, 66) for end in (" ", ".", "'s", " mouse")]
    same(look_up(texts, table, len(INPUTS)), defined(texts, analyzer, INPUTS))


@compiled
def test_many_words_have_their_own_terms_however_often_they_occur(embedded):
    """Far more words than the table of frequent ones holds, of all lengths, and unknown ones."""
    analyzer = Analyzer("lower", stop_words=frozenset())
    long = [word for word in embedded.words if len(word) > 14]
    alike = ["beginning" + "".join(end) for end in product("abcdefghij", repeat=4)]
    inputs = sorted({*embedded.words[:15_000], *long, *alike})
    table = TokenTable.build(analyzer, inputs)
    words = [word for word in inputs[::2] if word.isalnum()]
    unknown = [f"{word}qx" for word in words]
    known_and_not = [one for pair in zip(words, unknown, strict=True) for one in pair]
    texts = [" ".join([*known_and_not, *known_and_not[::-1]]), " ".join(words * 2)]
    same(look_up(texts, table, len(inputs)), defined(texts, analyzer, inputs))


@compiled
def test_compiled_code_agrees_with_python_on_letters(case):
    analyzer, table = case
    texts = [f"cat{chr(point)}cat a'{chr(point)}" for point in range(0x3000)]
    texts += ["".join(map(chr, range(start, start + 0x800))) for start in range(0, 0x110000, 0x800)]
    same(look_up(texts, table, len(INPUTS)), defined(texts, analyzer, INPUTS))


@pytest.mark.parametrize("limit", reader._LIMITS)
def test_letters_table_agrees_with_the_tokenizer(limit):
    bits = np.unpackbits(np.frombuffer(letters(limit), dtype=np.uint8), bitorder="little")
    pattern = letters_pattern()
    assert bits.tolist() == [pattern.match(chr(point)) is not None for point in range(limit)]


@compiled
@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 300_000])
def test_tokens_and_inputs_of_any_length(size):
    inputs = ["x" * size, "x" * (size + 1), "y" * size + "'" + "z" * size]
    texts = ["x" * n for n in (size - 1, size, size + 1, size + 2)]
    texts += [text.upper() + end for text in texts for end in ("'s", "’S", "s", "'ss", "’")]
    texts += [f"{'y' * n}’{'z' * m}" for n in (size, size + 1) for m in (size - 1, size, size + 1)]
    for morphology in MORPHOLOGIES:
        analyzer = Analyzer(morphology)
        table = TokenTable.build(analyzer, inputs)
        same(look_up(texts, table, 3), defined(texts, analyzer, inputs))


@compiled
@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_block_size_and_threads_do_not_change_documents(threads, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK_CHARACTERS", 50)
    rng = np.random.default_rng(3)
    words = ["mice", "Café", "the", "cat", "мир", "qwxyz", "", "日本語", "o’clock"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 30))) for _ in range(400)]
    table, progress_calls = TokenTable.build(Analyzer(), INPUTS), []
    with parallel.at_most(threads):
        read = look_up(texts, table, len(INPUTS), progress_calls.append)
    same(read, defined(texts, Analyzer(), INPUTS))
    assert sum(progress_calls) == 400
    assert len(progress_calls) > 50


@compiled
def test_an_error_during_a_look_up_is_raised(monkeypatch):
    def find(table, token):
        raise MemoryError

    monkeypatch.setattr(TokenTable, "find", find)
    table = TokenTable.build(Analyzer(), INPUTS)
    assert len(look_up(["cat"], table, 1)) == 1
    with pytest.raises(MemoryError):
        look_up(["cat", "ΣΊΣΥΦΟΣ"], table, 1)


class Odd(str):
    """A text whose own idea of its bytes is not UTF-8."""

    def encode(self, *_):
        return b"cat caf\xf0"


@compiled
def test_subclasses_of_str_cannot_change_their_bytes():
    table = TokenTable.build(Analyzer(), INPUTS)
    same(look_up([Odd("é mouse")], table, 99), look_up(["é mouse"], table, 99))


@compiled
@pytest.mark.parametrize("wrong", [None, 1, b"cat", b"caf\xc3", ["cat"]])
def test_values_that_are_not_texts_are_refused(wrong):
    table = TokenTable.build(Analyzer(), INPUTS)
    with pytest.raises(TypeError):
        look_up(["cat", wrong], table, 1)


@compiled
@pytest.mark.parametrize("morphology", MORPHOLOGIES)
def test_look_up_agrees_with_the_definition_on_20_newsgroups(newsgroups_home, embedded, morphology):
    from sklearn.datasets import fetch_20newsgroups

    texts = fetch_20newsgroups(
        data_home=newsgroups_home, subset="all", download_if_missing=False
    ).data
    analyzer, inputs = Analyzer(morphology), embedded.words
    read = look_up(texts, TokenTable.build(analyzer, inputs), len(inputs))
    wanted = defined(texts, analyzer, inputs)
    assert np.array_equal(read.starts, wanted.starts)
    assert np.array_equal(read.terms, wanted.terms)
    assert len(read.terms) > 10**6


WIDE_INPUTS = [
    *INPUTS, "été", "мир", "עברית", "ｗｉｄｅ", "wide", "ガ", "각", "한국", "हिन्दी", "n'été",
    "école", "été's", "𐐨", "ﬁn", "fin", "σ", "ς", "ǆ", "k", "å", "ss", "ß", "ⅷ", "ή",
]  # fmt: skip


@pytest.fixture(scope="module", params=MORPHOLOGIES)
def wide_case(request):
    analyzer = Analyzer(request.param, stop_words=frozenset())
    return analyzer, TokenTable.build(analyzer, WIDE_INPUTS)


@compiled
def test_every_character_reads_as_defined(wide_case):
    """Every character is an input word: by itself, in lower case, in parts, and after letters."""
    analyzer, _ = wide_case
    points = [*range(0x80, 0xD800), *range(0xE000, 0x11000), 0x1D400, 0x1E900, 0x1F600, 0x20000]
    inputs = list(dict.fromkeys(form for point in points for form in _forms(chr(point))))
    table = TokenTable.build(analyzer, inputs)
    texts = [f"{chr(p)} é{chr(p)} a{chr(p)}é ’{chr(p)}’{chr(p)} é'{chr(p)}'s" for p in points]
    texts += [unicodedata.normalize("NFD", chr(point)) for point in points]
    same(look_up(texts, table, len(inputs)), defined(texts, analyzer, inputs))


def _forms(character):
    whole = unicodedata.normalize("NFKC", "é" + character)
    return character, character.lower(), whole, whole.lower()


@compiled
@settings(max_examples=200)
@given(
    texts=st.lists(
        st.one_of(
            st.text(
                st.sampled_from(
                    "éÉeE\u0301'’sS Σσ\u0327ﬁＡa각ᄀ\u1161\u11a8ｶﾞ\u05d0\u064b𐐀𝐀😀\u200f"
                ),
                max_size=30,
            ),
            st.lists(
                st.sampled_from([*WIDE_INPUTS, *map(str.upper, WIDE_INPUTS), *ODD]), max_size=60
            ).map("".join),
            st.lists(st.sampled_from(WIDE_INPUTS), max_size=60).map(" ".join),
        ),
        max_size=5,
    )
)
def test_marks_full_width_right_to_left_and_astral_characters(wide_case, texts):
    analyzer, table = wide_case
    same(look_up(texts, table, len(WIDE_INPUTS)), defined(texts, analyzer, WIDE_INPUTS))


def test_only_combining_marks_join_below_the_first_limit():
    """So the table of the first characters is made without looking at all others."""
    joined = [character for character in reader._joined_characters() if ord(character) < 0x800]
    assert joined
    assert all(unicodedata.combining(character) for character in joined)
