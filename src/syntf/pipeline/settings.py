"""Every setting of the method, defined once: meaning, values, default, presets.

The options of the command line are made from these definitions, :class:`Settings` checks its
values by them, and the tests compare the parameters of :class:`syntf.SynTF` with them. This
module imports neither NumPy nor any other part of the method, so ``syntf --help`` stays fast.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any, Literal, Self, get_args

from syntf.core.checks import count, count_or_share, flag, fraction, one_of, positive
from syntf.core.choices import (
    EMBEDDED,
    FAST,
    OPINIONS,
    SPACY,
    Draws,
    Morphology,
    Provenance,
    Unit,
    Weighting,
)
from syntf.core.errors import SyntfError, suggestion

LONGEST = 1 << 20
"""Words drawn for a document at most."""

Kind = Literal["number", "count", "count or share", "flag", "choice", "file", "text", "object"]
Group = Literal["Basic options", "Privacy", "Words and vectors"]


@dataclass(frozen=True)
class Setting:
    """The definition of one setting.

    `help` says what the setting does, its unit and an example; names of other settings stand in
    backquotes. `check(name, value)` raises SyntfError for a value that is not allowed. `group`
    is the heading under which the command line lists the option. `option` is the name of the
    option where it differs from the setting's. `metavar` stands for the value in the help.
    """

    help: str
    kind: Kind
    check: Callable[[str, Any], object]
    group: Group = "Words and vectors"
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    option: str | None = None
    optional: bool = False
    default: Any = None


DEFAULT_PRESET = "document"

PRESETS: dict[str, dict[str, Any]] = {
    "document": {"document_loss": 10.0},
    "sentiment": {"document_loss": 10.0, "codebook": OPINIONS},
    "words": {
        "neighbours": 1,
        "loss": 8.0,
        "length": 125,
        "weights": "tf",
        "draws": "systematic",
        "max_size": 4000,
    },
    "accurate": {
        "neighbours": 1,
        "loss": 8.5,
        "length": 117,
        "weights": "topical",
        "draws": "systematic",
        "max_size": 3500,
    },
    "paper": {
        "neighbours": None,
        "epsilon": 47.5,
        "length": 150,
        "weights": "tf",
        "draws": "independent",
        "spelling": 0.3,
        "morphology": "lemma",
        "synsets": False,
    },
}
"""Starting values, by the name of the preset.

*document* describes a whole document by one choice among public topics, or among sets of words if
the loss is larger: the document loses at most `document_loss`. *sentiment* is the same with levels
of praise and blame in place of topics, for reviews and survey answers. *words* replaces a word by
its nearest output word in about half of all draws, and else by any of 4,000 output words.
Attackers find less than in a release with the paper's setting, at a third of its loss. *accurate*
prefers words that name topics and has fewer output words: an analyst keeps as much as with the
paper's setting, at a third of its loss, but authors are easier to identify. *paper* is the best
setting of the SIGIR 2018 paper. ``docs/frontier.md`` and ``docs/documents.md`` have the
measurements.
"""

WORDS_ONLY = (
    "epsilon", "loss", "neighbours", "length", "spelling", "weights", "draws", "idf", "vocabulary",
    "fit_vocabulary", "min_df", "max_df", "max_size", "synsets",
)  # fmt: skip
"""Settings of the words unit. Choosing one of them selects the preset *words* by default."""

DOCUMENT_ONLY = ("document_loss", "codebook", "encoder", "pilot")
"""Settings of the document unit. Choosing one of them selects the preset *document* by default."""

LARGEST_DOCUMENT_LOSS = 100_000
"""A larger loss needs more draws for each document than the memory holds."""

EXCLUSIVE = (("epsilon", "loss"), ("loss", "epsilon"), ("vocabulary", "max_size"))
"""Pairs (a, b): where `a` is chosen, a preset's value of `b` does not hold."""


def _choice(*choices: str) -> dict[str, Any]:
    return {"kind": "choice", "choices": choices, "check": partial(one_of, choices=choices)}


def _check_analyzer(name: str, value: object) -> None:
    if not re.fullmatch(f"{FAST}|{SPACY}.+", str(value)):
        raise SyntfError(f"{name} must be {FAST} or {SPACY}MODEL, not {value!r}")


def _check_language(name: str, value: object) -> None:
    if not isinstance(value, str | PathLike) or not str(value):
        raise SyntfError(f"{name} must be the code or the folder of a language pack, not {value!r}")


def _check_document_loss(name: str, value: object) -> float:
    """Return `value` as a float; refuse one that needs more draws than the memory holds."""
    loss = positive(name, value)
    if loss > LARGEST_DOCUMENT_LOSS:
        raise SyntfError(
            f"{name} must be at most {LARGEST_DOCUMENT_LOSS:,}, not {value!r}: such a loss "
            "excludes nothing"
        )
    return loss


def _check_encoder(name: str, value: object) -> None:
    if not (callable(value) or re.fullmatch("model2vec:.+", str(value))):
        raise SyntfError(f"{name} must be model2vec:FOLDER or a function of texts, not {value!r}")


def _unchecked(name: str, value: object) -> None:
    """Accept any value: whoever reads the file or object says what is wrong with it."""


def _setting(default: Any, help: str, **definition: Any) -> Any:
    """Return a dataclass field with this default and definition."""
    made = Setting(help=help, default=default, optional=default is None, **definition)
    return field(default=default, metadata={"setting": made})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that a person can choose about the method, checked when it is created.

    The fields are the parameters of :class:`syntf.SynTF` with the same names, which are
    documented there; ``syntf.pipeline.settings.SETTINGS`` has the definitions. Without
    arguments the settings are those of the paper; :meth:`from_preset` starts from a preset.

    Raises
    ------
    SyntfError
        If a value is not allowed, or if values exclude each other: `epsilon` and `loss`,
        `vocabulary` and `fit_vocabulary`.

    Examples
    --------
    >>> from syntf import Settings
    >>> Settings(length=60).epsilon, Settings(loss=6).epsilon
    (47.5, None)
    >>> Settings.from_preset("words", length=60).loss
    8.0
    """

    document_loss: float | None = _setting(
        None,
        "Largest privacy loss of a whole document, above 0; smaller is more private. 10 lets odds "
        "of 1 to 22,026 become even at most. Example: 6.",
        kind="number", check=_check_document_loss, group="Basic options",
    )  # fmt: skip
    codebook: str | PathLike[str] | None = _setting(
        None,
        "Public codebook in place of the embedded one, made by 'syntf codebook build'. One built "
        "from public texts on the same topics keeps more.",
        kind="file", check=_unchecked, metavar="FILE", group="Privacy",
    )  # fmt: skip
    encoder: Any = _setting(
        None,
        "Encoder in place of the word vectors: model2vec:FOLDER, with a codebook that was built "
        "with the same encoder. Needs pip install 'syntf[model2vec]'.",
        kind="text", check=_check_encoder, metavar="model2vec:FOLDER", group="Privacy",
    )  # fmt: skip
    pilot: bool = _setting(
        True,
        "With 1,000 documents or more, release a random part of them first (the pilot), and adapt "
        "the list of topics for all others to what it released. This costs no privacy.",
        kind="flag", check=flag, group="Privacy",
    )  # fmt: skip
    epsilon: float | None = _setting(
        None,
        "Privacy parameter ε of the mechanism, above 0. The loss per word is computed from it. "
        "Give `epsilon` or `loss`, not both. Example: 20.",
        kind="number", check=positive,
    )  # fmt: skip
    loss: float | None = _setting(
        None,
        "Largest privacy loss of one drawn word, above 0; smaller is more private. A document "
        "loses `loss` times `length`. Example: 6.",
        kind="number", check=positive,
    )  # fmt: skip
    neighbours: int | None = _setting(
        None,
        "Replace a word by one of its K nearest output words, all equally likely, or by any "
        "other output word. The preset 'paper' has none: it prefers output words by their "
        "similarity. Example: 3.",
        kind="count", check=count, metavar="K",
    )  # fmt: skip
    length: int = _setting(
        150,
        "Words drawn for every document, whatever its own length. Example: 60.",
        kind="count", check=partial(count, most=LONGEST),
    )  # fmt: skip
    spelling: float = _setting(
        0.3,
        "How strongly output words that are spelled like the input word are avoided, from 0 "
        "(not at all) to 1.",
        kind="number", check=fraction,
    )  # fmt: skip
    language: str | PathLike[str] = _setting(
        EMBEDDED,
        "Language of the texts: the code of a language pack, see 'syntf language list', or the "
        "folder of one. Several aligned packs are divided by commas; output words are those of the "
        "first. Example: fr.",
        kind="text", check=_check_language, metavar="CODE|FOLDER",
    )  # fmt: skip
    morphology: Morphology = _setting(
        "lemma",
        "Form in which words are counted: 'lemma' (dictionary form), 'lower' (lower case) or "
        "'orth' (as written).",
        **_choice(*get_args(Morphology)),
    )
    analyzer: str = _setting(
        FAST,
        "What splits texts into words: 'fast' (built in, for the language of the texts) or an "
        "installed spaCy pipeline. Example: spacy:en_core_web_sm.",
        kind="text", check=_check_analyzer, metavar=f"{FAST}|{SPACY}MODEL",
    )  # fmt: skip
    stop_words: Set[str] | None = _setting(
        None,
        "Words to leave out of documents. By default a public list of function words of the "
        "language, or the list of the spaCy pipeline.",
        kind="object", check=_unchecked,
    )  # fmt: skip
    numbers: bool = _setting(
        False, "Include numbers.", kind="flag", check=flag, option="keep-numbers"
    )
    weights: Weighting = _setting(
        "tf",
        "How often a term is drawn: 'tf' by its count in the document, 'tfidf' more often if it "
        "is rare elsewhere, 'topical' more often if it names a topic.",
        **_choice(*get_args(Weighting)),
    )
    draws: Draws = _setting(
        "independent",
        "How terms are drawn: 'independent' of each other, or 'systematic', spread evenly over "
        "the document, which keeps more of it at the same loss.",
        **_choice(*get_args(Draws)),
    )
    idf: Provenance = _setting(
        "public",
        "Document frequencies for the weights 'tfidf': 'public' (from the order of the word "
        "vectors) or 'fitted' (from these texts; the release is then marked as not private).",
        **_choice(*get_args(Provenance)),
    )
    vocabulary: str | PathLike[str] | Sequence[str] | None = _setting(
        None,
        "Public vocabulary in place of the embedded one: a file with one term per line.",
        kind="file", check=_unchecked, metavar="FILE",
    )  # fmt: skip
    fit_vocabulary: bool = _setting(
        False,
        "Take the vocabulary from these texts. The release is then marked as not private.",
        kind="flag", check=flag,
    )  # fmt: skip
    min_df: float = _setting(
        2,
        "For a vocabulary from texts: how many texts must contain a term, as a count (2) or a "
        "share (0.01).",
        kind="count or share", check=partial(count_or_share, whole=False), metavar="COUNT|SHARE",
    )  # fmt: skip
    max_df: float = _setting(
        1.0,
        "For a vocabulary from texts: how many texts may contain a term, as a count (500) or a "
        "share (0.5); 1.0 means all.",
        kind="count or share", check=partial(count_or_share, whole=True), metavar="COUNT|SHARE",
    )  # fmt: skip
    max_size: int | None = _setting(
        None,
        "Number of output words at most: of a vocabulary from texts the terms that most texts "
        "contain, of any other the most frequent by the order of the word vectors. Example: 4000.",
        kind="count", check=count, metavar="N",
    )  # fmt: skip
    synsets: bool = _setting(
        False,
        "Extend the vocabulary by synonyms from WordNet, which must be installed.",
        kind="flag", check=flag,
    )  # fmt: skip
    vectors: Any = _setting(
        None,
        "Word vectors in place of the embedded ones: a GloVe or word2vec file (text or binary, "
        "plain or .gz), an .npz file with the arrays words and vectors, or spacy:MODEL.",
        kind="file", check=_unchecked, metavar="FILE",
    )  # fmt: skip

    @classmethod
    def from_preset(cls, preset: str | None = None, **chosen: Any) -> Self:
        """Return the settings of a preset with some of them changed.

        Parameters
        ----------
        preset : {'document', 'sentiment', 'words', 'accurate', 'paper'}, optional
            Where values come from that are not chosen. Without it, settings of the document unit
            select *document* and settings of the words unit select *words*.
        **chosen
            Fields of this class. None means not chosen. `epsilon` replaces the preset's loss
            and `loss` its ε; a chosen `vocabulary` is used whole unless `max_size` is chosen.

        Examples
        --------
        >>> Settings.from_preset("paper", length=100).epsilon
        47.5
        >>> Settings.from_preset(document_loss=6).unit, Settings.from_preset(loss=6).unit
        ('document', 'words')
        """
        for unknown in chosen.keys() - SETTINGS.keys():
            raise TypeError(f"there is no setting {unknown!r}{suggestion(unknown, SETTINGS)}")
        chosen = {name: value for name, value in chosen.items() if value is not None}
        name = _preset_for(chosen) if preset in (None, "default") else str(preset)
        if name not in PRESETS:
            raise SyntfError(f"a preset is {', '.join(PRESETS)}, not {preset!r}")
        if "document_loss" in chosen and "document_loss" not in PRESETS[name]:
            raise SyntfError(
                f"document_loss is a setting of the document unit and {name} a preset of the words "
                "unit: leave one of them out"
            )
        base = dict(PRESETS[name])
        for setting, other in EXCLUSIVE:
            if setting in chosen:
                base.pop(other, None)
        return cls(**{**base, **chosen})

    def changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; `loss` replaces `epsilon`, and the reverse."""
        if changes.get("loss") is not None:
            changes.setdefault("epsilon", None)
        if changes.get("epsilon") is not None:
            changes.setdefault("loss", None)
        return replace(self, **changes)

    @property
    def unit(self) -> Unit:
        """What the loss is spent on: the whole document, if it has a loss of its own, or words."""
        return "words" if self.document_loss is None else "document"

    @property
    def supplied(self) -> list[str]:
        """Names of what the person supplies in place of the embedded public data."""
        names = ("vocabulary", "vectors", "stop_words", "codebook", "encoder")
        supplied = [name for name in names if getattr(self, name) is not None]
        if str(self.codebook) == OPINIONS:
            supplied.remove("codebook")
        if self.synsets:
            supplied.append("wordnet")
        if str(self.language) != EMBEDDED:
            supplied.insert(0, "language")
        return supplied if self.analyzer == FAST else [*supplied, "analyzer"]

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            if value is not None or not setting.optional:
                setting.check(name, value)
        if self.epsilon is not None and self.loss is not None:
            raise SyntfError("epsilon and loss exclude each other: give one of them")
        if self.vectors is not None and str(self.language) != EMBEDDED:
            raise SyntfError(
                "a language pack has word vectors of its own: leave out vectors, or build a pack "
                "with them by syntf language build"
            )
        other = [name for name in ("language", "vectors", "encoder") if name in self.supplied]
        if str(self.codebook) == OPINIONS and other:
            raise SyntfError(
                "the codebook of the preset sentiment is for English and the embedded word "
                f"vectors: leave out {other[0]}, or make a codebook with 'syntf codebook opinions'"
            )
        self._check_unit()
        if self.unit == "words" and self.epsilon is None and self.loss is None:
            object.__setattr__(self, "epsilon", PRESETS["paper"]["epsilon"])
        if self.fit_vocabulary and self.vocabulary is not None:
            raise SyntfError(
                "vocabulary and fit_vocabulary exclude each other: give a vocabulary or have one "
                "taken from the texts"
            )

    def _check_unit(self) -> None:
        """Refuse settings of one unit together with the other unit."""
        other = WORDS_ONLY if self.unit == "document" else DOCUMENT_ONLY
        changed = [name for name in other if getattr(self, name) != SETTINGS[name].default]
        if changed and self.unit == "document":
            raise SyntfError(
                f"{changed[0]} is a setting of the words unit and document_loss one of the "
                f"document unit: leave out {changed[0]}, or choose the preset words without "
                "document_loss; its loss per document is much larger"
            )
        if changed:
            raise SyntfError(
                f"{changed[0]} is a setting of the document unit: leave it out, or choose the "
                "preset document"
            )


SETTINGS: dict[str, Setting] = {each.name: each.metadata["setting"] for each in fields(Settings)}
"""The definition of every field of :class:`Settings`, by its name."""

PRESET = Setting(
    help="Starting values for the other settings. 'document' limits the loss of a whole document; "
    "'sentiment' does so too, and keeps praise and blame in place of topics; 'words' limits the "
    "loss of each word and keeps more; 'accurate' keeps topics best, but authors are easier to "
    "identify; 'paper' is the SIGIR 2018 paper.",
    group="Basic options",
    default=None,
    optional=True,
    **_choice(*PRESETS),
)
"""The definition of the choice of a preset."""


def word_settings(chosen: Mapping[str, Any]) -> list[str]:
    """Return the settings of the words unit among those chosen, if they differ from the default.

    >>> word_settings({"length": 60, "document_loss": 6, "spelling": 0.3})
    ['length']
    """
    return [name for name in WORDS_ONLY if _is_chosen(chosen, name)]


def _preset_for(chosen: Mapping[str, Any]) -> str:
    """Return the preset that the chosen settings belong to."""
    if any(_is_chosen(chosen, name) for name in DOCUMENT_ONLY):
        return "document"
    return "words" if word_settings(chosen) else DEFAULT_PRESET


def _is_chosen(chosen: Mapping[str, Any], name: str) -> bool:
    """Tell whether a setting has another value than its default."""
    value, default = chosen.get(name), SETTINGS[name].default
    if value is None or value is default:
        return False
    # Compare only plain values: a vocabulary may be an array, which has no truth value.
    return not (isinstance(value, str | Real) and value == default)


def preset_values(name: str) -> dict[str, Any]:
    """Return the values that the presets give a setting, by preset; empty if none of them does.

    The preset that applies by default comes first. Presets of the other unit are left out.

    >>> preset_values("document_loss"), list(preset_values("loss"))
    ({'document': 10.0, 'sentiment': 10.0}, ['words', 'accurate', 'paper'])
    """
    if not any(name in preset for preset in PRESETS.values()):
        return {}
    unit = "document" if name in DOCUMENT_ONLY else "words"
    default = SETTINGS[name].default
    return {
        preset: values.get(name, default)
        for preset, values in PRESETS.items()
        if ("document_loss" in values) == (unit == "document")
    }
