"""The program in a shell: exit codes, completion, pipes, and terminals of any width."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from rich.table import Table

from syntf.cli import app as cli
from syntf.cli import exits, output
from syntf.cli.exits import Exit
from syntf.core.errors import Refused, SyntfError, TableError
from syntf.releases.job import release

SCRIPT = "from syntf.cli import main; main()"
posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def process(*arguments, script=SCRIPT, **options):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, **options)


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


# How commands end


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (SyntfError("bad"), Exit.USAGE, "syntf: bad\n"),
        (Refused("no"), Exit.REFUSED, "syntf: no\n"),
        (TableError("row"), Exit.USAGE, "syntf: row\n"),
        (click.UsageError("what?"), Exit.USAGE, "syntf: what?\n"),
        (click.ClickException("odd"), Exit.USAGE, "syntf: odd\n"),
        (OSError(28, "No space left"), Exit.USAGE, "syntf: No space left\n"),
        (OSError(13, "Denied", "x.csv"), Exit.USAGE, "syntf: Denied (x.csv)\n"),
        (MemoryError(), Exit.USAGE, "syntf: not enough memory\n"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "syntf: interrupted\n"),
        (BrokenPipeError(32, "Broken pipe"), Exit.CLOSED, ""),
    ],
)
def test_every_error_has_an_exit_code_and_one_line(call, monkeypatch, error, code, line):
    def stop(context):
        raise error

    monkeypatch.setattr(cli.app.commands["example"], "invoke", stop)
    found, out, err = call("example")
    assert (found, out, err.lstrip("\n")) == (code, "", line)


def test_bug_has_its_own_code_and_quotes_no_text(call, monkeypatch):
    def stop(context):
        raise KeyError("oops")

    monkeypatch.setattr(cli.app.commands["example"], "invoke", stop)
    code, out, err = call("example")
    assert (code, out) == (Exit.FAULT, "")
    assert "oops" not in err
    assert re.fullmatch(r"syntf: a bug in syntf \(KeyError in .*\): please report it\n", err)


def test_help_and_docs_list_every_code(call):
    out = call("--help")[1]
    docs = Path(__file__).parents[2].joinpath("docs", "cli.md").read_text(encoding="utf-8")
    assert set(exits.MEANINGS) == set(Exit)
    for code, meaning in exits.MEANINGS.items():
        assert re.search(rf"^ +{code.value}  {re.escape(meaning)}$", out, re.MULTILINE)
        assert f"| {code.value} | {meaning} |" in docs


def test_docs_list_every_command(call):
    docs = Path(__file__).parents[2].joinpath("docs", "cli.md").read_text(encoding="utf-8")
    for name, command in cli.app.commands.items():
        assert f"syntf {name}" in docs
        for sub in getattr(command, "commands", {}):
            assert f"syntf {name} {sub}" in docs


@pytest.mark.parametrize("command", ["bounds", "language list", "verify"])
def test_docs_list_the_keys_of_json(call, tmp_path, command):
    arguments = command.split()
    if command == "verify":
        (tmp_path / "texts.csv").write_text("text\nthe bus was late\n", encoding="utf-8")
        release(tmp_path / "texts.csv", tmp_path / "release")
        arguments.append(str(tmp_path / "release"))
    docs = Path(__file__).parents[2].joinpath("docs", "cli.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{command}` \| (.*) \|$", docs, re.MULTILINE)
    for key in json.loads(call(*arguments, "--json")[1]):
        assert f"`{key}`" in row


def test_every_command_is_under_a_heading():
    listed = [name for names in cli.COMMANDS.values() for name in names]
    assert sorted(listed) == sorted(cli.app.commands)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["anonymise"], "No such command 'anonymise'. Did you mean 'anonymize'?"),
        (["ledger", "shwo"], "Did you mean 'show'? See: syntf ledger --help"),
        (["bounds", "--lenght", "3"], "--length"),
        (["anonymize"], "Missing argument 'INPUT...'. See: syntf anonymize --help"),
        (["example", "--froce"], "Did you mean '--force'?"),
    ],
)
def test_mistyped_names_get_a_suggestion(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_missing_column_gets_a_suggestion(call, tmp_path):
    (tmp_path / "t.csv").write_text(
        "text," + ",".join(f"column{i}" for i in range(30)) + f"\na{',' * 30}\n"
    )
    code, _, err = call("coverage", "t.csv", "--text", "txet")
    assert code == 2
    assert "column18 and 11 more; did you mean 'text'?" in err
    assert "column19" not in err


@posix
def test_closed_pipe_is_not_reported_as_a_bug():
    script = "import sys; sys.argv[1:] = ['anonymize', '--help']; " + SCRIPT
    done = subprocess.run(
        f"{sys.executable} -c \"{script}\" | true; echo ${{PIPESTATUS[0]}}",
        shell=True, executable=shutil.which("bash"), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() in ("0", "141")  # 0 if all was written before the pipe closed
    assert done.stderr == ""


def test_closed_pipe_while_printing_raises(monkeypatch):
    with pytest.raises(BrokenPipeError):
        output.screen().on_broken_pipe()


def test_anonymize_does_not_import_evaluation(tmp_path):
    (tmp_path / "vectors.txt").write_text("cat 1 2\ndog 2 1\ncar 0 1\n")
    (tmp_path / "terms.txt").write_text("cat\ndog\ncar\n")
    (tmp_path / "texts.csv").write_text("text\nthe cat\n")
    script = (
        "import sys\nfrom syntf.cli import main\n"
        "try: main()\nfinally: print('modules:', *sys.modules)"
    )
    options = ["--vectors", "vectors.txt", "--vocabulary", "terms.txt", "--out", "out"]
    done = process("anonymize", "texts.csv", *options, "-q", script=script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    modules = set(done.stdout.partition("modules:")[2].split())
    assert "syntf.cli.commands.anonymize" in modules
    assert not modules & {"sklearn", "matplotlib", "syntf.evaluation", "syntf.audit"}


def test_processes_of_tests_can_be_interrupted():
    script = "import signal, sys; sys.exit(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


@posix
def test_processes_of_tests_can_be_interrupted_in_a_background_shell():
    """Background shells start programs with SIGINT ignored, as after `trap '' INT`."""
    name = f"{__file__}::test_processes_of_tests_can_be_interrupted"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# Completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_the_shell_accepts(call, tmp_path, shell):
    code, out, err = call("completion", shell)
    assert (code, err) == (0, "")
    assert f"_SYNTF_COMPLETE={shell}_complete" in out
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(out)
        assert subprocess.run([program, "-n", script], timeout=60).returncode == 0


def test_unknown_shell_is_refused(call):
    assert call("completion", "tcsh")[0] == 2


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("syntf an", ["plain,anonymize"]),
        ("syntf anonymize --shu", ["plain,--shuffle"]),
        (
            "syntf anonymize --preset ",
            [f"plain,{name}" for name in ("document", "sentiment", "words", "accurate", "paper")],
        ),
        ("syntf ledger ", ["plain,create", "plain,show", "plain,verify"]),
        ("syntf anonymize mai", ["file,mai"]),
    ],
)
def test_completion_of_words(tmp_path, words, found):
    (tmp_path / "syntf.toml").write_text("no TOML")  # completion reads no file
    place = len(words.split()) - (not words.endswith(" "))
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(place)}
    environment["_SYNTF_COMPLETE"] = "bash_complete"
    done = process(env={**os.environ, **environment}, cwd=tmp_path)
    assert (done.stdout.split(), done.stderr) == (found, "")


# Terminals


def drawn(table, width, capsys, monkeypatch):
    screen = output.screen
    monkeypatch.setattr(output, "screen", lambda chosen=width: screen(chosen))
    output.show(table)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", range(10, 90, 3))
def test_tables_never_cut_numbers(capsys, monkeypatch, width):
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("bound of something", "per word", "author of 50 documents"):
        table.add_column(name, justify="right")
    table.add_row("tight (promised)", "16.0000", "100,000.00")
    table.add_row("a sentence that is long enough to be folded", "8.5", "1")
    lines = drawn(table, width, capsys, monkeypatch)
    words = " ".join(lines).split()
    assert "…" not in "".join(lines)
    wanted = "tight (promised) 16.0000 100,000.00 a sentence folded 8.5 1 bound documents"
    assert set(wanted.split()) <= set(words)
    least = len("(promised)") + len("16.0000") + len("100,000.00") + 6
    assert max(map(len, lines)) <= max(width, least)


def test_wide_terminal_folds_no_cell(capsys, monkeypatch):
    table = Table("a name of some words", "b", box=None, padding=(0, 2, 0, 0))
    table.add_row("x", "y")
    assert len(drawn(table, 200, capsys, monkeypatch)) == 2


@pytest.mark.parametrize("forced", [False, True])
def test_colour_is_printed_only_if_wanted(tmp_path, forced):
    (tmp_path / "vectors.txt").write_text("cat 1 2\ndog 2 1\ncar 0 1\n")
    (tmp_path / "terms.txt").write_text("cat\ndog\ncar\n")
    options = ["--vectors", "vectors.txt", "--vocabulary", "terms.txt", "--no-config"]
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    more = {"FORCE_COLOR": "1"} if forced else {}
    done = process("explain", "cat", *options, cwd=tmp_path, env={**environment, **more})
    assert (done.returncode, "\x1b[1m" in done.stdout) == (0, forced)
    if forced:
        plain = {**environment, **more, "NO_COLOR": "1"}
        done = process("explain", "cat", *options, cwd=tmp_path, env=plain)
        assert not re.search(r"\x1b\[3\d", done.stdout)


@pytest.mark.parametrize("forced", [False, True])
def test_verify_colours_the_status_of_a_check_only_if_wanted(tmp_path, forced):
    (tmp_path / "texts.csv").write_text("text\nthe bus was late\n", encoding="utf-8")
    release(tmp_path / "texts.csv", tmp_path / "release")
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    more = {"FORCE_COLOR": "1"} if forced else {}
    done = process("verify", "release", cwd=tmp_path, env={**environment, **more})
    first, *_, last = done.stdout.splitlines()
    assert ("\x1b[32mok\x1b[0m  guarantee.json" in first) is forced
    assert ("\x1b[1;32mVerified\x1b[0m: " in done.stdout) is forced
    assert forced or last.startswith("Verified: draws from these lists lose at most 10.00")


@pytest.mark.parametrize(
    "source",
    ["raise SystemError('error return without exception set')", "raise MemoryError",
     "raise ImportError('x.so: failed to map segment from shared object')"],
)  # fmt: skip
def test_library_that_cannot_load_means_lack_of_memory(call, monkeypatch, tmp_path, source):
    (tmp_path / "library_without_room.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)

    def stop(context):
        import library_without_room  # noqa: F401

    monkeypatch.setattr(cli.app.commands["example"], "invoke", stop)
    assert call("example") == (Exit.USAGE, "", "syntf: not enough memory\n")


def test_other_system_errors_are_bugs(call, monkeypatch):
    def stop(context):
        raise SystemError("error return without exception set")

    monkeypatch.setattr(cli.app.commands["example"], "invoke", stop)
    assert call("example")[0] == Exit.FAULT
