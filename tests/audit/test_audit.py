"""The audit: passes what is in order, fails on every program that is broken on purpose."""

import json
import os
import sys
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pytest
from broken import BROKEN, GRADED, WORDS, caught, declared, remade, sound, table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from syntf import cli
from syntf.audit import audit, draws
from syntf.audit import table as tables
from syntf.audit.distinguisher import lower_bound
from syntf.audit.finding import Finding
from syntf.audit.sampler import preimages
from syntf.audit.subject import ALL, TOP, Recording, outputs_at, part
from syntf.core.errors import SyntfError
from syntf.core.progress import silent
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer

RNG = np.random.default_rng(2018)
DOCS = Path(__file__).parents[2] / "docs" / "audit.md"
CHECKS = "table sampler draws replay vocabulary distinguisher guarantee".split()


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
def test_a_program_in_order_passes_every_check(chosen):
    found = {
        finding.check: (finding.outcome, finding.faults)
        for finding in audit(sound(**chosen), draws=200_000)
    }
    assert found == dict.fromkeys(CHECKS, ("passed", []))


def test_what_a_quick_audit_leaves_out_it_says():
    findings = {finding.check: finding for finding in audit(sound(), quick=True, draws=50_000)}
    assert {finding.outcome for finding in findings.values()} == {"passed"}
    assert "cache" not in findings["guarantee"].tried
    assert "50,000 draws" in findings["draws"].tried


@pytest.mark.parametrize("name", BROKEN)
def test_every_broken_program_is_caught(name, trust):
    found = caught(name)
    assert {*declared(name)} <= {*found}, found
    trust["broken programs caught"] += 1


def test_the_five_of_the_first_demand_are_among_them():
    assert list(BROKEN)[:5] == [
        "a zero probability",
        "a reused stream",
        "an echoed unknown word",
        "a length that follows the document",
        "a loss computed for another table",
    ]


def test_the_documents_show_the_same_table():
    assert table(declared) in DOCS.read_text(encoding="utf-8")


def test_a_copied_stream_is_seen_in_the_workers_themselves():
    """Not only by what the recording misses: the words come out the same."""
    kind = type(BROKEN["a generator that forks copy"][0]().mechanism)
    (replay,) = (f for f in audit(remade(kind), draws=1000) if f.check == "replay")
    assert "a copy or a second call drew the same words again" in replay.faults


def test_a_worker_that_dies_fails_the_check():
    class Dying(Anonymizer):
        parent = os.getpid()

        def anonymize(self, texts, **more):
            if os.getpid() != self.parent:
                os._exit(3)
            return super().anonymize(texts, **more)

    (replay,) = (f for f in audit(sound(Dying), draws=1000) if f.check == "replay")
    assert replay.faults == ["RuntimeError: a forked worker failed"]


def test_parameters_that_leave_a_check_little_to_see_are_called_weak():
    subject = sound(**{**GRADED, "epsilon": 0.05})
    findings = {finding.check: finding for finding in audit(subject, draws=20_000)}
    assert findings["draws"].outcome == "weak"
    assert "20,000 draws tell ε × 0.9 from ε with a power of" in findings["draws"].limits[0]
    others = {finding.outcome for name, finding in findings.items() if name != "draws"}
    assert others == {"passed"}


@pytest.mark.parametrize("words", [["cat"], ["cat", "dog"], ["cat", "dog", "cow"]])
@pytest.mark.parametrize("chosen", [{}, GRADED])
def test_the_least_vocabularies_do_not_fail(words, chosen):
    findings = list(audit(sound(vocabulary=words, length=1, **chosen), draws=2000))
    assert [finding.faults for finding in findings] == [[]] * 7


def test_a_program_that_raises_fails_and_the_other_checks_go_on():
    class Raising(NeighbourhoodMechanism):
        def weights(self, row):
            raise MemoryError("no room")

    findings = list(audit(remade(Raising), draws=1000))
    assert [finding.check for finding in findings] == CHECKS
    assert findings[0].faults == ["MemoryError: no room"]
    assert next(f for f in findings if f.check == "vocabulary").outcome == "passed"


# Its parts


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.01, 200), st.integers(10, 62))
@settings(max_examples=25)
def test_edges_account_for_every_integer_of_a_sound_sampler(count, outputs, epsilon, bits):
    rng = np.random.default_rng(count)
    near = np.argsort(rng.random((1, outputs)), axis=1)[:, :count]
    for make in (
        lambda: ExponentialMechanism(rng.random((1, outputs)), epsilon=epsilon, total_bits=bits),
        lambda: NeighbourhoodMechanism(near, outputs=outputs, epsilon=epsilon, total_bits=bits),
    ):
        try:
            mechanism = make()
        except SyntfError:  # too fine for so small a total
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


def test_one_integer_in_two_to_the_62_that_is_drawn_wrong_is_seen():
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


def test_outputs_at_refuses_a_sampler_that_reads_otherwise():
    class Deaf(NeighbourhoodMechanism):
        def sample(self, rows, **more):
            return super().sample(rows)

    class Greedy(NeighbourhoodMechanism):
        def sample(self, rows, *, source):
            source(8)
            return super().sample(rows, source=source)

    for kind, message in ((Deaf, "without reading"), (Greedy, "asked for 8 bytes, not for 40")):
        with pytest.raises(RuntimeError, match=message):
            outputs_at(kind([[0]], outputs=3, epsilon=1.0), 0, np.arange(5))


def test_a_part_has_the_rows_of_the_whole():
    for mechanism in (graded(6, 9, 8.0), flat(6, 9, 8.0)):
        some = part(mechanism, [4, 1], epsilon=8.0)
        assert some.weights(0).tolist() == mechanism.weights(4).tolist()
        assert some.weights(1).tolist() == mechanism.weights(1).tolist()


def test_the_extremes_of_a_large_graded_table_are_found_without_expanding_it(monkeypatch):
    monkeypatch.setattr(tables, "ENTRIES", 0)
    monkeypatch.setattr(tables, "SAMPLE", 10)
    for epsilon in (0.1, 12.0, 150.0):
        mechanism = graded(3000, 25, epsilon)
        finding, measured = tables.table(mechanism, quick=False, stages=silent)
        assert (finding.faults, measured.complete) == ([], True)
        assert len(measured.rows) < 60
        assert measured.ratio == mechanism.ratio
        high, low = (
            int(mechanism.weights(row)[measured.output]) for row in (measured.high, measured.low)
        )
        assert Fraction(high, low) == mechanism.ratio


@pytest.mark.parametrize("change", [1, -1, 2**62, -(2**61)])
def test_a_row_that_sums_to_something_else_is_seen(change):
    class Odd(NeighbourhoodMechanism):
        def weights(self, row):
            weights = super().weights(row)
            weights[0] += change if row == 2 else 0
            return weights

    odd = Odd([[1], [2], [1], [2]], outputs=3, epsilon=0.1)
    finding, _ = tables.table(odd, quick=False, stages=silent)
    assert "1 rows do not sum to the total" in finding.faults


def test_a_ratio_above_or_below_that_of_the_rows_is_refused():
    for factor, message in ((Fraction(9, 10), "more than is reported"), (2, "no two rows differ")):
        mechanism = flat(9, 12, 4.0)
        mechanism.ratio *= factor
        finding, _ = tables.table(mechanism, quick=False, stages=silent)
        assert len(finding.faults) == 1
        assert message in finding.faults[0]


@given(st.integers(2, 60), st.integers(1000, 10**6), st.floats(0.1, 3))
def test_cells_are_never_too_rare_and_leave_nothing_out(outputs, count, spread):
    weights = np.exp(spread * np.random.default_rng(outputs).normal(size=outputs))
    truth = weights / weights.sum()
    other = weights**1.1 / (weights**1.1).sum()
    for cell, chances in (
        (draws.singly(truth, count), truth),
        (draws.pooled(truth, other, count), other),
    ):
        expected = np.bincount(cell, chances) * count
        assert cell.min() == 0
        assert len(expected) == 1 or expected.min() >= draws.EXPECTED * (1 - 1e-9)
        assert expected.sum() == pytest.approx(count)
    assert draws.pooled(truth, other, count).max() < draws.CELLS


def test_the_power_that_is_claimed_is_the_power_there_is():
    """By simulation, where it is neither none nor certain."""
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


def test_draws_that_fit_are_accepted_as_often_as_they_should_be():
    truth = np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    cell = draws.singly(truth, 5000)
    values = [
        draws.p_value(found, truth, cell) for found in RNG.multinomial(5000, truth, size=4000)
    ]
    for level in (0.5, 0.1, 0.01):
        assert abs(np.mean(np.array(values) < level) - level) < 5 * (level / 4000) ** 0.5


def test_the_bound_on_the_loss_is_that_of_clopper_and_pearson():
    one, other = np.array([900, 100]), np.array([20, 980])
    found = lower_bound([[one, one], [other, other]], 0)
    # At the ends of its intervals, what was seen or more extreme has just the error allowed.
    error = draws.ERROR / (3 * 2 * 4)  # three bounds, two intervals, four events
    chances = np.linspace(0.001, 0.999, 1_000_000)
    least = chances[binom.sf(899, 1000, chances) <= error].max()
    most = chances[binom.cdf(20, 1000, chances) > error].max()
    assert found == pytest.approx(log(least / most), abs=1e-3)


def test_the_bound_never_exceeds_the_loss_of_a_sound_mechanism_and_comes_near():
    mechanism = flat(3, 20, 4.0)
    rows = [mechanism.weights(row) / mechanism.total for row in range(2)]
    worst = int(np.argmax(np.log(rows[0] / rows[1])))
    bounds = []
    for _ in range(100):
        counts = [list(RNG.multinomial(50_000, row, size=2)) for row in rows]
        bounds.append(lower_bound(counts, worst))
    assert max(bounds) < mechanism.loss
    assert min(bounds) > 0.8 * mechanism.loss


def test_a_recording_repeats_itself_but_for_what_is_flipped():
    def played(flip=None):
        source = Recording(flip)
        return np.frombuffer(source(24) + source(16), dtype="<u8")

    assert (played() == played()).all()
    for block in range(5):
        for mask, bits in ((TOP, 1 << 63), (ALL, (1 << 64) - 1)):
            differ = (played() ^ played((block, mask))).tolist()
            assert differ == [bits * (place == block) for place in range(5)]


def test_a_fault_is_noted_once():
    finding = Finding("a", "b", "c")
    finding.require(False, "d")
    finding.require(False, "d")
    finding.limits.append("e")
    finding.confirm("f")
    assert finding.as_dict() == {
        "check": "a", "outcome": "failed", "tried": "b", "catches": "c", "results": [],
        "limits": ["e"], "faults": ["d"],
    }  # fmt: skip


# The command


def call(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["syntf", "audit", "--samples", "50000", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    captured = capsys.readouterr()
    assert captured.err == ""
    return caught.value.code, captured.out


def test_the_command_examines_the_parameters_given(capsys, monkeypatch, tmp_path):
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
    assert out.count("passed  ") == 7
    assert "ε = 6, 100,000 inputs, 34 outputs, 20" in " ".join(out.split())
    assert out.endswith("\nAll 7 checks passed.\n")


def test_the_findings_for_programs(capsys, monkeypatch):
    made = sound()
    monkeypatch.setattr(Anonymizer, "build", lambda *given, **named: made)
    code, out = call(capsys, monkeypatch, "--json")
    record = json.loads(out)
    assert (code, record["passed"]) == (0, True)
    assert [check["check"] for check in record["checks"]] == CHECKS
    assert record["guarantee"]["loss_per_document"] == pytest.approx(60)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_command_fails_on_a_broken_program(capsys, monkeypatch, form):
    make, _ = BROKEN["a loss computed for another table"]
    broken = make()
    monkeypatch.setattr(Anonymizer, "build", lambda *given, **named: broken)
    code, out = call(capsys, monkeypatch, *form)
    assert code == 1
    assert "rows differ by 20.09: more than is reported" in " ".join(out.split())
    if form:
        assert json.loads(out)["passed"] is False
    else:
        assert "FAILED: table, distinguisher, guarantee. Do not release with this program" in out
