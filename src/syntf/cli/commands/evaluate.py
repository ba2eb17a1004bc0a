"""`syntf evaluate`: what releases of these texts keep for an analyst and reveal to attackers."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    accept_coverage,
    column_pairs,
    corpus_columns,
    corpus_options,
    evaluation_options,
    option,
    reader_from,
    reader_options,
    setting_option,
    setting_options,
    settings_from,
)
from syntf.cli.search_options import search_options, search_records, search_table, search_task
from syntf.pipeline.settings import Settings


@click.command("evaluate", cls=ConfiguredCommand)
@click.argument("input", type=click.Path(), metavar="FILE")
@corpus_options
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder for the results.")
@evaluation_options
@option("--scrub/--no-scrub", help="Also evaluate texts cleaned by scrubadub.")
@setting_options("preset", "document_loss", "codebook", "encoder", "pilot")
@setting_options("length", "loss", "epsilon", "neighbours", "spelling", "language", "morphology")
@setting_options("analyzer", "vocabulary")
@setting_option("fit_vocabulary", help="Take the vocabulary from the training texts.")
@setting_options(
    "min_df", "max_df", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
@search_options
@reader_options
@accept_coverage
def command(
    input: str,
    out: Path,
    min_test: int,
    runs: int,
    scrub: bool,
    tagger: str | None,
    accept_coverage: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Measure what a release of the texts in FILE keeps: topics, authors, or both.

    An analyst learns labels and attackers learn authors from the training texts. Both are tested
    on the other texts: as they are, as term vectors, and as synthetic vectors, which are drawn
    again for each run. The verdict comes first: the main figures in plain words, each with a
    traffic light. DIR gets results.csv, scenarios.csv, linkage.csv, chance.csv, a report and
    figures. Run the same command again to continue an interrupted evaluation.

    With labels, DIR also gets clusters.csv (do documents that are grouped without labels have the
    same label?) and labels.csv (which labels survive); with --time trends.csv: the share of each
    label over time, estimated from a release. Several label or author columns are evaluated one
    after the other, each in a folder of its own inside DIR.

    With --queries and --relevance, plain queries are also searched in the texts, in the term
    vectors and in releases, and DIR gets search.csv. This needs no labels and no authors.

    By default a release has a loss per document. Then all texts are released together, as syntf
    anonymize releases them, and one more analyst and one more attacker know the public lists and
    the noise.

    \b
    Examples:
      syntf evaluate mails.csv --label topic --author sender --out proof
      syntf evaluate mails.csv --label topic --document-loss 6 --out proof
      syntf evaluate a.csv --label topic --time year --split-by time --out proof
      syntf evaluate a.csv --id id --queries q.csv --relevance r.csv --out proof
    """
    from syntf.cli import output
    from syntf.core.errors import SyntfError
    from syntf.evaluation.experiment.scrubbing import scrubber_version
    from syntf.inputs import corpus as inputs
    from syntf.inputs.columns import texts
    from syntf.pipeline.sample import language_of, look_with, refuse_unreadable

    columns = corpus_columns(options)
    labels, authors = columns.pop("label"), columns.pop("author")
    reader = reader_from(options)
    settings = settings_from(options)
    cases = column_pairs(labels, authors)
    if not cases and options["queries"] is None:
        raise SyntfError("nothing to predict: name a column with --label, --author or both")
    if scrub:
        scrubber_version()  # raises an error if scrubadub is not installed
    documents = inputs.read(input, **reader)
    searches = search_task(options, documents, columns["text"])
    sample = look_with(settings, texts(documents, columns["text"]))
    language = language_of(settings)
    if not accept_coverage:
        refuse_unreadable(sample, language, done="measured")
    notices = [*reader["notices"], *sample.problems(language)]
    if not cases:
        _only_search(searches, settings, out, runs, notices, force, as_json, quiet)
        return
    from syntf.cli.evaluation_run import EvaluationRun

    run = EvaluationRun(
        inputs.name_of(input), documents, settings, sample, notices, runs, min_test, tagger, scrub,
        force, as_json, quiet,
    )  # fmt: skip
    records = {}
    for name, label, author in cases:
        place = out / name if name else out
        if name and not (quiet or as_json):
            output.say(f"\n[bold]{output.escape(name)}[/]")
        records[name] = run.measure({**columns, "label": label, "author": author}, place, searches)
        searches = None  # it is measured once
    if as_json:
        output.emit({"evaluations": records} if len(records) > 1 else records[""])


def _only_search(
    task: Any,
    settings: Settings,
    out: Path,
    runs: int,
    notices: list[str],
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure search alone, for texts without labels and authors."""
    from syntf.cli import evaluation_tables, output
    from syntf.cli.evaluation_run import measure_search
    from syntf.evaluation.experiment.folder import check_folder
    from syntf.evaluation.tasks.search import SEARCH

    check_folder(out, (SEARCH,), force=force)
    out.mkdir(parents=True, exist_ok=True)
    with output.progress(quiet) as stages:
        found = measure_search(task, settings, out, runs, notices, stages)
    if as_json:
        record = {"notices": notices, "runs": runs, "search": search_records(found)}
        output.emit({"note": evaluation_tables.HEADING, **record, "out": str(out)})
    elif not quiet:
        evaluation_tables.print_heading(notices)
        output.show(search_table(found))
        evaluation_tables.print_folder("Results", out)
