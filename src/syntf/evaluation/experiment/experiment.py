"""Anonymise and evaluate a corpus again and again, on all cores: the paper's experiment."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from joblib import Parallel, cpu_count, delayed

from syntf.core.counts import matrix
from syntf.core.parallel import processes
from syntf.core.progress import Advance, Stages, silent
from syntf.evaluation.analysts import Analyst
from syntf.evaluation.attack.attackers import STATIC
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.document_runs import (
    document_parameters,
    numbered,
    score_document_releases,
)
from syntf.evaluation.experiment.evaluator import PAPER_ATTACKERS, Evaluator
from syntf.evaluation.experiment.results import NO_PARAMETERS, Parameters
from syntf.evaluation.experiment.run_log import RunLog, experiment_key, fixed_settings
from syntf.evaluation.experiment.scrubbing import scrub_in_ways
from syntf.evaluation.experiment.word_runs import WordRelease, release_jobs
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.prepare import load_words
from syntf.pipeline.settings import Settings
from syntf.text.documents import Documents, term_frequencies
from syntf.text.word_reader import WordReader

SCRUBBING_METHODS = {"scrubadub": False, "scrubadub-names": True}
"""Methods that scrub texts, and whether they remove names too."""

READING_PARAMETERS = ("morphology", "synsets")
"""The parameters that decide which words are read; the others concern the mechanism."""

Run = dict[str, Any]
"""What identifies a run in the log: method, parameters, number and tagger."""


@dataclass
class Experiment:
    """Runs that share a corpus, an evaluator and all settings that are not in `Parameters`.

    A fitted vocabulary is fitted on the training documents, as in the paper.

    Parameters
    ----------
    corpus, evaluator, settings
    runs : int, default=10
        Releases that are drawn and scored for each choice of parameters.
    attackers : sequence of str
        Names of the attackers that every stage is attacked by.
    extra_attackers : mapping of Parameters to sequences of str
        More attackers for releases with certain parameters.
    informed_analysts : mapping of str to callables
        Analysts who know the mechanism. Each callable gets the anonymizer of a release and
        returns the analyst; its scores appear under this name, for releases only. Releases of
        whole documents always have one such analyst, named *informed*.
    """

    corpus: LabelledCorpus
    evaluator: Evaluator
    settings: Settings
    runs: int = 10
    attackers: Sequence[str] = PAPER_ATTACKERS
    extra_attackers: Mapping[Parameters, Sequence[str]] = field(default_factory=dict)
    informed_analysts: Mapping[str, Callable[[Any], Analyst]] = field(default_factory=dict)
    stages: Stages = silent
    _advance: Advance = field(default=lambda steps: None, init=False)

    @property
    def tagger_name(self) -> str:
        return str(getattr(self.evaluator.tagger, "name", ""))

    @property
    def key(self) -> str:
        """A hash of everything that runs in one log must share."""
        return experiment_key(
            self.corpus.digest,
            self.tagger_name,
            fixed_settings(self.settings, Parameters._fields),
            self.attackers,
            [[*parameters, *names] for parameters, names in self.extra_attackers.items()],
            [*self.evaluator.analysts, *self.informed_analysts],
            [[scenario.name, *scenario.authors] for scenario in self.evaluator.scenarios],
        )

    def run(
        self, log: RunLog, grid: Iterable[Parameters], scrubbing: Sequence[str] = ()
    ) -> Iterator[None]:
        """Do the runs that the log does not have.

        Yields after each stage, and after all parameters that read the same words. Settings of the
        document unit are one choice of parameters, and `grid` is not used.
        """
        if self.settings.unit == "document":
            yield from self._run_documents(log, scrubbing)
            return
        ordered = sorted(dict.fromkeys(grid), key=_sharing_order)
        groups = [list(group) for _, group in groupby(ordered, key=_reading_parameters)]
        total = 1 + len(scrubbing) + len(groups) + self.runs * len(ordered)
        with self.stages("evaluating", total) as self._advance, process_pool() as pool:
            yield from self._run_texts(log, pool, scrubbing)
            for group in groups:
                yield from self._run_group(log, pool, group)

    def _run_documents(self, log: RunLog, scrubbing: Sequence[str]) -> Iterator[None]:
        """Do the runs of an experiment that releases whole documents."""
        total = 2 + len(scrubbing) + self.runs
        with self.stages("evaluating", total) as self._advance, process_pool() as pool:
            yield from self._run_texts(log, pool, scrubbing)
            anonymizer = DocumentAnonymizer.build(self.settings, stages=self.stages)
            mechanism = anonymizer.mechanism(len(self.corpus))
            parameters = document_parameters(anonymizer, len(self.corpus))
            reading = dict(zip(READING_PARAMETERS, _reading_parameters(parameters), strict=True))
            vectorised = self._identify("vectorised", **reading)
            missing = self._missing_runs(log, parameters)
            self._advance(self.runs - len(missing))
            if not missing and log.finished(vectorised):
                self._advance(1)
                return
            encoded = anonymizer.read(self.corpus.texts, stages=self.stages)
            if not log.finished(vectorised):
                counts, words = matrix(encoded.counts), anonymizer.reader.words
                job = delayed(self.evaluator.score_counts)(counts, words, self.attackers)
                (scores,) = pool([job])
                log.add(vectorised, scores)
            self._advance(1)
            informed = {name: build(anonymizer) for name, build in self.informed_analysts.items()}
            evaluator = replace(self.evaluator, analysts={**self.evaluator.analysts, **informed})
            attackers = (*self.attackers, *self.extra_attackers.get(parameters, ()))
            known = {**parameters._asdict(), "loss_per_document": anonymizer.loss}
            for run, scores in score_document_releases(
                mechanism, encoded, missing, evaluator, attackers, pool
            ):
                log.add(self._identify("syntf", **known, run=run), scores)
                self._advance(1)
            yield

    def _run_texts(self, log: RunLog, pool: Parallel, scrubbing: Sequence[str]) -> Iterator[None]:
        """Score the original texts, and scrub and score them; yields after each of the two."""
        methods = [one for one in scrubbing if not log.finished(self._identify(one))]
        self._advance(len(scrubbing) - len(methods))
        texts, size, scrubbed = self.corpus.texts, 256, {}
        starts = range(0, len(texts) if methods else 0, size)
        ways = [SCRUBBING_METHODS[method] for method in methods]

        def jobs() -> Iterator[Any]:
            if not log.finished(self._identify("original")):
                # Static attackers train on these very texts.
                attackers = [name for name in self.attackers if not name.endswith(STATIC)]
                yield delayed(numbered)(-1, self.evaluator.score_texts, texts, attackers)
            for start in starts:
                part = texts[start : start + size]
                yield delayed(numbered)(start, scrub_in_ways, part, ways)

        stages = self.stages if methods else silent  # without methods, only texts are scored
        with stages("scrubbing", len(texts)) as scrubbed_texts:
            for start, found in pool(jobs()):
                if start < 0:
                    log.add(self._identify("original"), found)
                else:
                    scrubbed[start] = found
                    scrubbed_texts(len(found[0]))
        self._advance(1)
        yield
        parts = [scrubbed[start] for start in starts]
        for method, scores in pool(
            delayed(numbered)(
                method,
                self.evaluator.score_texts,
                [text for part in parts for text in part[place]],
                self.attackers,
            )
            for place, method in enumerate(methods)
        ):
            log.add(self._identify(method), scores)
            self._advance(1)
        yield

    def _run_group(
        self, log: RunLog, pool: Parallel, group: Sequence[Parameters]
    ) -> Iterator[None]:
        """Do the runs of parameters that read the same words.

        The texts are read once, and each table of the mechanism is computed once: the lengths and
        the runs that share it are drawn together.
        """
        read = dict(zip(READING_PARAMETERS, _reading_parameters(group[0]), strict=True))
        vectorised = self._identify("vectorised", **read)
        missing = {parameters: self._missing_runs(log, parameters) for parameters in group}
        vectorised_done = bool(log.finished(vectorised))
        self._advance(vectorised_done + sum(self.runs - len(runs) for runs in missing.values()))
        wanted = [(parameters, run) for parameters in group for run in missing[parameters]]
        if vectorised_done and not wanted:
            return
        train = self.corpus.training_texts
        settings = self.settings.changed(**group[0]._asdict())
        analyzer, vectors, vocabulary = load_words(settings, train, stages=self.stages)
        reader = WordReader(analyzer, vocabulary.inputs, vocabulary.provenance == "public")
        with self.stages("reading words", len(self.corpus)) as advance:
            documents = reader.read(self.corpus.texts, advance)

        def jobs() -> Iterator[Any]:
            if not vectorised_done:
                counts = term_frequencies(documents, len(vocabulary.inputs))
                yield delayed(numbered)(
                    vectorised, self.evaluator.score_counts, counts, vocabulary.inputs,
                    self.attackers,
                )  # fmt: skip
            for _, same_table in groupby(wanted, key=lambda one: _table(one[0])):
                of_table = list(same_table)
                settings = self.settings.changed(**of_table[0][0]._asdict())
                anonymizer = Anonymizer.from_parts(
                    settings, analyzer, vectors, vocabulary, train, stages=self.stages
                )
                yield from self._release_jobs(anonymizer, documents, of_table)

        for run, scores in pool(jobs()):
            log.add(run, scores)
            self._advance(1)
        yield

    def _release_jobs(
        self,
        anonymizer: Anonymizer,
        documents: Documents,
        runs: Sequence[tuple[Parameters, int]],
    ) -> Iterator[Any]:
        """Draw releases from one table and yield the work of scoring each."""
        informed = {name: build(anonymizer) for name, build in self.informed_analysts.items()}
        evaluator = replace(self.evaluator, analysts={**self.evaluator.analysts, **informed})
        loss = anonymizer.mechanism.loss
        releases = [
            WordRelease(
                self._identify("syntf", **parameters._asdict(), loss_per_word=loss, run=run),
                int(parameters.length or 0),
                (*self.attackers, *self.extra_attackers.get(parameters, ())),
                run,
            )
            for parameters, run in runs
        ]
        return release_jobs(anonymizer, documents, releases, evaluator, self.stages)

    def _missing_runs(self, log: RunLog, parameters: Parameters) -> list[int]:
        finished = log.finished({"method": "syntf", **parameters._asdict()})
        return [run for run in range(self.runs) if run not in finished]

    def _identify(self, method: str, **known: Any) -> Run:
        return {
            "method": method,
            **NO_PARAMETERS._asdict(),
            "loss_per_word": None,
            "run": 0,
            "tagger": self.tagger_name,
            **known,
        }


def process_pool() -> Parallel:
    """Start a process per core. Arrays are sent in memory, never through files on disk.

    The next release is drawn when a process is free to score it, so few are held in memory.
    """
    return processes(
        cpu_count(), return_as="generator_unordered", max_nbytes=None, pre_dispatch="n_jobs"
    )


def _sharing_order(parameters: Parameters) -> tuple[Any, ...]:
    """Sort parameters so that those with the same words, and of these the same table, meet."""
    return *_reading_parameters(parameters), *_table(parameters)


def _table(parameters: Parameters) -> tuple[Any, ...]:
    """Return the parameters that decide a mechanism's table, for words already read."""
    return parameters.spelling, parameters.epsilon


def _reading_parameters(parameters: Parameters) -> tuple[Any, ...]:
    return tuple(getattr(parameters, name) for name in READING_PARAMETERS)
