"""`syntf vocabulary`: build a vocabulary from public texts, and show a vocabulary file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from syntf import __version__
from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    BASIC,
    FILE,
    Command,
    as_json,
    option,
    quiet,
    reader_from,
    reader_options,
    setting_option,
    setting_options,
    settings_from,
    text,
)
from syntf.core.errors import SyntfError, printable


@click.group("vocabulary")
def command() -> None:
    """Build a vocabulary from public texts, or show a vocabulary file."""


@command.command(cls=ConfiguredCommand)
@click.argument("reference", type=click.Path())
@text
@option("--out", type=FILE, required=True, metavar="FILE", help="File to write.")
@setting_options("language")
@setting_option("min_df", group=BASIC)
@setting_option("max_df", group=BASIC)
@setting_option(
    "max_size",
    help="Number of terms at most: those that most texts contain. Example: 20000. [default: all]",
    group=BASIC,
)
@setting_options("morphology", "analyzer", "vectors", "numbers")
@option(
    "--public/--no-public",
    help="Declare that all texts of REFERENCE are public. Without it, releases that use the "
    "vocabulary are marked as not private.",
)
@option("--force", is_flag=True, help="Replace an earlier vocabulary of syntf.")
@as_json
@quiet
@reader_options
def build(
    reference: str,
    text: str,
    out: Path,
    public: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write the terms of the texts in REFERENCE to a file for --vocabulary of other commands.

    REFERENCE is any file that syntf anonymize reads. A vocabulary must be public, so build it from
    public texts and say so with --public. Never use --public for texts that you release.

    \b
    Example:
      syntf vocabulary build news.csv --public --max-size 20000 --out terms.txt
    """
    from syntf.core.files import replacing
    from syntf.inputs import files
    from syntf.inputs.corpus import read_texts
    from syntf.pipeline.prepare import load_words
    from syntf.vocabulary.header import MORPHOLOGY, PUBLIC, SOURCE_DIGEST, Header
    from syntf.vocabulary.vocabulary import as_lines

    reader = reader_from(options)
    # The paper's preset sets no largest number of terms.
    settings = settings_from({**options, "preset": "paper", "fit_vocabulary": True})
    _check_target(out, force=force)
    texts = read_texts([reference], text, reader)
    if not quiet:
        output.notify(reader["notices"])
    with output.progress(quiet) as stages:
        _, vectors, vocabulary = load_words(settings, texts, stages=stages)
    name = os.fsencode(Path(reference).resolve().name).decode("utf-8", "replace")
    # A header without --public must not identify the texts that the terms come from.
    origin = [("source", name), (SOURCE_DIGEST, files.digest(reference))] if public else []
    header = Header(
        [
            ("syntf", __version__),
            (PUBLIC, "yes" if public else "no"),
            *origin,
            ("documents", str(len(texts))),
            (MORPHOLOGY, settings.morphology),
            ("numbers", "kept" if settings.numbers else "left out"),
            ("min-df", str(settings.min_df)),
            ("max-df", str(settings.max_df)),
            ("max-size", str(settings.max_size or "any")),
            ("vectors-sha256", vectors.digest),
        ]
    )
    with replacing(out) as file:
        file.write((header.as_text() + as_lines(vocabulary.outputs)).encode())
    if as_json:
        output.emit({"out": str(out), "documents": len(texts), **_size(vocabulary.outputs)})
    elif not quiet:
        shown = output.escape(Path(reference).name)
        declared = (
            f"You declare that {shown} is public."
            if public
            else "Releases that use it are marked NOT PRIVATE. If all texts of "
            f"{shown} are public, build it again with --public."
        )
        output.say(
            f"Wrote {output.escape(out)}: {len(vocabulary.outputs):,} terms of {len(texts):,} "
            f"documents. {declared}",
            wrap=False,
        )


@command.command(cls=Command)
@click.argument("file", type=FILE)
@as_json
def show(file: Path, as_json: bool) -> None:
    """Show the header of a vocabulary file, its size and its SHA-256."""
    from syntf.vocabulary.header import read_terms
    from syntf.vocabulary.vocabulary import terms_digest

    header, terms = read_terms(file)
    distinct = list(dict.fromkeys(terms))
    if as_json:
        fields = header and [{"key": key, "value": value} for key, value in header.fields]
        output.emit({"header": fields, **_size(distinct)})
        return
    lines = header.fields if header else [("header", "none: a plain list of terms")]
    size = [("terms", f"{len(distinct):,}"), ("terms-sha256", terms_digest(distinct))]
    for key, value in (*lines, *size):
        line = f"{output.escape(f'{key:<15}')} {output.escape(value)}".rstrip()
        output.say(printable(line), wrap=False)


def _size(terms: Sequence[str]) -> dict[str, Any]:
    """Return size and digest of a vocabulary under the keys of ``guarantee.json``."""
    from syntf.vocabulary.vocabulary import terms_digest

    return {"vocabulary_size": len(terms), "vocabulary_digest": f"sha256:{terms_digest(terms)}"}


def _check_target(out: Path, *, force: bool) -> None:
    """Refuse a file that must not be replaced, before any work is done."""
    from syntf.vocabulary.header import FIRST_LINE

    if not out.exists() and not out.is_symlink():
        return
    if not force:
        raise SyntfError(f"{out} exists already: choose another --out, or add --force")
    if out.is_file() and not out.is_symlink():
        with out.open("rb") as file:
            if file.readline(100).strip() == FIRST_LINE.encode():
                return
    raise SyntfError(
        f"{out} was not written by syntf vocabulary build, so --force does not replace it: "
        "choose another --out"
    )
