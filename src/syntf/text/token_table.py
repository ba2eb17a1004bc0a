"""What every token counts as, worked out beforehand: a table for compiled code to look up.

A token counts as an input only if its form is one, or has a lemma that is (`Analyzer.candidates`
gives no other terms). So the inputs and the forms of the lexicon that lead to one are all there
is to look up, and the answers for them are those of the analyzer itself.

The table holds numbers: where a form stands in the vocabulary or the lexicon, and what it counts
as. Nothing in it is of a text.
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
from syntf.text.tokenizer import Analyzer, bare, first_known

compiled = native.load("_tokens")

_TOKENS = "syntf tokens 1"
"""Change this whenever the same words and settings would give another table."""


def serves(analyzer: object) -> TypeGuard[Analyzer]:
    """Whether there are tables for this analysis here: compiled code, and the fast analysis."""
    return compiled is not None and type(analyzer) is Analyzer


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Open addressing over the forms of tokens, without possessive ending, and their inputs.

    slots : 0, or the upper half of a form's hash and 1 + its number; a power of two of them.
    entries : of each form, where its bytes begin, how many there are, and its input.
    forms : the bytes, see :func:`spelling`.
    exact : forms are as written, and one that is not found is tried in lower case.
    """

    slots: NDArray[np.uint64]
    entries: NDArray[np.int32]
    forms: NDArray[np.uint8]
    exact: bool

    @classmethod
    def build(cls, analyzer: Analyzer, inputs: Sequence[str]) -> Self:
        """The table for an analysis and the inputs of a vocabulary."""
        number = {term: i for i, term in enumerate(inputs)}
        term = first_known(analyzer, number.__contains__)
        sizes = [len(_encoded(form)) for form in inputs]
        places = dict(zip(inputs, accumulate(sizes, initial=0), strict=False))
        if analyzer.morphology == "lemma":
            lemmas = lexicon.lexicon().lemmas.items()
            more = {form for form, lemma in lemmas if lemma in number and form not in number}
            found, before = lexicon.places(), sum(sizes)
            places |= {form: before + found[form] for form in found if form in more}
        known = [
            (place, len(_encoded(form)), number[found_as])
            for form, place in places.items()
            if (found_as := term(form))
        ]
        entries = np.array(known, dtype=np.int32).reshape(-1, 3)
        slots = np.zeros(2 << len(known).bit_length(), dtype=np.uint64)
        forms = spelling(analyzer, inputs)
        compiled.fill(slots, entries, forms)
        return cls(slots, entries, forms, analyzer.morphology == "orth")

    @cached_property
    def longest(self) -> int:
        return int(self.entries[:, 1].max(initial=0))

    def find(self, token: str) -> int:
        """The input that any token counts as, or -1."""
        word = bare(token)
        found = self._find(word) if self.exact else -1
        return found if found >= 0 else self._find(word.lower())

    def _find(self, form: str) -> int:
        found = compiled.term(self.slots, self.entries, self.forms, _encoded(form), self.longest)
        return int(found)

    def parts(self) -> tuple[NDArray[Any], ...]:
        """What there is to keep, as :meth:`kept` takes it: numbers, and how many."""
        return np.array([len(self.slots)], dtype=np.int64), self.slots, self.entries

    @classmethod
    def kept(cls, raw: NDArray[np.uint8], analyzer: Analyzer, inputs: Sequence[str]) -> Self | None:
        """The table whose :meth:`parts` these bytes are; None if they are none's.

        Compiled code goes by what is found here, so nothing of it may point outside.
        """
        count = int(raw[:8].view(np.int64)[0]) if len(raw) >= 8 else 0
        end = 8 + 8 * count
        if count < 1 or count & (count - 1) or end > len(raw) or (len(raw) - end) % 12:
            return None
        slots, forms = raw[8:end].view(np.uint64), spelling(analyzer, inputs)
        entries = raw[end:].view(np.int32).reshape(-1, 3)
        starts, sizes, terms = entries.T.astype(np.int64)
        numbers = (slots & np.uint64(0xFFFFFFFF)).astype(np.int64)
        sound = (
            not slots.all(),
            np.array_equal(numbers > 0, slots > 0),
            numbers.max() <= len(entries),
            (starts >= 0).all() and (sizes >= 0).all() and (starts + sizes <= len(forms)).all(),
            (terms >= 0).all() and (terms < len(inputs)).all(),
        )
        return cls(slots, entries, forms, analyzer.morphology == "orth") if all(sound) else None


def spelling(analyzer: Analyzer, inputs: Sequence[str]) -> NDArray[np.uint8]:
    """The inputs in UTF-8, one after the other, and for lemmas the lexicon: all forms are in it."""
    more = lexicon.spelled() if analyzer.morphology == "lemma" else b""
    return np.frombuffer(_encoded("".join(inputs)) + more, dtype=np.uint8)


def _encoded(form: str) -> bytes:
    return form.encode("utf-8", "surrogatepass")


def cached_table(analyzer: Analyzer, inputs: Sequence[str]) -> TokenTable:
    """What tokens count as, for public inputs: worked out now unless it was before.

    Kept are numbers, no words; memory-mapped.
    """
    lemmas = lexicon.digest() if analyzer.morphology == "lemma" else ""
    about = [
        _TOKENS, sys.byteorder, analyzer.morphology, analyzer.numbers,
        sorted(analyzer.stop_words), lemmas, len(inputs),
    ]  # fmt: skip
    key = sha256(json.dumps(about).encode())
    key.update(np.fromiter(map(len, inputs), dtype="<i4", count=len(inputs)).data)
    key.update("".join(inputs).encode("utf-8", "surrogatepass"))
    path = cache_store.folder() / f"{key.hexdigest()}.tokens"
    raw = cache_store.mapped(path)
    known = None if raw is None else TokenTable.kept(raw, analyzer, inputs)
    if known is not None:
        return known
    made = TokenTable.build(analyzer, inputs)
    cache_store.store(path, *(part.data for part in made.parts()))
    return made
