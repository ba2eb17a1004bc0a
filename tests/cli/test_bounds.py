import json
import re
from functools import partial

import pytest

from syntf.core.exact import shown
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy import bounds
from syntf.privacy.accounting import accounts

TERMS = "cat dog car train music house river bread football winter school doctor".split()


@pytest.fixture
def syntf(call, monkeypatch, tmp_path):
    """Run `syntf bounds` with a few terms; return exit code, output and errors."""
    (tmp_path / "terms.txt").write_text("\n".join(TERMS) + "\n")
    monkeypatch.chdir(tmp_path)
    return partial(call, "bounds", "--vocabulary", "terms.txt")


def built(**chosen):
    return Anonymizer.build(Settings.from_preset(vocabulary=TERMS, **chosen)).mechanism


def test_delta_adds_a_table_and_changes_nothing_else(syntf):
    options = ["--preset", "paper", "--epsilon", 4, "--length", 90, "--documents", 4]
    code, without, _ = syntf(*options)
    again, out, err = syntf(*options, "--delta", 1e-6)
    assert (code, again, err) == (0, 0, "")
    assert out.startswith(without + "\n")
    assert all(len(line) <= 80 for line in out.splitlines())


def test_smaller_bounds_follow_n_times_the_loss(syntf):
    options = ["--neighbours", 1, "--loss", 3, "--length", 90, "--documents", 4]
    _, out, _ = syntf(*options, "--delta", 1e-5)
    table = out.split("\n\n")[1].splitlines()
    found = accounts(built(neighbours=1, loss=3.0), [90, 360], 1e-5)
    assert table[0].split() == "ε at δ = 1e-05 document of 90 author of 4 documents".split()
    assert len(table) == 1 + len(found)
    for line, account in zip(table[1:], found, strict=True):
        name = "n·ℓ, at δ = 0" if account.method == "n·ℓ" else account.method
        numbers = [shown(each.epsilon, 2) for each in account.epsilons]
        assert line.split() == [*name.split(), *numbers]
    assert float(table[-1].split()[-1]) < float(table[1].split()[-1].replace(",", ""))


def test_bounds_of_graded_ratings_are_shown(syntf):
    options = ["--preset", "paper", "--epsilon", 2, "--length", 90]
    _, out, _ = syntf(*options, "--delta", 1e-6)
    assert "--device" not in out
    assert re.search(r"^Rényi, all pairs of rows +[\d.,]+ +[\d.,]+ *$", out, re.MULTILINE)


def test_it_says_if_no_bound_is_smaller(syntf):
    options = ["--preset", "paper", "--epsilon", 80, "--length", 5, "--documents", 2]
    _, out, _ = syntf(*options, "--delta", 1e-9)
    table = out.split("\n\n")[1].splitlines()
    assert len(table) == 3
    loss = built(preset="paper", epsilon=80.0).loss
    assert table[1].split() == [*"n·ℓ, at δ = 0".split(), shown(5 * loss, 2), shown(10 * loss, 2)]
    assert table[2] == "No method gives an ε smaller than n·ℓ for these rows."


def test_it_says_which_device_compares_more_rows(syntf, monkeypatch):
    monkeypatch.setattr("syntf.privacy.accounting.MAX_CPU_WORK", 10)
    options = ["--preset", "paper", "--epsilon", 2]
    _, out, _ = syntf(*options, "--delta", 1e-6)
    assert out.endswith("Comparing all pairs of 13 rows needs --device cuda.\n")
    assert "all pairs of rows" not in out


@pytest.mark.parametrize("delta", [1e-6, None])
def test_json_contains_all_bounds(syntf, delta):
    options = ["--preset", "paper", "--epsilon", 4, "--length", 90, "--documents", 4, "--json"]
    code, out, err = syntf(*options, *(["--delta", delta] if delta else ["--figures", "drawn"]))
    assert (code, err) == (0, "")
    record = json.loads(out)
    mechanism = built(preset="paper", epsilon=4.0)
    assert (record["epsilon"], record["vocabulary_size"], record["length"]) == (4.0, 12, 90)
    assert record["loss_per_word"]["tight"] == mechanism.loss
    assert record["loss_per_document"] == bounds.document_loss(mechanism.loss, 90)
    assert record["loss_per_author"] == bounds.author_loss(mechanism.loss, 90, 4)
    assert record["document_bounds"]["standard"] == bounds.document_loss(4.0, 90)
    assert record["author_bounds"]["standard"] == bounds.author_loss(4.0, 90, 4)
    if delta is None:
        assert "accounting" not in record
        return
    assert record["delta"] == delta
    wanted = accounts(mechanism, [90, 360], delta)
    assert record["accounting"] == [
        {"method": account.method}
        | {
            unit: {"epsilon": each.epsilon, "order": each.order}
            for unit, each in zip(("document", "author"), account.epsilons, strict=True)
        }
        for account in wanted
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delta", "0"], "0.0 is not in the range 0<x<1"),
        (["--delta", "1"], "1.0 is not in the range 0<x<1"),
        (["--delta", "nan"], "delta must be a number from 0 to 1, not nan"),
        (["--delta", "much"], "'much' is not a valid float"),
        (["--device", "tpu"], "'tpu' is not one of 'cpu', 'cuda'"),
    ],
)
def test_invalid_options_are_refused_in_one_line(syntf, options, message):
    code, out, err = syntf(*options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_delta_is_refused_for_whole_documents(call):
    code, out, err = call("bounds", "--delta", 1e-6)
    assert (code, out) == (2, "")
    assert "--delta lowers nothing for whole documents" in err
