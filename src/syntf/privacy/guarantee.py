"""The guarantee of a release: made once, from what was done to a document.

``guarantee.json`` holds the fields of :class:`Guarantee` in the order of their declaration, then a
checksum. Report, ledger and verify read this record; none of them computes a loss of its own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from hashlib import sha256
from typing import Any, Literal, Self

from syntf import __version__
from syntf.core.errors import SyntfError
from syntf.core.exact import shown, times_up

FORMAT = 3
"""The format of the releases that this version writes. 0.1 wrote 1 and 0.2 wrote 2."""

CHECKSUM = "checksum"
"""The last entry of ``guarantee.json``: the SHA-256 of all that stands before it."""

Origin = Literal["embedded", "language", "supplied", "private"]
"""Who says that data is public: syntf, a language pack, whoever made the release, or nobody."""

REPLACED = "replaced"
"""Neighbours of rows: two inputs that differ in the text of one document."""
ADDED_OR_REMOVED = "added or removed"
"""Neighbours of sums: two inputs of which one has one document (or one author) more."""


@dataclass(frozen=True)
class Part:
    """One mechanism that looked at documents, and how often it drew for each of them.

    mechanism : the name of its arithmetic.
    answers : how many public answers it draws from.
    draws : answers drawn for each document.
    loss : the largest loss of one draw, rounded up.
    ratio : the largest ratio of two probabilities of an answer, an exact fraction: `loss` is the
        logarithm of it.
    digest : a hash of everything that determines its probabilities.
    """

    mechanism: str
    answers: int
    draws: int
    loss: float
    ratio: str
    digest: str

    @property
    def loss_per_document(self) -> float:
        """The loss of all draws together, rounded up: by sequential composition, losses add."""
        return times_up(self.loss, self.draws)


@dataclass(frozen=True)
class Public:
    """A piece of public data that the answers depend on: its SHA-256, and who says it is public."""

    digest: str
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The differential-privacy guarantee of a release, as in ``guarantee.json``.

    Attributes
    ----------
    format, version : the format of the release, and the version of syntf that wrote it.
    kind : ``rows`` for one row a document, ``corpus`` for rows sampled from noisy sums.
    loss_per_document : the largest loss of a document, the headline. It is at most this.
    delta : the probability with which the loss may be larger; 0 for rows.
    adjacency : which two inputs the loss compares: one document ``replaced`` by any other, or
        ``added or removed``.
    loss_if_replaced : the loss for a replaced document, by which a ledger adds releases up.
    loss_per_author, documents_per_author : where authors are limited, the largest loss of an
        author, and how many documents of each were used at most.
    composition : the mechanisms. Each document went through one of them, so the loss of a document
        is the largest of theirs.
    settings : the settings of the method, with which a receiver derives the answers again.
    public : the public data by name.
    documents : the number of documents in the release.
    kept_columns : columns that were released unchanged, outside the guarantee.
    shuffled : whether the rows are in random order.
    entropy : where random bits came from.
    files : the SHA-256 of every other file of the release; empty before a release is written.
    """

    format: int = FORMAT
    version: str = __version__
    kind: Literal["rows", "corpus"] = "rows"
    loss_per_document: float
    delta: float = 0.0
    adjacency: str = REPLACED
    loss_if_replaced: float
    loss_per_author: float | None = None
    documents_per_author: int | None = None
    composition: Sequence[Part]
    settings: Mapping[str, Any]
    supplied: Sequence[str] = ()
    public: Mapping[str, Public]
    documents: int | None = None
    kept_columns: Sequence[str] = ()
    shuffled: bool = False
    entropy: str = "operating system"
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        most = self.documents_per_author
        follows = None if most is None else times_up(self.loss_per_document, most)
        if self.loss_per_author != follows:
            raise SyntfError("loss_per_author is not documents_per_author times loss_per_document")

    @property
    def private(self) -> bool:
        """Whether the promise holds: no seed, and nothing that was fitted on the texts."""
        fitted = any(data.origin == "private" for data in self.public.values())
        return self.entropy != SEEDED and not fitted

    @property
    def caveats(self) -> list[str]:
        """Sentences on what the loss does not cover; those that void it come first."""
        found = []
        if self.entropy == SEEDED:
            found.append("NOT PRIVATE: the random draws come from a seed, anyone can repeat them.")
        fitted = [name for name, data in self.public.items() if data.origin == "private"]
        if fitted:
            found.append(
                f"NOT COVERED: {' and '.join(fitted)} fitted on the texts of this release. The "
                "release depends on the texts in a way that the loss does not count."
            )
        claimed = [name for name in self.supplied if name not in fitted]
        if claimed:
            found.append(
                f"Public only according to the sender of this release: {', '.join(claimed)}."
            )
        if self.kept_columns:
            found.append(
                "Released unchanged, outside the guarantee: columns "
                f"{', '.join(self.kept_columns)}."
            )
        return found

    @property
    def author_promise(self) -> str:
        """A sentence on what an author can lose."""
        if self.loss_per_author is None or self.documents_per_author is None:
            return (
                "An author of m documents in this release loses at most m times as much as one "
                "document."
            )
        most = self.documents_per_author
        documents = "1 document of each author is" if most == 1 else f"{most:,} of each author are"
        return (
            f"An author loses at most {shown(self.loss_per_author, 2)}: at most {documents} "
            "released, chosen at random. A document without an author counts as an author of its "
            "own. How many documents of an author are released is not protected."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON types, with the checksum."""
        record: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {**record, CHECKSUM: checksum(record)}

    def as_json(self) -> str:
        """Return the text of ``guarantee.json``, the only one for these values."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of ``guarantee.json``.

        Raises
        ------
        UnknownFormat
            If another version of syntf wrote it in a format that this one does not know.
        SyntfError
            If it is not what :meth:`as_json` writes for any guarantee, to the last character.
        """
        try:
            record = json.loads(text)
            found = record.get("format")
        except (ValueError, AttributeError, RecursionError):
            raise SyntfError("guarantee.json is not a guarantee of syntf") from None
        if found != FORMAT:
            raise UnknownFormat(
                f"this release has format {found!r}, and syntf {__version__} knows format "
                f"{FORMAT} alone: check it with the version of syntf that is named in it"
            )
        try:
            known = {each.name for each in fields(cls)}
            values = {name: value for name, value in record.items() if name in known}
            values["composition"] = [Part(**part) for part in values["composition"]]
            values["public"] = {name: Public(**one) for name, one in values["public"].items()}
            guarantee = cls(**values)
            if guarantee.as_json() == text:
                return guarantee
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            pass
        raise SyntfError("guarantee.json was changed after syntf wrote it")


SEEDED = "seeded"
"""What :attr:`Guarantee.entropy` says where the draws can be repeated: not private."""


class UnknownFormat(SyntfError):
    """A release of a format that this version does not know: it is not checked."""


def checksum(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record in canonical JSON."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def loss_of(composition: Sequence[Part]) -> float:
    """Return the largest loss of a document, if it went through one of these parts.

    >>> part = Part("response", 300, 2, 5.0, "7/2", "")
    >>> loss_of([part, part])
    10.0
    """
    return max(part.loss_per_document for part in composition)


def part_of(mechanism: Any, draws: int) -> Part:
    """Describe a mechanism that draws `draws` answers for a document."""
    ratio: Fraction = mechanism.ratio
    return Part(
        mechanism=mechanism.scheme,
        answers=int(mechanism.shape[1]),
        draws=draws,
        loss=float(mechanism.loss),
        ratio=str(ratio),
        digest=f"sha256:{mechanism.digest}",
    )
