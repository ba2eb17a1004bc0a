"""What MkDocs is told beyond mkdocs.yml, so that one set of pages serves code host and site.

Pages of the repository's root become pages of the site; links between them and docs/ are followed
by where the files *are*, and written again for where the pages stand. The tutorial is shown as it
was stored. Pages that are expected but not there yet leave no gap in the navigation.
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
    """A folder in the navigation is all its pages; what is expected may be missing."""
    missing = {
        name for name in config.extra["expected_pages"] if not (ROOT / "docs" / name).exists()
    }
    config.nav = _listed(config.nav, missing)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root and of notebooks."""
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
    """Links by where the files are become links by where the pages stand.

    One that shows the name of a file, as is usual on a code host, shows the title of the page.
    """
    places: dict[str, str] = config.extra["root_pages"]
    stood = {place: source for source, place in places.items()}
    here = page.file.src_uri
    source = stood.get(here, f"docs/{here}")

    def moved(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[2]))
        place = placed(target, places)
        page = None if place is None else files.get_file_from_path(place)
        if place is None or page is None:
            return found[0]
        title = TITLE.search(page.content_string) if FILE.fullmatch(found[1]) else None
        shown = title[1] if title else found[1]
        return f"[{shown}]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{found[3]}"

    return LINK.sub(moved, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings name modules as Sphinx does; here the name is enough."""
    return ROLE.sub(r"<code>\1</code>", html)


def placed(target: str, root_pages: dict[str, str]) -> str | None:
    """Where a file of the repository stands in the site; None if it does not.

    >>> placed("README.md", {"README.md": "index.md"}), placed("docs/decisions", {})
    ('index.md', 'decisions/README.md')
    >>> placed("docs/tutorial.ipynb", {}), placed("setup.py", {})
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


def _listed(entry: Any, missing: set[str]) -> Any:
    if isinstance(entry, dict):
        return {name: _listed(inner, missing) for name, inner in entry.items()}
    if isinstance(entry, list):
        kept = [one for one in entry if not _names(one) & missing]
        return [_listed(one, missing) for one in kept]
    if isinstance(entry, str) and entry.endswith("/"):
        found = sorted((ROOT / "docs" / entry).glob("*.md"), key=_order)
        return [entry + path.name for path in found]
    return entry


def _order(path: Path) -> tuple[bool, str]:
    return path.name != "README.md", path.name


def _names(entry: Any) -> set[str]:
    """The page that an entry is; none if it is a section."""
    values = entry.values() if isinstance(entry, dict) else [entry]
    return {value for value in values if isinstance(value, str)}


def _download(name: str) -> str:
    return f'\n<p><a href="{name}" download>The notebook itself</a>, to run and change.</p>\n'
