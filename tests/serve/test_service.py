"""Requests share no draws, and no text is kept."""

import gc
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.serve.service import Service

TEXT = "The cat saw a mouse, two horses and a train near the river; the dog played piano."


def test_a_seeded_source_is_refused(toy_settings):
    seeded = Anonymizer.build(toy_settings, source=entropy.Seeded(1))
    with pytest.raises(SyntfError, match="does not accept a seed"):
        Service(seeded)


def test_a_fitted_vocabulary_is_refused(toy_vectors):
    from syntf.pipeline.settings import Settings

    texts = ["cat dog mouse", "cat dog horse", "mouse horse"]
    chosen = Settings(fit_vocabulary=True, neighbours=1, loss=2.0, vectors=toy_vectors)
    with pytest.raises(SyntfError, match="public vocabulary"):
        Service(Anonymizer.build(chosen, texts))


def test_counts_sum_to_n_and_are_in_vocabulary_order(toy_anonymizer):
    outputs = list(toy_anonymizer.vocabulary.outputs)
    for document in Service(toy_anonymizer).draw([TEXT, "", "qqq"]):
        counts = document["counts"]
        assert sum(counts.values()) == 20
        places = [outputs.index(word) for word in counts]
        assert places == sorted(places)
        assert Counter(document["words"]) == counts


def test_service_reads_the_same_terms_as_the_anonymizer(toy_anonymizer):
    texts = [TEXT, "Mice! MICE; zebra", "", "running cars"]
    ours, theirs = Service(toy_anonymizer).read(texts), toy_anonymizer.read(texts)
    assert ours.starts.tolist() == theirs.starts.tolist()
    assert ours.terms.tolist() == theirs.terms.tolist()


def test_draws_follow_the_table(toy_anonymizer):
    """Of 20,000 words drawn for one input, each output comes as often as its weight says (5 σ)."""
    service = Service(toy_anonymizer)
    total = Counter()
    for document in service.draw(["cat"] * 1000):
        total.update(document["counts"])
    term = toy_anonymizer.term("cat")
    chances = toy_anonymizer.mechanism.weights(term) / toy_anonymizer.mechanism.total
    found = np.array([total[word] for word in toy_anonymizer.vocabulary.outputs])
    sigma = np.sqrt(20_000 * chances * (1 - chances))
    assert (np.abs(found - 20_000 * chances) < 5 * sigma).all()


def test_threads_never_share_draws(toy_anonymizer, monkeypatch):
    """Every request reads its own bytes from the operating system, and no bytes are used twice."""
    read, lock = [], threading.Lock()

    def urandom(size, real=entropy.os.urandom):
        raw = real(size)
        with lock:
            read.append((threading.get_ident(), raw))
        return raw

    monkeypatch.setattr(entropy.os, "urandom", urandom)
    service, requests, gate = Service(toy_anonymizer), 200, threading.Barrier(20)

    def ask(number):
        if number < 20:
            gate.wait(30)
        return service.draw([TEXT])[0]["counts"]

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(requests)))
    per_request = [8, 8 * 20]  # one systematic start, then eight bytes a word
    assert sorted(len(raw) for _, raw in read) == sorted(per_request * requests)
    assert len({raw for _, raw in read}) == 2 * requests
    assert len({thread for thread, _ in read}) > 1
    assert len({tuple(counts.items()) for counts in answers}) == requests


def test_no_token_of_a_text_is_kept(toy_anonymizer, canary):
    service = Service(toy_anonymizer)
    word = canary + "kept"
    service.draw([f"cat {word} dog"])
    gc.collect()
    holders = [
        kept for kept in gc.get_objects()
        if isinstance(kept, dict) and type(kept).__name__ == "Remembered" and word in kept
    ]  # fmt: skip
    assert not holders
    assert word not in vars(toy_anonymizer.reader).get("term_of", {})


def test_explain_shows_the_row_of_the_table(toy_anonymizer):
    service, mechanism = Service(toy_anonymizer), toy_anonymizer.mechanism
    explanation = service.explain("Mice", 5)
    chances = mechanism.weights(toy_anonymizer.term("mouse")) / mechanism.total
    outputs = toy_anonymizer.vocabulary.outputs
    assert explanation["term"] == "mouse"
    assert explanation["stays"] == chances[outputs.index("mouse")]
    best = sorted(chances, reverse=True)[:5]
    assert [one["chance"] for one in explanation["substitutes"]] == best
    assert all(
        one["chance"] == chances[outputs.index(one["word"])] for one in explanation["substitutes"]
    )
    assert explanation["others"]["words"] == len(outputs) - 5
    assert explanation["others"]["chance"] == pytest.approx(1 - sum(best))
    assert service.explain("the", 5) == {"known": False, "loss": mechanism.loss}
