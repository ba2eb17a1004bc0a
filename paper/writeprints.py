"""WritePrints (Limited): 22 classes of features that describe the writing style of a text.

The features are those of JStylo 2.3.0, a tool of authorship studies: 17 classes count events
(letters, digits, words, tags and their n-grams), five are single numbers. The oddities of JStylo
are kept, because published figures depend on them. Three differences remain: JStylo loses some
events of test texts, depending on their rank in the training vocabulary; it counts halves of
surrogate pairs as characters; and its part-of-speech tagger is another one.
"""

import re
import string
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count, product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from paper.punctuation import lowercase, strip_punctuation
from paper.tagging import Tagger, default_tagger, tag_all
from syntf.core.errors import SyntfError

Marks = Literal["alone", "all"]
Style = Mapping[str, Mapping[Any, float]]
"""How often each event occurs in a text, by class."""

Vocabulary = dict[str, dict[Any, int]]
"""The column of each event, by class."""

EVENTS_KEPT = 50
"""Events that a class of `LIMITED_CLASSES` keeps; those as frequent as the last are kept too."""

LIMITED_CLASSES = frozenset(
    "letter_bigrams letter_trigrams function_words tags tag_bigrams tag_trigrams words "
    "word_bigrams word_trigrams misspelled_words".split()
)
"""Classes that keep only their most frequent events; the other classes keep all events."""

SPECIAL = frozenset("~@#$%^&*-_=+><[]{}/\\|")
PUNCTUATION = frozenset("?!,.'\";:*")

_DIGITS = frozenset(string.digits)
_BIGRAMS = frozenset(map("".join, product(string.ascii_lowercase, repeat=2)))
_TRIGRAMS = frozenset(map("".join, product(string.ascii_lowercase, repeat=3)))

_split_words = re.compile("[^ \t\n\x0b\f\r]+").findall
_two_digits = re.compile("[0-9]{2}").findall
_three_digits = re.compile("[0-9]{3}").findall


class WritePrintsLimited(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts the WritePrints (Limited) features of texts; `fit` chooses which events are counted.

    Parameters
    ----------
    tagger : callable, optional
        Returns the list of Penn tags of a text. If it has a method ``many``, this gets all texts
        at once and returns their lists in order. The default is the best installed tagger, see
        :func:`~paper.tagging.default_tagger`.
    marks : {'alone', 'all'}, default='alone'
        Which special characters and punctuation marks are counted: those between two blanks, as
        in JStylo, or every one.

    Attributes
    ----------
    tagger_ : callable
        The tagger in use. Results depend on it, so report its name with them.
    vocabulary_ : dict of str to dict
        The columns of the events of each class, sorted within the class.

    Examples
    --------
    >>> from paper.writeprints import WritePrintsLimited
    >>> style = WritePrintsLimited(tagger=lambda text: ["DT", "NN"])
    >>> counts = style.fit_transform(["The cat , the dog", "A bird!"])
    >>> counts.shape, counts[:, :2].toarray().tolist()
    ((2, 65), [[12.0, 2.4], [5.0, 2.5]])
    >>> style.get_feature_names_out()[-2:].tolist()
    ['word_trigrams:cat the dog', 'word_trigrams:the cat the']
    """

    def __init__(self, *, tagger: Tagger | None = None, marks: Marks = "alone") -> None:
        self.tagger = tagger
        self.marks = marks

    def fit(self, X: Iterable[str], y: Any = None) -> "WritePrintsLimited":
        """Choose the events of each class: all events of the texts, or the most frequent ones."""
        self.fit_transform(X, y)
        return self

    def transform(self, X: Iterable[str]) -> csr_matrix:
        """Return the features as a sparse matrix of floats with one row per text."""
        check_is_fitted(self, "vocabulary_")
        return count_events(self._measure(_check_texts(X)), self.vocabulary_)

    def fit_transform(self, X: Iterable[str], y: Any = None) -> csr_matrix:
        """Fit on the texts and return their features; each text is measured only once."""
        texts = _check_texts(X)
        if self.marks not in get_args(Marks):
            raise SyntfError(f"marks must be alone or all, not {self.marks!r}")
        self.tagger_ = default_tagger() if self.tagger is None else self.tagger
        self.vocabulary_, features = choose_events(self._measure(texts))
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return ``class:event`` for each column, or ``class`` for a class that is one number."""
        check_is_fitted(self, "vocabulary_")
        names = [
            name if event == "" else f"{name}:{event}"
            for name, events in self.vocabulary_.items()
            for event in events
        ]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _measure(self, texts: Sequence[str]) -> Iterator[Style]:
        for text, tags in zip(texts, tag_all(self.tagger_, texts), strict=True):
            yield measure_style(text, tags, self.marks)


def measure_style(text: str, tags: Sequence[str], marks: Marks = "alone") -> Style:
    """Count the events of a text in each of the 22 classes.

    A class that is a single number has one event, the empty string.

    >>> style = measure_style("Teh 12 cats...", ["DT", "CD", "NNS", "."])
    >>> style["character_count"], style["word_lengths"], style["misspelled_words"]
    ({'': 7}, Counter({3: 1, 2: 1, 4: 1}), {'teh': 1})
    """
    lowered = lowercase(text)
    stripped = strip_punctuation(text)
    words = _split_words(stripped if lowered == text else strip_punctuation(lowered))
    characters, lowered_characters, word_counts = Counter(text), Counter(lowered), Counter(words)
    raw_words = _split_words(text)
    mark_counts = Counter(raw_words) if marks == "alone" else characters
    letters, capitals, digits = (
        sum(map(characters.__getitem__, alphabet))
        for alphabet in (string.ascii_letters, string.ascii_uppercase, string.digits)
    )
    length = max(1, len(text))
    return {
        "character_count": {"": letters},
        "characters_per_word": {"": letters / max(1, len(raw_words))},
        "letters": {letter: lowered_characters[letter] for letter in string.ascii_lowercase},
        "letter_bigrams": _among(Counter(_ngrams(lowered, 2, "")), _BIGRAMS),
        "letter_trigrams": _among(Counter(_ngrams(lowered, 3, "")), _TRIGRAMS),
        "digits_percentage": {"": digits / length},
        "letters_percentage": {"": letters / length},
        "uppercase_percentage": {"": capitals / length},
        "digits": _among(characters, _DIGITS),
        "two_digit_numbers": Counter(_two_digits(text)),
        "three_digit_numbers": Counter(_three_digits(text)),
        "word_lengths": Counter(map(len, words if lowered == text else _split_words(stripped))),
        "special_characters": _among(mark_counts, SPECIAL),
        "function_words": _among(word_counts, function_words()),
        "punctuation": _among(mark_counts, PUNCTUATION),
        "tags": Counter(tags),
        "tag_bigrams": Counter(_ngrams(tags, 2)),
        "tag_trigrams": Counter(_ngrams(tags, 3)),
        "words": word_counts,
        "word_bigrams": Counter(_ngrams(words, 2)),
        "word_trigrams": Counter(_ngrams(words, 3)),
        "misspelled_words": _among(word_counts, misspellings()),
    }


def choose_events(styles: Iterable[Style]) -> tuple[Vocabulary, csr_matrix]:
    """Return the columns of the chosen events by class, and the counts of these events.

    Of a class in `LIMITED_CLASSES` these are the `EVENTS_KEPT` events with the largest totals, and
    those that tie with the last; of the other classes, all events.
    """
    number = count()
    found: Vocabulary = defaultdict(lambda: defaultdict(number.__next__))
    features = _matrix(styles, found, learn=True)
    totals = np.asarray(features.sum(axis=0)).ravel()
    chosen: list[int] = []
    vocabulary: Vocabulary = {}
    for name, columns in found.items():
        least = -1.0
        if name in LIMITED_CLASSES and len(columns) > EVENTS_KEPT:
            least = np.sort(totals[list(columns.values())])[-EVENTS_KEPT]
        kept = sorted(event for event, column in columns.items() if totals[column] >= least)
        vocabulary[name] = {event: len(chosen) + place for place, event in enumerate(kept)}
        chosen += [columns[event] for event in kept]
    return vocabulary, _without_zeros(features[:, chosen])


def count_events(styles: Iterable[Style], vocabulary: Vocabulary) -> csr_matrix:
    """Return the counts of the events in a vocabulary."""
    return _without_zeros(_matrix(styles, vocabulary, learn=False))


@cache
def misspellings() -> frozenset[str]:
    """Return 5,513 common misspellings of English, a public list (see ``data/NOTICE.md``).

    155 of them have capitals and never match a word in lower case, as in JStylo.
    """
    return frozenset(files("paper").joinpath("data/misspellings.txt").read_text("utf-8").split())


@cache
def function_words() -> frozenset[str]:
    """Return 512 English function words, the list of stop words that comes with syntf."""
    return frozenset(files("syntf").joinpath("data/function_words.txt").read_text("utf-8").split())


def _ngrams(events: Sequence[str], n: int, separator: str = " ") -> Iterator[str]:
    return map(separator.join, zip(*(events[i:] for i in range(n)), strict=False))


def _among(counts: Mapping[str, int], events: frozenset[str]) -> dict[str, int]:
    return {event: counts[event] for event in events.intersection(counts)}


def _matrix(styles: Iterable[Style], columns: Vocabulary, *, learn: bool) -> csr_matrix:
    """Return a row per text over the events that have columns; `learn` adds missing columns.

    Zeros that were measured are kept: the event belongs to the text.
    """
    starts, indices, values = array("q", [0]), array("i"), array("d")
    for style in styles:
        for name, counts in style.items():
            of_class = columns[name]
            events = counts.keys() if learn else counts.keys() & of_class.keys()
            indices.extend(map(of_class.__getitem__, events))
            values.extend(map(counts.__getitem__, events))
        starts.append(len(indices))
    size = sum(map(len, columns.values()))
    return csr_matrix((values, indices, starts), shape=(len(starts) - 1, size))


def _without_zeros(features: csr_matrix) -> csr_matrix:
    features.eliminate_zeros()
    return features.sorted_indices()


def _check_texts(X: Iterable[Any]) -> list[str]:
    if isinstance(X, str | bytes):
        raise SyntfError("expected an iterable of texts, got a single text: put it in a list")
    texts = list(X)
    for text in texts:
        if not isinstance(text, str):
            raise SyntfError(f"expected texts as str, got {type(text).__name__}")
    if not texts:
        raise SyntfError("expected at least one text, got an empty iterable")
    return texts
