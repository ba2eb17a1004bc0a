"""The README.txt of a release: what it is, for the person who receives it."""

import textwrap
from collections.abc import Sequence
from fractions import Fraction

from syntf.core.exact import shown, shown_ratio
from syntf.privacy.guarantee import Guarantee


def readme(
    guarantee: Guarantee,
    documents: int,
    columns: Sequence[str],
    counts_file: str = "vectors.npz",
    documents_file: str = "documents.parquet",
) -> str:
    """What this is, for the person who receives it."""
    counts_file, documents_file = f"  {counts_file:<19}", f"  {documents_file:<19}"
    odds = shown_ratio(Fraction(guarantee.loss_ratio))
    caveats = guarantee.caveats or ["Nothing but the counts is released here."]
    notes = "".join(_wrapped("  * ", caveat) + "\n" for caveat in caveats)
    headline = (
        "differentially private"
        if guarantee.private
        else "NOT covered by a differential-privacy guarantee as it stands (see below)"
    )
    return f"""\
Synthetic term-frequency vectors, made by syntf {guarantee.version}
{"=" * 60}

These are not the texts. Each of the {documents:,} documents was turned into
{guarantee.length} words, each drawn from the document and replaced at random by a word
of similar meaning; what you have are the counts of those words. The release is
{headline}.

Files
{counts_file}counts, documents x terms
  vocabulary.txt     the term of each column, one a line
{_wrapped(documents_file, "one row a document: " + ", ".join(columns))}
  report.html        the guarantee and what it means, with pictures
  guarantee.json     the guarantee and all parameters, for programs

What the guarantee says
  Privacy loss per word       {shown(guarantee.loss_per_word.tight, 4)}
  Privacy loss per document   {shown(guarantee.loss_per_document, 2)}  ({guarantee.length} words)
  An author of m documents    m times the loss of a document

  Whatever the document was, seeing one released word changes the odds between any
  two documents it may have been by a factor of at most {odds}. This holds for
  every pair of documents, whatever else is known. The factors of all words multiply,
  so this is a limit on what can be proved, not a promise that nothing can be guessed.

What it does not say
{notes}\
  * The topic of a document is meant to remain visible, and where authors keep to
    their topics it can point to them.
  * A second release of the same documents adds its own loss to this one.

Table digest  {guarantee.digest}
Whoever has this folder and syntf can check it:  syntf verify FOLDER
"""


def _wrapped(start: str, text: str) -> str:
    return textwrap.fill(text, 84, initial_indent=start, subsequent_indent=" " * len(start))
