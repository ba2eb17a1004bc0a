"""Commands and their options. What a command does is in the module of its name.

Those modules are imported when their command runs: `syntf --help` stays instant.
"""

import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import click

from syntf import __version__
from syntf.analysis import Morphology
from syntf.errors import SyntfError, TableError

FILE = click.Path(path_type=Path)

PARAMETERS = {
    "epsilon": click.option(
        "--epsilon",
        type=float,
        help="Privacy parameter of the mechanism; the loss is measured. [default: 47.5]",
    ),
    "loss": click.option(
        "--loss",
        type=float,
        help="Wanted loss per word, in place of --epsilon: finds the epsilon for it.",
    ),
    "length": click.option(
        "--length",
        type=int,
        default=150,
        show_default=True,
        help="Words drawn for every document, whatever its own length.",
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
    "vectors": click.option(
        "--vectors",
        type=FILE,
        metavar="FILE",
        help="Word vectors in GloVe's text format, plain or .gz. Default: embedded.",
    ),
}


def parameters(*names: str) -> Callable[[Any], Any]:
    """The options of these parameters, listed in this order."""

    def decorate(command: Any) -> Any:
        for name in reversed(names):
            command = PARAMETERS[name](command)
        return command

    return decorate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88})
@click.version_option(__version__, message="syntf %(version)s")
def app() -> None:
    """Turn texts into synthetic term-frequency vectors with a privacy guarantee.

    Start with an example, then use a file of your own:

    \b
      syntf example
      syntf anonymize example.csv --keep topic --out release
    """


@app.command()
@click.argument("input", type=FILE)
@click.option("--text", default="text", show_default=True, help="The column with the texts.")
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the release goes.")
@click.option("--id", metavar="COLUMN", help="A column that names the documents; released as is.")
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN ...",
    help="Columns to release as they are, outside the guarantee.",
)
@click.option("--shuffle", is_flag=True, help="Release the documents in a random order.")
@parameters("length", "epsilon", "loss", "spelling", "morphology", "analyzer", "vocabulary")
@click.option(
    "--fit-vocabulary",
    is_flag=True,
    help="Take the vocabulary from these texts: outside the guarantee, and marked so.",
)
@click.option(
    "--min-df",
    type=int,
    default=2,
    show_default=True,
    help="For --fit-vocabulary: the least number of texts with a term.",
)
@parameters("vectors")
@click.option(
    "--weights",
    type=click.Choice(["tf", "tfidf"]),
    default="tf",
    show_default=True,
    help="How a document's terms are weighed.",
)
@click.option(
    "--idf",
    type=click.Choice(["public", "fitted"]),
    default="public",
    show_default=True,
    help="For tfidf: from public frequencies, or fitted on these texts (marked).",
)
@click.option("--keep-numbers", "numbers", is_flag=True, help="Do not leave out numbers.")
@click.option("--force", is_flag=True, help="Replace an earlier release in the same folder.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--insecure-seed",
    "seed",
    type=int,
    help="Repeatable draws, for tests only: marks the release NOT PRIVATE.",
)
def anonymize(
    input: Path,
    out: Path,
    text: str,
    id: str | None,
    keep: tuple[str, ...],
    shuffle: bool,
    force: bool,
    quiet: bool,
    seed: int | None,
    **chosen: Any,
) -> None:
    """Make a release from the texts in INPUT.

    INPUT is a .csv, .tsv, .jsonl or .parquet file, or a folder of text files. The release
    holds synthetic counts (vectors.npz, vocabulary.txt), what you keep of each document
    (documents.parquet), the guarantee (guarantee.json) and a README.txt for whoever
    receives it.

    \b
    Example:
      syntf anonymize mails.csv --text body --keep topic --shuffle --out release
    """
    from syntf.cli import anonymize as command

    command.run(
        input,
        out,
        text=text,
        id=id,
        keep=keep,
        shuffle=shuffle,
        force=force,
        quiet=quiet,
        seed=seed,
        settings=command.settings(**chosen),
    )


@app.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Substitutes to show for each word.",
)
@parameters("epsilon", "loss", "spelling", "morphology", "analyzer", "vocabulary", "vectors")
def explain(words: tuple[str, ...], top: int, **chosen: Any) -> None:
    """What a word becomes: likely substitutes, and how far two words can be told apart."""
    from syntf.cli import anonymize, explain

    explain.run(words, anonymize.settings(**chosen), top)


@app.command()
@parameters("epsilon", "loss", "length")
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Documents by one author, for the author's loss.",
)
@parameters("spelling", "vocabulary", "vectors")
@click.option("--figures", type=FILE, metavar="DIR", help="Draw the bounds there, as PNG and SVG.")
def bounds(documents: int, figures: Path | None, **chosen: Any) -> None:
    """The privacy losses for given parameters: per word, document and author."""
    from syntf.cli import anonymize, bounds

    bounds.run(anonymize.settings(**chosen), documents, figures)


@app.command()
@click.argument("file", type=FILE, default=Path("example.csv"))
@click.option("--force", is_flag=True, help="Replace the file.")
def example(file: Path, force: bool) -> None:
    """Write the bundled example corpus: 320 messages, 5 topics, 8 authors."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists already: choose another name, or add --force")
    file.write_bytes(files("syntf").joinpath("data", "example.csv").read_bytes())
    click.echo(f"Wrote {file} (columns id, text, topic, author).")


@app.group()
def cache() -> None:
    """Measurements remembered between runs."""


@cache.command()
def path() -> None:
    """Show where measurements are kept."""
    from syntf import cache

    click.echo(cache.folder())


@cache.command()
def clear() -> None:
    """Forget all measurements; they are made again when needed."""
    from syntf import cache

    click.echo(f"Forgot {cache.clear()} measurements.")


def spread(arguments: list[str]) -> list[str]:
    """Let --keep take several columns, where INPUT comes first so that nothing is ambiguous.

    >>> spread(["anonymize", "mails.csv", "--keep", "topic", "year", "--shuffle"])
    ['anonymize', 'mails.csv', '--keep', 'topic', '--keep', 'year', '--shuffle']
    """
    if arguments[:1] != ["anonymize"] or arguments[1:2] == [] or arguments[1].startswith("-"):
        return arguments
    result = arguments[:2]
    keeping = 0  # columns taken since --keep
    for argument in arguments[2:]:
        if argument.startswith("-"):
            keeping = int(argument == "--keep")
        elif keeping:
            result += ["--keep"] * (keeping > 1)
            keeping += 1
        result.append(argument)
    return result


def main() -> None:
    """Run the command; every problem a person can mend is one line and exit code 2."""
    try:
        code = app(spread(sys.argv[1:]), "syntf", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.ClickException as error:
        code = _fail(error.format_message())
    except (SyntfError, TableError) as error:
        code = _fail(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        code = _fail(f"{error.strerror or error}{where}; no release was written")
    except MemoryError:
        code = _fail("not enough memory; no release was written")
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted; no release was written")
        code = 130
    sys.exit(code)


def _fail(message: str) -> int:
    click.echo(f"syntf: {' '.join(message.split())}", err=True)
    return 2
