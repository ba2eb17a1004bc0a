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
def test_build_selects_the_terms_of_the_reference(syntf, options, wanted):
    out = syntf(*build(*options))
    assert terms() == wanted
    assert out == (
        f"Wrote terms.txt: {len(wanted)} terms of 6 documents. Releases that use it are marked NOT "
        "PRIVATE. If all texts of news.csv are public, build it again with --public.\n"
    )
    out = syntf(*build(*options, "--public", "--force"))
    assert out.endswith("6 documents. You declare that news.csv is public.\n")
    assert terms() == wanted


def test_build_writes_a_header_with_its_declaration(syntf, place):
    options = ["--min-df", "1", "--max-df", "0.5", "--max-size", "3", "--morphology", "lower"]
    syntf(*build(*options, "--keep-numbers", "--public"))
    public = {
        "syntf": __version__,
        "public": "yes",
        "source": "news.csv",
        "source-sha256": sha256((place / "news.csv").read_bytes()).hexdigest(),
        "documents": "6",
        "morphology": "lower",
        "numbers": "kept",
        "min-df": "1",
        "max-df": "0.5",
        "max-size": "3",
        "vectors-sha256": WordVectors.embedded().digest,
    }
    assert header() == public
    syntf(*build(*options, "--keep-numbers", "--force"))
    del public["source"], public["source-sha256"]  # nothing that identifies private texts
    assert header() == {**public, "public": "no"}


def test_build_uses_other_vectors(syntf, place):
    (place / "vectors.txt").write_text("qwxyz 1 0\nhouse 0 1\n")
    syntf(*build("--vectors", "vectors.txt", "--min-df", 1))
    assert terms() == ["house", "qwxyz"]
    digest = header()["vectors-sha256"]
    assert digest == WordVectors.read("vectors.txt").digest
    (place / "vectors.txt").write_text("qwxyz 1 0.1\nhouse 0 1\n")
    assert WordVectors.read("vectors.txt").digest != digest


def test_build_replaces_only_its_own_files_and_only_with_force(syntf, refused, place):
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
def test_a_wrong_option_gives_one_line(refused, options, said):
    assert said in refused(*build(*options))


def test_a_failed_write_keeps_the_old_file(syntf, refused, monkeypatch):
    syntf(*build())

    def full(path, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert "No space left" in refused(*build("--force", "--min-df", 3))


# vocabulary show


def test_show_prints_header_size_and_digest(syntf, place):
    syntf(*build())
    rows = dict(
        line.split(maxsplit=1) for line in syntf("vocabulary", "show", "terms.txt").split("\n")[:-1]
    )
    assert rows.pop("terms") == "4"
    assert rows.pop("terms-sha256") == sha256(b"cat\ndog\nhouse\ntrain\n").hexdigest()
    assert rows == header()


def test_show_prints_that_a_plain_list_has_no_header(syntf, refused, place):
    (place / "plain.txt").write_text("# cat\ndog\ndog\n")
    out = syntf("vocabulary", "show", "plain.txt").split("\n")
    assert out[0].split() == "header none: a plain list of terms".split()
    assert out[1].split() == ["terms", "2"]
    assert out[2].split() == ["terms-sha256", sha256(b"# cat\ndog\n").hexdigest()]
    assert refused("vocabulary", "show", "none.txt") == "no vocabulary file at none.txt"


# anonymize --vocabulary


def test_a_vocabulary_declared_public_keeps_a_release_private(syntf, place):
    syntf(*build("--public"))
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
        "vocabulary fitted on the texts" in readme,
        "Public only according to" not in readme,
    }
    assert len(marks) == 1
    return marks.pop()


def test_a_vocabulary_built_from_texts_marks_every_release_unless_declared_public(syntf):
    """The texts of the release play no part: only the header decides."""
    for number, (source, column) in enumerate([("news.csv", "body"), ("mails.csv", "text")]):
        syntf(*build("--force"))
        syntf(*anonymize(source, "--text", column, out=f"marked{number}"))
        assert is_fitted(f"marked{number}")
        syntf(*build("--force", "--public"))
        syntf(*anonymize(source, "--text", column, out=f"unmarked{number}"))
        assert not is_fitted(f"unmarked{number}")


def test_a_vocabulary_is_built_from_a_folder(syntf, place):
    (place / "mails" / "sub").mkdir(parents=True)
    for name, text in (("b.txt", "cat"), ("sub/a.txt", "cats, dogs"), ("sub/c.txt", "a dog")):
        (place / "mails" / name).write_text(text)
    syntf("vocabulary", "build", "mails", "--out", "terms.txt", "--public")
    assert (header()["source"], terms()) == ("mails", ["cat", "dog"])
    digest = header()["source-sha256"]
    (place / "mails" / "b.txt").rename(place / "mails" / "d.txt")
    syntf("vocabulary", "build", "mails", "--out", "terms.txt", "--force", "--public")
    assert header()["source-sha256"] != digest


def test_the_header_decides_in_python_too(syntf):
    for options, private in (([], False), (["--public"], True)):
        syntf(*build(*options, "--force"))
        for texts in (REFERENCE, REFERENCE[1:], []):
            assert SynTF(vocabulary="terms.txt").fit(texts).guarantee_.private == private


@pytest.mark.parametrize("command", [anonymize("mails.csv"), ["bounds"], ["explain", "train"]])
def test_a_vocabulary_of_another_morphology_is_refused(syntf, refused, command):
    syntf(*build("--morphology", "lower"))
    given = [] if command[0] == "anonymize" else ["--vocabulary", "terms.txt"]
    assert refused(*command, *given) == (
        "terms.txt was built with morphology lower, but lemma is selected: "
        "add --morphology lower, or build the vocabulary again"
    )
    syntf(*command, *given, "--morphology", "lower")


def test_fit_vocabulary_has_the_same_limits(syntf, place):
    limits = ["--min-df", "0.3", "--max-df", "0.49", "--max-size", "2"]
    syntf("anonymize", "news.csv", "--text", "body", "--fit-vocabulary", *limits, "--out", "out")
    assert (place / "out" / "vocabulary.txt").read_text() == "dog\nhouse\n"
    made = SynTF(fit_vocabulary=True, min_df=0.3, max_df=0.49, max_size=2).fit(REFERENCE)
    assert made.get_feature_names_out().tolist() == ["dog", "house"]


# coverage


def table(out):
    heading, *lines = out.rstrip("\n").split("\n")
    assert heading == "For the owner of the texts; not part of any release. Do not publish."
    return [" ".join(line.split()) for line in lines[: lines.index("")]]


COUNTED = [
    "The cat saw two dogs.",  # left out: The, two; known: cat, dogs; unknown: saw
    "It is 1999",  # left out: 3
    "",
    "Train qwxyz, train's qwxyz",  # known: 2, unknown: 2
]


def test_coverage_agrees_with_counting_by_hand(syntf, place):
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


def test_coverage_shows_what_a_run_looks_at_before_it_begins(syntf, place):
    pl.DataFrame({"text": ["4711"] * 24 + [""] * 6}).write_csv("numbers.csv")
    printed = " ".join(syntf("coverage", "numbers.csv").split())
    assert "A sample of 30 texts: language not recognised known words no words" in printed
    assert "empty texts 20% only numbers 80% of the texts" in printed
    assert "! 80% of the texts hold numbers and no word" in printed
    assert printed.endswith("refuses such texts unless --accept-coverage is given.")


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


@pytest.mark.slow
def test_one_document_changes_nothing_but_its_counts(syntf, place):
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
        for file in ("vectors.npz", "report.html", "croissant.json"):  # what depends on the draws
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
