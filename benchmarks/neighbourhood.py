"""Compare both mechanisms on the embedded words: time to prepare, memory, and speed of drawing.

    python benchmarks/neighbourhood.py [--draws N]

100,000 input words, 10,000 output words, s = 0.3. The Exponential mechanism has ε = 20. The
neighbourhood mechanism has the same ε for k = 1 and k = 3, which is a loss of 10. The words to draw
for follow Zipf's law. Seconds are CPU time of all cores.
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2_000_000)
    options = parser.parse_args()
    compare(options.draws)


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
    print("mechanism                loss  prepared in   memory   words per second and core")

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
