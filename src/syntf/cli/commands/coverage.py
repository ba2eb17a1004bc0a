"""`syntf coverage`: how many words of the texts are known, for the owner of the texts only.

No other command computes these figures, so none of them can end up in a release.
"""

from dataclasses import asdict
from typing import Any

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    as_json,
    no_progress,
    reader_from,
    reader_options,
    setting_options,
    settings_from,
    text,
)

HEADING = "For the owner of the texts; not part of any release. Do not publish."


@click.command("coverage", cls=ConfiguredCommand)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@text
@setting_options("language")
@setting_options("preset", "neighbours", "morphology", "analyzer", "vocabulary", "vectors")
@setting_options("numbers")
@as_json
@no_progress
@reader_options
def command(inputs: tuple[str, ...], text: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Show how many words of the texts in INPUT are known. For the owner of the texts only.

    INPUT is anything that syntf anonymize reads. The figures are exact, so they reveal something
    about single documents. They are printed and not written to any file. Below them is what syntf
    anonymize looks at before a run, in a sample of the texts: the language, empty texts, numbers
    and bytes that could not be decoded.

    \b
    Example:
      syntf coverage mails.csv --text body
    """
    from syntf.inputs.corpus import read_texts
    from syntf.pipeline.prepare import known_words
    from syntf.pipeline.sample import language_of, look_with
    from syntf.vocabulary.coverage import coverage

    reader = reader_from(options)
    settings = settings_from(options)
    texts = read_texts(inputs, text, reader)
    if not quiet:
        output.notify(reader["notices"])
    with output.progress(quiet) as stages:
        analyzer, words = known_words(settings, stages)
        sample = look_with(settings, texts, stages)
    found = coverage(texts, analyzer, words)
    problems = sample.problems(language_of(settings))
    if as_json:
        looked_at = {"sample": asdict(sample), "problems": problems}
        output.emit({"note": HEADING, **asdict(found), "tokens": found.tokens, **looked_at})
        return
    output.say(HEADING)
    rows = [
        ["documents", f"{found.documents:,}", ""],
        ["  without a known word", f"{found.empty:,}", _share(found.empty, found.documents)],
        ["tokens", f"{found.tokens:,}", ""],
    ]
    for name, count in (
        ("  known", found.known),
        ("  unknown", found.unknown),
        ("  left out (stop words, numbers)", found.left_out),
    ):
        rows.append([name, f"{count:,}", _share(count, found.tokens)])
    output.table(rows, right=(1, 2))
    output.say(f"\nA sample of {sample.documents:,} texts:")
    output.table([[f"  {name}", value] for name, value in sample.described()])
    for problem in problems:
        output.warn(problem)
    if problems:
        output.say("syntf anonymize refuses such texts unless --accept-coverage is given.")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
