"""What `syntf evaluate` measures for one column of labels and one of authors."""

from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from syntf.cli import evaluation_tables, output
from syntf.cli.search_options import search_records, search_table
from syntf.cli.task_tables import label_task_records, print_label_tasks
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment import about, folder
from syntf.evaluation.experiment.corpus import LabelledCorpus, corpus_from_table
from syntf.evaluation.experiment.evaluator import (
    ALL_ATTACKERS,
    DOCUMENT_ATTACKERS,
    Evaluator,
)
from syntf.evaluation.experiment.experiment import Experiment
from syntf.evaluation.experiment.run_log import resumable
from syntf.evaluation.figures import save_figures
from syntf.evaluation.tasks.judgements import SearchTask
from syntf.evaluation.tasks.plots import share_figure, trend_figure
from syntf.evaluation.tasks.releases import releases_of
from syntf.evaluation.tasks.run import LabelTasks, measure_label_tasks, write_label_tasks
from syntf.evaluation.tasks.search import SEARCH, SearchResult, evaluate_search, write_search
from syntf.evaluation.tasks.tables import read_tasks
from syntf.pipeline.sample import Sample
from syntf.pipeline.settings import Settings
from syntf.report.page import REPORT_FILE, render_report
from syntf.report.verdict import judge


@dataclass(frozen=True)
class EvaluationRun:
    """The options of an evaluation that are the same for all columns.

    name : what the input is called.
    documents : the table of texts, labels and authors.
    sample, notices : what a look at the texts has shown, and sentences for their owner.
    """

    name: str
    documents: pl.DataFrame
    settings: Settings
    sample: Sample
    notices: list[str]
    runs: int
    min_test: int
    tagger: str | None
    scrub: bool
    force: bool
    as_json: bool
    quiet: bool

    def measure(
        self, columns: dict[str, Any], out: Path, search: SearchTask | None
    ) -> dict[str, Any]:
        """Measure predictions and tasks, write them to a folder and print them.

        columns : the arguments of :func:`corpus_from_table`.
        Returns what is printed with ``--json``.
        """
        settings, runs = self.settings, self.runs
        corpus = corpus_from_table(self.documents, **columns)
        evaluator, missing = Evaluator.prepare(corpus, self.tagger, min_test=self.min_test)
        notices = [*self.notices, *corpus.notices]
        notices += missing if columns["author"] is not None else []
        if columns["label"] is not None and evaluator.why_no_labels:
            notices.append(evaluator.why_no_labels)
        if evaluator.why_no_labels and not evaluator.scenarios:
            raise SyntfError(f"there is nothing to measure: {'; '.join(notices)}")
        with output.progress(self.quiet) as stages:
            attackers = DOCUMENT_ATTACKERS if settings.unit == "document" else ALL_ATTACKERS
            experiment = Experiment(corpus, evaluator, settings, runs, attackers, stages=stages)
            results, parameters = folder.evaluate_settings(
                experiment, out, force=self.force, scrub=self.scrub
            )
            with resumable():
                linkage, guarantee, table, rows = attack_release(corpus, settings, stages)
                tasks = measure_tasks(corpus, settings, evaluator, out, runs, stages)
                found = measure_search(search, settings, out, runs, notices, stages)
        folder.write_linkage(out, linkage)
        today = date.today().isoformat()
        about.write_about(out, about.describe_texts(corpus, self.name, today, rows))
        scores = replace(folder.read_evaluation(out, parameters), tasks=read_tasks(out))
        verdict = judge(scores, guarantee.loss_per_document if guarantee.private else None)
        html = render_report(guarantee, tasks.summary or table, evaluation=scores)
        (out / REPORT_FILE).write_bytes(html.encode())
        if not (self.as_json or self.quiet):
            evaluation_tables.print_heading([])
            evaluation_tables.print_verdict(verdict)
            evaluation_tables.print_notices(notices)
            chance = folder.read_chance(out)
            output.show(evaluation_tables.comparison_table(results, parameters, chance))
            output.say(
                f"{evaluation_tables.loss_text(results, parameters)}; "
                f"mean of {runs} run{'s' * (runs > 1)} ± standard deviation"
            )
            described = (f"{name} {value}" for name, value in self.sample.described())
            output.say(f"texts: {', '.join(described)}")
            if evaluator.scenarios:
                output.say(f"part-of-speech tags: {output.escape(experiment.tagger_name)}")
            if linkage:
                output.show(evaluation_tables.linkage_table(linkage))
                for line in evaluation_tables.first_guess_lines(linkage):
                    output.say(line)
            print_label_tasks(tasks)
            if found:
                output.show(search_table(found))
            evaluation_tables.print_folder("Results and figures", out)
        return {
            "note": evaluation_tables.HEADING,
            "notices": notices,
            "verdict": asdict(verdict),
            "sample": asdict(self.sample),
            **evaluation_tables.loss_record(results, parameters),
            "runs": runs,
            "tagger": experiment.tagger_name or None,
            "results": evaluation_tables.result_records(results),
            "linkage": [folder.linkage_row(attack) for attack in linkage],
            **label_task_records(tasks),
            "search": search_records(found),
            "out": str(out),
        }


def measure_tasks(
    corpus: LabelledCorpus,
    settings: Settings,
    evaluator: Evaluator,
    out: Path,
    runs: int,
    stages: Any,
) -> LabelTasks:
    """Measure clusters, labels, trends and prototypes; write their tables and figures."""
    releases = releases_of(corpus.texts, settings, stages, corpus.training_texts)
    tasks = measure_label_tasks(
        corpus, releases, labels=not evaluator.why_no_labels, runs=runs, stages=stages
    )
    write_label_tasks(out, tasks)
    figures = {}
    if tasks.shares:
        figures["shares"] = share_figure(tasks.shares)
    if tasks.trends:
        figures["trends"] = trend_figure(tasks.trends)
    save_figures(out, figures)
    return tasks


def measure_search(
    task: SearchTask | None,
    settings: Settings,
    out: Path,
    runs: int,
    notices: list[str],
    stages: Any,
) -> list[SearchResult]:
    """Measure search, if there is such a task; write ``search.csv`` and add to the notices."""
    if task is None:
        (out / SEARCH).unlink(missing_ok=True)  # of an earlier run with queries
        return []
    results, more = evaluate_search(task, settings, runs=runs, stages=stages)
    notices += [*task.notices, *more]
    write_search(out, results)
    return results


def attack_release(
    corpus: LabelledCorpus, settings: Settings, stages: Any
) -> tuple[list[Any], Any, Any, list[str]]:
    """Link texts with releases.

    Return the attacks, the guarantee, what a report shows of the mechanism, and some drawn rows.
    """
    some = [corpus.texts[place] for place in about.shown_documents(corpus).tolist()]
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
        rows = about.describe_rows(drawn, whole.outputs)
        return linkage, whole.guarantee(mechanism), summary, rows
    from syntf.evaluation.attack import linkage as words
    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.report.table_summary import summarize_table

    anonymizer = Anonymizer.build(settings, corpus.training_texts, stages=stages)
    linkage = list(words.attack_release(corpus, anonymizer, stages=stages))
    guarantee = anonymizer.guarantee()
    table = summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=guarantee.length)
    rows = about.describe_rows(anonymizer.anonymize(some), anonymizer.outputs)
    return linkage, guarantee, table, rows
