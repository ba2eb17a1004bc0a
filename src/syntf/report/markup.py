"""HTML from strings: whatever is not markup is escaped where it enters."""

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is HTML already."""


def text(value: object) -> str:
    """Markup as it is, anything else escaped; what cannot be printed becomes a question mark.

    >>> text("<b> & \\x00"), text(Markup("<b>"))
    ('&lt;b&gt; &amp; ?', '<b>')
    """
    if isinstance(value, Markup):
        return value
    shown = "".join(letter if letter.isprintable() else "?" for letter in str(value))
    return escape(shown)


def element(name: str, *children: object, **attributes: str) -> Markup:
    """An element with its children; `kind` is its class.

    >>> element("p", "1 < 2 ", element("b", "so"), kind="note")
    '<p class="note">1 &lt; 2 <b>so</b></p>'
    """
    named = {"class" if key == "kind" else key: value for key, value in attributes.items()}
    given = "".join(f' {key}="{escape(value)}"' for key, value in named.items())
    return Markup(f"<{name}{given}>{''.join(map(text, children))}</{name}>")


def table(head: Sequence[object], rows: Iterable[Sequence[object]], kind: str = "") -> Markup:
    """A table whose rows each begin with their own heading."""
    top = element("tr", *(element("th", cell, scope="col") for cell in head))
    lines = [
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in rest))
        for first, *rest in rows
    ]
    made = element("table", element("thead", top), element("tbody", *lines), kind=kind)
    return element("div", made, kind="wide")


def section(name: str, title: str, *children: object) -> Markup:
    heading = element("h2", title, id=name)
    return element("section", heading, *children, **{"aria-labelledby": name})


def percent(share: float) -> str:
    """A chance for people to read: three digits at most, never a false zero.

    >>> percent(0.3584), percent(0.0471), percent(0.00007), percent(1.0), percent(0.0)
    ('35.8%', '4.7%', 'under 0.01%', '100%', '0%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0001:
        return "under 0.01%"
    if share > 0.9999:
        return "over 99.99%"
    return f"{100 * share:.{1 if 0.01 <= share < 0.99 else 2}f}%"


def score(value: float | None) -> str:
    """A score of analyst or attacker: .60, or a dash.

    >>> score(0.604), score(1.0), score(None)
    ('.60', '1.00', '–')
    """
    return "–" if value is None else f"{value:.2f}".removeprefix("0")
