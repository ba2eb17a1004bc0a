"""A codebook: a public tree of topics, and the public numbers that encode a document.

Everything in a codebook is public: it is made from WordNet and the embedded word vectors, or from
public texts that a person supplies. It is kept as integers, so that the same document has the same
target everywhere. A codebook is one file of ``numpy.savez``: its arrays, and a header in JSON.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.files import replacing
from syntf.topics.integers import Vectors, stretch
from syntf.words.language import LanguagePack, embedded_pack

FORMAT = "syntf codebook 2"
Origin = Literal["embedded", "language", "supplied", "private"]
"""Who says that a codebook is public: this package, the language pack that it is part of, whoever
supplied it, or nobody."""

_HEADER = "header"
_LONGEST_NAME = 400  # characters
_LARGEST = 1 << 28  # bytes of a codebook file, packed or not, that is read at all


@dataclass(frozen=True, eq=False)
class Codebook:
    """Topics in a binary tree, and the numbers of the encoder.

    Nodes are ordered so that a parent stands before its children; the second child of a node
    stands right after the first.

    nodes : int8, nodes × dimensions: the direction of each topic.
    child : int32: the first child of each node, 0 for a leaf.
    points : int32: how many public points a node stands for.
    spread : int32: the mean of 1 − cosine of its points to the node, in 1/10000.
    outputs : int32: rows of the word vectors that names and profiles may show, the most frequent
        first.
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
    encoder : the name of the encoder that a person supplied (:mod:`syntf.topics.text_encoder`);
        empty where documents are encoded by word vectors. With such an encoder, `own_rows` are
        the output words and `own_vectors` their directions.
    names : names of the nodes, where a person has named the topics; otherwise empty, and topics
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
    names: tuple[str, ...] = ()

    @cached_property
    def topics(self) -> Vectors:
        """The vectors of all nodes, stretched to the common length."""
        return stretch(self.nodes)

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.child == 0)

    @property
    def is_near(self) -> bool:
        """Whether somebody supplied or named the topics, so that they fit the documents already."""
        return self.origin in ("supplied", "private") or bool(self.names)

    @property
    def dimensions(self) -> int:
        """The number of components of an encoded document."""
        return int(self.nodes.shape[1])

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all numbers and names, whatever file they came from."""
        found = sha256(FORMAT.encode())
        for name in _ARRAYS:
            array = getattr(self, name)
            found.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(np.ascontiguousarray(array).data)
        found.update(json.dumps([self.vectors_digest, self.encoder, self.names]).encode())
        return found.hexdigest()

    @classmethod
    def embedded(cls) -> Self:
        """Return the codebook that comes with the package."""
        return cls.of_pack(embedded_pack())

    @classmethod
    def of_pack(cls, pack: LanguagePack) -> Self:
        """Return the codebook of a language pack."""
        return cls._load(pack.path("codebook"), "embedded" if pack.is_embedded else "language")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a codebook from a file. It cannot declare itself to be embedded.

        Raises
        ------
        SyntfError
            If the file is not a codebook, or if one of its arrays cannot be used.
        """
        return cls._load(Path(path), None)

    @classmethod
    def _load(cls, place: Path, origin: Origin | None) -> Self:
        """Read a file whose bytes, numbers and sizes nobody vouches for."""
        try:
            if place.stat().st_size > _LARGEST:
                raise SyntfError(f"{place} is too large for a codebook")
            with open(place, "rb") as raw, np.load(raw, allow_pickle=False) as file:
                if sum(entry.file_size for entry in file.zip.infolist()) > _LARGEST:
                    raise SyntfError(f"{place} is too large for a codebook")
                header = json.loads(file[_HEADER].tobytes())
                if header["format"] != FORMAT:
                    raise SyntfError(f"{place} is not a codebook of a known format")
                made = cls(
                    **{name: file[name] for name in _ARRAYS},
                    vectors_digest=str(header["vectors_digest"]),
                    origin=origin or ("private" if header["origin"] == "private" else "supplied"),
                    made_from=str(header["made_from"]),
                    encoder=str(header["encoder"]),
                    names=tuple(map(str, header["names"])),
                )
            problem = next(made._problems(), None)
        except SyntfError:
            raise
        except OSError as error:
            raise SyntfError(f"cannot read the codebook {place}: {error.strerror}") from None
        except _UNREADABLE:
            raise SyntfError(
                f"{place} is not a codebook: make one with syntf codebook build"
            ) from None
        if problem:
            raise SyntfError(f"{place} cannot be used as a codebook: {problem}")
        return made

    def save(self, path: str | PathLike[str]) -> None:
        """Write the codebook to a file, atomically. The same codebook gives the same bytes."""
        header = {
            "format": FORMAT,
            "origin": self.origin,
            "made_from": self.made_from,
            "vectors_digest": self.vectors_digest,
            "encoder": self.encoder,
            "names": self.names,
        }
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        arrays[_HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with replacing(Path(path)) as file:
            np.savez(file, **arrays)

    def _problems(self) -> Iterator[str]:
        """Yield what makes a codebook unusable; each check relies on those before it."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if any((arrays[name].dtype.str, arrays[name].ndim) != _ARRAYS[name] for name in arrays):
            yield "an array does not hold whole numbers of the right type"
        size, words, own = len(self.centre), len(self.weight), self.own_vectors.shape[1]
        own = own if len(self.own_rows) else 0
        if (
            not self.word_centre.shape == self.common.shape == (size,)
            or self.whiten.shape != (size, size)
            or self.dimensions != (size if self.encoder else size + own)
            or (self.encoder and own != size)
        ):
            yield "its vectors have another number of dimensions than its encoder"
        if not _is_tree(self.child, len(self.nodes), self.points, self.spread):
            yield "its tree is not a tree of two topics or more"
        if not self.nodes.any(axis=1).all():
            yield "a topic has no direction: its vector is zero"
        if len(np.unique(self.topics[self.leaves], axis=0)) < self.leaves.sum():
            yield "two topics have the same vector"
        rows = np.concatenate([self.outputs, self.own_rows])
        if not len(self.outputs) or rows.min() < 0 or rows.max() >= words:
            yield "it names words that have no vector"
        if len(np.unique(self.outputs)) < len(self.outputs):
            yield "it names an output word twice"
        if (
            not len(self.own_weight) == len(self.own_rows) == len(self.own_vectors)
            or len(self.own_centre) != own
            or not (np.diff(self.own_rows) > 0).all()
        ):
            yield "its own word vectors do not fit its own words"
        if self.encoder and not np.isin(self.outputs, self.own_rows).all():
            yield "its output words have no vector of its encoder"
        if self.tf.shape != (256,):
            yield "its weights of occurrences are not 256 numbers"
        if (self.names and len(self.names) != len(self.nodes)) or not all(self.names):
            yield "it does not name every topic"
        texts = (self.encoder, self.made_from, self.vectors_digest, *self.names)
        if not all(len(text) <= _LONGEST_NAME and text.isprintable() for text in texts):
            yield "a name in it is too long or cannot be printed"


def _is_tree(
    child: NDArray[np.int32], nodes: int, points: NDArray[np.int32], spread: NDArray[np.int32]
) -> bool:
    """Tell whether every node but the first is the child of one node that stands before it."""
    parents = np.flatnonzero(child)
    first = child[parents]
    children = np.sort(np.concatenate([first, first + 1]))
    return bool(
        nodes == len(child) == len(points) == len(spread)
        and nodes >= 3
        and (first > parents).all()
        and np.array_equal(children, np.arange(1, nodes))
        and (points >= 1).all()
        and (spread >= 0).all()
    )


_ARRAYS = {
    "nodes": ("|i1", 2), "child": ("<i4", 1), "points": ("<i4", 1), "spread": ("<i4", 1),
    "outputs": ("<i4", 1), "weight": ("<u2", 1), "tf": ("|u1", 1), "centre": ("<i2", 1),
    "word_centre": ("<i2", 1), "whiten": ("<i2", 2), "common": ("<i2", 1), "own_rows": ("<i4", 1),
    "own_weight": ("<u2", 1), "own_vectors": ("|i1", 2), "own_centre": ("<i2", 1),
}  # fmt: skip
"""The type and the number of dimensions of each array, in the order of the file."""

_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, LookupError, TypeError, AttributeError,
    RuntimeError, MemoryError,
)  # fmt: skip
"""What reading a file raises that is not a codebook."""
