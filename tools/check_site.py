"""Check a built site: every link leads somewhere, nothing is loaded from elsewhere.

python tools/check_site.py [FOLDER]

MkDocs checks links in Markdown. This looks at the HTML that came out, whatever made it: links and
pictures lead to files of the site, fragments to an id of the page they name. No page, style or
picture asks another host for anything; links that a reader may follow there are left alone. A
paragraph with a line that begins like a list or a table was meant as one.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
CSS_FROM_ELSEWHERE = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')\s]+")
MEANT = re.compile(r"^\s*(?:[-*] |\d+\. |\|)", re.MULTILINE)


class Seen(HTMLParser):
    """What a page links to, loads, and can be linked to by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.paragraphs: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADED.get(tag, "") in given:
            self.loaded.append(given[LOADED[tag]])
        if tag == "p":
            self._inside = True
            self.paragraphs.append("")
        elif tag == "code" and self._inside:
            self.paragraphs[-1] += "`"  # what a line of code begins with says nothing

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.paragraphs[-1] += data


def faults(site: Path) -> list[str]:
    """What is wrong with a site, one line each."""
    pages = {path: Seen(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: no page"]
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
                found.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target.suffix == ".html":
                known = pages[site / target.relative_to(site.resolve())] if parts.path else page
                if unquote(parts.fragment) not in known.ids:
                    found.append(f"{name}: {link}: no such place on that page")
        for text in page.paragraphs:
            if meant := MEANT.search(text):
                line = text[meant.start() :].strip().splitlines()[0]
                found.append(f"{name}: a paragraph that was meant as a list or table: {line[:60]}")
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg"), *pages]):
        for match in CSS_FROM_ELSEWHERE.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)}: loads {match}")
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/site")
    wrong = faults(folder)
    for line in wrong:
        print(line)
    print(f"{folder}: {len(list(folder.rglob('*.html')))} pages, {len(wrong)} faults")
    sys.exit(bool(wrong))
