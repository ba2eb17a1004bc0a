"""Draw with diffprivlib's Exponential over cosines; one mechanism is prepared for each word."""

from collections.abc import Callable, Sequence

from diffprivlib.mechanisms import Exponential

from suite.work.cosines import read_cosines
from suite.work.spell import spell


def prepare(epsilon: str, vectors: str, words: str) -> Callable[[], dict[str, float]]:
    mechanisms = {
        word: Exponential(epsilon=float(epsilon), sensitivity=1, utility=row)
        for word, row in read_cosines(vectors, words).items()
    }

    def draw(some: Sequence[str]) -> None:
        for word in some:
            mechanisms[word].randomise()

    return spell(list(mechanisms), draw)
