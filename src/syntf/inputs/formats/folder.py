"""Read a folder: every file that is a document, one row each, subfolders included.

Names decide which files are read, never their contents. Hidden files and links are left out: a link
may lead out of the folder, or to a document that is read anyway.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from syntf.core.errors import SyntfError
from syntf.inputs.archives import COMPRESSED
from syntf.inputs.files import display_name, entries_below, has_rows
from syntf.inputs.formats import document_files


@dataclass
class Listing:
    """The files of a folder: those that are read, and how many of each kind are not."""

    documents: list[tuple[Path, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    not_installed: int = 0
    tables: list[Path] = field(default_factory=list)
    links: int = 0

    def notice(self, folder: Path) -> str:
        """Say what was left out; nothing if all files are read."""
        counted = [f"{number:,} {suffix}" for suffix, number in sorted(self.left_out.items())]
        if self.links:
            counted.append(f"{self.links:,} link{'s' * (self.links > 1)}")
        if not counted:
            return ""
        extra = f" ({document_files.EXTRA} reads .pdf and .docx)" * bool(self.not_installed)
        return f"left out of the folder {display_name(folder)}: {', '.join(counted)}{extra}"


def list_folder(folder: Path) -> Listing:
    """List the documents of a folder; refuse a folder of tables, or of no documents."""
    found = Listing()
    for path in entries_below(folder):
        if path.is_symlink() or not path.is_file():
            found.links += path.is_symlink()
            continue
        kind = document_files.kind_of(path.name)
        if kind is not None and document_files.is_installed(kind):
            found.documents.append((path, kind))
            continue
        found.not_installed += kind is not None
        found.left_out[_suffix(path)] += 1
        if has_rows(path):
            found.tables.append(path)
    if found.tables and len(found.tables) >= len(found.documents):
        suffix = Counter(map(_suffix, found.tables)).most_common(1)[0][0]
        inside = any(path.parent != folder for path in found.tables)
        pattern = display_name(folder / f"{'**/' * inside}*{suffix}")
        raise SyntfError(
            f"the folder {display_name(folder)} holds {suffix} files, which have many documents "
            f"each: give them as '{pattern}', in quotes"
        )
    if not found.documents:
        left_out = found.notice(folder)
        raise SyntfError(
            f"the folder {display_name(folder)} holds no documents{left_out and f'; {left_out}'}"
        )
    return found


def _suffix(path: Path) -> str:
    """Return what a name ends in, to count files by.

    >>> _suffix(Path("a.b.csv.gz")), _suffix(Path("photo.PNG"))
    ('.csv.gz', '.png')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    found = "".join(suffixes[-2:] if packed else suffixes[-1:])
    return found if len(found) <= 12 and " " not in found else "of other kinds"
