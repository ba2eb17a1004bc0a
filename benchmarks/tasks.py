"""Measure what releases keep for several tasks, and write the table of docs/tasks.md.

    python benchmarks/tasks.py CORPORA [--newsgroups DATA_HOME] [--only TASK ...] [--runs 3]
    python benchmarks/tasks.py --table              # print the table from benchmarks/tasks.json
    python benchmarks/tasks.py --page docs/tasks.md # write the table into the page

CORPORA is a folder with the files that docs/tasks.md names; a task whose file is missing is
skipped. DATA_HOME is a data home of scikit-learn with 20 newsgroups, of which only the training
half is used. Rows that were measured replace the same rows of benchmarks/tasks.json; other rows
stay, so tasks and languages can be measured one at a time. A row has the keys of `ROW`.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from email import message_from_string
from pathlib import Path
from statistics import fmean, stdev
from time import process_time

import numpy as np
import polars as pl
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import CountVectorizer

from syntf.evaluation.analysts import chance_f1, predict_all_labels
from syntf.evaluation.experiment.corpus import LabelledCorpus, corpus_from_table
from syntf.evaluation.experiment.evaluator import Evaluator
from syntf.evaluation.informed import ReleasedEntries
from syntf.evaluation.tasks.clustering import score_clusters
from syntf.evaluation.tasks.judgements import read_search_task
from syntf.evaluation.tasks.releases import DocumentReleases, releases_of
from syntf.evaluation.tasks.search import evaluate_search
from syntf.evaluation.tasks.trends import label_shares, periods_of, score_trends
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.research.markdown import MISSING, markdown_table

FIGURES = Path(__file__).parent / "tasks.json"
ROW = ("task", "measure", "corpus", "language", "unit", "loss", "original", "released", "deviation",
       "chance", "documents", "runs")  # fmt: skip
KEY = ("task", "measure", "corpus", "language", "unit", "loss")
BEGIN, END = "<!-- table: python benchmarks/tasks.py --page docs/tasks.md -->", "<!-- end -->"

UNITS = {
    "document, 10": Settings.from_preset(document_loss=10.0),
    "document, 20": Settings.from_preset(document_loss=20.0),
    "document, 40": Settings.from_preset(document_loss=40.0),
    "words": Settings.from_preset("words"),
}
OTHER_UNITS = {
    "words, 30 draws": Settings.from_preset("words", length=30),
    "words, 500 draws": Settings.from_preset("words", length=500),
}
"""Measured only if they are named: for short and for long texts."""
Row = dict[str, object]


def loss_of(settings: Settings) -> float:
    """Return the largest loss of a document."""
    if settings.unit == "document":
        return float(settings.document_loss or 0)
    return float(settings.loss or 0) * float(settings.length)


def row(
    task: str, measure: str, corpus: str, settings: Settings, original: float,
    released: list[float], chance: float, documents: int, language: str = "English",
) -> Row:  # fmt: skip
    """Return a row of the table; `released` has a score for each run."""
    return {
        "task": task, "measure": measure, "corpus": corpus, "language": language,
        "unit": settings.unit, "loss": loss_of(settings), "original": round(original, 4),
        "released": round(fmean(released), 4),
        "deviation": round(stdev(released), 4) if len(released) > 1 else None,
        "chance": round(chance, 4), "documents": documents, "runs": len(released),
    }  # fmt: skip


def measure_labels(
    task: str, name: str, corpus: LabelledCorpus, runs: int, language: str = "English",
    units: dict[str, Settings] = UNITS, clusters: bool = False,
) -> Iterator[Row]:  # fmt: skip
    """Yield how well labels are predicted, by the best analyst, and how well clusters fit them."""
    evaluator = Evaluator.for_corpus(corpus)
    original = max(one.f1 for one in evaluator.score_texts(corpus.texts, ()))
    known = corpus.labels != ""
    chance = chance_f1(*(corpus.labels[known & part] for part in (corpus.train, ~corpus.train)))
    grouped = None
    if clusters:
        counts = CountVectorizer().fit_transform(corpus.texts)
        grouped = score_clusters(counts, corpus.labels)
    for settings in units.values():
        releases = releases_of(corpus.texts, settings, fit=corpus.training_texts)
        by_model: dict[str, list[float]] = {}
        found = []
        for run in range(runs):
            release = releases.draw()
            entries = None if release.drawn is None else ReleasedEntries.of(release.drawn)
            scores = evaluator.score_counts(release.counts, (), (), run, entries)
            for score in scores:
                by_model.setdefault(score.model, []).append(score.f1)
            if grouped:
                found.append(score_clusters(release.counts, corpus.labels))
        best = max(by_model.values(), key=fmean)
        yield row(task, "F1", name, settings, original, best, chance, len(corpus), language)
        for measure in ("nmi", "ari") if grouped else ():
            values = [getattr(one, measure) for one in found]
            before = getattr(grouped, measure)
            yield row("clusters", measure.upper(), name, settings, before, values, 0.0, len(corpus),
                      language)  # fmt: skip


def measure_opinions(corpora: Path, runs: int) -> Iterator[Row]:
    """Yield how well sentiment is predicted from releases with the preset sentiment."""
    units = {
        str(loss): Settings.from_preset("sentiment", document_loss=loss)
        for loss in (4.0, 6.0, 10.0)
    }
    for name, file in (("movie reviews", "movie_reviews"),
                       ("sentences of reviews", "sentence_polarity")):  # fmt: skip
        corpus = read_labels(corpora / f"{file}.csv.gz")
        title = f"{name}, `--preset sentiment`"
        yield from measure_labels("sentiment", title, corpus, runs, units=units)


def measure_search(name: str, start: Path, runs: int) -> Iterator[Row]:
    """Yield how well queries find documents in the texts and in releases."""
    documents = pl.read_csv(f"{start}_docs.csv.gz", infer_schema=False)
    files = (Path(f"{start}_{kind}.csv.gz") for kind in ("queries", "qrels"))
    task = read_search_task(documents, *files, text="text", id="id")
    for settings in UNITS.values():
        releases = releases_of(task.texts, settings)
        found = [
            {one.method: one.score for one in evaluate_search(
                task, settings, runs=1, releases=releases)[0]}
            for _ in range(runs)
        ]  # fmt: skip
        for measure, title in (
            ("mean_average_precision", "MAP"), ("ndcg_at_10", "nDCG@10"),
            ("recall_at_100", "recall@100"),
        ):  # fmt: skip
            before, chance = (getattr(found[0][one], measure) for one in ("original", "chance"))
            after = [getattr(one["syntf"], measure) for one in found]
            yield row("search", title, name, settings, before, after, chance, len(task.texts))


def measure_trends(name: str, corpus: LabelledCorpus, runs: int) -> Iterator[Row]:
    """Yield the mean error of the shares of labels in periods, corrected; smaller is better.

    Chance is whoever takes the shares of the training documents for those of every period.
    """
    assert corpus.times is not None
    periods, names = periods_of(corpus.times.tolist())

    def scored(counts) -> tuple[float, float, float]:
        predicted = predict_all_labels(counts, corpus.labels, corpus.train)
        return score_trends(label_shares(predicted, corpus.labels, corpus.train, periods, names))

    counts = CountVectorizer().fit(corpus.training_texts).transform(corpus.texts)
    original = scored(counts)
    kinds, sizes = np.unique(corpus.labels[corpus.train], return_counts=True)
    usual = dict(zip(kinds.tolist(), sizes / sizes.sum(), strict=True))
    rows = label_shares(corpus.labels, corpus.labels, corpus.train, periods, names)
    chance = fmean(abs(one.truth - usual[one.label]) for one in rows)
    for settings in UNITS.values():
        releases = releases_of(corpus.texts, settings, fit=corpus.training_texts)
        found = [scored(releases.draw().counts) for _ in range(runs)]
        for measure, place, by_chance in (
            ("mean error", 1, chance), ("error, not corrected", 0, chance),
            ("95 % intervals that hold", 2, 0.95),
        ):  # fmt: skip
            values = [one[place] for one in found]
            yield row("label shares over time", measure, name, settings, original[place], values,
                      by_chance, len(corpus))  # fmt: skip


def measure_long(name: str, corpus: LabelledCorpus, words: int, runs: int) -> Iterator[Row]:
    """Yield how well the topic of long texts is predicted: texts of a label, joined to `words`."""
    texts, labels, train = [], [], []
    for part in (True, False):
        for label in sorted(set(corpus.labels.tolist())):
            own = np.flatnonzero((corpus.labels == label) & (corpus.train == part)).tolist()
            joined: list[str] = []
            for place in own * (1 if words <= 3_000 else 12):  # long ones overlap
                joined += corpus.texts[place].split()
                if len(joined) >= words:
                    texts.append(" ".join(joined[:words]))
                    labels.append(label)
                    train.append(part)
                    joined = []
    whole = LabelledCorpus(texts, np.array(labels), np.full(len(texts), ""), np.array(train))
    yield from measure_labels("long texts", name, whole, runs)
    for settings in UNITS.values() if words > 3_000 else ():  # shorter ones take no time
        releases = releases_of(texts[:2], settings)
        begin = process_time()
        if isinstance(releases, DocumentReleases):
            DocumentAnonymizer.build(settings).read(texts)
        else:
            releases.vectorise(texts)
        seconds = (process_time() - begin) / len(texts)
        yield row("long texts", "CPU seconds to read a text", name, settings, seconds, [seconds],
                  0.0, len(texts))  # fmt: skip


def read_newsgroups(home: Path, **options) -> LabelledCorpus:
    """Read the training half of 20 newsgroups, with the thread of each message."""
    raw, plain = (
        fetch_20newsgroups(data_home=home, subset="train", shuffle=False, remove=remove,
                           download_if_missing=False)
        for remove in ((), ("headers", "footers", "quotes"))
    )  # fmt: skip
    rows = []
    for message, text, target in zip(raw.data, plain.data, raw.target, strict=True):
        head = message_from_string(message)
        thread = re.sub(r"(?i)^(re:\s*)+", "", str(head.get("Subject", ""))).strip().lower()
        rows.append((text, raw.target_names[target], thread))
    table = pl.DataFrame(rows, schema=["text", "label", "thread"], orient="row")
    return corpus_from_table(table, text="text", label="label", test_share=1 / 3, **options)


def with_periods(corpus: LabelledCorpus, periods: int = 8) -> LabelledCorpus:
    """Give documents made-up periods, so that the share of each label rises and falls.

    The messages have no dates. Label number l of n has the weight 1 + 0.8·cos(2π(p/periods + l/n))
    in period p, and its documents are dealt out in this proportion.
    """
    times = np.full(len(corpus), "", dtype="<U2")
    names = np.unique(corpus.labels)
    for number, label in enumerate(names):
        phase = np.arange(periods) / periods + number / len(names)
        ends = np.cumsum(1 + 0.8 * np.cos(2 * np.pi * phase))
        for part in (True, False):
            own = np.flatnonzero((corpus.labels == label) & (corpus.train == part))
            places = (np.arange(len(own)) + 0.5) / len(own) * ends[-1]
            times[own] = np.searchsorted(ends, places).astype(str)
    return replace(corpus, times=times)


def read_labels(path: Path, language: str | None = None, **options) -> LabelledCorpus:
    """Read a corpus with the columns text and label, two thirds of it for training."""
    table = pl.read_csv(path, infer_schema=False)
    if language is not None:
        table = table.filter(pl.col("language") == language)
    return corpus_from_table(table, text="text", label="label", test_share=1 / 3, **options)


def read_speeches(path: Path, **options) -> LabelledCorpus:
    """Read pieces of State of the Union addresses, labelled by the party of the president.

    The file has no dates, but the pieces are in the order of time.
    """
    table = pl.read_csv(path, infer_schema=False).with_columns(
        party=pl.col("author").is_in(DEMOCRATS).cast(pl.String),
        place=pl.int_range(pl.len()).cast(pl.String),
    )
    return corpus_from_table(table, text="text", label="party", test_share=1 / 3, **options)


def read_addresses(path: Path) -> LabelledCorpus:
    """Read whole State of the Union addresses, put together from their pieces, by decade."""
    table = pl.read_csv(path, infer_schema=False).with_columns(
        address=pl.col("text").str.contains(HEADING).cum_sum()
    )
    whole = table.group_by("address", maintain_order=True).agg(
        pl.col("text").str.join(" "), pl.col("label").first()
    )
    return corpus_from_table(whole, text="text", label="label", test_share=1 / 3)


def first_words(corpus: LabelledCorpus, count: int) -> LabelledCorpus:
    """Keep the first words of each text that are longer than three letters: short queries."""
    texts = [" ".join([w for w in text.split() if len(w) > 3][:count]) for text in corpus.texts]
    return LabelledCorpus(texts, corpus.labels, corpus.authors, corpus.train)


DEMOCRATS = ["Truman", "Kennedy", "Johnson", "Carter", "Clinton"]
HEADING = (
    r"^(PRESIDENT [A-Z .']+'S |SPECIAL MESSAGE|ADDRESS |STATE OF THE UNION ADDRESS|Address on|"
    "Annual Message)"
)
"""What the first piece of an address begins with."""

SPEECHES = "State of the Union, 200 words"
GROUPS = "20 newsgroups, training half"
TITLES = "Stack Overflow titles"
NEWS = "MasakhaNEWS"
SIB = "SIB-200 sentences"


def tasks(corpora: Path, home: Path | None, runs: int) -> dict[str, Callable[[], Iterator[Row]]]:
    """Return what can be measured, by name."""

    def labels(task: str, name: str, file: str, clusters: bool = False, **options):
        corpus = read_labels(corpora / file, **options)
        return measure_labels(task, name, corpus, runs, clusters=clusters)

    def short(words: int):
        corpus = first_words(read_labels(corpora / "stackoverflow_titles.csv.gz"), words)
        name = f"{TITLES}, first {words} words"
        return measure_labels("short texts", name, corpus, runs)

    def party(name: str, **options):
        corpus = read_speeches(corpora / "state_union_200w.csv.gz", **options)
        return measure_labels("party of a speaker", name, corpus, runs)

    def groups(task: str, name: str = GROUPS, clusters: bool = False, **options):
        corpus = read_newsgroups(home, **options)
        return measure_labels(task, name, corpus, runs, clusters=clusters)

    found = {
        "news": lambda: labels("topics", NEWS, "english_masakhanews.csv.gz", True),
        "titles": lambda: labels("short texts", TITLES, "stackoverflow_titles.csv.gz"),
        "sentences": lambda: labels(
            "topics", SIB, "sib200_14languages.csv.gz", language="eng_Latn"
        ),
        "movies": lambda: labels("sentiment", "movie reviews", "movie_reviews.csv.gz"),
        "polarity": lambda: labels("sentiment", "sentences of reviews", "sentence_polarity.csv.gz"),
        "opinions": lambda: measure_opinions(corpora, runs),
        "decades": lambda: labels("decade of a speech", SPEECHES, "state_union_200w.csv.gz"),
        "addresses": lambda: measure_labels(
            "long texts: decade of a speech",
            "State of the Union, whole addresses",
            read_addresses(corpora / "state_union_200w.csv.gz"),
            max(runs, 10),
        ),
        "party": lambda: party(SPEECHES),
        "party by time": lambda: party(
            f"{SPEECHES}, split by time", group="author", time="place", split_by="time"
        ),
        "cranfield": lambda: measure_search("Cranfield", corpora / "ir_cran", runs),
        "npl": lambda: measure_search("NPL", corpora / "ir_npl", runs),
        "short": lambda: short(3),
    }
    if home is not None:
        found |= {
            "newsgroups": lambda: groups("topics", clusters=True),
            "threads": lambda: groups("topics", f"{GROUPS}, split by thread", group="thread"),
            "trends": lambda: measure_trends(
                f"{GROUPS}, periods made up", with_periods(read_newsgroups(home)), runs
            ),
            "10 pages": lambda: measure_long(
                "20 newsgroups, joined to 10 pages", read_newsgroups(home), 3_000, runs
            ),
            "100 pages": lambda: measure_long(
                "20 newsgroups, joined to 100 pages", read_newsgroups(home), 30_000, runs
            ),
        }
    return found


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""

    def number(value: object) -> str:
        return MISSING if value is None else f"{value:.3f}".removeprefix("0")

    cells = []
    for one in sorted(rows, key=lambda one: [str(one[name]) for name in KEY[:4]] + [one["loss"]]):
        spread = "" if one["deviation"] is None else f" ± {number(one['deviation'])}"
        cells.append(
            [f"{one['task']}, {one['measure']}", f"{one['corpus']} ({one['documents']:,})",
             str(one["language"]), str(one["unit"]), f"{one['loss']:,g}", number(one["original"]),
             number(one["released"]) + spread, number(one["chance"])]
        )  # fmt: skip
    header = ["task, measure", "corpus (documents)", "language", "unit", "loss per document",
              "original", "released", "chance"]  # fmt: skip
    return markdown_table(header, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="?", type=Path, help="folder with the corpora")
    parser.add_argument("--newsgroups", type=Path, help="data home of scikit-learn")
    parser.add_argument("--only", nargs="*", default=[], help="names of tasks")
    units = {**UNITS, **OTHER_UNITS}
    parser.add_argument("--units", nargs="*", default=list(UNITS), choices=units, help="losses")
    parser.add_argument("--runs", type=int, default=3, help="releases of each kind")
    parser.add_argument("--out", type=Path, default=FIGURES, help="file of the figures")
    parser.add_argument("--table", action="store_true", help="print the table")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    arguments = parser.parse_args()
    UNITS.clear()
    UNITS.update({name: units[name] for name in arguments.units})
    rows: list[Row] = []
    if arguments.out.exists():
        rows = json.loads(arguments.out.read_text(encoding="utf-8"))["rows"]
    if arguments.corpora is not None:
        every = tasks(arguments.corpora, arguments.newsgroups, arguments.runs)
        for name in arguments.only or every:
            try:
                measured = list(every[name]())
            except (FileNotFoundError, OSError) as error:
                print(f"{name} is skipped: {error}")
                continue
            new = {tuple(one[key] for key in KEY) for one in measured}
            rows = [one for one in rows if tuple(one[key] for key in KEY) not in new] + measured
            lines = ",\n  ".join(json.dumps(one) for one in rows)
            arguments.out.write_text(f'{{"rows": [\n  {lines}\n]}}\n', encoding="utf-8")
            print(table(measured), flush=True)
    if arguments.page is not None:
        text = arguments.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        page = f"{before}{BEGIN}\n{table(rows)}{END}{after}"
        arguments.page.write_text(page, encoding="utf-8")
    if arguments.table:
        print(table(rows))


if __name__ == "__main__":
    main()
