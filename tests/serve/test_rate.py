"""Buckets against a clock that tests move."""

from hypothesis import given
from hypothesis import strategies as st

from syntf.serve.rate import Rate


@given(
    rate=st.floats(0.5, 50),
    gaps=st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_no_window_has_more_than_the_rate_allows(rate, gaps):
    """Over any stretch of time t, at most rate·t + max(1, rate) requests pass."""
    now, passed = 0.0, []
    bucket = Rate(rate, lambda: now)
    for gap in gaps:
        now += gap
        if bucket.wait("a") == 0:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            allowed = rate * (passed[last] - passed[first]) + max(1, rate)
            assert last - first + 1 <= allowed + 1e-6


@given(rate=st.floats(0.5, 50))
def test_after_the_wait_that_is_told_it_passes(rate):
    now = 0.0
    bucket = Rate(rate, lambda: now)
    while not (seconds := bucket.wait("a")):
        pass
    now += seconds * 1.0001
    assert bucket.wait("a") == 0


def test_addresses_do_not_share_a_bucket():
    bucket = Rate(1, lambda: 0.0)
    assert [bucket.wait("a"), bucket.wait("b")] == [0, 0]
    assert bucket.wait("a") == 1


def test_addresses_remembered_are_bounded():
    bucket = Rate(1, lambda: 0.0)
    for number in range(Rate.MOST + 50):
        bucket.wait(str(number))
    assert len(bucket._buckets) == Rate.MOST
    assert str(Rate.MOST + 49) in bucket._buckets
    assert "0" not in bucket._buckets
