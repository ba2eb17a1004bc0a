"""What is measured, and the measuring: all rows of a group, round after round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from suite.process import Round, Unavailable, Worker, once, whole

Kind = Literal["whole", "fresh", "kept"]
"""A whole process; a round of a worker started for it; rounds of a worker that stays."""


@dataclass(frozen=True)
class Row:
    """One thing to measure.

    amount : what it works through in a round, where a rate is of interest: words, MB.
    warm : a round before the first that counts.
    missing : why it cannot be measured; it is listed all the same.
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
    """A row with its rounds; none of them if something is missing."""

    key: str
    title: str
    amount: str = ""
    rounds: list[Round] = field(default_factory=list)
    missing: str = ""

    def values(self, name: str) -> list[float]:
        """One value a round; `rate` is what was worked through in a second of processor time."""
        if name == "rate":
            return [one["amount"] / one["cpu"] for one in self.rounds]
        return [one[name] for one in self.rounds]


class Results(dict[str, Measured]):
    """Rows by key; one that was not asked for has no rounds."""

    def __missing__(self, key: str) -> Measured:
        return Measured(key, key)


Say = Callable[[str], None]


def measure(rows: Sequence[Row], say: Say) -> Results:
    """Interleaved: a round of each row, then the next of each, as many as each has."""
    found = Results(
        {row.key: Measured(row.key, row.title, row.amount, [], row.missing) for row in rows}
    )
    workers: dict[str, Worker] = {}
    most = max((row.rounds for row in rows), default=0)
    try:
        for number in range(-1, most):
            for row in rows:
                made = found[row.key]
                if made.missing or number >= row.rounds or (number < 0 and not row.warm):
                    continue
                say(f"{row.title}, " + (f"round {number + 1}" if number >= 0 else "warming up"))
                try:
                    one = _round(row, workers)
                except Unavailable as error:
                    made.missing, made.rounds = str(error), []
                else:
                    made.rounds += [one] if number >= 0 else []
    finally:
        for key, worker in workers.items():
            peak = worker.end()
            found[key].rounds = [{**one, "peak": peak} for one in found[key].rounds]
    return found


def _round(row: Row, workers: dict[str, Worker]) -> Round:
    if row.kind == "whole":
        return whole(row.command, row.env)
    if row.kind == "fresh":
        return once(row.command, row.env)
    if row.key not in workers:
        workers[row.key] = Worker(row.command, row.env)
    return workers[row.key].round()
