"""`--json` prints one object with the figures of the program, and nothing else."""

import json
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
import pytest

from syntf.cli import app as cli
from syntf.ledger.ledger import UNIT, Ledger
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.vocabulary.vocabulary import terms_digest

TERMS = "cat dog car train music house".split()
WORDS = ["--vocabulary", "terms.txt", "--vectors", "vectors.txt", "--neighbours", "2"]
CHEAP = {"neighbours": 2, "vocabulary": Path("terms.txt"), "vectors": Path("vectors.txt")}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("vectors.txt").write_text(
        "".join(f"{term} 1 {place} {place * place}\n" for place, term in enumerate(TERMS))
    )
    Path("terms.txt").write_text("\n".join([*TERMS, "unheard"]) + "\n")
    Path("texts.csv").write_text("text,who\nthe cat,x\ntrain qwxyz,y\nof the,z\n")
    return tmp_path


@pytest.fixture
def record(call):
    """Run a command with --json that must succeed; return the object."""

    def run(*arguments):
        code, out, err = call(*arguments, "--json")
        assert (code, err) == (0, "")
        assert out.isascii()
        found = json.loads(out, parse_constant=pytest.fail)  # JSON has no NaN and no Infinity
        assert isinstance(found, dict)
        return found

    return run


def test_anonymize_contains_the_guarantee_of_the_file(record):
    found = record("anonymize", "texts.csv", *WORDS, "--keep", "who", "--out", "out")
    assert found.pop("guarantee") == json.loads(Path("out/guarantee.json").read_text())
    assert found == {
        "out": "out", "documents": 3, "left_out": 0, "terms_without_vector": 1, "notes": [],
        "warnings": [], "ledger": None,
    }  # fmt: skip


def test_anonymize_skips_broken_rows_and_describes_the_ledger_run(record):
    with Path("texts.csv").open("a") as file:
        file.write("one,too,many\n")
    Ledger.create("l", budget=100)
    found = record(
        "anonymize", "texts.csv", *WORDS, "--bad-rows", "skip", "--max-bad-rows", "0.5",
        "--ledger", "l", "--out", "out", "--loss", 3, "--length", 10, "--quiet",
    )  # fmt: skip
    (run,) = Ledger("l").verify().runs
    assert found["documents"] == 3
    assert found["ledger"] == {"run": 1, "loss": run.loss / UNIT, "head": run.hash}
    assert found["ledger"]["loss"] == pytest.approx(30)


def test_explain_contains_probabilities_of_the_mechanism(record):
    found = record("explain", "Cats", "train", "qwxyz", *WORDS, "--loss", 3, "--top", 4)
    made = Anonymizer.build(Settings.from_preset(loss=3.0, **CHEAP))
    rows = {
        term: made.mechanism.weights(TERMS.index(term)) / made.mechanism.total
        for term in ("cat", "train")
    }
    assert found["loss_per_word"] == asdict(made.guarantee().loss_per_word)
    assert [word["word"] for word in found["words"]] == ["Cats", "train", "qwxyz"]
    assert found["words"][2] == {"word": "qwxyz", "term": None}
    for word, (term, row) in zip(found["words"], rows.items(), strict=False):
        assert (word["term"], word["stays"]) == (term, row[TERMS.index(term)])
        assert [one["chance"] for one in word["substitutes"]] == sorted(row, reverse=True)[:4]
        for one in word["substitutes"]:
            assert one["chance"] == row[TERMS.index(one["term"])]
        assert word["others"]["terms"] == 2
        total = word["others"]["chance"] + sum(one["chance"] for one in word["substitutes"])
        assert total == pytest.approx(1)
    p, q = rows.values()
    (pair,) = found["pairs"]
    assert pair["words"] == ["Cats", "train"]
    assert pair["loss"] == pytest.approx(np.abs(np.log(p / q)).max())
    assert pair["best_guess"] == pytest.approx((1 + np.abs(p - q).sum() / 2) / 2)


def test_explain_prints_no_object_if_all_words_are_unknown(call):
    code, out, err = call("explain", "qwxyz", *WORDS, "--json")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_bounds_has_the_keys_of_the_guarantee(record):
    found = record("bounds", *WORDS, "--loss", 3, "--length", 10, "--documents", 4)
    chosen = Settings.from_preset(loss=3.0, length=10, **CHEAP)
    promised = Anonymizer.build(chosen).guarantee().as_dict()
    same = set(found) & set(promised) - {"loss_per_author"}  # a release need not limit it
    assert same == {
        "mechanism", "epsilon", "neighbours", "input_size", "vocabulary_size", "length",
        "loss_per_word", "loss_per_document",
    }  # fmt: skip
    assert {name: found[name] for name in same} == {name: promised[name] for name in same}
    assert found["loss_per_author"] == pytest.approx(4 * promised["loss_per_document"])


def test_coverage_has_the_counts_and_its_warning(record):
    found = record("coverage", "texts.csv", *WORDS)
    assert "Do not publish" in found.pop("note")
    assert found.pop("sample")["documents"] == 3
    assert found == {
        "documents": 3, "empty": 1, "tokens": 6, "known": 2, "unknown": 1, "left_out": 3,
        "problems": [],
    }  # fmt: skip


def test_a_vocabulary_is_built_and_shown(record):
    options = ["--min-df", "1", "--vectors", "vectors.txt", "--out", "made.txt"]
    built = record("vocabulary", "build", "texts.csv", *options)
    digest = f"sha256:{terms_digest(['cat', 'train'])}"
    assert built == {
        "out": "made.txt", "documents": 3, "vocabulary_size": 2, "vocabulary_digest": digest,
    }  # fmt: skip
    shown = record("vocabulary", "show", "made.txt")
    assert (shown["vocabulary_size"], shown["vocabulary_digest"]) == (2, digest)
    assert {"key": "documents", "value": "3"} in shown["header"]
    assert record("vocabulary", "show", "terms.txt")["header"] is None
    vocabulary = ["--vocabulary", "made.txt", "--vectors", "vectors.txt", "--neighbours", "1"]
    Path("others.csv").write_text("text\nthe train\n")
    release = record("anonymize", "others.csv", *vocabulary, "--out", "out")
    assert release["guarantee"]["vocabulary_digest"] == digest


def test_verify_gives_the_losses_as_the_guarantee_does(record, call):
    made = record("anonymize", "texts.csv", *WORDS, "--out", "out")["guarantee"]
    found = record("verify", "out", "--vectors", "vectors.txt")
    for key in ("loss_per_word", "loss_per_document", "private", "checksum"):
        assert found[key] == made[key]
    assert (found["verified"], found["documents"]) == (True, 3)
    Path("out/vocabulary.txt").write_text("other\n")
    code, out, err = call("verify", "out", "--vectors", "vectors.txt", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["verified"] is False


def test_audit_nests_the_guarantee(record):
    found = record("audit", "--quick", *WORDS, "--loss", 3, "--samples", 1000)
    assert found["passed"] is True
    chosen = Settings.from_preset(loss=3.0, **CHEAP)
    assert found["guarantee"] == Anonymizer.build(chosen).guarantee().as_dict()


def test_ledgers(record, call):
    created = record("ledger", "create", "l", "--budget", "12.5")
    assert created == {
        "path": "l", "documents": {"budget": 12.5}, "authors": None, "head": Ledger("l").origin,
    }  # fmt: skip
    assert record("ledger", "show", "l")["runs"] == []
    verified = {"verified": True, "runs": 0, "documents": 0, "head": created["head"]}
    assert record("ledger", "verify", "l") == {**verified, "runs_since_head": None}
    again = record("ledger", "verify", "l", "--head", created["head"])
    assert again == {**verified, "runs_since_head": 0}
    code, out, err = call("ledger", "verify", "l", "--head", "f" * 64, "--json")
    assert (code, out) == (1, "")
    assert "set back" in err


def test_the_cache(record, empty_cache):
    assert record("cache", "path") == {"path": str(empty_cache)}
    record("bounds", *WORDS)
    kept = len(list(empty_cache.iterdir()))
    assert kept > 0
    assert record("cache", "clear") == {"forgotten": kept}
    assert record("cache", "clear") == {"forgotten": 0}


def leaves(command, path=()):
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name, sub in command.commands.items():
        yield from leaves(sub, (*path, name))


COMMANDS = dict(leaves(cli.app))


def has(command, name):
    return any(option.name == name for option in command.params)


@pytest.mark.parametrize(
    "name", sorted(set(COMMANDS) - {"init", "example", "completion", "report", "serve"})
)
def test_every_command_that_prints_figures_has_json(name):
    assert has(COMMANDS[name], "as_json")


RESULT_ALONE = {
    "cache path", "codebook show", "vocabulary show", "ledger show", "completion", "language list",
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_but_those_that_only_print_has_quiet(name):
    assert has(COMMANDS[name], "quiet") is (name not in RESULT_ALONE)


def test_quiet_prints_nothing_if_files_are_written(call):
    for arguments in (
        ["anonymize", "texts.csv", *WORDS, "--out", "out"],
        ["vocabulary", "build", "texts.csv", "--min-df", "1", "--out", "v.txt"],
        ["codebook", "build", "texts.csv", "--private", "--out", "c"],
        ["ledger", "create", "l", "--budget", "3"],
        ["ledger", "verify", "l"],
        ["example"],
        ["init"],
        ["cache", "clear"],
    ):
        assert call(*arguments, "-q") == (0, "", ""), arguments
