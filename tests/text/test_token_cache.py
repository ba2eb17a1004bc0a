"""Tables of tokens, remembered between runs."""

import pickle

import pytest

from syntf import SynTF
from syntf.core import cache_store
from syntf.text import lexicon, token_table
from syntf.text.token_table import TokenTable, cached_table
from syntf.text.tokenizer import Analyzer

pytestmark = pytest.mark.skipif(
    token_table.compiled is None,
    reason="the package was installed without a C compiler: install gcc, then pip install again",
)

INPUTS = ["cat", "mouse", "o'clock", "\ud800"]
WORDS = ["Cats", "mice", "o’clock", "the", "qwxyz", "CAT'S"]


@pytest.fixture
def made(monkeypatch):
    """The tables that were worked out, one entry each."""
    found, build = [], TokenTable.build.__func__

    def counted(cls, analyzer, inputs):
        found.append(len(inputs))
        return build(cls, analyzer, inputs)

    monkeypatch.setattr(TokenTable, "build", classmethod(counted))
    return found


def answers(table):
    return [table.find(word) for word in WORDS]


def test_a_token_table_is_built_once(empty_cache, made):
    first, second = (cached_table(Analyzer(), INPUTS) for _ in range(2))
    assert made == [4]
    assert answers(first) == answers(second) == [0, 1, 2, -1, -1, 0]
    (entry,) = empty_cache.iterdir()
    assert entry.suffix == ".tokens"
    assert cache_store.clear() == 1
    assert answers(cached_table(Analyzer(), INPUTS)) == answers(first)
    assert made == [4, 4]


def test_the_cache_key_covers_everything_the_table_depends_on(empty_cache, made, monkeypatch):
    asked = [
        (Analyzer(), INPUTS), (Analyzer("lower"), INPUTS), (Analyzer("orth"), INPUTS),
        (Analyzer(numbers=True), INPUTS), (Analyzer(stop_words={"cat"}), INPUTS),
        (Analyzer(stop_words=frozenset()), INPUTS), (Analyzer(), INPUTS[::-1]),
        (Analyzer(), INPUTS[:3]), (Analyzer(), ["ca", "tmouse", *INPUTS[2:]]),
    ]  # fmt: skip
    for given in asked * 2:
        assert answers(cached_table(*given)) == answers(TokenTable.build(*given))
    assert len(list(empty_cache.iterdir())) == len(asked)
    assert len(made) == 3 * len(asked)
    monkeypatch.setattr(lexicon, "digest", lambda pack: "another lexicon")
    for morphology, new in (("lemma", 1), ("lower", 0), ("orth", 0)):
        before = len(made)
        cached_table(Analyzer(morphology), INPUTS)
        assert len(made) - before == new


@pytest.mark.slow
def test_a_damaged_entry_is_built_again_and_replaced(empty_cache, made):
    table = cached_table(Analyzer(), INPUTS)
    (entry,) = empty_cache.iterdir()
    raw = entry.read_bytes()
    damaged = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in range(0, len(raw), 3)]
    for content in (*damaged, *(raw[:size] for size in range(0, len(raw), 7)), raw + b"x", b""):
        before = len(made)
        entry.unlink()
        entry.write_bytes(content)
        assert answers(cached_table(Analyzer(), INPUTS)) == answers(table)
        assert len(made) == before + 1
        assert entry.read_bytes() == raw


def test_a_cached_table_needs_no_lexicon(empty_cache, monkeypatch, toy_vectors):
    texts = ["The cat's Mice aren’t running", "café Straße 2nd"]
    synthetic = SynTF(vectors=toy_vectors, vocabulary=toy_vectors.words, length=3).fit([])
    before = synthetic._anonymizer.read(texts)
    monkeypatch.setattr(lexicon, "lexicon", lambda pack=None: pytest.fail("the lexicon was made"))
    again = SynTF(vectors=toy_vectors, vocabulary=toy_vectors.words, length=3).fit([])
    assert again._anonymizer.read(texts).terms.tolist() == before.terms.tolist()
    assert len(before.terms) == 4  # cat, mouse, run, and the empty one


@pytest.mark.parametrize("fitted", [False, True])
def test_the_cache_contains_nothing_from_texts(empty_cache, toy_vectors, fitted):
    """Neither of a word that compiled code looks up nor of one that Python is asked for."""
    texts = ["zanzibarcanary zänzibarcanary cat", "zanzibarcanary’s dog zänzibarcanary"]
    more = {"fit_vocabulary": True} if fitted else {"vocabulary": toy_vectors.words}
    synthetic = SynTF(vectors=toy_vectors, length=3, min_df=1, **more).fit(texts)
    synthetic.transform(texts)
    entries = [path for path in empty_cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in entries} == (set() if fitted else {".tokens", ".neighbours"})
    kept = b"".join(path.read_bytes() for path in entries)
    assert b"ibarcanary" not in kept
    assert b"guitar" not in kept  # nor is any word spelled out
    assert b"ibarcanary" not in pickle.dumps(synthetic)
