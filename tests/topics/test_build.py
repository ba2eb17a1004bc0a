"""Codebooks from public texts, from named topics and for language packs."""

import numpy as np
import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.text.reader import reader_for
from syntf.topics import build
from syntf.topics.build import build_codebook, words_not_shown
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import Encoder
from syntf.topics.integers import LENGTH
from syntf.topics.lists import topic_list
from syntf.topics.named import LONGEST_TOPIC, codebook_from_topics
from syntf.topics.pack import write_pack_codebook
from syntf.topics.profiles import profiles
from syntf.topics.tree import grow_tree, unit_rows
from syntf.words.vectors import WordVectors

TOPICS = {
    "hockey": "goalie puck rink playoff hockey skate coach defenseman penalty overtime".split(),
    "space": "rocket orbit astronaut satellite shuttle lunar launch telescope mars probe".split(),
    "cooking": "recipe flour butter oven garlic onion sauce soup bake dough".split(),
    "law": "court judge attorney lawsuit jury verdict plaintiff appeal statute trial".split(),
}
LINES = ["ice hockey", "rockets and orbits", "", "cooking recipes", "law, courts and judges"]


def texts_about(topic, count, seed):
    """Return short texts of words of one topic."""
    words = np.array(TOPICS[topic])
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(words, 6)) for _ in range(count)]


@pytest.fixture(scope="module")
def public_texts():
    texts = [text for seed, topic in enumerate(TOPICS) for text in texts_about(topic, 60, seed)]
    return pl.Series(texts)


@pytest.fixture(scope="module")
def reader(embedded):
    return reader_for(words=embedded.words)


@pytest.fixture(scope="module")
def codebook(public_texts, embedded, reader):
    return build_codebook(public_texts, embedded, reader, 40)


@pytest.fixture(scope="module")
def named(embedded, reader):
    return codebook_from_topics(LINES, embedded, reader)


def check(codebook, folder):
    """Write a codebook and read it again, which checks it."""
    codebook.save(folder / "checked")
    assert Codebook.read(folder / "checked").digest == codebook.digest


def targets(codebook, vectors, reader, texts, count):
    encoded = Encoder(codebook, vectors).encode(reader.counts(pl.Series(texts)))
    return topic_list(codebook, count, rounds=10).targets(encoded)[:, 0]


def test_a_tree_splits_the_widest_group_and_keeps_every_point():
    generator = np.random.default_rng(1)
    points = unit_rows(
        generator.normal(size=(300, 6)) + 3 * np.eye(6)[generator.integers(0, 6, 300)]
    )
    tree = grow_tree(points, 20)
    assert (tree.child == 0).sum() == 20
    for node, first in enumerate(tree.child.tolist()):
        rows = tree.members[node]
        mean = points[rows].mean(axis=0)
        length = np.linalg.norm(mean)
        assert tree.points[node] == len(rows)
        assert tree.spread[node] == pytest.approx(1e4 * (1 - length), abs=1)
        direction = tree.nodes[node] / np.linalg.norm(tree.nodes[node].astype(float))
        assert direction @ mean / length > 0.999
        if first:
            below = np.concatenate([tree.members[first], tree.members[first + 1]])
            assert sorted(below.tolist()) == sorted(rows.tolist())


def test_texts_of_different_topics_have_different_topics(codebook, embedded, reader):
    """Each of four topics stands for one, also for texts that were not seen before."""
    found = {}
    for seed, topic in enumerate(TOPICS, 100):
        nearest = targets(codebook, embedded, reader, texts_about(topic, 50, seed), 4)
        found[topic] = int(np.bincount(nearest).argmax())
        assert np.mean(nearest == found[topic]) > 0.9
    assert len(set(found.values())) == 4


def test_names_are_words_of_the_public_texts(codebook, embedded):
    _, names = profiles(topic_list(codebook, 4, rounds=10), Encoder(codebook, embedded))
    for name in names[:-1]:
        assert any(len({*name.split(", ")} & {*words}) >= 2 for words in TOPICS.values()), name
    known = {embedded.words[row] for row in codebook.outputs[:30].tolist()}
    assert known <= {word for words in TOPICS.values() for word in words}
    assert len(codebook.outputs) == build.LEAST_OUTPUTS
    assert len(np.unique(codebook.outputs)) == len(codebook.outputs)


def test_words_that_no_town_hall_reads_are_not_shown(embedded, reader):
    texts = pl.Series(["rape and porn in court", "the judge and the rape", "rape, porn, puck"] * 9)
    made = build_codebook(texts, embedded, reader, 2)
    shown = {embedded.words[row] for row in made.outputs.tolist()}
    assert "court" in shown
    assert not shown & words_not_shown()


def test_words_that_occur_together_become_similar(public_texts, embedded, reader, monkeypatch):
    """In these texts, bananas are a matter of law and saxophones one of space."""
    vocabulary = [embedded.words[row] for row in Codebook.embedded().outputs[:600].tolist()]
    generator = np.random.default_rng(3)
    extras = np.repeat(["", "saxophone", "", "banana"], 60)
    texts = pl.Series(
        [
            f"{text} {extra} {' '.join(generator.choice(vocabulary, 3))}"
            for text, extra in zip(public_texts, extras, strict=True)
        ]
    )

    def similarity():
        encoder = Encoder(build_codebook(texts, embedded, reader, 8), embedded)
        encoded = encoder.encode(reader.counts(pl.Series(["banana", "judge", "rocket"])))
        banana, judge, rocket = encoded.astype(float) / LENGTH
        return encoder.codebook, banana @ judge - banana @ rocket

    learnt, after = similarity()
    assert len(learnt.own_rows) > build.OWN_FROM
    assert learnt.dimensions == 100 + learnt.own_vectors.shape[1]
    monkeypatch.setattr(build, "OWN_FROM", 10**9)
    plain, before = similarity()
    assert not len(plain.own_rows)
    assert after > before + 0.15


def test_the_same_texts_give_the_same_bytes(codebook, public_texts, embedded, reader, tmp_path):
    codebook.save(tmp_path / "a")
    build_codebook(public_texts, embedded, reader, 40).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Codebook.read(tmp_path / "a").origin == codebook.origin == "supplied"


@pytest.mark.parametrize("size", [2, 17])
def test_a_codebook_has_as_many_topics_as_asked_for(public_texts, embedded, reader, size, tmp_path):
    made = build_codebook(public_texts, embedded, reader, size)
    check(made, tmp_path)
    assert np.count_nonzero(made.leaves) == size


def test_few_texts_give_few_topics(embedded, reader, tmp_path):
    texts = pl.Series(["ice hockey", "ice hockey", "", "rocket science", "?", None])
    made = build_codebook(texts, embedded, reader, 1000, private=True)
    assert made.origin == "private"
    check(made, tmp_path)
    assert np.count_nonzero(made.leaves) == 2
    assert made.points[0] == 3


def test_only_so_many_texts_are_used(public_texts, embedded, reader, monkeypatch):
    monkeypatch.setattr(build, "MOST_TEXTS", 100)
    assert build_codebook(public_texts, embedded, reader, 5).points[0] == 80


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
def test_texts_that_cannot_make_a_codebook_are_refused(embedded, reader, texts, size, message):
    with pytest.raises(SyntfError, match=message):
        build_codebook(pl.Series(texts, dtype=pl.String), embedded, reader, size)


def test_other_word_vectors_can_be_used(public_texts, embedded, tmp_path):
    words = sorted({word for topic in TOPICS.values() for word in topic})
    rows = [embedded.find(word) for word in words]
    vectors = WordVectors(words, np.ascontiguousarray(embedded.matrix[rows, :40]))
    reader = reader_for(words=words, morphology="lower")
    made = build_codebook(public_texts, vectors, reader, 8)
    check(made, tmp_path)
    found = targets(made, vectors, reader, ["goalie puck rink", "oven butter flour"], 4)
    assert found[0] != found[1]


def test_named_topics_are_found_and_shown_as_they_were_written(named, embedded, reader):
    texts = [
        "The goalie stopped every shot in the playoff game.",
        "The shuttle docked with the space station.",
        "Melt the butter, then add garlic and flour.",
        "The jury believed the attorney.",
    ]
    topics = topic_list(named, 99)
    assert sorted(topics.names) == sorted(line for line in LINES if line)
    found = [topics.names[topic] for topic in targets(named, embedded, reader, texts, 4)]
    assert found == [line for line in LINES if line]
    assert named.names[0].endswith("…")


def test_a_group_of_named_topics_is_named_by_its_topics(named):
    grouped = [name for name in topic_list(named, 3).names if " / " in name]
    assert len(grouped) == 1
    assert set(grouped[0].split(" / ")) < set(LINES)


def test_the_digest_covers_given_names(named, embedded, reader, tmp_path):
    check(named, tmp_path)
    renamed = codebook_from_topics([line.upper() for line in LINES], embedded, reader)
    assert (renamed.nodes == named.nodes).all()
    assert renamed.digest != named.digest


def test_many_named_topics_become_one_leaf_each(embedded, reader, tmp_path):
    words = [embedded.words[row] for row in Codebook.embedded().outputs[2000:2300].tolist()]
    made = codebook_from_topics(words, embedded, reader)
    check(made, tmp_path)
    assert np.count_nonzero(made.leaves) == len(words)


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
def test_a_bad_line_is_named(embedded, reader, lines, message):
    with pytest.raises(SyntfError, match=message):
        codebook_from_topics(lines, embedded, reader)


def test_the_codebook_of_a_pack_tells_topics_apart_without_any_text(embedded, tmp_path):
    """Made of the words and vectors alone, it groups words of one topic."""
    vectors = WordVectors(embedded.words[:20_000], embedded.matrix[:20_000])
    reader = reader_for(words=vectors.words)
    outputs = Codebook.embedded().outputs
    write_pack_codebook(vectors, outputs[outputs < 20_000][:1000], tmp_path / "pack.npz")
    made = Codebook.read(tmp_path / "pack.npz")
    texts = [" ".join(words) for words in TOPICS.values()]
    found = targets(made, vectors, reader, texts + texts_about("law", 30, 5), 60)
    assert len(set(found[:4].tolist())) == 4
    assert np.mean(found[4:] == found[3]) > 0.5
