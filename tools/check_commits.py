"""Check that commit messages follow Conventional Commits (https://www.conventionalcommits.org).

    python tools/check_commits.py                  # all commits since the rule was introduced
    python tools/check_commits.py --message FILE   # one message, as a commit-msg hook

A message starts with ``type(scope): what changed``. The scope may be left out. A blank line
separates the first line from the body, which says why where that is not obvious.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TYPES = ("feat", "fix", "perf", "docs", "test", "refactor", "build", "ci", "chore", "revert")
HEADER = re.compile(rf"(?:{'|'.join(TYPES)})(?:\([a-z0-9][a-z0-9 ,/_-]*\))?!?: \S.*")
LONGEST = 100
LAST_FREE_COMMIT = "ad6bf8d2b7619550d099a2cbb3a2bdde4f9517f7"
"""Commits up to this one were written before the rule."""


def faults(message: str) -> list[str]:
    """List what is wrong with a commit message.

    >>> faults("fix(cli): do not import rich with --quiet")
    []
    >>> faults("And what it comes to")[0][:31]
    "the first line must read 'type("
    """
    first, *rest = message.strip().splitlines() or [""]
    if first.startswith(("fixup! ", "squash! ", "Merge ", 'Revert "')):
        return []
    found = []
    if not HEADER.fullmatch(first):
        found.append(
            f"the first line must read 'type(scope): what changed', with a type of "
            f"{', '.join(TYPES)} and a scope in lower case (or none)"
        )
    if len(first) > LONGEST:
        found.append(f"the first line has {len(first)} characters; at most {LONGEST} are allowed")
    if first.endswith("."):
        found.append("the first line must not end with a full stop")
    if rest and rest[0].strip():
        found.append("a blank line must separate the first line from the body")
    return found


def git(*arguments: str) -> str:
    """Return what a git command prints; raise CalledProcessError if it fails."""
    command = ["git", *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def commits_to_check() -> list[str]:
    """List the commits that are subject to the rule, newest first.

    A shallow clone or a rewritten history lacks the last commit before the rule. Then the rule
    starts with the commit that added this file.
    """
    try:
        git("merge-base", "--is-ancestor", LAST_FREE_COMMIT, "HEAD")
        return git("rev-list", "--no-merges", f"{LAST_FREE_COMMIT}..HEAD").split()
    except subprocess.CalledProcessError:
        here = str(Path(__file__).resolve())
        added = git("log", "--diff-filter=A", "--format=%H", "--", here).split()
        if not added:
            return []
        return [*git("rev-list", "--no-merges", f"{added[-1]}..HEAD").split(), added[-1]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--message", type=Path, help="Check the message in this file only.")
    message_file = parser.parse_args(arguments).message
    if message_file:
        lines = message_file.read_text(encoding="utf-8").splitlines()
        messages = {"this commit": "\n".join(line for line in lines if not line.startswith("#"))}
    else:
        try:
            git("rev-parse", "HEAD")
        except (OSError, subprocess.CalledProcessError):
            print("commit messages not checked: this folder is not a git repository")
            return 0
        messages = {
            commit[:10]: git("log", "-1", "--format=%B", commit) for commit in commits_to_check()
        }
    wrong = 0
    for name, message in messages.items():
        for fault in faults(message):
            print(f"{name}: {message.splitlines()[0] if message else ''!r}: {fault}")
            wrong += 1
    if not message_file:
        print(f"{len(messages)} commit messages checked, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
