"""Check a built site: every link has a target, and no page loads anything from another host.

python tools/check_site.py [FOLDER]

MkDocs checks the links in Markdown. This program checks the HTML that MkDocs wrote:

- links and pictures lead to files of the site, and fragments to an id of the linked page;
- no page, style sheet or picture loads anything from another host (links to other hosts are fine);
- no paragraph has a line that begins like a list or a table: it should have become one.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
CSS_FROM_OTHER_HOST = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')\s]+")
LIST_OR_TABLE = re.compile(r"^\s*(?:[-*] |\d+\. |\|)", re.MULTILINE)


class Page(HTMLParser):
    """The links, loaded files, ids and paragraphs of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.paragraphs: list[str] = []
        self._in_paragraph = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.ids |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if LOADED.get(tag, "") in attributes:
            self.loaded.append(attributes[LOADED[tag]])
        if tag == "p":
            self._in_paragraph = True
            self.paragraphs.append("")
        elif tag == "code" and self._in_paragraph:
            self.paragraphs[-1] += "`"  # hides how a line of code begins

    def handle_endtag(self, tag: str) -> None:
        self._in_paragraph = self._in_paragraph and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._in_paragraph:
            self.paragraphs[-1] += data


def faults(site: Path) -> list[str]:
    """List what is wrong with a site, one line for each fault."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: the folder holds no page"]
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{name}: loads {link}")
                continue
            start = site if parts.path.startswith("/") else path.parent
            target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name}: {link} does not exist")
            elif parts.fragment and target.suffix == ".html":
                known = pages[site / target.relative_to(site.resolve())] if parts.path else page
                if unquote(parts.fragment) not in known.ids:
                    found.append(f"{name}: {link}: that page has no such anchor")
        for text in page.paragraphs:
            if beginning := LIST_OR_TABLE.search(text):
                line = text[beginning.start() :].strip().splitlines()[0]
                found.append(f"{name}: a paragraph that should be a list or a table: {line[:60]}")
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg"), *pages]):
        for match in CSS_FROM_OTHER_HOST.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)}: loads {match}")
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/site")
    found_faults = faults(folder)
    for line in found_faults:
        print(line)
    print(f"{folder}: {len(list(folder.rglob('*.html')))} pages, {len(found_faults)} faults")
    sys.exit(bool(found_faults))
