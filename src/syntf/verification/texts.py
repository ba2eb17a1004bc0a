"""Check README.txt and report.html: their figures always, their wording if this program has it.

A release names the templates that its texts were written with. If this program has the same
templates, it renders the texts again and compares every byte. If not, it compares the figures
that the texts hold and says that the wording was not compared. So rewording a sentence leaves
earlier releases valid.
"""

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from arro3.core import DataType

from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.core.release_names import CARD_FILE
from syntf.mechanism.base import Mechanism
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.croissant import render_card
from syntf.releases.contents.readme import readme_figures, render_readme
from syntf.report.document_summary import DocumentSummary
from syntf.report.evaluation import EvaluationScores
from syntf.report.figures import (
    Sparsity,
    document_figures,
    figures,
    odds_of_earlier_programs,
)
from syntf.report.page import REPORT_FILE, render_report, template_digest
from syntf.report.table_summary import TableSummary, summarize_table
from syntf.verification.release_folder import plain_bytes
from syntf.verification.result import Finding
from syntf.vocabulary.vocabulary import Vocabulary

LARGEST_TEXT = 1 << 22
"""Bytes of README.txt or report.html at most."""

SAME_BYTES = "the same bytes when rendered again"
FIGURES_ONLY = "the figures are right; the wording is not compared"


def wording_is_known(guarantee: Guarantee) -> bool:
    """Tell whether this program has the templates that a release was written with."""
    return guarantee.template == template_digest()


def check_readme(
    folder: Path,
    guarantee: Guarantee,
    names: tuple[str, str],
    columns: Sequence[str],
    documents: int,
) -> Finding:
    """Check README.txt; `names` are those of the counts file and of the documents file."""
    text = plain_bytes(folder / "README.txt", LARGEST_TEXT).decode()
    if wording_is_known(guarantee):
        if text != render_readme(guarantee, documents, columns, *names):
            raise SyntfError("the text differs from what guarantee.json and the files give")
        return Finding(SAME_BYTES)
    if guarantee.format == 1:
        _require(text, _first_readme_figures(guarantee, documents))
    else:
        lines = text.partition("\nFigures\n")[2].partition("\n\n")[0].splitlines()
        stated = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines)
        _require_known_figures(stated, readme_figures(guarantee, documents))
    return Finding(FIGURES_ONLY)


def check_card(
    folder: Path,
    guarantee: Guarantee,
    names: tuple[str, str],
    schema: Mapping[str, DataType],
    documents: int,
) -> Finding:
    """Check croissant.json; its description is wording, everything else is always compared."""
    raw = plain_bytes(folder / CARD_FILE, LARGEST_TEXT)
    expected = render_card(guarantee, documents, schema, names[0], guarantee.files)
    if wording_is_known(guarantee):
        if raw != expected:
            raise SyntfError("the card differs from what guarantee.json and the files give")
        return Finding(SAME_BYTES)
    found, right = json.loads(raw), json.loads(expected)
    if not isinstance(found, dict) or not isinstance(found.get("description"), str):
        raise SyntfError("the card has no description")
    if {**found, "description": ""} != {**right, "description": ""}:
        raise SyntfError("the card differs from what guarantee.json and the files give")
    return Finding("names, types and digests are right; the description is not compared")


def render_report_again(
    guarantee: Guarantee,
    mechanism: Mechanism,
    vocabulary: Vocabulary,
    sparsity: Sparsity,
    evaluation: EvaluationScores | None = None,
) -> str:
    """Return the report of a release, rendered from a table that was derived again."""
    table = summarize_table(mechanism, vocabulary, length=guarantee.length)
    return render_report(guarantee, table, sparsity, evaluation)


def check_report(
    folder: Path,
    guarantee: Guarantee,
    mechanism: Mechanism,
    vocabulary: Vocabulary,
    sparsity: Sparsity,
) -> Finding:
    """Check report.html against the guarantee, the table and the counts."""
    table = summarize_table(mechanism, vocabulary, length=guarantee.length)
    return check_rendered_report(folder, guarantee, table, sparsity)


def check_rendered_report(
    folder: Path,
    guarantee: Guarantee,
    summary: TableSummary | DocumentSummary,
    sparsity: Sparsity,
) -> Finding:
    """Check report.html against the guarantee, a summary of what was drawn from, and the counts."""
    text = plain_bytes(folder / REPORT_FILE, LARGEST_TEXT).decode()
    if wording_is_known(guarantee):
        if text != render_report(guarantee, summary, sparsity):
            raise SyntfError("the page differs from what guarantee.json, table and counts give")
        return Finding(SAME_BYTES)
    _require_inert(text)
    if guarantee.format == 1:
        _require(text, _first_report_figures(guarantee, sparsity))
    else:
        found = re.findall(r'<pre id="figures">(.*?)</pre>', text, re.DOTALL)
        if len(found) != 1:
            raise SyntfError("the page does not hold its figures once, as JSON")
        stated = json.loads(found[0])
        if isinstance(summary, DocumentSummary):
            expected = document_figures(guarantee, summary, sparsity)
            _require_known_figures(stated, expected, {"odds": odds_of_earlier_programs(guarantee)})
        else:
            _require_known_figures(stated, figures(guarantee, summary, sparsity))
    return Finding(FIGURES_ONLY)


def _require_known_figures(
    stated: Any, expected: dict[str, Any], earlier: dict[str, Any] | None = None
) -> None:
    """Refuse figures that differ from those expected, and figures that are not expected.

    earlier : figures as earlier programs wrote them, which are right, too.
    """
    if not isinstance(stated, dict) or not stated:
        raise SyntfError("no figures are stated")
    for name, value in stated.items():
        right = [_sorted(known[name]) for known in (expected, earlier or {}) if name in known]
        if _sorted(value) not in right:
            raise SyntfError(f"the figure {name!a} differs from what the other files give")


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _require(text: str, lines: Sequence[str]) -> None:
    """Refuse a text of 0.1.0 that lacks one of the lines that 0.1.0 wrote for these figures."""
    for line in lines:
        if line not in text:
            raise SyntfError("a figure differs from what guarantee.json and the files give")


def _first_readme_figures(guarantee: Guarantee, documents: int) -> list[str]:
    word, document = guarantee.word_losses.tight, guarantee.loss_per_document
    return [
        f" {documents:,} documents was turned into\n{guarantee.length} words, each drawn",
        f"\n  Privacy loss per word       {shown(word, 4)}\n",
        f"\n  Privacy loss per document   {shown(document, 2)}  ({guarantee.length} words)\n",
        f"\nTable digest  {guarantee.digest}\n",
    ]


def _first_report_figures(guarantee: Guarantee, sparsity: Sparsity) -> list[str]:
    kind = "number" if guarantee.private else "number void"
    return [
        f'<span class="{kind}">{shown(guarantee.loss_per_document, 2)}</span>',
        f'scope="row">one released word</th><td>{shown(guarantee.word_losses.tight, 4)}</td>',
        f"<td>{sparsity.documents:,}</td>",
        f"<code>{guarantee.digest}</code>",
    ]


def _require_inert(text: str) -> None:
    """Refuse a page that could run or load anything."""
    page = _Page()
    page.feed(text)
    page.close()
    if "<!--" in text or "<![" in text:
        raise SyntfError("the page holds a comment, which no report of syntf has")
    if page.fault:
        raise SyntfError(f"the page holds {page.fault!a}, which no report of syntf has")
    if not page.has_policy:
        raise SyntfError("the page lacks the policy that forbids it to load anything")


class _Page(HTMLParser):
    """Note an element or attribute that no report has, and whether there is a policy."""

    ELEMENTS = frozenset(
        "html head meta title style body main header footer section div span p h1 h2 h3 ul ol li "
        "strong code sup figure figcaption table thead tbody tr th td svg rect line circle "
        "details summary pre".split()
    )
    ATTRIBUTES = frozenset(
        "lang charset name content class id scope role aria-label aria-labelledby aria-hidden "
        "x y x1 x2 y1 y2 cx cy r rx width height".split()
    )
    POLICY = (
        ("http-equiv", "Content-Security-Policy"),
        ("content", "default-src 'none'; style-src 'unsafe-inline'"),
    )
    fault = ""
    has_policy = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [tag] if tag not in self.ELEMENTS else []
        if tag == "meta" and tuple(attrs) == self.POLICY:
            self.has_policy = True
        else:
            names += [name for name, _ in attrs if name not in self.ATTRIBUTES]
        self.fault = self.fault or "".join(names[:1])

    handle_startendtag = handle_starttag
