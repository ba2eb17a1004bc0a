"""`syntf preview`: what a release would be like, for the owner of the texts only.

Nothing is written, and no ledger is charged. A preview reads the first rows of the input.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    as_json,
    no_progress,
    option,
    reader_from,
    reader_options,
    setting_options,
    settings_from,
    text,
)
from syntf.core.errors import SyntfError, printable

if TYPE_CHECKING:
    from syntf.core.progress import Stages
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism
    from syntf.pipeline.settings import Settings

HEADING = "For the owner of the texts. This is not a release: do not pass it on."
EXAMPLES = 5
"""How many texts are shown."""
ASSUMED_DOCUMENTS = 1 << 20
"""As many documents are assumed of a database, which does not say how many rows it has."""
EXCERPT = 60
"""Characters of a text that are shown."""
TERMS = 6
"""Words that are shown of released counts."""


@click.command("preview", cls=ConfiguredCommand)
@click.argument("inputs", type=click.Path(), metavar="INPUT...", nargs=-1, required=True)
@text
@option("--id", metavar="COLUMN", help="Column that identifies a document.")
@option("--keep", multiple=True, metavar="COLUMN ...", help="Columns to release as they are.")
@option("--shuffle/--no-shuffle", help="Preview a release in random order.")
@setting_options("language")
@setting_options("preset", "document_loss", "loss", "codebook", "encoder", "pilot")
@setting_options(
    "length",
    "epsilon",
    "neighbours",
    "spelling",
    "weights",
    "draws",
    "morphology",
    "analyzer",
    "numbers",
)
@setting_options("vocabulary", "max_size", "synsets", "vectors")
@as_json
@no_progress
@reader_options
def command(
    inputs: tuple[str, ...],
    text: str,
    id: str | None,
    keep: tuple[str, ...],
    shuffle: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Show what a release of the texts in INPUT would be like. For the owner of the texts only.

    Reads the first rows and shows the columns, the language, how many words are known, warnings,
    the loss, an estimate of time and size, and five texts with a draw for each. Writes nothing.
    The draws are as noisy as those of a release, but they stand beside the texts, so they are for
    you alone.

    \b
    Example:
      syntf preview mails.csv --text body --keep topic
    """
    reader = reader_from(options)
    settings = settings_from(options)
    with output.progress(quiet) as stages:
        found = preview(
            inputs, reader, settings, text=text, id=id, keep=keep, shuffle=shuffle, stages=stages
        )
    output.notify(() if quiet else reader["notices"])
    show(found, as_json=as_json)


def preview(
    inputs: Sequence[str],
    reader: Mapping[str, Any],
    settings: "Settings",
    *,
    text: str,
    id: str | None,
    keep: Sequence[str],
    shuffle: bool,
    author_loss: float | None = None,
    format: str = "npz",
    stages: "Stages",
) -> dict[str, Any]:
    """Return what a release would be like, from the first rows of the input.

    reader : how the input is read, as :func:`~syntf.cli.options.reader_from` returns it.
    format : the format of the counts, for the estimate of their size.
    """
    began = perf_counter()
    from syntf.inputs import columns
    from syntf.inputs.corpus import Corpus
    from syntf.pipeline.sample import language_of, look_with
    from syntf.privacy.bounds import documents_within
    from syntf.privacy.guarantee import with_author_limit
    from syntf.releases import estimate
    from syntf.releases.contents import kept_columns

    kept = kept_columns.released(text, id, keep)
    with closing(Corpus(inputs, text, None, **reader)) as corpus:
        batches = iter(corpus)
        opened = perf_counter()
        first = next(batches, None)
        if first is None:
            raise SyntfError("the input holds no rows")
        seconds_to_read = perf_counter() - opened
        documents = estimate.count_documents(corpus, first.height, batches)
    columns.require(kept, first.columns)
    texts = columns.texts(first, text)
    sample = look_with(settings, texts, stages)
    shown = texts[:: max(1, len(texts) // EXAMPLES)][:EXAMPLES]
    whole = settings.unit == "document"
    anonymizer: DocumentAnonymizer | Anonymizer
    listed = None
    if whole:
        planned = _planned_documents(documents, repeatable=corpus.repeatable)
        examples, anonymizer, mechanism = _draw_documents(settings, shown, planned, stages)
        listed = {"documents": planned, **_list_record(mechanism)}
    else:
        examples, anonymizer = _draw_words(settings, texts, shown, stages)
    guarantee = anonymizer.guarantee()
    setup = perf_counter() - began - seconds_to_read
    if author_loss is not None:
        most = documents_within(author_loss, guarantee.loss_per_document)
        guarantee = with_author_limit(guarantee, most)
    kept_rows = first.only(kept)
    rate = estimate.measure(anonymizer, texts, kept_rows, format=format)
    rate = replace(rate, seconds=rate.seconds + seconds_to_read / first.height)
    warnings = list(kept_columns.warnings(kept_rows, id=id, shuffle=shuffle))
    if listed is not None and author_loss is not None:
        warnings.append(
            "--author-loss leaves documents out, and a release of fewer documents may choose from "
            "another list"
        )
    seconds, size = (None, None)
    if documents is not None:
        seconds, size = estimate.estimate(rate, documents, whole=whole, setup=setup)
    return {
        "note": HEADING,
        "columns": dict(first.types),
        "rows_read": first.height,
        "documents": documents,
        "estimated_seconds": seconds,
        "estimated_bytes": size,
        "sample": asdict(sample),
        "problems": sample.problems(language_of(settings)),
        "warnings": warnings,
        "shuffled": shuffle,
        "loss_per_word": guarantee.loss_per_word and guarantee.loss_per_word.tight,
        "loss_per_document": guarantee.loss_per_document,
        "author": guarantee.author_promise,
        "pilot": listed is not None and listed["pilot"] > 0,
        "list": listed,
        "examples": examples,
    }


def _planned_documents(documents: int | None, *, repeatable: bool) -> int | None:
    """Return for how many documents a release plans its list; None for a list without a pilot.

    documents : the number of rows of the input, counted or estimated; None if it is unknown.
    repeatable : whether the input can be read twice.
    """
    from syntf.releases.document_run import SAMPLE

    if repeatable:
        return documents or ASSUMED_DOCUMENTS
    return None if documents is None or documents > SAMPLE else documents


def _draw_documents(
    settings: "Settings", shown: Sequence[str], documents: int | None, stages: "Stages"
) -> tuple[list[dict[str, Any]], "DocumentAnonymizer", "DocumentMechanism"]:
    """Draw for each text to show from the general list of a release of this many documents."""
    import numpy as np

    from syntf.cli.commands.explain import text_record
    from syntf.pipeline.document import DocumentAnonymizer, Drawn

    anonymizer = DocumentAnonymizer.build(settings, stages=stages)
    mechanism = anonymizer.mechanism(documents)
    encoded = anonymizer.read(shown, stages=stages)
    answers = mechanism.draw(encoded, mechanism.general)
    none = np.zeros(len(shown), dtype=bool)
    _, labels = mechanism.described(Drawn(answers, none, mechanism.general))
    examples = []
    for one, label in zip(shown, labels, strict=True):
        found = text_record(anonymizer, one, mechanism)
        fits = "; ".join(target["label"] for target in found["targets"])
        examples.append(
            {"text": _excerpt(one), "fits": fits, "kept": found["kept"], "drawn": label}
        )
    return examples, anonymizer, mechanism


def _list_record(mechanism: "DocumentMechanism") -> dict[str, Any]:
    """Return what documents choose from, and how likely their choice is kept.

    Without a pilot, the values of the sharpened list are 0 and None.
    """
    from math import comb

    from syntf.mechanism.response import ResponseMechanism

    plan, general = mechanism.plan, mechanism.general
    sharpened, kept = 0, None
    if plan.pilot:
        sharpened = plan.sharpened_entries
        answers = comb(sharpened, plan.sharpened_size)
        kept = float(ResponseMechanism(answers, loss=plan.loss_per_draw).keep_probability)
    return {
        "kind": plan.kind,
        "entries": len(general),
        "kept": float(mechanism.response(general).keep_probability),
        "pilot": plan.pilot,
        "sharpened_entries": sharpened,
        "sharpened_kept": kept,
    }


def _described_list(listed: Mapping[str, Any]) -> str:
    """Describe the list of a release, and which number of documents it belongs to.

    >>> _described_list({"kind": "topics", "entries": 300, "documents": 320, "pilot": 0})
    '300 topics, for 320 documents without a pilot'
    """
    what = f"{listed['entries']:,} {listed['kind']}"
    if listed["documents"] is None:
        return f"{what}, without a pilot: the number of documents is unknown or too large"
    documents = f"for {listed['documents']:,} documents"
    if not listed["pilot"]:
        return f"{what}, {documents} without a pilot"
    others = f"{listed['sharpened_entries']:,} {listed['kind']} for the others"
    return f"{what} for {listed['pilot']:,} pilot documents, then {others}, {documents}"


def _draw_words(
    settings: "Settings", texts: Sequence[str], shown: Sequence[str], stages: "Stages"
) -> tuple[list[dict[str, Any]], "Anonymizer"]:
    """Draw words for each text to show; the others are for what is fitted on texts."""
    import numpy as np

    from syntf.pipeline.anonymizer import Anonymizer

    anonymizer = Anonymizer.build(settings, texts, stages=stages)
    counts = anonymizer.anonymize(shown)
    examples = []
    for number, one in enumerate(shown):
        row = counts[number]
        best = np.argsort(-row.data, kind="stable")[:TERMS]
        terms = [f"{anonymizer.outputs[row.indices[at]]} ×{row.data[at]}" for at in best]
        examples.append({"text": _excerpt(one), "drawn": ", ".join(terms)})
    return examples, anonymizer


def _duration(seconds: float) -> str:
    """Return a duration for people, rounded.

    >>> [_duration(seconds) for seconds in (0.2, 1.2, 42, 400, 9000)]
    ['1 second', '2 seconds', '42 seconds', '7 minutes', '2.5 hours']
    """
    if seconds < 100:
        whole = max(1, ceil(seconds))
        return f"{whole} second{'s' * (whole > 1)}"
    return f"{ceil(seconds / 60)} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def _size(count: int) -> str:
    """Return a number of bytes for people, rounded.

    >>> _size(61_234), _size(1_250_000), _size(3_000_000_000)
    ('61 kB', '1.2 MB', '3.0 GB')
    """
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def _excerpt(text: str) -> str:
    """Return the beginning of a text in one line."""
    start = " ".join(text[: 4 * EXCERPT].split())
    return start if len(start) <= EXCERPT else start[: EXCERPT - 1] + "…"


def show(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a preview."""
    if as_json:
        output.emit(found)
        return
    from syntf.core.exact import shown
    from syntf.pipeline.sample import Sample

    def plain(text: str) -> str:
        return output.escape(printable(text))

    output.say(HEADING)
    names = ", ".join(f"{name} ({kind})" for name, kind in found["columns"].items())
    rows = [
        ["columns", plain(names)],
        ["rows read", f"{found['rows_read']:,}"],
        *map(list, Sample(**found["sample"]).described()),
        ["order", "random" if found["shuffled"] else "as in the input; --shuffle hides it"],
    ]
    if found["loss_per_word"] is not None:
        rows.append(["loss per word", shown(found["loss_per_word"], 4)])
    rows.append(["loss per document", f"[bold]{shown(found['loss_per_document'], 2)}[/]"])
    rows.append(["loss per author", found["author"]])
    if found["list"] is not None:
        rows.append(["chosen from", _described_list(found["list"])])
    if found["documents"] is None:
        rows.append(["estimate", "none: the input does not say how many rows it has"])
    else:
        count = f"{found['documents']:,} documents"
        time, size = _duration(found["estimated_seconds"]), _size(found["estimated_bytes"])
        rows.append(["estimate", f"about {time} and {size} for {count}, measured on these rows"])
    output.table(rows)
    for warning in (*found["problems"], *found["warnings"]):
        output.warn(printable(warning))
    if found["problems"]:
        output.say("syntf anonymize refuses such texts unless --accept-coverage is given.")
    for example in found["examples"]:
        output.say()
        lines = [["text", plain(example["text"])]]
        if "fits" in example:
            lines.append(["fits best", f"{plain(example['fits'])}, kept in {example['kept']:.1%}"])
        lines.append(["drawn now", plain(example["drawn"])])
        output.table(lines)
    if found["pilot"]:
        kept = found["list"]["sharpened_kept"]
        output.say(
            "\nDrawn as for the pilot of a release of this file. Its released answers sharpen the "
            f"list for the other documents, whose choice is kept in {kept:.1%}. The loss is the "
            "same."
        )
