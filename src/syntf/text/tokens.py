"""What a token is and how it is spelled, as expressions of polars.

A token is a run of letters and digits of any script, with their combining marks. An apostrophe may
stand inside it. Rust's regular expressions, which polars uses, look neither ahead nor behind, so
tokens are extracted, and texts are not split at what stands between tokens. What is a letter, and
its lower case, is what the Unicode version of polars says.

>>> texts = pl.Series(["The cat's 2 kittens aren't mine, e-mail me_too."])
>>> texts.str.extract_all(WORDS).to_list()
[['The', "cat's", '2', 'kittens', "aren't", 'mine', 'e', 'mail', 'me', 'too']]
>>> pl.Series(["L’heure d'été, 2 cafés"]).str.extract_all(ELISION).to_list()
[['L', 'heure', 'd', 'été', '2', 'cafés']]

The privacy loss does not depend on this module: whatever words a text yields, only the rows of the
mechanism determine what an attacker can learn.
"""

import polars as pl

_MARKS = r"[\p{Mn}\p{Mc}&&[\x{300}-\x{FE2F}]--[\x{20D0}-\x{20FF}\x{FE00}-\x{FE0F}]]"
"""Combining marks, without enclosing marks and variation selectors, which belong to symbols."""

_RUN = rf"[\p{{L}}\p{{N}}{_MARKS}]+"

WORDS = f"{_RUN}(?:['’]{_RUN})?"
"""The pattern of a token, such as *the*, *o'clock* or *2nd*."""

ELISION = _RUN
"""The pattern of a token in a language that writes elided words with an apostrophe."""


def spelling(token: pl.Expr) -> pl.Expr:
    """Return tokens in one spelling, without a possessive ending.

    Characters are composed, full-width forms become usual ones, and so do typographic apostrophes.

    >>> tokens = pl.Series(["Cat’s", "o’clock", "Cafe\u0301", "ＡＢＣ", "ｶﾞ"])
    >>> pl.select(spelling(pl.lit(tokens))).to_series().to_list()
    ['Cat', "o'clock", 'Café', 'ABC', 'ガ']
    """
    plain = token.str.normalize("NFKC").str.replace_all("’", "'", literal=True)
    return plain.str.replace("'[sS]$", "")


def is_number(form: pl.Expr) -> pl.Expr:
    """Tell which lower-case forms are numbers in digits, such as *1990s* or *2nd*."""
    return form.str.contains(r"^\d+(?:st|nd|rd|th|s)?$")
