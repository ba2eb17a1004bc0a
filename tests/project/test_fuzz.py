"""A small part of ``make fuzz``: every reader and ``transform`` on damaged inputs."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inputs import DOCUMENTS, damaged
from syntf.core.errors import SyntfError
from syntf.inputs.formats import parquet
from targets import CSV, TARGETS, Trials, Words, result_or_refusal

FEW_EXAMPLES = settings(
    max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module", autouse=True)
def trials():
    """Stop the process that tries Parquet files."""
    yield
    Trials.end()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_readers_accept_damaged_input_or_refuse_it_in_one_line(target, trust):
    """Try the well-formed inputs, then damaged ones."""

    def try_input(raw):
        with tempfile.TemporaryDirectory() as folder:
            target.run(raw, Path(folder))
        trust["inputs fuzzed in the tests"] += 1

    for seed in [*target.seeds, b""]:
        try_input(seed)
    FEW_EXAMPLES(given(damaged(target.seeds))(try_input))()


@FEW_EXAMPLES
@given(st.lists(DOCUMENTS, min_size=1, max_size=40))
def test_every_document_yields_n_words(texts):
    Words.check(texts)


@pytest.mark.parametrize("text", ["\0", "\ud800", "a" * 1_000_000, "cat " * 200_000, "\u202e" * 9,
                                  b"\xff" * 1000, "é\u0301" * 1000, ""], ids=range(8))  # fmt: skip
def test_extreme_documents_yield_n_words(text):
    Words.check([text, "cat"])


def test_targets_detect_unexpected_errors_and_bad_messages(tmp_path):
    """An error of another kind is a fault; so is a message that is empty, long or has two lines."""
    for error in (KeyError("x"), SyntfError("a\nb"), SyntfError(""), SyntfError("x" * 1000)):

        def fail(error=error):
            raise error

        with pytest.raises((KeyError, AssertionError)):
            result_or_refusal(fail)


def test_a_parquet_file_that_aborts_its_reader_is_refused(tmp_path):
    """A file is read only if another process could read it."""
    good, bad = next(t for t in TARGETS if t.name == "parquet").seeds[0], b"PAR1" + CSV + b"PAR1"
    for raw, expected in ((good, True), (bad, False), (good[:-9] + b"\xff" + good[-8:], False)):
        (tmp_path / "x.parquet").write_bytes(raw)
        assert parquet.survives(tmp_path / "x.parquet", 3) is expected
        assert Trials.survives(tmp_path / "x.parquet", 3) is expected
