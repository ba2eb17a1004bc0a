"""Build a codebook from public texts with an encoder that a person supplies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from syntf.codebook.build import (
    LEAST_OUTPUTS,
    blank_encoder,
    general_numbers,
    general_outputs,
    learn_directions,
    output_rows,
    showable_rows,
    with_topics,
)
from syntf.codebook.codebook import Codebook, Origin
from syntf.codebook.encoder import Encoded
from syntf.codebook.integers import CENTRE_LENGTH, WHITENING_SCALE, stretch
from syntf.codebook.text_encoder import TextEncoder
from syntf.codebook.tree import to_int8
from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages
from syntf.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def build_with_encoder(
    texts: Sequence[str],
    counts: "csr_matrix",
    vectors: WordVectors,
    encoder: TextEncoder,
    size: int,
    *,
    origin: Origin,
    made_from: str,
    stages: Stages,
) -> Codebook:
    """Build a codebook of `size` topics from public texts and their counts of words.

    The directions of single words, by which topics are named and written as counts, are those
    that the encoder gives for texts of one word. They are centred by their own mean: words and
    texts lie in different places.
    """
    with stages("encoding texts", len(texts)) as advance:
        total = encoder.rows(texts, None, advance)
    found = np.flatnonzero(total.any(axis=1))
    if not len(found):
        raise SyntfError(f"the encoder {encoder.name} gives no direction for any public text")
    total, counts = total[found], counts[found]
    dimensions = total.shape[1]
    words = np.union1d(showable_rows(counts, vectors), general_outputs(vectors)[:LEAST_OUTPUTS])
    with stages("encoding words", len(words)) as advance:
        names = [vectors.words[row] for row in words.tolist()]
        word_total = encoder.rows(names, dimensions, advance)
    general = general_numbers(vectors)
    start = {
        "centre": np.zeros(dimensions, dtype=np.int16),
        "whiten": (np.eye(dimensions) * WHITENING_SCALE).astype(np.int16),
    }
    blank = blank_encoder(
        vectors,
        weight=general["weight"],
        tf=general["tf"],
        word_centre=np.rint(stretch(word_total, CENTRE_LENGTH).mean(axis=0)).astype(np.int16),
        **learn_directions(total, start),
        own_rows=words.astype(np.int32),
        own_weight=np.zeros(len(words), dtype=np.uint16),
        own_vectors=np.zeros((len(words), dimensions), dtype=np.int8),
        own_centre=np.zeros(dimensions, dtype=np.int16),
        encoder=encoder.name,
        origin=origin,
        made_from=made_from,
    )
    own_vectors = to_int8(blank.words_from_grid(word_total).astype(np.float64))
    blank = replace(blank, codebook=replace(blank.codebook, own_vectors=own_vectors))
    rows = Rows(counts.data, counts.indices, counts.indptr, counts.shape)
    encoded = Encoded(blank.from_grid(total), rows)
    outputs = output_rows(counts, encoded, blank)
    kept = np.isin(words, outputs)
    codebook = replace(
        blank.codebook,
        own_rows=blank.codebook.own_rows[kept],
        own_weight=blank.codebook.own_weight[kept],
        own_vectors=own_vectors[kept],
    )
    return with_topics(codebook, encoded, size, outputs, stages)
