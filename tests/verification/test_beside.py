"""Deriving the table on another thread while the files of a release are read."""

import subprocess
import sys
import threading

import polars as pl
import pytest
import threadpoolctl

from syntf.core import parallel, release_names, tables
from syntf.core.errors import SyntfError
from syntf.mechanism import kernels
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft as drafts
from syntf.releases.contents import writers
from syntf.report.table_summary import summarize_table
from syntf.verification import table
from syntf.verification.result import CHECKS, FAILED
from syntf.verification.verify import verify

TEXTS = ["The cat and the dog run.", "bread and cheese"]

beside = pytest.mark.skipif(
    kernels.needs_matrix_products(),
    reason="this processor has no AVX-512 VNNI, so the table is derived on the first thread",
)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release with the embedded vectors, whose table is small."""
    settings = Settings(neighbours=2, loss=4.0, max_size=70, length=9)
    anonymizer = Anonymizer.build(settings, TEXTS)
    made = tmp_path_factory.mktemp("beside") / "release"
    drafts.write(
        made, anonymizer.anonymize(TEXTS), anonymizer.vocabulary.outputs,
        tables.from_polars(pl.DataFrame({"document": range(len(TEXTS))})), anonymizer.guarantee(),
        summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=9),
    )  # fmt: skip
    return made


@beside
def test_another_thread_derives_the_table_and_leaves_matrix_products_alone(release, monkeypatch):
    """threadpoolctl on one thread and an import on another could wait for each other for ever."""
    derive, seen = table.derive_table, []

    def watched(*arguments):
        seen.append(threading.current_thread())
        return derive(*arguments)

    monkeypatch.setattr(table, "derive_table", watched)
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", lambda *_: pytest.fail("a limit"))
    with parallel.at_most(2):
        result = verify(release)
    assert result.verified
    assert seen != [threading.current_thread()]


def test_one_thread_gives_the_same_result(release):
    with parallel.at_most(1):
        alone = verify(release)
    with parallel.at_most(2):
        together = verify(release)
    assert alone.checks == together.checks
    assert [check.name for check in alone.checks][: len(CHECKS)] == list(CHECKS)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_table_that_fails_is_reported(release, monkeypatch, jobs):
    def fail(*_):
        raise SyntfError("another table")

    monkeypatch.setattr(table, "derive_table", fail)
    with parallel.at_most(jobs):
        result = verify(release)
    assert [(check.name, check.detail) for check in result.with_status(FAILED)] == [
        ("table", "another table")
    ]
    assert result.verdict == "failed"


def test_verifying_begins_without_polars():
    """The table is begun before polars is imported, which takes long."""
    code = "import sys, syntf.verification.verify; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_suffixes_of_counts_are_those_of_the_writers():
    assert tuple(end for end, _ in writers.WRITERS.values()) == release_names.COUNTS_SUFFIXES
