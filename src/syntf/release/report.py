"""``report.html`` and ``README.txt``: what a guarantee means, for whoever receives a release.

The templates hold the wording, this module the figures. All of them follow from the guarantee and
from released numbers, so everybody who has the other files can write both texts again.
"""

import textwrap
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from syntf.core.errors import printable
from syntf.core.exact import EXACT, shown, times_up
from syntf.mechanism import response
from syntf.privacy.guarantee import Guarantee, Part
from syntf.release.topics import COVERED, LISTS, keep_probability

if TYPE_CHECKING:
    from minijinja import Environment

VERSIONS = ("0.3.0",)
"""The versions of syntf whose releases have this wording.

A version that changes a sentence, here or in the guarantee, keeps the templates of earlier ones in
a folder of their own, because every 0.3 verifies every 0.3.
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
    pilot = 0
    if topics is not None:
        general = topics.filter(pl.col("list") == LISTS[0])["released"].sum()
        pilot = int(general) // guarantee.composition[0].draws
    more = {"topics": _leading(topics), "pilot": f"{pilot:,}"}
    return _render("report.html", guarantee, topics is not None, **more)


def render_readme(
    guarantee: Guarantee, columns: Sequence[str], format: str, *, listed: bool
) -> str:
    """Return ``README.txt``.

    columns : those of ``documents.parquet``.
    format : the format of the counts.
    listed : whether the release lists the answers of each document.
    """
    return _render("README.txt", guarantee, listed, columns=columns, format=format)


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


def percent(share: float) -> str:
    """Return a share for people.

    >>> percent(0.957), percent(0.99999), percent(1.0), percent(0.00001)
    ('95.7 %', 'over 99.9 %', '100.0 %', 'under 0.1 %')
    """
    if 0.999 < share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def _render(name: str, guarantee: Guarantee, listed: bool, **more: Any) -> str:
    """Return a template filled with what both texts say about a guarantee."""
    loss = guarantee.loss_per_document
    who = ["every document"] if len(guarantee.composition) == 1 else ["the pilot", "all others"]
    parts = [_part(*each) for each in zip(who, guarantee.composition, strict=True)]
    several = any(part.draws > 1 for part in guarantee.composition)
    example = guarantee.documents_per_author or AUTHOR_DOCUMENTS
    order = "random order" if guarantee.shuffled else "the order of the source"
    return _environment().render_template(
        name,
        guarantee=guarantee,
        listed=listed,
        loss=shown(loss, 2),
        factor=factor(loss),
        limits_documents=EXACT.exp(Decimal(loss)) < LARGEST_FACTOR,
        parts=parts,
        several=several,
        coarse=not several and all(part["kept"] >= MOSTLY_KEPT for part in parts),
        order=order,
        author_documents=f"{example:,}",
        author_loss=shown(times_up(loss, example), 2),
        author_factor=factor(times_up(loss, example)),
        settings=[(name.replace("_", " "), _setting(v)) for name, v in guarantee.settings.items()],
        covered=f"{100 * COVERED:.0f} %",
        **more,
    )


def _part(who: str, part: Part) -> dict[str, Any]:
    """Return the figures of a mechanism. `kept` is the probability that a target is drawn.

    Under the Exponential mechanism this depends on the target: `kept` is 0 then, for not known.
    """
    is_response = part.mechanism == response.SCHEME
    kept = float(keep_probability(Fraction(part.ratio), part.answers)) if is_response else 0.0
    return {
        "who": who,
        "mechanism": part.mechanism,
        "answers": f"{part.answers:,}",
        "draws": f"{part.draws:,}",
        "several": part.draws > 1,
        "loss": shown(part.loss, 4),
        "factor": factor(part.loss),
        "kept": kept,
        "kept_percent": percent(kept) if kept else "depends on the answer",
        "digest": part.digest,
    }


def _setting(value: Any) -> str:
    """Return the value of a setting for people."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _leading(topics: pl.DataFrame | None) -> list[dict[str, Any]]:
    """Return the topics that were released most often, from the list that most documents have.

    `at` has the places of the estimate and of both ends of its interval, in the picture.
    """
    if topics is None:
        return []
    last = topics.filter((pl.col("list") == topics["list"][-1]) & (pl.col("released") > 0))
    rows = last.sort("released", descending=True, maintain_order=True).head(LEADING).to_dicts()
    most = max((row["high"] for row in rows), default=1)
    for row in rows:
        row["estimate"] = max(0.0, row["estimate"])
        ends = (min(row["estimate"], most), row["low"], row["high"])
        row["at"] = [f"{100 * end / most:.2f}%" for end in ends]
        row["told"] = f"{round(row['estimate']):,} ({row['low']:,} to {row['high']:,})"
    return rows


@cache
def _environment() -> "Environment":
    """Return the environment of the templates."""
    from minijinja import Environment

    return Environment(
        loader=lambda name: files("syntf.release").joinpath("templates", name).read_text("utf-8"),
        filters={"wrapped": _wrapped},
        auto_escape_callback=lambda name: name.endswith(".html"),
        finalizer=_printable,
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _printable(value: Any) -> Any:
    """Replace characters that could control a terminal; templates pass every value through this."""
    return value if hasattr(value, "__html__") else printable(str(value))


def _wrapped(text: str, start: str) -> str:
    """Break a text into lines of at most 84 characters, the first of which begins with `start`."""
    from minijinja import safe  # leaves line breaks alone; README.txt is not HTML

    indent = " " * len(start)
    lines = textwrap.fill(printable(text), 84, initial_indent=start, subsequent_indent=indent)
    return safe(lines)
