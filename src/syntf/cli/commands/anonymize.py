"""`syntf anonymize`: its options."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, as_json, device, parameters, quiet, text


@click.command("anonymize", short_help="Make a release from texts.", cls=Configured)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@text
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the release goes.")
@click.option("--id", metavar="COLUMN", help="A column that names the documents; released as is.")
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN ...",
    help="Columns to release as they are, outside the guarantee.",
)
@click.option("--shuffle/--no-shuffle", help="Release the documents in a random order.")
@click.option(
    "--format",
    type=click.Choice(["npz", "parquet", "mtx", "svmlight", "jsonl", "text"]),
    default="npz",
    show_default=True,
    help="What the counts are written as.",
)
@click.option(
    "--input-format",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet", "mbox"]),
    help="In place of what the names of the files end in; needed for standard input.",
)
@click.option("--encoding", default="utf-8", show_default=True, help="Of text files that are read.")
@click.option(
    "--bad-rows",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="Rows with a wrong number of fields, bad JSON or no text: stop before "
    "anything is released, or leave them out and say where they were.",
)
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters("analyzer", "vocabulary")
@click.option(
    "--fit-vocabulary/--no-fit-vocabulary",
    help="Take the vocabulary from these texts: outside the guarantee, and marked so.",
)
@parameters("min_df", "max_df", "max_size", "synsets", "vectors")
@parameters("weights", "draws", "idf", "numbers")
@click.option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    help="Charge the loss of every document to this ledger before anything is drawn; refused "
    "where it would exceed a budget. Made by syntf ledger create.",
)
@click.option(
    "--author",
    metavar="COLUMN",
    help="For a ledger with a budget for authors: the column that names them. Not released.",
)
@click.option("--resume", is_flag=True, help="Go on where an interrupted run stopped.")
@click.option("--force", is_flag=True, help="Replace an earlier release in the same folder.")
@as_json
@quiet
@click.option(
    "--insecure-seed",
    "seed",
    type=int,
    help="Repeatable draws, for tests only: marks the release NOT PRIVATE.",
)
@click.option(
    "--jobs",
    type=int,
    metavar="N",
    help="Threads that share the work; -2 for all cores but one. [default: one a core]",
)
@device
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="What does the work: this process, or Spark (needs pip install 'syntf[spark]').",
)
@click.option("--master", metavar="URL", help="Of Spark's cluster. [default: local[*]]")
def command(inputs: tuple[str, ...], out: Path, **options: Any) -> None:
    """Make a release from the texts in INPUT.

    INPUT is a .csv, .tsv, .jsonl, .parquet or .mbox file, also compressed (.gz, .bz2, .xz), a
    folder of text files, several of these, a pattern in quotes, or - for standard input. It
    may be larger than memory. The release holds synthetic counts (vectors.npz,
    vocabulary.txt), what you keep of each document (documents.parquet), the guarantee
    (guarantee.json), and README.txt and report.html for whoever receives it.

    \b
    Example:
      syntf anonymize mails.csv --text body --keep topic --shuffle --out release
    """
    from syntf.cli import anonymize

    engine, master = options.pop("engine"), options.pop("master")
    if engine == "spark":
        return _on_spark(inputs, out, master or "local[*]", options)
    if master:
        raise click.UsageError("--master is the address of a cluster: add --engine spark")
    files = ("text", "id", "keep", "shuffle", "format", "input_format", "encoding", "bad_rows",
             "ledger", "author", "resume", "force", "quiet", "as_json", "device",
             "jobs")  # fmt: skip
    own = {name: options.pop(name) for name in files} | {"insecure_seed": options.pop("seed")}
    anonymize.run(inputs, out, settings=anonymize.settings(**options), **own)


def _on_spark(inputs: tuple[str, ...], out: Path, master: str, options: dict[str, Any]) -> None:
    from syntf.cli import anonymize, spark

    context = click.get_current_context()
    others = {name: options.pop(name) for name in [*spark.APART, *spark.FIXED]}
    default = ParameterSource.DEFAULT
    spark.check({n: v for n, v in others.items() if context.get_parameter_source(n) != default})
    files = ("text", "id", "keep", "input_format", "force", "quiet", "as_json")
    own = {name: options.pop(name) for name in files}
    spark.run(inputs, out, master=master, settings=anonymize.settings(**options), **own)
