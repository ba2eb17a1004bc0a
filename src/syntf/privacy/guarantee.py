"""The guarantee of a release: its fields, their JSON form and their valid values, declared once.

``guarantee.json`` holds the fields of :class:`Guarantee` in the order of their declaration, then a
checksum. Each field declares the values that syntf can write into it, so that
:mod:`syntf.verification.guarantee_file` needs no second list. The record holds numbers, names and
digests; sentences for people are derived from it (:attr:`Guarantee.caveats`).
"""

# ruff: noqa: RUF009  (_field declares a field, as dataclasses.field does)

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields, replace
from fractions import Fraction
from hashlib import sha256
from math import isfinite
from typing import Any, Literal, get_args

from syntf.core.choices import (
    ANALYZER_SEPARATOR,
    FAST,
    SPACY,
    SUDACHI,
    Draws,
    Morphology,
    Provenance,
    Unit,
    Weighting,
)
from syntf.core.errors import SyntfError
from syntf.core.exact import shown, times_up

FORMAT = 2
"""The format of the releases that this version writes. Version 0.1.0 wrote format 1."""

LONGEST_TOPIC, LONGEST_WORD = 20, 7
"""Words in the term profile of a topic and of a word."""

CHECKSUM = "checksum"
"""The last entry of ``guarantee.json``: the SHA-256 of all that stands before it."""

Inputs = Literal["vectors", "outputs"]
"""The input words: every word with a vector, or the output words alone."""

ORIGINS = ("vocabulary", "vectors", "stop_words", "idf")
"""Data whose provenance, public or fitted on the texts, is recorded."""

SUPPLIED = (
    "language", "vocabulary", "vectors", "stop_words", "codebook", "encoder", "wordnet", "analyzer",
)  # fmt: skip
"""Data that a sender can supply in place of the embedded public data, in the order recorded."""

CAVEATS = {
    "seeded": "NOT PRIVATE: the random draws come from a seed, so anyone can repeat them.",
    "fitted": (
        "NOT COVERED: {names} fitted on the texts of this release. The release depends on the "
        "texts in a way that the loss does not count."
    ),
    "supplied": "Public only according to the sender of this release: {names}.",
    "kept": "Released unchanged, outside the guarantee: columns {names}.",
}
"""The sentences of :attr:`Guarantee.caveats`."""

AUTHORS = {
    "limited": (
        "An author loses at most {loss}: at most {documents} of each author {are} released, chosen "
        "at random. A document without an author counts as an author of its own. How many "
        "documents of an author are released is not protected."
    ),
    "unlimited": "An author of m documents in this release loses m times as much as one document.",
}
"""The sentences of :attr:`Guarantee.author_promise`."""

Valid = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """Tell whether a value is a string that can be encoded as UTF-8."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def is_digest(value: Any) -> bool:
    """Tell whether a value is a SHA-256 as syntf writes it."""
    return type(value) is str and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 1 << 62


def _is_loss(value: Any) -> bool:
    return type(value) is float and isfinite(value) and value >= 0


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(map(is_text, value))


def _is_ratio(value: Any) -> bool:
    """Accept a fraction of at least 1 with at most 40 digits on each side."""
    if type(value) is not str or not re.fullmatch("[0-9]{1,40}(/[0-9]{1,40})?", value):
        return False
    denominator = value.partition("/")[2]
    return int(denominator or 1) > 0 and Fraction(value) >= 1


def _one_of(literal: Any) -> Valid:
    return lambda value: type(value) is str and value in get_args(literal)


def _mapping(keys: Callable[[list[str]], bool], values: Valid) -> Valid:
    return lambda found: (
        type(found) is dict and keys(list(found)) and all(map(values, found.values()))
    )


def _field(valid: Valid, *, since: int = 1, unverifiable: bool = False, **options: Any) -> Any:
    """Declare a field of ``guarantee.json``.

    valid : tells whether syntf could have written a JSON value into the field.
    since : the first format that has the field.
    unverifiable : no other file of a release confirms the value.
    """
    metadata = {"valid": valid, "since": since, "unverifiable": unverifiable}
    return field(metadata=metadata, **options)


@dataclass(frozen=True)
class Losses:
    """Bounds on the privacy loss of one word; `tight` is the guarantee.

    `tight` is measured on the table. `standard` and `improved` are formulas for real-valued
    probabilities; rounding to integers can put `tight` a little above `improved` in tables with
    few output words.
    """

    standard: float
    improved: float
    tight: float


@dataclass(frozen=True)
class DocumentUnit:
    """How the loss of a whole document is spent; recorded in releases of the document unit.

    kind : whether an answer holds topics or words.
    draws, loss_per_draw : answers drawn for a document, and the largest loss of each.
    entries, size : entries of the general list, and entries in an answer.
    pilot : documents that answered from the general list first; 0 without a pilot.
    sharpened_entries, sharpened_size : the same for the list of all other documents; 0 without
        such a list. Without a pilot it is the list of an earlier release.
    encoder : what encodes a document.
    codebook, codebook_origin : the digest of the codebook, and who says that it is public.
    general, sharpened : the digests of the lists; `sharpened` is empty without such a list.
    """

    kind: str
    draws: int
    loss_per_draw: float
    entries: int
    size: int
    pilot: int
    sharpened_entries: int
    sharpened_size: int
    encoder: str
    codebook: str
    codebook_origin: str
    general: str
    sharpened: str


@dataclass(frozen=True)
class Language:
    """The language pack of a release: the code of the language, and the digest of the pack.

    For several packs, the codes are divided by commas, and the digest is that of all digests.
    """

    code: str
    digest: str


_CODE = "[a-z]{2,3}(-[A-Za-z0-9]{1,8})*"


def _is_language(value: Any) -> bool:
    """Accept the record of :class:`Language`."""
    return (
        type(value) is dict
        and list(value) == [part.name for part in fields(Language)]
        and type(value["code"]) is str
        and re.fullmatch(f"{_CODE}(,{_CODE})*", value["code"]) is not None
        and is_digest(value["digest"])
    )


def _is_analyzer(value: Any) -> bool:
    """Accept the name of an analyzer, or the different names of those of several languages.

    >>> [_is_analyzer(name) for name in ("fast", "fast, sudachi 0.6 small", "fast, spacy:en")]
    [True, True, False]
    """
    if not is_text(value) or value.startswith(SPACY):
        return is_text(value)
    names = value.split(ANALYZER_SEPARATOR)
    return len({*names}) == len(names) and all(
        name == FAST or name.startswith(SUDACHI) for name in names
    )


def _is_document_unit(value: Any) -> bool:
    """Accept the record of :class:`DocumentUnit`, or null for the words unit."""
    if value is None:
        return True
    if type(value) is not dict or list(value) != [part.name for part in fields(DocumentUnit)]:
        return False
    counts = ("draws", "entries", "size")
    several = ("pilot", "sharpened_entries", "sharpened_size")
    return (
        value["kind"] in ("topics", "words")
        and all(_is_count(value[name]) for name in counts)
        and all(type(value[name]) is int and 0 <= value[name] < 1 << 40 for name in several)
        and _is_loss(value["loss_per_draw"])
        and is_text(value["encoder"])
        and value["codebook_origin"] in ("embedded", "language", "supplied", "private")
        and is_digest(value["codebook"])
        and is_digest(value["general"])
        and (value["sharpened"] == "" or is_digest(value["sharpened"]))
    )


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The differential-privacy guarantee of a release, as in ``guarantee.json``.

    `private` is true only if every draw used the entropy of the operating system and the mechanism
    was built from public data. :attr:`caveats` says what the loss does not cover.

    Attributes
    ----------
    format : the format of the release (see :data:`FORMAT`).
    unit : what the loss is spent on, the whole document or each word.
    language : the language pack, by which texts were read; None in releases of version 0.1.
    loss_per_word : bounds for one drawn word; None in the document unit.
    loss_per_document : the largest loss of a document, the headline.
    loss_per_author : the largest loss of an author; None if authors are not limited, and an
        author of m documents loses m times as much as one document.
    documents_per_author : documents of one author that are released at most; None for no limit.
    document : how the loss of a document is spent; None in the words unit.
    length : words drawn for a document; answers drawn for it in the document unit.
    neighbours : k of the neighbourhood mechanism; None for the Exponential mechanism.
    inputs, vectors_digest : from these a receiver derives the table of probabilities again.
    template : a digest of the wording of README.txt and report.html; empty before a release is
        written.
    files : the SHA-256 of every other file of the release; empty before a release is written.

    Examples
    --------
    >>> from syntf import SynTF
    >>> guarantee = SynTF(vocabulary=["cat", "dog"], length=10, loss=2.0).fit([]).guarantee_
    >>> guarantee.private, guarantee.length, guarantee["vocabulary_size"]
    (True, 10, 2)
    """

    format: int = _field(lambda value: type(value) is int, since=2, default=FORMAT)
    unit: Unit = _field(_one_of(Unit), since=2, default="words")
    language: Language | None = _field(_is_language, since=2, default=None)
    mechanism: str = _field(is_text)
    epsilon: float = _field(lambda value: _is_loss(value) and value > 0)
    neighbours: int | None = _field(lambda value: value is None or _is_count(value))
    spelling: float = _field(lambda value: type(value) is float and 0 <= value <= 1)
    length: int = _field(lambda value: _is_count(value) and value <= 1 << 20)
    morphology: str = _field(_one_of(Morphology), unverifiable=True)
    synsets: bool = _field(_is_flag, unverifiable=True)
    analyzer: str = _field(_is_analyzer, unverifiable=True)
    weights: str = _field(_one_of(Weighting), unverifiable=True)
    draws: str = _field(_one_of(Draws), unverifiable=True)
    vocabulary_size: int = _field(_is_count)
    inputs: Inputs = _field(_one_of(Inputs))
    input_size: int = _field(_is_count)
    loss_per_word: Losses | None = _field(
        lambda value: (
            value is None
            or _mapping(lambda keys: keys == [part.name for part in fields(Losses)], _is_loss)(
                value
            )
        )
    )
    loss_ratio: str = _field(_is_ratio)
    loss_per_document: float = _field(_is_loss)
    loss_per_author: float | None = _field(
        lambda value: value is None or _is_loss(value), since=2, unverifiable=True, default=None
    )
    documents_per_author: int | None = _field(
        lambda value: value is None or _is_count(value), since=2, unverifiable=True, default=None
    )
    document: DocumentUnit | None = _field(_is_document_unit, since=2, default=None)
    provenance: Mapping[str, Provenance] = _field(
        _mapping(lambda keys: keys == [*ORIGINS], _one_of(Provenance)), unverifiable=True
    )
    supplied: Sequence[str] = _field(
        lambda value: _are_texts(value) and value == [name for name in SUPPLIED if name in value],
        unverifiable=True,
    )
    seeded: bool = _field(_is_flag, unverifiable=True)
    kept_columns: Sequence[str] = _field(_are_texts)
    shuffled: bool = _field(_is_flag, unverifiable=True)
    digest: str = _field(is_digest)
    vocabulary_digest: str = _field(is_digest)
    vectors_digest: str = _field(is_digest)
    private: bool = _field(_is_flag)
    version: str = _field(is_text)
    template: str = _field(is_digest, since=2, default="")
    files: Mapping[str, str] = _field(
        _mapping(lambda names: all(map(is_text, names)), is_digest), default_factory=dict
    )

    def __post_init__(self) -> None:
        most = self.documents_per_author
        follows = None if most is None else times_up(self.loss_per_document, most)
        if self.loss_per_author != follows:
            raise SyntfError("loss_per_author is not documents_per_author times loss_per_document")

    @property
    def author_promise(self) -> str:
        """Return a sentence on what an author can lose."""
        if self.loss_per_author is None or self.documents_per_author is None:
            return AUTHORS["unlimited"]
        one = self.documents_per_author == 1
        documents = "1 document" if one else f"{self.documents_per_author:,} documents"
        loss = shown(self.loss_per_author, 2)
        return AUTHORS["limited"].format(loss=loss, documents=documents, are="is" if one else "are")

    @property
    def longest_row(self) -> int:
        """The most distinct words that the released counts of a document can have."""
        if self.document is None:
            return self.length
        unit = self.document
        words = LONGEST_TOPIC if unit.kind == "topics" else LONGEST_WORD
        return unit.draws * max(unit.size, unit.sharpened_size) * words

    @property
    def word_losses(self) -> Losses:
        """Return the bounds for one drawn word, which a release of the words unit has."""
        if self.loss_per_word is None:
            raise SyntfError("a release of the document unit has no loss per word")
        return self.loss_per_word

    @property
    def caveats(self) -> list[str]:
        """Return sentences on what the loss does not cover; those that void it come first."""
        fitted = [name for name, origin in self.provenance.items() if origin == "fitted"]
        claimed = [name for name in self.supplied if name not in fitted]
        found = [CAVEATS["seeded"]] if self.seeded else []
        for kind, names in (
            ("fitted", " and ".join(fitted)),
            ("supplied", " and ".join(claimed)),
            ("kept", ", ".join(self.kept_columns)),
        ):
            if names:
                found.append(CAVEATS[kind].format(names=names))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON types, with the checksum."""
        record: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {**record, CHECKSUM: checksum(record)}

    def as_json(self) -> str:
        """Return the text of ``guarantee.json``. No other text of the same values is accepted."""
        return canonical_json(self.as_dict())

    def __getitem__(self, name: str) -> Any:
        """Return one field, or the checksum, as a JSON type. Templates ask for many."""
        if name == CHECKSUM:
            return self.as_dict()[name]
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return json.loads(json.dumps(getattr(self, name), default=asdict))


def with_author_limit(guarantee: Guarantee, documents: int) -> Guarantee:
    """Return a guarantee for a release of at most `documents` documents of each author."""
    loss = times_up(guarantee.loss_per_document, documents)
    return replace(guarantee, loss_per_author=loss, documents_per_author=documents)


def declared_fields(format: int) -> list[Field[Any]]:
    """Return the declarations of the fields that a format has, in the order of the file."""
    return [one for one in fields(Guarantee) if one.metadata["since"] <= format]


def checksum(record: Mapping[str, Any]) -> str:
    """Return the checksum of a record that does not yet have one."""
    return f"sha256:{sha256(canonical_json(record).encode()).hexdigest()}"


def canonical_json(record: Mapping[str, Any]) -> str:
    """Return the only text that syntf writes for a record."""
    return json.dumps(record, indent=2) + "\n"
