"""Random bits from a public seed, the same on every machine.

They come from SHAKE-256. They need not be secret: rows are sampled from public noisy sums.
"""

from functools import lru_cache
from hashlib import shake_256
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

NORMAL_SCALE = 4096
"""What 1 is among :meth:`Stream.normals`."""


class Stream:
    """Named sequences of random bits from one seed.

    >>> Stream(b"seed").integers("example", 4, 8).tolist()
    [216, 85, 178, 254]
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed

    def integers(self, name: str, count: int, bits: int) -> NDArray[np.int64]:
        """Return `count` integers, uniform on [0, 2**bits), for bits up to 16 or up to 63."""
        size, kind = (2, "<u2") if bits <= 16 else (8, "<u8")
        named = shake_256(len(self._seed).to_bytes(8, "little") + self._seed + name.encode())
        words = np.frombuffer(named.digest(size * count), dtype=kind)
        drawn = words >> np.array(8 * size - bits, dtype=words.dtype)
        return np.asarray(drawn, dtype=np.int64)

    def normals(self, name: str, count: int) -> NDArray[np.int16]:
        """Return normal numbers times 4096, rounded: each of 65,536 quantiles is as likely."""
        drawn: NDArray[np.int16] = _quantiles()[self.integers(name, count, 16)]
        return drawn

    def permutation(self, name: str, count: int) -> NDArray[np.intp]:
        """Return a random order of `count` things."""
        return np.argsort(self.integers(name, count, 63), kind="stable")


@lru_cache(maxsize=1)
def _quantiles() -> NDArray[np.int16]:
    """Return quantiles; none is so near the middle of two integers that machines could differ."""
    upper = [NormalDist().inv_cdf(0.5 + (i + 0.5) / 65536) for i in range(32768)]
    half = np.rint(np.array(upper) * NORMAL_SCALE).astype(np.int16)
    return np.concatenate([-half[::-1], half])
