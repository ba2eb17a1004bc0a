"""Warnings for the owner about kept columns: exact sentences, and no false alarm."""

import polars as pl
import pytest

from syntf import SyntfError
from syntf.release.kept import columns_to_keep, warnings

IBANS = ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606"]
SUBJECTS = ["Where is my new library card?", "The bus was late again this morning",
            "Please repair the lamp in our street"]  # fmt: skip


def column(values, name="kept", **options):
    return warnings(pl.DataFrame({name: values}), **options)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["ann@example.org", "Bob <bob@mail.example.com>", None], "e-mail addresses"),
        (["-"] * 9 + ["ann@example.org"], "e-mail addresses"),
        (IBANS, "bank accounts (IBAN)"),
        (["+49 30 901820", "030/9018-20", "(030) 901820", "555-123-4567"], "phone numbers"),
        (["0301234567", "01701234567"], "phone numbers"),
        (SUBJECTS, "free text"),
        ([f"Ann{chr(97 + i)} Smith" for i in range(20)], "names of persons"),
        (["Łukasz Żak", "O’Neill, Ann"] * 10 + [f"Jo{chr(97 + i)} Ö" for i in range(20)],
         "names of persons"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("id", [None, "kept"])
def test_values_of_persons_are_recognised(values, kind, id):
    what = "column" if id is None else "id"
    expected = f"the {what} 'kept' looks like {kind}, and it is released as it is"
    assert column(values, id=id) == [expected]


@pytest.mark.parametrize(
    "name", ["author", "From", "name", "first_name", "lastName", "customer", "user name", "SENDER"]
)
def test_columns_named_after_persons_are_recognised(name):
    expected = f"the column {name!r} looks like names of persons, and it is released as it is"
    assert column(["ann", "bob", "ann"], name) == [expected]


@pytest.mark.parametrize(
    "name", ["topic", "file_name", "author_count", "user_id", "tone", "format", "stock"]
)
def test_columns_named_after_other_things_are_not(name):
    assert column(["red", "blue", "red"], name) == []


@pytest.mark.parametrize(
    "values",
    [
        ["sport", "politics", "talk.politics.misc"] * 20,
        ["Public transport", "Waste and recycling"] * 20,
        ["Questions about the opening hours of libraries"] * 20,
        ["New York", "San Francisco", "Los Angeles"] * 10,
        [2023, 2024, 2025] * 20,
        ["2024-01-05", "2024-01-06", "05.01.2024"] * 10,
        ["2024-01-05 10:00:00", "2024-01-06 23:59:59"] * 10,
        ["0.12345678", "1234567.89"] * 10,
        ["00000001", "00000002"] * 10,
        [True, False] * 20,
        [["a", "b"], ["c"]] * 5,
        [{"a": 1}, {"a": 2}] * 15,
        [None] * 30,
        ["", " "] * 30,
        [],
    ],
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_harmless_columns_raise_no_alarm(values, shuffle):
    assert column(values, shuffle=shuffle) == []


def test_a_nearly_unique_column_is_named_unless_it_is_the_id():
    values = [i * 7 % 31 for i in range(30)]
    assert column(values, "amount") == [
        "the column 'amount' is nearly unique: whoever knows its values elsewhere finds the "
        "documents"
    ]
    assert column(values, id="kept") == []
    assert column(values[:19]) == []  # too few to tell
    assert column(values[:26] + values[:4]) == []  # 26 of 30 are distinct


@pytest.mark.parametrize(
    "values",
    [
        range(10), range(10, 0, -1), ["m8", "m9", "m10", "m11", "m12"], [1, 1, 2, 3, 4, 4],
        [str(n) for n in range(1, 101)], [f"{n:04}" for n in range(100, 0, -1)],
        [None, 1, 2, None, 3, 4, 5],
    ],
)  # fmt: skip
def test_an_ordered_id_undoes_a_shuffle(values):
    expected = ["the id 'kept' is in the order of the input, which undoes the random order"]
    assert column(list(values), id="kept", shuffle=True) == expected
    assert column(list(values), id="kept") == []


@pytest.mark.parametrize("values", [[3, 1, 2, 5, 4], [1, 2, 3, 4], [1] * 10, ["a"] * 5 + ["b"] * 5])
def test_columns_without_order_do_not_undo_a_shuffle(values):
    assert column(values, id="kept", shuffle=True) == []


def test_undecodable_characters_are_reported():
    assert column(["pets", None, "B\ufffdcher"]) == [
        "the column 'kept' holds characters that could not be decoded: if the input is not in "
        "UTF-8, name its encoding by --encoding, for example cp1252"
    ]


def test_the_first_rows_alone_are_looked_at():
    assert column(["pets"] * 1000 + ["ann@example.org"] * 9000) == []


@pytest.mark.parametrize(
    ("id", "keep", "message"),
    [
        (None, ["text"], "the text column 'text' cannot be released"),
        ("text", [], "the text column 'text' cannot be released"),
        (None, ["document"], "has a column 'document' of its own: rename"),
        (None, "topic", r"keep is a list of columns: keep=\['topic'\]"),
    ],
)
def test_columns_that_cannot_be_kept_are_refused(id, keep, message):
    with pytest.raises(SyntfError, match=message):
        columns_to_keep("text", id, keep)


def test_the_id_comes_first_and_each_column_once():
    assert columns_to_keep("text", "n", ["topic", "n", "year", "topic"]) == ["n", "topic", "year"]
