"""What the page asks: the columns of a file, what to expect of a choice, and runs.

All of it is for the owner of the texts, on the owner's machine. None of it is a release.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import lru_cache, partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel

from syntf.core.errors import SyntfError, shortened
from syntf.inputs.columns import as_texts as column_as_texts
from syntf.inputs.columns import guess
from syntf.inputs.corpus import Corpus, Reading
from syntf.inputs.sequences import as_texts
from syntf.mechanism import response
from syntf.privacy.bounds import documents_within
from syntf.release import kept
from syntf.release.job import Made, anonymize
from syntf.release.report import factor
from syntf.release.topics import keep_probability
from syntf.rows import Rows, build, guarantee
from syntf.serve.jobs import Desk, Upload
from syntf.settings import PRESETS, UNITS, Settings

KINDS: dict[str, Callable[..., Made]] = {"rows": anonymize}
"""What the page can make from a file. Its form shows a choice if there are several."""

BATCHES, SAMPLE, LIKELIEST = 4, 3, 5
"""Batches that are looked at, values of a column and answers for a text that are shown."""

REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class Form(BaseModel):
    """What is chosen on the page. To try a text, `text` is not the name of a column but a text."""

    kind: str = "rows"
    text: Any
    keep: list[str] = []
    shuffle: bool = True
    author: str | None = None
    author_loss: float | None = None
    preset: str = "document"
    loss: float | None = None
    format: str = "npz"


def add_page(
    app: APIRouter, desk: Desk, page: Path, settings: Settings, ledger: Path | None
) -> None:
    """Add the page and what it asks.

    settings : the first choice of the page, and the language and codebook of all its runs.
    ledger : is charged for every release.
    """

    @app.get("/")
    def whole_page() -> FileResponse:
        return FileResponse(page)

    @app.get("/page/start")
    def start() -> dict[str, Any]:
        return {
            "kinds": list(KINDS), "presets": PRESETS, "unit": settings.unit,
            "loss": getattr(settings, settings.unit), "language": str(settings.language),
            "codebook": settings.codebook and str(settings.codebook),
            "ledger": ledger and str(ledger),
        }  # fmt: skip

    @app.get("/page/example.csv")
    def example() -> FileResponse:
        return FileResponse(str(files("syntf").joinpath("data", "example.csv")))

    @app.put("/page/files")
    async def receive(name: str, request: Request) -> dict[str, str]:
        return {"id": (await desk.receive(name, request.stream())).id}

    @app.delete("/page/files/{id}")
    def discard(id: str) -> None:
        desk.discard(id)

    @app.post("/page/files/{id}/columns")
    def columns(id: str, reading: Reading) -> dict[str, Any]:
        upload = desk.find(id)
        upload.reading = reading
        try:
            return described(upload)
        except SyntfError as error:
            raise SyntfError(upload.plain(str(error))) from None

    @app.post("/page/files/{id}/check")
    def check(id: str, form: Form) -> dict[str, Any]:
        return checked(form, desk.find(id), settings)

    @app.post("/page/files/{id}/run")
    def run(id: str, form: Form) -> None:
        upload = desk.find(id)
        if errors := checked(form, upload, settings)["errors"]:
            raise SyntfError("; ".join(errors.values()))
        choices = form.model_dump(exclude={"kind", "preset", "loss"})
        make = partial(
            KINDS[form.kind], upload.path, upload.release, reading=upload.reading, ledger=ledger,
            settings=method(form, settings), **choices,
        )  # fmt: skip
        upload.begin(desk.thread.submit, make)

    @app.get("/page/files/{id}/run")
    def progress(id: str) -> dict[str, Any]:
        upload = desk.find(id)
        names = ("state", "stage", "done", "total", "message")
        found = {name: getattr(upload, name) for name in names}
        return {**found, "made": upload.made and summary(upload.made)}

    @app.post("/page/files/{id}/cancel")
    def cancel(id: str) -> None:
        desk.find(id).cancel()

    @app.get("/page/files/{id}/report.html")
    def report(id: str) -> FileResponse:
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(desk.find(id).release / "report.html", headers=headers)

    @app.get("/page/files/{id}/release.zip")
    def archive(id: str) -> FileResponse:
        upload = desk.find(id)
        return FileResponse(upload.archive, filename=f"{upload.path.stem}-release.zip")

    @app.post("/page/try")
    def try_text(form: Form, documents: int | None = None) -> dict[str, Any]:
        return likeliest(prepared(method(form, settings)), form.text, documents)


def method(form: Form, given: Settings) -> Settings:
    """Return the settings that were chosen, with the files that the service was started with."""
    unit = next((unit for unit in UNITS if unit in PRESETS.get(form.preset, {})), "document_loss")
    codebook = given.codebook if unit == "document_loss" else None
    return Settings.of(form.preset, **{unit: form.loss}, language=given.language, codebook=codebook)


@lru_cache(maxsize=4)
def prepared(settings: Settings) -> Rows:
    return build(settings)


def described(upload: Upload) -> dict[str, Any]:
    """Look at the first rows: a sample of each column, warnings, and a guess at its use."""
    with closing(Corpus(upload.path, None, None, upload.reading)) as corpus:
        first = pl.concat(islice(corpus.batches(), BATCHES))
        share = min(1.0, corpus.bytes_read / corpus.size) or 1.0
        notices = [upload.plain(notice) for notice in corpus.notices]
    upload.documents, upload.head = round(first.height / share), first.head(kept.LOOKED_AT)
    columns = [
        {
            "name": name,
            "sample": [shortened(one) for one in values.drop_nulls().head(SAMPLE)],
            "warnings": kept.warnings(upload.head.select(name)),
            "if_shuffled": kept.warnings(upload.head.select(name), shuffle=True),
        }
        for name, values in upload.head.to_dict().items()
    ]
    return {
        "documents": upload.documents, "estimated": share < 1, "columns": columns,
        "guess": guess(upload.head), "notices": notices,
    }  # fmt: skip


def checked(form: Form, upload: Upload, given: Settings) -> dict[str, Any]:
    """Return what is wrong with each field, and what to expect: public numbers alone.

    kept : the probability that the true answer is released; 0 where it depends on the answer.
    per_author : how many documents of each author are released at most.
    """
    errors: dict[str, str] = {}
    found: dict[str, Any] = {"errors": errors}

    @contextmanager
    def errors_of(field: str) -> Iterator[None]:
        try:
            yield
        except SyntfError as error:
            errors[field] = str(error)

    with errors_of("text"):
        if form.text not in upload.head.columns:
            raise SyntfError("choose the column that holds the texts")
        column_as_texts(upload.head[form.text])
    with errors_of("keep"):
        kept.columns_to_keep(form.text, None, form.keep)
    with errors_of("loss"):
        rows = prepared(method(form, given))
        scheme = rows.scheme(upload.documents)
        promise = guarantee(rows, [scheme])
        part = promise.composition[0]
        share = keep_probability(Fraction(part.ratio), part.answers)
        found |= {
            "listed": scheme.listed, "draws": part.draws, "answers": part.answers,
            "loss_per_draw": part.loss, "loss": promise.loss_per_document,
            "kept": float(share) if part.mechanism == response.SCHEME else 0.0,
            "factor": factor(promise.loss_per_document),
        }  # fmt: skip
    with errors_of("author"):
        if form.author and form.author_loss is None:
            raise SyntfError("give the largest loss of an author, or choose no column")
        if form.author and form.author_loss is not None and "loss" in found:
            found["per_author"] = documents_within(form.author_loss, found["loss"])
    return found


def summary(made: Made) -> dict[str, Any]:
    """Describe a release to its owner."""
    promise = made.guarantee
    return {
        "documents": made.documents, "left_out": made.left_out, "loss": promise.loss_per_document,
        "run": made.run and made.run.number, "promise": promise.author_promise,
        "notices": [*promise.caveats, *made.notices],
    }  # fmt: skip


def likeliest(rows: Rows, text: Any, documents: int | None) -> dict[str, Any]:
    """Return the answers that are likelier than others in one draw for a text. Nothing is drawn."""
    scheme = rows.scheme(documents)
    encoded = rows.encode(as_texts([text]))
    weights = scheme.mechanism.weights(int(scheme.find_targets(encoded)[0, 0]))
    best = np.argsort(-weights, kind="stable")[:LIKELIEST]
    answers = []
    for answer in best[weights[best] > weights.min()].tolist():
        counts = scheme.counts(np.array([[answer]]))
        columns = counts.indices[np.argsort(-counts.data, kind="stable")]
        words = [scheme.terms[column] for column in columns]
        chance = int(weights[answer]) / scheme.mechanism.total
        answers.append({"name": scheme.names[answer], "chance": chance, "words": words})
    known = not rows.unknown(encoded)[0]
    return {"known": known, "draws": scheme.draws, "all": len(weights), "answers": answers}
