"""`syntf codebook`: build, topics and show, and a release with the codebooks they make."""

import json

import polars as pl
import pytest

from syntf.codebook.codebook import Codebook

TOPICS = ["ice hockey", "space, rockets and orbits", "cooking recipes"]
TEXTS = [
    "The goalie stopped the puck in the hockey playoff.",
    "A rocket brought the satellite into its orbit.",
    "Add butter and garlic to the soup.",
    "The team won the game in overtime.",
    "The astronauts landed on the moon.",
    "Bake the dough in the oven.",
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The current folder, with public texts, private texts and a list of topics."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"body": TEXTS}).write_csv("public.csv")
    pl.DataFrame({"text": ["My hockey game", "My oven", ""], "topic": list("hc?")}).write_csv(
        "mails.csv"
    )
    (tmp_path / "topics.txt").write_text("\n".join(TOPICS))
    return tmp_path


@pytest.fixture
def syntf(call, place):
    """Runs a command that must succeed and returns its output."""

    def run(*arguments):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        return out

    return run


def refused(call, *arguments):
    """Run a command that must fail with one line; return the line."""
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err.removeprefix("syntf: ").rstrip("\n")


def test_a_codebook_from_public_texts_serves_a_release(syntf, place):
    said = syntf("codebook", "build", "public.csv", "--text", "body", "--out", "my.codebook")
    assert "6 topics from 6 texts" in said
    assert "public on the word of whoever supplied it" in said
    syntf("anonymize", "mails.csv", "--codebook", "my.codebook", "--out", "release", "-q")
    record = json.loads((place / "release" / "guarantee.json").read_text())
    assert record["document"]["codebook"] == f"sha256:{Codebook.read('my.codebook').digest}"
    assert record["document"]["codebook_origin"] == "supplied"
    assert record["loss_per_document"] == 10
    assert record["private"] is True
    assert "codebook" in record["supplied"]


def test_a_codebook_from_private_texts_marks_the_release(syntf, place):
    said = syntf("codebook", "build", "mails.csv", "--private", "--out", "own.codebook")
    assert "NOT public" in said
    assert "mails" not in Codebook.read("own.codebook").made_from
    syntf("anonymize", "mails.csv", "--codebook", "own.codebook", "--out", "release", "-q")
    record = json.loads((place / "release" / "guarantee.json").read_text())
    assert record["private"] is False


def test_a_release_with_a_list_of_topics_shows_its_lines(syntf, place):
    assert "3 topics" in syntf("codebook", "topics", "topics.txt", "--out", "my.codebook")
    syntf("anonymize", "mails.csv", "--codebook", "my.codebook", "--out", "release", "-q")
    labels = pl.read_parquet(place / "release" / "documents.parquet")["labels"].to_list()
    assert set(labels) <= set(TOPICS)


def test_build_reports_as_json_and_writes_the_same_bytes(syntf, place):
    command = ("codebook", "build", "public.csv", "--text", "body", "--size", 3, "--json")
    first = json.loads(syntf(*command, "--out", "a"))
    assert first["topics"] == 3
    assert first["texts"] == 6
    assert first["origin"] == "supplied"
    assert first["made_from"] == "texts of public.csv"
    syntf(*command, "--out", "b")
    assert (place / "a").read_bytes() == (place / "b").read_bytes()
    assert syntf(*command[:-1], "--out", "c", "--quiet") == ""


def test_show_describes_any_codebook(syntf):
    said = syntf("codebook", "show")
    assert "WordNet" in said
    assert Codebook.embedded().digest in said
    syntf("codebook", "topics", "topics.txt", "--out", "my.codebook", "-q")
    record = json.loads(syntf("codebook", "show", "my.codebook", "--json"))
    assert sorted(record["labels"]) == sorted(TOPICS)
    assert record["topics"] == 3
    assert "ice hockey" in syntf("codebook", "show", "my.codebook")


def test_topics_need_the_word_vectors_of_the_codebook(syntf, place):
    words = ["hockey", "rocket", "soup", "oven"]
    (place / "other.txt").write_text(
        "\n".join(f"{word} {i} {i * i} 1" for i, word in enumerate(words, 1))
    )
    command = ("codebook", "build", "public.csv", "--text", "body", "--out", "my.codebook")
    syntf(*command, "--vectors", "other.txt", "-q")
    assert "give them with --vectors" in syntf("codebook", "show", "my.codebook")
    assert json.loads(syntf("codebook", "show", "my.codebook", "--json"))["labels"] is None
    assert "hockey" in syntf("codebook", "show", "my.codebook", "--vectors", "other.txt")


def test_only_codebooks_are_replaced(syntf, call, place):
    command = ("codebook", "topics", "topics.txt", "--out")
    syntf(*command, "my.codebook")
    assert "exists already" in refused(call, *command, "my.codebook")
    syntf(*command, "my.codebook", "--force")
    before = (place / "mails.csv").read_bytes()
    assert "is not a codebook" in refused(call, *command, "mails.csv", "--force")
    assert (place / "mails.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hockey\n\nxqzzy\n", "topics.txt: line 3 has no known word"),
        ("hockey\nspace\nhockey\n", "topics.txt: line 3 repeats line 1"),
        ("hockey\n", "at least 2 topics"),
        (b"\xff\xfe\x00", "is not a text file in UTF-8"),
    ],
)
def test_bad_lists_are_refused_with_the_line(call, place, content, message):
    data = content if isinstance(content, bytes) else content.encode()
    (place / "topics.txt").write_bytes(data)
    assert message in refused(call, "codebook", "topics", "topics.txt", "--out", "my.codebook")
    assert not (place / "my.codebook").exists()


def test_bad_texts_are_refused(call, place):
    build = ("codebook", "build", "public.csv", "--out", "my.codebook")
    assert "no column 'text'" in refused(call, *build)
    assert "no file or folder" in refused(call, "codebook", "build", "x.csv", "--out", "c")
    assert "2<=x<=10000" in refused(call, *build, "--size", "1")
    pl.DataFrame({"text": ["?", "xqzzy"]}).write_csv("empty.csv")
    said = refused(call, "codebook", "build", "empty.csv", "--out", "my.codebook")
    assert "no public text has a known word" in said
    assert "is not a codebook" in refused(call, "codebook", "show", "mails.csv")
