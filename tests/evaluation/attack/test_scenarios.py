"""Attack scenarios: ranking of authors, their documents, and corpora that are too small."""

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.attack.scenarios import find_scenarios
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.newsgroups import message_author, newsgroups


def corpus(rows):
    """Rows of (author, label, train, how many)."""
    authors, labels, train = [], [], []
    for who, label, learned, times in rows:
        authors += [who] * times
        labels += [label] * times
        train += [learned] * times
    return LabelledCorpus(
        [""] * len(authors), np.array(labels), np.array(authors), np.array(train, dtype=bool)
    )


def author_rows(who, train, test, labels=("x",)):
    return [(who, labels[0], True, train - len(labels) + 1), (who, labels[0], False, test)] + [
        (who, label, True, 1) for label in labels[1:]
    ]


def test_authors_are_ranked_by_training_texts_then_test_texts():
    data = corpus(
        author_rows("a", 9, 5) + author_rows("b", 9, 7) + author_rows("c", 12, 5)
        + author_rows("few", 50, 4)
    )  # fmt: skip
    (top,), _ = find_scenarios(data, sizes=[2])
    assert list(top.authors) == ["c", "b"]
    assert (top.name, top.min_train, top.min_test) == ("top2-any", 9, 5)
    assert len(top.train) == 21
    assert len(top.test) == 12
    assert set(data.authors[top.train]) == {"b", "c"} == set(data.authors[top.test])
    assert data.train[top.train].all()
    assert not data.train[top.test].any()


def test_multi_needs_two_labels_in_the_training_texts():
    later = [("late", "x", True, 30), ("late", "y", False, 9)]
    data = corpus(
        later + author_rows("a", 9, 5, ["x", "y"]) + author_rows("b", 8, 5, ["y", "z"])
        + author_rows("c", 20, 5, ["x", ""])
    )  # fmt: skip
    found, _ = find_scenarios(data, sizes=[2])
    assert [(one.name, list(one.authors)) for one in found] == [
        ("top2-any", ["late", "c"]),
        ("top2-multi", ["a", "b"]),
    ]


def test_texts_without_an_author_are_ignored():
    nobody = [("", "x", True, 40), ("", "y", False, 9)]
    data = corpus(nobody + author_rows("a", 6, 5) + author_rows("b", 6, 5))
    found, _ = find_scenarios(data, sizes=[5])
    assert list(found[0].authors) == ["a", "b"]


def test_scenario_with_fewer_authors_gives_a_notice():
    data = corpus([row for who in "abc" for row in author_rows(who, 6, 5)])
    found, notices = find_scenarios(data)
    assert [one.name for one in found] == ["top5-any"]
    assert "top5-any has 3 authors: there are no more authors with 5 test texts" in notices
    assert any(line.startswith("top10-any cannot be formed: there are 3") for line in notices)
    assert any(line.startswith("top5-multi cannot be formed: there are 0") for line in notices)


def test_seven_authors_give_two_scenarios():
    data = corpus([row for who in "abcdefg" for row in author_rows(who, 6, 5)])
    found, notices = find_scenarios(data)
    assert [(one.name, len(one.authors)) for one in found] == [("top5-any", 5), ("top10-any", 7)]
    assert "top10-any has 7 authors" in " ".join(notices)


def test_one_author_gives_no_scenario():
    found, notices = find_scenarios(corpus(author_rows("a", 6, 5)))
    assert found == []
    assert len(notices) == 4


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
    assert len(messages) == 18_846
    assert messages.train.sum() == 11_314
    assert (messages.authors == "").sum() == 73
    assert (messages.authors[messages.train] == "").sum() == 44
    found, notices = find_scenarios(messages)
    assert notices == []
    table = [
        (one.name, len(one.authors), one.min_train, one.min_test, len(one.train), len(one.test))
        for one in found
    ]
    assert table == [
        ("top5-any", 5, 35, 17, 218, 155),
        ("top10-any", 10, 28, 9, 362, 224),
        ("top5-multi", 5, 29, 9, 177, 113),
        ("top10-multi", 10, 21, 8, 301, 196),
    ]
    known, counts = np.unique(messages.authors[messages.train], return_counts=True)
    assert (len(known) - 1, (counts[known != ""] >= 20).sum()) == (5733, 23)
