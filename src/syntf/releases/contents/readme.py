"""README.txt of a release, for the person who receives it."""

from collections.abc import Sequence
from fractions import Fraction

from syntf.core.exact import shown, shown_ratio
from syntf.privacy.guarantee import Guarantee
from syntf.report.page import render


def readme_figures(guarantee: Guarantee, documents: int) -> dict[str, str]:
    """Return the figures that README.txt lists under "Figures", where ``syntf verify`` finds them.

    Their names and forms belong to the format of a release: adding a figure is safe, changing one
    needs a new format.
    """
    losses = {"loss per document": shown(guarantee.loss_per_document, 2)}
    if guarantee.loss_per_author is not None:
        losses["loss per author"] = shown(guarantee.loss_per_author, 2)
    if guarantee.document is not None:
        return {
            "documents": f"{documents:,}",
            **losses,
            "documents of the pilot": f"{guarantee.document.pilot:,}",
            "codebook digest": guarantee.document.codebook,
        }
    return {
        "documents": f"{documents:,}",
        "words per document": f"{guarantee.length:,}",
        "loss per word": shown(guarantee.word_losses.tight, 4),
        **losses,
        "largest factor per word": shown_ratio(Fraction(guarantee.loss_ratio)),
        "table digest": guarantee.digest,
    }


def render_readme(
    guarantee: Guarantee,
    documents: int,
    columns: Sequence[str],
    counts_file: str = "vectors.npz",
    documents_file: str = "documents.parquet",
) -> str:
    """Return README.txt.

    columns : the columns of the documents file.
    counts_file, documents_file : names, or a pattern if there are several shards.
    """
    return render(
        "README.txt" if guarantee.document is None else "document_readme.txt",
        guarantee=guarantee,
        figures=readme_figures(guarantee, documents),
        columns=columns,
        counts_file=counts_file,
        documents_file=documents_file,
    )
