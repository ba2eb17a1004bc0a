"""Pictures of what the mechanism does to words, and of how sparse the released counts are."""

from collections.abc import Sequence

from syntf.privacy.guarantee import Guarantee
from syntf.report import svg
from syntf.report.contents import Released
from syntf.report.markup import Markup, element, percent, section
from syntf.report.portrait import Fate, Portrait, Substitution

COLUMNS = 40
"""Columns of the histogram at most: what a phone can show."""


def fate(guarantee: Guarantee, portrait: Portrait) -> Markup:
    """How likely a word is to stay, to become a near one, or any."""
    near = _near(guarantee, portrait)
    shares = portrait.fate
    parts = (("a", "stays itself", shares.stays), ("b", f"becomes {near}", shares.near),
             ("c", "becomes any other word", shares.other))  # fmt: skip
    told = "; ".join(f"{name}: {percent(share)}" for _, name, share in parts)
    keys = [
        element("li", _swatch(kind), f"{name}: ", element("strong", percent(share)))
        for kind, name, share in parts
    ]
    figure = element(
        "figure",
        Markup(svg.stack([(kind, share) for kind, _, share in parts], told)),
        element("ul", *keys, kind="key"),
        element(
            "figcaption",
            f"Mean over the {portrait.sampled} most frequent words of the vocabulary, each "
            "equally often. Chances of the public table, not counts from documents.",
        ),
    )
    return section(
        "fate",
        "What becomes of a word",
        element(
            "p",
            f"Each of the {guarantee.length:,} words of a document is drawn from it and then "
            f"replaced at random by one of {guarantee.vocabulary_size:,} words. A word outside "
            "these cannot stay itself. Every word can become every one of them, which is "
            "what the guarantee rests on.",
        ),
        figure,
        element("h3", "What the most frequent words become"),
        element("ul", *map(_substitution, portrait.substitutions), kind="rows words"),
        element(
            "p",
            "The words are the most frequent ones of the vocabulary by the order of the word "
            "vectors; whether any document has them plays no part. Colours as above.",
            kind="soft",
        ),
    )


def _near(guarantee: Guarantee, portrait: Portrait) -> str:
    if guarantee.neighbours is None:
        return f"one of the {portrait.near} words likeliest in its place"
    return "its nearest word" if portrait.near == 1 else f"one of its {portrait.near} nearest words"


def _substitution(one: Substitution) -> Markup:
    told = "; ".join([*_becomes(one), f"itself {percent(one.fate.stays)}"])
    return element(
        "li",
        element("span", one.word),
        Markup(svg.stack(_parts(one.fate), f"{one.word}: {told}", 16)),
        element("span", told, kind="soft"),
    )


def _becomes(one: Substitution) -> list[str]:
    """Likely words with their chances; the chance once where it is the same for all."""
    chances = {percent(chance) for _, chance in one.becomes}
    if len(one.becomes) > 1 and len(chances) == 1:
        return [f"{', '.join(word for word, _ in one.becomes)} {chances.pop()} each"]
    told = [f"{word} {percent(chance)}" for word, chance in one.becomes]
    return [", ".join(told)] if told else []  # its nearest may be the word itself


def _parts(fate: Fate) -> list[tuple[str, float]]:
    return [("a", fate.stays), ("b", fate.near), ("c", fate.other)]


def _swatch(kind: str) -> Markup:
    return Markup(
        f'<svg aria-hidden="true"><rect class="{kind}" width="18" height="14" rx="2"/></svg>'
    )


def sparsity(guarantee: Guarantee, released: Released) -> Markup:
    """Distinct words a document, counted on what is released."""
    title = "How sparse the counts are"
    if not released.documents:
        return section("sparsity", title, element("p", "There are no documents in this release."))
    sizes = [size for size, count in enumerate(released.distinct.tolist()) if count]
    least, most = sizes[0], sizes[-1]
    total = sum(size * int(released.distinct[size]) for size in sizes)
    mean = total / released.documents
    step = -(-(most - least + 1) // COLUMNS)
    heights = _binned(released.distinct.tolist()[least : most + 1], step)
    told = (
        f"Distinct words a document: {least} at least, {mean:.1f} on average, {most} at most, "
        f"in {released.documents:,} documents."
    )
    each = "one number" if step == 1 else f"{step} numbers"
    figure = element(
        "figure",
        Markup(svg.columns(heights, told)),
        element(
            "div",
            element("span", f"{least:,}"),
            element("span", "distinct words"),
            element("span", f"{least + step * len(heights) - 1:,}"),
            kind="ends",
        ),
        element(
            "figcaption",
            f"Documents by their number of distinct words; a column stands for {each}, the "
            f"highest for {max(heights):,} documents.",
        ),
    )
    filled = total / (released.documents * guarantee.vocabulary_size)
    return section(
        "sparsity",
        title,
        element(
            "p",
            f"Of the {guarantee.vocabulary_size:,} columns, a document fills {mean:.1f} on "
            f"average ({percent(filled)}). Counted on the released counts alone.",
        ),
        figure,
    )


def _binned(values: Sequence[int], step: int) -> list[int]:
    """Sums of `step` values each.

    >>> _binned([1, 2, 3, 4, 5], 2)
    [3, 7, 5]
    """
    return [sum(values[start : start + step]) for start in range(0, len(values), step)]
