"""`syntf evaluate`: what releases of these texts keep for an analyst and reveal to attackers."""

from pathlib import Path
from typing import Any

import click

from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import (
    FILE,
    corpus_columns,
    corpus_options,
    evaluation_options,
    option,
    setting_option,
    setting_options,
    settings_from,
)


@click.command("evaluate", cls=ConfiguredCommand)
@click.argument("input", type=FILE, metavar="FILE")
@corpus_options
@option("--out", type=FILE, required=True, metavar="DIR", help="Folder for the results.")
@evaluation_options
@option("--scrub/--no-scrub", help="Also evaluate texts cleaned by scrubadub.")
@setting_options("preset", "length", "loss", "epsilon", "neighbours", "spelling", "morphology")
@setting_options("analyzer", "vocabulary")
@setting_option("fit_vocabulary", help="Take the vocabulary from the training texts.")
@setting_options(
    "min_df", "max_df", "max_size", "synsets", "vectors", "weights", "draws", "numbers"
)
def command(
    input: Path,
    out: Path,
    min_test: int,
    runs: int,
    scrub: bool,
    tagger: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Measure what a release of the texts in FILE keeps: topics, authors, or both.

    An analyst learns labels and attackers learn authors from the training texts. Both are tested
    on the other texts: as they are, as term vectors, and as synthetic vectors, which are drawn
    again for each run. DIR gets results.csv, scenarios.csv, linkage.csv, a report and figures. Run
    the same command again to continue an interrupted evaluation.

    \b
    Example:
      syntf evaluate mails.csv --label topic --author sender --out proof
    """
    from syntf.cli import evaluation_tables, output
    from syntf.core.errors import SyntfError
    from syntf.core.exact import shown
    from syntf.evaluation.attack.linkage import attack_release
    from syntf.evaluation.experiment import folder
    from syntf.evaluation.experiment.corpus import corpus_from_table
    from syntf.evaluation.experiment.evaluator import ALL_ATTACKERS, Evaluator
    from syntf.evaluation.experiment.experiment import Experiment
    from syntf.evaluation.experiment.run_log import resumable
    from syntf.evaluation.experiment.scrubbing import scrubber_version
    from syntf.inputs import corpus as inputs
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.report.page import REPORT_FILE, render_report
    from syntf.report.table_summary import summarize_table

    columns = corpus_columns(options)
    settings = settings_from(options)
    if columns["label"] is None and columns["author"] is None:
        raise SyntfError("nothing to predict: name a column with --label, --author or both")
    if scrub:
        scrubber_version()  # raises an error if scrubadub is not installed
    corpus = corpus_from_table(inputs.read(input), **columns)
    evaluator, missing = Evaluator.prepare(corpus, tagger, min_test=min_test)
    notices = [*corpus.notices, *(missing if columns["author"] is not None else [])]
    if columns["label"] is not None and evaluator.why_no_labels:
        notices.append(evaluator.why_no_labels)
    if evaluator.why_no_labels and not evaluator.scenarios:
        raise SyntfError(f"there is nothing to measure: {'; '.join(notices)}")
    with output.progress(quiet) as stages:
        experiment = Experiment(corpus, evaluator, settings, runs, ALL_ATTACKERS, stages=stages)
        results, parameters = folder.evaluate_settings(experiment, out, force=force, scrub=scrub)
        with resumable():
            anonymizer = Anonymizer.build(settings, corpus.training_texts, stages=stages)
            linkage = list(attack_release(corpus, anonymizer, stages=stages))
    folder.write_linkage(out, linkage)
    guarantee = anonymizer.guarantee()
    table = summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=guarantee.length)
    html = render_report(guarantee, table, evaluation=folder.read_evaluation(out, parameters))
    (out / REPORT_FILE).write_bytes(html.encode())
    if as_json:
        output.emit(
            {
                "note": evaluation_tables.HEADING,
                "notices": notices,
                **evaluation_tables.loss_record(results, parameters, settings),
                "runs": runs,
                "tagger": experiment.tagger_name or None,
                "results": evaluation_tables.result_records(results),
                "linkage": [folder.linkage_row(attack) for attack in linkage],
                "out": str(out),
            }
        )
    elif not quiet:
        evaluation_tables.print_heading(notices)
        output.show(evaluation_tables.comparison_table(results, parameters))
        loss = results.loss(parameters) or 0.0
        output.say(
            f"loss {shown(loss, 4)} per word, {shown(loss * settings.length, 2)} per document; "
            f"mean of {runs} run{'s' * (runs > 1)} ± standard deviation"
        )
        if evaluator.scenarios:
            output.say(f"part-of-speech tags: {output.escape(experiment.tagger_name)}")
        if linkage:
            output.show(evaluation_tables.linkage_table(linkage))
        evaluation_tables.print_folder("Results and figures", out)
