"""Means over runs, scores relative to the original texts, and the paper's criterion."""

import json
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper.log import RunLog
from paper.published import OPTIMUM
from paper.results import Parameters, Result, Results, average
from syntf.core.errors import SyntfError

CHOICES = [OPTIMUM._replace(epsilon=float(epsilon)) for epsilon in (10, 20, 30, 40)]


def result(method, f1, parameters=None, scenario="", model="nb", runs=1):
    return Result(
        method=method,
        task="attack" if scenario else "utility",
        scenario=scenario,
        model=model,
        attacker="writeprints" if scenario else "",
        **(parameters or Parameters())._asdict(),
        runs=runs,
        f1=f1,
        precision=f1,
        recall=f1,
    )


def test_runs_are_averaged_and_others_stay_apart():
    def line(method, run, *scores, **about):
        found = [
            {"task": "utility", "scenario": "", "model": model, "attacker": "",
             "f1": f1, "precision": f1 / 2, "recall": 1.0}
            for model, f1 in zip(("nb", "svm"), scores, strict=False)
        ]  # fmt: skip
        return {"method": method, "run": run, "loss_per_word": 3.0, "scores": found, **about}

    some, other = {"epsilon": 1.0, "length": 5}, {"epsilon": 1.0, "length": 6}
    found = average(
        [line("syntf", 0, 0.1, 0.5, **some), line("syntf", 1, 0.3, **some),
         line("syntf", 0, 0.9, **other), line("original", 0, 0.8)]
    )  # fmt: skip
    nb, svm = (found.find("syntf", "utility", m, "", Parameters(1.0, 5)) for m in ("nb", "svm"))
    assert (nb.f1, nb.f1_std, nb.precision, nb.runs) == (0.2, stdev([0.1, 0.3]), 0.1, 2)
    assert (svm.f1, svm.f1_std, svm.runs) == (0.5, None, 1)
    assert list(found.by_parameters) == [Parameters(1.0, 5), Parameters(1.0, 6)]
    assert [one.method for one in found] == ["original", "syntf", "syntf", "syntf"]
    assert found.beta("syntf", "utility", "nb", "", Parameters(1.0, 5)) == pytest.approx(0.25)
    assert found.runs(Parameters(1.0, 5)) == 2
    assert found.loss(Parameters(1.0, 6)) == 3.0


def test_texts_have_no_parameters_and_vectors_only_those_of_words():
    of_words = Parameters(morphology="lemma", synsets=False)
    rows = [result("original", 0.8, scenario="a"), result("vectorised", 0.6, of_words, "a")]
    found = Results(rows)
    assert found.find("original", "attack", "nb", "a", OPTIMUM, "writeprints-random") is rows[0]
    assert found.find("vectorised", "attack", "nb", "a", OPTIMUM) is rows[1]


@given(st.lists(st.integers(1, 9), min_size=12, max_size=12))
def test_parameters_are_ranked_by_their_smallest_gain(scores):
    """β_U is 1 everywhere, so the largest attack of each choice decides; of equals, the first."""
    rows = [result("original", 1.0)] + [result("syntf", 1.0, one) for one in CHOICES]
    rows += [result("original", 10.0, scenario=name) for name in "abc"]
    largest = {}
    for place, one in enumerate(CHOICES):
        own = scores[3 * place : 3 * place + 3]
        pairs = zip("abc", own, strict=True)
        rows += [result("syntf", float(f1), one, name) for name, f1 in pairs]
        largest[one] = max(own)
    found = Results(reversed(rows))
    assert all(found.smallest_gain(one, "nb") == 1 - largest[one] / 10 for one in CHOICES)
    assert found.ranked("nb") == sorted(CHOICES, key=largest.get)


# The log


def runs_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_log_continues_after_any_cut(tmp_path):
    path = tmp_path / "new" / "runs.jsonl"
    log = RunLog(path, "one")
    log.add({"method": "syntf", "epsilon": 1.0, "run": 0}, [{"f1": 0.5}])
    log.add({"method": "syntf", "epsilon": 1.0, "run": 1}, [])
    log.add({"method": "syntf", "epsilon": 2.0, "run": 0}, [])
    assert log.finished("syntf", {"epsilon": 1.0}) == {0, 1}
    assert log.finished("original", {}) == set()
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        again = RunLog(path, "one")
        assert len(list(again)) == max(0, whole[:size].count(b"\n") - 1)
        again.add({"method": "syntf", "run": 7}, [])
        assert runs_in(path)[-1] == {"method": "syntf", "run": 7, "scores": []}
        assert [dict(run) for run in again] == runs_in(path)


def test_log_of_another_experiment_or_file_is_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    RunLog(path, "one")
    with pytest.raises(SyntfError, match="runs of another corpus"):
        RunLog(path, "other")
    path.write_text("a letter\n")
    with pytest.raises(SyntfError, match="not a log of runs"):
        RunLog(path, "one")
