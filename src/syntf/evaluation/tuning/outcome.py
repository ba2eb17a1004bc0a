"""What a search for parameters works on, and what it returns; the same for both units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from syntf.core.progress import Stages
from syntf.evaluation.experiment import folder
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.results import Parameters, Results
from syntf.pipeline.settings import Settings


class Case(NamedTuple):
    """Texts with one column of labels and one of authors.

    name : what the two columns are called together; empty if this is the only case.
    label : the column of labels.
    """

    name: str
    label: str
    corpus: LabelledCorpus


@dataclass(frozen=True)
class Trial:
    """What a release with certain settings keeps of the F1 on the texts.

    settings : the settings that were searched, by name.
    kept : the share that each analyst keeps.
    utility : the share that decides.
    attack : F1 of the strongest attacker; None without authors, or if nobody attacked.
    """

    settings: Mapping[str, Any]
    document_loss: float
    kept: Mapping[str, float]
    utility: float
    attack: float | None = None


def worst_of(trials: Sequence[Trial]) -> Trial:
    """Join trials of the same settings on several columns.

    An analyst keeps what she keeps in the column that suffers most, and the attack is that on the
    column of authors that is found best.

    >>> topic = Trial({"document_loss": 6.0}, 6.0, {"nb": 0.7, "svm": 0.8}, 0.8)
    >>> year = Trial({"document_loss": 6.0}, 6.0, {"nb": 0.6, "svm": 0.5}, 0.6, attack=0.2)
    >>> worst_of([topic, year]).kept, worst_of([topic, year]).utility
    ({'nb': 0.6, 'svm': 0.5}, 0.6)
    """
    first = trials[0]
    kept = {model: min(one.kept[model] for one in trials) for model in first.kept}
    attacks = (one.attack for one in trials if one.attack is not None)
    utility = min(one.utility for one in trials)
    return Trial(first.settings, first.document_loss, kept, utility, max(attacks, default=None))


class Confirmed(NamedTuple):
    """The results of the chosen settings on the test texts of one case."""

    name: str
    results: Results
    parameters: Parameters


class TuningOutcome(NamedTuple):
    """The trials by their loss and the choice among them; notices are for the user.

    If no trial reaches the goal, `chosen` is None, nothing is confirmed, and `failure` says what
    can be reached.
    """

    trials: list[Trial]
    notices: list[str]
    chosen: Trial | None
    confirmed: Sequence[Confirmed] = ()
    failure: str = ""


@dataclass(frozen=True)
class TestTexts:
    """The test texts of all cases, which are not looked at before the choice is made."""

    cases: Sequence[Case]
    evaluators: Sequence[Evaluator]
    notices: list[str]

    @classmethod
    def prepare(cls, cases: Sequence[Case], tagger: str | None, min_test: int) -> "TestTexts":
        """Find the attack scenarios of all cases, and notices about them."""
        evaluators, notices = [], []
        for case in cases:
            evaluator, missing = Evaluator.prepare(case.corpus, tagger, min_test=min_test)
            evaluators.append(evaluator)
            notices += [*case.corpus.notices, *(missing if evaluator.scenarios else [])]
        return cls(cases, evaluators, list(dict.fromkeys(notices)))

    def confirm(
        self, settings: Settings, place: Path, runs: int, attackers: Sequence[str],
        *, force: bool, stages: Stages,
    ) -> list[Confirmed]:  # fmt: skip
        """Evaluate the chosen settings on every case, each in a folder of its own."""
        confirmed = []
        for case, evaluator in zip(self.cases, self.evaluators, strict=True):
            experiment = Experiment(
                case.corpus, evaluator, settings, runs, attackers, stages=stages
            )
            found = folder.evaluate_settings(experiment, place / case.name, force=force)
            confirmed.append(Confirmed(case.name, *found))
        return confirmed


def with_different_labels(cases: Sequence[Case]) -> list[Case]:
    """Return the first case of each column of labels: what is kept of a column is measured once."""
    return list({case.label: case for case in reversed(cases)}.values())[::-1]
