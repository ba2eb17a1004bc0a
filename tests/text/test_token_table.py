"""The table gives every token the input that the analyzer gives it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntf.text import token_table
from syntf.text.lexicon import lexicon
from syntf.text.token_table import TokenTable
from syntf.text.tokenizer import Analyzer, english_stop_words, first_known, tokenize

pytestmark = pytest.mark.skipif(
    token_table.compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)

INPUTS = (
    "mouse mice Mouse MICE run ran the The two Two 2nd o'clock O'Clock café CAFÉ straße σίσυφος "
    "will have don't it's Ångström i̇ be x2 cat's k \ud800 best good"
).split()
ANALYZERS = [
    Analyzer(morphology, stop_words=stop_words, numbers=numbers)
    for morphology in ("lemma", "lower", "orth")
    for stop_words in (None, frozenset(), {"mouse", "cafe", "café", "o'clock", "2nd"})
    for numbers in (False, True)
]


def defined(analyzer, inputs):
    """What each token counts as, by definition."""
    number = {term: i for i, term in enumerate(inputs)}
    term = first_known(analyzer, number.__contains__)
    return lambda token: number.get(term(token), -1)


def written(word):
    """A word in several ways."""
    return {
        w + end
        for form in (word, word.lower(), word.upper(), word.capitalize(), word.swapcase())
        for w in (form, form.replace("'", "’"))
        for end in ("", "'s", "’s", "'S", "’S", "s", "'", "'t")
    }


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=lambda a: f"{a.morphology}{a.numbers:d}")
def test_token_table_agrees_with_the_analyzer(analyzer):
    table, term_of = TokenTable.build(analyzer, INPUTS), defined(analyzer, INPUTS)
    words = {*INPUTS, *english_stop_words(), "qwxyz", "İ", "ΣΊΣΥΦΟΣ", "\u212a", "ſ", "3rd", ""}
    words |= {form for form, lemma in lexicon().lemmas.items() if lemma in INPUTS}
    ways = sorted(way for way in set().union(*map(written, words)) if tokenize(way) == [way])
    found = [table.find(token) for token in ways]
    assert found == [term_of(token) for token in ways]
    assert len(set(found)) > len(INPUTS) / 4


@pytest.mark.slow
@pytest.mark.parametrize("morphology", ["lemma", "lower", "orth"])
@given(token=st.text(st.characters(), max_size=12))
def test_token_table_agrees_with_the_analyzer_on_any_token(morphology, token):
    analyzer = Analyzer(morphology)
    word = token.rstrip("'’") or "x"
    inputs = [word, word.lower(), "mouse"]
    table, term_of = TokenTable.build(analyzer, inputs), defined(analyzer, inputs)
    for one in (token, token.upper(), token.lower(), token + "'s", "mice", "MICE"):
        if one.count("'") + one.count("’") <= 1:  # a token has one at most
            assert table.find(one) == term_of(one)


def test_token_table_agrees_on_the_whole_lexicon(embedded):
    analyzer, inputs = Analyzer(), embedded.words[:20_000]
    table, term_of = TokenTable.build(analyzer, inputs), defined(analyzer, inputs)
    for word in (*lexicon().lemmas, *embedded.words):
        assert table.find(word) == term_of(word)


def test_lowercasing_twice_changes_nothing():
    """What a token's form rests on: the analyzer says the same of it as of the token."""
    lowered = [chr(point).lower() for point in range(0x110000)]
    assert [low for low in lowered if low != low.lower()] == []
    assert {chr(point) for point, low in enumerate(lowered) if low == "s"} == {"s", "S"}


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(0, 600), st.sampled_from([2, 4, 26]))
def test_forms_with_the_same_slot_are_distinguished(seed, count, letters):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, count)
    drawn = ["".join(map(chr, 97 + rng.integers(0, letters, size))) for size in sizes]
    analyzer = Analyzer("lower", stop_words=frozenset(), numbers=True)
    table, number = TokenTable.build(analyzer, drawn), {word: i for i, word in enumerate(drawn)}
    others = [word[:-1] for word in drawn] + [word + "a" for word in drawn]
    assert all(table.find(word) == number.get(word, -1) for word in drawn + others)
    homes = np.flatnonzero(table.slots)
    assert len(homes) == len(number) <= len(table.slots) / 2


def test_the_table_of_the_previous_test_has_shared_slots():
    """With 50,000 forms many want one slot: the look-up past the first is tried."""
    words = [f"w{i:x}" for i in range(50_000)]
    analyzer = Analyzer("lower", stop_words=frozenset())
    table = TokenTable.build(analyzer, words)
    assert [table.find(word) for word in words] == list(range(50_000))
    assert all(table.find(f"v{i:x}") == -1 for i in range(50_000))
    taken = table.slots > 0
    assert (taken[1:] & taken[:-1]).sum() > 1000


def test_forms_with_equal_slot_contents_are_distinguished():
    """Half a hash is kept; among so many forms some share it, and then a slot of a small table."""
    letters = np.random.default_rng(5).integers(97, 123, (400_000, 12), dtype=np.uint8)
    words = letters.tobytes().decode()
    words = [words[i : i + 12] for i in range(0, len(words), 12)]
    analyzer = Analyzer("lower", stop_words=frozenset())
    slots = TokenTable.build(analyzer, words).slots
    slots = np.sort(slots[slots > 0])
    halves, numbers = slots >> np.uint64(32), (slots & np.uint64(0xFFFFFFFF)).astype(int) - 1
    (alike,) = np.nonzero(halves[1:] == halves[:-1])
    assert len(alike) > 5
    for place in alike:
        pair = [words[number] for number in numbers[place : place + 2]]
        alone, both = (TokenTable.build(analyzer, known) for known in (pair[:1], pair))
        assert [alone.find(word) for word in pair] == [0, -1]
        assert [both.find(word) for word in pair] == [0, 1]


def raw_of(table):
    raw = b"".join(part.tobytes() for part in table.to_arrays())
    return np.frombuffer(raw, dtype=np.uint8).copy()


@pytest.mark.parametrize("inputs", [["cat", "mouse", "o'clock"], ["the"]])
def test_a_stored_table_is_read_back(inputs):
    made = TokenTable.build(Analyzer(), inputs)
    kept = TokenTable.from_bytes(raw_of(made), Analyzer(), inputs)
    for mine, theirs in zip(kept.to_arrays(), made.to_arrays(), strict=True):
        assert mine.tolist() == theirs.tolist()
    words = ["cat", "Cats", "mice", "o’clock", "the", "qwxyz"]
    assert [kept.find(word) for word in words] == [made.find(word) for word in words]


def test_stored_numbers_outside_the_arrays_are_refused():
    """Any 64 bits changed in any place: refused, or a table that answers with inputs."""
    inputs = ["cat", "mouse", "dog"]
    raw = raw_of(TokenTable.build(Analyzer(), inputs))
    refused = 0
    for place in range(0, len(raw) - 7, 4):
        for value in (0, 1, 5, 2**31, 2**32, 2**32 + 99, 2**63, 2**64 - 1):
            forged = raw.copy()
            forged[place : place + 8] = np.array([value], dtype=np.uint64).view(np.uint8)
            kept = TokenTable.from_bytes(forged, Analyzer(), inputs)
            if kept is None:
                refused += 1
            else:
                found = {kept.find(word) for word in ("cat", "mice", "dogs", "qwxyz", "")}
                assert found <= {-1, 0, 1, 2}
    assert refused > 100
    for size in range(len(raw)):
        assert TokenTable.from_bytes(raw[:size], Analyzer(), inputs) is None
    made = TokenTable.build(Analyzer(), inputs)
    for place, size in ((2**30, 3), (-1, 3), (0, 2**31 - 1), (0, -1), (len(made.forms) - 2, 3)):
        made.entries[1, :2] = place, size
        assert TokenTable.from_bytes(raw_of(made), Analyzer(), inputs) is None
    assert TokenTable.from_bytes(np.append(raw, raw), Analyzer(), inputs) is None
    assert TokenTable.from_bytes(raw, Analyzer(), inputs[:2]) is None  # of a larger vocabulary
