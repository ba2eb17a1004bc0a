"""A language pack: a folder of public data for texts in one language, with a manifest.

The manifest ``language.json`` names the language, the tokenizer, where the data come from with
their licences, and the SHA-256 of every file. English is the pack in the package's data folder.

*Guarantee.* A pack is public: it is made from word vectors and word lists, never from the texts
that are released. Which pack is used is chosen by a person and recorded by its digest. It is never
chosen by looking at the texts, because the recorded choice would then reveal something about them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from syntf import __version__
from syntf.core.errors import SyntfError, shortened
from syntf.core.files import replacing, sha256_of

FORMAT = "syntf language pack 1"
MANIFEST = "language.json"
Tokenizer = Literal["words", "elision", "sudachi"]
"""How texts are split into tokens: at everything but letters and digits, where an apostrophe stays
inside a word (*words*) or divides it too (*elision*, as in *l'heure*), or by SudachiPy's
dictionary of Japanese words (*sudachi*)."""

ROLES = ("words", "vectors", "vocabulary", "topical", "codebook", "stop_words", "numbers", "lemmas")
"""What the files of a pack are for. The last one may be missing."""

LEMMINFLECT = "lemminflect"
"""The lexicon of the embedded pack, which comes with another package."""

_CODE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_FILE = re.compile(r"[\w][\w.-]{0,60}")
_LARGEST_MANIFEST = 1 << 20


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
    lexicon : ``lemminflect``, or ``lemmas`` for the file of the pack; empty for no lexicon.
    sources : where the data come from.
    files : the name and the SHA-256 of the file for each role.
    since, before : the versions of syntf that can use the pack: from the first, before the second.
    """

    folder: Path
    code: str
    tokenizer: Tokenizer
    lexicon: str
    sources: Sequence[Source]
    files: Mapping[str, tuple[str, str]]
    since: str
    before: str
    is_embedded: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LanguagePack) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the values of a pickled pack; its files are those of this machine."""
        vars(self).update(state, is_checked=False)
        if self.is_embedded:
            vars(self)["folder"] = _embedded_folder()

    @cached_property
    def is_checked(self) -> bool:
        """Whether the folder is known to hold this pack; not if the pack comes from elsewhere."""
        return True

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which holds those of all files."""
        return sha256(self.manifest.encode()).hexdigest()

    @cached_property
    def manifest(self) -> str:
        """The text of the manifest, the only one for these values."""
        record = {
            "format": FORMAT,
            "language": self.code,
            "tokenizer": self.tokenizer,
            "lexicon": self.lexicon,
            "syntf": [self.since, self.before],
            "sources": [vars(source) for source in self.sources],
            "files": {
                role: {"name": name, "sha256": digest}
                for role, (name, digest) in self.files.items()
            },
        }
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"

    def path(self, role: str) -> Path:
        """Return the file for a role.

        Raises SyntfError if the pack was pickled on another machine, and this one has another pack.
        """
        if not self.is_checked:
            if read_manifest(self.folder).digest != self.digest:
                raise SyntfError(
                    f"the language pack in {self.folder} is not the one that this process was "
                    "given: install the same packs and the same syntf on every machine"
                )
            vars(self)["is_checked"] = True
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
        """Read the pack in a folder, and check its version and the digest of every file.

        Raises
        ------
        SyntfError
            If the folder is not a language pack, is for another version of syntf, or is damaged.
        """
        pack = read_manifest(Path(folder))
        for name, digest in pack.files.values():
            path = pack.folder / name
            if not path.is_file():
                raise SyntfError(f"the language pack {folder} is damaged: {name} is missing")
            if sha256_of(path) != digest:
                raise SyntfError(
                    f"the language pack {folder} is damaged: {name} does not have the digest that "
                    f"{MANIFEST} states; build it again or get it again"
                )
        return pack

    def write_manifest(self) -> None:
        """Write the manifest into the folder of the pack."""
        with replacing(self.folder / MANIFEST) as file:
            file.write(self.manifest.encode())


@cache
def embedded_pack() -> LanguagePack:
    """Return the English pack that comes with syntf. Its digests are checked by the tests."""
    from dataclasses import replace

    return replace(read_manifest(_embedded_folder()), is_embedded=True)


def _embedded_folder() -> Path:
    return Path(str(resources.files("syntf").joinpath("data")))


def read_manifest(folder: Path) -> LanguagePack:
    """Read the manifest of a pack without looking at its other files."""
    path = folder / MANIFEST
    if not path.is_file():
        raise SyntfError(f"{folder} is not a language pack: it has no {MANIFEST}")
    try:
        if path.stat().st_size > _LARGEST_MANIFEST:
            raise SyntfError(f"{path} is too large for a manifest")
        text = path.read_bytes().decode("utf-8")
        record = json.loads(text)
        _check(record, path)
        since, before = record["syntf"]
        pack = LanguagePack(
            folder,
            record["language"],
            record["tokenizer"],
            record["lexicon"],
            [Source(**source) for source in record["sources"]],
            {role: (file["name"], file["sha256"]) for role, file in record["files"].items()},
            since,
            before,
        )
        valid = pack.manifest == text and _is_usable(pack)
    except OSError as error:
        raise SyntfError(f"cannot read {path}: {error.strerror}") from None
    except SyntfError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SyntfError(f"{path} is not a valid manifest: {shortened(error)}") from None
    if not valid:
        raise SyntfError(f"{path} is not a manifest as syntf writes it: build the pack again")
    return pack


def _check(record: Any, path: Path) -> None:
    """Refuse a manifest of another format, or for another version of syntf."""
    if record["format"] != FORMAT:
        raise SyntfError(
            f"{path} has the format {shortened(record['format'])!r}, and syntf {__version__} reads "
            f"{FORMAT!r}: build the pack again"
        )
    since, before = record["syntf"]
    if not _version(since) <= _version(__version__) < _version(before):
        raise SyntfError(
            f"the language pack {path.parent} is for syntf from {since} and before {before}, and "
            f"this is {__version__}: build the pack again"
        )


def _is_usable(pack: LanguagePack) -> bool:
    """Tell whether every value of a manifest is one that syntf writes."""
    needed = {*ROLES} - ({"lemmas"} if pack.lexicon != "lemmas" else set())
    return (
        _CODE.fullmatch(pack.code) is not None
        and pack.tokenizer in get_args(Tokenizer)
        and pack.lexicon in ("", "lemmas", LEMMINFLECT)
        and set(pack.files) == needed
        and all(_FILE.fullmatch(name) for name, _ in pack.files.values())
        and all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in pack.files.values())
        and all(
            isinstance(value, str) and value.isprintable()
            for source in pack.sources
            for value in vars(source).values()
        )
    )


def _version(text: str) -> tuple[int, ...]:
    """Return the first three numbers of a version.

    >>> _version("0.2.0rc1") < _version("0.10")
    True
    """
    return tuple(int(number) for number in re.findall("[0-9]+", text)[:3])
