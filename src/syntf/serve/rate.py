"""How often one address may ask."""

import time
from collections import OrderedDict
from collections.abc import Callable


class Rate:
    """A bucket for each address that fills with `rate` requests a second, up to as many.

    The addresses remembered are bounded; the one that was silent longest is forgotten first.

    Examples
    --------
    >>> clock = iter([0.0, 0.0, 0.0, 0.5]).__next__
    >>> rate = Rate(2, clock)
    >>> [rate.wait("a"), rate.wait("a"), rate.wait("a"), rate.wait("a")]
    [0.0, 0.0, 0.5, 0.0]
    """

    MOST = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Take one request from the bucket: 0, or the seconds until there is one."""
        full = max(1.0, self.rate)
        now = self._clock()
        there, before = self._buckets.get(address, (full, now))
        there = min(full, there + (now - before) * self.rate)
        allowed = there >= 1
        self._buckets[address] = (there - allowed, now)
        self._buckets.move_to_end(address)
        if len(self._buckets) > self.MOST:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - there) / self.rate
