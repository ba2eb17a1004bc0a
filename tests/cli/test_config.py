"""`syntf.toml`: its values are used, shown, and checked; the command line wins."""

import json
from pathlib import Path

import pytest

from syntf import read_release

BASE = 'text = "body"\ncodebook = "toy.codebook"\nvectors = "toy.npz"\n'


@pytest.fixture
def configured(place, call):
    """Write `syntf.toml` and run a command; return what it printed on standard error."""

    def run(text, *arguments, code=0, base=BASE):
        Path("syntf.toml").write_text(base + text)
        found, out, err = call(*arguments)
        assert found == code, err
        return out, err

    return run


MAKE = ("anonymize", "mails.csv", "--out", "out")


def test_values_are_used_and_shown(configured):
    text = 'loss = 3\nkeep-numbers = true\n[anonymize]\nkeep = ["topic", "year"]\nshuffle = true\n'
    _, err = configured(text, *MAKE)
    release = read_release("out")
    assert release.guarantee.loss_per_document <= 3
    assert release.guarantee.settings["numbers"] is True
    assert release.guarantee.shuffled
    assert release.documents.columns[1:3] == ["topic", "year"]
    assert err == (
        "syntf: from syntf.toml: text = body, codebook = toy.codebook, vectors = toy.npz, "
        "document-loss = 3, numbers = True, keep = ['topic', 'year'], shuffle = True\n"
    )


def test_the_command_line_wins_and_what_it_replaces_is_not_shown(configured):
    text = 'loss = 3\n[anonymize]\nkeep = ["topic"]\n'
    _, err = configured(text, *MAKE[:2], "--keep", "year", "--loss", "4", *MAKE[2:])
    assert read_release("out").documents.columns[1:3] == ["year", "pilot"]
    assert read_release("out").guarantee.loss_per_document == 4
    assert err == (
        "syntf: from syntf.toml: text = body, codebook = toy.codebook, vectors = toy.npz\n"
    )


def test_a_section_wins_over_what_is_shared(configured):
    out, _ = configured("loss = 3\n[bounds]\nloss = 4\n[explain]\nloss = 5\n", "bounds", "--json")
    assert json.loads(out)["loss_per_document"] == 4


def test_a_setting_without_an_option_of_its_own_is_used_too(configured):
    """`evaluate` and `bounds` must not measure something else than what is released."""
    Path("terms.txt").write_text("cat\ndog\ntrain\n")
    text = 'preset = "words"\nvectors = "toy.npz"\nvocabulary = "terms.txt"\n'
    text += 'keep_numbers = true\nencoding = "cp1252"\n'
    out, err = configured(text, "bounds", "--json", base="")
    assert json.loads(out)["answers"] == 3
    out, _ = configured(text, "bounds", "--json", "--set", "vocabulary=mails.csv", base="", code=2)
    out, _ = configured(text, "bounds", "--json", "--set", "max_size=2", base="")
    assert json.loads(out)["answers"] == 2
    assert "preset = words" in err


def test_json_stays_alone_on_standard_output_and_quiet_shows_values(configured):
    out, err = configured("", *MAKE, "--json")
    assert json.loads(out)["documents"] == 24
    assert err.count("\n") == 1
    out, err = configured("", *MAKE, "--quiet", "--force")
    assert (out, err.count("\n")) == ("", 1)


def test_the_help_and_a_check_of_what_others_wrote_read_no_file(configured):
    out, err = configured("no TOML at all", "anonymize", "--help")
    assert err == ""
    assert "[default: text]" in out
    configured("", *MAKE)
    out, err = configured("no TOML at all", "verify", "out", code=3)
    assert err == ""
    out, err = configured("no TOML at all", "ledger", "create", "l", "--budget", "3")
    assert err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lenght = 7", "syntf.toml has lenght, which is no option; did you mean 'length'?"),
        ("colour = 7", "syntf.toml has colour, which is no option"),
        ("[anonymise]\nkeep = []", "[anonymise], which is no command; did you mean 'anonymize'?"),
        ("[preview]\nkeep = []", "[preview], which is no command"),
        ("[anonymize]\nkep = ['who']", "has kep, which is no option; did you mean 'keep'?"),
        ("[anonymize]\nlabel = 'who'", "has label, which is no option"),
        ("out = 'here'", "out in syntf.toml must be given on the command line"),
        ("quiet = true", "quiet in syntf.toml must be given on the command line"),
        ("[anonymize]\ninsecure-seed = 1", "insecure-seed in syntf.toml must be given on the"),
        ("[anonymize]\nforce = true", "force in syntf.toml must be given on the command line"),
        ("[anonymize]\nshuffle = 'yes'", "shuffle in syntf.toml must be true or false, not 'yes'"),
        ("[anonymize]\nkeep = 'topic'", "keep in syntf.toml must be a list, such as"),
        ("length = true", "length in syntf.toml must be a text or a number, not True"),
        ("length = [7]", "length in syntf.toml must be a text or a number, not [7]"),
        ("length = 7.5", "Invalid value for '--length': '7.5' is not a valid integer"),
        ("preset = 'best'", "'best' is not one of 'document'"),
        ("length 7", "syntf.toml is not TOML: "),
        ("a = '\udcff'", "syntf.toml is not TOML: "),
    ],
)
def test_an_invalid_file_gives_one_line(place, call, text, said):
    Path("syntf.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, out, err = call(*MAKE, "--text", "body")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert not Path("out").exists()


def test_options_of_other_commands_may_be_shared(configured):
    """One file serves all commands: `label` is of evaluate and tune."""
    configured('label = "topic"\nauthor = "topic"\nauthor_loss = 50\n', *MAKE)
    assert read_release("out").guarantee.documents_per_author == 5
