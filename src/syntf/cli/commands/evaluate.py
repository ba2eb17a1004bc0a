"""`syntf evaluate`: what releases of these texts keep for an analyst and reveal to attackers."""

from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    accept_coverage,
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
@setting_options("length", "loss", "epsilon", "neighbours", "spelling", "morphology")
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

    With --queries and --relevance, plain queries are also searched in the texts, in the term
    vectors and in releases, and DIR gets search.csv. This needs no labels and no authors.

    With --document-loss all texts are released together, as syntf anonymize releases them. One more
    analyst and one more attacker then know the public lists and the noise.

    \b
    Examples:
      syntf evaluate mails.csv --label topic --author sender --out proof
      syntf evaluate mails.csv --label topic --document-loss 10 --out proof
      syntf evaluate docs.csv --id id --queries q.csv --relevance judged.csv --out proof
    """
    from syntf.cli import evaluation_tables, output
    from syntf.core.errors import SyntfError
    from syntf.evaluation.experiment import about, folder
    from syntf.evaluation.experiment.corpus import corpus_from_table
    from syntf.evaluation.experiment.evaluator import (
        ALL_ATTACKERS,
        DOCUMENT_ATTACKERS,
        Evaluator,
    )
    from syntf.evaluation.experiment.experiment import Experiment
    from syntf.evaluation.experiment.run_log import resumable
    from syntf.evaluation.experiment.scrubbing import scrubber_version
    from syntf.inputs import corpus as inputs
    from syntf.inputs.columns import texts
    from syntf.pipeline.sample import knows_english, look_with, refuse_unreadable
    from syntf.report.page import REPORT_FILE, render_report
    from syntf.report.verdict import judge

    columns = corpus_columns(options)
    reader = reader_from(options)
    settings = settings_from(options)
    predicts = columns["label"] is not None or columns["author"] is not None
    if not predicts and options["queries"] is None:
        raise SyntfError("nothing to predict: name a column with --label, --author or both")
    if scrub:
        scrubber_version()  # raises an error if scrubadub is not installed
    documents = inputs.read(input, **reader)
    searches = search_task(options, documents, columns["text"])
    sample = look_with(settings, texts(documents, columns["text"]))
    english = knows_english(settings)
    if not accept_coverage:
        refuse_unreadable(sample, english=english, done="measured")
    if not predicts:
        notices = [*reader["notices"], *sample.problems(english=english)]
        _only_search(searches, settings, out, runs, notices, force, as_json, quiet)
        return
    corpus = corpus_from_table(documents, **columns)
    evaluator, missing = Evaluator.prepare(corpus, tagger, min_test=min_test)
    notices = [
        *reader["notices"],
        *corpus.notices,
        *sample.problems(english=english),
        *(missing if columns["author"] is not None else []),
    ]
    if columns["label"] is not None and evaluator.why_no_labels:
        notices.append(evaluator.why_no_labels)
    if evaluator.why_no_labels and not evaluator.scenarios:
        raise SyntfError(f"there is nothing to measure: {'; '.join(notices)}")
    with output.progress(quiet) as stages:
        attackers = DOCUMENT_ATTACKERS if settings.unit == "document" else ALL_ATTACKERS
        experiment = Experiment(corpus, evaluator, settings, runs, attackers, stages=stages)
        results, parameters = folder.evaluate_settings(experiment, out, force=force, scrub=scrub)
        with resumable():
            linkage, guarantee, table, rows = _attack_release(corpus, settings, stages)
            found = _search(searches, settings, out, runs, notices, stages)
    folder.write_linkage(out, linkage)
    name, today = inputs.name_of(input), date.today().isoformat()
    about.write_about(out, about.describe_texts(corpus, name, today, rows))
    scores = folder.read_evaluation(out, parameters)
    verdict = judge(scores, guarantee.loss_per_document if guarantee.private else None)
    html = render_report(guarantee, table, evaluation=scores)
    (out / REPORT_FILE).write_bytes(html.encode())
    if as_json:
        output.emit(
            {
                "note": evaluation_tables.HEADING,
                "notices": notices,
                "verdict": asdict(verdict),
                "sample": asdict(sample),
                **evaluation_tables.loss_record(results, parameters),
                "runs": runs,
                "tagger": experiment.tagger_name or None,
                "results": evaluation_tables.result_records(results),
                "linkage": [folder.linkage_row(attack) for attack in linkage],
                "search": search_records(found),
                "out": str(out),
            }
        )
    elif not quiet:
        evaluation_tables.print_heading([])
        evaluation_tables.print_verdict(verdict)
        evaluation_tables.print_notices(notices)
        chance = folder.read_chance(out)
        output.show(evaluation_tables.comparison_table(results, parameters, chance))
        output.say(
            f"{evaluation_tables.loss_text(results, parameters)}; "
            f"mean of {runs} run{'s' * (runs > 1)} ± standard deviation"
        )
        output.say(f"texts: {', '.join(f'{name} {value}' for name, value in sample.described())}")
        if evaluator.scenarios:
            output.say(f"part-of-speech tags: {output.escape(experiment.tagger_name)}")
        if linkage:
            output.show(evaluation_tables.linkage_table(linkage))
            for line in evaluation_tables.first_guess_lines(linkage):
                output.say(line)
        if found:
            output.show(search_table(found))
        evaluation_tables.print_folder("Results and figures", out)


def _search(
    task: Any, settings: Settings, out: Path, runs: int, notices: list[str], stages: Any
) -> list[Any]:
    """Measure search, if there is such a task; write ``search.csv`` and add to the notices."""
    if task is None:
        return []
    from syntf.evaluation.tasks.search import evaluate_search, write_search

    results, more = evaluate_search(task, settings, runs=runs, stages=stages)
    notices += [*task.notices, *more]
    write_search(out, results)
    return results


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
    from syntf.evaluation.experiment.folder import check_folder
    from syntf.evaluation.tasks.search import SEARCH

    check_folder(out, (SEARCH,), force=force)
    out.mkdir(parents=True, exist_ok=True)
    with output.progress(quiet) as stages:
        found = _search(task, settings, out, runs, notices, stages)
    if as_json:
        record = {"notices": notices, "runs": runs, "search": search_records(found)}
        output.emit({"note": evaluation_tables.HEADING, **record, "out": str(out)})
    elif not quiet:
        evaluation_tables.print_heading(notices)
        output.show(search_table(found))
        evaluation_tables.print_folder("Results", out)


def _attack_release(
    corpus: Any, settings: Settings, stages: Any
) -> tuple[list[Any], Any, Any, list[str]]:
    """Link texts with releases.

    Return the attacks, the guarantee, what a report shows of the mechanism, and some drawn rows.
    """
    from syntf.evaluation.experiment.about import describe_rows, shown_documents

    some = [corpus.texts[place] for place in shown_documents(corpus).tolist()]
    if settings.unit == "document":
        from syntf.evaluation.attack.document_linkage import attack_document_release
        from syntf.pipeline.document import DocumentAnonymizer
        from syntf.report.document_summary import DocumentSummary

        whole = DocumentAnonymizer.build(settings, stages=stages)
        linkage = list(attack_document_release(corpus, whole, stages=stages))
        mechanism = whole.mechanism(len(corpus))
        kept = float(mechanism.response(mechanism.general).keep_probability)
        summary = DocumentSummary(kept, len(mechanism.general), 0, [])
        drawn, _ = whole.single.described(whole.draw_singly(whole.read(some)))
        rows = describe_rows(drawn, whole.outputs)
        return linkage, whole.guarantee(mechanism), summary, rows
    from syntf.evaluation.attack.linkage import attack_release
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.report.table_summary import summarize_table

    anonymizer = Anonymizer.build(settings, corpus.training_texts, stages=stages)
    linkage = list(attack_release(corpus, anonymizer, stages=stages))
    guarantee = anonymizer.guarantee()
    table = summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=guarantee.length)
    return linkage, guarantee, table, describe_rows(anonymizer.anonymize(some), anonymizer.outputs)
