"""`syntf codebook`: build a list of topics from public texts or from names, and show one."""

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from syntf.cli import console
from syntf.cli.options import (
    FILE,
    Command,
    option,
    quiet,
    reading,
    reading_from,
    setting_option,
    text,
)
from syntf.core.errors import SyntfError
from syntf.settings import Settings


@click.group("codebook")
def command() -> None:
    """Make public topics of your own for --codebook, or show a codebook.

    Topics from public texts on the same subject keep more of your texts at the same loss.
    """


@command.command("build", cls=Command)
@click.argument("public", nargs=-1, required=True, type=click.Path())
@option("--out", type=FILE, required=True, metavar="FILE", help="File to write, such as my.npz.")
@text
@option("--size", type=click.IntRange(2), default=4096, show_default=True, help="Topics at most.")
@setting_option("encoder")
@setting_option("language")
@option(
    "--private",
    is_flag=True,
    help="Declare that the texts are not public: every release with the codebook is marked so.",
)
@option("--force", is_flag=True, help="Replace an existing file.")
@reading
@quiet
def build(
    public: tuple[str, ...], out: Path, text: str, size: int, encoder: str | None,
    language: str | None, private: bool, force: bool, quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Build topics from the texts in PUBLIC, which must not be the texts that you release.

    \b
    Example:
      syntf codebook build press.csv --text body --out press.npz
      syntf anonymize mails.csv --codebook press.npz --out release
    """
    import polars as pl

    from syntf.inputs.corpus import Corpus
    from syntf.topics.build import build_codebook
    from syntf.topics.text_encoder import load_text_encoder

    _check_target(out, force)
    vectors, reader = _words(language)
    with (
        console.progress(quiet),
        closing(Corpus(public, text, (), reading_from(options))) as corpus,
    ):
        texts = pl.concat([batch[text].fill_null("") for batch in corpus.batches()])
        book = build_codebook(
            texts, vectors, reader, size, encoder=load_text_encoder(encoder), private=private,
            made_from=", ".join(Path(name).name for name in public)[:200],
        )  # fmt: skip
        book.save(out)
    _say_written(book, out, quiet)


@command.command("topics", cls=Command)
@click.argument("names", type=FILE)
@option("--out", type=FILE, required=True, metavar="FILE", help="File to write, such as my.npz.")
@setting_option("language")
@option("--force", is_flag=True, help="Replace an existing file.")
@quiet
def topics(names: Path, out: Path, language: str | None, force: bool, quiet: bool) -> None:
    """Make a codebook whose topics stand in the file NAMES, one on each line.

    \b
    Example of a file:
      invoice, payment, reminder
      delivery, parcel, late
    """
    from syntf.topics.named import codebook_from_topics

    _check_target(out, force)
    try:
        lines = names.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise SyntfError(f"{names} is not a text in UTF-8") from None
    book = codebook_from_topics(lines, *_words(language), made_from=names.name)
    book.save(out)
    _say_written(book, out, quiet)


@command.command("show", cls=Command)
@click.argument("file", type=FILE, required=False)
@option("--count", type=click.IntRange(2), default=20, show_default=True, help="Topics to show.")
@setting_option("language")
def show(file: Path | None, count: int, language: str | None) -> None:
    """Show where a codebook is from, and some of its topics; by default the embedded one."""
    from syntf.topics.codebook import Codebook
    from syntf.topics.encoder import Encoder
    from syntf.topics.lists import topic_list
    from syntf.topics.profiles import profiles

    vectors, _ = _words(language)
    if file is None:
        book = Codebook.embedded() if vectors.pack is None else Codebook.of_pack(vectors.pack)
    else:
        book = Codebook.read(file)
    console.table(
        [
            ["made from", console.escape(book.made_from)],
            ["topics", f"{int(book.leaves.sum()):,} at most"],
            ["public", f"says {book.origin}"],
            ["digest", f"sha256:{book.digest[:16]}…"],
        ]
    )
    _, names = profiles(topic_list(book, count), Encoder(book, vectors))
    for name in names:
        console.say(f"  {console.escape(name)}", wrap=False)


def _words(language: str | None) -> tuple[Any, Any]:
    """Return the word vectors and the reader of a language."""
    from syntf.rows import vectors_and_reader

    return vectors_and_reader(Settings(language=language or "en"))


def _check_target(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise SyntfError(f"{out} exists: add --force to replace it")


def _say_written(book: Any, out: Path, quiet: bool) -> None:
    if not quiet:
        topics = int(book.leaves.sum())
        console.say(f"Wrote {console.escape(out)}: {topics:,} topics. Use it by --codebook.")
