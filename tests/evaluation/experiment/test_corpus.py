"""Corpora with labels and authors: columns, the division for training, missing values."""

import numpy as np
import polars as pl
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import corpus_from_table, validation_split


def frame(**columns):
    return pl.DataFrame(columns)


def test_columns_become_texts_labels_authors_and_split():
    corpus = corpus_from_table(
        frame(body=["a", "b", "c"], topic=["x", " y ", "x"], who=["p", "q", "q"],
              part=["train", "Test", "TRAIN"]),
        text="body", label="topic", author="who", split="part",
    )  # fmt: skip
    assert corpus.texts == ["a", "b", "c"]
    assert corpus.labels.tolist() == ["x", "y", "x"]
    assert corpus.authors.tolist() == ["p", "q", "q"]
    assert corpus.train.tolist() == [True, False, True]
    assert corpus.training_texts == ["a", "c"]
    assert list(corpus.notices) == []


def test_unnamed_columns_give_unknown_values():
    corpus = corpus_from_table(
        frame(text=["a", "b"], part=["train", "test"]), text="text", split="part"
    )
    assert corpus.labels.tolist() == corpus.authors.tolist() == ["", ""]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["train", "dev"], "row 2 does not"),
        (["train", None], "row 2 does not"),
        (["train", "train"], "both train rows and test rows"),
        (["test", "test"], "both train rows and test rows"),
    ],
)
def test_split_must_say_train_or_test(values, message):
    with pytest.raises(SyntfError, match=message):
        corpus_from_table(frame(text=["a", "b"], part=values), text="text", split="part")


def test_missing_column_is_named_in_the_error():
    with pytest.raises(SyntfError, match="no column 'topic'"):
        corpus_from_table(frame(text=["a", "b"]), text="text", label="topic")


def test_share_is_the_same_for_each_author_and_each_time():
    authors = ["p"] * 10 + ["q"] * 20 + ["r"] * 5
    data = frame(text=[str(i) for i in range(35)], who=authors)
    first, second = (
        corpus_from_table(data, text="text", author="who", test_share=0.4) for _ in range(2)
    )
    assert first.train.tolist() == second.train.tolist()
    for author, tested in (("p", 4), ("q", 8), ("r", 2)):
        assert (~first.train & (first.authors == author)).sum() == tested


def test_share_is_the_same_for_each_label_without_authors():
    data = frame(text=[str(i) for i in range(30)], topic=["x"] * 10 + ["y"] * 20)
    corpus = corpus_from_table(data, text="text", label="topic", test_share=0.5)
    assert (~corpus.train & (corpus.labels == "x")).sum() == 5


def test_single_text_of_an_author_is_for_training():
    data = frame(text=[str(i) for i in range(21)], who=["p"] * 10 + ["q"] * 10 + ["once"])
    corpus = corpus_from_table(data, text="text", author="who")
    assert corpus.train[20]
    assert "1 of 3 groups has a single text, which is never tested" in " ".join(corpus.notices)


def test_many_small_groups_are_divided_as_a_whole():
    data = frame(text=[str(i) for i in range(20)], who=[str(i // 2) for i in range(20)])
    corpus = corpus_from_table(data, text="text", author="who", test_share=0.25)
    assert (~corpus.train).sum() == 5


def test_groups_of_one_text_can_be_divided():
    corpus = corpus_from_table(
        frame(text=[str(i) for i in range(10)], who=[str(i) for i in range(10)]),
        text="text", author="who", test_share=0.3,
    )  # fmt: skip
    assert 0 < (~corpus.train).sum() < 10


def test_missing_labels_give_a_notice():
    data = frame(text=["a", "b", "c", "d"], topic=["x", None, "", "y"], part=["train", "test"] * 2)
    corpus = corpus_from_table(data, text="text", label="topic", split="part")
    assert corpus.labels.tolist() == ["x", "", "", "y"]
    assert list(corpus.notices) == ["2 of 4 texts have no value in column 'topic'"]


@pytest.mark.parametrize("share", [0, 1, -0.5, float("nan")])
def test_share_must_be_between_0_and_1(share):
    with pytest.raises(SyntfError, match="between 0 and 1"):
        corpus_from_table(frame(text=["a", "b"]), text="text", test_share=share)


def test_one_text_cannot_be_divided():
    with pytest.raises(SyntfError, match="at least two texts"):
        corpus_from_table(frame(text=["a"]), text="text")


def test_digest_depends_on_all_columns():
    base = dict(text=["a", "b"], topic=["x", "y"], who=["p", "q"], part=["train", "test"])
    names = dict(text="text", label="topic", author="who", split="part")
    digests = {corpus_from_table(frame(**base), **names).digest}
    for column, other in (("text", "c"), ("topic", "z"), ("who", "r")):
        digests.add(
            corpus_from_table(frame(**{**base, column: [other, base[column][1]]}), **names).digest
        )
    digests.add(corpus_from_table(frame(**{**base, "part": ["test", "train"]}), **names).digest)
    assert len(digests) == 5
    assert corpus_from_table(frame(**base), **names).digest in digests
    assert np.array_equal(corpus_from_table(frame(**base), **names).train, [True, False])


def test_validation_split_divides_training_texts_by_label():
    names = [f"text {i}" for i in range(100)]
    topics = [["x", "y", ""][i % 3] for i in range(100)]
    parts = ["train" if i < 60 else "test" for i in range(100)]
    table = frame(text=names, topic=topics, who=names, part=parts)
    corpus = corpus_from_table(table, text="text", label="topic", author="who", split="part")
    half = validation_split(corpus, 0.25)
    assert half.texts == [name for name, topic in zip(names[:60], topics, strict=False) if topic]
    assert half.authors.tolist() == list(half.texts)
    assert half.labels.tolist() == ["x", "y"] * 20
    for label in "xy":
        assert (half.train[half.labels == label]).sum() == 15
    assert (validation_split(corpus, 0.25).train == half.train).all()
