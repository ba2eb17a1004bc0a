"""Where language packs are kept: the packs of a user, found by the code of their language."""

import os
import shutil
from functools import lru_cache
from os import PathLike
from pathlib import Path

import platformdirs

from syntf.core.choices import EMBEDDED
from syntf.core.errors import SyntfError, suggestion
from syntf.core.files import place_folder
from syntf.language.pack import MANIFEST, LanguagePack, embedded_pack, read_manifest
from syntf.language.several import SEPARATOR, refuse_one_language_twice


def folder() -> Path:
    """Return the folder of packs: $SYNTF_LANGUAGES, or in the user's folder for data."""
    chosen = os.environ.get("SYNTF_LANGUAGES")
    return Path(chosen) if chosen else Path(platformdirs.user_data_path("syntf")) / "languages"


def find(language: str | PathLike[str] | None) -> LanguagePack:
    """Return a pack by the code of its language, or by its folder.

    Raises
    ------
    SyntfError
        If there is no such pack, or if it cannot be used.
    """
    name = EMBEDDED if language is None else os.fspath(language)
    if name == EMBEDDED:
        return embedded_pack()
    if SEPARATOR in name:
        raise SyntfError(
            f"one language pack is needed here, not {name!r}: several work with the document unit "
            "and its own topics only"
        )
    if os.sep in name or Path(name, MANIFEST).is_file():
        return _read_once(Path(name))
    place = folder() / name
    if not place.is_dir():
        known = installed_codes()
        listed = ", ".join([EMBEDDED, *known])
        raise SyntfError(
            f"there is no language pack {name!r}{suggestion(name, known)} (installed: {listed}): "
            "make one with syntf language build and install it with syntf language add"
        )
    return _read_once(place)


def find_all(language: str | PathLike[str] | None) -> list[LanguagePack]:
    """Return the packs that are named, divided by commas; the first is that of output words.

    Raises
    ------
    SyntfError
        If a pack cannot be used, or if two are for the same language.
    """
    names = EMBEDDED if language is None else os.fspath(language)
    each = [name.strip() for name in names.split(SEPARATOR)]
    if not all(each):
        raise SyntfError(f"{names!r} has an empty name of a language pack")
    packs = [find(name) for name in each]
    refuse_one_language_twice(packs)
    return packs


def installed_codes() -> list[str]:
    """Return the codes of the packs of the user, sorted."""
    place = folder()
    names = os.listdir(place) if place.is_dir() else []
    return sorted(name for name in names if (place / name / MANIFEST).is_file())


def find_by_digest(digest: str) -> LanguagePack | None:
    """Return the installed pack with this digest, checked file by file; None if there is none."""
    for pack in (embedded_pack(), *map(_manifest_of, installed_codes())):
        if pack is not None and pack.digest == digest:
            return pack if pack.is_embedded else LanguagePack.read(pack.folder)
    return None


def add(source: str | PathLike[str], *, force: bool = False) -> LanguagePack:
    """Copy a pack into the folder of packs, so that its code finds it; return the copy."""
    pack = LanguagePack.read(source)
    target = folder() / pack.code
    if pack.code == EMBEDDED:
        raise SyntfError(
            f"the code {EMBEDDED!r} is that of the embedded pack: use another pack for English by "
            "its folder, with --language FOLDER"
        )
    if target.exists() and not force:
        raise SyntfError(f"there is a pack for {pack.code} already: replace it with --force")
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{pack.code}.{os.getpid()}")
    try:
        new.mkdir()
        for name in (MANIFEST, *(name for name, _ in pack.files.values())):
            shutil.copyfile(pack.folder / name, new / name)
        copied = LanguagePack.read(new)
        if copied.digest != pack.digest:
            raise SyntfError(f"{source} changed while it was copied: try again")
        place_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(target)


def _read_once(place: Path) -> LanguagePack:
    """Read and check a pack, once in a process unless its manifest changes."""
    try:
        changed = (place / MANIFEST).stat().st_mtime_ns
    except OSError:
        changed = 0
    return _read(place.absolute(), changed)


@lru_cache(16)
def _read(place: Path, changed: int) -> LanguagePack:
    return LanguagePack.read(place)


def _manifest_of(code: str) -> LanguagePack | None:
    """Return the manifest of an installed pack; None if it cannot be used."""
    try:
        return read_manifest(folder() / code)
    except SyntfError:
        return None
