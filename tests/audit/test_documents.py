"""The audit of whole documents passes correct programs and fails on every broken one."""

import json
from pathlib import Path

import numpy as np
import pytest
from broken_documents import BROKEN, caught, declared, sound, table

from syntf.audit import audit
from syntf.audit.document_release import SEVERAL
from syntf.audit.documents import TOGETHER, _noise_fit
from syntf.codebook.plan import pilot_size

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
CHECKS = "mechanism sampler draws replay guarantee release".split()


def test_a_correct_program_passes_every_check():
    results = list(audit(sound(document_loss=6.0), draws=50_000, quick=True))
    assert [result.check for result in results] == CHECKS
    assert [result.faults for result in results] == [[]] * len(CHECKS)
    assert {result.outcome for result in results} == {"passed"}


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [{}, {"pilot": False}, {"document_loss": 45.0}])
def test_a_whole_audit_passes(chosen):
    results = list(audit(sound(**chosen), draws=100_000))
    assert [result.faults for result in results] == [[]] * len(CHECKS)


@pytest.mark.parametrize("several", [2, 3, 7, 60, 101, 5000])
def test_uniform_noise_fits_and_uneven_noise_does_not(several):
    rng = np.random.default_rng(several)
    true = np.array([several // 2])
    answers = rng.integers(0, several, size=(40_000, 1))
    assert _noise_fit(answers, true, several) > 1e-6
    if several > 3:
        assert _noise_fit(answers // 2, true, several) < 1e-6


def test_releases_of_the_audit_have_a_pilot():
    assert pilot_size(TOGETHER) > 0
    assert pilot_size(SEVERAL) > 0


QUICK = ("a pilot that is drawn twice", "a list sharpened by true answers")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
             for name in BROKEN],
)  # fmt: skip
def test_every_broken_program_is_caught(name, trust):
    found = caught(name)
    assert {*declared(name)} <= {*found}, found
    trust["broken programs caught"] += 1


def test_the_docs_show_the_same_table():
    assert table(declared) in DOCS.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_audits_whole_documents(call):
    code, out, _ = call("audit", "--document-loss", 6, "--quick", "--samples", 50_000, "--json")
    record = json.loads(out)
    assert (code, record["passed"]) == (0, True)
    assert [check["check"] for check in record["checks"]] == CHECKS
    assert record["guarantee"]["loss_per_document"] == 6.0
    assert np.all([check["outcome"] == "passed" for check in record["checks"]])
