"""`syntf codebook`: build a codebook from public texts or a list of topics, and show one."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    PRIVACY,
    as_json,
    combine,
    option,
    quiet,
    reader_from,
    reader_options,
    setting_options,
    settings_from,
    text,
)
from syntf.core.errors import SyntfError, printable

if TYPE_CHECKING:
    from syntf.codebook.codebook import Codebook
    from syntf.vectors.word_vectors import WordVectors

EMBEDDED = "embedded"
LARGEST_LIST = 1 << 20
"""Bytes of a list of topics that is read at all."""

ORIGINS = {
    "embedded": "comes with syntf and is public",
    "supplied": "public on the word of whoever supplied it",
    "private": "NOT public by declaration: releases with it are marked as not private",
}

_writing = combine(
    option("--out", type=FILE, required=True, metavar="FILE", help="File to write."),
    option("--force", is_flag=True, help="Replace an earlier codebook."),
    as_json,
    quiet,
    setting_options("language", "morphology", "analyzer", "numbers", "vectors"),
)


@click.group("codebook")
def command() -> None:
    """Build a codebook from public texts or from a list of topics, or show a codebook.

    A codebook holds the public topics that syntf anonymize chooses from when it protects whole
    documents. One comes with syntf. One from public texts about the same things as yours keeps
    much more at the same loss.
    """


@command.command(cls=ConfiguredCommand)
@click.argument("public", type=click.Path(), metavar="PUBLIC...", nargs=-1, required=True)
@text
@option(
    "--size",
    type=click.IntRange(2, 10_000),
    default=1000,
    show_default=True,
    help="Number of topics at most. Few texts give fewer. A release uses as many as its loss "
    "allows: 20 at a loss of 4 per document, 400 at 10, 1,000 at 20.",
)
@_writing
@setting_options("encoder")
@option(
    "--private/--no-private",
    group=PRIVACY,
    help="Declare that the texts are not public, for example because they are the texts that you "
    "release. A release with the codebook is then marked as not private.",
)
@reader_options
def build(
    public: tuple[str, ...],
    text: str,
    size: int,
    out: Path,
    encoder: str | None,
    private: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Build a codebook from the texts in PUBLIC, for --codebook of other commands.

    PUBLIC is any input that syntf anonymize reads. Choose texts about the same things as the texts
    that you will release; a few thousand are enough, and they need no labels. The guarantee of a
    release with this codebook holds only if the texts are public: it names the codebook's digest
    and says that it is public on your word. Never build it from the texts that you release
    without --private.

    \b
    Example:
      syntf codebook build forum.csv --text body --out forum.codebook
      syntf anonymize mails.csv --codebook forum.codebook --out release
    """
    from syntf.codebook.build import build_codebook
    from syntf.codebook.text_encoder import load_text_encoder
    from syntf.inputs.corpus import read_texts
    from syntf.pipeline import prepare

    reader = reader_from(options)
    settings = settings_from(options)
    _check_target(out, force=force)
    with output.progress(quiet) as stages:
        texts = read_texts(public, text, reader)
        prepare.pack_for(settings)  # a codebook is for one language
        vectors = prepare.vectors_for(settings, stages)
        made_from = "texts that are not public" if private else _names(public, "texts")
        codebook = build_codebook(
            texts, vectors, prepare.analyzer_for(settings), size,
            encoder=load_text_encoder(encoder), private=private, made_from=made_from, stages=stages,
        )  # fmt: skip
    codebook.write(out)
    if not quiet:
        output.notify(reader["notices"])
    _report(out, codebook, as_json=as_json, quiet=quiet, texts=int(codebook.points[0]))


@command.command(cls=ConfiguredCommand)
@click.argument("file", type=FILE, metavar="LIST")
@_writing
def topics(file: Path, out: Path, force: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Make a codebook from the topics in LIST, one a line, for --codebook of other commands.

    A line is a word or a few words, such as "ice hockey" or "space, rockets and orbits". A
    document is assigned to the line that its words are closest to, and a release shows the lines
    as they are. Write the list without looking at the texts that you release: the guarantee says
    that it is public on your word.

    \b
    Example:
      syntf codebook topics topics.txt --out topics.codebook
      syntf anonymize mails.csv --codebook topics.codebook --out release
    """
    from syntf.codebook.topics import codebook_from_topics
    from syntf.pipeline import prepare

    settings = settings_from(options)
    _check_target(out, force=force)
    lines = _read_lines(file)
    with output.progress(quiet) as stages:
        prepare.pack_for(settings)  # a codebook is for one language
        vectors = prepare.vectors_for(settings, stages)
        analyzer = prepare.analyzer_for(settings)
    try:
        codebook = codebook_from_topics(
            lines, vectors, analyzer, made_from=_names([file], "a list of topics")
        )
    except SyntfError as error:
        raise SyntfError(f"{file}: {error}") from None
    codebook.write(out)
    _report(out, codebook, as_json=as_json, quiet=quiet)


@command.command(cls=ConfiguredCommand)
@_writing
def opinions(out: Path, force: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Make a codebook of opinions, for texts in which praise and blame matter more than topics.

    A document is assigned to one of 32 levels, from very negative to very positive, by the mean
    polarity of its words. The polarity of a word comes from public English words of praise and
    blame and from the word vectors. No text is read. The preset sentiment has such a codebook for
    the embedded word vectors.

    \b
    Example:
      syntf codebook opinions --vectors my.txt --out o.codebook
      syntf anonymize a.csv --vectors my.txt --codebook o.codebook --out rel
    """
    from syntf.codebook.opinions import opinion_codebook
    from syntf.pipeline import prepare

    settings = settings_from(options)
    _check_target(out, force=force)
    with output.progress(quiet) as stages:
        prepare.pack_for(settings)  # a codebook is for one language
        codebook = opinion_codebook(prepare.vectors_for(settings, stages))
    codebook.write(out)
    _report(out, codebook, as_json=as_json, quiet=quiet)


@command.command(cls=ConfiguredCommand)
@click.argument("file", type=FILE, required=False)
@option(
    "--topics",
    "count",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Number of topics to show: the coarse ones if they are few, up to every single one.",
)
@setting_options("vectors")
@as_json
def show(file: Path | None, count: int, as_json: bool, **options: Any) -> None:
    """Show where a codebook is from, its digest and some of its topics.

    Without FILE, this is the codebook that comes with syntf; syntf:opinions is that of the preset
    sentiment. A release names the digest of its
    codebook in guarantee.json.

    \b
    Example:
      syntf codebook show forum.codebook --topics 50
    """
    from syntf.codebook.codebook import Codebook
    from syntf.core.progress import silent
    from syntf.pipeline import prepare

    codebook = Codebook.embedded() if file is None else Codebook.read(file)
    vectors = prepare.vectors_for(settings_from(options), silent)
    labels = _labels(codebook, vectors, count)
    record = {"codebook": str(file or EMBEDDED), **_record(codebook)}
    if as_json:
        output.emit({**record, "vectors_digest": codebook.vectors_digest, "labels": labels})
        return
    for key, value in (
        ("codebook", record["codebook"]),
        ("made from", codebook.made_from),
        ("origin", ORIGINS[codebook.origin]),
        ("encoder", record["encoder"]),
        ("digest", record["digest"]),
        ("topics", f"{record['topics']:,}"),
    ):
        output.say(printable(f"{key:<10} {output.escape(value)}"), wrap=False)
    if labels is None:
        output.say("It was made for other word vectors: give them with --vectors to see topics.")
        return
    output.say()
    for label in labels:
        output.say(printable(f"  {output.escape(label)}"), wrap=False)


def _labels(codebook: "Codebook", vectors: "WordVectors", count: int) -> list[str] | None:
    """Return the names of some topics; None if that needs other word vectors."""
    from syntf.codebook.encoder import Encoder
    from syntf.codebook.lists import topic_list
    from syntf.codebook.profiles import make_profiles

    topics = topic_list(codebook, count)
    if topics.labels:
        return list(topics.labels)
    if codebook.vectors_digest != vectors.digest:
        return None
    return list(make_profiles(topics, Encoder(codebook, vectors)).labels)


def _report(
    out: Path, codebook: "Codebook", *, as_json: bool, quiet: bool, texts: int | None = None
) -> None:
    """Print what was written."""
    if as_json:
        more = {} if texts is None else {"texts": texts}
        output.emit({"out": str(out), **_record(codebook), **more})
    elif not quiet:
        source = "" if texts is None else f" from {texts:,} texts with a known word"
        name = output.escape(out)
        output.say(f"Wrote {name}: {_record(codebook)['topics']:,} topics{source}.", wrap=False)
        output.say(f"It is {ORIGINS[codebook.origin]}.")
        encoder = " --encoder model2vec:FOLDER" if codebook.encoder else ""
        use = f"syntf anonymize INPUT --codebook {name}{encoder} --out DIR"
        output.say(f"Use it with: {use}", wrap=False)


def _record(codebook: "Codebook") -> dict[str, Any]:
    """Describe a codebook for programs."""
    return {
        "digest": f"sha256:{codebook.digest}",
        "origin": codebook.origin,
        "made_from": codebook.made_from,
        "encoder": codebook.encoder or "word vectors",
        "topics": int(codebook.leaves.sum()),
    }


def _names(paths: Sequence[str | Path], what: str) -> str:
    """Return one line about the files that a codebook is made from."""
    names = [os.fsencode(Path(path).name).decode("utf-8", "replace") for path in paths]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return printable(f"{what} of {', '.join(names[:3])}{more}")


def _read_lines(file: Path) -> list[str]:
    """Read a list of topics."""
    try:
        if file.stat().st_size > LARGEST_LIST:
            raise SyntfError(f"{file} is too large for a list of topics")
        return file.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise SyntfError(f"{file} is not a text file in UTF-8") from None
    except OSError as error:
        raise SyntfError(f"cannot read {file}: {error.strerror}") from None


def _check_target(out: Path, *, force: bool) -> None:
    """Refuse a file that must not be replaced, before any work is done."""
    from syntf.codebook.codebook import Codebook

    if not out.exists() and not out.is_symlink():
        return
    if not force:
        raise SyntfError(f"{out} exists already: choose another --out, or add --force")
    try:
        if out.is_symlink():
            raise SyntfError(f"{out} is a link")
        Codebook.read(out)
    except SyntfError:
        raise SyntfError(
            f"{out} is not a codebook, so --force does not replace it: choose another --out"
        ) from None
