"""Utility against loss: each point of each curve drawn and judged, run by run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from statistics import fmean, stdev
from typing import Any

from joblib import Parallel, delayed

from syntf import __version__
from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.experiment.experiment import MOST_DRAWS, pool_of_processes
from syntf.evaluation.experiment.judge import Finding, Judge
from syntf.evaluation.experiment.labelled import Labelled
from syntf.evaluation.experiment.log import Log
from syntf.pipeline.anonymizer import Anonymizer
from syntf.privacy import bounds
from syntf.research.curves import Asked, Curve, maker
from syntf.text.documents import Documents, repeat

NAME = ("mechanism", "vocabulary", "varied", "asked")
"""What tells the points of a log apart."""

MODELS = ("nb", "svm", "nb-less")
"""The analyst's, who knows that single words may be noise."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The mean of the runs at one point of a curve: a line of ``frontier.csv``.

    Parameters
    ----------
    mechanism : {'default', 'accurate', 'paper', 'santext', 'k-rr', 'custext'}
    vocabulary : {'public', 'fitted'}
        Where the outputs are from.
    varied : {'loss', 'epsilon', 'length'}
        What changes along the curve; the other parameters are those of the settings.
    outputs : int
        M.
    k : int, optional
        Neighbours, or the substitutes of a word.
    length : int
        n, words drawn for a document.
    epsilon : float
        The parameter of the mechanism; for CusText the loss that it states.
    loss_per_word, loss_per_document : float
        Tight, over all pairs of documents; infinite for CusText.
    model : {'nb', 'svm', 'nb-less'}
    runs : int
    f1 : float
        Weighted over the classes.
    f1_std : float, optional
        Sample standard deviation over the runs; one run has none.

    Examples
    --------
    >>> from syntf.research.frontier import Point
    >>> what = dict(mechanism="default", vocabulary="public", varied="loss", outputs=2000, k=1)
    >>> losses = dict(epsilon=16.0, loss_per_word=8.0, loss_per_document=400.0)
    >>> Point(**what, **losses, length=50, model="nb", runs=1, f1=0.5).f1_std
    """

    mechanism: str
    vocabulary: str
    varied: str
    outputs: int
    k: int | None
    length: int
    epsilon: float
    loss_per_word: float
    loss_per_document: float
    model: str
    runs: int
    f1: float
    f1_std: float | None = None


@dataclass
class Frontier:
    """What stays the same in all runs: the corpus, its judge, the curves.

    What is fitted is fitted on the training half.
    """

    corpus: Labelled
    curves: Sequence[Curve]
    runs: int = 10
    stages: Stages = silent
    _advance: Advance = field(default=lambda steps: None, init=False)

    @property
    def key(self) -> str:
        """A hash of all that runs must share to be put together; points and runs may be added."""
        fixed = {
            json.dumps([curve.mechanism, {**vars(curve.settings), "max_size": None}], default=str)
            for curve in self.curves
        }
        parts = [__version__, self.corpus.digest, sorted(fixed)]
        return sha256(json.dumps(parts).encode()).hexdigest()

    def run(self, log: Log) -> Iterator[None]:
        """Do what the log does not have yet, and tell it of each run; yields after each point."""
        judge = replace(Judge.of(self.corpus, [], None), models=MODELS)
        total = self.runs * sum(len(curve.points) for curve in self.curves)
        with (
            self.stages("curves", total) as self._advance,
            pool_of_processes() as pool,
        ):
            for curve in self.curves:
                yield from self._curve(log, pool, judge, curve)

    def _curve(self, log: Log, pool: Parallel, judge: Judge, curve: Curve) -> Iterator[None]:
        todo = {asked: self._todo(log, curve, asked) for asked in curve.points}
        self._advance(sum(self.runs - len(missing) for missing in todo.values()))
        make, documents = None, None
        for asked, missing in todo.items():
            if not missing:
                continue
            make = make or maker(curve, self.corpus.seen, self.stages)
            anonymizer = make(asked)
            if documents is None:
                documents = anonymizer.read(self.corpus.texts, stages=self.stages)
            about = _about(curve, asked, anonymizer)
            at_once = max(1, MOST_DRAWS // (len(documents) * anonymizer.settings.length))
            for start in range(0, len(missing), at_once):
                numbers = missing[start : start + at_once]
                self._draw(log, pool, judge, about, numbers, anonymizer, documents)
            yield

    def _draw(
        self,
        log: Log,
        pool: Parallel,
        judge: Judge,
        about: Mapping[str, Any],
        numbers: Sequence[int],
        anonymizer: Anonymizer,
        documents: Documents,
    ) -> None:
        """These runs of a point: drawn together, judged apart, on all cores."""
        size, outputs = len(documents), anonymizer.vocabulary.outputs
        counts = anonymizer.draw(repeat(documents, len(numbers)), stages=self.stages)
        jobs = (
            delayed(_judged)(number, judge, counts[i * size : (i + 1) * size], outputs)
            for i, number in enumerate(numbers)
        )
        for number, found in pool(jobs):
            log.add({**about, "run": number}, found)
            self._advance(1)

    def _todo(self, log: Log, curve: Curve, asked: Asked) -> list[int]:
        done = log.done(_name(curve, asked))
        return [number for number in range(self.runs) if number not in done]


def points(log: Log) -> list[Point]:
    """The means of the runs in a log, in the order in which points were first reached."""
    groups: dict[str, list[tuple[Mapping[str, Any], float]]] = {}
    for run in log.runs():
        for finding in run["findings"]:
            same = [run[name] for name in NAME]
            key = json.dumps([*same, finding["model"]])
            groups.setdefault(key, []).append(({**run, **finding}, finding["quality"]["f1"]))
    return [_mean(runs) for runs in groups.values()]


def better(found: Iterable[Point]) -> list[Point]:
    """Of the models at each point, the one with the higher score."""
    best: dict[tuple[Any, ...], Point] = {}
    for point in found:
        key = tuple(
            getattr(point, name)
            for name in ("mechanism", "vocabulary", "varied", "outputs", "k", "epsilon", "length")
        )
        if key not in best or point.f1 > best[key].f1:
            best[key] = point
    return list(best.values())


def _name(curve: Curve, asked: Asked) -> dict[str, Any]:
    one = curve.at(asked)
    asks = [one.max_size, curve.neighbours, one.loss, one.epsilon, one.length]
    return dict(zip(NAME, (curve.mechanism, curve.vocabulary, asked.name, asks), strict=True))


def _about(curve: Curve, asked: Asked, anonymizer: Anonymizer) -> dict[str, Any]:
    mechanism = anonymizer.mechanism
    return {
        **_name(curve, asked),
        "outputs": len(anonymizer.vocabulary.outputs),
        "k": curve.neighbours,
        "length": anonymizer.settings.length,
        "epsilon": mechanism.epsilon,
        "loss_per_word": mechanism.loss,
    }


def _judged(
    number: int, judge: Judge, counts: Any, outputs: Sequence[str]
) -> tuple[int, list[Finding]]:
    return number, judge.counts(counts, outputs)


def _mean(runs: Sequence[tuple[Mapping[str, Any], float]]) -> Point:
    first, scores = runs[0][0], [f1 for _, f1 in runs]
    same = ("mechanism", "vocabulary", "varied", "outputs", "k", "length", "epsilon")
    return Point(
        **{name: first[name] for name in (*same, "loss_per_word", "model")},
        loss_per_document=bounds.document_loss(first["loss_per_word"], first["length"]),
        runs=len(runs),
        f1=fmean(scores),
        f1_std=stdev(scores) if len(scores) > 1 else None,
    )
