"""Tables and pages in Markdown."""

from collections.abc import Sequence

MISSING = "–"
"""Written for a number that was not measured."""


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; without rows, it has one row of dashes."""
    first, *rest = (
        f"| {' | '.join(row)} |" for row in [header, *(rows or [[MISSING] * len(header)])]
    )
    return "\n".join([first, "|" + "---|" * len(header), *rest, ""])


def markdown_page(parts: Sequence[str]) -> str:
    """Join headings, paragraphs and tables with blank lines."""
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
