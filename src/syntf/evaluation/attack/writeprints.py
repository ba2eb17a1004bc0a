"""WritePrints (Limited): the style of a text as an attacker sees it, in 22 classes of features.

The definition is that of JStylo 2.3.0, which authorship studies measure with: 17 classes count
events (letters, digits, words, tags and their n-grams), five are single numbers. The tool's
oddities are kept, because its users' figures rest on them; ``docs/writeprints.md`` names them.
"""

import re
import string
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from syntf.core.errors import SyntfError
from syntf.evaluation.attack.tagging import Tagger, default_tagger, tag_all
from syntf.text.tokenizer import english_stop_words, read_word_list

Marks = Literal["alone", "all"]
Counts = Mapping[Any, float]

TOP = 50
"""How many events a class of `COMMONEST` keeps; those as common as the last are kept as well."""

COMMONEST = frozenset(
    "letter_bigrams letter_trigrams function_words tags tag_bigrams tag_trigrams words "
    "word_bigrams word_trigrams misspelled_words".split()
)
"""Classes that keep the commonest events. The others keep all."""

SPECIAL = frozenset("~@#$%^&*-_=+><[]{}/\\|")
PUNCTUATION = frozenset("?!,.'\";:*")

LONG = 2_000
"""Characters from which on a line is stripped token by token: replacing is quadratic in them."""

_DIGITS = frozenset(string.digits)
_BIGRAMS = frozenset(map("".join, product(string.ascii_lowercase, repeat=2)))
_TRIGRAMS = frozenset(map("".join, product(string.ascii_lowercase, repeat=3)))

_words = re.compile("[^ \t\n\x0b\f\r]+").findall
_TOKEN = re.compile("[\\S\x85\xa0\u2007\u202f]+")  # \s, less what is no blank to Java
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_two_digits = re.compile("[0-9]{2}").findall
_three_digits = re.compile("[0-9]{3}").findall


class WritePrintsLimited(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts the WritePrints (Limited) features of texts, in the vocabulary of those fitted on.

    Parameters
    ----------
    tagger : callable, optional
        From a text to the list of its Penn tags. If it has a method ``many``, that gets all
        texts at once and gives their lists in order. By default the best tagger installed,
        see :func:`~syntf.evaluation.attack.tagging.default_tagger`.
    marks : {'alone', 'all'}, default='alone'
        Which special characters and punctuation marks count: those that stand alone between
        blanks, as in the tool, or every one.

    Attributes
    ----------
    tagger_ : callable
        The tagger in use. Results differ with it, so name it beside them.
    vocabulary_ : dict of str to dict
        For each class its events and their columns, class by class and sorted within.

    Examples
    --------
    >>> from syntf.evaluation import WritePrintsLimited
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
        """Choose the events of each class: all those of the texts, or the commonest."""
        self.fit_transform(X, y)
        return self

    def transform(self, X: Iterable[str]) -> csr_matrix:
        """The features of each text: CSR of float64, one row a text."""
        check_is_fitted(self, "vocabulary_")
        return _matrix(self._measured(_checked(X)), self.vocabulary_, learn=False)

    def fit_transform(self, X: Iterable[str], y: Any = None) -> csr_matrix:
        """``fit`` and ``transform`` of the same texts, each measured only once."""
        texts = _checked(X)
        if self.marks not in get_args(Marks):
            raise SyntfError(f"marks must be alone or all, not {self.marks!r}")
        self.tagger_ = default_tagger() if self.tagger is None else self.tagger
        number = count()
        seen = defaultdict[str, dict[Any, int]](lambda: defaultdict(number.__next__))
        everything = _matrix(self._measured(texts), seen, learn=True)
        totals = np.asarray(everything.sum(axis=0)).ravel().tolist()
        kept = {
            name: sorted(_commonest(known, totals) if name in COMMONEST else known)
            for name, known in seen.items()
        }
        column = count()
        self.vocabulary_ = {
            name: {event: next(column) for event in events} for name, events in kept.items()
        }
        numbers = [seen[name][event] for name, events in kept.items() for event in events]
        return everything[:, numbers].sorted_indices()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``class:event`` for each column, just ``class`` where that is a single number."""
        check_is_fitted(self, "vocabulary_")
        both = ((name, event) for name, events in self.vocabulary_.items() for event in events)
        names = [name if event == "" else f"{name}:{event}" for name, event in both]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _measured(self, texts: Sequence[str]) -> Iterator[dict[str, Counts]]:
        for text, tags in zip(texts, tag_all(self.tagger_, texts), strict=True):
            yield measure(text, tags, self.marks)


def measure(text: str, tags: Sequence[str], marks: Marks = "alone") -> dict[str, Counts]:
    """The events of a text in each of the 22 classes; a single number is that of the event "".

    >>> found = measure("Teh 12 cats...", ["DT", "CD", "NNS", "."])
    >>> found["character_count"], found["word_lengths"], found["misspelled_words"]
    ({'': 7}, Counter({3: 1, 2: 1, 4: 1}), {'teh': 1})
    """
    low = lower(text)
    words = _words(strip_edges(low))
    characters, low_characters, word_counts = Counter(text), Counter(low), Counter(words)
    raw_words = _words(text)
    marked = Counter(raw_words) if marks == "alone" else characters
    letters, capitals, digits = (
        sum(map(characters.__getitem__, some))
        for some in (string.ascii_letters, string.ascii_uppercase, string.digits)
    )
    length = max(1, len(text))
    return {
        "character_count": {"": letters},
        "characters_per_word": {"": letters / max(1, len(raw_words))},
        "letters": {letter: low_characters[letter] for letter in string.ascii_lowercase},
        "letter_bigrams": _among(Counter(_ngrams(low, 2, "")), _BIGRAMS),
        "letter_trigrams": _among(Counter(_ngrams(low, 3, "")), _TRIGRAMS),
        "digits_percentage": {"": digits / length},
        "letters_percentage": {"": letters / length},
        "uppercase_percentage": {"": capitals / length},
        "digits": _among(characters, _DIGITS),
        "two_digit_numbers": Counter(_two_digits(text)),
        "three_digit_numbers": Counter(_three_digits(text)),
        "word_lengths": Counter(map(len, _words(strip_edges(text)))),
        "special_characters": _among(marked, SPECIAL),
        "function_words": _among(word_counts, english_stop_words()),
        "punctuation": _among(marked, PUNCTUATION),
        "tags": Counter(tags),
        "tag_bigrams": Counter(_ngrams(tags, 2)),
        "tag_trigrams": Counter(_ngrams(tags, 3)),
        "words": word_counts,
        "word_bigrams": Counter(_ngrams(words, 2)),
        "word_trigrams": Counter(_ngrams(words, 3)),
        "misspelled_words": _among(word_counts, misspellings()),
    }


def lower(text: str) -> str:
    """Each character in lower case by itself, so that the text keeps its length.

    >>> lower("ΟΣ"), "ΟΣ".lower(), [len(text) for text in (lower("İ"), "İ".lower())]
    ('οσ', 'ος', [1, 2])
    """
    return text.replace("Σ", "σ").replace("İ", "i").lower()


def strip_edges(text: str) -> str:
    """A text without the punctuation around its words, by the tool's own rule.

    Each line is taken by itself. Where a token has punctuation at its edges, the token's text
    is replaced by what is inside it, wherever it occurs in the line as it is by then.

    >>> strip_edges("'Well, (so-so)...'"), strip_edges("b. a.b.c -- x--y")
    ('Well so-so', 'b a.bc  xy')
    """
    return "\n".join(map(_strip_line, _LINE_END.split(text)))


def _strip_line(line: str) -> str:
    tokens = _TOKEN.findall(line)
    if len(line) >= LONG:
        return _strip_long_line(line, tokens)
    for token in tokens:
        if (bare := token.strip(string.punctuation)) != token:
            line = line.replace(token, bare)
    return line


def _strip_long_line(line: str, tokens: list[str]) -> str:
    """The same for a line of any length: as blanks stay, each token changes by itself."""
    steps = [(t, bare) for t in tokens if (bare := t.strip(string.punctuation)) != t]
    times = defaultdict[str, list[int]](list)
    for time, (token, _) in enumerate(steps):
        times[token].append(time)

    def next_step(token: str, time: int) -> int:
        """The first step from `time` on that changes the token."""
        marks = [i for i, character in enumerate(token) if character in string.punctuation]
        parts = {token[i:j] for i in marks for j in range(i + 1, len(token) + 1)}
        parts |= {token[j : i + 1] for i in marks for j in range(i)}
        found = (times[part] for part in parts if part in times)
        later = (at[i] for at in found if (i := bisect_left(at, time)) < len(at))
        return min(later, default=len(steps))

    @cache
    def stripped(token: str) -> str:
        marks = sum(character in string.punctuation for character in token)
        if marks * len(token) > len(steps):  # fewer steps than parts to look up
            for old, new in steps:
                token = token.replace(old, new)
            return token
        time = -1
        while (time := next_step(token, time + 1)) < len(steps):
            token = token.replace(*steps[time])
        return token

    return _TOKEN.sub(lambda found: stripped(found[0]), line)


@cache
def misspellings() -> frozenset[str]:
    """5,513 common misspellings of English, a public list (see ``data/NOTICE.md``)."""
    return frozenset(read_word_list("misspellings.txt"))


def _ngrams(events: Sequence[str], n: int, between: str = " ") -> Iterator[str]:
    return map(between.join, zip(*(events[i:] for i in range(n)), strict=False))


def _among(counts: Mapping[str, int], events: frozenset[str]) -> dict[str, int]:
    return {event: counts[event] for event in events.intersection(counts)}


def _commonest(known: Mapping[Any, int], totals: Sequence[float]) -> list[Any]:
    """The `TOP` events of the greatest totals, and those that tie with the last."""
    ranked = sorted((totals[number] for number in known.values()), reverse=True)
    least = min(ranked[:TOP], default=0)
    return [event for event, number in known.items() if totals[number] >= least]


def _matrix(
    measured: Iterable[dict[str, Counts]], columns: Mapping[str, dict[Any, int]], *, learn: bool
) -> csr_matrix:
    """A row for each text: of the events that have columns, or of all, to `learn` these."""
    starts, indices, values = array("q", [0]), array("i"), array("d")
    for classes in measured:
        for name, counts in classes.items():
            known = columns[name]
            events = counts.keys() if learn else counts.keys() & known.keys()
            indices.extend(map(known.__getitem__, events))
            values.extend(map(counts.__getitem__, events))
        starts.append(len(indices))
    size = sum(map(len, columns.values()))
    matrix = csr_matrix((values, indices, starts), shape=(len(starts) - 1, size))
    matrix.eliminate_zeros()
    return matrix.sorted_indices()


def _checked(X: Iterable[Any]) -> list[str]:
    if isinstance(X, str | bytes):
        raise SyntfError("expected an iterable of texts, got a single one: put it in a list")
    texts = list(X)
    for text in texts:
        if not isinstance(text, str):
            raise SyntfError(f"expected texts as str, got {type(text).__name__}")
    if not texts:
        raise SyntfError("no texts: there is nothing to measure")
    return texts
