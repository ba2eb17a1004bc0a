"""Tests of the benchmark suite: ratios, spread, the order of rounds, workers and figures."""

import doctest
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import work
from suite import figures, page, process, rows
from suite.figures import Spread, line
from suite.parts import (
    cluster,
    corpus,
    drawing,
    evaluation,
    fitted,
    limits,
    peers,
    service,
    startup,
    tables,
    versions,
)
from suite.place import Place
from suite.process import Unavailable, Worker, once, whole, worker
from suite.rows import Measured, Results, Row, measure
from suite.work import spell, texts, write_letters


def measured(key, *seconds, **more):
    """Return a measured row with these seconds in its rounds."""
    rounds = [{"seconds": s, "cpu": s, "peak": 100.0, **more} for s in seconds]
    return Measured(key, key, "words" if "amount" in more else "", rounds)


def results(*found):
    return Results({row.key: row for row in found})


@pytest.mark.parametrize("module", [figures, page])
def test_doctests_of_the_suite(module):
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried >= 3


def test_ratios_compare_times_of_the_same_round():
    ours, other = measured("ours", 2.0, 9.0, 4.0), measured("other", 1.0, 3.0, 4.0)
    (figure,) = figures.compared("k", "t", ours, other, must=3.0, aim=1.0)
    assert figure.values == [2.0, 3.0, 1.0]
    assert figure.spread == (2.0, 1.0, 3.0)
    assert figure.meets(2.0)
    assert not figure.meets(1.99)
    more = replace(figure, better="more")
    assert more.meets(2.0)
    assert not more.meets(2.01)
    assert figures.compared("k", "t", ours, measured("other")) == []


def test_rate_is_amount_per_processor_second():
    row = Measured("k", "t", "words", [{"seconds": 9.0, "cpu": 2.0, "peak": 1.0, "amount": 10.0}])
    assert row.values("rate") == [5.0]


def test_rounds_are_interleaved(monkeypatch):
    done, ended = [], []

    class Fake:
        def __init__(self, command, env):
            self.name = command[0]

        def round(self):
            done.append(self.name)
            if self.name == "breaks" and done.count("breaks") == 2:
                raise Unavailable("it broke")
            return {"seconds": 1.0, "cpu": 1.0}

        def end(self):
            ended.append(self.name)
            return 77.0

    monkeypatch.setattr(rows, "Worker", Fake)
    monkeypatch.setattr(rows, "whole", lambda command, env: done.append(command[0]) or {"n": 1.0})
    messages = []
    found = measure(
        [
            Row("a", "a", ["a"], "kept", 3, warm=True),
            Row("b", "b", ["b"], "whole", 2),
            Row("breaks", "breaks", ["breaks"], "kept", 3),
            Row("gone", "gone", missing="not installed"),
        ],
        messages.append,
    )
    assert done == ["a", "a", "b", "breaks", "a", "b", "breaks", "a"]
    assert ended == ["a", "breaks"]
    assert messages[:2] == ["a, warming up", "a, round 1"]
    assert found["a"].values("peak") == [77.0] * 3
    assert len(found["b"].rounds) == 2
    assert (found["breaks"].missing, found["breaks"].rounds) == ("it broke", [])
    assert (found["gone"].missing, found["gone"].rounds) == ("not installed", [])
    assert found["never asked for"].rounds == []


def test_time_and_peak_memory_of_a_process():
    """Measure from a small process: Linux counts the memory of the parent."""
    script = "import time; held = b'x' * (150 << 20); time.sleep(0.2)"
    measure = (
        "import json, sys; from suite.process import whole; "
        "print(json.dumps(whole([sys.executable, '-c', sys.argv[1]], {})))"
    )
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    done = subprocess.run(
        [sys.executable, "-c", measure, script], cwd=benchmarks, capture_output=True, check=True
    )
    took = json.loads(done.stdout)
    assert took["seconds"] >= 0.2
    assert took["cpu"] < took["seconds"] + 0.2
    assert 150 <= took["peak"] < 200
    with pytest.raises(Unavailable, match=r"^ended with 3: a reason$"):
        whole([sys.executable, "-c", "import sys; print('a reason'); sys.exit(3)"], {})


def test_worker_prepares_once_and_answers_each_round(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(3_500_000))
    running = Worker(worker("bare", "read", path), {})
    assert [running.round()["amount"] for _ in range(3)] == [3.5] * 3
    assert running.end() > 10
    found = once(worker("bare", "read", path), {})
    assert found["amount"] == 3.5
    assert set(found) == {"amount", "seconds", "cpu", "peak"}


def test_failure_of_a_worker_is_reported(tmp_path):
    with pytest.raises(Unavailable, match=r"FileNotFoundError.*nothing"):
        once(worker("bare", "read", tmp_path / "nothing"), {})
    with pytest.raises(Unavailable, match="No module named 'suite"):
        Worker(worker("no"), {})
    with pytest.raises(Unavailable, match="ended without an answer: dead"):
        Worker([sys.executable, "-c", "print('dead', file=__import__('sys').stderr)"], {})


def test_worker_that_hangs_is_stopped(monkeypatch):
    monkeypatch.setattr(process, "LIMIT", 0.1)
    with pytest.raises(Unavailable, match=r"^no answer within 0\.1 s$"):
        Worker([sys.executable, "-c", "import time; time.sleep(60)"], {})


def test_reason_of_an_error_is_one_line():
    assert work.reason(LookupError("\n****\n  Resource not found.\n more")) == (
        "LookupError: Resource not found."
    )
    assert work.reason(ValueError()) == "ValueError"


def test_words_are_drawn_until_the_time_of_a_round_is_over(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(spell.time, "process_time", lambda: next(clock) * 0.5)
    drawn = []
    draw = spell.spell(list("abcde"), drawn.extend, batch=2)
    assert draw() == {"amount": 5}  # at 0.5, 1.0 and 1.5 s of two
    assert draw() == {"amount": 5}
    assert "".join(drawn) == "abcdeabcde"


def test_corpus_is_repeated_the_given_number_of_times(tmp_path):
    place = Place(tmp_path, tmp_path, lambda text: None)
    (tmp_path / "news-1.csv").write_bytes(b'text\none\n"two\nlines"\n')
    assert place.news(3).read_bytes() == b"text\n" + 3 * b'one\n"two\nlines"\n'
    assert place.ten().read_text(encoding="utf-8").count("\n") == 11


def test_figures_of_a_corpus():
    found = results(
        measured("corpus/default/1", 3.0, 2.0, 4.0),
        measured("corpus/count/1", 2.0, 2.0, 2.0),
        measured("corpus/ten", 1.0, 1.0),
        measured("corpus/default/10", 21.0, 25.0, 19.0),
        measured("corpus/words/1", 3.0),
        measured("corpus/words/10", 30.0),
    )
    made = {figure.key: figure for figure in corpus.figures(found)}
    assert made["corpus/default"].values == [1.5, 1.0, 2.0]
    assert (made["corpus/default"].must, made["corpus/default"].aim) == (1.0, 0.25)
    million = 1e6 / corpus.DOCUMENTS
    fitted = line([1, 1, 1, 10, 10, 10], [3.0, 2.0, 4.0, 21.0, 25.0, 19.0])
    low, slope, high = made["corpus/default/slope"].values
    assert slope == pytest.approx(fitted.slope * million)
    assert high - slope == slope - low == pytest.approx(fitted.slope_error * million)
    assert made["corpus/default/fixed"].spread.middle == pytest.approx(fitted.intercept)
    ends = [fitted.intercept + fitted.slope * times for times in (1, 10)]
    farthest = 100 * max(abs(3.0 / ends[0] - 1), abs(21.0 / ends[1] - 1))
    assert made["corpus/default/distance"].values == [pytest.approx(farthest)]
    assert made["corpus/default/distance"].must == 5.0
    assert made["corpus/memory-10"].values == [100.0]
    assert set(made) == {
        "corpus/default", "corpus/default/fixed", "corpus/default/slope",
        "corpus/default/distance", "corpus/memory-1", "corpus/memory-10",
    }  # fmt: skip


def test_line_is_that_of_weighted_least_squares():
    sizes, times = [1, 1, 1, 10, 10, 100], [2.1, 1.9, 2.3, 14.0, 15.5, 130.0]
    expected, covariance = np.polyfit(sizes, times, 1, w=1 / np.array(times), cov=True)
    fitted = line(sizes, times)
    assert (fitted.slope, fitted.intercept) == pytest.approx(tuple(expected))
    assert (fitted.slope_error, fitted.intercept_error) == pytest.approx(
        tuple(np.sqrt(np.diag(covariance)))
    )


def test_drawing_is_compared_with_the_fastest_other_mechanism():
    found = results(
        measured("drawing/default", 1.0, 2.0, amount=1_560_000.0),
        measured("drawing/peer-slow", 1.0, 1.0, amount=10.0),
        measured("drawing/peer-fast", 1.0, 2.0, amount=1000.0),
        measured("drawing/peer-mldp-syntf", 1.0, 1.0, amount=1e9),
        Measured("drawing/peer-gone", "gone", "words", [], "it cannot be installed"),
    )
    ours, recorded = drawing.figures(found)
    assert ours.values == [1560.0, 1560.0]
    assert ours.title.endswith("against drawing/peer-fast")
    assert recorded.values == [100.0, 50.0]
    assert (recorded.must, recorded.better) == (100.0, "more")


def test_versions_are_compared_by_processor_time(tmp_path, monkeypatch):
    monkeypatch.setattr(versions, "_version", lambda env: "0.1.0" if "PYTHONPATH" in env else "9")
    for name in ("news-1.csv", "news.jsonl"):
        (tmp_path / name).write_text("text\none\n", encoding="utf-8")
    place = Place(tmp_path, tmp_path / "kept", lambda text: None)
    assert versions.groups(place) == []
    (listed,) = versions.groups(replace(place, earlier="old/src"))
    made = {row.key: row for row in listed}
    assert [row.key for row in listed[:2]] == ["versions/start/earlier", "versions/start/now"]
    assert made["versions/csv/earlier"].env["PYTHONPATH"] == "old/src"
    assert "PYTHONPATH" not in made["versions/csv/now"].env
    assert "default" in made["versions/csv/earlier"].command
    assert "words" in made["versions/csv/now"].command
    assert made["versions/verify/now"].command[-1] in made["versions/csv/now"].command
    both = results(measured("versions/csv/now", 3.0), measured("versions/csv/earlier", 2.0))
    (figure,) = versions.figures(both)
    assert (figure.key, figure.values, figure.must) == ("versions/csv", [1.5], 1.1)


def test_texts_beyond_ascii_are_compared_without_start_up():
    found = results(
        measured("corpus/document/1", 3.0), measured("corpus/ten", 1.0),
        measured("corpus/accents/1", 4.0), measured("corpus/verify/1", 1.5),
    )  # fmt: skip
    made = {figure.key: figure for figure in corpus.figures(found)}
    assert made["corpus/accents"].values == [1.5]
    assert made["corpus/verify"].values == [0.5]
    assert "corpus/cyrillic" not in made


def test_other_letters_take_as_many_bytes(tmp_path):
    source, path = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("text\n" + "an ace\n" * 40, encoding="utf-8")
    write_letters.prepare("accents", str(source), str(path))
    assert path.read_text(encoding="utf-8").splitlines()[:2] == ["text", "àn àcé"]
    assert 0 <= path.stat().st_size - source.stat().st_size < 20


@pytest.mark.parametrize(
    "part",
    [cluster, corpus, drawing, evaluation, fitted, limits, service, startup, tables, versions],
)
def test_part_without_rounds_has_no_figures(part):
    assert part.figures(Results()) == []
    assert part.TITLE
    assert part.NOTE


def test_all_parts_list_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(
        peers, "install", lambda place, package: "no wheel" if package == "opendp" else ""
    )
    written = ("news-1.csv", "news-accents.csv", "news-cyrillic.csv", "words.txt", "glove.txt")
    for name in (*written, "word2vec.txt", "draws.txt", "news-labelled.csv", "news.parquet"):
        (tmp_path / name).write_text("text\none\n", encoding="utf-8")
    place = Place(
        tmp_path, tmp_path / "kept", lambda text: None, "data", times=(1, 10, 100), rounds=4
    )
    found = [
        row
        for part in (cluster, corpus, drawing, evaluation, fitted, limits, service, startup, tables)
        for rows in part.groups(place)
        for row in rows
    ]
    made = {row.key: row for row in found}
    assert len(made) == len(found)
    assert all(row.command or row.missing for row in found)
    assert (tmp_path / "news-100.csv").stat().st_size == len("text\n") + 100 * len("one\n")
    assert "corpus/count/10" in made
    assert "corpus/count/100" not in made
    assert made["drawing/peer-opendp"].missing == "no wheel"
    assert made["drawing/peer-diffprivlib"].missing == ""
    rounds = {key: row.rounds for key, row in made.items()}
    assert (rounds["corpus/default/1"], rounds["corpus/default/10"]) == (4, 3)
    assert (rounds["tables/product/5000"], rounds["tables/product/25000"]) == (3, 4)
    assert (rounds["corpus/default/100"], rounds["tables/paper-measure/100000"]) == (1, 1)
    both = {made[f"tables/{row}/25000"].env["OMP_NUM_THREADS"] for row in ("product", "paper-draw")}
    assert both == {str(os.cpu_count())}
    assert made["evaluation/tune"].command[3:4] == ["tune"]
    assert str(tmp_path / "news-labelled.csv") in made["evaluation/tune"].command
    assert made["evaluation/reproduce"].command[3:6] == ["reproduce", "--quick", "--data-home"]
    assert made["service/words-ledger"].command[-2:] == ["words", "ledger"]
    assert [part.groups(replace(place, times=(1, 10))) for part in (evaluation, cluster)] == [
        []
    ] * 2
    assert made["corpus/paper/1"].env == {"SYNTF_CACHE": str(tmp_path / "kept" / "cache")}


def test_a_cluster_needs_java_and_pyspark(tmp_path, monkeypatch):
    place = Place(tmp_path, tmp_path, lambda text: None, times=(1, 100))
    (tmp_path / "news.parquet").write_bytes(b"")
    monkeypatch.setattr(cluster.shutil, "which", lambda name: None)
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    assert cluster.groups(place)[0][0].missing == "needs Java and PySpark"
    monkeypatch.setattr(cluster.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(cluster, "find_spec", lambda name: name)
    assert cluster.groups(place)[0][0].missing == ""


def test_figures_of_service_and_cluster_are_those_of_their_rounds():
    found = results(
        measured("service/document", 3.0, per_second=9000.0, slowest=101.0),
        measured("cluster/two", 500.0, faster=1.91, amount=10.0),
    )
    rate, slowest = service.figures(found)
    assert (rate.values, rate.unit, rate.meets(rate.must)) == ([9000.0], "", True)
    assert (slowest.values, slowest.unit, slowest.meets(slowest.must)) == ([101.0], "ms", False)
    (faster,) = cluster.figures(found)
    assert (faster.values, faster.meets(faster.must)) == ([1.91], True)


@pytest.mark.slow
def test_a_service_is_loaded_in_a_process_of_its_own(tmp_path):
    took = once(worker("answer", "document", "ledger"), {"SYNTF_CACHE": str(tmp_path)})
    assert took["per_second"] > 10
    assert took["slowest"] > 0
    assert 0 < took["cpu"] < 2 * took["seconds"] + 1
    assert 50 < took["peak"] < 1000


def test_measuring_process_loads_no_large_library(python):
    """Linux counts its memory into the peak of every process that it starts."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import bench; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'syntf', 'polars')))"
    )
    whole([python, "-c", script, str(process.WORK.parent)], {})


def test_spread_is_median_minimum_and_maximum():
    assert figures.spread([4.0, 1.0, 2.0, 3.0]) == Spread(2.5, 1.0, 4.0)


def test_texts_are_read_unchanged(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('text\none\n\n"two\n""lines"""\n""\n', encoding="utf-8")
    assert texts.read_texts(str(path)) == ["one", "", 'two\n"lines"', ""]


def test_limits_apply_to_one_size_of_vocabulary():
    found = results(
        measured("tables/product/5000", 1.0),
        measured("tables/paper-measure/5000", 5.0),
        measured("tables/product/25000", 2.0, 4.0),
        measured("tables/paper-measure/25000", 6.0, 6.0),
        measured("tables/paper-measure-numpy/25000", 20.0),
    )
    made = {figure.key: figure for figure in tables.figures(found)}
    assert (made["tables/paper-5000"].values, made["tables/paper-5000"].must) == ([5.0], None)
    limited = made["tables/paper-25000"]
    assert (limited.values, limited.must, limited.aim) == ([3.0, 1.5], 4.0, 2.0)
    assert made["tables/numpy"].values == [10.0]
    assert made["tables/memory-25000"].values == [100.0, 100.0]
