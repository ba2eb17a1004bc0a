"""Attack scenarios: ranking of authors, their documents, and the paper's table."""

import numpy as np
import polars as pl
import pytest

from paper.corpus import Corpus, from_table, message_author, newsgroups
from paper.scenarios import find_scenarios
from syntf.core.errors import SyntfError


def corpus(rows):
    """Rows of (author, label, train, how many)."""
    authors, labels, train = [], [], []
    for who, label, learned, times in rows:
        authors += [who] * times
        labels += [label] * times
        train += [learned] * times
    return Corpus(
        [""] * len(authors), np.array(labels), np.array(authors), np.array(train, dtype=bool)
    )


def author_rows(who, train, test, labels=("x",)):
    return [(who, labels[0], True, train - len(labels) + 1), (who, labels[0], False, test)] + [
        (who, label, True, 1) for label in labels[1:]
    ]


def test_authors_are_ranked_by_training_texts_then_test_texts():
    data = corpus(
        author_rows("a", 9, 5) + author_rows("b", 9, 7) + author_rows("c", 12, 5)
        + author_rows("few", 50, 4) + [("", "x", True, 40), ("", "y", False, 9)]
    )  # fmt: skip
    (top,) = find_scenarios(data, sizes=[2])
    assert list(top.authors) == ["c", "b"]
    assert top.row == ("top2-any", 2, 9, 5, 21, 12)
    assert set(data.authors[top.train]) == {"b", "c"} == set(data.authors[top.test])
    assert data.train[top.train].all()
    assert not data.train[top.test].any()


def test_multi_needs_two_labels_in_the_training_texts():
    later = [("late", "x", True, 30), ("late", "y", False, 9)]
    data = corpus(
        later + author_rows("a", 9, 5, ["x", "y"]) + author_rows("b", 8, 5, ["y", "z"])
        + author_rows("c", 20, 5, ["x", ""])
    )  # fmt: skip
    found = find_scenarios(data, sizes=[2])
    assert [(one.name, list(one.authors)) for one in found] == [
        ("top2-any", ["late", "c"]),
        ("top2-multi", ["a", "b"]),
    ]


@pytest.mark.parametrize(
    ("authors", "sizes"), [("a", []), ("abc", [3]), ("abcde", [5]), ("abcdefg", [5, 7])]
)
def test_scenarios_have_fewer_authors_if_there_are_no_more(authors, sizes):
    found = find_scenarios(corpus([row for who in authors for row in author_rows(who, 6, 5)]))
    assert [len(one.authors) for one in found] == sizes


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("From: Jane <Jane@Example.ORG>\n\nx", "jane@example.org"),
        ("From: a@b (c@d)\nSubject: s\n\nx", "a@b"),
        ('Subject: s\nFrom: "x" <u.v+w@h-1.edu>\n\nx', "u.v+w@h-1.edu"),
        ("From: nobody\n <folded@line.org>\n\nx", ""),
        ("Subject: none\n\nFrom here on", ""),
        ("", ""),
    ],
)
def test_author_is_the_first_address_in_the_from_line(message, expected):
    assert message_author(message) == expected


def test_missing_newsgroups_raise_an_error(tmp_path, monkeypatch):
    def unreachable(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets._twenty_newsgroups._fetch_remote", unreachable)
    with pytest.raises(SyntfError, match="--data-home"):
        newsgroups(tmp_path)


def test_scenarios_of_20_newsgroups_equal_the_papers(newsgroups_home):
    messages = newsgroups(newsgroups_home)
    assert len(messages.texts) == 18_846
    assert messages.train.sum() == 11_314
    assert (messages.authors == "").sum() == 73
    assert (messages.authors[messages.train] == "").sum() == 44
    assert [one.row for one in find_scenarios(messages)] == [
        ("top5-any", 5, 35, 17, 218, 155),
        ("top10-any", 10, 28, 9, 362, 224),
        ("top5-multi", 5, 29, 9, 177, 113),
        ("top10-multi", 10, 21, 8, 301, 196),
    ]
    known, counts = np.unique(messages.authors[messages.train], return_counts=True)
    assert (len(known) - 1, (counts[known != ""] >= 20).sum()) == (5733, 23)


def test_two_fifths_of_the_texts_of_each_author_are_for_testing():
    table = pl.DataFrame(
        {"text": [f"t{i}" for i in range(31)], "who": [*" a" * 15, "once"], "n": range(31)}
    )
    found = from_table(table, "text", "who", "n")
    for who in ("", "a"):
        assert (~found.train[found.authors == who]).sum() == 6
    assert found.train[-1]
    assert (found.texts[3], found.labels[3]) == ("t3", "3")
    again = from_table(table, "text", "who")
    assert (again.train == found.train).all()
    assert set(again.labels) == {""}
