"""Anonymise and evaluate a corpus again and again, on all cores: the paper's experiment."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import polars as pl
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix

from paper.corpus import Corpus
from paper.evaluator import PAPER_ATTACKERS, WORD_ORDER_ATTACKERS, Evaluator, Score
from paper.log import RunLog
from paper.published import OPTIMUM
from paper.results import NO_PARAMETERS, Parameters, Results, average
from paper.scrubbing import METHODS, scrub
from paper.tagging import Tagger
from syntf import __version__
from syntf.core.parallel import cores
from syntf.core.progress import Advance, stage
from syntf.rows import WordRows, sample_terms
from syntf.settings import Settings

RELEASES_AT_ONCE = 3
SCRUBBED_AT_ONCE = 256

Run = tuple[Parameters, int]
"""A release: its parameters and the number of the run."""


@dataclass
class Experiment:
    """Runs that share a corpus and a tagger; those that are finished are kept in a log.

    The vocabulary is fitted on the training documents, as in the paper.

    Parameters
    ----------
    corpus
    tagger : part-of-speech tags for WritePrints.
    path : the file of the log.
    settings : of the mechanism; the parameters of a run replace some of them.
    """

    corpus: Corpus
    tagger: Tagger
    path: Path
    settings: Settings = field(default_factory=lambda: Settings.of("paper", fit_vocabulary=2))
    log: RunLog = field(init=False)
    evaluator: Evaluator = field(init=False)

    def __post_init__(self) -> None:
        key = joblib.hash([__version__, self.corpus, self.tagger_name, self.settings])
        self.log = RunLog(self.path, key)
        self.evaluator = Evaluator.of(self.corpus, self.tagger)

    @property
    def tagger_name(self) -> str:
        return str(getattr(self.tagger, "name", ""))

    def results(self) -> Results:
        """Return the means of all finished runs."""
        return average(self.log)

    def run_texts(self) -> None:
        """Score the original texts and the texts that scrubbing leaves."""
        texts = self.corpus.texts
        missing = [one for one in METHODS if not self.log.finished(one, {})]
        starts = range(0, len(texts) if missing else 0, SCRUBBED_AT_ONCE)
        work = [delayed(scrub)(texts[i : i + SCRUBBED_AT_ONCE], missing) for i in starts]
        forms: dict[str, list[str]] = {method: [] for method in missing}
        with stage("scrubbing", len(work)) as advance:
            for part in _processes(return_as="generator")(work):
                for method, cleaned in zip(missing, part, strict=True):
                    forms[method] += cleaned
                advance(1)
        if not self.log.finished("original", {}):
            forms["original"] = list(texts)
        jobs = ((_identify(name), self.evaluator.score_texts, form) for name, form in forms.items())
        with stage("attacking texts", len(forms)) as advance:
            self._score(jobs, advance)

    def run_releases(self, cells: Iterable[Parameters], runs: int) -> Iterator[None]:
        """Draw and score releases until each cell has this many runs.

        Yields after all cells that read the same words.
        """
        wanted = sorted(dict.fromkeys(cells), key=_table)
        groups = [list(group) for _, group in groupby(wanted, key=lambda one: one.of_words)]
        with stage("releasing", runs * len(wanted)) as advance:
            for group in groups:
                missing = [
                    (one, run)
                    for one in group
                    for run in sorted({*range(runs)} - self.log.finished("syntf", one._asdict()))
                ]
                advance(runs * len(group) - len(missing))
                self._run_group(group[0].of_words, missing, advance)
                yield

    def run_grid(self, figures: Sequence[Parameters], grid: Sequence[Parameters], best: int,
                 runs: int) -> Iterator[None]:  # fmt: skip
        """Run each cell of the grid once, then the cells of the figures and the best ones often.

        The best ones of each classifier are chosen by their first run alone: later runs of some
        cells must not change which ones an interrupted search goes on with.
        """
        yield from self.run_releases(grid, 1)
        first = average(run for run in self.log if run["run"] == 0)
        often = [one for model in first.models for one in first.ranked(model)[:best]]
        yield from self.run_releases([*figures, *often], runs)

    def _run_group(self, of_words: Parameters, missing: Sequence[Run], advance: Advance) -> None:
        """Do the missing runs of cells that read the same words: the texts are read once."""
        vectorised = bool(self.log.finished("vectorised", of_words._asdict()))
        if vectorised and not missing:
            return
        settings = self.settings.changed(morphology=of_words.morphology, synsets=of_words.synsets)
        texts = pl.Series(self.corpus.texts, dtype=pl.String)
        rows = WordRows.build(settings, [texts.filter(pl.Series(self.corpus.train))])
        counts = rows.reader.counts(texts)

        def jobs() -> Iterator[tuple[Any, ...]]:
            if not vectorised:
                terms = rows.vocabulary.inputs
                yield _identify("vectorised", of_words), self.evaluator.score_counts, counts, terms
            for _, of_table in groupby(missing, key=lambda one: _table(one[0])):
                yield from self._release_jobs(rows, counts, list(of_table))

        self._score(jobs(), advance)

    def _release_jobs(
        self, rows: WordRows, counts: csr_matrix, runs: Sequence[Run]
    ) -> Iterator[tuple[Any, ...]]:
        """Draw releases from one table of the mechanism and yield the work of scoring each.

        The rows of the table are computed once for several releases, whose draws are independent.
        """
        epsilon, spelling = runs[0][0].epsilon, runs[0][0].spelling
        settings = rows.settings.changed(epsilon=epsilon, spelling=spelling)
        scheme = replace(rows, settings=settings).scheme()
        for start in range(0, len(runs), RELEASES_AT_ONCE):
            some = runs[start : start + RELEASES_AT_ONCE]
            targets = [sample_terms(counts, int(one.length or 0)) for one, _ in some]
            drawn = scheme.mechanism.sample(np.concatenate([one.ravel() for one in targets]))
            ends = np.cumsum([one.size for one in targets])
            for (one, run), answers in zip(some, np.split(drawn, ends[:-1]), strict=True):
                yield (
                    _identify("syntf", one, run, scheme.mechanism.loss),
                    self.evaluator.score_counts,
                    scheme.counts(answers.reshape(counts.shape[0], -1).astype(np.int64)),
                    scheme.terms,
                    PAPER_ATTACKERS + WORD_ORDER_ATTACKERS * (one == OPTIMUM),
                    run,
                )

    def _score(self, jobs: Iterable[tuple[Any, ...]], advance: Advance) -> None:
        """Do the work of jobs in processes and log what they return; a job begins with its run.

        The next release is drawn when a process is free to score it, so few are held in memory.
        """
        pool = _processes(return_as="generator_unordered", pre_dispatch="n_jobs")
        for run, scores in pool(delayed(_with_run)(*job) for job in jobs):
            self.log.add(run, scores)
            advance(run["method"] != "vectorised")


def _with_run(
    run: Mapping[str, Any], work: Callable[..., list[Score]], *arguments: Any
) -> tuple[Mapping[str, Any], list[Score]]:
    return run, work(*arguments)


def _processes(**options: Any) -> Parallel:
    """Start a process for each core. Arrays are sent in memory, never through files on disk."""
    return Parallel(n_jobs=cores(), max_nbytes=None, **options)


def _identify(
    method: str, parameters: Parameters = NO_PARAMETERS, run: int = 0, loss: float | None = None
) -> dict[str, Any]:
    whole = None if loss is None else loss * int(parameters.length or 0)
    losses = {"loss_per_word": loss, "loss_per_document": whole}
    return {"method": method, **parameters._asdict(), **losses, "run": run}


def _table(parameters: Parameters) -> tuple[Any, ...]:
    """Return the parameters that decide a mechanism's table; first those that decide its words."""
    return parameters.of_words, parameters.spelling, parameters.epsilon
