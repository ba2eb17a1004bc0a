"""The built-in reader: polars finds the words, and a table of forms says what they count as."""

from collections.abc import Sequence, Set

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, vstack

from syntf.core.parallel import in_blocks
from syntf.settings import FAST
from syntf.text.lexicon import lemmas
from syntf.text.tokens import ELISION, WORDS, is_number, spelling
from syntf.words.language import LanguagePack

BLOCK_BYTES = 1 << 22
"""About how many bytes of texts are read at once; a text is never divided."""


class FastReader:
    """Reads words without their context.

    A word counts as its lemma if that is a known word, and else as its lower case. With another
    morphology than *lemma* it counts as its lower case; with *orth* as the word as it is written,
    if that is known.

    Parameters
    ----------
    words : the known words.
    morphology : ``lemma``, ``lower`` or ``orth``.
    stop_words : words to leave out, lower case; with *lemma*, words with such a lemma too.
    numbers : include numbers, in digits or in words, even if they are stop words.
    pack : the language of the texts.
    """

    name = FAST

    def __init__(
        self,
        words: Sequence[str],
        morphology: str,
        *,
        stop_words: Set[str],
        numbers: bool,
        pack: LanguagePack,
    ) -> None:
        self.words = words
        self._pattern = ELISION if pack.tokenizer == "elision" else WORDS
        self._numbers = numbers
        self._number_words = _strings(sorted(pack.number_words))
        self._stop_forms = _strings(sorted(stop_words))
        columns = pl.Series("column", range(len(words)), dtype=pl.Int32)
        table = pl.DataFrame([_strings(words), columns])
        table = table.unique("form", keep="first", maintain_order=True)
        if morphology == "lemma":
            lexicon = lemmas(pack)
            stopped = lexicon.filter(pl.col("lemma").is_in(self._stop_forms.implode()))
            self._stop_forms = pl.concat([self._stop_forms, stopped["form"]])
            by_lemma = lexicon.join(table.rename({"form": "lemma"}), on="lemma")
            table = pl.concat([by_lemma.select("form", "column"), table])
        table = table.filter(~self._is_left_out(pl.col("form").str.to_lowercase()))
        table = table.unique("form", keep="first", maintain_order=True)
        self._columns = table["column"].to_numpy()
        self._code = _code(pl.Enum(table["form"]), is_exact=morphology == "orth")

    def counts(self, texts: pl.Series) -> csr_matrix:
        """Count how often each text has each known word."""
        texts = texts.cast(pl.String).fill_null("")
        starts = _block_starts(texts)
        ends = [*starts[1:], len(texts)]

        def count_block(number: slice) -> csr_matrix:
            return self._counts(texts[starts[number.start] : ends[number.start]])

        return vstack(list(in_blocks(count_block, len(starts), 1)), format="csr")

    def spellings(self, texts: pl.Series) -> list[str]:
        """Return the different words of all texts as they are written, without those left out."""
        words = self._words(texts.cast(pl.String).fill_null(""))
        words = words.filter(~self._is_left_out(pl.col("word").str.to_lowercase()))
        return words["word"].unique().sort().to_list()

    def _counts(self, texts: pl.Series) -> csr_matrix:
        codes = self._words(texts).select("row", code=self._code).drop_nulls()
        width = max(1, len(self.words))
        columns = self._columns[codes["code"].to_numpy()]
        places = codes["row"].to_numpy().astype(np.int64) * width + columns
        distinct, counts = np.unique(places, return_counts=True)
        ends = np.searchsorted(distinct, np.arange(len(texts) + 1) * width)
        return csr_matrix(
            (counts.astype(np.int32), distinct % width, ends), shape=(len(texts), len(self.words))
        )

    def _words(self, texts: pl.Series) -> pl.DataFrame:
        """Return the words of all texts, in any order: the columns ``row`` and ``word``.

        Only words with an apostrophe or other characters beyond ASCII need a look at their
        spelling. All apostrophes become typographic ones, so that the size in bytes tells.
        """
        found = texts.str.replace_all("'", "’", literal=True).str.extract_all(self._pattern)
        words = pl.DataFrame({"word": found}).with_row_index("row").explode("word").drop_nulls()
        is_ascii = pl.col("word").str.len_bytes() == pl.col("word").str.len_chars()
        others = words.filter(~is_ascii)
        spelled = others.select("word").unique().with_columns(spelled=spelling(pl.col("word")))
        others = others.join(spelled, on="word").select("row", word="spelled")
        return pl.concat([words.filter(is_ascii), others])

    def _is_left_out(self, form: pl.Expr) -> pl.Expr:
        """Tell which forms, in lower case, are stop words or numbers that are not counted."""
        number = is_number(form) | form.is_in(self._number_words.implode())
        stop = form.is_in(self._stop_forms.implode())
        return pl.when(number).then(not self._numbers).otherwise(stop)


def _code(forms: pl.Enum, *, is_exact: bool) -> pl.Expr:
    """Return what finds the place of each ``word`` among forms; null for an unknown word.

    It is made once for each reader, because polars hashes all forms to make it.
    """
    word = pl.col("word")
    spelled = [word, word.str.to_lowercase()] if is_exact else [word.str.to_lowercase()]
    return pl.coalesce([one.cast(forms, strict=False).to_physical() for one in spelled])


def _strings(words: Sequence[str]) -> pl.Series:
    return pl.Series("form", words, dtype=pl.String)


def _block_starts(texts: pl.Series) -> list[int]:
    """Return where blocks of texts begin; there is at least one block."""
    sizes = texts.str.len_bytes().to_numpy().astype(np.int64)
    blocks = (np.cumsum(sizes) - sizes) // BLOCK_BYTES
    return np.flatnonzero(np.diff(blocks, prepend=-1)).tolist() or [0]
