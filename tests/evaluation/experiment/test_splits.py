"""Divisions by group and by time: what must never be on both sides is not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import corpus_from_table, validation_split
from syntf.evaluation.experiment.splits import divide_by_group, divide_by_time, time_order

names = st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), min_size=2, max_size=60)
times = st.lists(st.integers(1, 12).map(str) | st.just(""), min_size=2, max_size=60)
shares = st.sampled_from([0.1, 0.3, 0.4, 0.5, 0.9])


def sides(values, train):
    values = np.array(values)
    return set(values[train].tolist()) - {""}, set(values[~train].tolist()) - {""}


@given(names.filter(lambda groups: len(set(groups) - {""}) + groups.count("") > 1), shares)
def test_no_group_is_on_both_sides(groups, share):
    train = divide_by_group(np.array(groups), share)
    learnt, tested = sides(groups, train)
    assert not learnt & tested
    assert train.any()
    assert not train.all()
    sizes = [groups.count(name) for name in set(groups) - {""}] + [1] * groups.count("")
    most = min(max(round(share * len(groups)), 1), len(groups) - 1)
    tested_documents = (~train).sum()
    assert tested_documents <= max(most, min(sizes))
    # No group that is left would have fitted.
    assert all(tested_documents + groups.count(name) > most for name in learnt)


def test_a_group_split_ignores_the_order_of_the_documents():
    groups = np.array(list("aabbccddee"))
    order = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])
    assert (divide_by_group(groups[order], 0.4) == divide_by_group(groups, 0.4)[order]).all()


@given(times.filter(lambda values: len(set(values) - {""}) > 1), shares)
def test_every_test_document_is_later_than_all_training_documents(values, share):
    train = divide_by_time(np.array(values), None, share)
    learnt, tested = sides(values, train)
    assert max(map(int, learnt)) < min(map(int, tested))
    assert train[[value == "" for value in values]].all()
    # No other cut comes nearer to the wanted share.
    known = [int(value) for value in values if value]
    cuts = [sum(value >= cut for value in known) for cut in sorted(set(known))[1:]]
    distance = abs((~train).sum() - share * len(values))
    assert distance == min(abs(cut - share * len(values)) for cut in cuts)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 9)), min_size=8, max_size=40))
def test_groups_stay_together_in_a_split_by_time(rows):
    groups, moments = np.array([row[0] for row in rows]), np.array([str(row[1]) for row in rows])
    first = {name: min(moments[groups == name]) for name in set(groups.tolist())}
    if len(set(first.values())) < 2:
        return
    train = divide_by_time(moments, groups, 0.4)
    learnt, tested = sides(groups, train)
    assert not learnt & tested
    assert max(first[name] for name in learnt) < min(first[name] for name in tested)


def test_times_are_numbers_or_text():
    assert sorted(["2", "10"], key=time_order(["2", "10", ""])) == ["2", "10"]
    dates = ["2024-05-17", "2023-12-31"]
    assert sorted(dates, key=time_order(dates)) == dates[::-1]


def table(**more):
    size = 60
    return pl.DataFrame(
        {
            "text": [f"text {number}" for number in range(size)],
            "topic": ["a", "b", "c"] * 20,
            "thread": [f"t{number // 4}" for number in range(size)],
            "year": [1990 + number % 10 for number in range(size)],
            **more,
        }
    )


@pytest.mark.parametrize("options", [{}, {"time": "year", "split_by": "time"}])
def test_groups_are_kept_apart_in_the_validation_split_too(options):
    corpus = corpus_from_table(table(), text="text", label="topic", group="thread", **options)
    for part in (corpus, validation_split(corpus)):
        learnt, tested = sides(part.groups, part.train)
        assert learnt
        assert tested
        assert not learnt & tested


def test_the_validation_split_by_time_tests_on_the_later_training_documents():
    corpus = corpus_from_table(table(), text="text", label="topic", time="year", split_by="time")
    part = validation_split(corpus)
    assert len(part) == corpus.train.sum()
    learnt, tested = sides(part.times, part.train)
    assert max(learnt) < min(tested) < min(sides(corpus.times, corpus.train)[1])


def test_a_time_column_alone_leaves_the_split_random():
    plain = corpus_from_table(table(), text="text", label="topic")
    timed = corpus_from_table(table(), text="text", label="topic", time="year")
    assert (plain.train == timed.train).all()
    assert plain.digest != timed.digest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_by": "time"}, "needs a column: name it with --time"),
        ({"split_by": "time", "time": "year", "split": "part"}, "exclude each other"),
        ({"group": "thread", "split": "part"}, "have both train and test rows"),
        ({"group": "one"}, "two different groups at least"),
        ({"time": "one", "split_by": "time"}, "two different times at least"),
    ],
)
def test_splits_that_cannot_be_made_are_refused(options, message):
    parts = table(part=["train", "test"] * 30, one=["x"] * 60)
    with pytest.raises(SyntfError, match=message):
        corpus_from_table(parts, text="text", label="topic", **options)
