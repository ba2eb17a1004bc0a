"""The method as a scikit-learn transformer."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from syntf.core import entropy
from syntf.core.errors import SyntfError, suggestion
from syntf.inputs.sequences import as_texts
from syntf.ledger import Ledger
from syntf.rows import Drawn, Scheme, build, draw, guarantee
from syntf.settings import RENAMED, SETTINGS, Settings


class SynTF(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg, misc]
    """Turn texts into synthetic term-frequency vectors with a differential-privacy guarantee.

    By default a document is described by one choice among public topics, which is randomised; its
    counts are the public words of the released topic. With the presets ``words`` and ``paper``,
    every document becomes `length` words, each drawn from the document and replaced by a word of
    similar meaning.

    Parameters
    ----------
    preset : {'document', 'words', 'accurate', 'paper'}, optional
        Starting values for the other settings.
    document_loss : float, optional
        Largest privacy loss of a whole document; smaller is more private. By default 10.
    word_loss : float, optional
        Largest privacy loss of one drawn word. A document loses `word_loss` times `length`.
    epsilon : float, optional
        Privacy parameter ε of the paper's mechanism, for one drawn word; with ``preset='paper'``.
    length : int, optional
        Words drawn for every document, whatever its own length.
    language : str or path, default='en'
        Language of the texts: the code of a language pack, or the folder of one.
    codebook : path, optional
        Public list of topics in place of the embedded one.
    encoder : 'model2vec:FOLDER' or callable, optional
        Encoder in place of word vectors, with a codebook that was built with it. A callable turns a
        list of texts into an array with one row for each text; it is called with one text at a
        time, and must not be trained on these texts.
    vocabulary : path or sequence of str, optional
        Public vocabulary in place of the embedded one, for single words.
    vectors : path, WordVectors, gensim KeyedVectors or spaCy pipeline, optional
        Word vectors in place of the embedded ones.
    settings : Settings, optional
        All settings at once, in place of the parameters above.
    ledger : Ledger, optional
        Ledger that ``transform`` charges with the loss of every document before anything is drawn.
        ``transform`` raises BudgetError, and draws nothing, if a budget would be exceeded.
    source : callable, optional
        A source of random bytes, for tests. The guarantee of what it draws is marked NOT PRIVATE.
        By default the operating system's entropy is used; there is no ``random_state``.

    Attributes
    ----------
    guarantee_ : Guarantee
        What ``transform`` guarantees; after ``fit_transform``, what that release guarantees.
    topics_ : list of str
        After ``fit_transform``: a readable name of what was released for each document, such as
        ``orbit, spacecraft, earth``.
    pilot_ : ndarray of bool
        After ``fit_transform``: whether each document answered first.

    Notes
    -----
    Each row of ``transform`` is ``guarantee_.loss_per_document``-differentially private in its
    document; any two documents are neighbours. Transforming the same texts again draws anew, and
    the losses add up: ``fit_transform`` followed by ``transform`` of the same texts loses twice.

    ``fit_transform`` of 1,000 texts or more has a pilot: a random part of the documents answers
    first and sharpens the list for the others and for later calls of ``transform``.

    Examples
    --------
    >>> from syntf import SynTF
    >>> synthetic = SynTF(document_loss=10)
    >>> counts = synthetic.fit_transform(["A rocket flew to the moon.", "Add garlic to the soup."])
    >>> synthetic.guarantee_.loss_per_document, counts.shape[0], len(synthetic.topics_)
    (10.0, 2, 2)

    Single words keep more and promise less:

    >>> words = SynTF(preset="words", length=20, vocabulary=["cat", "dog", "car", "train", "bus"])
    >>> counts = words.fit_transform(["My cat chased the dog.", ""])
    >>> counts.shape, counts.sum(axis=1).ravel().tolist()
    ((2, 5), [[20, 20]])
    """

    def __init__(
        self,
        *,
        preset: str | None = None,
        document_loss: float | None = None,
        word_loss: float | None = None,
        epsilon: float | None = None,
        length: int | None = None,
        language: str | PathLike[str] = "en",
        codebook: str | PathLike[str] | None = None,
        encoder: Any = None,
        vocabulary: str | PathLike[str] | Sequence[str] | None = None,
        vectors: Any = None,
        settings: Settings | None = None,
        ledger: Ledger | None = None,
        source: entropy.Source | None = None,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise SyntfError(_advice(name))
        self.preset = preset
        self.document_loss = document_loss
        self.word_loss = word_loss
        self.epsilon = epsilon
        self.length = length
        self.language = language
        self.codebook = codebook
        self.encoder = encoder
        self.vocabulary = vocabulary
        self.vectors = vectors
        self.settings = settings
        self.ledger = ledger
        self.source = source

    def fit(self, X: Iterable[str], y: Any = None) -> "SynTF":
        """Prepare the mechanism. Texts matter only if a vocabulary is fitted on them.

        Parameters
        ----------
        X : iterable of str or bytes
            Texts.
        y : ignored
        """
        texts = as_texts(X)
        self._rows = build(self._settings(), [texts])
        self._scheme = self._rows.scheme(None)
        self.guarantee_ = guarantee(self._rows, [self._scheme], source=self._source)
        for name in ("topics_", "pilot_"):  # of an earlier fit_transform
            self.__dict__.pop(name, None)
        return self

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
        check_is_fitted(self, "guarantee_")
        return self._draw(X, self._scheme, ids, authors).counts()

    def fit_transform(
        self,
        X: Iterable[str],
        y: Any = None,
        ids: Iterable[Any] | None = None,
        authors: Iterable[Any] | None = None,
    ) -> csr_matrix:
        """Fit, and return synthetic counts of the same texts, with a pilot if there are enough."""
        texts = as_texts(X)
        self.fit(texts)
        drawn = self._draw(texts, self._rows.scheme(len(texts)), ids, authors)
        self._scheme = drawn.rest
        self.guarantee_ = guarantee(
            self._rows, drawn.schemes, documents=len(drawn), source=self._source
        )
        if drawn.rest.listed:
            self.topics_ = drawn.names()
        self.pilot_: NDArray[np.bool_] = drawn.pilot
        return drawn.counts()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the output words, one for each column."""
        check_is_fitted(self, "guarantee_")
        return np.asarray(self._scheme.terms, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.requires_fit = True
        tags.non_deterministic = True
        return tags

    @property
    def _source(self) -> entropy.Source:
        return entropy.system if self.source is None else self.source

    def _settings(self) -> Settings:
        chosen: dict[str, Any] = dict(self.get_params(deep=False))
        settings: Settings | None = chosen.pop("settings")
        for name in ("ledger", "source"):
            del chosen[name]
        if settings is None:
            return Settings.of(**chosen)
        del chosen["language"]  # it has a default, which does not show what was given
        given = [name for name, value in chosen.items() if value is not None]
        if given:
            raise SyntfError(f"give settings or {', '.join(given)}, not both")
        return settings

    def _draw(
        self,
        X: Iterable[str],
        scheme: Scheme,
        ids: Iterable[Any] | None,
        authors: Iterable[Any] | None,
    ) -> Drawn:
        """Charge the ledger, if there is one, and draw."""
        texts = as_texts(X)
        encoded = self._rows.encode(texts, self._source)
        if self.ledger is not None:
            promise = guarantee(self._rows, [scheme], documents=len(texts), source=self._source)
            owners = texts if ids is None else list(ids)
            writers = None if authors is None else list(authors)
            for what, found in (("ids", owners), ("authors", writers)):
                if found is not None and len(found) != len(texts):
                    raise SyntfError(f"there are {len(found)} {what} for {len(texts)} texts")
            names = self.ledger.names("text" if ids is None else "id", authors=writers is not None)
            self.ledger.charge(promise, names.add(owners, writers))
        elif ids is not None or authors is not None:
            raise SyntfError("ids and authors are for a ledger: give one, or leave them out")
        return draw(scheme, encoded, self._source)


def _advice(name: str) -> str:
    """Say what to use in place of a parameter that does not exist."""
    if name in RENAMED:
        return f"the parameter {name} is gone since 0.3; use {RENAMED[name]}"
    if name in SETTINGS:
        return f"give {name} by settings: SynTF(settings=Settings.of({name}=…))"
    return f"SynTF has no parameter {name!r}{suggestion(name, SynTF().get_params())}"
