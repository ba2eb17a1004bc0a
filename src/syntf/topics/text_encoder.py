"""Encoders that a person supplies: a folder of model2vec, or any Python function of texts.

*Guarantee.* The loss holds whatever an encoder computes, as long as it looks at one document alone.
So an encoder is called with one text at a time, and cannot mix the texts of a batch. Its numbers
are rounded to a fixed grid of integers before anything is compared, and numbers that are not finite
count as a document without a known word.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for
from syntf.core.files import sha256_of
from syntf.core.progress import Advance

MODEL2VEC = "model2vec:"
"""What the name of an encoder begins with that is a folder of model2vec."""

GRID = 1 << 15
"""Encoded directions are rounded to multiples of 1 / GRID."""

_FILES = ("config.json", "model.safetensors", "tokenizer.json")


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """A function that turns a list of texts into an array with one row for each text.

    name : a readable name, kept in codebooks and guarantees.
    function : the function. It is called with one text at a time.
    """

    name: str
    function: Callable[[list[str]], Any]

    def rows(
        self,
        texts: Iterable[str],
        dimensions: int | None = None,
        *,
        strict: bool = True,
        advance: Advance = lambda steps: None,
    ) -> NDArray[np.int64]:
        """Return the direction of each text on the grid; zeros for a text without a direction.

        dimensions : the number of columns to expect; by default that of the first text.
        strict : raise an error where the encoder fails for a text, which must then be public.
            Otherwise such a text has no direction.
        advance : called after each text.

        Raises
        ------
        SyntfError
            If the encoder fails, or if its array has another shape.
        """
        found: list[NDArray[np.int64]] = []
        for text in texts:
            try:
                found.append(self._row(text, dimensions))
            except SyntfError:
                if strict:
                    raise
                found.append(np.zeros((1, dimensions or 0), dtype=np.int64))
            dimensions = found[0].shape[1]
            advance(1)
        return np.concatenate([np.zeros((0, dimensions or 0), dtype=np.int64), *found])

    def _row(self, text: str, dimensions: int | None) -> NDArray[np.int64]:
        try:
            row = np.asarray(self.function([text]), dtype=np.float64)
        except Exception as error:
            raise SyntfError(
                f"the encoder {self.name} failed with {type(error).__name__}"
            ) from error
        if row.ndim != 2 or len(row) != 1 or row.shape[1] != (dimensions or row.shape[1] or -1):
            expected = "any" if dimensions is None else f"{dimensions:,}"
            raise SyntfError(
                f"the encoder {self.name} must give one row of {expected} numbers for each text, "
                f"but its array has the shape {row.shape}"
            )
        return to_grid(row)


def to_grid(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round the direction of each row to the grid; zeros for a row without a direction.

    >>> to_grid(np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, 1.0]])).tolist()
    [[19661, 26214], [0, 0], [0, 0]]
    """
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    usable = np.isfinite(largest) & (largest > 0)
    scaled = np.where(usable, rows, 0) / np.where(usable, largest, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.rint(scaled * (GRID / np.where(lengths > 0, lengths, 1))).astype(np.int64)


def load_text_encoder(chosen: Any) -> TextEncoder | None:
    """Return the encoder that a setting names: ``model2vec:FOLDER``, a function, or None."""
    if chosen is None or isinstance(chosen, TextEncoder):
        return chosen
    if isinstance(chosen, str):
        return _from_model2vec(Path(chosen.removeprefix(MODEL2VEC)))
    kind = chosen if hasattr(chosen, "__qualname__") else type(chosen)
    return TextEncoder(f"function {kind.__module__}.{kind.__qualname__}", chosen)


def _from_model2vec(folder: Path) -> TextEncoder:
    """Read a folder of model2vec; nothing is downloaded."""
    for name in _FILES:
        if not (folder / name).is_file():
            raise SyntfError(f"{folder} is not a folder of model2vec: it has no file {name}")
    with needed_for("an encoder of model2vec", "model2vec"):
        from model2vec import StaticModel
    try:
        model = StaticModel.from_pretrained(folder)
    except Exception as error:
        raise SyntfError(f"model2vec cannot read {folder}: {type(error).__name__}") from error

    def encode(texts: list[str]) -> Any:
        return model.encode(texts, use_multiprocessing=False)

    digest = sha256("".join(f"{name} {sha256_of(folder / name)}\n" for name in _FILES).encode())
    return TextEncoder(f"{MODEL2VEC}{folder.resolve().name} sha256:{digest.hexdigest()}", encode)
