"""The configuration file: where it is found, what it may contain, and what has priority."""

import json
import os
import tomllib
from pathlib import Path

import click
import polars as pl
import pytest

from syntf.cli import app as cli
from syntf.cli import config
from syntf.pipeline.settings import PRESETS

TERMS = "cat dog car train music house".split()
ALL = config.configurable_commands(cli.app)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The working folder, a repository: no file above it is used."""
    folder = tmp_path / "place"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)
    (folder / "vectors.txt").write_text(
        "".join(f"{term} 1 {place} {place * place}\n" for place, term in enumerate(TERMS))
    )
    (folder / "terms.txt").write_text("\n".join(TERMS) + "\n")
    pl.DataFrame(
        {"body": ["a cat", "the train", "music"], "who": ["x", "y", "z"], "kind": ["1", "2", "3"]}
    ).write_csv("texts.csv")
    return folder


@pytest.fixture
def syntf(call):
    return call


BASE = 'text = "body"\nvocabulary = "terms.txt"\nvectors = "vectors.txt"\nneighbours = 2\n'


def write(text, path="syntf.toml"):
    Path(path).write_text(BASE + text if path.endswith("syntf.toml") else text, encoding="utf-8")


def release(syntf, *more, out="out", texts="texts.csv"):
    code, _, err = syntf("anonymize", texts, "--out", out, "--force", *more)
    assert code == 0, err
    promised = json.loads(Path(out, "guarantee.json").read_text(encoding="utf-8"))
    return promised, pl.read_parquet(Path(out, "documents.parquet")), err


# What it does


def test_command_uses_and_prints_values_of_the_file(place, syntf):
    write('loss = 3\nlength = 7\n[anonymize]\nkeep = ["who"]\nshuffle = true\n')
    promised, documents, err = release(syntf)
    assert (promised["length"], promised["shuffled"], promised["neighbours"]) == (7, True, 2)
    assert promised["loss_per_word"]["tight"] == pytest.approx(3)
    assert documents.columns == ["document", "who"]
    assert err == (
        'syntf: from syntf.toml: text = "body", vocabulary = "terms.txt", vectors = "vectors.txt", '
        'neighbours = 2, loss = 3, length = 7, keep = ["who"], shuffle = true\n'
    )


def test_command_line_wins_and_only_used_values_are_printed(place, syntf):
    write('loss = 3\nlength = 7\n[anonymize]\nkeep = ["who"]\nshuffle = true\n')
    promised, documents, err = release(
        syntf, "--length", 9, "--keep", "kind", "--no-shuffle", "--loss", 4
    )
    assert (promised["length"], promised["shuffled"]) == (9, False)
    assert promised["loss_per_word"]["tight"] == pytest.approx(4)
    assert documents.columns == ["document", "kind"]
    assert not any(word in err for word in ("length", "keep", "shuffle", "loss"))


def test_epsilon_on_the_command_line_replaces_a_configured_loss(place, syntf):
    write("loss = 3\n")
    promised, _, err = release(syntf, "--epsilon", 10)
    assert promised["epsilon"] == 10
    assert "loss" not in err


def test_section_wins_over_the_top(place, syntf):
    write("loss = 3\nlength = 7\n[anonymize]\nepsilon = 10\nlength = 8\n[bounds]\nlength = 6\n")
    promised, _, err = release(syntf)
    assert (promised["epsilon"], promised["length"]) == (10, 8)
    assert "loss" not in err
    record = json.loads(syntf("bounds", "--json")[1])
    assert (record["length"], record["loss_per_word"]["tight"]) == (6, pytest.approx(3))


def test_loss_and_epsilon_on_one_level_are_refused(place, syntf):
    write("loss = 3\nepsilon = 10\n")
    code, _, err = syntf("bounds", "-q")
    assert code == 2
    assert "\nsyntf: --epsilon and --loss exclude each other: give one of them." in err


def test_quiet_still_prints_what_came_from_the_file(place, syntf):
    write("loss = 3\n")
    code, out, err = syntf("anonymize", "texts.csv", "--out", "out", "-q")
    assert (code, out) == (0, "")
    assert err.startswith("syntf: from syntf.toml: ")
    assert err.count("\n") == 1
    assert syntf("anonymize", "texts.csv", "--text", "body", "--out", "o", "-q", "--no-config",
                 "--vocabulary", "terms.txt", "--vectors", "vectors.txt",
                 "--neighbours", "1") == (0, "", "")  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX: owners of files")
def test_file_that_others_can_write_is_ignored(place, syntf):
    write("loss = 3\n")
    Path("syntf.toml").chmod(0o666)
    assert "syntf.toml" not in syntf("bounds")[2]
    Path("syntf.toml").chmod(0o644)
    assert "syntf.toml" in syntf("bounds")[2]


def test_json_is_alone_on_standard_output(place, syntf):
    write("loss = 3\n")
    code, out, err = syntf("bounds", "--json")
    assert code == 0
    assert json.loads(out)["loss_per_word"]["tight"] == pytest.approx(3)
    assert err.startswith("syntf: from syntf.toml: ")


def test_no_config_ignores_the_file(place, syntf):
    write("no TOML at all")
    code, out, err = syntf("bounds", "--no-config", "--vocabulary", "terms.txt", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["length"] != 7
    assert syntf("bounds", "--no-config", "--config", "syntf.toml")[0] == 2


def test_help_reads_no_file(place, syntf):
    write("no TOML at all")
    code, out, err = syntf("anonymize", "--help")
    assert (code, err) == (0, "")
    assert "[default: text]" in out


def test_required_option_can_come_from_the_file(place, syntf):
    write('[anonymize]\nout = "made"\n')
    assert syntf("anonymize", "texts.csv", "-q")[0] == 0
    assert (place / "made" / "guarantee.json").is_file()


@pytest.mark.parametrize(
    ("value", "terms"), [("1", ["car"]), ("0.7", ["car", "dog"]), ("1.0", ["car", "cat", "dog"])]
)
def test_count_and_share_differ(place, syntf, value, terms):
    """1.0 means all texts, 1 means one text."""
    pl.DataFrame({"body": ["cat dog", "cat dog", "cat car"]}).write_csv("texts.csv")
    Path("syntf.toml").write_text(
        'text = "body"\nvectors = "vectors.txt"\nfit-vocabulary = true\nneighbours = 1\n'
        f"min-df = 1\nmax-df = {value}"
    )
    release(syntf)
    assert sorted(Path("out/vocabulary.txt").read_text().split()) == terms


# Where it is looked for


def test_nearest_file_is_used_and_paths_are_relative_to_it(place, syntf, monkeypatch):
    write("length = 7\n")
    monkeypatch.chdir("sub/deep")
    promised, _, err = release(syntf, texts="../../texts.csv")
    assert promised["length"] == 7
    assert f"syntf: from {place / 'syntf.toml'}: " in err
    (place / "sub" / "syntf.toml").write_text(
        'text = "body"\nlength = 8\nvocabulary = "../terms.txt"\nvectors = "../vectors.txt"'
    )
    promised, _, err = release(syntf, texts="../../texts.csv")
    assert (promised["length"], promised["vocabulary_size"]) == (8, len(TERMS))
    assert f"from {place / 'sub' / 'syntf.toml'}: " in err


def test_file_above_a_repository_is_ignored(place, syntf):
    (place.parent / "syntf.toml").write_text("length = 7\n")
    code, out, err = syntf("bounds", "--vocabulary", "terms.txt", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["length"] != 7


def test_file_is_searched_up_to_the_root(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "syntf.toml").write_text("length = 7\n")
    assert config.find(deep) == config.Config(tmp_path / "syntf.toml", {"length": 7})


def test_pyproject_is_used_if_it_has_a_table_for_syntf(place, syntf):
    (place / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (place / "sub" / "pyproject.toml").write_text("[tool.other]\nlength = 1\n")
    assert config.find(place / "sub") is None
    (place / "pyproject.toml").write_text("[tool.syntf]\nlength = 7\n[tool.syntf.bounds]\ndelta=1")
    found = config.find(place / "sub")
    assert found == config.Config(place / "pyproject.toml", {"length": 7, "bounds": {"delta": 1}})
    write("")
    assert config.find(place / "sub").path == place / "syntf.toml"


def test_named_file_is_the_only_one_read(place, syntf):
    write("length = 7\n")
    write('length = 8\nvocabulary = "terms.txt"\n', "other.toml")
    code, out, err = syntf("bounds", "--config", "other.toml", "--json")
    assert (code, json.loads(out)["length"]) == (0, 8)
    assert err == 'syntf: from other.toml: length = 8, vocabulary = "terms.txt"\n'
    assert "none.toml" in syntf("bounds", "--config", "none.toml")[2]
    Path("pyproject.toml").write_text("[tool.other]\n")
    assert "no table tool.syntf" in syntf("bounds", "--config", "pyproject.toml")[2]


# What may stand in it


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lenght = 7", "syntf.toml: unknown key 'lenght'; did you mean 'length'?"),
        ("min_df = 7", "unknown key 'min_df'; did you mean 'min-df'?"),
        ("colour = 7", "unknown key 'colour'"),
        ("[anonymise]\nkeep = []", "unknown section [anonymise]; did you mean 'anonymize'?"),
        ("[bounds]\nkeep = []", "unknown key 'keep' in [bounds]"),
        ("[anonymize]\nkep = ['who']", "unknown key 'kep' in [anonymize]; did you mean 'keep'?"),
        (
            "[evaluate]\nkep = ['who']",
            "unknown key 'kep' in [evaluate]",
        ),  # a section of another command
        ("keep = ['who']", "'keep' belongs in a section: [anonymize]"),
        ("out = 'here'", "'out' belongs in a section"),
        ("author = 'who'", "'author' belongs in a section"),
        ("force = true", "'force' is for the command line only"),
        ("quiet = true", "'quiet' is for the command line only"),
        ("[anonymize]\ninsecure-seed = 1", "'insecure-seed' is for the command line only"),
        ("[anonymize]\nresume = true", "'resume' is for the command line only"),
        ("[anonymize]\nshuffle = 'yes'", "'shuffle' must be true or false, not 'yes'"),
        ("length = true", "'length' must be text or a number, not True"),
        ("length = [7]", "'length' must be text or a number, not [7]"),
        ("[anonymize]\nkeep = [1, ['who']]", "'keep' must be a list of names, not ['who']"),
        ("length = 7.5", "Invalid value for '--length': '7.5' is not a valid integer"),
        ("preset = 'best'", "'best' is not one of 'document'"),
        ("length 7", "syntf.toml is not TOML: "),
        ("[verify]\nvectors = 'x'", "unknown section [verify]"),
    ],
)
def test_invalid_file_gives_one_line(place, syntf, text, said):
    Path("syntf.toml").write_text(text)
    code, out, err = syntf("anonymize", "texts.csv", "--text", "body", "--out", "out")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert "syntf.toml" in err
    assert not Path("out").exists()


def test_verify_reads_no_configuration(place, syntf):
    """A file beside a release must not influence its verification."""
    Path("syntf.toml").write_text("vectors = 'evil.npz'\n")
    assert syntf("verify", ".")[2].startswith("syntf: there is no guarantee.json in .")
    assert syntf("verify", "typo")[2].startswith("syntf: there is no folder typo")


def test_only_shared_options_may_stand_at_the_top():
    shared = config.shared(ALL)
    assert {"text", "loss", "vectors", "label", "keep-numbers"} <= set(shared)
    assert not {"keep", "out", "author", "shuffle", "force", "quiet", "json", "config"} & set(
        shared
    )
    assert not any(set(options) & config.COMMAND_LINE_ONLY for options in ALL.values())


@pytest.mark.parametrize("name", ALL)
def test_every_configurable_flag_can_be_undone(name):
    for key, option in ALL[name].items():
        assert not option.is_flag or option.secondary_opts == [f"--no-{key}"], key


# syntf init


def test_init_sets_given_options_and_explains_the_others(place, syntf):
    code, out, err = syntf(
        "init", "--text", "body", "--keep", "who", "kind", "--shuffle", "--loss", 5, "--label",
        "kind", "--vocabulary", "terms.txt", "--keep-numbers", "--min-df", "0.5",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "syntf.toml" in out
    assert tomllib.loads(Path("syntf.toml").read_text(encoding="utf-8")) == {
        "text": "body", "loss": 5.0, "label": ["kind"], "vocabulary": "terms.txt",
        "keep-numbers": True, "min-df": 0.5,
        "anonymize": {"keep": ["who", "kind"], "shuffle": True}, "evaluate": {},
    }  # fmt: skip
    promised, documents, _ = release(syntf)
    assert promised["loss_per_word"]["tight"] == pytest.approx(5)
    assert documents.columns == ["document", "who", "kind"]


def test_every_commented_line_of_init_is_valid(place, syntf):
    assert syntf("init", "-q") == (0, "", "")
    text = Path("syntf.toml").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 88
    assert tomllib.loads(text) == {"anonymize": {}, "evaluate": {}}
    lines = [
        line.removeprefix("# ").replace("…", '"x"')
        if " = " in line and not line.startswith("# Of the")
        else line
        for line in text.splitlines()
    ]
    table = tomllib.loads("\n".join(lines))
    sections = {name: table.pop(name) for name in ("anonymize", "evaluate")}
    assert set(table) | set(sections["anonymize"]) == set(ALL["anonymize"]) | set(
        key for key in ALL["evaluate"] if key in config.shared(ALL)
    )
    search = {"queries", "relevance", "id", "query-columns", "relevance-columns"}
    assert set(sections["evaluate"]) == {"author", "out", "scrub", *search}
    for key, value in table.items():  # the values shown are the defaults
        option = config.shared(ALL)[key]
        if key == "document-loss":
            assert value == PRESETS["document"]["document_loss"]
        elif value not in ("x", True):
            assert value == option.type(option.default)


def test_the_loss_per_document_is_the_first_choice_that_init_writes(place, syntf):
    assert syntf("init", "-q") == (0, "", "")
    lines = Path("syntf.toml").read_text(encoding="utf-8").splitlines()
    assert next(line for line in lines if " = " in line) == "# document-loss = 10.0"


@pytest.mark.parametrize("name", ['a"b', "a\\b", "\u00fc\U0001f600", "a\x7fb\x01", "#", "x\ny"])
def test_init_escapes_any_name(place, syntf, name):
    assert syntf("init", "--text", name)[0] == 0
    assert tomllib.loads(Path("syntf.toml").read_text(encoding="utf-8"))["text"] == name


def test_init_overwrites_nothing(place, syntf):
    Path("syntf.toml").write_text("# mine")
    code, _, err = syntf("init")
    assert (code, err) == (
        2,
        "syntf: syntf.toml exists already and was not changed: edit it, or delete it first\n",
    )
    assert Path("syntf.toml").read_text() == "# mine"
    Path("syntf.toml").unlink()
    Path("syntf.toml").symlink_to("elsewhere")
    assert syntf("init")[0] == 2
    assert not Path("elsewhere").exists()
    Path("syntf.toml").unlink()
    Path("pyproject.toml").write_text("[tool.syntf]\n")
    assert "pyproject.toml has a table tool.syntf already" in syntf("init")[2]
    assert "syntf.toml" not in os.listdir()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--loss", "1", "--epsilon", "1"], "exclude each other"),
        (["--keep", "text"], "the text column 'text' cannot be released"),
        (["--text", "body", "--keep", "who", "body"], "the text column 'body' cannot"),
        (["--preset", "best"], "'best' is not one of"),
    ],
)
def test_init_refuses_options_that_anonymize_refuses(place, syntf, options, said):
    code, _, err = syntf("init", *options)
    assert code == 2
    assert said in err
    assert not Path("syntf.toml").exists()


def test_init_has_every_option_that_anonymize_can_be_configured_with():
    own = {config.key_of(o) for o in cli.app.commands["init"].params if isinstance(o, click.Option)}
    assert own == {*ALL["anonymize"], "label", "quiet"} - {"out"}
