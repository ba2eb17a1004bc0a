"""A language pack: a folder of public data for texts in one language, with a manifest.

The manifest ``language.json`` names the language, the tokenizer, where the data come from with
their licences, and the SHA-256 of every file. English is the pack in the package's data folder.
Other packs are made by ``syntf language build`` and found by the code of their language in a folder
of the user, or by their own folder.

*Guarantee.* A pack is public: it is made from word vectors and word lists, never from the texts
that are released. Which pack is used is chosen by a person and recorded by its digest. It is never
chosen by looking at the texts, because the recorded choice would then reveal something about them.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs

from syntf.core.errors import SyntfError, shortened, suggestion
from syntf.core.files import place_folder, replacing, sha256_of
from syntf.settings import EMBEDDED

FORMAT = "syntf language pack 2"
MANIFEST = "language.json"

Tokenizer = Literal["words", "elision", "sudachi"]
"""How texts are split into tokens: at everything but letters and digits, where an apostrophe stays
inside a word (*words*) or divides it too (*elision*, as in *l'heure*), or by SudachiPy's
dictionary of Japanese words (*sudachi*)."""

Lexicon = Literal["lemminflect", "lemmas", ""]
"""Where dictionary forms come from: the package lemminflect, the pack's file, or nowhere."""

PARTS_OF_SPEECH = ("aux", "noun", "verb", "adj", "adv", "other")
"""The parts of speech of a file of lemmas, whose lines are ``form,part of speech,lemma``. A form of
several parts has the lemma of the first of these."""

ROLES = ("words", "vectors", "vocabulary", "topical", "codebook", "stop_words", "numbers", "lemmas")
"""What the files of a pack are for. Only a pack whose lexicon is *lemmas* has the last one."""

_CODE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_FILE = re.compile(r"\w[\w.-]{0,60}")


@dataclass(frozen=True)
class Source:
    """Where a part of a pack comes from: what it is, its origin, and its licence."""

    what: str
    origin: str
    licence: str


@dataclass(frozen=True, eq=False)
class LanguagePack:
    """A folder of public data for one language.

    folder : where the files are.
    code : the language, such as ``fr``.
    tokenizer : how texts are split into tokens.
    lexicon : where dictionary forms come from.
    sources : where the data come from.
    files : the name and the SHA-256 of the file for each role.

    Examples
    --------
    >>> pack = embedded_pack()
    >>> pack.code, pack.tokenizer, pack.lexicon
    ('en', 'words', 'lemminflect')
    >>> "the" in pack.stop_words, "twelve" in pack.number_words
    (True, True)
    """

    folder: Path
    code: str
    tokenizer: Tokenizer
    lexicon: Lexicon
    sources: Sequence[Source]
    files: Mapping[str, tuple[str, str]]

    @cached_property
    def is_embedded(self) -> bool:
        """Whether this is the pack that comes with syntf."""
        return self.folder == _embedded_folder()

    @cached_property
    def manifest(self) -> str:
        """The text of the manifest, the only one for these values."""
        record = {
            "format": FORMAT,
            "language": self.code,
            "tokenizer": self.tokenizer,
            "lexicon": self.lexicon,
            "sources": [asdict(source) for source in self.sources],
            "files": {
                role: {"name": name, "sha256": digest}
                for role, (name, digest) in self.files.items()
            },
        }
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which holds those of all files."""
        return sha256(self.manifest.encode()).hexdigest()

    def path(self, role: str) -> Path:
        """Return the file for a role."""
        return self.folder / self.files[role][0]

    def lines(self, role: str) -> list[str]:
        """Return the lines of a word list, without empty ones."""
        text = self.path(role).read_text(encoding="utf-8")
        return [line for line in text.split("\n") if line]

    @cached_property
    def stop_words(self) -> frozenset[str]:
        """Function words, which are left out of documents; lower case."""
        return frozenset(self.lines("stop_words"))

    @cached_property
    def number_words(self) -> frozenset[str]:
        """Words for numbers, such as *twelve*; lower case."""
        return frozenset(self.lines("numbers"))

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> "LanguagePack":
        """Read the pack in a folder, and check the digest of every file.

        Raises
        ------
        SyntfError
            If the folder is not a language pack, or is damaged.
        """
        pack = _read_manifest(Path(folder))
        for name, digest in pack.files.values():
            path = pack.folder / name
            if not path.is_file():
                raise SyntfError(f"the language pack {folder} is damaged: {name} is missing")
            if sha256_of(path) != digest:
                raise SyntfError(
                    f"the language pack {folder} is damaged: {name} does not have the digest that "
                    f"{MANIFEST} states; build the pack again or get it again"
                )
        return pack

    def write_manifest(self) -> None:
        """Write the manifest into the folder of the pack."""
        with replacing(self.folder / MANIFEST) as file:
            file.write(self.manifest.encode())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the place and the digest: another process opens its own files, checked."""
        return _reopened, (None if self.is_embedded else self.folder, self.digest)


@cache
def embedded_pack() -> LanguagePack:
    """Return the English pack that comes with syntf. Its digests are checked by the tests."""
    return _read_manifest(_embedded_folder())


def folder() -> Path:
    """Return the folder of packs: $SYNTF_LANGUAGES, or in the user's folder for data."""
    chosen = os.environ.get("SYNTF_LANGUAGES")
    return Path(chosen) if chosen else platformdirs.user_data_path("syntf") / "languages"


def installed() -> list[str]:
    """Return the codes of the packs that were installed, sorted; the embedded one is not listed."""
    return sorted(path.parent.name for path in folder().glob(f"[!.]*/{MANIFEST}"))


def find(language: str | PathLike[str] | None) -> LanguagePack:
    """Return a pack by the code of its language or by its folder; English for None.

    Raises
    ------
    SyntfError
        If there is no such pack, or if it cannot be used.
    """
    name = EMBEDDED if language is None else os.fspath(language)
    if name == EMBEDDED:
        return embedded_pack()
    is_folder = os.sep in name or Path(name, MANIFEST).is_file()
    place = Path(name) if is_folder else folder() / name
    if not is_folder and (not name or not place.is_dir()):
        known = [EMBEDDED, *installed()]
        raise SyntfError(
            f"there is no language pack {name!r}{suggestion(name, known)} (installed: "
            f"{', '.join(known)}): make one with syntf language build and install it with syntf "
            "language add"
        )
    manifest = place / MANIFEST
    return _read_once(place.absolute(), manifest.stat().st_mtime_ns if manifest.is_file() else 0)


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
        if LanguagePack.read(new).digest != pack.digest:
            raise SyntfError(f"{source} changed while it was copied: try again")
        place_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(target)


@lru_cache(16)
def _read_once(place: Path, changed: int) -> LanguagePack:
    """Read and check a pack, once in a process unless its manifest changes."""
    return LanguagePack.read(place)


def _reopened(place: Path | None, digest: str) -> LanguagePack:
    """Return the pack that another process pickled."""
    pack = embedded_pack() if place is None else _read_manifest(place)
    if pack.digest != digest:
        raise SyntfError(
            f"the language pack in {pack.folder} is not the one that this process was given: "
            "install the same packs and the same syntf on every machine"
        )
    return pack


@cache
def _embedded_folder() -> Path:
    return Path(str(resources.files("syntf").joinpath("data")))


def _read_manifest(folder: Path) -> LanguagePack:
    """Read the manifest of a pack without looking at its other files."""
    path = folder / MANIFEST
    if not path.is_file():
        raise SyntfError(f"{folder} is not a language pack: it has no {MANIFEST}")
    try:
        text = path.read_bytes().decode()
        record = json.loads(text)
        if record["format"] != FORMAT:
            raise SyntfError(
                f"{path} has the format {shortened(record['format'])!r}, and this version of syntf "
                f"reads {FORMAT!r}: build the pack again with syntf language build"
            )
        pack = LanguagePack(
            folder,
            record["language"],
            record["tokenizer"],
            record["lexicon"],
            [Source(**source) for source in record["sources"]],
            {role: (file["name"], file["sha256"]) for role, file in record["files"].items()},
        )
        is_valid = pack.manifest == text and _is_usable(pack)
    except OSError as error:
        raise SyntfError(f"cannot read {path}: {error.strerror}") from None
    except SyntfError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SyntfError(f"{path} is not a valid manifest: {shortened(error)}") from None
    if not is_valid:
        raise SyntfError(f"{path} is not a manifest as syntf writes it: build the pack again")
    return pack


def _is_usable(pack: LanguagePack) -> bool:
    """Tell whether every value of a manifest is one that syntf writes."""
    needed = {*ROLES} - ({"lemmas"} if pack.lexicon != "lemmas" else set())
    return (
        _CODE.fullmatch(pack.code) is not None
        and pack.tokenizer in get_args(Tokenizer)
        and pack.lexicon in get_args(Lexicon)
        and set(pack.files) == needed
        and all(_FILE.fullmatch(name) for name, _ in pack.files.values())
    )
