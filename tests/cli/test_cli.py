import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import click
import numpy as np
import polars as pl
import pytest
from scipy.sparse import load_npz

from syntf import __version__
from syntf.__main__ import program
from syntf.cli import app as cli
from syntf.core.errors import TableError
from syntf.core.exact import shown
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import PRESETS, Settings
from syntf.privacy import bounds
from syntf.text import token_table

FILES = ["vectors.npz", "vocabulary.txt", "documents.parquet", "guarantee.json", "README.txt",
         "report.html", "croissant.json"]  # fmt: skip
ORDERED = "the id 'id' is in the order of the input, which undoes the random order"
UNIQUE = "the column {!r} is nearly unique: whoever knows its values elsewhere finds the documents"
SUPPLIED = "Public only according to the sender of this release: vocabulary."
WORDS = (
    "cat dog car train music house river bread football winter school doctor money garden book "
    "engine guitar apple beach window teacher hospital kitchen police church mountain paper "
    "queen soldier computer"
).split()
SCRIPT = "from syntf.cli import main; main()"
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The current folder, with a vocabulary, a file of texts and nothing else in it."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "terms.txt").write_text("\n".join(WORDS) + "\n")
    write_csv(folder / "texts.csv", 12)
    return folder


def write_csv(path, rows):
    """Write texts about a cat or a train in irregular order; the column `kind` says which."""
    kinds = ["cat" if i * i % 7 in (1, 2) else "train" for i in range(rows)]
    pl.DataFrame(
        {
            "id": [f"{i:03}" for i in range(rows)],
            "text": [f"The {kind} is the {kind}!" for kind in kinds],
            "kind": kinds,
            "number": [str(10 * i) for i in range(rows)],
        }
    ).write_csv(path)
    return kinds


def call(capsys, monkeypatch, *arguments):
    """Run a command in this process; return exit code, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    captured = capsys.readouterr()
    return caught.value.code, captured.out, captured.err


@pytest.fixture
def syntf(capsys, monkeypatch):
    """Run a command that must succeed; return its output with single spaces.

    warnings : what it must say on standard error, line by line.
    """

    def run(*arguments, warnings=()):
        code, out, err = call(capsys, monkeypatch, *arguments)
        assert (code, err) == (0, "".join(f"syntf: {line}\n" for line in warnings))
        return " ".join(out.split())

    return run


@pytest.fixture
def refused(capsys, monkeypatch, place):
    """Run a command that must fail with one line and write no release; return the line."""

    def run(*arguments):
        before = sorted(os.listdir(place))
        code, out, err = call(capsys, monkeypatch, *arguments)
        assert (code, out) == (2, "")
        assert_one_line(err)
        assert sorted(os.listdir(place)) == before
        return err.removeprefix("syntf: ").rstrip("\n")

    return run


def assert_one_line(err):
    assert err.startswith("syntf: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")


def process(*arguments, script=SCRIPT, **options):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, **options)


def anonymize(*more, out="out"):
    return ["anonymize", "texts.csv", "--vocabulary", "terms.txt", "--out", out, *more]


def counts(folder="out"):
    return load_npz(f"{folder}/vectors.npz")


def documents(folder="out"):
    return pl.read_parquet(f"{folder}/documents.parquet")


def guarantee(folder="out"):
    return json.loads(Path(folder, "guarantee.json").read_text(encoding="utf-8"))


def readme(folder="out"):
    return " ".join(Path(folder, "README.txt").read_text(encoding="utf-8").split())


# Every command


def commands(command, path=()):
    yield path
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, (*path, name))


ALL = list(commands(cli.app))


def test_the_console_script_is_this_program():
    (entry,) = entry_points(group="console_scripts", name="syntf")
    assert entry.load() is program


def test_version(syntf):
    assert syntf("--version") == f"syntf {__version__}"


@pytest.mark.parametrize("command", ALL, ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_every_command_fits_80_columns(capsys, monkeypatch, command, option):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = call(capsys, monkeypatch, *command, option)
    assert (code, err) == (0, "")
    assert re.match(" ".join(["Usage: .*", *command, r"\["]), out)
    assert max(map(len, out.splitlines())) <= 80


def test_every_command_is_listed():
    assert {" ".join(command) for command in ALL} == {
        "", "anonymize", "explain", "bounds", "example", "cache", "cache path", "cache clear",
        "coverage", "vocabulary", "vocabulary build", "vocabulary show", "evaluate", "reproduce",
        "tune", "frontier", "verify", "report", "audit", "ledger", "ledger create", "ledger show",
        "ledger verify", "init", "completion", "serve", "codebook", "codebook build",
        "codebook topics", "codebook opinions", "codebook show", "preview", "language",
        "language build", "language align", "language add", "language list",
    }  # fmt: skip


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_option_is_explained(command):
    found = cli.app
    for name in command:
        found = found.commands[name]
    assert found.help
    for option in found.params:
        assert isinstance(option, click.Argument) or option.help


def test_help_of_anonymize_lists_at_most_12_basic_options_first(capsys, monkeypatch):
    """A person who makes a first release should not have to read all options."""
    text = call(capsys, monkeypatch, "anonymize", "--help")[1]
    sections = re.split(r"^([A-Z][\w ]+):$", text, flags=re.MULTILINE)
    options = {
        heading: re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
        for heading, text in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert list(options) == [
        "Basic options", "Privacy", "Words and vectors", "Files", "Large runs", "Configuration",
        "For tests",
    ]  # fmt: skip
    basic = options["Basic options"]
    assert len(basic) <= 12
    assert {"--out", "--text", "--keep", "--preset", "--help"} <= set(basic)
    assert options["For tests"] == ["--insecure-seed"]


@pytest.mark.parametrize("command", [[], ["cache"], ["vocabulary"], ["ledger"]])
def test_command_group_without_arguments_prints_its_help(capsys, monkeypatch, command):
    code, out, err = call(capsys, monkeypatch, *command)
    assert (code, err) == (2, "")
    assert re.match(" ".join(["Usage: .*", *command, r"\["]), out)


# anonymize: what is released


def test_example_can_be_anonymized(words_synthetic, tmp_path):
    made = process("example", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert "example.csv" in made.stdout
    arguments = ["anonymize", "example.csv", "--preset", "words", "--keep", "topic", "author"]
    arguments += ["--out", "release"]
    done = process(*arguments, cwd=tmp_path)
    warned = "the column 'author' looks like names of persons, and it is released as it is"
    assert (done.returncode, done.stderr) == (0, f"syntf: {warned}\n")
    assert sorted(os.listdir(tmp_path)) == ["example.csv", "release"]
    assert sorted(os.listdir(tmp_path / "release")) == sorted(FILES)
    corpus = pl.read_csv(tmp_path / "example.csv")
    found = counts(tmp_path / "release")
    terms = (tmp_path / "release" / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert found.shape == (320, len(terms))
    assert len(set(terms)) == len(terms) == PRESETS["words"]["max_size"]
    assert (found.sum(axis=1) == PRESETS["words"]["length"]).all()
    kept = documents(tmp_path / "release")
    assert kept.columns == ["document", "topic", "author"]
    assert kept["document"].to_list() == list(range(320))
    assert kept.select("topic", "author").equals(corpus.select("topic", "author"))
    promised = guarantee(tmp_path / "release")
    assert promised["private"] is True
    assert promised["loss_per_word"]["tight"] == pytest.approx(PRESETS["words"]["loss"])
    assert promised["loss_per_word"]["tight"] <= PRESETS["words"]["loss"]
    assert promised["loss_per_word"]["tight"] == words_synthetic.guarantee_.loss_per_word.tight
    assert f"{promised['loss_per_word']['tight']:.4f}" in done.stdout
    assert shown(promised["loss_per_document"], 2) in done.stdout
    assert "Release written to release\n" in done.stdout


def likely(*more):
    """Options with which every word is drawn as itself, except with a negligible probability."""
    return ["--neighbours", 1, "--spelling", 0, "--epsilon", 150, "--length", 50, *more]


def seen_kinds():
    found = counts().toarray()
    terms = Path("out/vocabulary.txt").read_text(encoding="utf-8").split()
    assert (found.sum(axis=1) == 50).all()
    assert (found.max(axis=1) >= 45).all()
    return [terms[i] for i in found.argmax(axis=1)]


def test_counts_and_kept_columns_have_the_order_of_the_texts(place, syntf):
    kinds = write_csv(place / "texts.csv", 60)
    syntf(*anonymize("--keep", "kind", "number", *likely()), warnings=[UNIQUE.format("number")])
    assert seen_kinds() == kinds
    assert documents().rows() == [(i, kind, str(10 * i)) for i, kind in enumerate(kinds)]
    assert guarantee()["shuffled"] is False


def test_shuffle_keeps_counts_and_columns_together(place, syntf):
    kinds = write_csv(place / "texts.csv", 60)
    syntf(*anonymize("--id", "id", "--keep", "kind", "--shuffle", *likely()), warnings=[ORDERED])
    ids = documents()["id"].to_list()
    assert ids != sorted(ids)
    assert sorted(ids) == [f"{i:03}" for i in range(60)]
    assert documents()["kind"].to_list() == [kinds[int(i)] for i in ids] == seen_kinds()
    assert guarantee()["shuffled"] is True
    syntf(*anonymize("--id", "id", "--shuffle", *likely(), out="again"), warnings=[ORDERED])
    assert documents("again")["id"].to_list() != ids


def test_shuffled_release_without_ids_hides_the_order(place, syntf):
    kinds = write_csv(place / "texts.csv", 60)
    syntf(*anonymize("--keep", "kind", "--shuffle", *likely()))
    assert documents()["document"].to_list() == list(range(60))
    assert documents()["kind"].to_list() != kinds
    assert documents()["kind"].to_list() == seen_kinds()


def test_without_id_and_keep_documents_are_numbered(place, syntf):
    out = syntf(*anonymize())
    assert documents().rows() == [(i,) for i in range(12)]
    assert documents().columns == ["document"]
    assert guarantee()["kept_columns"] == []
    assert guarantee()["supplied"] == ["vocabulary"]
    assert SUPPLIED in out
    assert out.count("!") == 2  # the other one is about options for single words


@pytest.mark.parametrize(
    "options",
    [
        ["--keep", "kind", "number", "id"],
        ["--keep", "kind", "--keep", "number", "--keep", "id"],
        ["--keep", "kind", "number", "--keep=id"],
        ["--keep", "kind", "number", "kind", "--shuffle", "--keep", "id"],
    ],
)
def test_keep_takes_several_columns_and_may_be_repeated(place, syntf, options):
    ordered = [ORDERED.replace("id 'id'", f"column '{name}'") for name in ("number", "id")]
    out = syntf(*anonymize(*options), warnings=ordered if "--shuffle" in options else ())
    assert documents().columns == ["document", "kind", "number", "id"]
    sentence = "Released unchanged, outside the guarantee: columns kind, number, id."
    assert sentence in out
    assert sentence in readme()
    assert SUPPLIED in out
    assert guarantee()["kept_columns"] == ["kind", "number", "id"]
    assert guarantee()["private"] is True


def test_an_id_stands_beside_row_numbers(place, syntf):
    """The counts of every format are joined by the number of a document."""
    syntf(*anonymize("--id", "id", "--keep", "number", "id"))
    assert documents().columns == ["document", "id", "number"]
    assert documents().rows() == [(i, f"{i:03}", str(10 * i)) for i in range(12)]
    assert guarantee()["kept_columns"] == ["id", "number"]


@pytest.mark.parametrize("options", [["--keep", "text"], ["--keep", "kind", "text"], ["--id=text"]])
def test_text_column_cannot_be_kept(refused, options):
    assert refused(*anonymize(*options)).startswith("the text column 'text' cannot be released")


def test_another_column_may_hold_the_texts(place, syntf):
    pl.DataFrame({"text": ["a", "b"], "body": ["cat", "train"]}).write_csv("texts.csv")
    syntf(*anonymize("--text", "body", "--keep", "text", *likely()))
    assert seen_kinds() == ["cat", "train"]
    assert documents()["text"].to_list() == ["a", "b"]


def test_column_named_document_is_kept_as_id_or_refused(place, capsys, monkeypatch):
    pl.DataFrame({"text": ["cat", "dog"], "document": ["x", "y"]}).write_csv("texts.csv")
    code, _, err = call(capsys, monkeypatch, *anonymize("--keep", "document"))
    if code == 0:
        assert ["x", "y"] in [column.to_list() for column in documents()]
    else:
        assert code == 2
        assert_one_line(err)
        assert "'document'" in err


def test_every_format_can_be_anonymized(place, syntf):
    frame = pl.read_csv("texts.csv", infer_schema=False)
    frame.write_csv("a.tsv", separator="\t")
    frame.write_ndjson("a.jsonl")
    frame.write_parquet("a.parquet")
    kinds = frame["kind"].to_list()
    for name in ("a.tsv", "a.jsonl", "a.parquet"):
        arguments = ["anonymize", name, "--vocabulary", "terms.txt", "--force", "--out", "out"]
        syntf(*arguments, "--keep", "kind", *likely())
        assert seen_kinds() == documents()["kind"].to_list() == kinds


def test_a_folder_can_be_anonymized_with_its_paths_as_ids(place, syntf):
    (place / "mails" / "sub").mkdir(parents=True)
    (place / "mails" / "b.txt").write_bytes(b"cat \xff")
    (place / "mails" / "sub" / "a.txt").write_bytes(b"train\0")
    syntf("anonymize", "mails", "--vocabulary", "terms.txt", "--out", "out", "--id", "path",
          "--undecodable", "replace", *likely())  # fmt: skip
    assert documents().rows() == [(0, "b.txt"), (1, "sub/a.txt")]
    assert seen_kinds() == ["cat", "train"]


def test_documents_without_known_words_get_the_same_number_of_words(place, syntf):
    (place / "texts.csv").write_text('id,text\n1,""\n2,the and of\n3,qwxyzv\n4,cat\n')
    syntf(*anonymize("--length", 30))
    assert counts().sum(axis=1).ravel().tolist() == [[30] * 4]


@pytest.mark.parametrize("wanted", [0.5, 5.0, 20.0])
def test_measured_loss_is_just_below_the_wanted_loss(place, syntf, wanted):
    out = syntf(*anonymize("--loss", wanted))
    losses = guarantee()["loss_per_word"]
    assert 0.98 * wanted < losses["tight"] <= wanted
    assert losses["tight"] <= losses["improved"] <= losses["standard"] == guarantee()["epsilon"]
    assert f"loss per word {shown(losses['tight'], 4)} " in out


@pytest.mark.parametrize("wanted", [1e-4, 1e-7])
def test_very_small_loss_is_possible(place, syntf, wanted):
    syntf(*anonymize("--loss", wanted))
    assert 0 <= guarantee()["loss_per_word"]["tight"] <= wanted


def test_epsilon_and_length_are_used(place, syntf):
    syntf(*anonymize("--epsilon", 3.5, "--length", 7))
    made = guarantee()
    assert (made["epsilon"], made["length"]) == (3.5, 7)
    assert made["loss_per_word"]["standard"] == 3.5
    assert made["loss_per_word"]["improved"] == bounds.improved_loss(3.5, len(WORDS))
    assert made["loss_per_document"] == bounds.document_loss(made["loss_per_word"]["tight"], 7)
    assert (counts().sum(axis=1) == 7).all()


@pytest.mark.parametrize(("options", "epsilon"), [(["--loss", 6], 12), (["--epsilon", 9], 9)])
def test_release_with_neighbours(place, syntf, options, epsilon):
    out = syntf(*anonymize("--neighbours", 2, "--length", 9, *options))
    made = guarantee()
    assert (made["mechanism"], made["neighbours"]) == ("neighbourhood-int62/1", 2)
    assert (made["epsilon"], made["private"], made["vocabulary_size"]) == (epsilon, True, 30)
    assert made["input_size"] >= 100_000
    tight = made["loss_per_word"]["tight"]
    assert epsilon / 2 - 1e-9 < tight <= epsilon / 2
    assert made["loss_per_document"] == bounds.document_loss(tight, 9)
    assert f"loss per word {shown(tight, 4)} " in out
    assert shown(tight, 4) in readme()
    assert counts().shape == (12, 30)
    assert (counts().sum(axis=1) == 9).all()


def test_word_is_replaced_by_its_nearest_output_word(place, syntf):
    """At a loss of 30, one draw in 10**11 is not the nearest word."""
    pl.DataFrame({"text": ["cat", "trains", "violin violins", "the kitten!"]}).write_csv(
        "texts.csv"
    )
    syntf(*anonymize("--neighbours", 1, "--loss", 30, "--spelling", 0, "--length", 50))
    assert (counts().max(axis=1).toarray() == 50).all()
    assert seen_kinds() == ["cat", "train", "guitar", "cat"]


@pytest.mark.parametrize("number", ["0", "-1", "31", "1.5", "two"])
@pytest.mark.parametrize("command", [anonymize(), ["explain", "cat"], ["bounds"]])
def test_impossible_numbers_of_neighbours_are_refused(refused, command, number):
    vocabulary = [] if "--vocabulary" in command else ["--vocabulary", "terms.txt"]
    assert number in refused(*command, *vocabulary, "--neighbours", number)


def test_a_fitted_vocabulary_is_marked_everywhere(place, syntf):
    (place / "texts.csv").write_text("text\ncats and trains\na cat\nthe train rolls\n")
    out = syntf("anonymize", "texts.csv", "--fit-vocabulary", "--neighbours", 1, "--out", "out")
    assert (place / "out" / "vocabulary.txt").read_text() == "cat\ntrain\n"
    assert guarantee()["provenance"]["vocabulary"] == "fitted"
    assert guarantee()["private"] is False
    for text in (out, readme()):
        assert "NOT COVERED: vocabulary fitted on the texts of this release" in text
    assert "! The release is marked as not private." in out
    assert "NOT covered by a differential-privacy guarantee" in readme()


def test_min_df_limits_fitted_terms(place, syntf, refused):
    (place / "texts.csv").write_text("text\ncat train\ncat\ncat train dog\n")
    for least, terms in ((1, "cat\ndog\ntrain\n"), (3, "cat\n")):
        out = f"out{least}"
        syntf("anonymize", "texts.csv", "--fit-vocabulary", "--min-df", least,
              "--neighbours", 1, "--out", out)  # fmt: skip
        assert (place / out / "vocabulary.txt").read_text() == terms
    refused("anonymize", "texts.csv", "--fit-vocabulary", "--min-df", 4, "--out", "out4")
    refused(*anonymize("--fit-vocabulary"))


def test_release_from_public_parts_is_marked_private(place, syntf):
    out = syntf(*anonymize())
    assert guarantee()["private"] is True
    assert set(guarantee()["provenance"].values()) == {"public"}
    for text in (out, readme()):
        assert "NOT" not in text
        assert "not private" not in text


def test_seeded_release_is_repeatable_and_marked_not_private(place, syntf):
    options = ["--shuffle", "--id", "id", "--insecure-seed"]
    first = syntf(*anonymize(*options, 7, out="one"), warnings=[ORDERED])
    syntf(*anonymize(*options, 7, out="two"), warnings=[ORDERED])
    syntf(*anonymize(*options, 8, out="three"), warnings=[ORDERED])
    assert np.array_equal(counts("one").toarray(), counts("two").toarray())
    assert documents("one").equals(documents("two"))
    assert not np.array_equal(counts("one").toarray(), counts("three").toarray())
    assert guarantee("one")["private"] is False
    assert "! NOT PRIVATE: the random draws come from a seed" in first
    assert "! The release is marked as not private." in first
    assert "NOT PRIVATE: the random draws come from a seed" in readme("one")


@pytest.mark.parametrize("seed", [0, -1])
def test_every_seed_marks_a_release(place, syntf, seed):
    syntf(*anonymize("--insecure-seed", seed))
    assert guarantee()["private"] is False


def test_releases_without_a_seed_differ(place, syntf):
    syntf(*anonymize(out="one"))
    syntf(*anonymize(out="two"))
    assert not np.array_equal(counts("one").toarray(), counts("two").toarray())
    one, two = guarantee("one"), guarantee("two")
    assert {name for name in one if one[name] != two[name]} == {"files", "checksum"}


def test_morphology_decides_which_term_a_word_counts_as(place, syntf):
    (place / "terms.txt").write_text("mouse\ntrain\nTrain\n")
    (place / "texts.csv").write_text("text\nMice mice\n")
    share = {}
    for form in ("lemma", "lower", "orth"):
        syntf(*anonymize("--preset", "paper", "--morphology", form, "--spelling", 0,
                         "--epsilon", 150, "--length", 600, out=form))  # fmt: skip
        assert guarantee(form)["morphology"] == form
        share[form] = counts(form).toarray()[0, 0] / 600
    assert share["lemma"] > 0.98
    assert share["lower"] < 0.6  # no known word: uniform over three
    assert share["orth"] < 0.6


def test_tfidf_weighs_and_a_fitted_idf_is_marked(place, syntf):
    pl.DataFrame({"text": ["cat train"] + ["cat"] * 399}).write_csv("texts.csv")
    share = {}
    for name, options in {
        "tf": [],
        "public": ["--weights", "tfidf"],
        "fitted": ["--weights", "tfidf", "--idf", "fitted"],
        "unused": ["--idf", "fitted"],
    }.items():
        syntf(*anonymize("--preset", "paper", *options, "--spelling", 0, "--epsilon", 150,
                         "--length", 3000, out=name))  # fmt: skip
        column = WORDS.index("train")
        share[name] = counts(name).toarray()[0, column] / 3000
        assert guarantee(name)["provenance"]["idf"] == ("fitted" if name == "fitted" else "public")
        assert guarantee(name)["private"] is (name != "fitted")
        assert guarantee(name)["weights"] == ("tfidf" if "--weights" in options else "tf")
    expected = (np.log(401 / 2) + 1) / (np.log(401 / 2) + 2)
    assert abs(share["tf"] - 0.5) < 0.06
    assert abs(share["fitted"] - expected) < 0.06
    assert "NOT COVERED: idf fitted on the texts" in readme("fitted")
    words = list(Anonymizer.build(Settings(vocabulary=["train", "cat"])).vocabulary.input_rows)
    weights = 1 + np.log(1.0 + np.array(words))
    assert abs(share["public"] - weights[0] / weights.sum()) < 0.06


def test_numbers_are_left_out_unless_kept(place, syntf):
    (place / "vectors.txt").write_text("train 1 0\n1990 0 1\n")
    (place / "terms.txt").write_text("train\n1990\n")
    (place / "texts.csv").write_text("text\n1990 train\n")
    syntf(*anonymize("--vectors", "vectors.txt", *likely()))
    assert counts().toarray()[0, 0] >= 45
    options = likely("--keep-numbers", "--length", 400)
    syntf(*anonymize("--vectors", "vectors.txt", *options, out="with"))
    assert 100 < counts("with").toarray()[0, 1] < 300


def test_repairs_of_word_vectors_are_printed(place, syntf):
    (place / "vectors.txt").write_text("train 1 0\nbus 0 1\ntrain 1 1\n")
    (place / "terms.txt").write_text("train\nbus\n")
    more = ["--vectors", "vectors.txt", "--neighbours", 2]
    out = syntf(*anonymize(*more))
    assert "word vectors: 1 words are repeated" in out
    assert "'train', line 3" in " ".join(out.split())
    assert "are repeated" not in syntf(*anonymize(*more, "--force", "-q"))


def test_supplied_vectors_are_used(place, syntf):
    (place / "vectors.txt").write_text("cat 1 0.5 0\nblorp 0 -1 2\n")
    (place / "terms.txt").write_text("blorp\ncat\ndog\n")
    (place / "texts.csv").write_text("text\nblorp\n")
    out = syntf(*anonymize("--vectors", "vectors.txt", *likely()))
    assert (place / "out" / "vocabulary.txt").read_text() == "blorp\ncat\n"
    assert counts().toarray()[0, 0] >= 45
    assert "1 terms of the vocabulary have no vector and were left out" in out
    assert "2 words in, 2 out" in out


def test_quiet_prints_nothing(place, capsys, monkeypatch):
    for option in ("--quiet", "-q"):
        assert call(capsys, monkeypatch, *anonymize(option, "--force")) == (0, "", "")
    assert guarantee()["private"] is True


def test_markup_in_paths_and_columns_is_printed_literally(place, syntf):
    pl.DataFrame({"text": ["cat"], "[red]": ["x"], ":dog:": ["y"]}).write_csv("texts.csv")
    out = syntf(*anonymize("--keep", "[red]", ":dog:", out="[bold]:cat:[x]"))
    assert "outside the guarantee: columns [red], :dog:." in out
    assert "Release written to [bold]:cat:[x]" in out
    assert (place / "[bold]:cat:[x]" / "README.txt").is_file()


def test_force_replaces_a_release_and_nothing_else(place, syntf, refused):
    syntf(*anonymize("--length", 5))
    assert "exists already" in refused(*anonymize("--length", 6))
    assert guarantee()["length"] == 5
    syntf(*anonymize("--length", 6, "--force"))
    assert guarantee()["length"] == 6
    (place / "out" / "mine").write_text("")
    assert "is not a release" in refused(*anonymize("--length", 7, "--force"))
    assert guarantee()["length"] == 6


def test_target_is_checked_before_input_is_read(refused, place):
    (place / "texts.csv").unlink()
    assert "create it first" in refused(*anonymize(out="no/such/out"))


# anonymize: what is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--text", "body"], "no column 'body'; the columns are: id, text, kind, number"),
        (["--keep", "kind", "colour"], "no column 'colour'; the columns are: id, text, kind"),
        (["--id", "key"], "no column 'key'; the columns are: id, text, kind"),
        (["--epsilon", "nan"], "epsilon must be finite and above 0"),
        (["--epsilon", "inf"], "epsilon must be finite and above 0"),
        (["--epsilon", "-inf"], "epsilon must be finite and above 0"),
        (["--epsilon", "0"], "epsilon must be finite and above 0"),
        (["--epsilon", "-1"], "epsilon must be finite and above 0"),
        (["--epsilon", "much"], "'much' is not a valid float"),
        (["--loss", "nan"], "loss must be finite and above 0"),
        (["--loss", "0"], "loss must be finite and above 0"),
        (["--loss", "1", "--epsilon", "1"], "--epsilon and --loss exclude each other"),
        (["--length", "0"], "length must be a whole number, at least 1"),
        (["--length", "-5"], "length must be a whole number, at least 1"),
        (["--length", "1.5"], "'1.5' is not a valid integer"),
        (["--length", "99999999999"], "length must be at most"),
        (["--spelling", "nan"], "spelling must be a number from 0 to 1"),
        (["--spelling", "1.1"], "spelling must be a number from 0 to 1"),
        (["--min-df", "0"], "min_df must be a whole number, at least 1"),
        (["--morphology", "stem"], "'stem' is not one of"),
        (["--weights", "bm25"], "'bm25' is not one of"),
        (["--idf", "none"], "'none' is not one of"),
        (["--colour"], "No such option '--colour'"),
        (["--keep"], "'--keep' requires an argument"),
        (["--keep", "kind", "--quiet", "number"], "no file or folder at number"),
        (["--insecure-seed", "x"], "'x' is not a valid integer"),
        (["--vocabulary", "none.txt"], "no vocabulary file at none.txt"),
        (["--vectors", "none.txt"], "no vector file at none.txt"),
    ],
)
def test_bad_option_gives_one_line(refused, options, said):
    assert said in refused(*anonymize(*options))


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"id,text\n", "a.csv holds no rows"),
        ("a.csv", b"id,text\n1,a,b,c\n", "cannot read a.csv"),
        ("a.jsonl", b'{"text": "a"}\n{"text"\n', "a.jsonl: line 2 is not a JSON object"),
        (
            "a.jsonl",
            b'{"text": ["a"]}\n',
            "line 1 has a list or an object where the text should be",
        ),
        ("a.parquet", b"PAR1", "cannot read a.parquet"),
        ("a.dat", b"PK", "cannot tell the format of a.dat"),
    ],
)
def test_bad_input_gives_one_line(refused, place, name, raw, said):
    (place / name).write_bytes(raw)
    arguments = ["anonymize", name, "--vocabulary", "terms.txt", "--out", "out"]
    assert said in refused(*arguments)


@pytest.mark.parametrize(
    ("option", "raw", "said"),
    [
        ("--vocabulary", b"qwxyzv\nvzyxwq\n", "mine has 2 terms and none of them has a word vec"),
        ("--vocabulary", b"", "mine has 0 terms"),
        ("--vectors", b"cat 1 2 3\ndog 1 2\n", "mine: line 2 ('dog') has 2 numbers, line 1 has 3"),
        ("--vectors", b"cat 1 2\ndog 1 2 3\n", "mine: line 2 ('dog') has 3 numbers, line 1 has 2"),
        ("--vectors", b"cat 1 2 3\ndog 0 0 0\n", "the vector of 'dog' is zero"),
        ("--vectors", b"cat 1 2 3\ndog 1 nan 0\n", "line 2: the vector of 'dog' is not finite"),
        ("--vectors", b"cat 1 x 3\n", "line 1 ('cat') holds something that is not a number"),
        ("--vectors", b"", "mine holds no word vectors: line 1 has no numbers"),
        ("--vectors", b"\x1f\x8bnot gzip", "cannot read mine"),
    ],
)
def test_bad_vocabulary_or_vector_file_gives_one_line(refused, place, option, raw, said):
    (place / "mine").write_bytes(raw)
    assert said in refused(*anonymize(option, "mine"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["anonymize"], "Missing argument 'INPUT...'"),
        (["anonymize", "texts.csv"], "Missing option '--out'"),
        (["anonymize", "none.csv", "--out", "out"], "no file or folder at none.csv"),
        (["anonymise"], "No such command 'anonymise'"),
        (["--colour"], "No such option '--colour'"),
        (["explain"], "Missing argument 'WORDS"),
        (["explain", "cat", "--top", "0"], "0 is not in the range x>=1"),
        (["bounds", "--documents", "0"], "0 is not in the range x>=1"),
        (["bounds", "--length", "0"], "length must be a whole number"),
        (["cache", "burn"], "No such command 'burn'"),
    ],
)
def test_bad_command_gives_one_line(refused, arguments, said):
    assert said in refused(*arguments)


def test_error_with_newlines_is_printed_on_one_line(refused):
    assert refused("anonymize", "two\nlines.csv", "--out", "out").endswith("two lines.csv")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted; no release was written"),
        (MemoryError(), 2, "not enough memory; no release was written"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "Permission denied (x.csv); no rel"),
        (OSError("odd"), 2, "odd; no release was written"),
        (TableError("a row differs"), 2, "a row differs"),
    ],
)
def test_interrupted_run_gives_one_line(place, capsys, monkeypatch, error, code, said):
    def stop(*arguments, **options):
        raise error

    monkeypatch.setattr(Anonymizer, "read", stop)
    found, out, err = call(capsys, monkeypatch, *anonymize())
    assert (found, out) == (code, "")
    assert_one_line(err.lstrip("\n"))  # after ^C the message starts on a new line
    assert err.lstrip("\n").startswith(f"syntf: {said}")
    assert sorted(os.listdir(place)) == ["terms.txt", "texts.csv"]


# anonymize: real trouble


def limited(size):
    """Limit files of this process to `size` bytes, which has the effect of a full disk."""

    def limit():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@posix
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("large", ["vectors.npz", "documents.parquet"])
def test_full_disk_keeps_the_old_release_or_none(place, syntf, large, force):
    """The first file that does not fit is vectors.npz or documents.parquet."""
    noise = np.random.default_rng(1)
    keys = [noise.bytes(300).hex() for _ in range(400)] if "doc" in large else ["x"] * 4000
    pl.DataFrame({"text": ["cat train"] * len(keys), "key": keys}).write_csv("texts.csv")
    options = ["--keep", "key", "--length", 30, "--epsilon", 1]
    syntf(*anonymize(*options), warnings=[UNIQUE.format("key")] if "doc" in large else ())
    old = place / "out"
    sizes = {path.name: path.stat().st_size for path in old.iterdir()}
    limit = sizes.pop(large) // 2
    assert limit > max(sizes.values())
    if force:
        options.append("--force")
    else:
        old = old.rename(place.parent / "elsewhere")
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    listing = sorted(os.listdir(place))
    done = process(*anonymize(*options), preexec_fn=limited(limit), cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done.stderr)
    assert "File too large" in done.stderr
    assert sorted(os.listdir(place)) == listing
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before


@posix
def test_full_disk_leaves_no_partial_cache_entry(place, empty_cache):
    done = process(*anonymize(), preexec_fn=limited(100), cwd=place)
    assert done.returncode == 2
    assert sorted(os.listdir(place)) == ["terms.txt", "texts.csv"]
    assert [path.name for path in empty_cache.iterdir()] == []


@posix
@pytest.mark.parametrize(
    ("command", "written"), [("example", "example.csv"), ("init", "syntf.toml")]
)
def test_full_disk_leaves_no_file_that_the_next_run_would_refuse(tmp_path, command, written):
    done = process(command, preexec_fn=limited(100), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done.stderr)
    assert os.listdir(tmp_path) == []
    assert process(command, cwd=tmp_path).returncode == 0
    assert os.listdir(tmp_path) == [written]


@posix
def test_an_error_names_the_file_and_not_its_draft(tmp_path):
    (tmp_path / "topics.txt").write_text("cat, dog\nbus, train\n")
    done = process("codebook", "topics", "topics.txt", "--out", "none/a.codebook", cwd=tmp_path)
    assert done.stderr == "syntf: No such file or directory (none/a.codebook)\n"


@posix
def test_an_interrupt_while_writing_leaves_nothing(place):
    script = (
        "import time, syntf.releases.contents.archive as archive\n"
        "def slow(file, members):\n"
        "    file.write(b'half')\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "archive.write = slow\n" + SCRIPT
    )
    command = [sys.executable, "-c", script, *anonymize()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", cwd=place
    ) as running:
        assert running.stdout.readline() == "writing\n"
        assert len(os.listdir(place)) == 4  # with the draft and the folder that it becomes
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err.lstrip("\n") == "syntf: interrupted; no release was written\n"
    assert sorted(os.listdir(place)) == ["terms.txt", "texts.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_release_is_complete_if_its_summary_cannot_be_printed(place):
    with open("/dev/full", "w") as nowhere:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *anonymize()], stdout=nowhere, stderr=subprocess.PIPE,
            encoding="utf-8", cwd=place, timeout=120,
        )  # fmt: skip
    assert sorted(os.listdir(place / "out")) == sorted(FILES)
    assert "no release was written" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["anonymize", "explain", "bounds"])
def test_output_works_on_ascii_terminals(place, command):
    arguments = {
        "anonymize": anonymize(),
        "explain": ["explain", "cat", "--vocabulary", "terms.txt"],
        "bounds": ["bounds", "--vocabulary", "terms.txt"],
    }[command]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = process(*arguments, cwd=place, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def haystack(folder):
    """Yield all bytes under a folder, also those inside archives and Parquet files."""
    for path in sorted(folder.rglob("*")):
        yield os.fsencode(path)
        if path.is_file():
            yield path.read_bytes()
            if path.suffix == ".npz":
                with zipfile.ZipFile(path) as archive:
                    yield from (archive.read(name) for name in archive.namelist())
            if path.suffix == ".parquet":
                yield pl.read_parquet(path).write_csv().encode()


@pytest.mark.parametrize(
    ("canary", "options"),
    [
        ("qwxyzvcanary", ["--vocabulary", "terms.txt"]),
        ("platypus", ["--vocabulary", "terms.txt", "--weights", "tfidf", "--idf", "fitted"]),
        ("platypus", ["--fit-vocabulary", "--neighbours", "2"]),
        ("platypus", ["--vocabulary", "terms.txt", "--text", "body"]),
        ("platypus", ["--vocabulary", "terms.txt", "--keep", "id", "--length", "0"]),
    ],
)
def test_unknown_word_of_a_text_is_in_no_file(tmp_path, empty_cache, options, canary):
    place = tmp_path / "place"
    place.mkdir()
    rows = ["the cat and the train", "a cat, a train", f"the cat and the {canary} {canary}s"]
    pl.DataFrame({"id": ["1", "2", "3"], "text": rows}).write_csv(tmp_path / "texts.csv")
    (place / "terms.txt").write_text("\n".join(WORDS))
    done = process("anonymize", "../texts.csv", "--out", "out", *options, cwd=place,
                   env={**os.environ, "TMPDIR": str(place)})  # fmt: skip
    refused = "body" in options or "0" in options
    assert done.returncode == (2 if refused else 0), done.stderr
    assert (place / "out").exists() is not refused
    if token_table.compiled is not None:  # some options fill the cache for compiled loops only
        assert empty_cache.exists() is not refused
    found = [done.stdout.encode(), done.stderr.encode(), *haystack(place), *haystack(empty_cache)]
    assert any(b"cat" in raw for raw in found)  # a word of the vocabulary is found
    assert not any(canary.encode() in raw.lower() for raw in found)


# explain


def shares(out):
    """Return the words and percentages of the tables that `explain` prints."""
    return re.findall(r"^\s+(\w+)\s+([\d.]+)%", out, flags=re.MULTILINE)


def test_explain_prints_probabilities_of_the_mechanism(place, capsys, monkeypatch):
    options = ["--vocabulary", "terms.txt", "--epsilon", 20, "--top", 4, "--preset", "paper"]
    code, out, err = call(capsys, monkeypatch, "explain", "Trains", *options)
    assert (code, err) == (0, "")
    made = Anonymizer.build(Settings(vocabulary=WORDS, epsilon=20.0))
    chances = made.mechanism.weights(WORDS.index("train")) / made.mechanism.total
    best = np.argsort(-chances)[:4]
    assert shares(out) == [(WORDS[i], f"{100 * chances[i]:.2f}") for i in best]
    text = " ".join(out.split())
    own = 100 * chances[WORDS.index("train")]
    assert text.startswith(f"Trains, read as train: stays itself {own:.2f}% ")
    assert f"any of 26 others {100 * (1 - chances[best].sum()):.2f}%" in text
    assert f"Loss per word: {shown(made.mechanism.loss, 4)}," in text


@pytest.mark.parametrize("neighbours", [1, 3])
def test_explain_shows_neighbours_and_the_share_of_all_others(
    place, capsys, monkeypatch, neighbours
):
    options = ["--vocabulary", "terms.txt", "--loss", 4, "--top", 5, "--neighbours", neighbours]
    code, out, err = call(capsys, monkeypatch, "explain", "violin", "cats", *options)
    assert (code, err) == (0, "")
    odds = neighbours * np.exp(4) / (30 - neighbours)
    near, far = odds / (1 + odds) / neighbours, 1 / (1 + odds) / (30 - neighbours)
    table = [float(share) for _, share in shares(out)]
    wanted = [100 * near] * neighbours + [100 * far] * (5 - neighbours)
    assert table == pytest.approx(wanted * 2, abs=0.0051)
    text = " ".join(out.split())
    assert "violin: stays itself never (not an output)" in text
    assert "by a loss of at most 4.00; the best guess" in text
    assert "Loss per word: 4.0000, the largest difference between any two words" in text


def test_explain_compares_each_pair_of_words(place, syntf):
    out = syntf("explain", "cat", "dog", "music", "cat", "--vocabulary", "terms.txt",
                "--preset", "paper", "--epsilon", 20)  # fmt: skip
    made = Anonymizer.build(Settings(vocabulary=WORDS, epsilon=20.0))
    rows = {w: made.mechanism.weights(WORDS.index(w)) / made.mechanism.total for w in WORDS[:5]}
    for one, other in (("cat", "dog"), ("cat", "music"), ("dog", "music")):
        p, q = rows[one], rows[other]
        loss = np.abs(np.log(p / q)).max()
        right = (1 + np.abs(p - q).sum() / 2) / 2
        assert (
            f"{one} and {other}: one drawn word tells them apart by a loss of at most "
            f"{shown(loss, 2)}; the best guess from it is right in {right:.1%} of cases"
        ) in out
        assert loss <= made.mechanism.loss
    assert out.count("stays itself") == out.count("tells them apart") == 3


def test_explain_names_words_that_are_left_out(place, syntf):
    words = ["cat", "qwxyzv", "the", "[red]", "[/bold]", "back\\", ":dog:"]
    out = syntf("explain", *words, "--vocabulary", "terms.txt")
    for word in words[1:]:
        assert f"{word}: left out of documents (unknown, or a stop word)" in out
    assert out.count("stays itself") == 1
    assert "cat: stays itself" in out


def test_explain_fails_if_all_words_are_unknown(place, capsys, monkeypatch):
    code, out, err = call(capsys, monkeypatch, "explain", "qwxyzv", "--vocabulary", "terms.txt")
    assert code == 2
    assert "qwxyzv: left out" in out
    assert_one_line(err)


def test_explain_prints_markup_in_words_literally(place, syntf):
    words = ["[red]", "[/bold]", ":dog:", "cat"]
    (place / "vectors.txt").write_text("".join(f"{w} 1 {i} 2\n" for i, w in enumerate(words)))
    (place / "terms.txt").write_text("\n".join(words))
    out = syntf("explain", "cat", "[RED]", "--vectors", "vectors.txt", "--vocabulary", "terms.txt")
    assert "[RED], read as [red]: stays itself" in out
    table = out.partition("[RED], read as")[0]
    for word in words:
        assert re.search(rf" {re.escape(word)} [\d.]+% ", table)


def test_explain_shows_at_most_all_output_words(place, capsys, monkeypatch):
    (place / "terms.txt").write_text("cat\ntrain\n")
    for top in (2, 10):
        arguments = ["explain", "cat", "--vocabulary", "terms.txt", "--top", top]
        arguments += ["--neighbours", 2]
        code, out, _ = call(capsys, monkeypatch, *arguments)
        assert code == 0
        assert sorted(word for word, _ in shares(out)) == ["cat", "train"]
        assert "-" not in out


def test_explain_says_never_for_a_word_that_is_no_output(words_synthetic, syntf):
    out = syntf("explain", "platypuses", "--preset", "words", "--top", 3)
    assert "platypuses, read as platypus: stays itself never (not an output)" in out


# bounds


def test_bounds_prints_the_losses_of_the_formulas(place, syntf):
    options = ["--epsilon", 10, "--length", 20, "--documents", 7, "--vocabulary", "terms.txt"]
    out = syntf("bounds", "--preset", "paper", *options)
    tight = Anonymizer.build(Settings(vocabulary=WORDS, epsilon=10.0)).mechanism.loss
    assert "ε = 10, 30 inputs, 30 outputs" in out
    assert "per word document of 20 author of 7 documents" in out
    for name, loss in (
        ("standard", 10.0),
        ("improved", bounds.improved_loss(10.0, 30)),
        ("tight (promised)", tight),
    ):
        document = bounds.document_loss(loss, 20)
        author = bounds.author_loss(loss, 20, 7)
        assert f"{name} {shown(loss, 4)} {shown(document, 2)} {shown(author, 2)} " in out
    needed = bounds.necessary_epsilon(0.5, 1, 29)
    assert f"One good substitute in half of all draws needs ε of at least {needed:.2f}." in out


def test_bounds_can_start_from_a_loss(place, syntf):
    out = syntf("bounds", "--loss", 3, "--vocabulary", "terms.txt")
    tight = float(re.search(r"tight \(promised\) ([\d.]+)", out)[1])
    assert 0.98 * 3 < tight <= 3


@pytest.mark.parametrize(
    ("neighbours", "good", "nearest"),
    [
        (1, "One good substitute", "its nearest"),
        (3, "One of 3 good substitutes", "one of its 3 nearest"),
    ],
)
def test_bounds_of_neighbours_are_half_of_epsilon(place, syntf, neighbours, good, nearest):
    out = syntf("bounds", "--epsilon", 10, "--neighbours", neighbours, "--vocabulary", "terms.txt")
    for name, loss in (
        ("standard", 10.0),
        ("improved", bounds.improved_loss(10.0, 30)),
        ("tight (promised)", 5.0),
    ):
        assert f"{name} {shown(loss, 4)} " in out
    needed = 2 * np.log((30 - neighbours) / neighbours)
    assert f"{good} in half of all draws needs ε of at least {needed:.2f}." in out
    odds = neighbours * np.exp(5) / (30 - neighbours)
    assert f"A word is replaced by {nearest} in {odds / (1 + odds):.1%} of draws." in out


def test_bounds_draws_its_figures(place, syntf):
    out = syntf("bounds", "--vocabulary", "terms.txt", "--figures", "new/[red]")
    assert "Figures written to new/[red]" in out
    names = sorted(path.name for path in (place / "new" / "[red]").iterdir())
    assert names == [
        "loss-bounds.png", "loss-bounds.svg", "necessary-epsilon.png", "necessary-epsilon.svg",
    ]  # fmt: skip
    assert all((place / "new" / "[red]" / name).stat().st_size > 1_000 for name in names)


def test_figures_folder_that_is_a_file_is_refused(place, capsys, monkeypatch):
    arguments = ["bounds", "--vocabulary", "terms.txt", "--figures", "texts.csv"]
    code, _, err = call(capsys, monkeypatch, *arguments)
    assert code == 2
    assert_one_line(err)
    assert "texts.csv" in err


# example, cache


def test_example_does_not_overwrite(place, syntf, refused):
    assert "texts.csv exists already" in refused("example", "texts.csv")
    syntf("example", "texts.csv", "--force")
    frame = pl.read_csv("texts.csv")
    assert (frame.height, frame.columns) == (320, ["id", "text", "topic", "author"])
    assert (frame["topic"].n_unique(), frame["author"].n_unique()) == (5, 8)
    assert frame["id"].is_unique().all()
    assert frame["text"].str.len_chars().min() > 0
    assert "No such file or directory" in refused("example", "no/such/folder.csv")


def test_cached_neighbours_serve_every_loss(place, empty_cache, syntf):
    for loss in (3, 4):
        syntf(*anonymize("--neighbours", 2, "--loss", loss, out=f"out{loss}"))
    kinds = sorted(path.suffix for path in empty_cache.iterdir())
    tokens = [".tokens"] if token_table.compiled else []  # one token table for both runs
    assert kinds == [".neighbours", *tokens]
    assert syntf("cache", "clear").startswith(f"Deleted {len(kinds)} ")


def test_cache_keeps_shows_and_deletes_measurements(place, empty_cache, syntf):
    paper = ["--preset", "paper"]
    assert syntf("cache", "path") == str(empty_cache)
    assert syntf("cache", "clear").startswith("Deleted 0 entr")
    syntf(*anonymize(*paper, "--epsilon", 3))
    syntf(*anonymize(*paper, "--epsilon", 3, "--force", "--length", 3))
    syntf(*anonymize(*paper, "--epsilon", 4, "--force"))
    kinds = sorted(path.suffix for path in empty_cache.iterdir())
    tokens = [".tokens"] if token_table.compiled else []  # one token table
    assert kinds == [".table", ".table", *tokens]
    (empty_cache / "mine.npz").write_bytes(b"")
    assert syntf("cache", "clear").startswith(f"Deleted {len(kinds)} entr")
    assert [path.name for path in empty_cache.iterdir()] == ["mine.npz"]
    assert syntf("cache", "clear").startswith("Deleted 0 entr")


# --keep a b


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["anonymize"],
        ["anonymize", "--help"],
        ["anonymize", "in.csv"],
        ["anonymize", "in.csv", "--keep"],
        ["anonymize", "in.csv", "--keep", "a"],
        ["anonymize", "in.csv", "--keep", "a", "-q", "b"],
        ["anonymize", "in.csv", "--keep=a", "b"],
        ["anonymize", "in.csv", "--keep", "a", "--out", "b"],
        ["anonymize", "in.csv", "--text", "--keep"],
        ["anonymize", "in.csv", "a", "b"],
        ["anonymize", "--keep", "a", "b", "in.csv"],  # ambiguous: which of them is the input?
        ["anonymize", "--out", "out", "in.csv", "--keep", "a", "b"],
        ["explain", "in.csv", "--keep", "a", "b"],
        ["bounds", "anonymize", "--keep", "a", "b"],
    ],
)
def test_split_keep_leaves_other_arguments_unchanged(arguments):
    before = list(arguments)
    assert cli.split_keep(arguments) == before
    assert arguments == before


@pytest.mark.parametrize(
    ("given", "spread"),
    [
        ("--keep a b", "--keep a --keep b"),
        ("--keep a b c --out o", "--keep a --keep b --keep c --out o"),
        ("--out o --keep a b -q", "--out o --keep a --keep b -q"),
        ("--keep a b --keep c d", "--keep a --keep b --keep c --keep d"),
        ("--keep a --keep b c", "--keep a --keep b --keep c"),
        ("--keep a b --id c --keep d e", "--keep a --keep b --id c --keep d --keep e"),
        ("--keep keep anonymize", "--keep keep --keep anonymize"),
    ],
)
def test_split_keep_gives_each_column_its_own_keep(given, spread):
    start = ["anonymize", "in.csv"]
    assert cli.split_keep(start + given.split()) == start + spread.split()
    assert cli.split_keep(start + spread.split()) == start + spread.split()


@pytest.mark.parametrize("name", ["*", "^.*$", "^t.*$"])
def test_kept_column_name_is_not_a_pattern(place, syntf, name):
    Path("s.csv").write_text(f"text,{name},other\ncanary cat,1,x\n", encoding="utf-8")
    syntf("anonymize", "s.csv", "--keep", name, "--vocabulary", "terms.txt", "--out", "out")
    kept = pl.read_parquet("out/documents.parquet")
    assert kept.columns == ["document", name]
    assert "canary" not in str(kept.rows())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--length", "60"], "--length"),
        (["--loss", "6"], "--loss"),
        (["--max-size", "3000"], "--max-size"),
        (["--length", "60", "--preset", "words"], None),
        (["--length", "60", "--quiet"], None),
        (["--document-loss", "6"], None),
    ],
)
def test_an_option_that_changes_the_promise_is_announced(call, place, options, named):
    """The loss of a document is hundreds with options for single words, in place of 10."""
    code, out, _ = call("anonymize", "texts.csv", "--out", "out", *options)
    assert code == 0
    found = re.findall(r"! (--\S+) is an option for single words", out)
    assert found == ([named] if named else [])
