"""Both mechanisms on the embedded words: what they cost to prepare, to keep and to draw from.

    python benchmarks/neighbourhood.py [--draws N] [--newsgroups DIR]

100,000 inputs, 10,000 outputs, s = 0.3. The Exponential mechanism at ε = 20, the neighbourhood
mechanism at the same ε for k = 1 and 3, so at a loss of 10. Words are drawn for by rank, as
Zipf's law has them; seconds are those of all cores together (CPU time).

With --newsgroups, a scikit-learn data home (20 newsgroups is downloaded where it is not there):
the weighted F1 of naive Bayes on the released counts of the test half, trained on those of the
training half; headers, footers and quotes stripped, n = 150, one run each.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from syntf import SynTF
from syntf.mechanism import ExponentialMechanism, Mechanism
from syntf.nearest import nearest
from syntf.neighbourhood import NeighbourhoodMechanism
from syntf.rating import WithEmptyDocument, WordRating
from syntf.vectors import WordVectors
from syntf.vocabulary import Vocabulary

EPSILON = 20.0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--draws", type=int, default=2_000_000)
    options.add_argument("--newsgroups", metavar="DIR")
    chosen = options.parse_args()
    compare(chosen.draws)
    if chosen.newsgroups:
        analyse(chosen.newsgroups)


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


def analyse(data_home: str) -> None:
    train, test = (
        fetch_20newsgroups(
            data_home=data_home, subset=half, remove=("headers", "footers", "quotes")
        )
        for half in ("train", "test")
    )
    print("\nparameters                     loss  F1")
    for chosen in (
        {"neighbours": 1, "loss": 11}, {"neighbours": 1, "loss": 10}, {"neighbours": 3, "loss": 9},
        {"neighbours": 1, "loss": 8}, {"epsilon": 47.5}, {"loss": 10},
    ):  # fmt: skip
        synthetic = SynTF(**chosen).fit([])
        analyst = make_pipeline(TfidfTransformer(), MultinomialNB(alpha=0.01))
        analyst.fit(synthetic.transform(train.data), train.target)
        found = analyst.predict(synthetic.transform(test.data))
        score = f1_score(test.target, found, average="weighted")
        given = ", ".join(f"{name} = {value:g}" for name, value in chosen.items())
        print(f"{given:27} {synthetic.guarantee_.loss_per_word.tight:7.3f}  {score:.3f}")


if __name__ == "__main__":
    main()
