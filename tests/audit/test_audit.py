"""The audit passes correct programs and fails on every program that is broken on purpose."""

import json
import os
import sys
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest
from broken import (
    BROKEN,
    GRADED,
    WORDS,
    broken,
    caught,
    declared,
    sound,
    table,
    with_mechanism,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from syntf import cli
from syntf.audit import audit, draws
from syntf.audit import table as tables
from syntf.audit.distinguisher import lower_bound
from syntf.audit.release import equal_rows_probability
from syntf.audit.result import CheckResult
from syntf.audit.sampler import preimages
from syntf.audit.subject import ALL_BITS, TOP_BIT, Recording, outputs_at, part
from syntf.core.errors import SyntfError
from syntf.core.progress import silent
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(2018)
DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
CHECKS = "table sampler draws replay vocabulary distinguisher guarantee release".split()


def graded(inputs, outputs, epsilon, **more):
    return ExponentialMechanism(RNG.random((inputs, outputs)), epsilon=epsilon, **more)


def flat(inputs, outputs, epsilon, count=1, **more):
    order = np.argsort(RNG.random((inputs - 1, outputs)), axis=1)
    return NeighbourhoodMechanism(order[:, :count], outputs=outputs, epsilon=epsilon, **more)


# The whole audit


@pytest.mark.parametrize(
    "chosen",
    [{}, GRADED, {"neighbours": 3, "draws": "systematic", "weights": "topical", "length": 7}],
)
def test_a_correct_program_passes_every_check(chosen):
    found = {
        result.check: (result.outcome, result.faults)
        for result in audit(sound(**chosen), draws=200_000)
    }
    assert found == dict.fromkeys(CHECKS, ("passed", []))


def test_a_quick_audit_says_what_it_leaves_out():
    results = {result.check: result for result in audit(sound(), quick=True, draws=50_000)}
    assert {result.outcome for result in results.values()} == {"passed"}
    assert "cache" not in results["guarantee"].tried
    assert "50,000 draws" in results["draws"].tried


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_program_is_caught(name, trust):
    found = caught(name)
    assert {*declared(name)} <= {*found}, found
    trust["broken programs caught"] += 1


def test_the_first_five_broken_programs():
    assert list(BROKEN)[:5] == [
        "a zero probability",
        "entropy that is used again",
        "an unknown word that is echoed",
        "a length that depends on the document",
        "a loss computed for another table",
    ]


def test_the_docs_show_the_same_table():
    assert table(declared) in DOCS.read_text(encoding="utf-8")


def test_copied_generators_are_seen_in_the_workers():
    """The words of the workers are equal, and not only the recorded sizes are wrong."""
    kind = type(BROKEN["a generator that forks copy"][0]().mechanism)
    (replay,) = (f for f in audit(with_mechanism(kind), draws=1000) if f.check == "replay")
    assert "a copy of the program or a second call drew the same words" in replay.faults


def test_a_worker_that_dies_fails_the_check():
    class Dying(Anonymizer):
        parent = os.getpid()

        def anonymize(self, texts, **more):
            if os.getpid() != self.parent:
                os._exit(3)
            return super().anonymize(texts, **more)

    (replay,) = (f for f in audit(sound(Dying), draws=1000) if f.check == "replay")
    assert replay.faults == ["RuntimeError: a forked worker failed"]


def test_checks_without_power_are_weak():
    subject = sound(**{**GRADED, "epsilon": 0.05})
    results = {result.check: result for result in audit(subject, draws=20_000)}
    assert results["draws"].outcome == "weak"
    assert "20,000 draws tell ε × 0.9 from ε with a power of only" in results["draws"].limits[0]
    others = {result.outcome for name, result in results.items() if name != "draws"}
    assert others == {"passed"}


@pytest.mark.parametrize("words", [["cat"], ["cat", "dog"], ["cat", "dog", "cow"]])
@pytest.mark.parametrize("chosen", [{}, GRADED])
def test_the_smallest_vocabularies_do_not_fail(words, chosen):
    results = list(audit(sound(vocabulary=words, length=1, **chosen), draws=2000))
    assert [result.faults for result in results] == [[]] * 8


def test_an_error_fails_one_check_and_the_others_run():
    class Raising(NeighbourhoodMechanism):
        def weights(self, row):
            raise MemoryError("no room")

    results = list(audit(with_mechanism(Raising), draws=1000))
    assert [result.check for result in results] == CHECKS
    assert results[0].faults == ["MemoryError: no room"]
    assert next(f for f in results if f.check == "vocabulary").outcome == "passed"


# Parts of the audit


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.01, 200), st.integers(10, 62))
@settings(max_examples=25)
def test_edges_account_for_every_integer_of_a_correct_sampler(count, outputs, epsilon, bits):
    rng = np.random.default_rng(count)
    near = np.argsort(rng.random((1, outputs)), axis=1)[:, :count]
    for make in (
        lambda: ExponentialMechanism(rng.random((1, outputs)), epsilon=epsilon, total_bits=bits),
        lambda: NeighbourhoodMechanism(near, outputs=outputs, epsilon=epsilon, total_bits=bits),
    ):
        try:
            mechanism = make()
        except SyntfError:  # the total is too small for this table
            continue
        for row in range(mechanism.shape[0]):
            sizes, edges = preimages(mechanism, row)
            assert sizes.tolist() == mechanism.weights(row).tolist()
            assert edges >= np.count_nonzero(sizes) - 1


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 7), (17.0, 1), (17.0, 40), (60.0, 3)])
def test_edges_account_for_every_integer_of_a_large_row(epsilon, count):
    for mechanism in (graded(2, 1500, epsilon), flat(2, 1500, epsilon, count)):
        for row in range(2):
            assert (preimages(mechanism, row)[0] == mechanism.weights(row)).all()


def test_one_wrong_integer_of_two_to_the_62_is_seen():
    class Moved(ExponentialMechanism):
        def sample(self, rows, **more):
            source = more.pop("source")
            raw = np.frombuffer(source(8 * len(rows)), dtype="<u8")
            edge = np.uint64(int(self.weights(0)[0]) << 2)
            moved = np.where(raw == edge, edge - np.uint64(4), raw)
            return super().sample(rows, source=lambda size: moved.tobytes(), **more)

    mechanism = Moved(RNG.random((1, 9)), epsilon=5.0)
    difference = preimages(mechanism, 0)[0] - mechanism.weights(0)
    assert difference.tolist() == [1, -1, *[0] * 7]


def test_outputs_at_refuses_a_sampler_that_reads_other_bytes():
    class Deaf(NeighbourhoodMechanism):
        def sample(self, rows, **more):
            return super().sample(rows)

    class Greedy(NeighbourhoodMechanism):
        def sample(self, rows, *, source):
            source(8)
            return super().sample(rows, source=source)

    for kind, message in ((Deaf, "did not read"), (Greedy, "read 8 bytes instead of 40")):
        with pytest.raises(RuntimeError, match=message):
            outputs_at(kind([[0]], outputs=3, epsilon=1.0), 0, np.arange(5))


def test_a_part_has_the_same_rows():
    for mechanism in (graded(6, 9, 8.0), flat(6, 9, 8.0)):
        some = part(mechanism, [4, 1], epsilon=8.0)
        assert some.weights(0).tolist() == mechanism.weights(4).tolist()
        assert some.weights(1).tolist() == mechanism.weights(1).tolist()


def test_extremes_of_a_large_table_are_found_from_an_estimate(monkeypatch):
    monkeypatch.setattr(tables, "MAX_ENTRIES", 0)
    monkeypatch.setattr(tables, "SAMPLE", 10)
    for epsilon in (0.1, 12.0, 150.0):
        mechanism = graded(3000, 25, epsilon)
        result, measured = tables.check_table(mechanism, quick=False, stages=silent)
        assert (result.faults, measured.complete) == ([], True)
        assert len(measured.rows) < 60
        assert measured.ratio == mechanism.ratio
        high, low = (
            int(mechanism.weights(row)[measured.output]) for row in (measured.high, measured.low)
        )
        assert Fraction(high, low) == mechanism.ratio


@pytest.mark.parametrize("change", [1, -1, 2**62, -(2**61)])
def test_a_wrong_sum_of_a_row_is_seen(change):
    class Odd(NeighbourhoodMechanism):
        def weights(self, row):
            weights = super().weights(row)
            weights[0] += change if row == 2 else 0
            return weights

    odd = Odd([[1], [2], [1], [2]], outputs=3, epsilon=0.1)
    result, _ = tables.check_table(odd, quick=False, stages=silent)
    assert "1 rows do not sum to the total" in result.faults


def test_a_wrong_ratio_is_refused():
    for factor, message in ((Fraction(9, 10), "more than reported"), (2, "no two rows differ")):
        mechanism = flat(9, 12, 4.0)
        mechanism.ratio *= factor
        result, _ = tables.check_table(mechanism, quick=False, stages=silent)
        assert len(result.faults) == 1
        assert message in result.faults[0]


@given(st.integers(2, 60), st.integers(1000, 10**6), st.floats(0.1, 3))
def test_cells_have_enough_draws_and_contain_every_output(outputs, count, spread):
    weights = np.exp(spread * np.random.default_rng(outputs).normal(size=outputs))
    truth = weights / weights.sum()
    other = weights**1.1 / (weights**1.1).sum()
    for cell, chances in (
        (draws.singly(truth, count), truth),
        (draws.pooled(truth, other, count), other),
    ):
        expected = np.bincount(cell, chances) * count
        assert cell.min() == 0
        assert len(expected) == 1 or expected.min() >= draws.MIN_EXPECTED * (1 - 1e-9)
        assert expected.sum() == pytest.approx(count)
    assert draws.pooled(truth, other, count).max() < draws.POOLED_CELLS


def test_the_claimed_power_is_reached():
    """Checked by simulation, where the power is neither 0 nor 1."""
    mechanism, other = flat(2, 50, 6.0), flat(2, 50, 6.6)
    truth, wrong = (np.sort(m.weights(0) / m.total) for m in (mechanism, other))
    for count in (600, 900):
        cell = draws.pooled(truth, wrong, count)
        claimed = draws._power(truth, wrong, cell, count)
        bound = chi2.isf(draws.ERROR, cell.max())
        seen = []
        for one, two in ((truth, wrong), (wrong, truth)):
            found = RNG.multinomial(count, one, size=2000)
            values = np.array([draws.p_value(counts, two, cell) for counts in found])
            seen.append((values < chi2.sf(bound, cell.max())).mean())
        assert 0.01 < claimed < 0.99
        assert min(seen) > claimed - 0.06


def test_p_values_are_uniform_for_correct_draws():
    truth = np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    cell = draws.singly(truth, 5000)
    values = [
        draws.p_value(found, truth, cell) for found in RNG.multinomial(5000, truth, size=4000)
    ]
    for level in (0.5, 0.1, 0.01):
        assert abs(np.mean(np.array(values) < level) - level) < 5 * (level / 4000) ** 0.5


def test_the_lower_bound_is_that_of_clopper_and_pearson():
    one, other = np.array([900, 100]), np.array([20, 980])
    found = lower_bound([[one, one], [other, other]], 0)
    # At the ends of the intervals, results like this or more extreme have the allowed error.
    error = draws.ERROR / (3 * 2 * 4)  # three bounds, two intervals, four events
    chances = np.linspace(0.001, 0.999, 1_000_000)
    least = chances[binom.sf(899, 1000, chances) <= error].max()
    most = chances[binom.cdf(20, 1000, chances) > error].max()
    assert found == pytest.approx(log(least / most), abs=1e-3)


def test_the_lower_bound_is_below_the_loss_and_near_it():
    mechanism = flat(3, 20, 4.0)
    rows = [mechanism.weights(row) / mechanism.total for row in range(2)]
    worst = int(np.argmax(np.log(rows[0] / rows[1])))
    bounds = []
    for _ in range(100):
        counts = [list(RNG.multinomial(50_000, row, size=2)) for row in rows]
        bounds.append(lower_bound(counts, worst))
    assert max(bounds) < mechanism.loss
    assert min(bounds) > 0.8 * mechanism.loss


def test_a_recording_repeats_itself_except_for_flipped_bits():
    def played(flip=None):
        source = Recording(flip)
        return np.frombuffer(source(24) + source(16), dtype="<u8")

    assert (played() == played()).all()
    for block in range(5):
        for mask, bits in ((TOP_BIT, 1 << 63), (ALL_BITS, (1 << 64) - 1)):
            differ = (played() ^ played((block, mask))).tolist()
            assert differ == [bits * (place == block) for place in range(5)]


def test_a_fault_is_listed_once():
    result = CheckResult("a", "b", "c")
    result.require(False, "d")
    result.require(False, "d")
    result.limits.append("e")
    result.confirm("f")
    assert result.as_dict() == {
        "check": "a", "outcome": "failed", "tried": "b", "catches": "c", "results": [],
        "limits": ["e"], "faults": ["d"],
    }  # fmt: skip


def test_the_probability_of_equal_rows():
    """Compared with all pairs of outcomes of three draws among four words, and a simulation."""
    outcomes = [tuple(np.bincount(draw, minlength=4)) for draw in product(range(4), repeat=3)]
    equal = sum(one == other for one in outcomes for other in outcomes) / len(outcomes) ** 2
    assert equal_rows_probability(3, 4) == pytest.approx(equal)
    draws_ = RNG.multinomial(9, [1 / 5] * 5, size=(2, 200_000))
    observed = (draws_[0] == draws_[1]).all(axis=1).mean()
    assert equal_rows_probability(9, 5) == pytest.approx(observed, abs=8e-4)  # 5 sigma
    assert equal_rows_probability(1, 1000) == pytest.approx(1e-3)


# The command


def call(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["syntf", "audit", "--samples", "50000", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    captured = capsys.readouterr()
    assert captured.err == ""
    return caught.value.code, captured.out


def test_the_command_audits_the_given_parameters(capsys, monkeypatch, tmp_path):
    (tmp_path / "terms.txt").write_text("\n".join(WORDS))
    chosen = [
        "--vocabulary",
        str(tmp_path / "terms.txt"),
        "--loss",
        "3",
        "--length",
        "20",
        "--quick",
    ]
    code, out = call(capsys, monkeypatch, *chosen)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("passed  ") == 8
    assert "ε = 6, 100,000 input words, 34 output words, 20 words" in " ".join(out.split())
    assert out.endswith("\nAll 8 checks passed.\n")


def test_the_results_as_json(capsys, monkeypatch):
    made = sound()
    monkeypatch.setattr(Anonymizer, "build", lambda *args, **named: made)
    code, out = call(capsys, monkeypatch, "--preset", "words", "--json")
    record = json.loads(out)
    assert (code, record["passed"]) == (0, True)
    assert [check["check"] for check in record["checks"]] == CHECKS
    assert record["guarantee"]["loss_per_document"] == pytest.approx(60)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_command_fails_on_a_broken_program(capsys, monkeypatch, form):
    with broken("a loss computed for another table") as subject:
        monkeypatch.setattr(Anonymizer, "build", lambda *args, **named: subject)
        code, out = call(capsys, monkeypatch, "--preset", "words", *form)
    assert code == 1
    assert "rows differ by 20.09, more than reported" in " ".join(out.split())
    if form:
        assert json.loads(out)["passed"] is False
    else:
        assert "FAILED: table, distinguisher, guarantee. Do not release with this program" in out
