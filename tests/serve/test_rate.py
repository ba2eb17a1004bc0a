"""The rate limiter with a clock that the test moves."""

from hypothesis import given
from hypothesis import strategies as st

from syntf.serve.rate import RateLimiter


@given(
    rate=st.floats(0.5, 50),
    gaps=st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_no_period_exceeds_the_rate(rate, gaps):
    """In any period t, at most rate·t + max(1, rate) requests are allowed."""
    now, passed = 0.0, []
    bucket = RateLimiter(rate, lambda: now)
    for gap in gaps:
        now += gap
        if bucket.take("a") == 0:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            allowed = rate * (passed[last] - passed[first]) + max(1, rate)
            assert last - first + 1 <= allowed + 1e-6


@given(rate=st.floats(0.5, 50))
def test_a_request_is_allowed_after_the_returned_wait(rate):
    now = 0.0
    bucket = RateLimiter(rate, lambda: now)
    while not (seconds := bucket.take("a")):
        pass
    now += seconds * 1.0001
    assert bucket.take("a") == 0


def test_addresses_do_not_share_a_bucket():
    bucket = RateLimiter(1, lambda: 0.0)
    assert [bucket.take("a"), bucket.take("b")] == [0, 0]
    assert bucket.take("a") == 1


def test_the_number_of_addresses_is_bounded():
    bucket = RateLimiter(1, lambda: 0.0)
    for number in range(RateLimiter.MAX_ADDRESSES + 50):
        bucket.take(str(number))
    assert len(bucket._buckets) == RateLimiter.MAX_ADDRESSES
    assert str(RateLimiter.MAX_ADDRESSES + 49) in bucket._buckets
    assert "0" not in bucket._buckets
