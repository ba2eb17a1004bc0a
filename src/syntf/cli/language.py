"""`syntf language`: build, install and list packs for other languages."""

from pathlib import Path
from typing import Any, get_args

import click

from syntf.cli import console
from syntf.cli.options import FILE, Command, option, quiet
from syntf.words import language


@click.group("language")
def command() -> None:
    """Build a pack for another language, install one, or list the installed ones.

    A pack is a folder with everything that depends on the language of the texts: how they are
    split, stop words, lemmas, word vectors, output words and topics. It is public. The pack for
    English comes with syntf.
    """


@command.command("build", cls=Command)
@click.argument("code", metavar="CODE")
@option(
    "--vectors",
    required=True,
    metavar="FILE|spacy:MODEL",
    help="Word vectors of the language, the most frequent word first: a fastText, GloVe or "
    "word2vec file (text or binary, plain or .gz), or an installed spaCy pipeline.",
)
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder to write.")
@option(
    "--lemmas",
    metavar="FILE|spacy:MODEL|NAME",
    help="Dictionary forms: a file with form, lemma and perhaps part of speech in each line, "
    "divided by tabs; a spaCy pipeline; or the package simplemma, pymorphy3 or sudachi. [default: "
    "words count as they are written]",
)
@option("--stop-words", metavar="FILE", help="Words to leave out. [default: those of spaCy]")
@option("--numbers", metavar="FILE", help="Words for numbers. [default: those of spaCy]")
@option(
    "--tokenizer",
    type=click.Choice(get_args(language.Tokenizer)),
    help="How texts are split: 'words', 'elision' (at apostrophes too, as in l'heure) or 'sudachi' "
    "(Japanese). [default: the usual way of the language]",
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
@quiet
def build(code: str, out: Path, quiet: bool, **options: Any) -> None:
    """Build a pack for the language CODE, such as fr, from public word vectors.

    Never use vectors or word lists that were made from the texts that you release. The guarantee
    of a release names the pack by its digest and says that it is public on your word.

    \b
    Example (German, with fastText's public vectors):
      pip install simplemma
      syntf language build de --vectors cc.de.300.vec.gz \\
        --lemmas simplemma --out pack-de
      syntf language add pack-de
      syntf anonymize mails.csv --language de --out release
    """
    from syntf.topics.pack import write_pack_codebook
    from syntf.words.packs import build_pack

    with console.progress(quiet):
        pack = build_pack(code, out, topics=write_pack_codebook, **options)
    if not quiet:
        words = len(pack.lines("words"))
        console.say(f"Built a pack for {pack.code}: {words:,} words.")
        console.say(f"Install it: syntf language add {console.escape(out)}", wrap=False)


@command.command("add", cls=Command)
@click.argument("folder", type=FILE)
@option("--force", is_flag=True, help="Replace an installed pack of the same language.")
def add(folder: Path, force: bool) -> None:
    """Install the pack in FOLDER, so that --language CODE finds it."""
    pack = language.add(folder, force=force)
    console.say(f"Installed: --language {pack.code}")


@command.command("list", cls=Command)
def list_packs() -> None:
    """List the installed packs, with their sources and licences."""
    for pack in [language.embedded_pack(), *map(language.find, language.installed())]:
        console.say(f"[bold]{pack.code}[/]  sha256:{pack.digest[:12]}…")
        console.table(
            [["  ", source.what, source.origin, source.licence] for source in pack.sources]
        )
