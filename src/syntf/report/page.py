"""The whole page: a function of the guarantee, the public table and the released counts.

Nothing else enters, so whoever has a release can make its report again, byte for byte. Only an
evaluation adds more, and it is never part of a release.
"""

from syntf.core.exact import shown
from syntf.privacy.guarantee import Guarantee
from syntf.report.contents import Evaluated, Released
from syntf.report.markup import Markup, element
from syntf.report.measured import measured
from syntf.report.method import checking, done, limits
from syntf.report.portrait import Portrait
from syntf.report.promise import comparison, headline, meaning
from syntf.report.style import CSS
from syntf.report.words import fate, sparsity

NAME = "report.html"
"""The name of the file in a release."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is loaded and nothing runs, whatever a word or a column is called."""


def page(
    guarantee: Guarantee,
    portrait: Portrait,
    released: Released | None = None,
    evaluated: Evaluated | None = None,
) -> str:
    """``report.html``. Without `released`, of settings that nothing was released with yet."""
    parts = [headline(guarantee, released), meaning(guarantee, portrait), comparison(guarantee)]
    if evaluated is not None:
        parts.append(measured(evaluated))
    parts += [done(guarantee, released), fate(guarantee, portrait)]
    if released is not None:
        parts.append(sparsity(guarantee, released))
    parts += [limits(), checking(guarantee, released)]
    number = shown(guarantee.loss_per_document, 2)
    title = f"privacy loss {number} a document" if guarantee.private else "not private"
    head = "\n".join(
        [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            element("title", f"syntf: {title}"),
            f"<style>{CSS}</style>",
        ]
    )
    body = element("main", *(Markup(f"{part}\n") for part in parts))
    return "\n".join(
        ["<!doctype html>", '<html lang="en">', f"<head>\n{head}\n</head>",
         f"<body>\n{body}\n</body>", "</html>\n"]
    )  # fmt: skip
