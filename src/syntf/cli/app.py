"""Commands and their options. What a command does is in the module of its name.

Those modules are imported when their command runs: `syntf --help` stays instant.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import click

from syntf import __version__
from syntf.analysis import Morphology
from syntf.errors import SyntfError, TableError

FILE = click.Path(path_type=Path)


def count_or_share(value: str) -> float:
    """A whole number, or a decimal one: 1 is one text, 1.0 is all of them."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    raise click.BadParameter(f"{value!r} is neither a count nor a share")


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
        "loss is half of epsilon. [default: 3; the paper grades words by similarity]",
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
        "--synsets",
        is_flag=True,
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
        help="How a document's terms are weighed. [default: topical]",
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
        "--keep-numbers", "numbers", is_flag=True, help="Do not leave out numbers."
    ),
}


def parameters(*names: str) -> Callable[[Any], Any]:
    """The options of these parameters, listed in this order."""

    def decorate(command: Any) -> Any:
        for name in reversed(names):
            command = PARAMETERS[name](command)
        return command

    return decorate


def corpus_options(command: Any) -> Any:
    """Where a file has its texts, labels and authors, and which texts are for testing."""
    for option in reversed(
        (
            click.option(
                "--text", default="text", show_default=True, help="The column with the texts."
            ),
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
    ):
        command = option(command)
    return command


def evaluation_options(command: Any) -> Any:
    """What every command that evaluates can be told."""
    for option in reversed(
        (
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
            click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
        )
    ):
        command = option(command)
    return command


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
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
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
    "--fit-vocabulary",
    is_flag=True,
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
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@click.option(
    "--insecure-seed",
    "seed",
    type=int,
    help="Repeatable draws, for tests only: marks the release NOT PRIVATE.",
)
def anonymize(inputs: tuple[str, ...], out: Path, **options: Any) -> None:
    """Make a release from the texts in INPUT.

    INPUT is a .csv, .tsv, .jsonl, .parquet or .mbox file, also compressed (.gz, .bz2, .xz), a
    folder of text files, several of these, a pattern in quotes, or - for standard input. It
    may be larger than memory. The release holds synthetic counts (vectors.npz,
    vocabulary.txt), what you keep of each document (documents.parquet), the guarantee
    (guarantee.json) and a README.txt for whoever receives it.

    \b
    Example:
      syntf anonymize mails.csv --text body --keep topic --shuffle --out release
    """
    from syntf.cli import anonymize as command

    files = ("text", "id", "keep", "shuffle", "format", "input_format", "encoding", "bad_rows",
             "ledger", "author", "resume", "force", "quiet", "seed")  # fmt: skip
    own = {name: options.pop(name) for name in files}
    command.run(inputs, out, settings=command.settings(**options), **own)


@app.command()
@click.argument("folder", type=FILE, metavar="DIR")
@click.option(
    "--vectors",
    type=FILE,
    metavar="FILE",
    help="The word vectors of a release that was not made with the embedded ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def verify(folder: Path, vectors: Path | None, as_json: bool, quiet: bool) -> int:
    """Check a release that you received: its files, its table, its loss.

    Derives the table again from public word vectors and the release itself, measures its loss
    and compares everything with guarantee.json. Takes seconds for the default, and as long as
    measuring took the sender for --preset paper. The exit code is 0 only if all checks pass.

    \b
    Example:
      syntf verify release
    """
    from syntf.cli import verify

    return verify.run(folder, vectors, as_json=as_json, quiet=quiet)


@app.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Substitutes to show for each word.",
)
@parameters("preset", "loss", "epsilon", "neighbours", "spelling", "morphology", "analyzer")
@parameters("vocabulary", "max_size", "synsets", "vectors")
def explain(words: tuple[str, ...], top: int, **chosen: Any) -> None:
    """What a word becomes: likely substitutes, and how far two words can be told apart."""
    from syntf.cli import anonymize, explain

    explain.run(words, anonymize.settings(**chosen), top)


@app.command()
@parameters("preset", "loss", "epsilon", "neighbours", "length")
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Documents by one author, for the author's loss.",
)
@click.option(
    "--delta",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="Also the epsilons at this delta, where smaller: by Rényi divergence, and exactly "
    "for --neighbours.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="For --delta without --neighbours: what compares all pairs of rows; cuda needs PyTorch.",
)
@parameters("spelling", "morphology", "vocabulary", "max_size", "synsets", "vectors")
@click.option("--figures", type=FILE, metavar="DIR", help="Draw the bounds there, as PNG and SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def bounds(
    documents: int,
    figures: Path | None,
    delta: float | None,
    device: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """The privacy losses for given parameters: per word, document and author."""
    from syntf.cli import anonymize, bounds

    settings = anonymize.settings(**chosen)
    bounds.run(settings, documents, figures, delta, device, as_json=as_json)


@app.command()
@click.option("--quick", is_flag=True, help="A sample of rows and fewer draws: seconds.")
@click.option(
    "--samples",
    type=click.IntRange(min=1000),
    metavar="N",
    help="Words drawn from a row where draws are counted. [default: 2000000; 100000 if quick]",
)
@click.option("--json", "as_json", is_flag=True, help="The findings for programs.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def audit(quick: bool, samples: int | None, as_json: bool, **chosen: Any) -> None:
    """Examine the program installed here: is what it promises true of what it draws?

    Takes the parameters of syntf anonymize, needs no texts, and tries to break the guarantee
    they give: on the table, the sampler, real draws, and documents made to differ. Says what
    was tried, what came out and what it would have caught. Exit code 1 if a check fails.

    \b
    Example:
      syntf audit --loss 7 --quick
    """
    from syntf.cli import anonymize, audit

    sys.exit(audit.run(anonymize.settings(**chosen), samples, quick=quick, as_json=as_json))


@app.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="The port; 0 for a free one.",
)
@click.option(
    "--token-file",
    type=FILE,
    metavar="FILE",
    help="What clients must send, in place of $SYNTF_TOKEN. Needed beyond this machine.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A further name that requests may be addressed to, as by a reverse proxy.",
)
@click.option(
    "--page/--no-page",
    default=True,
    show_default=True,
    help="The page that shows the method; never beyond this machine, nor with a token.",
)
@click.option("--ledger", type=FILE, metavar="FILE", help="Charge every document to this ledger.")
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=1 << 20,
    show_default=True,
    help="The most bytes of a request.",
)
@click.option(
    "--max-documents",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="The most documents of a request.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    default=100,
    show_default=True,
    help="Requests a second from one address.",
)
@click.option("--quiet", "-q", is_flag=True, help="Log errors alone.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters(
    "analyzer", "vocabulary", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def serve(**options: Any) -> None:
    """Anonymise at the source: a service on this machine, and a page that shows the method.

    Texts are posted to /v1/anonymize; / shows what happens to them. Nothing of a text is kept
    or logged. Needs pip install 'syntf[serve]'.

    \b
    Example:
      syntf serve
      curl localhost:8470/v1/anonymize --json '{"text": "The library was closed."}'
    """
    from syntf.cli import anonymize, serve

    names = ("host", "port", "token_file", "allow_host", "page", "ledger", "max_body",
             "max_documents", "rate", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    serve.run(anonymize.settings(**options), **own)


@app.command()
@click.argument("input", type=FILE, metavar="FILE")
@corpus_options
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option("--scrub", is_flag=True, help="Compare with scrubadub as well.")
@parameters("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@parameters("analyzer", "vocabulary")
@click.option("--fit-vocabulary", is_flag=True, help="Take the vocabulary from the training half.")
@parameters("min_df", "max_df", "max_size", "synsets", "vectors", "weights", "draws", "numbers")
def evaluate(input: Path, out: Path, **options: Any) -> None:
    """Measure what a release of the texts in FILE keeps: topics, authors, or both.

    An analyst learns labels, an attacker authors, from one part of the documents, and both
    are tested on the rest: on the texts as they are, on their term vectors, and on synthetic
    ones, made anew for each run. DIR gets results.csv, scenarios.csv and figures. An
    interrupted evaluation goes on where it was when started again.

    \b
    Example:
      syntf evaluate mails.csv --text body --label topic --author sender --out proof
    """
    from syntf.cli import anonymize, evaluate

    names = ("text", "label", "author", "split", "test_share", "min_test", "runs", "scrub",
             "tagger", "force", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    evaluate.run(input, out, settings=anonymize.settings(**options), **own)


@app.command()
@click.argument("input", type=FILE, metavar="FILE")
@corpus_options
@click.option(
    "--target-utility",
    type=float,
    metavar="SHARE",
    help="Keep this share of what an analyst can tell from the texts, 0.87 say, at the least "
    "loss of a document.",
)
@click.option(
    "--max-loss",
    type=float,
    metavar="LOSS",
    help="The most that a document may lose: loss per word times length. This is what the "
    "guarantee promises of a document. Without --target-utility: keep as much as it allows.",
)
@click.option(
    "--max-loss-per-word",
    type=float,
    metavar="LOSS",
    help="The most that one word may lose, however many are drawn. Alone it limits no "
    "document: long ones will be chosen.",
)
@click.option(
    "--stand-in",
    metavar="example|newsgroups|FILE",
    help="Public texts to tune on, with the same columns if a file; FILE is then not even read.",
)
@click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="For newsgroups: scikit-learn's data home with them; downloaded there if missing.",
)
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@parameters("spelling", "morphology", "analyzer", "vocabulary", "synsets", "vectors", "numbers")
def tune(input: Path, out: Path, **options: Any) -> None:
    """Find parameters for the texts in FILE: a wanted utility at the least loss, or the reverse.

    Tries neighbours, loss per word, length, size of the vocabulary and weights on the training
    half, confirms the choice on the test half, and prints the command to run. DIR gets
    candidates.csv and a figure of loss against utility (pareto.png, .svg). An interrupted
    search goes on where it was when started again; another goal in the same DIR starts from
    what is known.

    The choice depends on the texts, and no loss covers that. Where it matters, tune on public
    texts like yours: --stand-in.

    \b
    Examples:
      syntf tune mails.csv --text body --label topic --target-utility 0.87 --out tuned
      syntf tune mails.csv --text body --stand-in newsgroups --max-loss 800 --out tuned
    """
    from syntf.cli import anonymize, tune

    names = ("text", "label", "author", "target_utility", "max_loss", "max_loss_per_word",
             "stand_in", "data_home", "split", "test_share", "min_test", "runs", "tagger",
             "force", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    tune.run(input, out, settings=anonymize.settings(**options), **own)


@app.command()
@click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="scikit-learn's data home with 20 newsgroups; downloaded there if missing.",
)
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option(
    "--grid",
    multiple=True,
    metavar="full|NAME=VALUES",
    help="Cells beyond those of the figures: all 810, or combinations such as "
    "--grid epsilon=35,47.5 --grid length=all.",
)
@click.option("--quick", is_flag=True, help="Fewer cells, two runs each: minutes.")
@parameters("vectors")
def reproduce(out: Path, grid: tuple[str, ...], **options: Any) -> None:
    """Repeat the paper's evaluation on 20 newsgroups, and put our numbers beside its own.

    DIR gets results.csv, scenarios.csv, the paper's tables (tables.md) and figures (PNG and
    SVG). An interrupted run goes on where it was when started again; more --grid or --runs
    add to what is there.

    \b
    Example:
      syntf reproduce --out reproduction --quick
    """
    from syntf.cli import anonymize, reproduce

    vectors = options.pop("vectors")
    settings = anonymize.settings(preset="paper", vectors=vectors, fit_vocabulary=True)
    reproduce.run(out, grid_options=grid, settings=settings, **options)


@app.command()
@click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="scikit-learn's data home with 20 newsgroups; downloaded there if missing.",
)
@click.option("--out", type=FILE, required=True, metavar="DIR", help="Where the results go.")
@evaluation_options
@click.option("--quick", is_flag=True, help="Fewer points, two runs each.")
def frontier(out: Path, **options: Any) -> None:
    """Utility against loss on 20 newsgroups: the presets, the paper's among them, other systems.

    DIR gets frontier.csv, attacks.csv, their tables (frontier.md) and figures (PNG and SVG). An
    interrupted run goes on where it was when started again.

    \b
    Example:
      syntf frontier --out frontier --quick
    """
    from syntf import presets
    from syntf.cli import frontier

    frontier.run(
        out,
        default=presets.settings(),
        accurate=presets.settings("accurate"),
        paper=presets.settings("paper", fit_vocabulary=True),
        **options,
    )


@app.command()
@click.argument("file", type=FILE, default=Path("example.csv"))
@click.option("--force", is_flag=True, help="Replace the file.")
def example(file: Path, force: bool) -> None:
    """Write the bundled example corpus: 320 messages, 5 topics, 8 authors."""
    if file.exists() and not force:
        raise SyntfError(f"{file} exists already: choose another name, or add --force")
    file.write_bytes(files("syntf").joinpath("data", "example.csv").read_bytes())
    click.echo(f"Wrote {file} (columns id, text, topic, author).")


@app.command()
@click.argument("input", type=FILE)
@click.option("--text", default="text", show_default=True, help="The column with the texts.")
@parameters("preset", "neighbours", "morphology", "analyzer", "vocabulary", "vectors", "numbers")
def coverage(input: Path, text: str, **chosen: Any) -> None:
    """How much of the texts in INPUT is known: for their owner, never for a release.

    The figures are exact, so they tell of single documents. They are printed here, written
    nowhere, and no other command computes them.
    """
    from syntf.cli import anonymize, coverage

    coverage.run(input, text, anonymize.settings(**chosen))


@app.group()
def vocabulary() -> None:
    """Vocabularies from a reference corpus, each in a file that says where it is from."""


@vocabulary.command()
@click.argument("reference", type=FILE)
@click.option("--text", default="text", show_default=True, help="The column with the texts.")
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Where the terms go.")
@parameters("min_df", "max_df", "max_size", "morphology", "analyzer", "vectors", "numbers")
@click.option("--force", is_flag=True, help="Replace an earlier vocabulary of syntf.")
def build(reference: Path, text: str, out: Path, force: bool, **chosen: Any) -> None:
    """Take the terms of public texts, REFERENCE, for --vocabulary of the other commands.

    REFERENCE is any file that syntf anonymize reads. The terms are as public as its texts: of
    the texts that are to be released it makes a release that is marked as not private.

    \b
    Example:
      syntf vocabulary build news.csv --max-df 0.5 --max-size 20000 --out terms.txt
    """
    from syntf.cli import anonymize
    from syntf.cli import vocabulary as command

    chosen = {**chosen, "preset": "paper", "fit_vocabulary": True}  # which cuts off nothing
    command.build(reference, text, out, anonymize.settings(**chosen), force=force)


@vocabulary.command()
@click.argument("file", type=FILE)
def show(file: Path) -> None:
    """What a vocabulary file says about itself, its size and its SHA-256."""
    from syntf.cli import vocabulary as command

    command.show(file)


@app.group()
def cache() -> None:
    """Measurements, neighbours and word vectors remembered between runs."""


@cache.command()
def path() -> None:
    """Show where they are kept."""
    from syntf import cache

    click.echo(cache.folder())


@cache.command()
def clear() -> None:
    """Forget all of them; they are made again when needed."""
    from syntf import cache

    click.echo(f"Forgot {cache.clear()} measurements, tables of neighbours and of vectors.")


@app.group()
def ledger() -> None:
    """Budgets over all releases: what every document and author may lose in sum."""


@ledger.command("create")
@click.argument("file", type=FILE)
@click.option("--budget", type=float, metavar="LOSS", help="The most that a document may lose.")
@click.option(
    "--author-budget",
    type=float,
    metavar="LOSS",
    help="The most that an author may lose: the losses of all their documents.",
)
def create_ledger(file: Path, budget: float | None, author_budget: float | None) -> None:
    """Make a ledger for syntf anonymize --ledger. Its budgets are fixed for good.

    \b
    Example:
      syntf ledger create mails.ledger --budget 2000 --author-budget 50000
      syntf anonymize mails.csv --author sender --ledger mails.ledger --out release
    """
    from syntf.cli import ledger

    ledger.create(file, budget, author_budget)


@ledger.command("show")
@click.argument("file", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="For programs, with all runs.")
def show_ledger(file: Path, as_json: bool) -> None:
    """What was spent, and what the most charged document and author have left."""
    from syntf.cli import ledger

    ledger.show(file, as_json=as_json)


@ledger.command("verify")
@click.argument("file", type=FILE)
@click.option(
    "--head",
    metavar="HASH",
    help="The head after an earlier run, kept elsewhere: must be in the chain, or else the file "
    "was set back.",
)
def verify_ledger(file: Path, head: str | None) -> None:
    """Recompute every hash and sum of a ledger; say what is wrong, if anything is."""
    from syntf.cli import ledger

    ledger.verify(file, head)


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
        code = _fail(str(error), error)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        code = _fail(f"{error.strerror or error}{where}{_nothing_released()}", error)
    except MemoryError:
        code = _fail(f"not enough memory{_nothing_released()}")
    except (KeyboardInterrupt, click.Abort) as error:
        _fail(f"interrupted{_nothing_released()}", error.__context__ or error)
        code = 130
    sys.exit(code)


def _nothing_released() -> str:
    """What matters most of a run that broke off, where it was to make a release."""
    return "; no release was written" if sys.argv[1:2] == ["anonymize"] else ""


def _fail(message: str, error: BaseException | None = None) -> int:
    """One line, with what was noted on the error on its way."""
    notes = getattr(error, "__notes__", [])
    click.echo(f"syntf: {' '.join('; '.join([message, *notes]).split())}", err=True)
    return 2
