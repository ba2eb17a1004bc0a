"""Streams of documents: apart where documents differ, the same where they do not."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.spark.batches import drawn
from syntf.spark.streams import DOMAIN, Dealt, shares, stream

KEY = bytes(range(32))
WORDS = "cat dog mouse horse cow bird fish car train bus boat road".split()


def test_a_stream_is_shake_256_of_key_domain_name_and_text():
    told = KEY + b"syntf spark 1\0" + b"\x02\0\0\0\0\0\0\0" + b"17" + b"The text."
    assert DOMAIN == b"syntf spark 1\0"
    assert stream(KEY, b"17", b"The text.", 40) == hashlib.shake_256(told).digest(40)


@given(st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3)), unique=True, max_size=20))
def test_no_two_documents_share_a_stream(documents):
    """Also not where a name and a text, put together, are another's."""
    made = {stream(KEY, name, text, 32) for name, text in documents}
    assert len(made) == len(documents)


def test_another_key_is_another_stream():
    assert stream(KEY, b"1", b"", 32) != stream(bytes(32), b"1", b"", 32)
    with pytest.raises(ValueError, match="32 bytes, not 5"):
        stream(b"short", b"1", b"", 32)


@pytest.mark.parametrize(("systematic", "first"), [(True, 8), (False, 240)])
def test_shares_depend_on_the_length_alone(systematic, first):
    assert shares(30, systematic=systematic) == (first, 240)


def test_a_batch_is_dealt_by_document():
    dealt = Dealt.of(KEY, [b"a", b"b"], [b"x", b"y"], (8, 16))
    one, two = (stream(KEY, name, text, 24) for name, text in [(b"a", b"x"), (b"b", b"y")])
    assert dealt(16) == one[:8] + two[:8]
    assert dealt(32) == one[8:] + two[8:]
    with pytest.raises(RuntimeError, match="8 bytes were asked for where 0"):
        dealt(8)


def test_a_request_of_another_size_is_refused():
    with pytest.raises(RuntimeError, match="8 bytes were asked for where 16"):
        Dealt.of(KEY, [b"a", b"b"], [b"x", b"y"], (8, 16))(8)


@pytest.fixture(scope="module", params=["default", "paper"])
def table(request):
    kinds = {
        "default": {"neighbours": 1, "loss": 4.0, "draws": "systematic"},
        "paper": {"epsilon": 12.0, "draws": "independent", "weights": "tfidf"},
    }
    settings = Settings(vocabulary=WORDS, length=20, morphology="lower", **kinds[request.param])
    return Anonymizer.build(settings)


@given(texts=st.lists(st.text() | st.sampled_from(WORDS), max_size=6), cut=st.integers(0, 6))
def test_a_batch_draws_as_its_documents_one_by_one(table, texts, cut):
    raw = [text.encode("utf-8", "replace") for text in texts]
    names = [b"%d" % i for i in range(len(raw))]
    together = drawn(table, KEY, names, raw).toarray()
    assert together.shape == (len(raw), len(WORDS))
    for i, text in enumerate(raw):
        alone = drawn(table, KEY, [names[i]], [text]).toarray()
        assert (together[i] == alone[0]).all()
    parts = [drawn(table, KEY, names[s], raw[s]).toarray() for s in (slice(cut), slice(cut, None))]
    assert (np.vstack(parts) == together).all()


def test_equal_texts_draw_apart_and_any_text_n_words(table):
    counts = drawn(table, KEY, [b"%d" % i for i in range(50)], [b"cat dog"] * 49 + [b"\xff\xfe"])
    assert (counts.sum(axis=1) == 20).all()
    assert len({tuple(row) for row in counts.toarray().tolist()}) > 25


def test_draws_follow_the_table(table):
    """Over many names, one text: the counts are those of the rows it mixes."""
    count = 4000
    counts = drawn(table, KEY, [b"%d" % i for i in range(count)], [b"cat"] * count)
    row = table.mechanism.weights(table.vocabulary.inputs.index("cat"))
    expected = row / row.sum() * count * 20
    observed = np.asarray(counts.sum(axis=0)).ravel()
    likely = expected > 5
    deviation = (observed - expected)[likely] ** 2 / expected[likely]
    assert deviation.sum() < 80  # of chi-square with 11 degrees of freedom, beyond 1e-11
