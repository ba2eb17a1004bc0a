"""The commands `syntf frontier` and `syntf reproduce`, which the program loads by name."""

import click

from syntf.cli.options import FILE

newsgroups_option = click.option(
    "--data-home",
    type=FILE,
    metavar="DIR",
    help="scikit-learn's data home with 20 newsgroups; they are downloaded there if missing.",
)
