"""Linkage of texts with their releases, where whole documents are released."""

import numpy as np
import pytest

from syntf.evaluation.attack import document_linkage as module
from syntf.evaluation.attack.document_linkage import Linker, attack_document_release
from syntf.evaluation.attack.linkage import first_guess_share
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.pipeline.document import DocumentAnonymizer, Drawn
from syntf.pipeline.settings import Settings

WORDS = "hockey goalie puck planet orbit rocket doctor patient fever engine wheel brake".split()


@pytest.fixture(scope="module")
def corpus():
    generator = np.random.default_rng(2)
    texts, labels, authors = [], [], []
    for number in range(90):
        topic = number % 4
        texts.append(" ".join(generator.choice(WORDS[3 * topic : 3 * topic + 3], 4)))
        labels.append(f"topic {topic}")
        authors.append(f"author {number % 20}")
    texts[0] = "!"  # no known word
    return LabelledCorpus(texts, np.array(labels), np.array(authors), np.arange(90) < 60)


def anonymizer(loss):
    return DocumentAnonymizer.build(Settings(document_loss=loss))


def test_odds_are_those_of_the_mechanism(corpus):
    """Where every document answers from one list, the odds can be written down."""
    maker = anonymizer(6.0)
    mechanism = maker.mechanism(len(corpus))
    encoded = maker.read(corpus.texts)
    drawn = mechanism.release(encoded)
    targets = mechanism.general.targets(encoded, maker.encoder)[:, 0]
    response = mechanism.response(mechanism.general)
    odds = Linker(mechanism, drawn, encoded).odds(np.array([3, 4]))
    for row, text in enumerate((3, 4)):
        for release in range(len(corpus)):
            answer = drawn.answers[release, 0]
            chance = response.weights(int(targets[text]))[answer] / response.total
            usual = np.mean(drawn.answers[:, 0] == answer)
            assert odds[row, release] == pytest.approx(np.log(chance / usual))


def test_pilot_and_other_documents_are_compared_with_their_own_lists(corpus):
    maker = anonymizer(8.0)
    mechanism = maker.mechanism(len(corpus))
    encoded = maker.read(corpus.texts)
    general = mechanism.general
    pilot = np.arange(len(corpus)) < 30
    answers = general.targets(encoded, maker.encoder)
    sharpened = mechanism.sharpen(answers[pilot])
    answers[~pilot] = sharpened.targets(encoded.at(np.flatnonzero(~pilot)), maker.encoder)
    drawn = Drawn(answers, pilot, general, sharpened)
    texts = np.array([5, 50])
    odds = Linker(mechanism, drawn, encoded).odds(texts)
    for row, (text, entry_list, places) in enumerate(
        [(5, general, np.flatnonzero(pilot)), (50, sharpened, np.flatnonzero(~pilot))]
    ):
        kept = float(mechanism.response(entry_list).keep_probability)
        share = np.mean(answers[places] == answers[text])
        assert odds[row, text] == pytest.approx(np.log(kept / share))


def test_texts_with_the_same_answer_share_the_first_guess():
    odds = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    assert first_guess_share(odds, np.array([0, 1, 3])) == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_all_tasks_are_attacked_and_a_small_loss_hides_releases(corpus, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 7)
    found = {
        loss: {(one.task, one.method, one.pairs): one for one in attack_document_release(
            corpus, anonymizer(loss))}
        for loss in (1.0, 40.0)
    }  # fmt: skip
    assert list(found[1.0]) == [
        ("document", "syntf", "any"), ("document", "syntf", "same label"),
        ("membership", "syntf", "any"),
        ("author", "vectorised", "any"), ("author", "vectorised", "same label"),
        ("author", "syntf", "any"), ("author", "syntf", "same label"),
        ("author-releases", "syntf", "any"), ("author-releases", "syntf", "same label"),
    ]  # fmt: skip
    little, much = (found[loss]["document", "syntf", "any"] for loss in (1.0, 40.0))
    assert little.score.auc < 0.8 < 0.95 < much.score.auc
    assert (little.first_guess.among, much.first_guess.among) == (90, 90)
    assert little.first_guess.share < 0.1 < much.first_guess.share
    assert found[40.0]["membership", "syntf", "any"].first_guess is None


def test_corpus_that_is_too_small_is_not_attacked():
    corpus = LabelledCorpus(
        ["a", "b"], np.array(["", ""]), np.array(["", ""]), np.array([True, False])
    )
    assert list(attack_document_release(corpus, anonymizer(10.0))) == []
