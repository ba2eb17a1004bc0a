"""Limit how often one address may send requests."""

import time
from collections import OrderedDict
from collections.abc import Callable


class RateLimiter:
    """A token bucket for each address.

    Each bucket fills with `rate` requests per second and holds at most one second's worth. At
    most `MAX_ADDRESSES` buckets are kept; the address that was silent longest is dropped first.

    Examples
    --------
    >>> clock = iter([0.0, 0.0, 0.0, 0.5]).__next__
    >>> limiter = RateLimiter(2, clock)
    >>> [limiter.take("a") for _ in range(4)]
    [0.0, 0.0, 0.5, 0.0]
    """

    MAX_ADDRESSES = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> float:
        """Take one request from the bucket of an address.

        Returns 0 if the request is allowed, else the seconds to wait until it would be.
        """
        capacity = max(1.0, self.rate)
        now = self._clock()
        level, last_time = self._buckets.get(address, (capacity, now))
        level = min(capacity, level + (now - last_time) * self.rate)
        allowed = level >= 1
        self._buckets[address] = (level - allowed, now)
        self._buckets.move_to_end(address)
        if len(self._buckets) > self.MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self.rate
