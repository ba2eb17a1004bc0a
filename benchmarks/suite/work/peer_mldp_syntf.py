"""Draw with the mechanism that mldp-text calls SynTF: synonyms of WordNet, by their score."""

from collections.abc import Callable, Sequence

import mldp_text

from suite.work.spell import read_words, spell


def prepare(epsilon: str, words: str) -> Callable[[], dict[str, float]]:
    found = read_words(words)
    drawing = mldp_text.SynTF(float(epsilon), [" ".join(found)])

    def draw(some: Sequence[str]) -> None:
        for word in some:
            drawing.replace_word(word)

    return spell(found, draw)
