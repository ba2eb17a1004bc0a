"""How many threads share the work."""

import os
import threading
import time

import numpy as np
import pytest
import threadpoolctl

from syntf import SynTF
from syntf.core import entropy, parallel
from syntf.core.errors import SyntfError
from syntf.mechanism import nearest
from syntf.mechanism.rating import ArrayRating

TEXTS = ["The cat and the dog", "My train is late", "", "buses, cars"] * 50


@pytest.fixture
def cores(monkeypatch):
    monkeypatch.setattr(parallel, "_cores", lambda: 8)


@pytest.mark.parametrize(
    ("jobs", "threads"), [(None, 8), (1, 1), (3, 3), (20, 20), (-1, 8), (-2, 7), (-20, 1)]
)
def test_jobs_count_as_in_scikit_learn(cores, jobs, threads):
    with parallel.at_most(jobs):
        assert parallel.threads() == threads
        with parallel.at_most(None):
            assert parallel.threads() == threads
        with parallel.at_most(2):
            assert parallel.threads() == 2
        assert parallel.threads() == threads
    assert parallel.threads() == 8


@pytest.mark.parametrize("jobs", [0, "two", 1.5])
def test_invalid_numbers_of_jobs_are_refused(jobs):
    told = f"jobs must be a whole number, at least 1 .*, not {jobs!r}"
    with pytest.raises(SyntfError, match=told), parallel.at_most(jobs):
        pass
    with pytest.raises(SyntfError, match=told):
        SynTF(n_jobs=jobs).fit([])


def test_the_limit_applies_to_its_own_thread():
    seen = []
    with parallel.at_most(1):
        other = threading.Thread(target=lambda: seen.append(parallel.threads()))
        other.start()
        other.join()
    assert seen == [parallel.threads()]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_the_number_of_cores_respects_the_affinity():
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(own)})
    try:
        assert parallel.threads() == 1
    finally:
        os.sched_setaffinity(0, own)
    assert parallel.threads() == len(own)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_at_most_the_allowed_threads_work_at_once(jobs, monkeypatch):
    monkeypatch.setattr(parallel, "BLOCK", 1)
    working, most = set(), []

    class Slow(ArrayRating):
        def levels(self, rows):
            working.add(threading.get_ident())
            most.append(len(working))
            time.sleep(0.005)
            working.discard(threading.get_ident())
            return super().levels(rows)

    ratings = np.random.default_rng(1).random((40, 3))
    with parallel.at_most(jobs):
        found = nearest.nearest(Slow(ratings), 1)
    assert max(most) == jobs
    assert found.ravel().tolist() == ratings.argmax(axis=1).tolist()


@pytest.mark.parametrize("preset", ["default", "accurate", "paper"])
def test_draws_do_not_depend_on_jobs(preset):
    chosen = {"preset": preset, "vocabulary": ["cat", "dog", "car", "train", "bus"], "length": 30}

    def drawn(jobs):
        made = SynTF(**chosen, source=entropy.Seeded(5), n_jobs=jobs)
        return made.fit_transform(TEXTS).toarray()

    assert np.array_equal(drawn(1), drawn(3))
    assert np.array_equal(drawn(1), drawn(None))


def test_the_transformer_respects_n_jobs(monkeypatch):
    seen = []
    made = SynTF(vocabulary=["cat", "dog"], length=5, n_jobs=1).fit([])
    own = made._anonymizer.anonymize
    monkeypatch.setattr(
        made._anonymizer, "anonymize", lambda texts: seen.append(parallel.threads()) or own(texts)
    )
    made.transform(["cat"])
    list(made.iter_transform(["cat"]))
    assert seen == [1, 1]


def test_the_next_thing_is_worked_on_while_the_caller_uses_the_one_before():
    begun = [threading.Event() for _ in range(3)]

    def work(number):
        begun[number].set()
        return 10 * number, threading.get_ident(), parallel.threads()

    used = []
    with parallel.at_most(2):
        for number, (result, thread, threads) in parallel.ahead(work, range(3)):
            if number < 2:
                assert begun[number + 1].wait(10)  # while this loop holds the result before
            assert thread != threading.get_ident()
            assert threads == 1  # other threads work on other things
            used.append((number, result))
    assert used == [(0, 0), (1, 10), (2, 20)]


def test_no_more_things_are_taken_than_threads_can_work_on_soon():
    taken = []

    def things():
        for number in range(100):
            taken.append(number)
            yield number

    with parallel.at_most(2):
        for number, _ in parallel.ahead(str, things()):
            assert len(taken) <= number + 6


def test_threads_that_share_blocks_use_no_others():
    seen = []
    with parallel.at_most(2):
        list(parallel.in_blocks(lambda block: seen.append(parallel.threads()), 4, 1))
        parallel.in_parallel(lambda block: seen.append(parallel.threads()), 2, 1 << 20, None)
        assert parallel.threads() == 2
    assert seen == [1] * 6


def test_products_use_one_thread_until_the_last_one_is_done():
    """Threads enter and leave in any order. A limit that each removes by itself would stay."""

    def limits():
        return {each["num_threads"] for each in threadpoolctl.threadpool_info()}

    np.ones((2, 2)) @ np.ones((2, 2))
    before = limits()
    first, second = parallel._one_thread_per_product(), parallel._one_thread_per_product()
    with first:
        second.__enter__()
        assert limits() == {1}
    assert limits() == {1}
    second.__exit__(None, None, None)
    assert limits() == before


def test_things_are_taken_by_the_thread_of_the_caller():
    """A ledger is read while things are taken, and SQLite refuses other threads."""
    takers = []

    def things():
        for number in range(3):
            takers.append(threading.get_ident())
            yield number

    with parallel.at_most(2):
        assert [thing for thing, _ in parallel.ahead(str, things())] == [0, 1, 2]
    assert set(takers) == {threading.get_ident()}


def test_threads_that_work_ahead_do_not_limit_products(monkeypatch):
    """Limiting them looks through the loaded libraries, which the caller may be loading."""
    limiting, limit = [], threadpoolctl.threadpool_limits

    def recorded(*arguments):
        limiting.append(threading.get_ident())
        return limit(*arguments)

    monkeypatch.setattr(threadpoolctl, "threadpool_limits", recorded)

    def work(number):
        parallel.for_each_block(lambda block: time.sleep(0.01), 4, 2)
        return number

    with parallel.at_most(2):
        assert [number for number, _ in parallel.ahead(work, range(4))] == [0, 1, 2, 3]
    assert limiting == [threading.get_ident()]


def test_a_single_thing_is_worked_on_by_the_thread_of_the_caller():
    with parallel.at_most(2):
        found = list(parallel.ahead(lambda _: threading.get_ident(), ["one"]))
    assert found == [("one", threading.get_ident())]


@pytest.mark.parametrize(("jobs", "quick"), [(1, True), (2, False)])
def test_slow_work_and_a_single_thread_are_not_ahead(jobs, quick):
    done = []

    def work(number):
        done.append(number)
        return threading.get_ident()

    with parallel.at_most(jobs):
        for number, thread in parallel.ahead(work, range(3), quick=quick):
            assert thread == threading.get_ident()
            assert done == list(range(number + 1))


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_before_an_error_are_given(jobs):
    with parallel.at_most(jobs):
        results = parallel.ahead(lambda number: 6 // (2 - number), range(5))
        assert [next(results), next(results)] == [(0, 3), (1, 6)]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_nothing_is_worked_on_without_things():
    with parallel.at_most(2):
        assert list(parallel.ahead(str, ())) == []


def test_work_beside_runs_on_another_thread_with_the_same_limit():
    with parallel.at_most(2):
        wait = parallel.beside(lambda: (threading.current_thread(), parallel.threads()))
        thread, threads = wait()
    assert (thread is not threading.current_thread(), threads) == (True, 2)
    assert wait()[0] is thread  # done once


@pytest.mark.parametrize(("jobs", "quick"), [(1, True), (2, False)])
def test_slow_work_and_a_single_thread_are_not_beside(jobs, quick):
    done = []
    with parallel.at_most(jobs):
        wait = parallel.beside(lambda: done.append(threading.current_thread()), quick=quick)
        assert done == []
        wait()
        wait()
    assert done == [threading.current_thread()]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_work_beside_is_raised_where_its_result_is_asked_for(jobs):
    with parallel.at_most(jobs):
        wait = parallel.beside(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        wait()
