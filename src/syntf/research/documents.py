"""Measure releases of whole documents: analysts, attackers and linkage, at several losses.

Everything is measured as the product releases it: all documents of a corpus are one release, with a
pilot if there are enough of them. Documents are read and encoded once; each run draws again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from syntf.codebook.build import build_codebook
from syntf.codebook.encoder import Encoded, Encoder
from syntf.core.progress import Stages, silent
from syntf.evaluation.attack.document_linkage import Linker
from syntf.evaluation.attack.linkage import first_guess_share
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.document_runs import score_document_releases
from syntf.evaluation.experiment.evaluator import Evaluator, TaskScore
from syntf.evaluation.experiment.experiment import process_pool
from syntf.evaluation.experiment.names import FLOORS
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism
from syntf.pipeline.settings import Settings

LINKED_TEXTS = 2_000
"""Texts whose own release is looked for, in each linkage attack."""
LINKED_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class Case:
    """A corpus to release, encoded, and the codebook that it is released with.

    codebook : ``embedded`` or ``near in topic``.
    corpus : the documents that are released together; analysts learn from its training part.
    """

    name: str
    codebook: str
    corpus: LabelledCorpus
    encoder: Encoder
    encoded: Encoded

    def mechanism(self, loss: float) -> DocumentMechanism:
        """Return the mechanism that releases all documents of the corpus."""
        return DocumentMechanism.build(self.encoder, loss, len(self.corpus))


def embedded_case(name: str, corpus: LabelledCorpus, stages: Stages = silent) -> Case:
    """Prepare a corpus for the embedded codebook."""
    anonymizer = DocumentAnonymizer.build(Settings(document_loss=1.0), stages=stages)
    encoded = anonymizer.read(corpus.texts, stages=stages)
    return Case(name, "embedded", corpus, anonymizer.encoder, encoded)


def near_case(name: str, corpus: LabelledCorpus, stages: Stages = silent) -> Case:
    """Take half of the training documents as public texts, and release all others.

    The public half is used without its labels, as ``syntf codebook build`` uses texts.
    """
    anonymizer = DocumentAnonymizer.build(Settings(document_loss=1.0), stages=stages)
    train = np.flatnonzero(corpus.train)
    public, _ = train_test_split(train, test_size=0.5, random_state=0)
    texts = [corpus.texts[i] for i in np.sort(public).tolist()]
    vectors, analyzer = anonymizer.encoder.vectors, anonymizer.reader.analyzer
    encoder = Encoder(build_codebook(texts, vectors, analyzer, stages=stages), vectors)
    rest = np.setdiff1d(np.arange(len(corpus)), public)
    private = corpus.select(rest, corpus.train[rest])
    with stages("reading words", len(private)) as advance:
        encoded = encoder.encode(anonymizer.reader.read(private.texts, advance))
    return Case(name, "near in topic", private, encoder, encoded)


def divided(corpus: LabelledCorpus, rows: Any = None) -> LabelledCorpus:
    """Choose two thirds of some documents for training, the same share of each label."""
    among = np.arange(len(corpus)) if rows is None else rows
    learn, _ = train_test_split(
        np.arange(len(among)), train_size=2 / 3, random_state=0, stratify=corpus.labels[among]
    )
    return corpus.select(among, np.isin(np.arange(len(among)), learn))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The mean of some runs of one task; `best` names the analyst or the strongest attacker.

    task : ``analyst``, ``attack`` or ``linkage``.
    scenario : the attack scenario; empty for other tasks.
    value, deviation : mean F1 and its standard deviation over runs; for linkage, the share of
        texts whose own release is guessed first.
    by_name : the mean of each analyst or attacker.
    """

    case: str
    codebook: str
    loss: float
    task: str
    scenario: str = ""
    runs: int
    documents: int
    best: str = ""
    value: float
    deviation: float | None = None
    by_name: Mapping[str, float]
    settings: Mapping[str, Any]

    def record(self) -> dict[str, Any]:
        """Return the figures for a JSON file, rounded to the digits that are shown."""
        rounded = {name: round(value, 4) for name, value in self.by_name.items()}
        deviation = None if self.deviation is None else round(self.deviation, 4)
        found = {**asdict(self), "value": round(self.value, 4), "deviation": deviation}
        return {**found, "by_name": rounded}


def measure_analysts(
    case: Case, losses: Iterable[float], runs: int, stages: Stages = silent
) -> Iterator[Measured]:
    """Score naive Bayes, the SVM and the informed analyst at each loss."""
    evaluator = Evaluator.for_corpus(case.corpus)
    yield from _measure(case, evaluator, (), losses, runs, stages)


def measure_attacks(
    case: Case,
    evaluator: Evaluator,
    attackers: Sequence[str],
    losses: Iterable[float],
    runs: int,
    stages: Stages = silent,
) -> Iterator[Measured]:
    """Score the attackers at each loss, in the scenarios of the evaluator."""
    found = _measure(case, evaluator, attackers, losses, runs, stages)
    yield from (one for one in found if one.task == "attack")


def measure_linkage(
    case: Case, losses: Iterable[float], runs: int, stages: Stages = silent
) -> Iterator[Measured]:
    """Measure how often whoever holds a text guesses its own release first."""
    known = np.flatnonzero(case.encoded.vectors.any(axis=1))
    texts = np.sort(check_random_state(0).permutation(known)[:LINKED_TEXTS])
    losses = list(losses)
    with stages("linking", runs * len(losses)) as advance:
        for loss in losses:
            mechanism = case.mechanism(loss)
            shares = []
            for _ in range(runs):
                linker = Linker(mechanism, mechanism.release(case.encoded), case.encoded)
                found = 0.0
                for first in range(0, len(texts), LINKED_AT_ONCE):
                    some = texts[first : first + LINKED_AT_ONCE]
                    found += first_guess_share(linker.odds(some), some) * len(some)
                shares.append(found / len(texts))
                advance(1)
            yield _mean(case, loss, "linkage", "", {"first guess": shares})


def _measure(
    case: Case,
    evaluator: Evaluator,
    attackers: Sequence[str],
    losses: Iterable[float],
    runs: int,
    stages: Stages,
) -> Iterator[Measured]:
    losses = list(losses)
    name = f"{case.name}, {case.codebook}"
    with stages(name, runs * len(losses)) as advance, process_pool() as pool:
        for loss in losses:
            scores: list[list[TaskScore]] = []
            for _, found in score_document_releases(
                case.mechanism(loss), case.encoded, range(runs), evaluator, attackers, pool
            ):
                scores.append(found)
                advance(1)
            yield from _means(case, loss, scores)


def _means(case: Case, loss: float, runs: Sequence[Sequence[TaskScore]]) -> Iterator[Measured]:
    """Average over runs; of the attackers, those who see no text are left out."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    for score in (score for run in runs for score in run if score.attacker not in FLOORS):
        task = "analyst" if score.task == "utility" else "attack"
        name = f"{score.attacker} {score.model}".strip()
        groups.setdefault((task, score.scenario), {}).setdefault(name, []).append(score.f1)
    for (task, scenario), by_name in groups.items():
        yield _mean(case, loss, task, scenario, by_name)


def _mean(
    case: Case, loss: float, task: str, scenario: str, by_name: Mapping[str, Sequence[float]]
) -> Measured:
    means = {name: fmean(values) for name, values in by_name.items()}
    best = max(means, key=means.__getitem__)
    values = by_name[best]
    mechanism = case.mechanism(loss)
    return Measured(
        case=case.name,
        codebook=case.codebook,
        loss=loss,
        task=task,
        scenario=scenario,
        runs=len(values),
        documents=len(case.corpus),
        best=best,
        value=means[best],
        deviation=stdev(values) if len(values) > 1 else None,
        by_name=means,
        settings=asdict(mechanism.plan),
    )
