"""``report.html`` and ``README.txt``: what a guarantee means, for whoever receives a release.

The templates hold the wording, this module the figures. Both say what the guarantee says and show
released and public numbers, so they are the same for everybody who has the other files.
"""

import textwrap
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from syntf.core.errors import printable
from syntf.core.exact import EXACT, shown, times_up
from syntf.mechanism import response
from syntf.privacy.guarantee import Guarantee, Part
from syntf.release.topics import COVERED, keep_probability
from syntf.settings import SETTINGS

if TYPE_CHECKING:
    from minijinja import Environment

VERSIONS = ("0.3.0",)
"""The versions of syntf whose releases have the wording of these templates.

A version that changes a sentence, here or in the guarantee, stands alone in this list, and keeps
the templates of the others in a folder of their own: every 0.3 verifies every 0.3.
"""

AUTHOR_DOCUMENTS = 50
"""Documents of the author that serves as an example."""

MOSTLY_KEPT = 0.9
"""From this probability on, what hides a document is the coarse list of answers and not chance."""

LARGEST_FACTOR = Decimal(10**12)
"""Larger factors are told by their number of digits, and exclude nothing."""

LEADING = 15
"""Topics that the picture shows."""


def render_report(guarantee: Guarantee, topics: pl.DataFrame | None) -> str:
    """Return ``report.html``.

    topics : what :func:`syntf.release.topics.topic_table` gives; None where answers are not listed.
    """
    return render(
        "report.html", guarantee=guarantee, **_figures(guarantee, topics is not None),
        lists=[] if topics is None else _lists(topics), topics=_leading(topics),
    )  # fmt: skip


def render_readme(
    guarantee: Guarantee, columns: Sequence[str], format: str, *, listed: bool
) -> str:
    """Return ``README.txt``.

    columns : those of ``documents.parquet``.
    format : the format of the counts.
    listed : whether the release lists the answers of each document.
    """
    return render(
        "README.txt", guarantee=guarantee, **_figures(guarantee, listed), columns=columns,
        format=format, listed=listed,
    )  # fmt: skip


def render(name: str, **values: Any) -> str:
    """Return a template filled with values."""
    return _environment().render_template(name, **values)


def factor(loss: float) -> str:
    """Return e to the power of a loss for people, rounded up.

    >>> factor(0.5), factor(10.0), factor(1000.0)
    ('1.65', '22,027', 'a number with 435 digits')
    """
    exact = EXACT.exp(Decimal(loss))
    if exact >= LARGEST_FACTOR:
        return f"a number with {exact.adjusted() + 1:,} digits"
    places = Decimal(1 if exact >= 100 else "0.01")
    return f"{exact.quantize(places, ROUND_CEILING, EXACT):,f}"


def odds(loss: float) -> list[tuple[str, str]]:
    """Return what odds for a suspicion can become at most, for some odds before.

    >>> odds(10.0)
    [('1 to 1,000,000', '1 to 45.39'), ('1 to 100', '220.3 to 1'), ('even', '22,030 to 1')]
    """
    exact = EXACT.exp(Decimal(loss))
    if exact >= LARGEST_FACTOR:
        return []
    found = []
    for against in (10**6, 100, 1):
        before = f"1 to {against:,}" if against > 1 else "even"
        grown = exact >= against
        rounding = Context(prec=4, rounding=ROUND_CEILING if grown else ROUND_FLOOR)
        after = rounding.divide(exact, against) if grown else rounding.divide(against, exact)
        found.append((before, f"{after:,f} to 1" if grown else f"1 to {after:,f}"))
    return found


def _figures(guarantee: Guarantee, listed: bool) -> dict[str, Any]:
    """Return what both texts say about a guarantee."""
    loss, most = guarantee.loss_per_document, guarantee.documents_per_author
    who = ["every document"] if len(guarantee.composition) == 1 else ["the pilot", "all others"]
    parts = [_part(*each) for each in zip(who, guarantee.composition, strict=True)]
    kept = [part["kept"] for part in parts if part["kept"] is not None]
    several = any(part["several"] for part in parts)
    example = most or AUTHOR_DOCUMENTS
    return {
        "loss": shown(loss, 2),
        "factor": factor(loss),
        "odds": odds(loss),
        "parts": parts,
        "several": several,
        "coarse": bool(kept) and min(kept) >= MOSTLY_KEPT and not several,
        "answers": "topics" if listed else "answers",
        "author_documents": f"{example:,}",
        "author_loss": shown(times_up(loss, example), 2),
        "author_factor": factor(times_up(loss, example)),
        "limits": _limits(guarantee),
        "settings": _settings(guarantee.settings),
        "covered": f"{100 * COVERED:.0f} %",
    }


def _limits(guarantee: Guarantee) -> list[str]:
    """Return sentences on what no guarantee of this kind says, after the caveats of this one."""
    order = "random order" if guarantee.shuffled else "the order of the source"
    return [
        *([] if guarantee.kept_columns else ["No column of the source is released here."]),
        f"The documents are in {order}. The guarantee covers neither their order nor their number.",
        "The topic of a document is meant to remain visible. If an author always writes about the "
        "same topic, the topic can point to the author.",
        "No one promises that a guess fails: who finds two texts equally likely may become almost "
        "sure of one.",
        "A second release of the same documents adds its own loss to this one.",
    ]


def _part(who: str, part: Part) -> dict[str, Any]:
    """Return the figures of a mechanism; `kept` is the probability that the target is drawn."""
    is_response = part.mechanism == response.SCHEME
    kept = keep_probability(Fraction(part.ratio), part.answers) if is_response else None
    return {
        "who": who,
        "mechanism": part.mechanism,
        "answers": f"{part.answers:,}",
        "draws": f"{part.draws:,}",
        "several": part.draws > 1,
        "loss": shown(part.loss, 4),
        "factor": factor(part.loss),
        "kept": None if kept is None else float(kept),
        "kept_percent": None if kept is None else percent(float(kept)),
        "digest": part.digest,
    }


def _settings(recorded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the settings that belong to the chosen way of spending a loss, for people."""
    found = []
    for name, value in recorded.items():
        units = SETTINGS[name].units if name in SETTINGS else ()
        if not units or any(unit in recorded for unit in units):
            text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
            found.append((name.replace("_", " "), text))
    return found


def percent(share: float) -> str:
    """Return a share for people.

    >>> percent(0.957), percent(0.99999), percent(1.0), percent(0.00001)
    ('95.7 %', 'over 99.9 %', '100.0 %', 'under 0.1 %')
    """
    if 0.999 < share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def _lists(topics: pl.DataFrame) -> list[dict[str, Any]]:
    """Return for each list of topics how many answers were released from it."""
    found = topics.group_by("list", maintain_order=True).agg(pl.len(), pl.col("released").sum())
    return found.to_dicts()


def _leading(topics: pl.DataFrame | None) -> list[dict[str, Any]]:
    """Return the topics that were released most often, from the list that most documents have."""
    if topics is None or not len(topics):
        return []
    last = topics.filter(pl.col("list") == topics["list"][-1])
    rows = last.sort("released", descending=True, maintain_order=True).head(LEADING).to_dicts()
    most = max(1, *(row["high"] for row in rows))
    for row in rows:
        estimate = min(max(row["estimate"], 0.0), most)
        row["shown"] = f"{max(0, round(row['estimate'])):,}"
        row["at"] = [f"{100 * value / most:.2f}%" for value in (estimate, row["low"], row["high"])]
    return [row for row in rows if row["released"]]


@cache
def _environment() -> "Environment":
    """Return the environment of the templates."""
    from minijinja import Environment

    return Environment(
        loader=_source,
        filters={"wrapped": _wrapped},
        auto_escape_callback=lambda name: name.endswith(".html"),
        finalizer=_printable,
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _source(name: str) -> str:
    return files("syntf.release").joinpath("templates", name).read_text(encoding="utf-8")


def _printable(value: Any) -> Any:
    """Replace characters that could control a terminal; templates pass every value through this."""
    return value if hasattr(value, "__html__") else printable(str(value))


def _wrapped(text: str, start: str) -> str:
    """Break a text into lines of at most 84 characters, the first of which begins with `start`."""
    from minijinja import safe  # leaves line breaks alone; README.txt is not HTML

    indent = " " * len(start)
    lines = textwrap.fill(printable(text), 84, initial_indent=start, subsequent_indent=indent)
    return safe(lines)
