"""`syntf vocabulary`, `syntf coverage`, and what `syntf anonymize` makes of them."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from syntf import SynTF, __version__
from syntf.vectors.word_vectors import WordVectors

REFERENCE = [
    "The cat and the dog", "Cats, dogs, a train", "A train to the house at two",
    "The house, the house!", "qwxyz", "Cats like music",
]  # fmt: skip


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The current folder, with a reference corpus and a file of private texts in it."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    pl.DataFrame({"body": REFERENCE, "topic": list("abcdef")}).write_csv("news.csv")
    pl.DataFrame({"text": ["my cat", "my train", "my own house"]}).write_csv("mails.csv")
    return folder


@pytest.fixture
def syntf(call, place):
    """Runs a command that must succeed and returns its output."""

    def run(*arguments):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        return out

    return run


@pytest.fixture
def refused(call, place):
    """Runs a command that must fail with one line and write nothing; returns the line."""

    def run(*arguments):
        before = contents(place)
        code, out, err = call(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert contents(place) == before
        return err.removeprefix("syntf: ").rstrip("\n")

    return run


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def build(*more, out="terms.txt"):
    return ["vocabulary", "build", "news.csv", "--text", "body", "--out", out, *more]


def anonymize(source, *more, out="out"):
    return ["anonymize", source, "--vocabulary", "terms.txt", "--length", 5, "--out", out, *more]


def guarantee(folder="out"):
    return json.loads(Path(folder, "guarantee.json").read_text(encoding="utf-8"))


def header(file="terms.txt"):
    head = Path(file).read_text(encoding="utf-8").partition("\n\n")[0].split("\n")
    assert head[0] == "# syntf vocabulary"
    return dict(line.removeprefix("# ").split(": ", 1) for line in head[1:])


def terms(file="terms.txt"):
    return Path(file).read_text(encoding="utf-8").partition("\n\n")[2].split()


# vocabulary build


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ([], ["cat", "dog", "house", "train"]),
        (["--min-df", "3"], ["cat"]),
        (["--min-df", "0.5"], ["cat"]),
        (["--min-df", "0.34"], ["cat"]),
        (["--min-df", "0.33"], ["cat", "dog", "house", "train"]),
        (["--max-df", "2"], ["dog", "house", "train"]),
        (["--max-df", "0.49"], ["dog", "house", "train"]),
        (["--max-size", "2"], ["cat", "dog"]),
        (["--min-df", "1", "--max-df", "1"], ["music"]),
        (["--min-df", "1", "--max-df", "1", "--keep-numbers"], ["music", "two"]),
        (["--morphology", "lower"], ["cats", "house", "train"]),
    ],
)
def test_build_takes_the_terms_of_the_reference(syntf, options, wanted):
    out = syntf(*build(*options))
    assert terms() == wanted
    assert out == (
        f"Wrote terms.txt: {len(wanted)} terms of 6 documents. It is public only if news.csv is.\n"
    )


def test_build_says_in_the_file_where_it_is_from(syntf, place):
    options = ["--min-df", "1", "--max-df", "0.5", "--max-size", "3", "--morphology", "lower"]
    syntf(*build(*options, "--keep-numbers"))
    found = header()
    each = [int(sha256(text.encode()).hexdigest(), 16) for text in REFERENCE]
    assert found.pop("texts-sha256") == f"{sum(each) % 2**256:064x}"
    assert found == {
        "syntf": __version__,
        "source": "news.csv",
        "source-sha256": sha256((place / "news.csv").read_bytes()).hexdigest(),
        "documents": "6",
        "morphology": "lower",
        "numbers": "kept",
        "min-df": "1",
        "max-df": "0.5",
        "max-size": "3",
        "vectors-sha256": WordVectors.embedded().digest,
        "provenance": "public",
    }


def test_build_takes_terms_of_other_vectors(syntf, place):
    (place / "vectors.txt").write_text("qwxyz 1 0\nhouse 0 1\n")
    syntf(*build("--vectors", "vectors.txt", "--min-df", 1))
    assert terms() == ["house", "qwxyz"]
    digest = header()["vectors-sha256"]
    assert digest == WordVectors.read("vectors.txt").digest
    (place / "vectors.txt").write_text("qwxyz 1 0.1\nhouse 0 1\n")
    assert WordVectors.read("vectors.txt").digest != digest


def test_build_does_not_replace_what_it_should_not(syntf, refused, place):
    syntf(*build())
    assert "terms.txt exists already" in refused(*build("--min-df", 3))
    syntf(*build("--min-df", 3, "--force"))
    assert terms() == ["cat"]
    assert "does not replace it" in refused(*build("--force", out="news.csv"))
    assert "does not replace it" in refused(*build("--force", out="."))
    (place / "link.txt").symlink_to("terms.txt")
    assert "does not replace it" in refused(*build("--force", out="link.txt"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--min-df", "1.0"], "min_df must be a whole number, at least 1, or a share above 0 and"),
        (["--max-df", "1.5"], "max_df must be a whole number, at least 1, or a share above 0 and"),
        (["--max-df", "many"], "'--max-df': 'many' is neither a count nor a share"),
        (["--max-size", "0"], "max_size must be a whole number, at least 1, not 0"),
        (["--min-df", "3", "--max-df", "2"], "(terms in 3 documents or more, 2 documents or fewer"),
        (["--text", "words"], "no column 'words'; the columns are: body, topic"),
        (["--out", "no/such/terms.txt"], "No such file or directory"),
    ],
)
def test_a_bad_build_is_one_line(refused, options, said):
    assert said in refused(*build(*options))


def test_a_write_that_fails_leaves_the_old_file_and_no_other(syntf, refused, monkeypatch):
    syntf(*build())

    def full(path, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert "No space left" in refused(*build("--force", "--min-df", 3))


# vocabulary show


def test_show_tells_header_size_and_digest(syntf, place):
    syntf(*build())
    rows = dict(
        line.split(maxsplit=1) for line in syntf("vocabulary", "show", "terms.txt").split("\n")[:-1]
    )
    assert rows.pop("terms") == "4"
    assert rows.pop("terms-sha256") == sha256(b"cat\ndog\nhouse\ntrain\n").hexdigest()
    assert rows == header()


def test_show_tells_that_a_plain_list_has_no_header(syntf, refused, place):
    (place / "plain.txt").write_text("# cat\ndog\ndog\n")
    out = syntf("vocabulary", "show", "plain.txt").split("\n")
    assert out[0].split() == "header none: a plain list of terms".split()
    assert out[1].split() == ["terms", "2"]
    assert out[2].split() == ["terms-sha256", sha256(b"# cat\ndog\n").hexdigest()]
    assert refused("vocabulary", "show", "none.txt") == "no vocabulary file at none.txt"


# anonymize --vocabulary


def test_a_release_of_other_texts_is_private_and_names_the_vocabulary(syntf, place):
    syntf(*build())
    syntf(*anonymize("mails.csv"))
    made = guarantee()
    assert (made["private"], made["provenance"]["vocabulary"]) == (True, "public")
    released = (place / "out" / "vocabulary.txt").read_bytes()
    assert released == b"cat\ndog\nhouse\ntrain\n"
    assert made["vocabulary_digest"] == "sha256:" + sha256(released).hexdigest()
    shown = syntf("vocabulary", "show", "terms.txt")
    assert made["vocabulary_digest"].removeprefix("sha256:") in shown


def is_fitted(out="out"):
    """Whether a release is marked, in every place there is."""
    made = guarantee(out)
    readme = " ".join(Path(out, "README.txt").read_text(encoding="utf-8").split())
    marks = {
        made["provenance"]["vocabulary"] == "fitted",
        not made["private"],
        "vocabulary fitted on the texts released here" in readme,
        "Public on the word" not in readme,
    }
    assert len(marks) == 1
    return marks.pop()


def test_a_vocabulary_of_the_released_file_is_fitted(syntf, place):
    syntf(*build())
    syntf(*anonymize("news.csv", "--text", "body", "--shuffle"))
    assert is_fitted()
    syntf(*anonymize("news.csv", "--text", "topic", out="column"))  # the same file is enough
    assert is_fitted("column")
    (place / "renamed.csv").write_bytes((place / "news.csv").read_bytes())
    syntf(*anonymize("renamed.csv", "--text", "body", out="renamed"))
    assert is_fitted("renamed")


def test_a_vocabulary_of_the_released_texts_in_another_file_is_fitted(syntf, place):
    syntf(*build())
    frame = pl.read_csv("news.csv")
    frame.reverse().write_parquet("news.parquet")
    syntf(*anonymize("news.parquet", "--text", "body"))
    assert is_fitted()
    frame.head(5).write_csv("fewer.csv")
    syntf(*anonymize("fewer.csv", "--text", "body", out="fewer"))
    assert not is_fitted("fewer")  # a part is not recognised: docs/vocabulary.md


def test_a_vocabulary_of_the_released_folder_is_fitted(syntf, place):
    (place / "mails" / "sub").mkdir(parents=True)
    for name, text in (("b.txt", "cat"), ("sub/a.txt", "cats, dogs"), ("sub/c.txt", "a dog")):
        (place / "mails" / name).write_text(text)
    syntf("vocabulary", "build", "mails", "--out", "terms.txt")
    assert (header()["source"], terms()) == ("mails", ["cat", "dog"])
    syntf(*anonymize("mails"))
    assert is_fitted()
    digest = header()["source-sha256"]
    (place / "mails" / "b.txt").rename(place / "mails" / "d.txt")
    syntf("vocabulary", "build", "mails", "--out", "terms.txt", "--force")
    assert header()["source-sha256"] != digest


def test_a_vocabulary_of_the_texts_is_fitted_in_python_too(syntf):
    syntf(*build())
    assert not SynTF(vocabulary="terms.txt").fit(REFERENCE).guarantee_.private
    assert SynTF(vocabulary="terms.txt").fit(REFERENCE[1:]).guarantee_.private
    assert SynTF(vocabulary="terms.txt").fit([]).guarantee_.private


@pytest.mark.parametrize("command", [anonymize("mails.csv"), ["bounds"], ["explain", "train"]])
def test_a_vocabulary_of_another_morphology_is_refused(syntf, refused, command):
    syntf(*build("--morphology", "lower"))
    given = [] if command[0] == "anonymize" else ["--vocabulary", "terms.txt"]
    assert refused(*command, *given) == (
        "terms.txt was built with morphology lower, and lemma is chosen: "
        "add --morphology lower, or build the vocabulary again"
    )
    syntf(*command, *given, "--morphology", "lower")


def test_a_fitted_vocabulary_takes_the_same_limits(syntf, place):
    limits = ["--min-df", "0.3", "--max-df", "0.49", "--max-size", "2"]
    syntf("anonymize", "news.csv", "--text", "body", "--fit-vocabulary", *limits, "--out", "out")
    assert (place / "out" / "vocabulary.txt").read_text() == "dog\nhouse\n"
    made = SynTF(fit_vocabulary=True, min_df=0.3, max_df=0.49, max_size=2).fit(REFERENCE)
    assert made.get_feature_names_out().tolist() == ["dog", "house"]


# coverage


def table(out):
    heading, *lines = out.rstrip("\n").split("\n")
    assert heading == "For the owner of the texts; not part of any release. Do not publish."
    return [" ".join(line.split()) for line in lines]


COUNTED = [
    "The cat saw two dogs.",  # left out: The, two; known: cat, dogs; unknown: saw
    "It is 1999",  # left out: 3
    "",
    "Train qwxyz, train's qwxyz",  # known: 2, unknown: 2
]


def test_coverage_is_what_was_counted_by_hand(syntf, place):
    syntf(*build())
    pl.DataFrame({"text": COUNTED}).write_csv("counted.csv")
    assert table(
        syntf("coverage", "counted.csv", "--vocabulary", "terms.txt", "--preset", "paper")
    ) == [
        "documents 4",
        "without a known word 2 50.0%",
        "tokens 12",
        "known 4 33.3%",
        "unknown 3 25.0%",
        "left out (stop words, numbers) 5 41.7%",
    ]
    # With the embedded words: "saw" is known; with numbers kept, so is "two", not "1999".
    for options, known, left_out in (([], 5, 5), (["--keep-numbers"], 6, 3)):
        found = table(syntf("coverage", "counted.csv", *options))
        assert found[3].startswith(f"known {known} ")
        assert found[5].startswith(f"left out (stop words, numbers) {left_out} ")


def test_the_documentation_shows_the_coverage_of_the_example(syntf):
    text = (Path(__file__).parents[2] / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    syntf("example")
    printed = [line.rstrip() for line in syntf("coverage", "example.csv").split("\n")]
    assert "```text\n" + "\n".join(printed) + "```" in text


def test_coverage_of_texts_without_a_token(syntf, place):
    pl.DataFrame({"text": ["", "..."]}).write_csv("empty.csv")
    found = table(syntf("coverage", "empty.csv"))
    assert found[:3] == ["documents 2", "without a known word 2 100.0%", "tokens 0"]
    assert found[3:] == ["known 0 –", "unknown 0 –", "left out (stop words, numbers) 0 –"]


def test_coverage_writes_nothing_anywhere(syntf, place, empty_cache):
    before = contents(place.parent)
    syntf("coverage", "mails.csv")
    assert contents(place.parent) == before
    assert not empty_cache.exists()


LAST = {
    "known": "a cat",
    "unknown": "qwxyz " * 900,
    "stop words": "the of and",
    "none": "",
    "long": "cat music river " * 2000 + "1999 Jörg 猫",
}


def test_one_document_changes_nothing_that_anonymize_says(syntf, place):
    """Nothing but the draws depends on a document: not a line, not a byte beside the counts."""
    syntf(*build())
    arguments = ["--vocabulary", "terms.txt", "--length", "5", "--keep", "topic", "--out", "out"]
    said, covered = set(), set()
    for name, text in LAST.items():
        (place / name).mkdir()
        corpus = {"text": ["my cat", "my own train", text], "topic": list("xyz")}
        pl.DataFrame(corpus).write_csv(place / name / "mails.csv")
        (place / name / "terms.txt").write_bytes((place / "terms.txt").read_bytes())
        done = process("anonymize", "mails.csv", *arguments, cwd=place / name)
        assert done.returncode == 0
        assert b"loss per document" in done.stdout
        files = contents(place / name / "out")
        promise = json.loads(files["guarantee.json"])
        for file in ("vectors.npz", "report.html"):  # what depends on the draws
            del promise["files"][file]
        del promise["checksum"]
        same = [files[file] for file in ("documents.parquet", "README.txt", "vocabulary.txt")]
        said.add((done.stdout, done.stderr, json.dumps(promise), *same))
        covered.add(syntf("coverage", place / name / "mails.csv"))
    assert len(said) == 1
    assert len(covered) == len(LAST)  # where there is something to tell


def process(*arguments, cwd):
    command = [sys.executable, "-m", "syntf", *arguments]
    return subprocess.run(command, capture_output=True, cwd=cwd, timeout=120, env=os.environ)


def test_a_vocabulary_built_from_texts_is_refused_for_standard_input(place, syntf):
    """Its texts cannot be told from those that are to come, before they are drawn for."""
    syntf(*build())
    done = subprocess.run(
        [sys.executable, "-m", "syntf", "anonymize", "-", "--input-format", "csv",
         "--vocabulary", "terms.txt", "--out", "release"],
        input=Path("mails.csv").read_bytes(), capture_output=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"was built from texts" in done.stderr
    assert not Path("release").exists()
