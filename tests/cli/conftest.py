"""A folder with a small corpus and public data of its own, and methods that are prepared once."""

from dataclasses import replace

import click
import numpy as np
import polars as pl
import pytest

from syntf import cli, rows
from syntf.release import job
from syntf.release import verify as checking
from syntf.words.vectors import WordVectors
from tests.conftest import WORDS

PREPARED = {}


@pytest.fixture(autouse=True)
def prepared_once(monkeypatch):
    """Prepare the same method once for all tests."""

    def build(settings, texts=()):
        key = repr(settings)
        if settings.fit_vocabulary is not None or "toy" in key:
            return rows.build(settings, texts)
        if key not in PREPARED:
            PREPARED[key] = rows.build(settings)
        return PREPARED[key]

    for module in (job, checking):
        monkeypatch.setattr(module, "build", build)


@pytest.fixture
def place(tmp_path, monkeypatch, toy_codebook):
    """The working folder: mails on four topics, a codebook, vectors, and nothing else."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    normal = np.random.default_rng(20180711).normal(size=(len(WORDS), 8))
    np.savez("toy.npz", words=np.array(WORDS), vectors=normal)
    vectors = WordVectors.read("toy.npz")
    replace(toy_codebook, vectors_digest=vectors.digest).save("toy.codebook")
    words = ["cat", "train", "bread", "music"] * 6
    pl.DataFrame(
        {
            "id": [f"{number * 7 % 24:03}" for number in range(24)],
            "body": [f"The {word} is the {word}!" for word in words],
            "topic": words,
            "year": ["2024", "2025"] * 12,
        }
    ).write_csv("mails.csv")
    return folder


TOY = ("--codebook", "toy.codebook", "--vectors", "toy.npz")


@pytest.fixture
def anonymize(place, call):
    """Run `syntf anonymize mails.csv` on the small public data."""

    def run(*more, out="out"):
        return call("anonymize", "mails.csv", "--text", "body", *TOY, "--out", out, *more)

    return run


@pytest.fixture
def refused(place, call):
    """Run a command that must fail with one line and change no file; return the line."""

    def run(*arguments, code=2):
        before = sorted(place.iterdir())
        found, out, err = call(*arguments)
        assert (found, out) == (code, ""), err
        assert err.startswith("syntf: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        assert sorted(place.iterdir()) == before
        return err.removeprefix("syntf: ").rstrip("\n")

    return run


def all_commands():
    """Every command with its path, groups too."""

    def walk(command, path):
        yield path, command
        for name in getattr(command, "list_commands", lambda _: [])(click.Context(command)):
            yield from walk(command.get_command(click.Context(command), name), (*path, name))

    return dict(walk(cli.app, ()))
