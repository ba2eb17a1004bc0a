"""Random bytes of documents: different for different documents, the same for the same one."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.spark.drawing import draw
from syntf.spark.random_bytes import (
    DRAW_DOMAIN,
    BatchSource,
    document_bytes,
    draw_sizes,
    order_keys,
    sample_numbers,
)

KEY = bytes(range(32))
WORDS = "cat dog mouse horse cow bird fish car train bus boat road".split()


def test_document_bytes_are_shake_256_of_key_domain_name_and_text():
    hashed = KEY + b"syntf spark 1\0" + b"\x02\0\0\0\0\0\0\0" + b"17" + b"The text."
    assert DRAW_DOMAIN == b"syntf spark 1\0"
    assert document_bytes(KEY, b"17", b"The text.", 40) == hashlib.shake_256(hashed).digest(40)


@given(st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3)), unique=True, max_size=20))
def test_different_documents_have_different_bytes(documents):
    """Also if name and text joined are equal."""
    found = {document_bytes(KEY, name, text, 32) for name, text in documents}
    assert len(found) == len(documents)


def test_another_key_gives_other_bytes():
    assert document_bytes(KEY, b"1", b"", 32) != document_bytes(bytes(32), b"1", b"", 32)
    with pytest.raises(ValueError, match="32 bytes, not 5"):
        document_bytes(b"short", b"1", b"", 32)


@pytest.mark.parametrize(("systematic", "first"), [(True, 8), (False, 240)])
def test_draw_sizes_depend_on_the_length_only(systematic, first):
    assert draw_sizes(30, systematic=systematic) == (first, 240)


def test_each_call_returns_the_bytes_of_all_documents():
    source = BatchSource.for_documents(KEY, [b"a", b"b"], [b"x", b"y"], (8, 16))
    one, two = (document_bytes(KEY, name, text, 24) for name, text in [(b"a", b"x"), (b"b", b"y")])
    assert source(16) == one[:8] + two[:8]
    assert source(32) == one[8:] + two[8:]
    with pytest.raises(RuntimeError, match="8 random bytes requested instead of 0"):
        source(8)


def test_a_call_for_another_size_is_refused():
    with pytest.raises(RuntimeError, match="8 random bytes requested instead of 16"):
        BatchSource.for_documents(KEY, [b"a", b"b"], [b"x", b"y"], (8, 16))(8)


@pytest.fixture(scope="module", params=["default", "paper"])
def table(request):
    kinds = {
        "default": {"neighbours": 1, "loss": 4.0, "draws": "systematic"},
        "paper": {"epsilon": 12.0, "draws": "independent", "weights": "tfidf"},
    }
    settings = Settings(vocabulary=WORDS, length=20, morphology="lower", **kinds[request.param])
    return Anonymizer.build(settings)


@given(texts=st.lists(st.text() | st.sampled_from(WORDS), max_size=6), cut=st.integers(0, 6))
def test_draws_do_not_depend_on_the_batch(table, texts, cut):
    raw = [text.encode("utf-8", "replace") for text in texts]
    names = [b"%d" % i for i in range(len(raw))]
    together = draw(table, KEY, names, raw).toarray()
    assert together.shape == (len(raw), len(WORDS))
    for i, text in enumerate(raw):
        alone = draw(table, KEY, [names[i]], [text]).toarray()
        assert (together[i] == alone[0]).all()
    parts = [draw(table, KEY, names[s], raw[s]).toarray() for s in (slice(cut), slice(cut, None))]
    assert (np.vstack(parts) == together).all()


def test_equal_texts_get_different_draws_and_every_text_n_words(table):
    counts = draw(table, KEY, [b"%d" % i for i in range(50)], [b"cat dog"] * 49 + [b"\xff\xfe"])
    assert (counts.sum(axis=1) == 20).all()
    assert len({tuple(row) for row in counts.toarray().tolist()}) > 25


def test_draws_follow_the_table(table):
    """Over many names, the counts of one text follow the row of its word."""
    count = 4000
    counts = draw(table, KEY, [b"%d" % i for i in range(count)], [b"cat"] * count)
    row = table.mechanism.weights(table.vocabulary.inputs.index("cat"))
    expected = row / row.sum() * count * 20
    observed = np.asarray(counts.sum(axis=0)).ravel()
    likely = expected > 5
    deviation = (observed - expected)[likely] ** 2 / expected[likely]
    assert deviation.sum() < 80  # chi-square, 11 degrees of freedom: p < 1e-11


def test_the_order_depends_on_key_and_name_only():
    names = [b"%d" % i for i in range(1000)]
    keys = order_keys(KEY, names)
    assert (
        keys == np.concatenate([order_keys(KEY, names[:10]), order_keys(KEY, names[10:])])
    ).all()
    assert len(set(keys.tolist())) == 1000
    assert (order_keys(bytes(32), names) != keys).all()
    ranks = np.argsort(np.argsort(keys))
    assert abs(np.corrcoef(ranks, np.arange(1000))[0, 1]) < 0.16  # 5 sigma


@given(st.binary(min_size=32, max_size=32), st.integers(0, 3000), st.data())
def test_a_sample_has_different_numbers_and_depends_on_the_key_only(key, documents, data):
    size = data.draw(st.integers(0, documents))
    sample = sample_numbers(key, documents, size).tolist()
    assert sample == sorted(set(sample))
    assert len(sample) == size
    assert not sample or (sample[0] >= 0 and sample[-1] < documents)
    assert sample_numbers(key, documents, size).tolist() == sample
    with pytest.raises(ValueError, match="cannot choose"):
        sample_numbers(key, documents, documents + 1)


@pytest.mark.parametrize(("documents", "size", "choices"), [(7, 3, 35), (9, 7, 36), (5, 1, 5)])
def test_every_sample_is_equally_likely(documents, size, choices):
    """The test rejects a sample that takes numbers modulo the number of documents."""
    tries = 400 * choices
    found = Counter(
        tuple(sample_numbers(key.to_bytes(32, "little"), documents, size).tolist())
        for key in range(tries)
    )
    assert len(found) == choices
    deviation = sum((count - 400) ** 2 / 400 for count in found.values())
    assert deviation < choices - 1 + 6 * (2 * choices) ** 0.5


def test_another_key_gives_another_sample_of_a_large_corpus():
    one, two = (sample_numbers(key, 10**9, 32_768) for key in (KEY, bytes(32)))
    assert len(np.intersect1d(one, two)) < 20  # about 1 is expected
    assert abs(one.mean() / 10**9 - 0.5) < 0.01
