"""`syntf tune`: its options."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.configured import Configured
from syntf.cli.options import FILE, corpus_options, evaluation_options, parameters


@click.command("tune", short_help="Find parameters for your texts.", cls=Configured)
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
def command(input: Path, out: Path, **options: Any) -> None:
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
             "force", "as_json", "quiet")  # fmt: skip
    own = {name: options.pop(name) for name in names}
    tune.run(input, out, settings=anonymize.settings(**options), **own)
