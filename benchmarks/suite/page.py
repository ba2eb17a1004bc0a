"""Write docs/benchmarks.md from a record and the history."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suite.figures import Figure, Spread, spread
from suite.history import Run, changes, newest
from suite.record import Record, Section
from suite.rows import Measured

SHOWN = 6
"""Number of runs that the trend shows."""

HEAD = """\
# Benchmarks

`make bench` measures syntf and other programs side by side, in one run, and writes this page. In
each round, every program runs once, so a ratio compares two times of the same round. The tables
show the median over the rounds, with the least and the largest value in parentheses. Peak memory is
the largest of all rounds; the measuring process itself takes 20 MB of it.

`make bench-large` adds a corpus of 100 times 20 newsgroups, evaluating, and a cluster, which needs
Java. Figures of a GPU are in [gpu.md](gpu.md). `python benchmarks/bench.py compare` lists what
became worse since the run before, by more than the spread of both runs. Every round is kept as JSON
in `build/bench`, and the figures of every run in `benchmarks/history.jsonl`.
"""


def page(record: Record, runs: Sequence[Run]) -> str:
    """Return the whole page."""
    parts = [HEAD, _about(record), limits(record.figures)]
    parts += [_section(section) for section in record.sections]
    parts.append(trend(record.figures, runs))
    return "\n".join(parts)


def limits(figures: Iterable[Figure]) -> str:
    """Return the table of figures that have a limit."""
    lines = [
        [
            figure.title,
            limit(figure, figure.must),
            limit(figure, figure.aim),
            shown(figure.spread, figure.unit),
            verdict(figure),
        ]
        for figure in figures
        if figure.must is not None
    ]
    head = ["", "must", "aim", "measured", ""]
    return "## Limits and measurements\n\n" + table(head, lines)


def trend(figures: Sequence[Figure], runs: Sequence[Run]) -> str:
    """Return the table of the last runs, with what changed in the newest."""
    if not runs:
        return "## Trend\n\nThe history holds no run of all parts.\n"
    titles = {figure.key: figure for figure in figures}
    last = list(runs)[-SHOWN:]
    pair = newest(runs)
    found = {change.key: change for change in changes(*pair)} if pair else {}
    keys = list(dict.fromkeys(key for run in reversed(last) for key in run.figures))
    lines = []
    for key in keys:
        cells = [number(run.figures[key][0]) if key in run.figures else "" for run in last]
        change = found.get(key)
        mark = ""
        if change is not None and change.verdict:
            sign = f"{change.percent:+.0f} %"
            mark = f"**worse** ({sign})" if change.verdict == "worse" else f"better ({sign})"
        title = titles[key].title if key in titles else f"`{key}`"
        unit = titles[key].unit if key in titles else ""
        lines.append([f"{title}, {unit}" if unit else title, *cells, mark])
    head = ["", *(f"{run.date[:10]} `{run.commit}`" for run in last), "newest run"]
    note = (
        "The figures are medians. The last column compares the newest run with the run before it\n"
        "on the same processor. It marks changes of more than 5 % where the ranges of both runs\n"
        "do not overlap.\n"
    )
    return f"## Trend\n\n{note}\n" + table(head, lines)


def verdict(figure: Figure) -> str:
    """Say whether a figure meets its limits.

    >>> verdict(Figure("k", "t", [0.7], must=1.0, aim=0.5))
    'met'
    """
    if figure.aim is not None and figure.meets(figure.aim):
        return "aim met"
    return "met" if figure.must is None or figure.meets(figure.must) else "**missed**"


def limit(figure: Figure, value: float | None) -> str:
    if value is None:
        return ""
    sign = "≤" if figure.better == "less" else "≥"
    return f"{sign} {number(value)} {figure.unit}".rstrip()


def shown(values: Spread, unit: str = "") -> str:
    """Format a median with its range.

    >>> shown(Spread(2.0, 1.9, 2.25), "s"), shown(Spread(12345.6, 12345.6, 12345.6))
    ('2.00 s (1.90–2.25)', '12,346')
    """
    text = f"{number(values.middle)} {unit}".rstrip()
    least, most = number(values.least), number(values.most)
    return text if least == most else f"{text} ({least}–{most})"


def number(value: float) -> str:
    """Format a number with three digits, or with all digits before the point.

    >>> [number(x) for x in (0.0123, 1.5, 25.43, 642.0, 15600.4)]
    ['0.012', '1.50', '25.4', '642', '15,600']
    """
    for below, digits in ((1, 3), (10, 2), (100, 1)):
        if abs(value) < below:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *map(list, lines)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _about(record: Record) -> str:
    about = record.about
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    machine = f"{about['cores']} cores ({about['processor']}), {about['memory']} GiB; {versions}.\n"
    if "runs" not in about:
        return f"Last run: {_when(about)}; {machine}"
    runs = [[name, _when(run)] for name, run in about["runs"].items()]
    return f"**Combined from several runs**, not measured in one: {machine}\n" + table(
        ["part", "measured"], runs
    )


def _when(run: Mapping[str, Any]) -> str:
    load = "unknown" if run["load"] is None else run["load"]
    return f"{run['date']} UTC, commit `{run['commit']}`, load at its start {load}"


def _section(section: Section) -> str:
    amount = next((row.amount for row in section.rows if row.amount), "")
    head = ["", "seconds", "CPU seconds", "peak memory, MB"]
    head += [f"{amount} a CPU second"] if amount else []
    lines = [_line(row, bool(amount)) for row in section.rows]
    made = f"## {section.title}\n\n{section.note}\n\n" + table(head, lines)
    ratios = [[figure.title, shown(figure.spread, figure.unit)] for figure in section.figures]
    return made + ("\n" + table(["", "measured"], ratios) if ratios else "")


def _line(row: Measured, rated: bool) -> list[str]:
    if not row.rounds:
        reason = row.missing or "no round"
        return [row.title, f"not measured: {reason}", "", "", *([""] if rated else [])]
    cells = [shown(spread(row.values(name))) for name in ("seconds", "cpu")]
    cells.append(number(max(row.values("peak"))))
    if rated:
        cells.append(shown(spread(row.values("rate"))) if row.amount else "")
    return [row.title, *cells]
