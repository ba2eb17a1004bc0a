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
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import platformdirs

from syntf.core.errors import SyntfError, suggestion
from syntf.core.files import place_folder, sha256_of
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

FILES = {
    "words": "words.txt", "vectors": "vectors.npy", "vocabulary": "vocabulary.txt",
    "topical": "topical.npy", "codebook": "codebook.npz", "stop_words": "function_words.txt",
    "numbers": "number_words.txt", "lemmas": "lemmas.csv.gz",
}  # fmt: skip
"""The files of a pack, by what they are for. Only a pack whose lexicon is *lemmas* has the last."""

_EMBEDDED_FOLDER = Path(__file__).parent.parent / "data"
_CODE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")


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
    digests : the SHA-256 of the file for each role.

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
    digests: Mapping[str, str]

    @cached_property
    def is_embedded(self) -> bool:
        """Whether this is the pack that comes with syntf."""
        return self.folder == _EMBEDDED_FOLDER

    @cached_property
    def manifest(self) -> str:
        """The text of the manifest."""
        record = {
            "format": FORMAT,
            "language": self.code,
            "tokenizer": self.tokenizer,
            "lexicon": self.lexicon,
            "sources": [asdict(source) for source in self.sources],
            "files": {
                role: {"name": FILES[role], "sha256": digest}
                for role, digest in self.digests.items()
            },
        }
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which holds those of all files."""
        return sha256(self.manifest.encode()).hexdigest()

    def path(self, role: str) -> Path:
        """Return the file for a role."""
        return self.folder / FILES[role]

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
        for role, digest in pack.digests.items():
            if not pack.path(role).is_file() or sha256_of(pack.path(role)) != digest:
                raise SyntfError(
                    f"the language pack {folder} is damaged: {FILES[role]} does not have the "
                    f"digest that {MANIFEST} states; build the pack again or get it again"
                )
        return pack


@cache
def embedded_pack() -> LanguagePack:
    """Return the English pack that comes with syntf. Its digests are checked by the tests."""
    return _read_manifest(_EMBEDDED_FOLDER)


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
    place = Path(name) if Path(name, MANIFEST).is_file() else folder() / name
    if not (place / MANIFEST).is_file():
        known = [EMBEDDED, *installed()]
        raise SyntfError(
            f"there is no language pack {name!r}{suggestion(name, known)} (installed: "
            f"{', '.join(known)}): make one with syntf language build and install it with syntf "
            "language add"
        )
    return _read_once(place.absolute(), (place / MANIFEST).stat().st_mtime_ns)


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
    new = target.with_name(f".{pack.code}.{os.getpid()}")
    try:
        new.mkdir(parents=True)
        for name in (MANIFEST, *map(FILES.__getitem__, pack.digests)):
            shutil.copyfile(pack.folder / name, new / name)
        LanguagePack.read(new)
        place_folder(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return LanguagePack.read(target)


@lru_cache(16)
def _read_once(place: Path, changed: int) -> LanguagePack:
    """Read and check a pack, once in a process unless its manifest changes."""
    return LanguagePack.read(place)


def _read_manifest(folder: Path) -> LanguagePack:
    """Read the manifest of a pack without looking at its other files."""
    path = folder / MANIFEST
    try:
        record = json.loads(path.read_bytes())
        pack = LanguagePack(
            folder,
            record["language"],
            record["tokenizer"],
            record["lexicon"],
            [Source(**source) for source in record["sources"]],
            {role: file["sha256"] for role, file in record["files"].items()},
        )
        needed = {*FILES} if pack.lexicon == "lemmas" else {*FILES} - {"lemmas"}
        if (
            record["format"] == FORMAT
            and _CODE.fullmatch(pack.code)
            and pack.tokenizer in get_args(Tokenizer)
            and pack.lexicon in get_args(Lexicon)
            and {*pack.digests} == needed
        ):
            return pack
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise SyntfError(
        f"{folder} is not a language pack of this version of syntf: {path} is missing, or not a "
        f"manifest with the format {FORMAT!r}; build the pack again with syntf language build"
    )
