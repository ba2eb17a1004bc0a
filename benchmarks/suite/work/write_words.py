"""Write words and vectors in the formats that the systems need, and the words to draw for."""

from pathlib import Path

import numpy as np

from suite.work.embedded import first_words, zipf

NORM = 6.0
"""Typical length of a GloVe vector; mechanisms that add noise to vectors depend on it."""
DRAWS = 100_000


def prepare(count: str, folder: str) -> None:
    """Write words.txt, glove.txt (words and numbers), word2vec.txt (with header) and draws.txt."""
    words, matrix = first_words(int(count))
    floats = matrix.astype(np.float32)
    floats *= NORM / np.linalg.norm(floats, axis=1, keepdims=True)
    lines = [
        f"{word} {' '.join(f'{number:.4f}' for number in row)}\n"
        for word, row in zip(words, floats.tolist(), strict=True)
    ]
    drawn = [words[row] for row in zipf(len(words), DRAWS)]
    place = Path(folder)
    _write(place / "words.txt", [f"{word}\n" for word in words])
    _write(place / "glove.txt", lines)
    _write(place / "word2vec.txt", [f"{len(words)} {floats.shape[1]}\n", *lines])
    _write(place / "draws.txt", [f"{word}\n" for word in drawn])


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(lines), encoding="utf-8")
