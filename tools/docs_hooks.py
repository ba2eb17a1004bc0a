"""Hooks for MkDocs, so that the same files work on GitHub and as a site.

Pages in the repository's root, such as README.md, become pages of the site. Their links, which name
files of the repository, are changed to name pages of the site. The tutorial is shown with the
output that is stored in the notebook. Pages listed under ``expected_pages`` may be missing.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

import notebook_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#:]+)((?:#[^)\s]*)?(?: +\"[^\"]*\")?\))")
FILE = re.compile(r"[\w/-]+\.(?:md|ipynb)")
TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
ROLE = re.compile(r":(?:mod|class|func|meth|attr):<code>~?([^<]*)</code>")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace folders in the navigation by their pages; drop expected pages that are missing."""
    missing = {
        name for name in config.extra["expected_pages"] if not (ROOT / "docs" / name).exists()
    }
    config.nav = _expanded(config.nav, missing)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root folder and the notebooks."""
    for source, place in config.extra["root_pages"].items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    for path in sorted((ROOT / "docs").glob("*.ipynb")):
        text, pictures = notebook_page.page(notebook_page.read(path), f"{path.stem}-images")
        files.append(File.generated(config, f"{path.stem}.md", content=text + _download(path.name)))
        for name, content in pictures.items():
            files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change links to files of the repository into links to pages of the site.

    Where the text of a link is a file name, the title of the page takes its place.
    """
    places: dict[str, str] = config.extra["root_pages"]
    sources = {place: source for source, place in places.items()}
    here = page.file.src_uri
    source = sources.get(here, f"docs/{here}")

    def changed(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
        place = page_of(target, places)
        page = None if place is None else files.get_file_from_path(place)
        if place is None or page is None:
            return found[0]
        title = TITLE.search(page.content_string) if FILE.fullmatch(found[1]) else None
        text = title[1] if title else found[1]
        return f"[{text}]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{found[3]}"

    return LINK.sub(changed, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Remove the Sphinx roles that docstrings use for names of modules and functions."""
    return ROLE.sub(r"<code>\1</code>", html)


def page_of(target: str, root_pages: dict[str, str]) -> str | None:
    """Return the page of the site that shows a file of the repository; None if there is none.

    >>> page_of("README.md", {"README.md": "index.md"}), page_of("docs/decisions", {})
    ('index.md', 'decisions/README.md')
    >>> page_of("docs/tutorial.ipynb", {}), page_of("setup.py", {})
    ('tutorial.md', None)
    """
    if target in root_pages:
        return root_pages[target]
    if not target.startswith("docs/"):
        return None
    place = target.removeprefix("docs/")
    if place.endswith(".ipynb"):
        return place.removesuffix(".ipynb") + ".md"
    return place if "." in posixpath.basename(place) else f"{place}/README.md"


def _expanded(entry: Any, missing: set[str]) -> Any:
    if isinstance(entry, dict):
        return {name: _expanded(inner, missing) for name, inner in entry.items()}
    if isinstance(entry, list):
        kept = [item for item in entry if not _names(item) & missing]
        return [_expanded(item, missing) for item in kept]
    if isinstance(entry, str) and entry.endswith("/"):
        found = sorted((ROOT / "docs" / entry).glob("*.md"), key=_order)
        return [entry + path.name for path in found]
    return entry


def _order(path: Path) -> tuple[bool, str]:
    return path.name != "README.md", path.name


def _names(entry: Any) -> set[str]:
    """Return the page that an entry names; nothing if the entry is a section."""
    values = entry.values() if isinstance(entry, dict) else [entry]
    return {value for value in values if isinstance(value, str)}


def _download(name: str) -> str:
    return f'\n<p><a href="{name}" download>Download the notebook</a> to run and change it.</p>\n'
