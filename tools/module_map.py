"""Write the map of modules in CONTRIBUTING.md from the first line of each module's docstring.

    python tools/module_map.py            # say whether the map is up to date
    python tools/module_map.py --write    # write it again

Packages stand in the order in which import-linter layers them, lowest first, so that the map reads
in the direction in which data flows.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "syntf"
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- module map: make map -->", "<!-- end of module map -->"
ROLE = re.compile(r":(?:mod|class|func|meth|attr):`~?([^`]*)`")


def summary(path: Path) -> str:
    """Return the first paragraph of a module's docstring, or of a C file's comment, as one line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        comment = re.match(r"/\* (.*?)(?:\n \*\n|\*/)", text, re.DOTALL)
        return " ".join(comment[1].replace("\n *", " ").split()) if comment else ""
    docstring = ast.get_docstring(ast.parse(text)) or ""
    line = " ".join(docstring.split("\n\n")[0].split())
    return ROLE.sub(r"`\1`", line).replace("``", "`").replace("|", "\\|")


def modules() -> list[Path]:
    """List all modules of the package, and the sources of its compiled modules."""
    return sorted(path for kind in ("*.py", "_*.[ch]") for path in PACKAGE.rglob(kind))


def layers() -> list[str]:
    """List the packages as import-linter layers them, lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layered,) = [contract for contract in contracts if contract["type"] == "layers"]
    return [name.strip() for line in reversed(layered["layers"]) for name in line.split("|")]


def order(folder: str) -> tuple[int, str]:
    """Sort key of a folder: its layer, then its name; the package itself comes first."""
    known = layers()
    top = folder.partition("/")[0]
    return (known.index(top) if top in known else -1 if not top else len(known)), folder


def module_map() -> str:
    """Return the map: a heading and a table of modules for each folder."""
    folders: dict[str, list[Path]] = defaultdict(list)
    for path in modules():
        folder = path.parent.relative_to(PACKAGE).as_posix()
        folders["" if folder == "." else folder].append(path)
    parts = []
    for folder in sorted(folders, key=order):
        package, *inside = sorted(folders[folder], key=lambda path: path.name != "__init__.py")
        name = f"syntf/{folder}/" if folder else "syntf/"
        rows = [f"| `{path.name}` | {summary(path)} |" for path in inside]
        table = ["", "| module | what it does |", "|---|---|", *rows] if rows else []
        parts.append("\n".join([f"**`{name}`** {summary(package)}", *table]))
    return "\n\n".join(parts)


def with_map(page: str) -> str:
    """Return a page with the text between its two markers replaced by the map."""
    before, _, rest = page.partition(START)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{PAGE.name}: the markers {START!r} and {END!r} are missing")
    return f"{before}{START}\n{module_map()}\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    wanted = with_map(page)
    if "--write" in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if page != wanted:
        print("the map of modules in CONTRIBUTING.md is out of date: run 'make map'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
