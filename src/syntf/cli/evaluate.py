"""`syntf evaluate`: what a release keeps of these texts for an analyst, and for an attacker."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from syntf.cli import console
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.evaluation.attack import linkage, tagging
from syntf.evaluation.attack.scenarios import scenarios
from syntf.evaluation.experiment import folder, scrubbing
from syntf.evaluation.experiment.experiment import SCRUBBING, Experiment
from syntf.evaluation.experiment.judge import EVERY, Judge
from syntf.evaluation.experiment.labelled import labelled
from syntf.evaluation.experiment.paper import MODELS, Cell
from syntf.evaluation.experiment.reported import evaluated
from syntf.evaluation.experiment.results import Result, Results, floor, gain, relative, strongest
from syntf.inputs import corpus as corpora
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.bounds import document_loss
from syntf.report.page import NAME as REPORT
from syntf.report.page import page
from syntf.report.portrait import portrait

HEADING = "For the owner of the texts: exact figures, no part of any release."
METHODS = {"original": "original", "vectorised": "vectors", "scrubadub": "scrubbed",
           "scrubadub-names": "no names", "syntf": "SynTF"}  # fmt: skip
LINKED = {
    ("document", "syntf"): "a text and its release",
    ("membership", "syntf"): "a text, released or not",
    ("author", "vectorised"): "an author's two texts",
    ("author", "syntf"): "  a text and a release",
    ("author-releases", "syntf"): "  two releases",
}


def run(
    input: Path,
    out: Path,
    *,
    text: str,
    label: str | None,
    author: str | None,
    split: str | None,
    test_share: float,
    min_test: int,
    runs: int,
    scrub: bool,
    tagger: str | None,
    force: bool,
    as_json: bool = False,
    quiet: bool,
    settings: Settings,
) -> None:
    if label is None and author is None:
        raise SyntfError(
            "name a column with --label, --author or both: what is to be told of texts"
        )
    if scrub:
        scrubbing.version()  # is it there?
    corpus = labelled(
        corpora.read(input), text=text, label=label, author=author, split=split,
        test_share=test_share,
    )  # fmt: skip
    suspects, lacking = scenarios(corpus, min_test=min_test) if author else ([], [])
    judge = Judge.of(corpus, suspects, choose_tagger(tagger) if suspects else None)
    notices = [*corpus.notices, *lacking]
    if label is not None and judge.unlabelled:
        notices.append(judge.unlabelled)
    if judge.unlabelled and not suspects:
        raise SyntfError(f"there is nothing to measure: {'; '.join(notices)}")
    with console.progress(quiet) as stages:
        experiment = Experiment(corpus, judge, settings, runs, EVERY, stages=stages)
        found, cell = measure(experiment, out, force=force, scrub=scrub)
        with console.resumable():
            anonymizer = Anonymizer.build(settings, corpus.seen, stages=stages)
            linked = list(linkage.measure(corpus, anonymizer, stages=stages))
    folder.write_linkage(out, linked)
    guarantee = anonymizer.guarantee()
    seen = portrait(anonymizer.mechanism, anonymizer.vocabulary, length=guarantee.length)
    made = page(guarantee, seen, evaluated=evaluated(out, cell))
    (out / REPORT).write_bytes(made.encode())
    if as_json:
        console.emit(
            {
                "note": HEADING,
                "notices": notices,
                **losses(found, cell, settings),
                "runs": runs,
                "tagger": experiment.tagger_name if suspects else None,
                "results": rows(found),
                "linkage": [folder.linkage_row(one) for one in linked],
                "out": str(out),
            }
        )
    elif not quiet:
        console.out.print(HEADING)
        for notice in notices:
            console.out.print(f"[yellow]![/] {escape(notice)}")
        console.show(comparison(found, cell))
        loss = found.loss(cell) or 0.0
        console.out.print(
            f"loss {shown(loss, 4)} a word, {shown(loss * settings.length, 2)} a document; mean of "
            f"{runs} runs ± standard deviation"
        )
        if suspects:
            console.out.print(f"part-of-speech tags: {escape(experiment.tagger_name)}")
        if linked:
            console.show(links(linked))
        console.out.print(f"Results and figures written to {escape(str(out))}", soft_wrap=True)


def losses(found: Results, cell: Cell, settings: Settings) -> dict[str, Any]:
    """What the evaluated release spends, as ``guarantee.json`` has it but for the bounds."""
    tight = found.loss(cell) or 0.0
    return {
        "loss_per_word": {"tight": tight},
        "loss_per_document": document_loss(tight, settings.length),
    }


def rows(found: Results) -> list[dict[str, Any]]:
    """The lines of ``results.csv``; what a method has no parameter for is null."""
    return [
        {name: None if value == "" else value for name, value in asdict(one).items()}
        for one in found
    ]


def measure(
    experiment: Experiment, out: Path, *, force: bool = False, scrub: bool = False
) -> tuple[Results, Cell]:
    """One cell, its settings, with results and figures in a folder."""
    settings, corpus = experiment.settings, experiment.corpus
    if settings.loss is not None:
        found_for = Anonymizer.build(settings, corpus.seen, stages=experiment.stages).mechanism
        settings = settings.changed(epsilon=found_for.epsilon)
        experiment = replace(experiment, settings=settings)
    cell = Cell(*(getattr(settings, name) for name in Cell._fields))
    log = folder.open_log(out, experiment.key, force=force)
    with console.resumable():
        for _ in experiment.run(log, [cell], tuple(SCRUBBING) if scrub else ()):
            found = folder.write_results(out, log, experiment.judge.scenarios)
    folder.draw(out, found, cell)
    return found, cell


def choose_tagger(name: str | None) -> tagging.SpacyTagger | tagging.PatternTagger:
    return tagging.default_tagger() if name is None else tagging.tagger(name)


def comparison(found: Results, cell: Cell) -> Table:
    """Analyst and attacker before and after: F1, and how much of it is kept.

    Of the attackers, the paper's, then whoever is best on the release, and the floor: what the
    true topic alone tells of the author.
    """
    methods = [method for method in METHODS if method in found.methods]
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("F1")
    for method in methods:
        table.add_column(METHODS[method], justify="right")
    table.add_column("kept", justify="right")
    table.add_column("gain", justify="right")

    def add(name: str, scores: list[Result | None], gained: str = "") -> None:
        if any(scores):
            table.add_row(name, *map(_f1, scores), _kept(scores), gained)

    for model in MODELS:
        add(f"analyst {model}", [found.utility(method, model, cell) for method in methods])
    for scenario in found.scenarios:
        table.add_row(f"[bold]{scenario}[/]")
        for model in MODELS:
            won = gain(found, cell, scenario, model)
            gained = "" if won is None else f"{won.utility - won.attack:+.0%}".replace("-", "−")
            attacks = [found.attack(method, model, scenario, cell) for method in methods]
            add(f"  writeprints {model}", attacks, gained)
        top = strongest(found, cell, scenario)
        if top and top.attacker != "writeprints":
            attacks = [
                found.attack(method, top.model, scenario, cell, attacker=top.attacker)
                for method in methods
            ]
            add(f"  best: {top.attacker}", attacks)
        least = floor(found, scenario)
        if least:
            table.add_row("  topic alone", *[_f1(least)] * len(methods))
    return table


def links(linked: Iterable[linkage.Linked]) -> Table:
    """Areas under the curve, and pairs found at 1 % and 0.1 % of false positives."""
    rates: dict[str, list[str]] = {}
    for one in linked:
        found = (one.found.auc, one.found.tpr_at_1pct, one.found.tpr_at_01pct)
        rates.setdefault(LINKED[one.task, one.method], []).extend(map(_rate, found))
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("linked")
    for name in ("any", "same label")[: max(map(len, rates.values())) // 3]:
        for column in (name, "at 1%", "at 0.1%"):
            table.add_column(column, justify="right")
    for name, row in rates.items():
        table.add_row(name, *row)
    table.add_row("by chance", *[".500", ".010", ".001"] * 2)
    return table


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def _f1(result: Result | None) -> str:
    if result is None:
        return "–"
    spread = "" if result.f1_std is None else f" ± {result.f1_std:.2f}".replace("0.", ".")
    return _rate(result.f1) + spread


def _kept(results: list[Result | None]) -> str:
    share = relative(results[-1], results[0])
    return "–" if share is None else f"{share:.0%}"
