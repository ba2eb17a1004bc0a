"""`syntf vocabulary`: a vocabulary from a reference corpus, in one file that says so."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from syntf import __version__
from syntf.cli import console
from syntf.core.errors import SyntfError, printable
from syntf.core.files import replacing
from syntf.inputs import columns, corpus, files
from syntf.pipeline.prepare import reading
from syntf.pipeline.settings import Settings
from syntf.vocabulary.header import (
    FIRST,
    MORPHOLOGY,
    PROVENANCE,
    SOURCE_DIGEST,
    TEXTS_DIGEST,
    Origin,
    read_terms,
    texts_digest,
)
from syntf.vocabulary.vocabulary import as_lines, terms_digest


def build(
    reference: Path,
    text: str,
    out: Path,
    settings: Settings,
    *,
    force: bool,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    check_target(out, force=force)
    texts = columns.texts(corpus.read(reference), text)
    with console.progress(quiet) as stages:
        _, vectors, vocabulary = reading(settings, texts, stages=stages)
    origin = Origin(
        [
            ("syntf", __version__),
            ("source", os.fsencode(reference.resolve().name).decode("utf-8", "replace")),
            (SOURCE_DIGEST, files.digest(reference)),
            (TEXTS_DIGEST, texts_digest(texts)),
            ("documents", str(len(texts))),
            (MORPHOLOGY, settings.morphology),
            ("numbers", "kept" if settings.numbers else "left out"),
            ("min-df", str(settings.min_df)),
            ("max-df", str(settings.max_df)),
            ("max-size", str(settings.max_size or "any")),
            ("vectors-sha256", vectors.digest),
            (PROVENANCE, "public"),
        ]
    )
    write(out, origin.as_text() + as_lines(vocabulary.outputs))
    if as_json:
        console.emit({"out": str(out), "documents": len(texts), **_size(vocabulary.outputs)})
    elif not quiet:
        console.out.print(
            f"Wrote {escape(str(out))}: {len(vocabulary.outputs):,} terms of {len(texts):,} "
            f"documents. It is public only if {escape(reference.name)} is.",
            soft_wrap=True,
        )


def show(file: Path, *, as_json: bool = False) -> None:
    origin, terms = read_terms(file)
    if as_json:
        header = None
        if origin is not None:
            header = [{"key": key, "value": value} for key, value in origin.fields]
        console.emit({"header": header, **_size(list(dict.fromkeys(terms)))})
        return
    fields = [("header", "none: a plain list of terms")] if origin is None else origin.fields
    distinct = list(dict.fromkeys(terms))
    for key, value in (
        *fields,
        ("terms", f"{len(distinct):,}"),
        ("terms-sha256", terms_digest(distinct)),
    ):
        line = f"{escape(f'{key:<15}')} {escape(value)}".rstrip()
        console.out.print(printable(line), soft_wrap=True)


def _size(terms: Sequence[str]) -> dict[str, Any]:
    """By the keys of ``guarantee.json``."""
    return {"vocabulary_size": len(terms), "vocabulary_digest": f"sha256:{terms_digest(terms)}"}


def check_target(out: Path, *, force: bool) -> None:
    """Refuse a file that must not be replaced, before any work is done."""
    if not out.exists() and not out.is_symlink():
        return
    if not force:
        raise SyntfError(f"{out} exists already: choose another --out, or add --force")
    if not out.is_file() or out.is_symlink() or not starts_as_vocabulary(out):
        raise SyntfError(
            f"{out} was not written by syntf vocabulary build, so --force does not replace it: "
            "choose another --out"
        )


def starts_as_vocabulary(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.readline(100).strip() == FIRST.encode()


def write(out: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with replacing(out) as file:
        file.write(text.encode())
