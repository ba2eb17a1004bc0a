"""`syntf anonymize`: texts in, a release out, whatever their number."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.markup import escape
from rich.table import Table
from scipy.sparse import csr_matrix, vstack

from syntf import __version__, entropy, presets, readers, release
from syntf.anonymizer import Anonymizer, Settings
from syntf.arithmetic import shown
from syntf.cli import console
from syntf.errors import SyntfError, printable
from syntf.guarantee import Guarantee
from syntf.origin import TEXTS_DIGEST, read_terms
from syntf.readers import Corpus
from syntf.stages import Stages


@dataclass(frozen=True)
class Texts:
    """The texts of a corpus, to be gone through once or more."""

    corpus: Corpus

    def __iter__(self) -> Iterator[str]:
        return self.corpus.texts()


def settings(**options: Any) -> Settings:
    """Settings from options, where ε and the loss exclude each other."""
    if None not in (options.get("epsilon"), options.get("loss")):
        raise SyntfError("give --epsilon or --loss, not both")
    return presets.settings(**options)


def run(
    inputs: Sequence[str],
    out: Path,
    *,
    text: str,
    id: str | None,
    keep: Sequence[str],
    shuffle: bool,
    format: str,
    input_format: str | None,
    encoding: str,
    bad_rows: readers.BadRows,
    resume: bool,
    force: bool,
    quiet: bool,
    seed: int | None,
    settings: Settings,
) -> None:
    kept = list(dict.fromkeys([*([id] if id else []), *keep]))
    if text in kept:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of --keep")
    if id is None and release.NUMBER in kept:
        raise SyntfError(
            f"a column {release.NUMBER!r} numbers the rows: keep yours with --id {release.NUMBER}"
        )
    if resume and seed is not None:
        raise SyntfError("a seeded run cannot be resumed: its draws would repeat")
    release.check_target(out, force=force)
    corpus = Corpus(inputs, text, kept, encoding, input_format, bad_rows)
    fitted = settings.fit_vocabulary or (settings.weights == "tfidf" and settings.idf == "fitted")
    if not corpus.repeatable and (fitted or resume):
        raise SyntfError("standard input can be read once: give a file to fit on it or to resume")
    if not corpus.repeatable and isinstance(settings.vocabulary, Path):
        origin, _ = read_terms(settings.vocabulary)
        if origin is not None and origin.values(TEXTS_DIGEST):
            raise SyntfError(
                f"{settings.vocabulary} was built from texts, and standard input cannot be "
                "compared with them before anything is drawn: give a file"
            )
    source = entropy.system if seed is None else entropy.Seeded(seed)

    with console.progress(quiet) as stages:
        texts: Iterable[str] = ()
        released: set[str] = set()
        if corpus.repeatable:
            next(iter(corpus), None)  # what cannot be read is told of before the long work
            texts = Texts(corpus)
            if settings.vocabulary is not None:
                released = {readers.digest(path) for path in corpus.paths}
        anonymizer = Anonymizer.build(
            settings, texts, source=source, released=released, stages=stages
        )
        guarantee = anonymizer.guarantee(kept_columns=kept, shuffled=shuffle)
        key = _key(corpus, guarantee, text, kept, settings)
        with release.Draft(out, key=key, resume=resume, force=force) as draft:
            for counts, documents in _shards(corpus, anonymizer, draft.documents, id, stages):
                draft.add(counts, documents)
            draft.finish(
                anonymizer.vocabulary.outputs,
                guarantee,
                shuffle=source if shuffle else None,
                numbered=id is None,
                format=format,
            )
    if not quiet:
        with suppress(OSError):  # the release stands, whether its summary can be shown or not
            for note in anonymizer.notes:
                console.out.print(f"word vectors: {escape(note)}")
            summarize(guarantee, draft.documents, anonymizer.vocabulary.dropped, corpus, out)


def _shards(
    corpus: Corpus, anonymizer: Anonymizer, done: int, id: str | None, stages: Stages
) -> Iterator[tuple[csr_matrix, pl.DataFrame]]:
    """Counts and kept columns of all documents but those already done, a shard at a time."""
    counts: list[csr_matrix] = []
    kept: list[pl.DataFrame] = []
    skip = done
    with stages("all documents", corpus.size) as advance:
        before = 0
        for batch in corpus:
            frame = batch[skip:]
            skip = max(0, skip - batch.height)
            if frame.height:
                texts = readers.texts(frame, corpus.text or "text")
                counts.append(anonymizer.anonymize(texts, stages=stages))
                kept.append(_kept(frame, corpus, None if id else done))
                done += frame.height
            advance(corpus.done - before)
            before = corpus.done
            if sum(part.height for part in kept) >= release.SHARD:
                yield vstack(counts, format="csr"), pl.concat(kept, how="vertical_relaxed")
                counts, kept = [], []
    if kept:
        yield vstack(counts, format="csr"), pl.concat(kept, how="vertical_relaxed")


def _kept(frame: pl.DataFrame, corpus: Corpus, first: int | None) -> pl.DataFrame:
    """What is released of each document beside its counts."""
    # By name, as a selection would expand wildcards.
    columns = [frame[name] for name in corpus.columns or ()]
    if first is not None:
        columns = [release.row_numbers(first, frame.height), *columns]
    return pl.DataFrame(columns)


def _key(
    corpus: Corpus, guarantee: Guarantee, text: str, kept: Sequence[str], settings: Settings
) -> str:
    """A hash of all that a run depends on: only a run with the same may go on with its draft."""
    files = [
        (str(path), path.stat().st_size, path.stat().st_mtime_ns)
        for path in corpus.paths
        if corpus.repeatable
    ]
    parts = [
        __version__, files, corpus.kinds, corpus.encoding, corpus.bad_rows, text, list(kept),
        guarantee.as_dict(), settings.numbers, settings.idf,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def summarize(
    guarantee: Guarantee, documents: int, dropped: int, corpus: Corpus, out: Path
) -> None:
    """The release in a few lines."""
    loss = guarantee.loss_per_word
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("documents", f"{documents:,}, {guarantee.length} words drawn for each")
    table.add_row(
        "vocabulary", f"{guarantee.input_size:,} words in, {guarantee.vocabulary_size:,} out"
    )
    if dropped:
        table.add_row("", f"{dropped:,} terms of the vocabulary have no vector and were left out")
    table.add_row(
        "loss per word",
        f"[bold]{shown(loss.tight, 4)}[/]  (bounds: improved {shown(loss.improved, 2)}, "
        f"standard {shown(loss.standard, 2)})",
    )
    table.add_row("loss per document", f"[bold]{shown(guarantee.loss_per_document, 2)}[/]")
    console.out.print(table)
    if corpus.bad:
        console.out.print(f"[yellow]![/] {corpus.bad:,} broken rows were left out:")
        for place in corpus.skipped:
            console.out.print(f"  {escape(printable(place))}", soft_wrap=True)
    for caveat in guarantee.caveats:
        console.out.print(f"[yellow]![/] {escape(caveat)}")
    if not guarantee.private:
        console.out.print("[yellow]![/] The release is marked as not private.")
    console.out.print(f"Release written to {escape(str(out))}", soft_wrap=True)
