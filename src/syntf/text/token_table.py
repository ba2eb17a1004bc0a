"""A hash table from tokens to input words, computed once for compiled code to look up.

A token counts as an input word only if its form is one or has a lemma that is one, because
`Analyzer.candidates` gives no other terms. So the table holds the input words and those forms of
the lexicon that lead to one, each with the answer of the analyzer itself.

The table consists of numbers: where a form is in the vocabulary or the lexicon, and which input
word it counts as. It contains nothing from any text.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from syntf import native
from syntf.core import cache_store
from syntf.text import lexicon
from syntf.text.tokenizer import Analyzer, first_known, strip_possessive

compiled = native.load("_tokens")

_SCHEME = "syntf tokens 2"
"""Change this whenever the same words and settings would give another table."""


def supports(analyzer: object) -> TypeGuard[Analyzer]:
    """Tell whether there are tables for this analyzer: the fast one, with compiled code."""
    return compiled is not None and type(analyzer) is Analyzer


@dataclass(frozen=True, eq=False)
class TokenTable:
    """A hash table with open addressing from token forms to input words.

    Forms have no possessive ending.

    Attributes
    ----------
    slots : 0, or the upper half of a form's hash and 1 + its number. Their count is a power of two.
    entries : for each form, where its bytes begin, how many there are, and its input word.
    forms : the bytes of all forms, from :func:`form_bytes`.
    exact : whether forms are as written; a form that is not found is then tried in lower case.
    splits : whether an apostrophe divides a word into two tokens.
    """

    slots: NDArray[np.uint64]
    entries: NDArray[np.int32]
    forms: NDArray[np.uint8]
    exact: bool
    splits: bool = False

    @classmethod
    def build(cls, analyzer: Analyzer, inputs: Sequence[str]) -> Self:
        """Build the table for an analyzer and the input words of a vocabulary."""
        number = {term: i for i, term in enumerate(inputs)}
        term = first_known(analyzer, number.__contains__)
        sizes = [len(_encode(form)) for form in inputs]
        offsets = dict(zip(inputs, accumulate(sizes, initial=0), strict=False))
        if analyzer.morphology == "lemma":
            lemmas = lexicon.lexicon(analyzer.pack).lemmas.items()
            more = {form for form, lemma in lemmas if lemma in number and form not in number}
            in_lexicon, before = lexicon.offsets(analyzer.pack), sum(sizes)
            offsets |= {form: before + in_lexicon[form] for form in in_lexicon if form in more}
        known = [
            (offset, len(_encode(form)), number[word])
            for form, offset in offsets.items()
            if (word := term(form))
        ]
        entries = np.array(known, dtype=np.int32).reshape(-1, 3)
        slots = np.zeros(2 << len(known).bit_length(), dtype=np.uint64)
        forms = form_bytes(analyzer, inputs)
        compiled.fill(slots, entries, forms)
        exact = analyzer.morphology == "orth"
        return cls(slots, entries, forms, exact, analyzer.splits_at_apostrophes)

    @cached_property
    def longest(self) -> int:
        """The length of the longest form in bytes."""
        return int(self.entries[:, 1].max(initial=0))

    def find(self, token: str) -> int:
        """Return the input word that any token counts as, or -1."""
        word = strip_possessive(token)
        found = self._find(word) if self.exact else -1
        return found if found >= 0 else self._find(word.lower())

    def _find(self, form: str) -> int:
        found = compiled.term(self.slots, self.entries, self.forms, _encode(form), self.longest)
        return int(found)

    def to_arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays to store, whose bytes :meth:`from_bytes` takes."""
        return np.array([len(self.slots)], dtype=np.int64), self.slots, self.entries

    @classmethod
    def from_bytes(
        cls, raw: NDArray[np.uint8], analyzer: Analyzer, inputs: Sequence[str]
    ) -> Self | None:
        """Return the table that :meth:`to_arrays` stored, or None if the bytes are not valid.

        Compiled code follows these numbers, so none of them may point outside the arrays.
        """
        count = int(raw[:8].view(np.int64)[0]) if len(raw) >= 8 else 0
        end = 8 + 8 * count
        if count < 1 or count & (count - 1) or end > len(raw) or (len(raw) - end) % 12:
            return None
        slots, forms = raw[8:end].view(np.uint64), form_bytes(analyzer, inputs)
        entries = raw[end:].view(np.int32).reshape(-1, 3)
        starts, sizes, terms = entries.T
        numbers = slots.view(np.uint32)[sys.byteorder == "big" :: 2]
        taken = np.count_nonzero(slots)
        valid = (
            taken < count,
            np.count_nonzero(numbers) == taken,
            numbers.max() <= len(entries),
            entries.min(initial=0) >= 0,
            (starts <= len(forms) - sizes).all(),
            terms.max(initial=-1) < len(inputs),
        )
        if not all(valid):
            return None
        exact = analyzer.morphology == "orth"
        return cls(slots, entries, forms, exact, analyzer.splits_at_apostrophes)


def form_bytes(analyzer: Analyzer, inputs: Sequence[str]) -> NDArray[np.uint8]:
    """Return the input words in UTF-8, followed by the lexicon if lemmas are used."""
    more = lexicon.raw_lines(analyzer.pack) if analyzer.morphology == "lemma" else b""
    return np.frombuffer(_encode("".join(inputs)) + more, dtype=np.uint8)


def _encode(form: str) -> bytes:
    return form.encode("utf-8", "surrogatepass")


def cached_table(analyzer: Analyzer, inputs: Sequence[str]) -> TokenTable:
    """Return the table for public input words, memory-mapped from the cache if it is there.

    The cache entry holds numbers, no words.
    """
    lemmas = lexicon.digest(analyzer.pack) if analyzer.morphology == "lemma" else ""
    parts = [
        _SCHEME, sys.byteorder, analyzer.morphology, analyzer.numbers,
        sorted(analyzer.stop_words), sorted(analyzer.pack.number_words), lemmas, len(inputs),
    ]  # fmt: skip
    key = sha256(json.dumps(parts).encode())
    joined = "\n".join(inputs)
    if joined.count("\n") >= len(inputs):  # a word holds a line break: lengths tell words apart
        key.update(np.fromiter(map(len, inputs), dtype="<i4", count=len(inputs)).data)
    key.update(_encode(joined))
    path = cache_store.folder() / f"{key.hexdigest()}.tokens"
    raw = cache_store.mapped(path)
    known = None if raw is None else TokenTable.from_bytes(raw, analyzer, inputs)
    if known is not None:
        return known
    table = TokenTable.build(analyzer, inputs)
    cache_store.store(path, *(part.data for part in table.to_arrays()))
    return table
