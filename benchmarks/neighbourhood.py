"""Both mechanisms on the embedded words: what they cost to prepare, to keep and to draw from.

    python benchmarks/neighbourhood.py [--draws N]

100,000 inputs, 10,000 outputs, s = 0.3. The Exponential mechanism at ε = 20, the neighbourhood
mechanism at the same ε for k = 1 and 3, so at a loss of 10. Words are drawn for by rank, as
Zipf's law has them; seconds are those of all cores together (CPU time).
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import WithEmptyDocument, WordRating
from syntf.vectors.word_vectors import WordVectors
from syntf.vocabulary.vocabulary import Vocabulary

EPSILON = 20.0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--draws", type=int, default=2_000_000)
    chosen = options.parse_args()
    compare(chosen.draws)


def compare(draws: int) -> None:
    vectors = WordVectors.embedded()
    vocabulary = Vocabulary.default(vectors)
    rating = WordRating(
        vocabulary.inputs,
        vectors.matrix[np.asarray(vocabulary.input_rows)],
        vocabulary.outputs,
        vectors.matrix[np.asarray(vocabulary.output_rows)],
        spelling=0.3,
    )
    inputs, outputs = rating.shape
    rows = (inputs ** np.linspace(0, 1, draws, endpoint=False)).astype(np.intp) - 1
    print(f"{inputs:,} inputs, {outputs:,} outputs; {draws:,} draws of {len(set(rows)):,} words")
    print("mechanism                loss  prepared in   keeps    words a second and core")

    def neighbourhood(count: int) -> Mechanism:
        return NeighbourhoodMechanism(nearest(rating, count), outputs=outputs, epsilon=EPSILON)

    show("neighbourhood, k = 1", lambda: neighbourhood(1), rows)
    show("neighbourhood, k = 3", lambda: neighbourhood(3), rows)
    whole = WithEmptyDocument(rating)
    show("exponential", lambda: ExponentialMechanism(whole, epsilon=EPSILON), rows)
    print(f"{np.unique(nearest(rating, 1)).size:,} outputs are the nearest of some word")


def show(name: str, make: Callable[[], Mechanism], rows: NDArray[np.intp]) -> None:
    start = time.process_time()
    mechanism = make()
    made = time.process_time() - start
    kept = sum(value.nbytes for value in vars(mechanism).values() if isinstance(value, np.ndarray))
    if isinstance(mechanism, ExponentialMechanism):
        kept += sum(array.nbytes for array in vars(mechanism.extremes).values())
    start = time.process_time()
    mechanism.sample(rows)
    speed = len(rows) / (time.process_time() - start)
    print(f"{name:22} {mechanism.loss:6.3f} {made:10.1f} s {kept / 1e6:6.2f} MB {speed:16,.0f}")


if __name__ == "__main__":
    main()
