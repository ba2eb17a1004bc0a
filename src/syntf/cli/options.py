"""Options that several commands share."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import click

from syntf.core.choices import Morphology

FILE = click.Path(path_type=Path)


def count_or_share(value: str) -> float:
    """A whole number, or a decimal one: 1 is one text, 1.0 is all of them."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    raise click.BadParameter(f"{value!r} is neither a count nor a share")


text = click.option("--text", default="text", show_default=True, help="The column with the texts.")
device = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="What works out tables: cuda is a GPU, for large vocabularies, and needs syntf[cuda].",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
quiet = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
no_progress = click.option("--quiet", "-q", is_flag=True, help="Show the result alone.")

PARAMETERS = {
    "preset": click.option(
        "--preset",
        type=click.Choice(["default", "accurate", "paper"]),
        default="default",
        show_default=True,
        help="What is not said otherwise: for authors that are hard to tell, for topics that "
        "are easy to tell, or the paper's optimum.",
    ),
    "epsilon": click.option(
        "--epsilon",
        type=float,
        help="Privacy parameter of the mechanism; the loss is measured.",
    ),
    "loss": click.option(
        "--loss",
        type=float,
        help="Wanted loss per word, in place of --epsilon: finds the epsilon for it. [default: 8]",
    ),
    "neighbours": click.option(
        "--neighbours",
        type=int,
        metavar="K",
        help="Replace a word by one of its K nearest, or by any other word, all alike: the "
        "loss is half of epsilon. [default: 1; the paper grades words by similarity]",
    ),
    "length": click.option(
        "--length",
        type=int,
        help="Words drawn for every document, whatever its own length. [default: 125]",
    ),
    "spelling": click.option(
        "--spelling",
        type=float,
        default=0.3,
        show_default=True,
        help="How much a shared spelling counts against a substitute, 0 to 1.",
    ),
    "morphology": click.option(
        "--morphology",
        type=click.Choice(get_args(Morphology)),
        default="lemma",
        show_default=True,
        help="Word forms: dictionary form, lower case, or as written.",
    ),
    "analyzer": click.option(
        "--analyzer",
        default="fast",
        show_default=True,
        metavar="fast|spacy:MODEL",
        help="What finds the words of a text: syntf itself, or an installed spaCy pipeline.",
    ),
    "vocabulary": click.option(
        "--vocabulary",
        type=FILE,
        metavar="FILE",
        help="A public vocabulary, one term a line. Default: the embedded one.",
    ),
    "synsets": click.option(
        "--synsets/--no-synsets",
        help="Extend the vocabulary by synonyms from WordNet (must be installed).",
    ),
    "vectors": click.option(
        "--vectors",
        type=FILE,
        metavar="FILE",
        help="Word vectors: GloVe or word2vec text or binary, plain or .gz; .npz with arrays "
        "words and vectors; or spacy:MODEL. Default: embedded.",
    ),
    "min_df": click.option(
        "--min-df",
        type=count_or_share,
        metavar="COUNT|SHARE",
        default="2",
        show_default=True,
        help="For a vocabulary from texts: the least number, or share, of texts with a term.",
    ),
    "max_df": click.option(
        "--max-df",
        type=count_or_share,
        metavar="COUNT|SHARE",
        default="1.0",
        show_default=True,
        help="The greatest number, or share, of texts with a term.",
    ),
    "max_size": click.option(
        "--max-size",
        type=int,
        metavar="N",
        help="Of the terms, only N: those that most texts contain if they are from texts, or "
        "else the most frequent by the order of the word vectors.",
    ),
    "weights": click.option(
        "--weights",
        type=click.Choice(["tf", "tfidf", "topical"]),
        help="How a document's terms are weighed. [default: tf]",
    ),
    "draws": click.option(
        "--draws",
        type=click.Choice(["independent", "systematic"]),
        help="How a document's terms are drawn: each by itself, or spread over all of them. "
        "[default: systematic]",
    ),
    "idf": click.option(
        "--idf",
        type=click.Choice(["public", "fitted"]),
        default="public",
        show_default=True,
        help="For tfidf: from public frequencies, or fitted on these texts (marked).",
    ),
    "numbers": click.option(
        "--keep-numbers/--no-keep-numbers", "numbers", help="Do not leave out numbers."
    ),
}


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, listed in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(decorators):
            command = option(command)
        return command

    return decorate


def parameters(*names: str) -> Callable[[Any], Any]:
    """The options of these parameters, listed in this order."""
    return options(*(PARAMETERS[name] for name in names))


corpus_options = options(
    text,
    click.option(
        "--label", metavar="COLUMN", help="The column with what an analyst wants to tell."
    ),
    click.option("--author", metavar="COLUMN", help="The column with who wrote the text."),
    click.option("--split", metavar="COLUMN", help="A column that says train or test."),
    click.option(
        "--test-share",
        type=float,
        default=0.4,
        show_default=True,
        help="Without --split: the share of texts to test on, drawn once and for all.",
    ),
    click.option(
        "--min-test",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Test texts that a suspect author must have.",
    ),
)
"""Where a file has its texts, labels and authors, and which texts are for testing."""

evaluation_options = options(
    click.option(
        "--runs",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        help="Times that texts are anonymised and evaluated.",
    ),
    click.option(
        "--tagger",
        metavar="spacy:MODEL|pattern",
        help="What tags parts of speech for the attacker. [default: spaCy's small "
        "English model if installed, or else pattern]",
    ),
    click.option("--force", is_flag=True, help="Start anew in a folder with results."),
    as_json,
    quiet,
)
"""What every command that evaluates can be told."""
