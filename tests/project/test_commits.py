"""The check of commit messages accepts Conventional Commits and refuses everything else."""

import subprocess

import check_commits
import pytest


@pytest.mark.parametrize(
    "message",
    [
        "perf(cli): do not import rich with --quiet",
        "docs: correct the bound in neighbourhood.md to 0.022",
        "feat(spark)!: charge the ledger on the driver\n\nA retry is charged once.\n",
        'Revert "perf: draw in larger pieces"\n\nThis reverts commit 0123456.',
        "fixup! fix: close the file",
    ],
)
def test_conventional_messages_are_accepted(message):
    assert check_commits.faults(message) == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("Who is quiet waits for no screen", "the first line must read"),
        ("", "the first line must read"),
        ("fix:no space", "the first line must read"),
        ("Fix: a capital letter", "the first line must read"),
        ("fix(CLI): a scope in capital letters", "the first line must read"),
        ("fix: a full stop.", "full stop"),
        ("fix: " + "x" * 100, "at most 100"),
        ("fix: a body\nwithout a blank line", "blank line"),
    ],
)
def test_other_messages_are_refused_with_a_reason(message, fault):
    assert fault in " ".join(check_commits.faults(message))


def test_a_hook_checks_one_message_without_its_comments(tmp_path, capsys):
    path = tmp_path / "COMMIT_EDITMSG"
    path.write_text("fix: close the file\n# Please enter the commit message\n", encoding="utf-8")
    assert check_commits.main(["--message", str(path)]) == 0
    path.write_text("And what it comes to\n", encoding="utf-8")
    assert check_commits.main(["--message", str(path)]) == 1
    assert "And what it comes to" in capsys.readouterr().out


def commit(folder, message):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet",
         "--allow-empty", "--message", message],
        cwd=folder, check=True,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository whose second commit adds the check."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check_commits, "__file__", str(tmp_path / "check_commits.py"))
    subprocess.run(["git", "init", "--quiet"], check=True)
    commit(tmp_path, "A free message, from before the rule")
    (tmp_path / "check_commits.py").touch()
    subprocess.run(["git", "add", "."], check=True)
    commit(tmp_path, "ci: check commit messages")
    return tmp_path


def test_commits_since_the_check_was_added_are_checked(repository, capsys):
    assert check_commits.main([]) == 0
    commit(repository, "fix: close the file")
    assert check_commits.main([]) == 0
    assert "2 commit messages checked" in capsys.readouterr().out
    commit(repository, "And what it comes to")
    assert check_commits.main([]) == 1


def test_a_folder_without_a_repository_is_not_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert check_commits.main([]) == 0
    assert "not checked" in capsys.readouterr().out
