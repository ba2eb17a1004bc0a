"""Rows: targets of one document → randomised response over public answers → profiles, summed.

This is the centre of syntf. :func:`build` prepares it from settings, :func:`draw` releases answers,
and :meth:`Drawn.counts` writes them as counts of words. Everything outside uses these and never
asks which setting made them.

*Guarantee.* :func:`draw` draws for every document once, from one :class:`Scheme`, whose mechanism
has a measured loss ℓ for each draw. A document therefore loses at most draws · ℓ (sequential
composition), whatever its targets are, because the theorem of :mod:`syntf.mechanism.base` assumes
nothing about how a target is found, as long as it is found from this document and public knowledge
alone. Profiles and names are postprocessing.

The pilot is the one place where documents meet. The list that the other documents answer from
depends on a pilot document through its *released* answers alone. So changing one document changes
the probability of any joint release by a factor of at most e to the loss per document: for a pilot
document, the factor of its own answers, because everything after is computed from them; for another
one, the factor of its own answers, because nothing else depends on it.
``tests/rows/test_joint_release.py`` goes through every joint release of small corpora.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.core.exact import times_up
from syntf.core.parallel import in_blocks
from syntf.core.progress import stage
from syntf.mechanism.base import Mechanism
from syntf.mechanism.exponential import ExponentialMechanism, cached_exponential
from syntf.mechanism.nearest import nearest_outputs
from syntf.mechanism.rating import WithEmptyDocument, WordRating
from syntf.mechanism.response import ResponseMechanism
from syntf.privacy.guarantee import REPLACED, SEEDED, Guarantee, Origin, Public, loss_of, part_of
from syntf.settings import SETTINGS, Settings
from syntf.text.fit import fit_vocabulary
from syntf.text.reader import Reader, reader_for
from syntf.topics.codebook import Codebook
from syntf.topics.encoder import Encoder
from syntf.topics.lists import TopicList, topic_list
from syntf.topics.plan import Plan, make_plan
from syntf.topics.profiles import profiles
from syntf.topics.text_encoder import load_text_encoder
from syntf.words.language import LanguagePack, find
from syntf.words.topicality import topical_weights
from syntf.words.vectors import WordVectors
from syntf.words.vocabulary import Vocabulary

Encoded = NDArray[Any]
"""What is kept of documents before they are drawn for: one row a document."""

BLOCK = 1 << 15
"""Documents whose counts are added up at once."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """One list of public answers, and how a document is drawn for from it.

    mechanism : draws an answer for a target; its loss is that of one draw.
    draws : answers drawn for each document.
    terms : the words that are the columns of the counts.
    profiles : answers × terms, the words that each answer stands for; None where answer i is
        term i.
    names : a readable name of each answer.
    find_targets : the targets of encoded documents, documents × draws, each document by itself.
    digest : a hash of everything that decides what an answer stands for.
    listed : whether a release lists the answers of a document, beside its counts.
    pilot : how many documents answer first; 0 for no pilot.
    sharpen : from the answers that the pilot released, the scheme of all other documents.
    """

    mechanism: Mechanism
    draws: int
    terms: Sequence[str]
    profiles: csr_matrix | None
    names: Sequence[str]
    find_targets: Callable[[Encoded], NDArray[np.int64]]
    digest: str
    listed: bool = False
    pilot: int = 0
    sharpen: Callable[[NDArray[np.int64]], "Scheme"] | None = None

    def answer(self, encoded: Encoded, source: entropy.Source) -> NDArray[np.int64]:
        """Release answers for documents. Each call spends their loss."""
        targets = self.find_targets(encoded)
        drawn = self.mechanism.sample(targets.ravel(), source=source)
        return np.asarray(drawn, dtype=np.int64).reshape(targets.shape)

    def counts(self, answers: NDArray[np.int64]) -> csr_matrix:
        """Return the counts of released answers: the sums of their profiles, int32."""
        width = len(self.terms) if self.profiles is None else self.profiles.shape[0]

        def count_block(block: slice) -> csr_matrix:
            some = answers[block]
            ends = np.arange(len(some) + 1) * some.shape[1]
            drawn = csr_matrix(
                (np.ones(some.size, dtype=np.int32), some.ravel(), ends), shape=(len(some), width)
            )
            drawn.sum_duplicates()
            counted = drawn if self.profiles is None else drawn @ self.profiles
            counted.sort_indices()
            return counted.astype(np.int32)

        blocks = list(in_blocks(count_block, len(answers), BLOCK))
        empty = csr_matrix((0, len(self.terms)), dtype=np.int32)
        return vstack(blocks, format="csr") if blocks else empty

    def counted_answers(self, counts: csr_matrix) -> NDArray[np.int64]:
        """Return the answers that counts show, where answers are not listed beside them."""
        counts = csr_matrix(counts)
        counts.sort_indices()
        answers = np.repeat(counts.indices.astype(np.int64), counts.data)
        return answers.reshape(counts.shape[0], self.draws)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The released answers of documents.

    answers : documents × draws.
    pilot : whether each document answered first.
    first, rest : the schemes of the pilot and of all others; the same one without a pilot.
    """

    answers: NDArray[np.int64]
    pilot: NDArray[np.bool_]
    first: Scheme
    rest: Scheme

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def schemes(self) -> list[Scheme]:
        """The different schemes that documents answered from."""
        return [self.rest] if self.first is self.rest else [self.first, self.rest]

    def parts(self) -> list[tuple[Scheme, NDArray[np.intp]]]:
        """Return each scheme with the places of the documents that answered from it."""
        if self.first is self.rest:
            return [(self.rest, np.arange(len(self)))]
        return [
            (self.first, np.flatnonzero(self.pilot)),
            (self.rest, np.flatnonzero(~self.pilot)),
        ]

    def counts(self) -> csr_matrix:
        """Return the synthetic counts, documents × terms."""
        parts = self.parts()
        rows = vstack([scheme.counts(self.answers[own]) for scheme, own in parts], format="csr")
        if len(parts) == 1:
            return rows
        return rows[np.argsort(np.concatenate([own for _, own in parts]), kind="stable")]

    def names(self) -> list[str]:
        """Return a readable description of what was released for each document."""
        found = np.empty(len(self), dtype=object)
        for scheme, own in self.parts():
            names = np.array(scheme.names, dtype=object)[self.answers[own]]
            found[own] = ["; ".join(dict.fromkeys(row)) for row in names.tolist()]
        return list(found)

    def at(self, places: NDArray[np.intp]) -> "Drawn":
        """Return the documents at these places, in this order."""
        return replace(self, answers=self.answers[places], pilot=self.pilot[places])


def draw(scheme: Scheme, encoded: Encoded, source: entropy.Source = entropy.system) -> Drawn:
    """Release answers for documents: first for the pilot, then for all others.

    The pilot is chosen at random among all documents, whatever their texts are.
    """
    pilot = np.zeros(len(encoded), dtype=bool)
    with stage("drawing", len(encoded)) as advance:
        if not scheme.pilot or scheme.sharpen is None:
            answers = scheme.answer(encoded, source)
            advance(len(encoded))
            return Drawn(answers, pilot, scheme, scheme)
        pilot[entropy.permutation(source, len(encoded))[: scheme.pilot]] = True
        answers = np.zeros((len(encoded), scheme.draws), dtype=np.int64)
        answers[pilot] = scheme.answer(encoded[pilot], source)
        advance(int(pilot.sum()))
        rest = scheme.sharpen(answers[pilot])
        answers[~pilot] = rest.answer(encoded[~pilot], source)
        advance(int((~pilot).sum()))
        return Drawn(answers, pilot, scheme, rest)


class Rows(Protocol):
    """A method that is ready to use: public knowledge alone, no text was looked at."""

    settings: Settings
    reader: Reader
    public: dict[str, Public]
    """The public data by name, for the guarantee."""

    def encode(self, texts: pl.Series, source: entropy.Source = entropy.system) -> Encoded:
        """Return what is kept of each text: an array with one row a text, from this text alone."""

    def unknown(self, encoded: Encoded) -> NDArray[np.bool_]:
        """Tell which encoded texts have no known word; for the owner alone."""

    def scheme(self, documents: int | None = None) -> Scheme:
        """Return the scheme for so many documents; None where they come one at a time."""


def build(settings: Settings, texts: Iterable[pl.Series] = ()) -> "Rows":
    """Prepare the method that the settings name.

    texts : read only if a vocabulary is fitted on them; the release is then marked NOT PRIVATE.
    """
    if settings.unit == "document_loss":
        return TopicRows.build(settings)
    return WordRows.build(settings, texts)


def guarantee(
    rows: Rows,
    schemes: Sequence[Scheme],
    *,
    documents: int | None = None,
    kept_columns: Sequence[str] = (),
    shuffled: bool = False,
    documents_per_author: int | None = None,
    source: entropy.Source | str = entropy.system,
) -> Guarantee:
    """Return what a release promises whose documents answered from one of these schemes each.

    source : where random bits come from; a text names another source that is as good as the
        operating system.
    """
    composition = [part_of(scheme.mechanism, scheme.draws) for scheme in schemes]
    loss = loss_of(composition)
    lists = dict(zip(("answers", "sharpened answers"), schemes, strict=False))
    public = dict(rows.public)
    for name, scheme in lists.items():
        public[name] = Public(f"sha256:{scheme.digest}", _origin(rows.public))
    if isinstance(source, str):
        where = source
    else:
        where = "operating system" if source is entropy.system else SEEDED
    return Guarantee(
        loss_per_document=loss,
        adjacency=REPLACED,
        loss_if_replaced=loss,
        documents_per_author=documents_per_author,
        loss_per_author=documents_per_author and times_up(loss, documents_per_author),
        composition=composition,
        settings=recorded(rows.settings),
        supplied=rows.settings.supplied,
        public=public,
        documents=documents,
        kept_columns=list(kept_columns),
        shuffled=shuffled,
        entropy=where,
    )


def recorded(settings: Settings) -> dict[str, Any]:
    """Return the settings that a guarantee records: plain values, never names of files."""
    found = {}
    for name, setting in SETTINGS.items():
        value = getattr(settings, name)
        is_plain = isinstance(value, str | int | float) and setting.kind not in ("file", "object")
        is_file = name == "encoder" or (name == "language" and Path(str(value)).name != value)
        if is_plain and not is_file and (not setting.units or settings.unit in setting.units):
            found[name] = value
    return found


def _origin(public: dict[str, Public]) -> Origin:
    """Return who says that everything is public: the least trustworthy of all."""
    origins: tuple[Origin, ...] = ("private", "supplied", "language")
    found = (one for one in origins if any(data.origin == one for data in public.values()))
    return next(found, "embedded")


def _words_and_vectors(settings: Settings) -> tuple[LanguagePack | None, WordVectors, Origin]:
    if settings.vectors is not None:
        return None, WordVectors.from_object(settings.vectors), "supplied"
    pack = find(settings.language)
    return pack, WordVectors.of_pack(pack), "embedded" if pack.is_embedded else "language"


def vectors_and_reader(settings: Settings) -> tuple[WordVectors, Reader]:
    """Return the word vectors that settings name, and what finds these words in texts."""
    pack, vectors, _ = _words_and_vectors(settings)
    return vectors, _reader(settings, pack, vectors.words)


def _reader(settings: Settings, pack: LanguagePack | None, words: Sequence[str]) -> Reader:
    return reader_for(
        morphology=settings.morphology, stop_words=settings.stop_words, numbers=settings.numbers,
        analyzer=settings.analyzer, pack=pack or find(settings.language), words=words,
    )  # fmt: skip


@dataclass(eq=False)
class TopicRows:
    """A document answers with the public topics nearest to it as a whole."""

    settings: Settings
    reader: Reader
    encoder: Encoder
    public: dict[str, Public]
    _schemes: dict[Any, Scheme] = field(default_factory=dict)

    @classmethod
    def build(cls, settings: Settings) -> "TopicRows":
        """Load word vectors, a reader and the codebook. No text is looked at."""
        pack, vectors, origin = _words_and_vectors(settings)
        text_encoder = load_text_encoder(settings.encoder)
        if settings.codebook is not None:
            codebook = Codebook.read(settings.codebook)
        elif pack is None or text_encoder is not None:
            raise SyntfError(
                "the embedded topics need the embedded word vectors: build a codebook for yours "
                "with syntf codebook, or choose the preset words"
            )
        else:
            codebook = Codebook.of_pack(pack)
        public = {
            "word vectors": Public(f"sha256:{vectors.digest}", origin),
            "topics": Public(f"sha256:{codebook.digest}", codebook.origin),
        }
        reader = _reader(settings, pack, vectors.words)
        return cls(settings, reader, Encoder(codebook, vectors, text_encoder), public)

    def encode(self, texts: pl.Series, source: entropy.Source = entropy.system) -> Encoded:
        """Return the vector of each text; zeros for a text without a known word."""
        if self.encoder.text_encoder is not None:
            return self.encoder.encode_texts(texts)
        return self.encoder.encode(self.reader.counts(texts))

    def unknown(self, encoded: Encoded) -> NDArray[np.bool_]:
        """Tell which encoded texts have no known word; for the owner alone."""
        return np.asarray(~np.asarray(encoded).any(axis=1))

    def scheme(self, documents: int | None = None) -> Scheme:
        """Return the scheme for so many documents, from the loss and their number alone."""
        codebook = self.encoder.codebook
        plan = make_plan(
            float(self.settings.document_loss or 0), documents, codebook, pilot=self.settings.pilot
        )
        topics = topic_list(codebook, plan.topics, rounds=plan.rounds)
        return self._of_list(topics, plan, plan.pilot)

    def _of_list(self, topics: TopicList, plan: Plan, pilot: int) -> Scheme:
        key = (topics.digest, plan)
        if key not in self._schemes:
            mechanism = ResponseMechanism(len(topics), loss=plan.loss_per_draw)
            words, names = profiles(topics, self.encoder)
            self._schemes[key] = Scheme(
                mechanism=mechanism, draws=plan.draws, terms=self.encoder.terms, profiles=words,
                names=names, find_targets=partial(topics.targets, draws=plan.draws),
                digest=topics.digest, listed=True, pilot=pilot,
                sharpen=partial(self._sharpened, topics, mechanism, plan),
            )  # fmt: skip
        return self._schemes[key]

    def _sharpened(
        self,
        topics: TopicList,
        mechanism: ResponseMechanism,
        plan: Plan,
        released: NDArray[np.int64],
    ) -> Scheme:
        found = topics.sharpened(self.encoder.codebook, released, mechanism, plan)
        return self._of_list(found, plan, 0)


@dataclass(eq=False)
class WordRows:
    """A document answers with words: each for a term that was sampled from the document.

    Algorithm 1 of the paper. A document is a distribution θ over its known terms; `length` terms
    are sampled from θ, and the mechanism answers each of them with an output word.
    """

    settings: Settings
    reader: Reader
    vectors: WordVectors
    vocabulary: Vocabulary
    public: dict[str, Public]

    @classmethod
    def build(cls, settings: Settings, texts: Iterable[pl.Series] = ()) -> "WordRows":
        """Load words and vectors; fit a vocabulary on `texts` if the settings say so."""
        pack, vectors, origin = _words_and_vectors(settings)
        vocabulary, source = _vocabulary(settings, pack, vectors, texts, origin)
        public = {
            "word vectors": Public(f"sha256:{vectors.digest}", origin),
            "vocabulary": Public(f"sha256:{vocabulary.digest}", source),
        }
        reader = _reader(settings, pack, vocabulary.inputs)
        return cls(settings, reader, vectors, vocabulary, public)

    def encode(self, texts: pl.Series, source: entropy.Source = entropy.system) -> Encoded:
        """Return the sampled terms of each text: an array texts × `length`.

        A text without a known word has the terms after the last input word (see :meth:`scheme`).
        """
        counts = self.reader.counts(texts)
        systematic = self.settings.draws == "systematic"
        terms = sample_terms(counts, self.settings.length, source, self.units, systematic)
        return terms.astype(np.uint16 if len(self.vocabulary.inputs) < 1 << 16 else np.int32)

    def unknown(self, encoded: Encoded) -> NDArray[np.bool_]:
        """Tell which encoded texts have no known word; for the owner alone."""
        return np.asarray(encoded[:, 0] == len(self.vocabulary.inputs))

    @cached_property
    def units(self) -> NDArray[np.int64] | None:
        """The weight of each input word in θ, in whole numbers; None for counts alone."""
        rows = np.asarray(self.vocabulary.input_rows)
        if self.settings.weights == "tf":
            return None
        if self.settings.weights == "topical":
            weights = topical_weights(self.vectors)[rows]
        else:  # Zipf: the frequency of a word in public texts falls with its rank
            weights = np.log(rows + 1.0) + 1.0
        return np.asarray(np.maximum(1, np.rint(weights * 2.0**20)), dtype=np.int64)

    @cached_property
    def rating(self) -> WordRating:
        """How good each output word is for each input word: the paper's ρ."""
        words, vectors = self.vocabulary, self.vectors
        return WordRating(
            words.inputs, vectors.at(words.input_rows), words.outputs,
            vectors.at(words.output_rows), spelling=self.settings.spelling,
        )  # fmt: skip

    def scheme(self, documents: int | None = None) -> Scheme:
        """Return the scheme, which is the same for any number of documents."""
        return self._scheme

    @cached_property
    def _scheme(self) -> Scheme:
        keep = _origin(self.public) != "private"
        outputs = self.vocabulary.outputs
        mechanism: Mechanism
        find_targets: Callable[[Encoded], NDArray[np.int64]]
        if self.settings.epsilon is not None:
            rating = WithEmptyDocument(self.rating)
            make = cached_exponential if keep else ExponentialMechanism
            mechanism = make(rating, epsilon=self.settings.epsilon)
            find_targets = partial(np.asarray, dtype=np.int64)
        else:
            mechanism = ResponseMechanism(len(outputs), loss=float(self.settings.word_loss or 0))
            nearest = nearest_outputs(self.rating, keep=keep)
            find_targets = partial(_nearest_targets, nearest, len(outputs))
        return Scheme(
            mechanism=mechanism, draws=int(self.settings.length), terms=outputs, profiles=None,
            names=outputs, find_targets=find_targets, digest=self.vocabulary.digest,
        )  # fmt: skip


def _nearest_targets(nearest: NDArray[np.int32], outputs: int, terms: Encoded) -> NDArray[np.int64]:
    """Return the output words nearest to sampled terms.

    A document without a known word has targets spread evenly over all output words.
    """
    spread = np.arange(terms.shape[1], dtype=np.int64) * outputs // terms.shape[1]
    targets = nearest[np.minimum(terms, len(nearest) - 1)].astype(np.int64)
    return np.asarray(np.where(terms == len(nearest), spread, targets))


def sample_terms(
    counts: csr_matrix,
    length: int,
    source: entropy.Source = entropy.system,
    units: NDArray[np.int64] | None = None,
    systematic: bool = False,
) -> NDArray[np.int64]:
    """Sample `length` terms of each document from its θ: an array documents × `length`.

    θ is proportional to the counts, times `units` if given. Draws are independent, or `systematic`:
    at `length` equal steps through θ from a random start, so that each term is drawn as often as
    its share of θ says, up to one time. Eight bytes are read for each draw, or for each document if
    systematic, whatever the documents are, and a document's terms depend on it alone. A document
    without a known term has the term after the last one.

    *Guarantee.* None is needed. By the paper's lemma on randomised preprocessing, how the input of
    a mechanism is chosen does not change the mechanism's loss.

    >>> sample_terms(csr_matrix([[0, 2], [0, 0]]), 3).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    documents, words = counts.shape
    bits = entropy.words(source, documents * (1 if systematic else length))
    draws = (bits >> np.uint64(11)) * 2.0**-53
    # Whole numbers, so that a document's share does not depend on the documents before it.
    mass = counts.data.astype(np.int64)
    if units is not None:
        mass *= units[counts.indices]
    sums = np.concatenate([[0], np.cumsum(mass)])
    terms = np.append(counts.indices, words).astype(np.int64)

    def sample_block(block: slice) -> NDArray[np.int64]:
        some = draws[block if systematic else slice(block.start * length, block.stop * length)]
        shares = (np.arange(length) + some[:, None]) / length if systematic else some
        starts = counts.indptr[block.start : block.stop + 1].astype(np.int64)
        low, high = sums[starts[:-1], None], sums[starts[1:], None]
        points = low + (shares.reshape(-1, length) * (high - low)).astype(np.int64)
        places = np.searchsorted(sums[: starts[-1] + 1], points.ravel(), side="right") - 1
        places = places.reshape(points.shape).clip(starts[:-1, None], starts[1:, None] - 1)
        places[starts[1:] == starts[:-1]] = -1
        return np.asarray(terms[places])

    blocks = list(in_blocks(sample_block, documents, 1 << 12))
    return np.concatenate(blocks) if blocks else np.zeros((0, length), dtype=np.int64)


def _vocabulary(
    settings: Settings,
    pack: LanguagePack | None,
    vectors: WordVectors,
    texts: Iterable[pl.Series],
    origin: Origin,
) -> tuple[Vocabulary, Origin]:
    """Return input and output words, and who says that they are public."""
    if settings.fit_vocabulary is not None:
        vocabulary = fit_vocabulary(settings, pack, vectors, texts)
        origin = "private"
    elif settings.vocabulary is None:
        vocabulary = Vocabulary.default(vectors)
    else:
        given = settings.vocabulary
        is_file = isinstance(given, str | Path)
        vocabulary = (
            Vocabulary.read(given, vectors) if is_file else Vocabulary.given(given, vectors)
        )
        origin = "private" if vocabulary.provenance == "fitted" else "supplied"
    vocabulary = vocabulary.most_frequent(settings.max_size)
    if settings.synsets:
        vocabulary = vocabulary.with_synonyms(vectors, lower=settings.morphology != "orth")
    if settings.word_loss is not None:
        vocabulary = vocabulary.with_every_input(vectors)
    return vocabulary, origin
