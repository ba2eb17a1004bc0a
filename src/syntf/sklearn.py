"""The scikit-learn face of syntf."""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from syntf.core import entropy, parallel
from syntf.core.errors import SyntfError
from syntf.inputs.sequences import as_names, as_texts, check_several
from syntf.ledger.ledger import Ledger, accountable
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.presets import settings
from syntf.pipeline.settings import Draws, Weighting
from syntf.text.tokenizer import Morphology
from syntf.vocabulary.vocabulary import Provenance


class SynTF(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns texts into synthetic term-frequency vectors with a differential-privacy guarantee.

    Each document becomes `length` words: each is drawn from the document and replaced,
    through the Exponential mechanism, by a word of similar meaning and different spelling.

    Parameters
    ----------
    preset : {'default', 'accurate', 'paper'}, default='default'
        Where the parameters below come from that are not given: for authors that are hard to
        tell, for topics that are easy to tell, or the paper's optimum
        (:mod:`syntf.pipeline.presets`).
    epsilon : float, optional
        Privacy parameter ε of the mechanism. The loss per word is measured and smaller.
    loss : float, optional
        Wanted loss per word, in place of `epsilon`; 8 by default.
    neighbours : int, optional
        k, to have a word replaced by one of its k nearest output words, or by any other, all
        alike: the loss is then half of ε. 1 by default; the paper grades words by similarity.
    length : int, optional
        Words drawn for every document, whatever its own length; 125 by default.
    spelling : float, default=0.3
        Factor s by which shared letter bigrams count against a substitute.
    morphology : {'lemma', 'lower', 'orth'}, default='lemma'
    analyzer : {'fast', 'spacy:MODEL'}, default='fast'
        What finds the words of a text: syntf's own reader of English, or a spaCy pipeline.
    stop_words : set of str, optional
        Left out of documents; by default a public list of English function words, or that of
        the spaCy pipeline.
    numbers : bool, default=False
        Whether to keep numbers.
    weights : {'tf', 'tfidf', 'topical'}, optional
        How a document's terms are weighed: ``tf`` by default and in the paper, ``topical`` in
        *accurate*.
    draws : {'independent', 'systematic'}, optional
        How they are drawn: ``systematic`` by default, spread over all of the document;
        ``independent`` in the paper.
    idf : {'public', 'fitted'}, default='public'
        For ``weights='tfidf'``.
    vocabulary : path or sequence of str, optional
        Terms, as inputs and outputs. By default every word with a vector is an input, and
        a public list of frequent words is the output. With `neighbours`, every word with a
        vector is an input, whatever the outputs.
    fit_vocabulary : bool, default=False
        Take as vocabulary the terms in at least `min_df` of the texts given to ``fit``. If
        those are the texts released, the guarantee does not cover it, and says so.
    min_df : int or float, default=2
    max_df : int or float, default=1.0
        For a fitted vocabulary: how many texts a term must and may be in, as a number of
        texts (int) or a share of them (float).
    max_size : int, optional
        How many outputs to take at most. Of a fitted vocabulary, the terms in the most texts;
        of any other, those whose vectors stand first, as frequent words do. By default 4,000
        of the public vocabulary or of a fitted one, and all of one that is given.
    synsets : bool, default=False
        Extend the vocabulary by the synonyms of its terms in WordNet, which must be installed.
    vectors : path, 'spacy:MODEL', WordVectors, gensim KeyedVectors or spaCy pipeline, optional
        Word vectors in place of the embedded ones.
    source : callable, optional
        A source of random bytes for tests. What it draws is marked NOT PRIVATE. The
        operating system's entropy is used by default; there is no ``random_state``.
    n_jobs : int, optional
        Threads that share the work of ``fit`` and ``transform``; by default, as with -1, one a
        core. What is drawn does not depend on it.
    device : {'cuda'}, optional
        What works out tables that the cache does not know: a GPU, through PyTorch. The integers
        are the same.
    ledger : Ledger, optional
        Where ``transform`` charges the loss of every document before it draws; it raises, and
        draws nothing, where a budget would be exceeded (:mod:`syntf.ledger.ledger`).

    Attributes
    ----------
    guarantee_ : Guarantee
        What ``transform`` promises; the fields of ``guarantee.json``.

    Guarantee
    ---------
    Each row of ``transform`` is ``guarantee_.loss_per_document``-differentially private in
    its document, with any two documents adjacent. Transforming the same texts again draws
    anew, and the losses add up.

    Examples
    --------
    >>> from syntf import SynTF
    >>> synthetic = SynTF(length=20, vocabulary=["cat", "dog", "car", "train", "bus"])
    >>> counts = synthetic.fit_transform(["My cat chased the dog.", ""])
    >>> counts.shape, counts.sum(axis=1).tolist()
    ((2, 5), [[20], [20]])
    >>> synthetic.guarantee_.private
    True
    """

    def __init__(
        self,
        *,
        preset: str = "default",
        epsilon: float | None = None,
        loss: float | None = None,
        neighbours: int | None = None,
        length: int | None = None,
        spelling: float = 0.3,
        morphology: Morphology = "lemma",
        analyzer: str = "fast",
        stop_words: Set[str] | None = None,
        numbers: bool = False,
        weights: Weighting | None = None,
        draws: Draws | None = None,
        idf: Provenance = "public",
        vocabulary: str | PathLike[str] | Sequence[str] | None = None,
        fit_vocabulary: bool = False,
        min_df: float = 2,
        max_df: float = 1.0,
        max_size: int | None = None,
        synsets: bool = False,
        vectors: Any = None,
        source: entropy.Source | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.preset = preset
        self.epsilon = epsilon
        self.loss = loss
        self.neighbours = neighbours
        self.length = length
        self.spelling = spelling
        self.morphology = morphology
        self.analyzer = analyzer
        self.stop_words = stop_words
        self.numbers = numbers
        self.weights = weights
        self.draws = draws
        self.idf = idf
        self.vocabulary = vocabulary
        self.fit_vocabulary = fit_vocabulary
        self.min_df = min_df
        self.max_df = max_df
        self.max_size = max_size
        self.synsets = synsets
        self.vectors = vectors
        self.source = source
        self.n_jobs = n_jobs
        self.device = device
        self.ledger = ledger

    def fit(self, X: Iterable[str], y: Any = None) -> "SynTF":
        """Prepare the mechanism. The texts are used only where something is fitted on them."""
        texts = as_texts(X)
        chosen = self.get_params(deep=False)
        for name in ("source", "n_jobs", "device", "ledger"):
            del chosen[name]
        source = entropy.system if self.source is None else self.source
        with parallel.at_most(self.n_jobs):
            anonymizer = Anonymizer.build(
                settings(**chosen), texts, source=source, device=self.device
            )
        self._anonymizer, self.guarantee_ = anonymizer, anonymizer.guarantee()
        return self

    def transform(
        self,
        X: Iterable[str],
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> csr_matrix:
        """Synthetic counts: CSR of int32, one row a text, `length` words in each.

        With a ledger, each text is charged under its id, or by default under the text itself,
        and to its author.
        """
        self._check_names(ids, authors)
        return self._released(as_texts(X), ids, authors)

    def iter_transform(
        self,
        X: Iterable[str],
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
        *,
        batch_size: int = 1024,
    ) -> Iterator[csr_matrix]:
        """Synthetic counts of texts that keep coming, as from a queue: a matrix a batch.

        Nothing is read from `X` before the next matrix is asked for, and then `batch_size` texts
        at most: whoever is slow, here or there, slows the other down, and memory stays what one
        batch takes. A small batch comes sooner, a large one costs less a text.

        Examples
        --------
        >>> synthetic = SynTF(length=9, vocabulary=["cat", "dog", "bus"]).fit([])
        >>> stream = (f"message {number}: my cat" for number in range(5))
        >>> [counts.shape for counts in synthetic.iter_transform(stream, batch_size=2)]
        [(2, 3), (2, 3), (1, 3)]
        """
        self._check_names(ids, authors)
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size must be a whole number, at least 1, not {batch_size!r}")
        check_several(X)
        named = [None if names is None else iter(names) for names in (ids, authors)]
        return self._batches(iter(X), named, batch_size)

    def fit_transform(
        self,
        X: Iterable[str],
        y: Any = None,
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> csr_matrix:
        """``fit`` and ``transform`` of the same texts, which may come from a generator."""
        texts = as_texts(X)
        return self.fit(texts, y).transform(texts, ids, authors)

    def _batches(
        self, X: Iterator[str], named: Sequence[Iterator[Any] | None], size: int
    ) -> Iterator[csr_matrix]:
        while texts := as_texts(islice(X, size)):
            ids, authors = (names and list(islice(names, len(texts))) for names in named)
            yield self._released(texts, ids, authors)

    def _released(
        self, texts: list[str], ids: Iterable[Any] | None, authors: Iterable[Any] | None
    ) -> csr_matrix:
        """The counts, once a ledger, if there is one, was charged for them."""
        if self.guarantee_.private and not self._anonymizer.vocabulary.public_for(texts):
            raise SyntfError(
                "the vocabulary was built from these very texts, and the guarantee calls it "
                "public: fit on the texts that are released"
            )
        if self.ledger is not None:
            loss = accountable(self._anonymizer.guarantee())
            self.ledger.spend(loss, [as_names(texts, ids, authors)])
        with parallel.at_most(self.n_jobs):
            return self._anonymizer.anonymize(texts)

    def _check_names(self, ids: Iterable[Any] | None, authors: Iterable[Any] | None) -> None:
        check_is_fitted(self, "guarantee_")
        if self.ledger is None and (ids is not None or authors is not None):
            raise ValueError("ids and authors are for a ledger: SynTF(ledger=...)")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The output terms, one a column."""
        check_is_fitted(self, "guarantee_")
        return np.array(self._anonymizer.vocabulary.outputs, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = True
        return tags
