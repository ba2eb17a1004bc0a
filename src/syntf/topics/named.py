"""Make a codebook from a plain list of topics or words, one a line."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from syntf.core.errors import SyntfError
from syntf.text.reader import Reader
from syntf.topics.build import MOST_TOPICS, NO_OWN_VECTORS, blank_encoder, general_numbers
from syntf.topics.codebook import Codebook
from syntf.topics.integers import Vectors
from syntf.topics.tree import Tree, grow_tree, unit_rows
from syntf.words.vectors import WordVectors

LONGEST_TOPIC = 100
"""Characters of a topic at most."""
NAMED_TOPICS = 3
"""A group of topics is named by this many of them, those nearest to its middle."""


def codebook_from_topics(
    lines: Sequence[str],
    vectors: WordVectors,
    reader: Reader,
    *,
    made_from: str = "a list of topics",
) -> Codebook:
    """Make a codebook whose topics are named by a person, one topic a line.

    Every line is encoded as if it were a document, and is the name of its topic. Empty lines are
    skipped.

    Parameters
    ----------
    lines : the topics, such as ``ice hockey`` or ``space, rockets and orbits``.
    vectors : the word vectors.
    reader : finds the words of a line.
    made_from : one line about the list, kept in the file.

    Raises
    ------
    SyntfError
        With the number of the line, if a line is too long, has no known word, or means the same
        as an earlier one; or if there are fewer than two topics.
    """
    numbered = {place: line.strip() for place, line in enumerate(lines, 1) if line.strip()}
    _check_lines(numbered)
    places, topics = list(numbered), list(numbered.values())
    encoder = blank_encoder(
        vectors, **general_numbers(vectors), **NO_OWN_VECTORS, origin="supplied",
        made_from=made_from,
    )  # fmt: skip
    encoded = encoder.encode(reader.counts(pl.Series(topics)))
    for place, vector in zip(places, encoded, strict=True):
        if not vector.any():
            raise SyntfError(f"line {place} has no known word: use other words, or remove the line")
    tree = grow_tree(unit_rows(encoded), len(topics))
    for node in np.flatnonzero(tree.child == 0).tolist():
        same = sorted(places[row] for row in tree.members[node].tolist())
        if len(same) > 1:
            raise SyntfError(
                f"lines {same[0]} and {same[1]} mean the same to the encoder: remove one of them"
            )
    return replace(encoder.codebook, **tree.arrays(), names=_names(tree, encoded, topics))


def _check_lines(lines: dict[int, str]) -> None:
    if len(lines) < 2:
        raise SyntfError("a codebook needs at least 2 topics, one a line")
    if len(lines) > MOST_TOPICS:
        raise SyntfError(f"the list has {len(lines):,} topics; the most is {MOST_TOPICS:,}")
    first: dict[str, int] = {}
    for place, line in lines.items():
        if len(line) > LONGEST_TOPIC:
            raise SyntfError(f"line {place} has more than {LONGEST_TOPIC} characters")
        if not line.isprintable():
            raise SyntfError(f"line {place} has characters that cannot be printed")
        if first.setdefault(line.casefold(), place) != place:
            raise SyntfError(f"line {place} repeats line {first[line.casefold()]}: remove it")


def _names(tree: Tree, encoded: Vectors, topics: list[str]) -> tuple[str, ...]:
    """Name each topic by its line, and each group by the lines nearest to its middle."""
    names = []
    for vector, members in zip(tree.nodes.astype(np.int64), tree.members, strict=True):
        products = encoded[members].astype(np.int64) @ vector
        nearest = members[np.lexsort((members, -products))][:NAMED_TOPICS]
        more = len(members) > NAMED_TOPICS
        names.append(" / ".join(topics[row] for row in nearest.tolist()) + " …" * more)
    return tuple(names)
