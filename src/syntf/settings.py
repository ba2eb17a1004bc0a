"""Every setting of the method, defined once: meaning, values, default, presets.

The options of the command line are made from these definitions, :class:`Settings` checks its values
by them. This module imports no other part of the method, so ``syntf --help`` stays fast.
"""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass, field, fields, replace
from functools import partial
from os import PathLike
from typing import Any, Literal, Self

from syntf.core.checks import count, flag, fraction, one_of, positive
from syntf.core.errors import SyntfError, suggestion

EMBEDDED = "en"
"""The code of the language whose pack comes with syntf."""
FAST = "fast"
"""The name of the built-in analyzer."""
SPACY = "spacy:"
"""What stands before the name of a spaCy pipeline, as in ``spacy:en_core_web_sm``."""
LONGEST = 1 << 20
"""Words drawn for a document at most."""
LARGEST_LOSS = 1000.0
"""A larger loss of a whole document excludes nothing."""

Unit = Literal["document_loss", "word_loss", "epsilon"]
UNITS: tuple[Unit, ...] = ("document_loss", "word_loss", "epsilon")
"""The three ways to spend a loss. Settings have exactly one of them."""

DEFAULT_PRESET = "document"

PRESETS: dict[str, dict[str, Any]] = {
    "document": {"document_loss": 10.0},
    "words": {"word_loss": 8.0, "length": 125, "draws": "systematic", "max_size": 4000},
    "accurate": {
        "word_loss": 8.5, "length": 117, "weights": "topical", "draws": "systematic",
        "max_size": 3500,
    },
    "paper": {"epsilon": 47.5, "length": 150},
}  # fmt: skip
"""Starting values, by the name of the preset.

*document* describes a whole document by one public topic: the document loses at most
`document_loss`. *words* replaces a word by its nearest output word in about half of all draws, and
else by any of 4,000 output words. *accurate* prefers words that name topics: an analyst keeps as
much as with *paper*, at a third of its loss, but authors are easier to identify. *paper* is the
best setting of the SIGIR 2018 paper.
"""

RENAMED = {
    "loss": "word_loss (of one drawn word) or document_loss (of a whole document)",
    "neighbours": "nothing: with word_loss, the nearest output word is preferred",
    "min_df": "fit_vocabulary=N: terms that at least N texts contain",
    "max_df": "stop_words",
    "idf": "nothing: weights='tfidf' always uses public document frequencies",
    "device": "nothing: tables are computed on the processor",
}
"""Settings of 0.2 that are gone, with what takes their place. Removed in 0.4."""


@dataclass(frozen=True)
class Setting:
    """The definition of one setting.

    `help` says what the setting does, its unit and an example; names of other settings stand in
    backquotes. `check(name, value)` raises SyntfError for a value that is not allowed. `unit` names
    the way of spending a loss that the setting belongs to, if it belongs to one. `option` is the
    name of the option where it differs from the setting's. `metavar` stands for the value in the
    help; None means that the command line has no such option.
    """

    help: str
    kind: Literal["number", "count", "flag", "choice", "file", "text", "object"]
    check: Callable[[str, Any], object]
    units: tuple[Unit, ...] = ()
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    option: str | None = None
    default: Any = None


def _choice(*choices: str) -> dict[str, Any]:
    return {"kind": "choice", "choices": choices, "check": partial(one_of, choices=choices)}


def _check_analyzer(name: str, value: object) -> None:
    if not re.fullmatch(f"{FAST}|{SPACY}.+", str(value)):
        raise SyntfError(f"{name} must be {FAST} or {SPACY}MODEL, not {value!r}")


def _check_language(name: str, value: object) -> None:
    if not isinstance(value, str | PathLike) or not str(value):
        raise SyntfError(f"{name} must be the code or the folder of a language pack, not {value!r}")


def _check_document_loss(name: str, value: object) -> float:
    loss = positive(name, value)
    if loss > LARGEST_LOSS:
        raise SyntfError(
            f"{name} must be at most {LARGEST_LOSS:g}, not {value!r}: such a loss excludes "
            "nothing; choose the preset words to release the words of a document"
        )
    return loss


def _check_encoder(name: str, value: object) -> None:
    if not (callable(value) or re.fullmatch("model2vec:.+", str(value))):
        raise SyntfError(f"{name} must be model2vec:FOLDER or a function of texts, not {value!r}")


def _unchecked(name: str, value: object) -> None:
    """Accept any value: whoever reads the file or object says what is wrong with it."""


def _setting(default: Any, help: str, **definition: Any) -> Any:
    """Return a dataclass field with this default and definition."""
    made = Setting(help=help, default=default, **definition)
    return field(default=default, metadata={"setting": made})


_WORDS: tuple[Unit, ...] = ("word_loss", "epsilon")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that a person can choose about the method, checked when it is created.

    Exactly one of `document_loss`, `word_loss` and `epsilon` is set. Without any of them, and
    without a preset, the default is a `document_loss` of 10. :data:`SETTINGS` has the definition of
    every field.

    Raises
    ------
    SyntfError
        If a value is not allowed, or if values exclude each other.

    Examples
    --------
    >>> Settings().document_loss, Settings.of("words", length=60).word_loss
    (10.0, 8.0)
    >>> Settings.of("paper", epsilon=20).length
    150
    """

    document_loss: float | None = _setting(
        None,
        "Largest privacy loss of a whole document; smaller is more private. At 10 it is the coarse "
        "list of topics that hides a document, not chance. Example: 6.",
        kind="number", check=_check_document_loss,
    )  # fmt: skip
    word_loss: float | None = _setting(
        None,
        "Largest privacy loss of one drawn word. A document loses `word_loss` times `length`. "
        "Example: 6.",
        kind="number", check=positive,
    )  # fmt: skip
    epsilon: float | None = _setting(
        None,
        "Privacy parameter ε of the paper's Exponential mechanism, for one drawn word. The loss "
        "per word is measured. Example: 20.",
        kind="number", check=positive,
    )  # fmt: skip
    codebook: str | PathLike[str] | None = _setting(
        None,
        "Public list of topics in place of the embedded one, made by 'syntf codebook'. Topics from "
        "public texts like yours keep more.",
        kind="file", check=_unchecked, metavar="FILE", units=("document_loss",),
    )  # fmt: skip
    encoder: Any = _setting(
        None,
        "Encoder in place of word vectors: model2vec:FOLDER, with a codebook that was built with "
        "it.",
        kind="text", check=_check_encoder, metavar="model2vec:FOLDER", units=("document_loss",),
    )  # fmt: skip
    pilot: bool = _setting(
        True,
        "With 1,000 documents or more, release a random part of them first and adapt the topics "
        "for all others to what it released. This costs no privacy.",
        kind="flag", check=flag, units=("document_loss",),
    )  # fmt: skip
    length: int = _setting(
        150,
        "Words drawn for every document, whatever its own length. Example: 60.",
        kind="count", check=partial(count, most=LONGEST), units=_WORDS,
    )  # fmt: skip
    spelling: float = _setting(
        0.3,
        "How strongly output words that are spelled like the input word are avoided, from 0 (not "
        "at all) to 1.",
        kind="number", check=fraction, units=_WORDS,
    )  # fmt: skip
    weights: Literal["tf", "tfidf", "topical"] = _setting(
        "tf",
        "How often a term is drawn: 'tf' by its count in the document, 'tfidf' more often if it "
        "is rare elsewhere, 'topical' more often if it names a topic.",
        units=_WORDS, **_choice("tf", "tfidf", "topical"),
    )  # fmt: skip
    draws: Literal["independent", "systematic"] = _setting(
        "independent",
        "How terms are drawn: 'independent' of each other, or 'systematic', spread evenly over "
        "the document, which keeps more of it at the same loss.",
        units=_WORDS, **_choice("independent", "systematic"),
    )  # fmt: skip
    vocabulary: Any = _setting(
        None,
        "Public vocabulary in place of the embedded one: a file with one term per line.",
        kind="file", check=_unchecked, metavar="FILE", units=_WORDS,
    )  # fmt: skip
    fit_vocabulary: int | None = _setting(
        None,
        "Take the vocabulary from these texts: every term that at least N of them contain. The "
        "release is then marked as not private.",
        kind="count", check=count, metavar="N", units=_WORDS,
    )  # fmt: skip
    max_size: int | None = _setting(
        None,
        "Number of output words at most: the most frequent ones. Example: 4000.",
        kind="count", check=count, metavar="N", units=_WORDS,
    )  # fmt: skip
    synsets: bool = _setting(
        False,
        "Extend the vocabulary by synonyms from WordNet, which must be installed.",
        kind="flag", check=flag, units=_WORDS,
    )  # fmt: skip
    language: str | PathLike[str] = _setting(
        EMBEDDED,
        "Language of the texts: the code of a language pack, see 'syntf language list', or the "
        "folder of one. Example: fr.",
        kind="text", check=_check_language, metavar="CODE|FOLDER",
    )  # fmt: skip
    morphology: Literal["lemma", "lower", "orth"] = _setting(
        "lemma",
        "Form in which words are counted: 'lemma' (dictionary form), 'lower' (lower case) or "
        "'orth' (as written).",
        **_choice("lemma", "lower", "orth"),
    )
    analyzer: str = _setting(
        FAST,
        "What splits texts into words: 'fast' (built in) or an installed spaCy pipeline. Example: "
        "spacy:en_core_web_sm.",
        kind="text", check=_check_analyzer, metavar=f"{FAST}|{SPACY}MODEL",
    )  # fmt: skip
    stop_words: Set[str] | None = _setting(
        None,
        "Words to leave out of documents. By default a public list of function words.",
        kind="object", check=_unchecked,
    )  # fmt: skip
    numbers: bool = _setting(
        False, "Include numbers.", kind="flag", check=flag, option="keep-numbers"
    )
    vectors: Any = _setting(
        None,
        "Word vectors in place of the embedded ones: a GloVe or word2vec file (text or binary, "
        "plain or .gz), an .npz file with the arrays words and vectors, or spacy:MODEL.",
        kind="file", check=_unchecked, metavar="FILE",
    )  # fmt: skip

    @classmethod
    def of(cls, preset: str | None = None, **chosen: Any) -> Self:
        """Return the settings of a preset with some of them changed.

        Without a preset, `word_loss` or a setting of single words selects *words*. A chosen value
        of None means not chosen. Whoever gives `epsilon` names the preset *paper*: the loss per
        document is `length` times as large and more, which nobody should choose by accident.

        Examples
        --------
        >>> Settings.of(word_loss=6).length, Settings.of(length=60).word_loss
        (125, 8.0)
        >>> Settings.of(epsilon=10)
        Traceback (most recent call last):
        syntf.core.errors.SyntfError: epsilon is the paper's parameter for one word: add \
preset='paper', or give document_loss for a promise per document
        """
        chosen = {name: value for name, value in chosen.items() if value is not None}
        for name in chosen.keys() - SETTINGS.keys():
            if name in RENAMED:
                raise SyntfError(f"the setting {name} is gone since 0.3; use {RENAMED[name]}")
            raise SyntfError(f"there is no setting {name!r}{suggestion(name, SETTINGS)}")
        if preset is None:
            if "epsilon" in chosen:
                raise SyntfError(
                    "epsilon is the paper's parameter for one word: add preset='paper', or give "
                    "document_loss for a promise per document"
                )
            of_words = any(SETTINGS[name].units == _WORDS for name in chosen)
            words = "document_loss" not in chosen and ("word_loss" in chosen or of_words)
            preset = "words" if words else DEFAULT_PRESET
        one_of("preset", preset, list(PRESETS))
        base = dict(PRESETS[preset])
        if "vocabulary" in chosen or "fit_vocabulary" in chosen:
            base.pop("max_size", None)  # a chosen vocabulary is used whole
        return cls(**{**base, **chosen})

    @property
    def unit(self) -> Unit:
        """The one of :data:`UNITS` that is set."""
        return next(name for name in UNITS if getattr(self, name) is not None)

    @property
    def supplied(self) -> list[str]:
        """Names of what the person supplies in place of the embedded public data."""
        names = ("vocabulary", "vectors", "stop_words", "codebook", "encoder")
        supplied = [name for name in names if getattr(self, name) is not None]
        supplied += ["wordnet"] * self.synsets + ["analyzer"] * (self.analyzer != FAST)
        return ["language"] * (str(self.language) != EMBEDDED) + supplied

    def changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def __post_init__(self) -> None:
        if not any(getattr(self, name) is not None for name in UNITS):
            object.__setattr__(self, "document_loss", PRESETS["document"]["document_loss"])
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            if value is not None or setting.default is not None:
                setting.check(name, value)
        given = [name for name in UNITS if getattr(self, name) is not None]
        if len(given) > 1:
            raise SyntfError(f"{' and '.join(given)} exclude each other: give one of them")
        for name, setting in SETTINGS.items():
            if setting.units and given[0] not in setting.units and _differs(self, name):
                raise SyntfError(
                    f"{name} belongs to {' and '.join(setting.units)}, not to {given[0]}: leave "
                    f"out {name}, or choose another preset"
                )
        if self.vectors is not None and str(self.language) != EMBEDDED:
            raise SyntfError(
                "a language pack has word vectors of its own: leave out vectors, or build a pack "
                "with them by syntf language build"
            )
        if self.fit_vocabulary is not None and self.vocabulary is not None:
            raise SyntfError(
                "vocabulary and fit_vocabulary exclude each other: give a vocabulary or have one "
                "taken from the texts"
            )
        if self.synsets and str(self.language) != EMBEDDED:
            raise SyntfError("synsets are English words of WordNet: leave out synsets or language")


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
"""The definition of every field of :class:`Settings`, by its name."""

PRESET = Setting(
    help="Starting values. 'document' limits the loss of a whole document; 'words' limits the loss "
    "of each drawn word and keeps more; 'accurate' keeps topics best, but authors are easier to "
    "identify; 'paper' is the SIGIR 2018 paper.",
    **_choice(*PRESETS),
)
"""The definition of the choice of a preset."""


def _differs(settings: Settings, name: str) -> bool:
    """Tell whether a setting was given another value than its default."""
    return getattr(settings, name) is not SETTINGS[name].default and bool(
        getattr(settings, name) != SETTINGS[name].default
    )
