"""`syntf anonymize`: texts in, a release out, whatever their number."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntf import __version__
from syntf.cli import streams
from syntf.cli.plan import Plan, shards
from syntf.core import entropy, parallel
from syntf.core.errors import SyntfError
from syntf.inputs import corpus, paths
from syntf.inputs.corpus import Corpus
from syntf.ledger.ledger import UNIT, Ledger, accountable
from syntf.ledger.names import Charge
from syntf.pipeline import presets
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Guarantee
from syntf.releases import draft as drafts
from syntf.report.portrait import portrait
from syntf.vocabulary.header import TEXTS_DIGEST, read_terms


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
    bad_rows: corpus.BadRows,
    ledger: Path | None,
    author: str | None,
    resume: bool,
    force: bool,
    as_json: bool = False,
    quiet: bool,
    seed: int | None,
    device: str = "cpu",
    jobs: int | None = None,
    settings: Settings,
) -> None:
    kept = list(dict.fromkeys([*([id] if id else []), *keep]))
    if text in kept:
        raise SyntfError(f"the text column {text!r} cannot be released: leave it out of --keep")
    if id is None and drafts.NUMBER in kept:
        raise SyntfError(
            f"a column {drafts.NUMBER!r} numbers the rows: keep yours with --id {drafts.NUMBER}"
        )
    if resume and seed is not None:
        raise SyntfError("a seeded run cannot be resumed: its draws would repeat")
    drafts.check_target(out, force=force)
    budget = _ledger(ledger, author)
    read = list(dict.fromkeys([*kept, *([author] if author else [])]))
    corpus = Corpus(inputs, text, read, encoding, input_format, bad_rows)
    if not corpus.repeatable and budget is not None:
        raise SyntfError(
            "standard input can be read once, and a ledger must know the documents before any is "
            "drawn for: give a file"
        )
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

    with parallel.at_most(jobs), streams.progress(quiet) as stages:
        texts: Iterable[str] = ()
        released: set[str] = set()
        if corpus.repeatable:
            corpus.peek()  # what cannot be read is told of before the long work
            texts = Texts(corpus)
            if settings.vocabulary is not None:
                released = {paths.digest(path) for path in corpus.paths}
        anonymizer = Anonymizer.build(
            settings, texts, source=source, released=released,
            device=None if device == "cpu" else device, stages=stages,
        )  # fmt: skip
        anonymizer.read(())  # what reading takes is made, and remembered, before a draft is
        guarantee = anonymizer.guarantee(kept_columns=kept, shuffled=shuffle)
        key = _key(corpus, guarantee, text, [id or "", *kept], settings, budget, author)
        as_is = not shuffle and format == "npz"
        with drafts.Draft(out, key=key, resume=resume, force=force, as_is=as_is) as draft:
            plan = Plan(corpus, draft.documents, kept, id, author)
            charge = None
            if budget is not None:
                with stages("charging", corpus.size) as advance:
                    names = (plan.names(frame) for frame in plan.frames(advance))
                    charge = budget.spend(accountable(guarantee), names)
            with _stays(charge):
                for counts, documents in shards(plan, anonymizer, charge, stages):
                    draft.add(counts, documents)
                draft.finish(
                    anonymizer.vocabulary.outputs,
                    guarantee,
                    portrait(anonymizer.mechanism, anonymizer.vocabulary, length=settings.length),
                    shuffle=source if shuffle else None,
                    numbered=id is None,
                    format=format,
                )
    with suppress(OSError):  # the release stands, whether its summary can be shown or not
        if as_json:
            streams.emit(_record(out, draft.documents, anonymizer, corpus, charge))
        elif not quiet:
            from syntf.cli import summary  # here: who is quiet does not wait for a screen

            summary.show(anonymizer, guarantee, draft.documents, corpus, out)
            if charge is not None and charge.run is not None:
                summary.show_charge(charge.run)


def _ledger(path: Path | None, author: str | None) -> Ledger | None:
    """The ledger to charge, opened before the long work."""
    if path is None:
        if author is not None:
            raise SyntfError("--author names authors for a ledger: give --ledger too")
        return None
    ledger = Ledger(path)
    ledger.check_authors(author is not None)
    return ledger


@contextmanager
def _stays(charge: Charge | None) -> Iterator[None]:
    """Whatever interrupts the draws is told with what it cost."""
    try:
        yield
    except BaseException as error:
        if charge is not None and charge.run is not None:
            error.add_note(f"run {charge.run.number} stays charged to the ledger")
        raise


def _record(
    out: Path, documents: int, anonymizer: Anonymizer, corpus: Corpus, charge: Charge | None
) -> dict[str, Any]:
    """What is told of a release, for programs; `guarantee` is all of ``guarantee.json``."""
    run = None if charge is None else charge.run
    return {
        "out": str(out),
        "documents": documents,
        "broken_rows": corpus.bad,
        "terms_without_vector": anonymizer.vocabulary.dropped,
        "notes": list(anonymizer.notes),
        "ledger": run and {"run": run.number, "loss": run.loss / UNIT, "head": run.hash},
        "guarantee": json.loads((out / "guarantee.json").read_text(encoding="utf-8")),
    }


def _key(
    corpus: Corpus,
    guarantee: Guarantee,
    text: str,
    kept: Sequence[str],
    settings: Settings,
    ledger: Ledger | None,
    author: str | None,
) -> str:
    """A hash of all that a run depends on: only a run with the same may go on with its draft.

    The ledger too: documents that were charged to none, or to another, are not charged to it.
    """
    files = [paths.stamps(path) for path in corpus.paths if corpus.repeatable]
    parts = [
        __version__, files, corpus.kinds, corpus.encoding, corpus.bad_rows, text, list(kept),
        guarantee.as_dict(), settings.numbers, settings.idf, ledger and ledger.origin, author,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
