"""`syntf anonymize` in a shell: what it says, what it refuses, and how it ends."""

import json
import os
import re
import subprocess
import sys

import click
import polars as pl
import pytest

from syntf import Ledger, cli, read_release, verify
from syntf.cli import anonymize as command
from syntf.cli import example
from syntf.core.errors import BudgetError, Refused, SyntfError, TableError
from syntf.release import job
from syntf.settings import PRESETS
from tests.cli.conftest import TOY

ORDERED = "the id 'id' is in the order of the input, which undoes the random order"
LONG = {"PYTHONPATH": os.pathsep.join(sys.path)}


def kept(folder="out"):
    return read_release(folder).documents


# What is made


def test_the_first_two_commands_of_the_help(call, place):
    code, out, err = call("example")
    assert (code, err) == (0, "")
    assert "example.csv" in out
    code, out, err = call(
        "anonymize", "example.csv", "--keep", "topic", "--shuffle", "--out", "release"
    )
    assert (code, err) == (0, "")
    assert "320" in out
    assert "10.00 at most" in out
    assert "Made release. Look at release/report.html." in out
    assert "order" not in out
    code, out, err = call("verify", "release")
    assert (code, err) == (0, "")
    assert "Verified." in out


@pytest.mark.parametrize(
    "options",
    [
        ["--keep", "topic", "year", "id"],
        ["--keep", "topic", "--keep", "year", "--keep", "id"],
        ["--keep", "topic", "year", "--keep=id"],
        ["--keep", "topic", "year", "topic", "--shuffle", "--keep", "id"],
    ],
)
def test_keep_takes_several_columns_and_may_be_repeated(anonymize, options):
    code, out, _ = anonymize(*options)
    assert code == 0
    assert kept().columns[:4] == ["document", "topic", "year", "id"]
    assert "outside the guarantee: columns topic, year, id." in " ".join(out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["anonymize"], ["anonymize", "in.csv", "--keep"], ["anonymize", "in.csv", "a", "b"],
        ["anonymize", "in.csv", "--keep", "a", "-q", "b"], ["anonymize", "in.csv", "--keep=a", "b"],
        ["anonymize", "--keep", "a", "b", "in.csv"],  # ambiguous: which of them is the input?
        ["anonymize", "--out", "out", "in.csv", "--keep", "a", "b"],
        ["explain", "in.csv", "--keep", "a", "b"],
    ],
)  # fmt: skip
def test_split_keep_leaves_other_arguments_unchanged(arguments):
    assert cli.split_keep([*arguments]) == arguments


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["*", "^", "$", "[red]", "col(x)"])
def test_the_name_of_a_column_is_neither_a_pattern_nor_markup(call, place, name, format):
    """A pattern would have released the texts, or the column of authors."""
    frame = pl.DataFrame({"text": ["canary cat"], name: ["1"], "the author": ["ann"]})
    (frame.write_csv if format == "csv" else frame.write_parquet)(f"s.{format}")
    code, out, err = call(
        "anonymize", f"s.{format}", "--keep", name, *TOY, "--out", "[bold]:cat:",
        "--author", "the author", "--author-loss", "10",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert kept("[bold]:cat:").columns[:3] == ["document", name, "pilot"]
    assert kept("[bold]:cat:")[name].to_list() == ["1"]
    assert f"columns {name}." in " ".join(out.split())
    assert "Made [bold]:cat:." in out


@pytest.mark.parametrize("options", [["--keep"], ["--id"], ["--author-loss", "9", "--author"]])
def test_a_column_that_polars_takes_for_a_pattern_is_refused(refused, place, options):
    frame = pl.DataFrame({"text": ["a cat"], "topic": ["x"], "^t.*$": ["1"]})
    frame.write_parquet("s.parquet")
    line = refused("anonymize", "s.parquet", *TOY, "--out", "out", *options, "^t.*$")
    assert "polars takes the column '^t.*$' for a pattern: rename it" in line


def test_standard_input(call, place, monkeypatch):
    with open("mails.csv") as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, _, err = call(
            "anonymize", "-", "--input-format", "csv", "--text", "body", *TOY, "--out", "out"
        )
    assert (code, err) == (0, "")
    assert len(kept()) == 24


def test_json_is_one_object_with_the_guarantee_of_the_file(anonymize, place):
    Ledger.create("texts.ledger", document=50)
    code, out, err = anonymize("--json", "--keep", "topic", "--ledger", "texts.ledger")
    assert (code, err) == (0, "")
    assert out.isascii()
    found = json.loads(out, parse_constant=pytest.fail)  # JSON has no NaN and no Infinity
    assert found.pop("guarantee") == json.loads((place / "out/guarantee.json").read_text())
    assert found == {
        "out": "out", "documents": 24, "left_out": 0, "notices": [], "ledger_run": 1,
    }  # fmt: skip


def test_quiet_prints_nothing_and_a_seed_repeats(anonymize, place):
    for out in ("one", "two"):
        assert anonymize("-q", "--id", "id", "--insecure-seed", "3", out=out) == (0, "", "")
    for path in (place / "one").iterdir():
        assert path.read_bytes() == (place / "two" / path.name).read_bytes()
    code, out, _ = anonymize("--insecure-seed", "4", out="three")
    assert code == 0
    assert "NOT PRIVATE" in out


def test_warnings_stand_on_standard_error(anonymize, call, place):
    pl.DataFrame({"text": ["a cat"] * 9, "n": range(9), "who": ["a@b.org"] * 9}).write_csv("x.csv")
    arguments = ["anonymize", "x.csv", *TOY, "--id", "n", "--keep", "who", "--shuffle", "--out"]
    code, _, err = call(*arguments, "one")
    assert code == 0
    assert err.splitlines() == [
        "syntf: the id 'n' is in the order of the input, which undoes the random order",
        "syntf: the column 'who' looks like e-mail addresses, and it is released as it is",
    ]
    assert call(*arguments, "two", "--quiet") == (0, "", "")


@pytest.mark.parametrize(("loss", "warned"), [("10", False), ("10.5", True), ("30", True)])
def test_a_loss_above_10_is_warned_of_before_anything_is_drawn(
    anonymize, monkeypatch, loss, warned
):
    monkeypatch.setattr(job, "draw", lambda *arguments: 1 / 0)
    err = anonymize("--document-loss", loss)[2]
    assert ("several topics of each document are kept" in err) is warned
    assert "ZeroDivisionError" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        (["--length", "60"], "480.00"),
        (["--word-loss", "6"], "750.00"),
        (["--max-size", "2"], "1,000.00"),
        (["--length", "60", "--preset", "words"], None),
        (["--preset", "paper", "--epsilon", "10"], None),
        (["--length", "60", "--quiet"], None),
    ],
)
def test_options_that_leave_the_promise_of_a_document_are_announced(
    call, place, monkeypatch, options, loss
):
    monkeypatch.setattr(job, "build", lambda *arguments: 1 / 0)
    err = call("anonymize", "mails.csv", "--text", "body", "--out", "out", *options)[2]
    found = re.findall("are for single words: a document may lose ([0-9,.]+);", err)
    assert found == [loss] * (loss is not None)


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_output_fits_the_terminal_and_cuts_no_number(anonymize, monkeypatch, width, dry):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = anonymize(
        "--author", "topic", "--author-loss", "50", "--keep", "topic", "--force", *dry
    )
    assert code == 0
    assert max(map(len, out.splitlines())) <= width
    assert "…" not in out
    plain = " ".join(out.split())
    for part in ("documents 20", "50.00 at most (5 of each author; 4 left out)", "10.00 at most"):
        assert part in plain


# --dry-run


def test_a_dry_run_says_what_a_release_would_be(anonymize, place):
    Ledger.create("texts.ledger", document=5)
    options = ["--keep", "topic", "year", "--document-loss", "4", "--ledger", "texts.ledger"]
    limit = ["--author", "topic", "--author-loss", "20"]
    before = sorted(place.iterdir())
    code, out, err = anonymize("--dry-run", "--json", *options, *limit)
    assert (code, err) == (0, "")
    assert sorted(place.iterdir()) == before
    assert not Ledger("texts.ledger").runs()
    found = json.loads(out)
    code, out, _ = anonymize("--json", *options, *limit)
    assert code == 0
    made = json.loads(out)
    for name in ("documents", "left_out", "notices"):
        assert found[name] == made[name]
    same = {"files", "checksum"}
    assert {name: value for name, value in found["guarantee"].items() if name not in same} == {
        name: value for name, value in made["guarantee"].items() if name not in same
    }
    assert (found["known"], found["draws"], found["answers"]) == (1.0, 1, 5)
    assert found["kept"] == pytest.approx(0.93, abs=0.02)  # e⁴ / (e⁴ + 4)
    assert found["seconds"] > 0
    size = sum(path.stat().st_size for path in (place / "out").iterdir())
    assert size / 3 < found["bytes"] < 3 * size


def test_a_dry_run_in_words(anonymize, call, place):
    pl.DataFrame({"text": ["123"] * 20, "who": ["a b@c.org"] * 20}).write_csv("numbers.csv")
    code, out, err = call("anonymize", "numbers.csv", *TOY, "--keep", "who", "--dry-run")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    for part in (
        "with a known word 0.0%", "an answer is kept in 100.0% of draws", "estimate about 1 s and",
        "20 of 20 texts have no known word: check the column, the encoding and the language",
        "'who' looks like e-mail addresses", "Nothing was written or charged.",
        "m times as much for m documents",
    ):  # fmt: skip
        assert part in said
    assert call("anonymize", "numbers.csv", *TOY, "--dry-run", "-q") == (0, "", "")


def test_a_dry_run_of_many_documents_tells_of_the_pilot(call, place):
    pl.DataFrame({"text": ["the cat"] * 1200}).write_csv("many.csv")
    code, out, _ = call("anonymize", "many.csv", "--dry-run")
    assert code == 0
    assert "documents answer first and sharpen the list" in " ".join(out.split())


def test_a_dry_run_of_words_draws_words(call, place):
    (place / "terms.txt").write_text("cat\ntrain\nbread\n")
    words = ["--preset", "paper", "--vocabulary", "terms.txt", "--length", "9"]
    code, out, _ = call("anonymize", "mails.csv", "--text", "body", *words, "--dry-run", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["draws"], found["answers"], found["kept"]) == (9, 3, None)


# What is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--text", "bodi"], "no column 'bodi'; the columns are: id, body, topic, year; did you"),
        (["--text", "text"], "did you mean 'body'? Name the column of the texts with --text"),
        (["--keep", "topic", "colour"], "no column 'colour'; the columns are: id, body, topic"),
        (["--keep", "topik"], "did you mean 'topic'?"),
        (["--id", "key"], "no column 'key'"),
        (["--author", "who", "--author-loss", "30"], "no column 'who'"),
        (["--author-loss", "30"], "name their column"),
        (["--document-loss", "nan"], "document_loss must be finite and above 0, not nan"),
        (["--document-loss", "0"], "document_loss must be finite and above 0, not 0.0"),
        (["--loss", "much"], "'much' is not a valid float"),
        (["--loss", "1001"], "document_loss must be at most 1000"),
        (["--word-loss", "1", "--epsilon", "1"], "epsilon is the paper's parameter"),
        (["--preset", "words", "--loss", "3"], "exclude each other: give one of them"),
        (["--preset", "words", "--length", "0"], "length must be a whole number, at least 1"),
        (["--preset", "words", "--spelling", "nan"], "spelling must be a number from 0 to 1"),
        (["--morphology", "stem"], "'stem' is not one of"),
        (["--keep", "topic", "--quiet", "year"], "no file or folder at year"),
        (["--insecure-seed", "x"], "'x' is not a valid integer"),
        (["--vectors", "none.txt"], "none.txt"),
        (["--codebook", "none.npz"], "none.npz"),
        (["--ledger", "none"], "no ledger at none"),
        (["--delimiter", "ab"], "a delimiter is one ASCII character"),
        (["--query", "SELECT"], "--query is for databases, and the input has none"),
        (["--encoding", "utf-9"], "utf-9"),
        (["--language", "xx"], "xx"),
        (["--out", "no/such/out"], "create it first"),
    ],
)
def test_a_bad_option_gives_one_line(refused, options, said):
    arguments = ["anonymize", "mails.csv", "--text", "body", "--out", "out", *options]
    assert said in refused(*arguments)


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"id,text\n", "a.csv holds no rows"),
        ("a.csv", b"the cat sat on the mat today,and it rained all day\n1,2\n", "add a header row"),
        ("a.jsonl", b"", "a.jsonl"),
        ("a.parquet", b"PAR1", "cannot read a.parquet"),
        ("a.parquet", b"", "cannot read a.parquet"),
        ("a.csv.gz", b"", "a.csv.gz"),
        ("a.zip", b"PK", "a.zip"),
        ("a.xlsx", b"PK", "a.xlsx"),
        ("a.sqlite", b"", "say what to read"),
        ("a.mbox", b"", "a.mbox"),
        ("a.dat", b"PK", "cannot tell the format of a.dat"),
    ],
)
def test_a_bad_input_gives_one_line(refused, place, name, raw, said):
    (place / name).write_bytes(raw)
    line = refused("anonymize", name, *TOY, "--out", "out")
    assert said in line
    assert "rained" not in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "no file or folder at none.csv"),
        (["no*.csv"], "no file matches no*.csv"),
        (["two\nlines.csv"], "an input is not a path"),
        (["mails.csv", "mails.csv"], "mails.csv is given twice"),
        (["-"], "say what standard input holds: --input-format"),
        (["ftp://x/a.csv"], "an address begins with"),
        (["a text that is long " * 20], "an input is not a path"),
    ],
)
def test_an_input_that_is_none_gives_one_line(refused, arguments, said):
    line = refused("anonymize", *arguments, "--text", "body", *TOY, "--out", "out")
    assert said in line
    assert "a text that" not in line


def test_an_empty_folder_is_refused(refused, place):
    (place / "empty").mkdir()
    assert "holds no documents" in refused("anonymize", "empty", *TOY, "--out", "out")


def test_force_replaces_a_release_and_nothing_else(anonymize, refused, place):
    assert anonymize("-q") == (0, "", "")
    arguments = ["anonymize", "mails.csv", "--text", "body", *TOY, "--out", "out"]
    assert "out exists already: choose another --out, or add --force" in refused(*arguments)
    assert anonymize("-q", "--shuffle", "--force") == (0, "", "")
    assert read_release("out").guarantee.shuffled
    (place / "out" / "mine").write_text("")
    assert "is not a release" in refused(*arguments, "--force")
    assert (place / "out" / "mine").exists()


def test_a_budget_that_would_be_exceeded_ends_with_1(anonymize, refused, place):
    Ledger.create("texts.ledger", document=10)
    options = ["--id", "id", "--ledger", "texts.ledger"]
    code, out, _ = anonymize(*options)
    assert code == 0
    assert "Charged to the ledger as run 1." in out
    line = refused(
        "anonymize", "mails.csv", "--text", "body", *TOY, "--out", "two", *options, code=1
    )
    assert "24 documents would lose more than 10" in line


# How it ends


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SyntfError("bad"), 2, "syntf: bad\n"),
        (Refused("no"), 1, "syntf: no\n"),
        (BudgetError("no"), 1, "syntf: no\n"),
        (TableError("row"), 2, "syntf: row\n"),
        (click.UsageError("what?"), 2, "syntf: what?\n"),
        (click.ClickException("odd"), 2, "syntf: odd\n"),
        (OSError(28, "No space left"), 2, "syntf: No space left; no release was written\n"),
        (OSError(13, "Denied", "x"), 2, "syntf: Denied (x); no release was written\n"),
        (MemoryError(), 2, "syntf: not enough memory; no release was written\n"),
        (KeyboardInterrupt(), 130, "syntf: interrupted; no release was written\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_every_error_has_an_exit_code_and_one_line(call, monkeypatch, error, code, line):
    def stop(context):
        raise error

    monkeypatch.setattr(command.command, "invoke", stop)
    found, out, err = call("anonymize", "x.csv", "--out", "y")
    assert (found, out, err.lstrip("\n")) == (code, "", line)


def test_another_command_says_nothing_of_releases(call, monkeypatch):
    def stop(context):
        raise OSError(28, "No space left")

    monkeypatch.setattr(example.command, "invoke", stop)
    assert call("example") == (2, "", "syntf: No space left\n")


def test_a_bug_has_its_own_code_and_quotes_no_text(anonymize, monkeypatch):
    def stop(*arguments):
        raise KeyError("The cat")

    monkeypatch.setattr(job, "draw", stop)
    code, out, err = anonymize()
    assert (code, out) == (70, "")
    assert "The cat" not in err
    assert err == (
        "syntf: a bug in syntf (KeyError in job.py, anonymize): please report it; no release was "
        "written\n"
    )


def process(*arguments, **options):
    run = [sys.executable, "-m", "syntf", *arguments]
    return subprocess.run(run, stderr=subprocess.PIPE, encoding="utf-8", timeout=300, **options)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_a_closed_pipe_is_not_an_error_of_the_program(place):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = process("anonymize", "--help", stdout=pipe)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_release_is_complete_if_its_summary_cannot_be_printed(place):
    with open("/dev/full", "w") as nowhere:
        done = process(
            "anonymize", "mails.csv", "--text", "body", *TOY, "--out", "out", stdout=nowhere,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
    assert "no release was written" not in done.stderr
    assert "Traceback" not in done.stderr
    assert verify("out", codebook="toy.codebook", vectors="toy.npz").ok


def test_terminals_that_know_few_letters(place):
    done = process(
        "bounds", "--preset", "paper", "--set", "vocabulary=terms.txt", "--delta", "0.01",
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )  # fmt: skip
    assert done.returncode == 2  # there is no such file, and the message could be printed
    (place / "terms.txt").write_text("cat\ndog\n")
    done = process(
        "explain", "cat", "--set", "vocabulary=terms.txt", stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("syntf an", ["plain,anonymize"]),
        ("syntf anonymize --no-shuffle --dry", ["plain,--dry-run"]),
        ("syntf anonymize --preset ", [f"plain,{name}" for name in PRESETS]),
    ],
)
def test_a_shell_completes_a_line(place, words, found):
    (place / "syntf.toml").write_text("no TOML")  # it is not read
    at = len(words.split()) - (not words.endswith(" "))
    asked = {"_SYNTF_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    done = process(stdout=subprocess.PIPE, env={**os.environ, **asked})
    assert (done.stdout.split(), done.stderr) == (found, "")
