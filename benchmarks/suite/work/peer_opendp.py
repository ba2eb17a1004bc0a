"""Draw with OpenDP's noisy maximum over the cosines of a word to all words."""

from collections.abc import Callable, Sequence

import opendp.prelude as dp

from suite.work.cosines import read_cosines
from suite.work.spell import spell


def prepare(epsilon: str, vectors: str, words: str) -> Callable[[], dict[str, float]]:
    dp.enable_features("contrib", "floating-point")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    select = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 / float(epsilon))
    rated = read_cosines(vectors, words)

    def draw(some: Sequence[str]) -> None:
        for word in some:
            select(rated[word])

    return spell(list(rated), draw)
