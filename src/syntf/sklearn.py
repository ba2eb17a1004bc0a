"""The method as a scikit-learn transformer."""

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
from syntf.core.choices import Draws, Morphology, Provenance, Weighting
from syntf.core.counts import matrix
from syntf.core.errors import SyntfError
from syntf.inputs.sequences import as_names, as_texts, text_values
from syntf.ledger.ledger import Ledger, chargeable_loss
from syntf.mechanism import gpu
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.query import topic_queries, word_queries
from syntf.pipeline.settings import Settings


class SynTF(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into synthetic term-frequency vectors with a differential-privacy guarantee.

    In the document unit (`document_loss`), a document is described by one choice among public
    topics, or among sets of words, which is randomised; its counts are the public term profile of
    the released choice. In the words unit (`loss` or `epsilon`), every document becomes `length`
    words. Each of them is drawn from the document and replaced by a word of similar meaning.

    Parameters
    ----------
    preset : {'document', 'sentiment', 'words', 'accurate', 'paper'}, optional
        Starting values for the other settings. 'document' limits the loss of a whole document;
        'sentiment' does so too, and keeps praise and blame in place of topics; 'words' limits the
        loss of each word and keeps more; 'accurate' keeps topics best, but authors are easier to
        identify; 'paper' is the SIGIR 2018 paper.
    document_loss : float, optional
        Largest privacy loss of a whole document, above 0; smaller is more private. 10 lets odds of
        1 to 22,026 become even at most. Example: 6. By default 10 with the presets
        'document' and 'sentiment'.
    codebook : path, optional
        Public codebook in place of the embedded one, made by 'syntf codebook build'. One built from
        public texts on the same topics keeps more.
    encoder : 'model2vec:FOLDER' or callable, optional
        Encoder in place of the word vectors: model2vec:FOLDER, with a codebook that was built with
        the same encoder. Needs pip install 'syntf[model2vec]'. Here also a function that turns a
        list of texts into an array with one row for each text, such as ``model.encode``. It is
        called with one text at a time, and must not be trained on these texts.
    pilot : bool, default=True
        With 1,000 documents or more, release a random part of them first (the pilot), and adapt the
        list of topics for all others to what it released. This costs no privacy.
    epsilon : float, optional
        Privacy parameter ε of the mechanism, above 0. The loss per word is computed from it. Give
        `epsilon` or `loss`, not both. Example: 20.
    loss : float, optional
        Largest privacy loss of one drawn word, above 0; smaller is more private. A document loses
        `loss` times `length`. Example: 6. By default 8.
    neighbours : int, optional
        Replace a word by one of its K nearest output words, all equally likely, or by any other
        output word. The preset 'paper' has none: it prefers output words by their similarity.
        Example: 3. By default 1.
    length : int, optional
        Words drawn for every document, whatever its own length. Example: 60. By default 125.
    spelling : float, default=0.3
        How strongly output words that are spelled like the input word are avoided, from 0 (not at
        all) to 1.
    language : str or path, default='en'
        Language of the texts: the code of a language pack, see 'syntf language list', or the folder
        of one. Several aligned packs are divided by commas; output words are those of the first.
        Example: fr.
    morphology : {'lemma', 'lower', 'orth'}, default='lemma'
        Form in which words are counted: 'lemma' (dictionary form), 'lower' (lower case) or 'orth'
        (as written).
    analyzer : {'fast', 'spacy:MODEL'}, default='fast'
        What splits texts into words: 'fast' (built in, for the language of the texts) or an
        installed spaCy pipeline. Example: spacy:en_core_web_sm.
    stop_words : set of str, optional
        Words to leave out of documents. By default a public list of function words of the language,
        or the list of the spaCy pipeline.
    numbers : bool, default=False
        Include numbers.
    weights : {'tf', 'tfidf', 'topical'}, optional
        How often a term is drawn: 'tf' by its count in the document, 'tfidf' more often if it is
        rare elsewhere, 'topical' more often if it names a topic. By default 'tf'.
    draws : {'independent', 'systematic'}, optional
        How terms are drawn: 'independent' of each other, or 'systematic', spread evenly over the
        document, which keeps more of it at the same loss. By default 'systematic'.
    idf : {'public', 'fitted'}, default='public'
        Document frequencies for the weights 'tfidf': 'public' (from the order of the word vectors)
        or 'fitted' (from these texts; the release is then marked as not private).
    vocabulary : path or sequence of str, optional
        Public vocabulary in place of the embedded one: a file with one term per line. Here also a
        sequence of terms. Its terms are the output words. They are the input words too, unless
        `neighbours` is set: then every word with a vector is an input word.
    fit_vocabulary : bool, default=False
        Take the vocabulary from these texts. The release is then marked as not private.
    min_df : int or float, default=2
        For a vocabulary from texts: how many texts must contain a term, as a count (2) or a share
        (0.01).
    max_df : int or float, default=1.0
        For a vocabulary from texts: how many texts may contain a term, as a count (500) or a share
        (0.5); 1.0 means all.
    max_size : int, optional
        Number of output words at most: of a vocabulary from texts the terms that most texts
        contain, of any other the most frequent by the order of the word vectors. Example: 4000. By
        default 4,000, and all terms of a `vocabulary`.
    synsets : bool, default=False
        Extend the vocabulary by synonyms from WordNet, which must be installed.
    vectors : path, 'spacy:MODEL', WordVectors, gensim KeyedVectors or spaCy pipeline, optional
        Word vectors in place of the embedded ones: a GloVe or word2vec file (text or binary, plain
        or .gz), an .npz file with the arrays words and vectors, or spacy:MODEL.
    list_from : path, optional
        Folder of an earlier release of the document unit that had a pilot. Documents answer from
        the list which that pilot led to. The list is public, so this costs no privacy.
    source : callable, optional
        A source of random bytes, for tests. The guarantee of what it draws is marked NOT PRIVATE.
        By default the operating system's entropy is used; there is no ``random_state``.
    n_jobs : int, optional
        Number of threads for ``fit`` and ``transform``. By default, as with -1, one per core. The
        draws do not depend on it.
    device : {'cuda'}, optional
        Compute tables that are not in the cache on a GPU, with CuPy. The integers are the same.
    ledger : Ledger, optional
        Ledger that ``transform`` charges with the loss of every document before anything is drawn.
        ``transform`` raises BudgetError, and draws nothing, if a budget would be exceeded.

    Attributes
    ----------
    guarantee_ : Guarantee
        What ``transform`` guarantees; after ``fit_transform``, what that release guarantees. The
        fields of ``guarantee.json``.
    labels_ : list of str
        After ``fit_transform`` in the document unit: a readable name of what was released for each
        document, such as ``orbit, spacecraft, earth``.
    pilot_ : ndarray of bool
        After ``fit_transform`` in the document unit: whether each document was one of the pilot.

    Raises
    ------
    SyntfError
        By ``fit``, if a parameter is not allowed or parameters exclude each other.

    Notes
    -----
    Each row of ``transform`` is ``guarantee_.loss_per_document``-differentially private in its
    document; any two documents are adjacent. Transforming the same texts again draws anew, and
    the losses add up: ``fit_transform`` followed by ``transform`` of the same texts loses twice.

    In the document unit, ``fit_transform`` of 1,000 texts or more has a pilot: a random part of
    the documents answers first and sharpens the list for the others and for later calls of
    ``transform``. After ``fit`` alone, ``transform`` answers from the general list of the codebook,
    or from the list of an earlier release (`list_from`).

    Examples
    --------
    >>> from syntf import SynTF
    >>> synthetic = SynTF(document_loss=10)
    >>> counts = synthetic.fit_transform(["A rocket flew to the moon.", "Add garlic to the soup."])
    >>> synthetic.guarantee_.loss_per_document, counts.shape[0], len(synthetic.labels_)
    (10.0, 2, 2)

    The words unit keeps more and promises less:

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
        preset: str | None = None,
        document_loss: float | None = None,
        codebook: str | PathLike[str] | None = None,
        encoder: Any = None,
        pilot: bool = True,
        epsilon: float | None = None,
        loss: float | None = None,
        neighbours: int | None = None,
        length: int | None = None,
        spelling: float = 0.3,
        language: str | PathLike[str] = "en",
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
        list_from: str | PathLike[str] | None = None,
        source: entropy.Source | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.preset = preset
        self.document_loss = document_loss
        self.codebook = codebook
        self.encoder = encoder
        self.pilot = pilot
        self.epsilon = epsilon
        self.loss = loss
        self.neighbours = neighbours
        self.length = length
        self.spelling = spelling
        self.language = language
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
        self.list_from = list_from
        self.source = source
        self.n_jobs = n_jobs
        self.device = device
        self.ledger = ledger

    def fit(self, X: Iterable[str], y: Any = None) -> "SynTF":
        """Prepare the mechanism.

        Parameters
        ----------
        X : iterable of str or bytes
            Texts. They are read only if a vocabulary or an idf is fitted on them.
        y : ignored
        """
        texts = as_texts(X)
        chosen = self.get_params(deep=False)
        for name in ("list_from", "source", "n_jobs", "device", "ledger"):
            del chosen[name]
        source = entropy.system if self.source is None else self.source
        if self.device is not None:
            gpu.load_cupy(self.device)  # raises if the device is missing
        settings = Settings.from_preset(**chosen)
        with parallel.at_most(self.n_jobs):
            self._anonymizer = (
                self._document_anonymizer(settings, source)
                if settings.unit == "document"
                else self._words_anonymizer(settings, texts, source)
            )
            self.guarantee_ = self._anonymizer.guarantee()
        for name in ("labels_", "pilot_"):  # of an earlier fit_transform
            self.__dict__.pop(name, None)
        return self

    def _document_anonymizer(
        self, settings: Settings, source: entropy.Source
    ) -> DocumentAnonymizer:
        anonymizer = DocumentAnonymizer.build(settings, source=source)
        if self.list_from is not None:
            from syntf.releases.earlier_list import read_earlier_list  # needs polars

            anonymizer.sharpened = read_earlier_list(
                self.list_from, anonymizer.encoder, anonymizer.loss
            )
        return anonymizer

    def _words_anonymizer(
        self, settings: Settings, texts: Sequence[str], source: entropy.Source
    ) -> Anonymizer:
        if self.list_from is not None:
            raise SyntfError(
                "list_from names the list of a release of the document unit: give document_loss "
                "too, or leave list_from out"
            )
        return Anonymizer.build(settings, texts, source=source, device=self.device)

    def transform(
        self,
        X: Iterable[str],
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> csr_matrix:
        """Return synthetic counts of texts; every call draws anew.

        Parameters
        ----------
        X : iterable of str or bytes
            Texts. Missing values are empty documents.
        ids : iterable, optional
            For a ledger: what identifies each document. By default the text itself does.
        authors : iterable, optional
            For a ledger with a budget for authors: who wrote each document.

        Returns
        -------
        scipy.sparse.csr_matrix of int32
            One row per text, one column per output word.
        """
        self._check_names(ids, authors)
        return self._charge_and_draw(as_texts(X), ids, authors)

    def transform_with_labels(
        self,
        X: Iterable[str],
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> tuple[csr_matrix, list[str]]:
        """Return synthetic counts of texts, and a readable name of what was released for each.

        This draws anew, as :meth:`transform` does, and has its parameters. It needs the document
        unit.

        Examples
        --------
        >>> synthetic = SynTF(document_loss=40).fit([])
        >>> synthetic.transform_with_labels(["The rocket reached its orbit."])[1]  # doctest: +SKIP
        ['reach; rocket; orbit; spacecraft']
        """
        self._check_names(ids, authors)
        anonymizer = self._anonymizer
        if not isinstance(anonymizer, DocumentAnonymizer):
            raise SyntfError("only a release of the document unit has labels: give document_loss")
        texts = as_texts(X)
        self._charge(texts, ids, authors)
        with parallel.at_most(self.n_jobs):
            counts, labels = anonymizer.single.described(
                anonymizer.draw_singly(anonymizer.read(texts))
            )
        return matrix(counts), labels

    def query(self, text: str) -> csr_matrix:
        """Return the vector of a plain query, to compare with released counts.

        It is what a release holds of a document with these words, without the noise. It depends on
        the query, the fitted list and the mechanism alone: nothing is drawn, and it costs no
        privacy. After ``fit_transform``, the list is that of this release.

        Parameters
        ----------
        text : str
            The words to search for.

        Returns
        -------
        scipy.sparse.csr_matrix of float64
            One row, with the columns of ``transform``.

        Raises
        ------
        SyntfError
            If the query has no known word.

        Examples
        --------
        >>> synthetic = SynTF(vocabulary=["cat", "dog", "car", "train", "bus"])
        >>> counts = synthetic.fit_transform(["My cat chased the dog.", "A train and a bus."])
        >>> scores = counts @ synthetic.query("cats and dogs").T
        >>> scores.shape
        (2, 1)
        """
        check_is_fitted(self, "guarantee_")
        anonymizer, texts = self._anonymizer, as_texts([text])
        with parallel.at_most(self.n_jobs):
            if isinstance(anonymizer, DocumentAnonymizer):
                encoded = anonymizer.read(texts)
                found = topic_queries(anonymizer.single, anonymizer.single_list, encoded)
            else:
                found = word_queries(anonymizer, anonymizer.read(texts))
        if not found.nnz:
            raise SyntfError("the query has no known word: use other words")
        return found

    def iter_transform(
        self,
        X: Iterable[str],
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
        *,
        batch_size: int = 1024,
    ) -> Iterator[csr_matrix]:
        """Yield synthetic counts of a stream of texts, one matrix per batch.

        Before each matrix at most `batch_size` texts are read from `X`, so memory holds one batch
        and a slow consumer slows the producer down. A small batch is ready sooner; a large batch
        costs less per text. The other parameters are those of :meth:`transform`.

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
        names = [None if each is None else iter(each) for each in (ids, authors)]
        return self._transform_batches(iter(text_values(X)), names, batch_size)

    def fit_transform(
        self,
        X: Iterable[str],
        y: Any = None,
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> csr_matrix:
        """Fit and transform the same texts, which may come from a generator.

        In the document unit with 1,000 texts or more, a pilot sharpens the list. Transforming the
        same texts once more would count their loss a second time.
        """
        texts = as_texts(X)
        self.fit(texts, y)
        anonymizer = self._anonymizer
        if not isinstance(anonymizer, DocumentAnonymizer):
            return self.transform(texts, ids, authors)
        self._check_names(ids, authors)
        self._charge(texts, ids, authors)
        with parallel.at_most(self.n_jobs):
            drawn, self.guarantee_ = anonymizer.anonymize_together(texts)
            counts, self.labels_ = anonymizer.single.described(drawn)
        self.pilot_ = drawn.pilot
        return matrix(counts)

    def _transform_batches(
        self, X: Iterator[str], names: Sequence[Iterator[Any] | None], size: int
    ) -> Iterator[csr_matrix]:
        while texts := as_texts(islice(X, size)):
            ids, authors = (each and list(islice(each, len(texts))) for each in names)
            yield self._charge_and_draw(texts, ids, authors)

    def _charge_and_draw(
        self, texts: list[str], ids: Iterable[Any] | None, authors: Iterable[Any] | None
    ) -> csr_matrix:
        """Charge the ledger, if there is one, then draw."""
        anonymizer = self._anonymizer
        self._charge(texts, ids, authors)
        with parallel.at_most(self.n_jobs):
            if isinstance(anonymizer, DocumentAnonymizer):
                drawn = anonymizer.draw_singly(anonymizer.read(texts))
                return matrix(anonymizer.single.described(drawn)[0])
            return anonymizer.anonymize(texts)

    def _charge(
        self, texts: list[str], ids: Iterable[Any] | None, authors: Iterable[Any] | None
    ) -> None:
        if self.ledger is not None:
            loss = chargeable_loss(self._anonymizer.guarantee())
            self.ledger.spend(loss, [as_names(texts, ids, authors)])

    def _check_names(self, ids: Iterable[Any] | None, authors: Iterable[Any] | None) -> None:
        check_is_fitted(self, "guarantee_")
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            raise SyntfError("ledger is a Ledger: open the file with Ledger(path)")
        if self.ledger is None and (ids is not None or authors is not None):
            raise ValueError("ids and authors need a ledger: SynTF(ledger=...)")

    def set_output(self, *, transform: str | None = None) -> "SynTF":
        """Refuse data frames as output: the counts have thousands of columns, nearly all zeros.

        For a data frame of sparse columns, use ``pandas.DataFrame.sparse.from_spmatrix``.
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"SynTF returns a sparse matrix, which transform={transform!r} cannot hold: "
                "make a data frame with pandas.DataFrame.sparse.from_spmatrix(counts, "
                "columns=synthetic.get_feature_names_out())"
            )
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output words, one per column."""
        check_is_fitted(self, "guarantee_")
        return np.array(self._anonymizer.outputs, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = True
        return tags
