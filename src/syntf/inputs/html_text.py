"""Turn HTML into plain text, each page by itself."""

import re
from html.parser import HTMLParser

from syntf.inputs.encodings import decoded

_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike "
    "strong sub sup tt u var wbr".split()
)
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)


def html_to_text(markup: str) -> str:
    """Return the text of a page: without tags, scripts and styles, with entities replaced.

    >>> html_to_text("<p>Fish &amp; <b>chi</b>ps</p><script>x</script><p>tea").split()
    ['Fish', '&', 'chips', 'tea']
    """
    parser = _Text()
    try:
        parser.feed(_closed(markup))
        parser.close()
    except (AssertionError, ValueError, RecursionError):  # raised at malformed declarations
        return re.sub(r"<[^>]*>", " ", markup)
    return "".join(parser.parts)


def _closed(markup: str) -> str:
    """Escape what opens and is never closed: the parser would search to the end for each of it."""
    for start, end in (("<!--", "-->"), ("<![", "]>"), ("<", ">")):
        at = markup.rfind(end) + len(end) if end in markup else 0
        markup = markup[:at] + markup[at:].replace(start, f"&lt;{start[1:]}")
    return markup


def decode_html(raw: bytes, codec: str) -> str:
    """Decode a page by the encoding that its first bytes declare, or else by `codec`."""
    found = _DECLARED.search(raw[:1024])
    marked = raw.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"))
    return decoded(raw, found[1].decode() if found and not marked else codec, codec)


class _Text(HTMLParser):
    """Collect the text of a page. Tags that may stand inside a word leave no blank."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object, opened: int = 1) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden + opened)
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.handle_starttag(tag, None, -1)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.handle_starttag(tag, None, 0)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
