"""The guarantee in one number and one sentence, and what it means."""

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from syntf.core.exact import EXACT, shown, shown_ratio
from syntf.privacy import bounds
from syntf.privacy.guarantee import Guarantee
from syntf.report import svg
from syntf.report.contents import Released
from syntf.report.markup import Markup, element, percent, section, table
from syntf.report.portrait import DELTA, DOCUMENTS, Portrait

PAPER_WORD, PAPER_LENGTH, PAPER_DOCUMENT = 25.4, 150, 3810.0
"""The paper's optimum: its loss per word, its words a document, and their product."""

SUSPICION = 10**6
"""Odds against, before a word is seen."""


def headline(guarantee: Guarantee, released: Released | None) -> Markup:
    """One number, one sentence, and what stands against them."""
    number, subject = shown(guarantee.loss_per_document, 2), "This release"
    about = f"{guarantee.length:,} words a document · syntf {guarantee.version}"
    if released is None:
        subject = "A release with these settings"
    else:
        about = f"{released.documents:,} documents · {about}"
    sentence = (
        "Whatever a document said, what is released of it changes the odds between any two "
        f"documents it may have been by a factor of at most e to the power of {number}."
    )
    if guarantee.private:
        title = f"What {subject[0].lower()}{subject[1:]} promises"
        unit, kind = "privacy loss of a document, at most", "number"
        told = [element("p", sentence), element("p", _reading(guarantee))]
    else:
        title = f"{subject} is not private"
        unit, kind = "loss of a document by the table alone", "number void"
        would = f"The table of probabilities would allow this sentence: “{sentence}”"
        told = [element("p", would, " It does not hold here, for the reasons above.")]
    lead = element(
        "div",
        element("span", number, kind=kind),
        element("span", unit, kind="unit"),
        *told,
        kind="lead",
    )
    top = element("header", element("h1", title), element("p", about, kind="soft"))
    return Markup("\n".join([top, *([] if guarantee.private else [_void(guarantee)]), lead]))


def _void(guarantee: Guarantee) -> Markup:
    reasons = [text for text in guarantee.caveats if text.startswith("NOT ")]
    first = element("strong", "No guarantee covers it as it stands.")
    items = element("ul", *(element("li", reason) for reason in reasons))
    return element("div", element("p", first), items, kind="warn")


def _reading(guarantee: Guarantee) -> str:
    """How much that is, in a few words."""
    factor = shown_ratio(Fraction(guarantee.loss_ratio))
    if guarantee.loss_per_document <= 1:
        return "That is a strong promise: it limits what the whole document can give away."
    if guarantee.loss_per_document <= 10:
        return "That limits what a whole document can give away, though not by much."
    return (
        "For a whole document that excludes nothing. What it limits is the single word: by a "
        f"factor of at most {factor}. Whether a person can be found in practice is shown by "
        "attacks, and those can be measured (syntf evaluate)."
    )


def meaning(guarantee: Guarantee, portrait: Portrait) -> Markup:
    word, length = guarantee.loss_per_word.tight, guarantee.length
    ratio = Fraction(guarantee.loss_ratio)
    author = bounds.author_loss(word, length, DOCUMENTS)
    rows = [
        ("one released word", shown(word, 4), shown_factor(ratio, 1)),
        (
            f"a document: {length:,} words",
            shown(guarantee.loss_per_document, 2),
            shown_factor(ratio, length),
        ),
        (
            f"an author of {DOCUMENTS} documents",
            shown(author, 2),
            shown_factor(ratio, DOCUMENTS * length),
        ),
    ]
    return section(
        "meaning",
        "What it means",
        element(
            "p",
            "A loss is an exponent: a loss of ℓ lets the odds between two possible documents "
            "shift by a factor of up to e",
            element("sup", "ℓ"),
            ", in either direction, whatever else is known. Losses add up, so factors multiply.",
        ),
        table(["what is seen", "loss, at most", "odds shift by, at most"], rows, "figures"),
        element("p", _suspicion(ratio)),
        element(
            "p",
            f"An author with {DOCUMENTS} documents in a release loses {DOCUMENTS} times as much "
            f"as one with a single document: {shown(author, 2)}. "
            "A second release of the same documents adds its own loss.",
        ),
        element("h3", "With the rarest outcomes left out"),
        element("p", _epsilons(guarantee, portrait, author)),
    )


def comparison(guarantee: Guarantee) -> Markup:
    """The bounds on the loss of a word beside each other, and beside the paper's."""
    losses = guarantee.loss_per_word
    standing = "promised" if guarantee.private else "measured"
    bars = [
        ("standard (ε)", losses.standard, "b", 4),
        ("improved (ε + ln η)", losses.improved, "b", 4),
        (f"tight, {standing}", losses.tight, "a", 4),
        ("the paper’s optimum", PAPER_WORD, "c", 1),
    ]
    most = max(loss for _, loss, _, _ in bars)
    rows = [
        element(
            "li",
            element("span", name),
            Markup(svg.bar(loss / most, kind)),
            element("span", shown(loss, places)),
        )
        for name, loss, kind, places in bars
    ]
    figure = element(
        "figure",
        element("ul", *rows, kind="rows"),
        element("figcaption", "Loss of one word, at most. Shorter is better for the author."),
    )
    return section(
        "comparison",
        "How it compares",
        element(
            "p",
            "Formulas bound the loss from the parameters alone. The tight loss is measured on "
            "the very integers that words are drawn with; a guarantee promises no other.",
        ),
        figure,
        element("p", _beside_paper(guarantee)),
    )


def _beside_paper(guarantee: Guarantee) -> str:
    word, document = guarantee.loss_per_word.tight, guarantee.loss_per_document
    return (
        f"The paper behind the method (SynTF, Weggenmann and Kerschbaum, SIGIR 2018) spends "
        f"{PAPER_WORD:g} a word and {PAPER_DOCUMENT:,.0f} a document of {PAPER_LENGTH} words in "
        f"its best setting. Here it is {shown(word, 4)} and {shown(document, 2)}: "
        f"{percent_of(word, PAPER_WORD)} and {percent_of(document, PAPER_DOCUMENT)} of that."
    )


def percent_of(loss: float, whole: float) -> str:
    share = loss / whole
    return percent(share) if share < 1 else f"{100 * share:,.0f}%"


def _suspicion(ratio: Fraction) -> str:
    """One word seen by someone who thought it a million to one."""
    if ratio < SUSPICION:
        rounding = Context(prec=4, rounding=ROUND_FLOOR)
        left = rounding.divide(Decimal(SUSPICION * ratio.denominator), Decimal(ratio.numerator))
        after = f"1 to {left:,f}"
    else:
        after = f"{shown_ratio(ratio / SUSPICION)} to 1"
    return (
        "Someone who suspects one in a million that a document is a certain one may, after one "
        f"released word, suspect it at {after}, at most. After several words she may be certain."
    )


def _epsilons(guarantee: Guarantee, portrait: Portrait, author: float) -> str:
    promised = [shown(guarantee.loss_per_document, 2), shown(author, 2)]
    smaller = [shown(epsilon, 2) for epsilon in portrait.epsilons]
    if smaller == promised:
        return (
            f"An (ε, δ) guarantee may fail with a small chance δ. At δ = {DELTA:g} nothing "
            f"noticeably smaller than {promised[0]} is known without a longer computation "
            "(syntf bounds --delta)."
        )
    return (
        f"An (ε, δ) guarantee may fail with a small chance δ. At δ = {DELTA:g}, one in a "
        f"million, ε is {smaller[0]} for a document and {smaller[1]} for an author of "
        f"{DOCUMENTS}. This is a promise of a weaker kind, and stands beside the loss of "
        f"{promised[0]}, not in its place."
    )


def shown_factor(ratio: Fraction, count: int) -> str:
    """A power of the factor of one word: four digits, or how many digits it has.

    >>> shown_factor(Fraction(3), 2), shown_factor(Fraction(3000), 100)
    ('9', 'a number of 348 digits')
    """
    log = EXACT.subtract(
        EXACT.log10(Decimal(ratio.numerator)), EXACT.log10(Decimal(ratio.denominator))
    )
    digits = EXACT.multiply(log, Decimal(count))
    if digits < 12:
        return shown_ratio(ratio**count)
    whole = int(digits.to_integral_value(ROUND_FLOOR)) + 1
    return f"a number of {whole:,} digits"
