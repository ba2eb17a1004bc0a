"""Load what the settings name: an analyzer, word vectors and a vocabulary."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError
from syntf.core.progress import Stages, silent
from syntf.language import store
from syntf.language.pack import LanguagePack
from syntf.language.several import joint_code, joint_digest
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Language
from syntf.text.tokenizer import Analysis, Analyzer
from syntf.vectors.word_vectors import WordVectors, read_cached
from syntf.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from syntf.mechanism.rating import WordRating


def load_words(
    settings: Settings,
    texts: Iterable[str] = (),
    stages: Stages = silent,
) -> tuple[Analysis[Any], WordVectors, Vocabulary]:
    """Return analyzer, word vectors and vocabulary for these settings.

    `texts` are read only if the vocabulary is fitted on them.
    """
    if settings.unit == "document":
        raise SyntfError(
            "only syntf anonymize, syntf.release and SynTF know the document unit: choose the "
            "preset words, accurate or paper here"
        )
    if settings.synsets and not pack_for(settings).is_embedded:
        raise SyntfError("synsets are English words of WordNet: leave out synsets or language")
    analyzer = analyzer_for(settings)
    vectors = vectors_for(settings, stages)
    vocabulary = _vocabulary(settings, texts, analyzer, vectors)
    if settings.synsets:
        fast = Analyzer(
            settings.morphology, stop_words=settings.stop_words, numbers=settings.numbers
        )
        vocabulary = vocabulary.with_synonyms(fast, vectors)
    if settings.neighbours is not None:
        vocabulary = vocabulary.with_every_input(vectors)
    return analyzer, vectors, vocabulary


def known_words(settings: Settings, stages: Stages = silent) -> tuple[Analysis[Any], Sequence[str]]:
    """Return the analyzer and the words of a text that these settings know.

    A whole document is encoded by all words with a vector; a mechanism for single words knows its
    input words.
    """
    if settings.unit == "document":
        return analyzer_for(settings), vectors_for(settings, stages).words
    analyzer, _, vocabulary = load_words(settings, stages=stages)
    return analyzer, vocabulary.inputs


def rate_words(settings: Settings, vectors: WordVectors, vocabulary: Vocabulary) -> "WordRating":
    """Rate output words for input words; the same for every ε, loss, length and k."""
    from syntf.mechanism.rating import WordRating

    return WordRating(
        vocabulary.inputs,
        vectors.at(vocabulary.input_rows),
        vocabulary.outputs,
        vectors.at(vocabulary.output_rows),
        spelling=settings.spelling,
    )


def analyzer_for(settings: Settings) -> Analysis[Any]:
    """Return the analyzer that the settings name."""
    packs = packs_for(settings)
    if len(packs) > 1:
        from syntf.text.several import LanguageAnalyzers, SeveralAnalyzer

        plain = settings.changed(morphology="lower", stop_words=frozenset(), numbers=True)
        return SeveralAnalyzer(
            [
                LanguageAnalyzers(one, _analyzer(settings, one), _analyzer(plain, one))
                for one in packs
            ]
        )
    if settings.analyzer == Analyzer.name:
        return _analyzer(settings, packs[0])
    from syntf.text.spacy_analyzer import SpacyAnalyzer

    return SpacyAnalyzer(
        settings.analyzer.removeprefix(SPACY),
        settings.morphology,
        stop_words=settings.stop_words,
        numbers=settings.numbers,
    )


def pack_for(settings: Settings) -> LanguagePack:
    """Return the language pack that the settings name; refuse several."""
    return store.find(settings.language)


def packs_for(settings: Settings) -> list[LanguagePack]:
    """Return the language packs that the settings name; refuse several that cannot be used."""
    packs = store.find_all(settings.language)
    if len(packs) > 1:
        if settings.unit == "words":
            raise SyntfError(
                "texts in several languages need the document unit: leave out the preset and the "
                "settings of words, or release the texts of each language by themselves"
            )
        for name in ("codebook", "encoder"):
            if getattr(settings, name) is not None:
                raise SyntfError(
                    f"{name} is for texts in one language: leave it out, or release the texts of "
                    "each language by themselves"
                )
        if settings.analyzer != Analyzer.name:
            raise SyntfError("a spaCy pipeline is for one language: leave out analyzer")
    return packs


def recorded_language(settings: Settings) -> Language:
    """Return what a guarantee records of the language packs."""
    packs = packs_for(settings)
    return Language(joint_code(packs), f"sha256:{joint_digest(packs)}")


def _analyzer(settings: Settings, pack: LanguagePack) -> Analysis[Any]:
    """Return the analyzer of a language pack."""
    make: Callable[..., Analysis[Any]] = Analyzer
    if pack.tokenizer == "sudachi":
        from syntf.text.sudachi_analyzer import SudachiAnalyzer

        make = SudachiAnalyzer
    return make(
        settings.morphology, stop_words=settings.stop_words, numbers=settings.numbers, pack=pack
    )


def _names_something(settings: Settings) -> Callable[[Sequence[str]], NDArray[np.bool_]]:
    """Return the function that tells which words of the language may name a topic."""
    from syntf.vocabulary.topicality import names_something

    return partial(names_something, pack=pack_for(settings))


def vectors_for(settings: Settings, stages: Stages = silent) -> WordVectors:
    """Return the word vectors that the settings name; files are read through the cache."""
    chosen = settings.vectors
    if chosen is None:
        return WordVectors.of_packs(packs_for(settings))
    if isinstance(chosen, WordVectors):
        return chosen
    from syntf.vectors import adapters

    if not isinstance(chosen, str | PathLike):
        return adapters.from_object(chosen)
    name = str(chosen)
    if name.startswith(SPACY):
        return adapters.from_model(name.removeprefix(SPACY))
    return read_cached(name, stages)


def _vocabulary(
    settings: Settings,
    texts: Iterable[str],
    analyzer: Analysis[Any],
    vectors: WordVectors,
) -> Vocabulary:
    if settings.fit_vocabulary:
        from syntf.vocabulary.fit import fit_vocabulary

        return fit_vocabulary(
            texts, analyzer, vectors,
            min_df=settings.min_df, max_df=settings.max_df, max_size=settings.max_size,
            only=_names_something(settings) if settings.weights == "topical" else None,
        )  # fmt: skip
    if settings.vocabulary is None:
        vocabulary = Vocabulary.default(vectors)
    elif isinstance(settings.vocabulary, str | PathLike):
        vocabulary = Vocabulary.read(settings.vocabulary, vectors, morphology=settings.morphology)
    else:
        vocabulary = Vocabulary.given(settings.vocabulary, vectors)
    return vocabulary.most_frequent(settings.max_size)
