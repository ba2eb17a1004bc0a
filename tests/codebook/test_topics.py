"""Codebooks from plain lists of topics, one a line."""

import numpy as np
import pytest

from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.codebook.lists import topic_list
from syntf.codebook.topics import LONGEST_TOPIC
from syntf.core.errors import SyntfError
from syntf.pipeline.document import DocumentMechanism
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader

LINES = ["ice hockey", "rockets and orbits", "", "cooking recipes", "law, courts and judges"]
TEXTS = [
    "The goalie stopped every shot in the playoff game.",
    "The shuttle docked with the space station.",
    "Melt the butter, then add garlic and flour.",
    "The jury believed the attorney.",
]


@pytest.fixture(scope="module")
def codebook(embedded):
    return Codebook.from_topics(LINES, embedded, Analyzer())


def test_documents_get_the_topic_they_are_about(codebook, embedded):
    encoder = Encoder(codebook, embedded)
    encoded = encoder.encode(WordReader(Analyzer(), embedded.words).read(TEXTS))
    topics = topic_list(codebook, 4)
    found = [topics.labels[topic] for topic in topics.targets(encoded, encoder)[:, 0]]
    assert found == [line for line in LINES if line]


def test_a_release_shows_the_lines(codebook, embedded):
    encoder = Encoder(codebook, embedded)
    encoded = encoder.encode(WordReader(Analyzer(), embedded.words).read(TEXTS))
    mechanism = DocumentMechanism.build(encoder, 14.0, None)
    counts, labels = mechanism.described(mechanism.release(encoded))
    assert set(labels) <= set(LINES)
    assert counts.shape == (4, len(mechanism.terms))


def test_the_lines_are_the_labels(codebook):
    topics = topic_list(codebook, 99)
    assert sorted(topics.labels) == sorted(line for line in LINES if line)
    assert codebook.labels[0].endswith("…")


def test_a_group_of_topics_is_named_by_its_topics(codebook):
    pair = topic_list(codebook, 3)
    grouped = [label for label in pair.labels if " / " in label]
    assert len(grouped) == 1
    assert set(grouped[0].split(" / ")) < set(LINES)


def test_topics_are_never_replaced_by_words(codebook, embedded):
    for loss in (5.0, 40.0, 1000.0):
        plan = DocumentMechanism.build(Encoder(codebook, embedded), loss, 10_000).plan
        assert plan.kind == "topics"
        assert plan.draws * plan.size <= 4


def test_a_file_keeps_the_labels_and_its_digest_covers_them(codebook, embedded, tmp_path):
    codebook.write(tmp_path / "a")
    read = Codebook.read(tmp_path / "a")
    assert read.labels == codebook.labels
    assert read.digest == codebook.digest
    other = [line.upper() for line in LINES]  # the same vectors, other labels
    renamed = Codebook.from_topics(other, embedded, Analyzer())
    assert (renamed.nodes == codebook.nodes).all()
    assert renamed.digest != codebook.digest
    assert topic_list(renamed, 4).digest != topic_list(codebook, 4).digest


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "at least 2 topics"),
        (["hockey", " "], "at least 2 topics"),
        (["hockey", "space", "Hockey "], "line 3 repeats line 1"),
        (["hockey", "", "xqzzy"], "line 3 has no known word"),
        (["a car", "space", "cars"], "lines 1 and 3 mean the same"),
        (["hockey", "space " * LONGEST_TOPIC], "line 2 has more than 100 characters"),
        (["hockey", "outer\x07space"], "line 2 has characters"),
        (["hockey"] * 10_001, "the most is 10,000"),
    ],
)
def test_a_bad_line_is_named(embedded, lines, message):
    with pytest.raises(SyntfError, match=message):
        Codebook.from_topics(lines, embedded, Analyzer())


def test_labels_that_do_not_fit_are_refused(codebook, tmp_path):
    from dataclasses import replace

    for labels in (
        codebook.labels[:-1],
        (*codebook.labels[:-1], ""),
        ("a\nb", *codebook.labels[1:]),
    ):
        replace(codebook, labels=labels).write(tmp_path / "bad")
        with pytest.raises(SyntfError, match="one readable name for each topic"):
            Codebook.read(tmp_path / "bad")


def test_many_topics_become_one_leaf_each(embedded):
    words = [embedded.words[row] for row in Codebook.embedded().outputs[2000:2300].tolist()]
    made = Codebook.from_topics(words, embedded, Analyzer())
    made.check("made")
    assert np.count_nonzero(made.leaves) == len(words)
