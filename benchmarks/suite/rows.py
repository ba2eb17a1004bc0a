"""Rows of the benchmark tables, and the loop that measures them round by round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from suite.process import Round, Unavailable, Worker, once, whole

Kind = Literal["whole", "fresh", "kept"]
"""How a round runs: as a whole process, in a new worker, or in a worker that is kept."""


@dataclass(frozen=True)
class Row:
    """One program or call to measure.

    amount : the unit of work for which a rate is shown, such as words or MB; empty for none.
    warm : run a round first that does not count.
    missing : the reason why the row cannot be measured; it is listed with this reason.
    """

    key: str
    title: str
    command: Sequence[str] = ()
    kind: Kind = "kept"
    rounds: int = 5
    amount: str = ""
    warm: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


@dataclass
class Measured:
    """A row with the measurements of its rounds, or with the reason why there are none."""

    key: str
    title: str
    amount: str = ""
    rounds: list[Round] = field(default_factory=list)
    missing: str = ""

    def values(self, name: str) -> list[float]:
        """Return one value per round; `rate` is the amount per second of processor time."""
        if name == "rate":
            return [each["amount"] / each["cpu"] for each in self.rounds]
        return [each[name] for each in self.rounds]


class Results(dict[str, Measured]):
    """Measured rows by key. An unknown key gives a row without rounds."""

    def __missing__(self, key: str) -> Measured:
        return Measured(key, key)


Say = Callable[[str], None]


def measure(rows: Sequence[Row], say: Say) -> Results:
    """Measure all rows, interleaved: the first round of each row, then the second of each, …"""
    results = Results(
        {row.key: Measured(row.key, row.title, row.amount, [], row.missing) for row in rows}
    )
    workers: dict[str, Worker] = {}
    most = max((row.rounds for row in rows), default=0)
    try:
        for number in range(-1, most):
            for row in rows:
                measured = results[row.key]
                if measured.missing or number >= row.rounds or (number < 0 and not row.warm):
                    continue
                say(f"{row.title}, " + (f"round {number + 1}" if number >= 0 else "warming up"))
                try:
                    values = _round(row, workers)
                except Unavailable as error:
                    measured.missing, measured.rounds = str(error), []
                else:
                    measured.rounds += [values] if number >= 0 else []
    finally:
        for key, worker in workers.items():
            peak = worker.end()
            results[key].rounds = [{"peak": peak, **each} for each in results[key].rounds]
    return results


def _round(row: Row, workers: dict[str, Worker]) -> Round:
    if row.kind == "whole":
        return whole(row.command, row.env)
    if row.kind == "fresh":
        return once(row.command, row.env)
    if row.key not in workers:
        workers[row.key] = Worker(row.command, row.env)
    return workers[row.key].round()
