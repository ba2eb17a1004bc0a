"""Draw with a mechanism of mldp-text, over word vectors that gensim reads."""

from collections.abc import Callable, Sequence

import gensim.models
import mldp_text

from suite.work.spell import read_words, spell


def prepare(
    mechanism: str, epsilon: str, vectors: str, words: str
) -> Callable[[], dict[str, float]]:
    table = gensim.models.KeyedVectors.load_word2vec_format(vectors)
    drawing = mldp_text.get_mechanism(
        mechanism, epsilon=float(epsilon), embedding_matrix=table, dim=table.vector_size,
        vocab=set(table.index_to_key),
    )  # fmt: skip

    def draw(some: Sequence[str]) -> None:
        for word in some:
            drawing.replace_word(word)

    return spell(read_words(words), draw)
