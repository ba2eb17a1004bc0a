"""Codebooks from public texts: topics are told apart, and the same texts give the same bytes."""

import numpy as np
import pytest

from syntf.codebook import build
from syntf.codebook.build import build_codebook
from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.codebook.lists import topic_list
from syntf.codebook.profiles import make_profiles
from syntf.core.errors import SyntfError
from syntf.pipeline.document import DocumentMechanism
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors

TOPICS = {
    "hockey": "goalie puck rink playoff hockey skate coach defenseman penalty overtime".split(),
    "space": "rocket orbit astronaut satellite shuttle lunar launch telescope mars probe".split(),
    "cooking": "recipe flour butter oven garlic onion sauce soup bake dough".split(),
    "law": "court judge attorney lawsuit jury verdict plaintiff appeal statute trial".split(),
}


def texts_about(topic, count, seed):
    """Return short texts of words of one topic."""
    words = np.array(TOPICS[topic])
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(words, 6)) for _ in range(count)]


@pytest.fixture(scope="module")
def public_texts():
    return [text for seed, topic in enumerate(TOPICS) for text in texts_about(topic, 60, seed)]


@pytest.fixture(scope="module")
def codebook(public_texts, embedded):
    return build_codebook(public_texts, embedded, Analyzer(), 40)


def nearest_topics(codebook, vectors, texts, count):
    encoder = Encoder(codebook, vectors)
    encoded = encoder.encode(WordReader(Analyzer(), vectors.words).read(texts))
    topics = topic_list(codebook, count, rounds=10)
    return topics.targets(encoded, encoder)[:, 0]


def test_texts_of_different_topics_have_different_prototypes(codebook, embedded):
    """Each of four prototypes stands for one topic, also for texts that were not seen before."""
    prototypes = {}
    for seed, topic in enumerate(TOPICS, 100):
        found = nearest_topics(codebook, embedded, texts_about(topic, 50, seed), 4)
        prototypes[topic] = int(np.bincount(found).argmax())
        assert np.mean(found == prototypes[topic]) > 0.9
    assert len(set(prototypes.values())) == 4


def test_labels_are_words_of_the_public_texts(codebook, embedded):
    labels = make_profiles(topic_list(codebook, 4, rounds=10), Encoder(codebook, embedded)).labels
    for label in labels:
        assert any(set(label.split(", ")) <= set(words) for words in TOPICS.values()), label


def test_output_words_come_first_from_the_public_texts(codebook, embedded):
    known = {embedded.words[row] for row in codebook.outputs[:30].tolist()}
    assert known <= {word for words in TOPICS.values() for word in words}
    assert len(codebook.outputs) == build.LEAST_OUTPUTS
    assert len(np.unique(codebook.outputs)) == len(codebook.outputs)


def test_words_that_occur_together_become_similar(public_texts, embedded, monkeypatch):
    """In these texts, bananas are a matter of law and saxophones one of space."""
    vocabulary = [embedded.words[row] for row in Codebook.embedded().outputs[:600].tolist()]
    generator = np.random.default_rng(3)
    texts = [
        f"{text} {extra} {' '.join(generator.choice(vocabulary, 3))}"
        for text, extra in zip(
            public_texts, np.repeat(["", "saxophone", "", "banana"], 60), strict=True
        )
    ]

    def similarity():
        encoder = Encoder(build_codebook(texts, embedded, Analyzer(), 8), embedded)
        reader = WordReader(Analyzer(), embedded.words)
        encoded = encoder.encode(reader.read(["banana", "judge", "rocket"])).vectors
        banana, judge, rocket = encoded.astype(float) / 2000
        return encoder.codebook, banana @ judge - banana @ rocket

    learnt, after = similarity()
    assert len(learnt.own_rows) > build.OWN_FROM
    assert learnt.dimensions == 100 + learnt.own_vectors.shape[1]
    learnt.check("learnt")
    monkeypatch.setattr(build, "OWN_FROM", 10**9)
    plain, before = similarity()
    assert not len(plain.own_rows)
    assert after > before + 0.15


def test_the_same_texts_give_the_same_bytes(codebook, public_texts, embedded, tmp_path):
    codebook.write(tmp_path / "a")
    build_codebook(public_texts, embedded, Analyzer(), 40).write(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Codebook.read(tmp_path / "a").digest == codebook.digest


@pytest.mark.parametrize("size", [2, 3, 17])
def test_a_codebook_has_as_many_topics_as_asked_for(public_texts, embedded, size):
    made = build_codebook(public_texts, embedded, Analyzer(), size)
    made.check("made")
    assert np.count_nonzero(made.leaves) == size


def test_few_texts_give_few_topics(embedded):
    texts = ["ice hockey", "ice hockey", "", "rocket science", "?"]
    made = build_codebook(texts, embedded, Analyzer(), 1000)
    made.check("made")
    assert np.count_nonzero(made.leaves) == 2
    assert made.points[0] == 3


def test_only_so_many_texts_are_used(public_texts, embedded, monkeypatch):
    monkeypatch.setattr(build, "MOST_TEXTS", 100)
    assert build_codebook(public_texts, embedded, Analyzer(), 5).points[0] == 80


@pytest.mark.parametrize(
    ("texts", "size", "message"),
    [
        (["hockey", "space"], 1, "2 to 10,000 topics, not 1"),
        (["hockey", "space"], 10_001, "2 to 10,000 topics, not 10,001"),
        ([], 5, "no public text has a known word"),
        (["", "the", "xqzzy"], 5, "no public text has a known word"),
        (["ice hockey"], 5, "all have the same words"),
        (["ice hockey", "Hockey, ice!"], 5, "all have the same words"),
    ],
)
def test_texts_that_cannot_make_a_codebook_are_refused(embedded, texts, size, message):
    with pytest.raises(SyntfError, match=message):
        build_codebook(texts, embedded, Analyzer(), size)


def test_private_texts_are_declared(embedded):
    made = build_codebook(["ice hockey", "rockets"], embedded, Analyzer(), 2, private=True)
    assert made.origin == "private"


def test_other_word_vectors_can_be_used(public_texts, embedded):
    words = sorted({word for topic in TOPICS.values() for word in topic})
    rows = [embedded.find(word) for word in words]
    vectors = WordVectors(words, np.ascontiguousarray(embedded.matrix[rows, :40]))
    made = build_codebook(public_texts, vectors, Analyzer("lower"), 8)
    made.check("made")
    found = nearest_topics(made, vectors, ["goalie puck rink", "oven butter flour"], 4)
    assert found[0] != found[1]


@pytest.mark.parametrize("loss", [2.0, 8.0, 14.0, 20.0, 30.0, 40.0, 500.0])
def test_every_loss_can_be_spent_on_a_small_codebook(codebook, embedded, loss):
    """Sets of topics, sets of words and several draws work, and nothing asks for a pilot."""
    encoder = Encoder(codebook, embedded)
    mechanism = DocumentMechanism.build(encoder, loss, 10_000)
    texts = [*texts_about("law", 20, 1), "", "xqzzy"]
    encoded = encoder.encode(WordReader(Analyzer(), embedded.words).read(texts))
    drawn = mechanism.release(encoded)
    assert drawn.sharpened is None
    counts, labels = mechanism.described(drawn)
    assert counts.shape[0] == len(labels) == len(texts)
    assert all(labels)
