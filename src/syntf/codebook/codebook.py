"""A codebook: a public tree of prototypes, and the public numbers that encode a document.

Everything in a codebook is public: it is made from WordNet and the embedded word vectors, or from
public texts that a person supplies. It is kept as integers, so that the same document has the same
target everywhere. A codebook is one file, a zip of NumPy arrays with a header in JSON.
"""

import json
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.integers import Vectors, stretch
from syntf.core.choices import OPINIONS
from syntf.core.errors import SyntfError
from syntf.core.files import replacing
from syntf.language.pack import LanguagePack, embedded_pack
from syntf.text.tokenizer import Analysis
from syntf.vectors.word_vectors import WordVectors

FORMAT = "syntf codebook 1"
Origin = Literal["embedded", "language", "supplied", "private"]
"""Who says that a codebook is public: this package, the language pack that it is part of, whoever
supplied it, or nobody."""

_HEADER = "header.json"
_LABELS = "labels.json"
_OPINIONS_FILE = "opinions.zip"
_LONGEST_LABEL = 400  # characters
_LARGEST = 1 << 28  # bytes of a codebook file that is read at all
_DATE = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, LookupError, TypeError, AttributeError,
    RuntimeError,
)  # fmt: skip
"""What reading a file raises that is not a codebook."""


@dataclass(frozen=True, eq=False)
class Codebook:
    """Prototypes in a binary tree, and the numbers of the encoder.

    Nodes are ordered so that a parent stands before its children; the second child of a node
    stands right after the first.

    nodes : int8, nodes × dimensions: the direction of each prototype.
    child : int32: the first child of each node, 0 for a leaf.
    points : int32: how many public points a node stands for.
    spread : int32: the mean of 1 − cosine of its points to the node, in 1/10000.
    outputs : int32: rows of the word vectors that labels, profiles and sets of words may show,
        the most frequent first.
    weight : uint16, one for each word vector: how much the word says about the topic, divided by
        the length of its vector.
    tf : uint8: the weight of 0, 1, 2 … 255 occurrences.
    centre, word_centre : int16: the mean of public documents and of public words, times 2048.
    whiten : int16: the matrix that evens out the directions of public documents, times 1024.
    common : int16: the direction that all documents share, removed after whitening.
    own_rows, own_weight, own_vectors, own_centre : word vectors learnt from the public texts the
        codebook was built from, placed beside the first ones; empty in the embedded codebook.
    vectors_digest : of the word vectors that the rows refer to.
    origin : who says that the codebook is public.
    made_from : one line about its sources.
    encoder : the name of the encoder that a person supplied (:mod:`syntf.codebook.text_encoder`);
        empty where documents are encoded by word vectors. With such an encoder, `own_rows` are
        the output words and `own_vectors` their directions.
    labels : names of the nodes, where a person has named the topics; otherwise empty, and topics
        are named by the output words nearest to them.
    """

    nodes: NDArray[np.int8]
    child: NDArray[np.int32]
    points: NDArray[np.int32]
    spread: NDArray[np.int32]
    outputs: NDArray[np.int32]
    weight: NDArray[np.uint16]
    tf: NDArray[np.uint8]
    centre: NDArray[np.int16]
    word_centre: NDArray[np.int16]
    whiten: NDArray[np.int16]
    common: NDArray[np.int16]
    own_rows: NDArray[np.int32]
    own_weight: NDArray[np.uint16]
    own_vectors: NDArray[np.int8]
    own_centre: NDArray[np.int16]
    vectors_digest: str
    origin: Origin
    made_from: str
    encoder: str = ""
    labels: tuple[str, ...] = ()

    @cached_property
    def prototypes(self) -> Vectors:
        """The vectors of all nodes, stretched to the common length."""
        return stretch(self.nodes)

    @property
    def leaves(self) -> NDArray[np.bool_]:
        return np.asarray(self.child == 0)

    @property
    def is_near(self) -> bool:
        """Whether somebody supplied or named the topics, so that they fit the documents already."""
        return self.origin in ("supplied", "private") or bool(self.labels)

    @property
    def dimensions(self) -> int:
        return int(self.nodes.shape[1])

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all numbers and labels, whatever file they came from."""
        found = sha256(FORMAT.encode())
        for name in _ARRAYS:
            array = _little_endian(getattr(self, name))
            found.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(array.data)
        found.update(f"\n{self.vectors_digest}".encode())
        if self.encoder:
            found.update(f"\nencoder {self.encoder}".encode())
        if self.labels:
            found.update(f"\nlabels\n{_labels_json(self.labels)}".encode())
        return found.hexdigest()

    @classmethod
    def embedded(cls) -> Self:
        """Return the codebook that comes with the package."""
        return cls.of_pack(embedded_pack())

    @classmethod
    def opinions(cls) -> Self:
        """Return the codebook of opinions that comes with the package, for English texts."""
        return cls._read(embedded_pack().folder / _OPINIONS_FILE, "embedded")

    @classmethod
    def of_pack(cls, pack: LanguagePack) -> Self:
        """Return the codebook of a language pack."""
        return cls._read(pack.path("codebook"), "embedded" if pack.is_embedded else "language")

    @classmethod
    def from_topics(
        cls, lines: Sequence[str], vectors: WordVectors, analyzer: Analysis[Any]
    ) -> "Codebook":
        """Make a codebook whose topics are named by a person, one topic a line.

        See :func:`syntf.codebook.topics.codebook_from_topics`.
        """
        from syntf.codebook.topics import codebook_from_topics

        return codebook_from_topics(lines, vectors, analyzer)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a codebook from a file and check every number in it.

        path : the file, or ``syntf:opinions`` for the codebook of opinions that comes with syntf.

        Raises
        ------
        SyntfError
            If the file is not a codebook, or if one of its arrays cannot be used.
        """
        return cls.opinions() if str(path) == OPINIONS else cls._read(path, None)

    @classmethod
    def _read(cls, path: str | PathLike[str], origin: Origin | None) -> Self:
        place = Path(path)
        try:
            if place.stat().st_size > _LARGEST:
                raise SyntfError(f"{place} is too large for a codebook")
            with zipfile.ZipFile(place) as file:
                if sum(entry.file_size for entry in file.infolist()) > _LARGEST:
                    raise SyntfError(f"{place} is too large for a codebook")
                header = json.loads(file.read(_HEADER))
                if header.get("format") != FORMAT:
                    raise SyntfError(f"{place} is not a codebook of a known format")
                arrays = {name: _read_array(file.read(f"{name}.npy")) for name in _ARRAYS}
                labels = json.loads(file.read(_LABELS)) if _LABELS in file.namelist() else []
            declared = str(header["origin"])
            made = cls(
                **arrays,
                vectors_digest=str(header["vectors_digest"]),
                origin=origin or ("private" if declared == "private" else "supplied"),
                made_from=str(header["made_from"]),
                encoder=str(header.get("encoder", "")),
                labels=tuple(map(str, labels)),
            )
        except OSError as error:
            raise SyntfError(f"cannot read the codebook {place}: {error.strerror}") from None
        except _UNREADABLE as error:
            if isinstance(error, SyntfError):
                raise
            raise SyntfError(
                f"{place} is not a codebook: make one with syntf codebook build"
            ) from None
        if origin is None:  # the tests check the embedded codebook
            made.check(str(place))
        return made

    def write(self, path: str | PathLike[str]) -> None:
        """Write the codebook to a file, atomically. The same codebook gives the same bytes."""
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            header = {
                "format": FORMAT,
                "origin": self.origin,
                "made_from": self.made_from,
                "vectors_digest": self.vectors_digest,
            }
            if self.encoder:
                header["encoder"] = self.encoder
            _add(archive, _HEADER, json.dumps(header, indent=1).encode())
            if self.labels:
                _add(archive, _LABELS, _labels_json(self.labels).encode())
            for name in _ARRAYS:
                array = BytesIO()
                np.lib.format.write_array(
                    array, _little_endian(getattr(self, name)), version=(1, 0)
                )
                _add(archive, f"{name}.npy", array.getvalue())
        with replacing(Path(path)) as file:
            file.write(buffer.getvalue())

    def check(self, place: str) -> None:
        """Raise SyntfError unless all arrays fit each other and hold usable numbers."""
        for what, holds in _REQUIREMENTS:  # in this order: later ones rely on earlier ones
            if not holds(self):
                raise SyntfError(f"{place} cannot be used as a codebook: {what}")

    def _types_fit(self) -> bool:
        found = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        return all(
            array.dtype == np.dtype(kind) and array.ndim == dimensions
            for name, (kind, dimensions) in _ARRAYS.items()
            for array in (found[name],)
        )

    def _dimensions_fit(self) -> bool:
        own = self.own_vectors.shape[1] if len(self.own_rows) else 0
        size = len(self.centre)
        return (
            self.word_centre.shape == self.common.shape == (size,)
            and self.whiten.shape == (size, size)
            and self.nodes.shape[1] == (size if self.encoder else size + own)
            and (not self.encoder or own == size)
        )

    def _words_exist(self) -> bool:
        words = len(self.weight)
        return (
            bool(len(self.outputs))
            and len(np.unique(self.outputs)) == len(self.outputs)
            and all(
                not len(rows) or (rows.min() >= 0 and rows.max() < words)
                for rows in (self.outputs, self.own_rows)
            )
        )

    def _own_words_fit(self) -> bool:
        own = self.own_vectors.shape[1] if len(self.own_rows) else 0
        return (
            len(self.own_weight) == len(self.own_rows) == len(self.own_vectors)
            and len(self.own_centre) == own
            and bool((np.diff(self.own_rows) > 0).all())
        )

    def _encoder_fits(self) -> bool:
        return len(self.encoder) <= _LONGEST_LABEL and (
            not self.encoder
            or (self.encoder.isprintable() and bool(np.isin(self.outputs, self.own_rows).all()))
        )

    def _labels_fit(self) -> bool:
        return not self.labels or (
            len(self.labels) == len(self.nodes)
            and all(
                0 < len(label) <= _LONGEST_LABEL and label.isprintable() for label in self.labels
            )
        )

    def _is_tree(self) -> bool:
        if not len(self.nodes) == len(self.child) == len(self.points) == len(self.spread):
            return False
        parents = np.flatnonzero(self.child)
        first = self.child[parents]
        children = np.sort(np.concatenate([first, first + 1]))
        return bool(
            (first > parents).all()
            and np.array_equal(children, np.arange(1, len(self.child)))
            and (self.points >= 1).all()
            and (self.spread >= 0).all()
        )

    def _leaves_differ(self) -> bool:
        leaves = self.prototypes[self.leaves]
        return len({leaf.tobytes() for leaf in leaves}) == len(leaves)


_ARRAYS: dict[str, tuple[str, int]] = {
    "nodes": ("i1", 2), "child": ("<i4", 1), "points": ("<i4", 1), "spread": ("<i4", 1),
    "outputs": ("<i4", 1), "weight": ("<u2", 1), "tf": ("u1", 1), "centre": ("<i2", 1),
    "word_centre": ("<i2", 1), "whiten": ("<i2", 2), "common": ("<i2", 1), "own_rows": ("<i4", 1),
    "own_weight": ("<u2", 1), "own_vectors": ("i1", 2), "own_centre": ("<i2", 1),
}  # fmt: skip
"""The type and the number of dimensions of each array, in the order of the file."""

_REQUIREMENTS: tuple[tuple[str, Callable[[Codebook], bool]], ...] = (
    ("an array does not hold whole numbers of the right type", Codebook._types_fit),
    (
        "a codebook needs at least two prototypes",
        lambda book: int(np.count_nonzero(book.leaves)) >= 2,
    ),
    (
        "its vectors have another number of dimensions than its encoder",
        Codebook._dimensions_fit,
    ),
    ("its tree is not a tree", Codebook._is_tree),
    (
        "a prototype has no direction: its vector is zero",
        lambda book: bool(book.nodes.any(axis=1).all()),
    ),
    ("two prototypes have the same vector", Codebook._leaves_differ),
    ("it names words that have no vector", Codebook._words_exist),
    ("its own word vectors do not fit its own words", Codebook._own_words_fit),
    ("its output words have no vector of its encoder", Codebook._encoder_fits),
    ("its weights of occurrences are not 256 numbers", lambda book: book.tf.shape == (256,)),
    ("its labels are not one readable name for each topic", Codebook._labels_fit),
)
"""What a codebook must fulfil to be used, with the reason that an error gives."""


def _labels_json(labels: Sequence[str]) -> str:
    return json.dumps(labels)


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _read_array(raw: bytes) -> NDArray[Any]:
    """Read an array, if its header states exactly as many numbers as follow."""
    file = BytesIO(raw)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("another version of the format of arrays")
    shape, _, kind = np.lib.format.read_array_header_1_0(file)
    if prod(shape) * kind.itemsize != len(raw) - file.tell():
        raise ValueError("another number of values than stated")
    found: NDArray[Any] = np.lib.format.read_array(BytesIO(raw), allow_pickle=False)
    return found


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file as it is: numbers of vectors hardly get smaller, and unpacking them takes time."""
    file.writestr(zipfile.ZipInfo(name, _DATE), content)
