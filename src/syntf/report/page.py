"""Render ``report.html`` and ``README.txt`` from templates.

The templates hold all wording. :func:`template_digest` names a wording, so that ``syntf verify``
knows whether it has the templates that a release was written with.
"""

import json
import textwrap
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from syntf.core.exact import shown
from syntf.privacy.guarantee import AUTHORS, CAVEATS, Guarantee
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import PAPER, PUBLISHED, Sparsity, document_figures, figures
from syntf.report.table_summary import TableSummary

if TYPE_CHECKING:
    from minijinja import Environment

    from syntf.report.evaluation import EvaluationScores

REPORT_FILE = "report.html"
"""The name of the report in a release."""

TEMPLATES = (
    "README.txt", "document_readme.txt", "card.txt", "loading.txt", "macros.html", "measured.html",
    "report.css", "report.html", "document.html", "verdict.html", "about.html", "compared.html",
    "tasks.html",
)  # fmt: skip


def render_report(
    guarantee: Guarantee,
    table: TableSummary | DocumentSummary,
    sparsity: Sparsity | None = None,
    evaluation: "EvaluationScores | None" = None,
) -> str:
    """Return ``report.html``.

    sparsity : of the released counts; None for a report on settings without a release.
    evaluation : scores for the owner of the texts; never part of a release.
    """
    verdict = None
    if evaluation is not None:
        from syntf.report.verdict import judge

        verdict = judge(evaluation, guarantee.loss_per_document if guarantee.private else None)
    if isinstance(table, DocumentSummary):
        return render(
            "document.html",
            guarantee=guarantee,
            figures=document_figures(guarantee, table, sparsity),
            published=PUBLISHED,
            evaluation=evaluation,
            verdict=verdict,
        )
    return render(
        "report.html",
        guarantee=guarantee,
        figures=figures(guarantee, table, sparsity),
        paper=PAPER,
        published=PUBLISHED,
        evaluation=evaluation,
        verdict=verdict,
    )


def render(name: str, **context: Any) -> str:
    """Return a template filled with values."""
    return _environment().render_template(name, **context)


@cache
def template_digest() -> str:
    """Return the SHA-256 of all wording: the templates, and the sentences of the guarantee."""
    digest = sha256("\n".join([*CAVEATS.values(), *AUTHORS.values()]).encode())
    for name in TEMPLATES:
        digest.update(_source(name).encode())
    return f"sha256:{digest.hexdigest()}"


def _source(name: str) -> str:
    return files("syntf.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    """Return the environment of the templates, which are loaded when they are rendered."""
    from minijinja import Environment

    return Environment(
        loader=_source,
        filters={"shown": shown, "wrapped": _wrapped, "tojson": _json},
        auto_escape_callback=lambda name: name.endswith(".html"),
        finalizer=_printable,
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _printable(value: Any) -> Any:
    """Replace characters that cannot be printed; templates pass every value through this.

    Numbers are written as Python writes them. A float without a fraction arrives here as an
    integer, so templates print such floats with a format.

    >>> _printable("a\\x1b[2J"), _printable(1e-06)
    ('a?[2J', '1e-06')
    """
    if hasattr(value, "__html__"):  # markup that a template made
        return value
    text = str(value)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _wrapped(text: str, start: str) -> str:
    """Break a text into lines of at most 84 characters, the first of which begins with `start`."""
    from minijinja import safe  # _printable leaves this alone, line breaks included

    indent = " " * len(start)
    lines = textwrap.fill(_printable(text), 84, initial_indent=start, subsequent_indent=indent)
    return safe(lines)  # README.txt is not HTML


def _json(value: Any) -> str:
    """Return JSON that is also HTML, with sorted keys and numbers as Python writes them."""
    from minijinja import safe

    text = json.dumps(value, sort_keys=True)
    for letter in "<>&'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return safe(text)
