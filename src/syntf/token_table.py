"""What every token counts as, worked out beforehand: a table for compiled code to look up.

A token counts as an input only if its form is one, or has a lemma that is (`Analyzer.candidates`
gives no other terms). So the inputs and the forms of the lexicon that lead to one are all there
is to look up, and the answers for them are those of the analyzer itself.

The table holds words of the vocabulary and of the lexicon, and nothing of any text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from syntf.analysis import Analyzer, bare
from syntf.lexicon import lexicon
from syntf.vocabulary import first_known

try:
    compiled: Any = import_module("syntf._tokens")
except ImportError:
    compiled = None


def serves(analyzer: object) -> TypeGuard[Analyzer]:
    """Whether there are tables for this analysis here: compiled code, and the fast analysis."""
    return compiled is not None and type(analyzer) is Analyzer


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Open addressing over the forms of tokens, without possessive ending, and their inputs.

    slots : 0, or the upper half of a form's hash and 1 + its number; a power of two of them.
    entries : where the bytes of each form begin, and its input; one row more ends the last.
    forms : the forms in UTF-8, one after the other.
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
        known = {form: number[found] for form in _forms(analyzer, number) if (found := term(form))}
        keys = [form.encode("utf-8", "surrogatepass") for form in known]
        entries = np.zeros((len(keys) + 1, 2), dtype=np.int32)
        entries[1:, 0] = np.cumsum([len(key) for key in keys], dtype=np.int32)
        entries[:-1, 1] = list(known.values())
        slots = np.zeros(2 << len(keys).bit_length(), dtype=np.uint64)
        forms = np.frombuffer(b"".join(keys), dtype=np.uint8)
        compiled.fill(slots, entries, forms)
        return cls(slots, entries, forms, analyzer.morphology == "orth")

    @cached_property
    def longest(self) -> int:
        return int(np.diff(self.entries[:, 0]).max(initial=0))

    def find(self, token: str) -> int:
        """The input that any token counts as, or -1."""
        word = bare(token)
        found = self._find(word) if self.exact else -1
        return found if found >= 0 else self._find(word.lower())

    def _find(self, form: str) -> int:
        key = form.encode("utf-8", "surrogatepass")
        return int(compiled.term(self.slots, self.entries, self.forms, key, self.longest))

    def parts(self) -> tuple[NDArray[Any], ...]:
        """All there is to keep, as :meth:`kept` takes it; sizes first."""
        sizes = np.array([len(self.slots), len(self.entries), len(self.forms)], dtype=np.int64)
        return sizes, self.slots, self.entries, self.forms

    @classmethod
    def kept(cls, raw: NDArray[np.uint8], inputs: int, *, exact: bool) -> Self | None:
        """The table whose :meth:`parts` these bytes are; None if they are none's.

        Compiled code goes by what is found here, so nothing of it may point outside.
        """
        sizes = raw[:24].view(np.int64).tolist() if len(raw) >= 24 else [0, 0, 0]
        ends = np.cumsum([24, 8 * sizes[0], 8 * sizes[1], sizes[2]]).tolist()
        if min(sizes) < 0 or 0 in sizes[:2] or sizes[0] & (sizes[0] - 1) or ends[-1] != len(raw):
            return None
        slots = raw[ends[0] : ends[1]].view(np.uint64)
        entries = raw[ends[1] : ends[2]].view(np.int32).reshape(-1, 2)
        starts, terms = entries[:, 0], entries[:-1, 1]
        numbers = (slots & np.uint64(0xFFFFFFFF)).astype(np.int64)
        sound = (
            not slots.all(),
            np.array_equal(numbers > 0, slots > 0),
            numbers.max() < len(entries),
            starts[0] == 0 and starts[-1] == sizes[2],
            (starts[1:] >= starts[:-1]).all(),
            (terms >= 0).all() and (terms < inputs).all(),
        )
        return cls(slots, entries, raw[ends[2] :], exact) if all(sound) else None


def _forms(analyzer: Analyzer, inputs: dict[str, int]) -> Iterable[str]:
    """The inputs, frequent ones first, and the forms of their lemmas."""
    if analyzer.morphology != "lemma":
        return inputs
    lemmas = lexicon().lemmas
    return {**inputs, **{form: 0 for form, lemma in lemmas.items() if lemma in inputs}}
