"""Search the paper's parameter grid: all combinations once, and the best of them again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.results import Parameters, Results, average_runs
from syntf.evaluation.experiment.run_log import RunLog
from syntf.research.criterion import select_best


def run_experiment(
    experiment: Experiment,
    log: RunLog,
    figures: Sequence[Parameters],
    grid: Sequence[Parameters] = (),
    best: int | None = None,
    scrubbing: Sequence[str] = (),
) -> Iterator[None]:
    """Do the runs that the log does not have; yields when results should be written.

    Parameters
    ----------
    experiment : its number of runs is that of each combination in `figures`.
    figures : combinations that figures show.
    grid : further combinations, run as often.
    best : if given, each combination of `grid` is run once, and then this many of them for each
        classifier as often as those of the figures.
    scrubbing : methods that scrub texts.
    """
    if best is None:
        yield from experiment.run(log, [*figures, *grid], scrubbing)
        return
    yield from replace(experiment, runs=1).run(log, grid, scrubbing)
    yield from experiment.run(log, [*figures, *best_of_first_runs(log, grid, best)], scrubbing)


def best_of_first_runs(log: RunLog, grid: Sequence[Parameters], best: int) -> list[Parameters]:
    """Return the best combinations for each classifier by their first run alone.

    Later runs of some combinations must not change which ones an interrupted search goes on with.
    """
    first = average_runs(score for score in log.run_scores() if score.run == 0)
    return select_best(Results(first), grid, best)
