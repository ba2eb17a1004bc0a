"""Read texts as known words: the step that both units share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from syntf.core.progress import Advance
from syntf.text import token_table
from syntf.text.documents import Documents
from syntf.text.reader import look_up, read_documents
from syntf.text.token_table import TokenTable, cached_table
from syntf.text.tokenizer import Analysis, Memo, first_known


@dataclass
class WordReader:
    """Finds the known words of texts.

    analyzer : splits texts into tokens and knows the terms that a token may count as.
    words : the known words, by number.
    public : whether the words are public, so that their token table may be cached.
    """

    analyzer: Analysis[Any]
    words: Sequence[str]
    public: bool = True

    def read(
        self,
        texts: Sequence[str],
        progress: Advance | None = None,
        term_of: Mapping[Any, int] | None = None,
    ) -> Documents:
        """Return the known words of each text, as numbers; ``len(words)`` for no known word.

        Where tokens have to be analysed one by one, `term_of` remembers them, or else this object.
        """
        if self.table is not None:
            return look_up(texts, self.table, len(self.words), progress)
        known = self.term_of if term_of is None else term_of
        return read_documents(texts, known, len(self.words), progress, read=self.analyzer.read)

    @cached_property
    def term_of(self) -> Memo[Any, int]:
        """The number of the word that a token counts as, −1 for none."""
        return self.new_terms()

    def new_terms(self) -> Memo[Any, int]:
        """Return a mapping like :attr:`term_of` that remembers no token yet."""
        number = {term: i for i, term in enumerate(self.words)}
        term = first_known(self.analyzer, number.__contains__)
        return Memo(lambda token: number.get(term(token), -1))

    @cached_property
    def table(self) -> TokenTable | None:
        """The words of all tokens; None where each token has to be analysed."""
        if not token_table.supports(self.analyzer):
            return None
        make = cached_table if self.public else TokenTable.build
        return make(self.analyzer, self.words)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out remembered tokens, which are those of texts, and the table of this process."""
        return {
            name: value for name, value in vars(self).items() if name not in ("term_of", "table")
        }
