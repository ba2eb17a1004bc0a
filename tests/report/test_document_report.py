"""The report of a release of whole documents: what is promised, in plain words and figures."""

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import polars as pl
import pytest

from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import with_author_limit
from syntf.releases.job import release
from syntf.report.document_summary import DocumentSummary, PrototypeCount
from syntf.report.evaluation import (
    EstimatedShare,
    EvaluatedTexts,
    EvaluationScores,
    LabelSurvival,
    LinkScore,
    MethodScores,
    ScenarioScores,
    ScoreChange,
    TaskScores,
)
from syntf.report.page import render_report

EVIL = "<script>alert(1)</script>"
SCORES = EvaluationScores(
    2, None, [ScoreChange("naive Bayes", 0.9, 0.4)], [], [LinkScore("a link", 0.5, None)], 10.0
)


class Page(HTMLParser):
    """The elements of a page and its text, without its style."""

    def __init__(self, raw):
        super().__init__()
        self.elements, self.said, self.open = [], [], []
        self.feed(raw)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.open:
            self.said.append(data)

    @property
    def text(self):
        return " ".join("".join(self.said).split())


@pytest.fixture(scope="module")
def promised():
    """Return the guarantee for a loss per document, as it is before documents are known."""
    made = {}

    def guarantee(loss):
        if loss not in made:
            settings = Settings.from_preset(document_loss=float(loss))
            made[loss] = DocumentAnonymizer.build(settings).guarantee()
        return made[loss]

    return guarantee


def summary(*labels):
    rows = [
        PrototypeCount("general", place, label, 40 - place, 39.6 - place, 6.2)
        for place, label in enumerate(labels)
    ]
    return DocumentSummary(0.957, 1000, 320, rows)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (1, "sure 2.72 to 1 that a document is not a certain text may at most become undecided"),
        (10, "sure 22,026 to 1 that a document is not a certain text may at most become"),
        (10, "1 to 1,000,0001 to 45.39"),
        (10, "1 to 22,026even"),
        (10, "1 to 100220.3 to 1"),
        (10, "Losses up to 10 are common"),
        (20, "485,165,195"),
        (20, "calls a loss above 10 weak"),
        (40, "e40.00, a number with 18 digits"),
        (400, "excludes nothing"),
    ],
)
def test_the_loss_of_a_document_is_explained_in_plain_words(promised, loss, told):
    assert told in Page(render_report(promised(loss), summary("ice, hockey, nhl"))).text


def test_a_limit_for_authors_is_a_headline(promised):
    text = Page(render_report(promised(10), summary())).text
    assert "an author with 50 documents loses 500.00" in text
    assert "It does not limit what an author loses" in text
    text = Page(render_report(with_author_limit(promised(10), 3), summary())).text
    assert "30.00largest privacy loss of an author" in text
    assert "at most 3 documents of each author are released" in text
    assert "It does not limit what an author loses" not in text


def test_frequent_prototypes_have_estimates_and_error_bars(promised):
    raw = render_report(promised(10), summary("ice, hockey, nhl", "soup, bread"))
    page = Page(raw)
    assert re.search("ice, hockey, nhl *40 ± 6 *soup, bread *39 ± 6", page.text)
    assert "among the 320 documents." in page.text
    bars = [a for tag, a in page.elements if tag == "line" and a.get("class") == "error"]
    assert len(bars) == 2 * 3
    assert bars[2]["x1"] == bars[0]["x1"] == f"{100 * (40 - 6) / 46:.2f}%"
    assert bars[2]["x2"] == bars[1]["x1"] == "100.00%"


def test_words_of_the_other_unit_do_not_occur(promised):
    text = Page(render_report(promised(10), summary("ice"))).text
    for told in ("loss per word", "one released word", "neighbour", "What becomes of a word"):
        assert told not in text


def test_a_private_codebook_and_a_seed_come_before_the_number(promised):
    unit = replace(promised(10).document, codebook_origin="private")
    guarantee = replace(promised(10), private=False, seeded=True, document=unit)
    text = Page(render_report(guarantee, summary("ice"))).text
    assert text.startswith("syntf: not private A release with these settings is not private")
    assert text.index("No guarantee covers") < text.index("the random draws come from a seed")
    assert "The sentence does not hold here" in text
    assert "this voids the guarantee" in text
    assert "largest privacy loss" not in text
    assert "In plain words" not in text


def test_labels_and_columns_that_mean_harm_are_inert(promised):
    unit = replace(promised(10).document, encoder=EVIL)
    guarantee = replace(promised(10), kept_columns=[EVIL], document=unit, version=EVIL)
    page = Page(render_report(guarantee, summary(EVIL), evaluation=SCORES))
    assert "script" not in {tag for tag, _ in page.elements}
    assert page.text.count(EVIL) >= 4


def test_an_evaluation_is_shown_with_the_loss_per_document(promised):
    text = Page(render_report(promised(10), summary(), evaluation=SCORES)).text
    assert "For the owner of the texts." in text
    assert "drawn for this measurement with a loss of 10.00 per document" in text
    assert "topic floor" not in text  # no scenario, so none is drawn
    assert "For the owner" not in Page(render_report(promised(10), summary())).text


@pytest.mark.parametrize(("floor", "shown"), [(0.25, True), (None, False)])
def test_chance_is_shown_and_the_topic_floor_only_where_it_is_drawn(promised, floor, shown):
    scenario = ScenarioScores("Top 5/Any", 5, [ScoreChange("words", 0.9, 0.5)], floor, 0.2)
    scores = replace(SCORES, scenarios=[scenario], chance=0.125)
    text = Page(render_report(promised(10), summary(), evaluation=scores)).text
    assert ("given away by more than the topic" in text) == shown
    assert ("topic floor" in text) == shown
    assert "By chance: .12." in text
    assert "By chance: .20." in text


def test_the_report_of_a_release_shows_its_own_figures(tmp_path):
    texts = [f"the goalkeeper saved a penalty in the football match {n}" for n in range(30)]
    pl.DataFrame({"text": texts}).write_csv(tmp_path / "t.csv")
    release(tmp_path / "t.csv", tmp_path / "out", document_loss=10)
    raw = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|https?:|//", raw)
    page = Page(raw)
    assert "30 documents" in page.text
    (figures,) = re.findall(r'<pre id="figures">(.*?)</pre>', raw, re.DOTALL)
    stated = json.loads(figures.replace("&#34;", '"'))
    rows = pl.read_csv(tmp_path / "out" / "prototypes.csv")
    assert [one["label"] for one in stated["leading"]] == rows["label"].to_list()
    assert [one["released"] for one in stated["leading"]] == rows["released"].to_list()
    assert stated["answered"] == stated["documents"] == 30
    ids = {a["id"] for tag, a in page.elements if tag == "h2"}
    assert ids == {"meaning", "comparison", "topics", "done", "limits", "checking"}


ABOUT = EvaluatedTexts(
    "mails <b>.csv", "2026-11-16", 1200, 7, (3, 12.5, 90), [("bus", "taxi 7, bus 2"), ("", "tea 1")]
)


def test_an_evaluation_names_its_file_date_authors_and_some_rows(promised):
    raw = render_report(promised(10), summary(), evaluation=replace(SCORES, about=ABOUT))
    text = Page(raw).text
    assert "<title>syntf: evaluation of mails &lt;b&gt;.csv, privacy loss 10.00" in raw
    assert "Evaluation of mails <b>.csv: what a release with these settings promises" in text
    assert (
        "Evaluated on 2026-11-16 · 1,200 documents by 7 authors, with 3 to 90 documents each "
        "(median 12.5)." in text
    )
    assert "true labeldrawn words and their counts bustaxi 7, bus 2 tea 1" in text
    alone = replace(ABOUT, authors=1, documents_per_author=(40, 40.0, 40))
    text = Page(
        render_report(promised(10), summary(), evaluation=replace(SCORES, about=alone))
    ).text
    assert "by 1 author, with 40 documents each." in text


def test_a_release_names_neither_file_nor_date(tmp_path):
    pl.DataFrame({"text": ["The bus is late."] * 3}).write_csv(tmp_path / "secret-case-4711.csv")
    made = release(tmp_path / "secret-case-4711.csv", tmp_path / "out", document_loss=10)
    for path in made.path.iterdir():
        raw = path.read_bytes()
        assert b"4711" not in raw
        assert f"{date.today():%Y-%m-%d}".encode() not in raw


def test_the_loss_is_compared_with_published_systems(promised):
    text = Page(render_report(promised(10), summary())).text
    assert "a release with these settings10.00–– SynTF, best setting" in text
    assert "DP-BART500five news topics.41" in text
    seeded = replace(promised(10), private=False, seeded=True)
    assert "10.00, but not private" in Page(render_report(seeded, summary())).text


@pytest.mark.parametrize("chance", [None, 0.25])
def test_chance_has_a_line_and_a_legend_only_where_it_is_known(promised, chance):
    found = replace(SCORES, chance=chance)
    page = Page(render_report(promised(10), summary(), evaluation=found))
    lines = [a for tag, a in page.elements if tag == "line" and a.get("class") == "chance"]
    assert [line["x1"] for line in lines] == ([] if chance is None else ["9", "25.00%"])
    assert ("The dotted line is chance" in page.text) == (chance is not None)


TASKS = TaskScores(
    clusters=[MethodScores("original", [(0.4, None), (0.3, None)]),
              MethodScores("syntf", [(0.25, None), (0.125, None)])],
    search=[MethodScores("original", [(0.5, None), (0.6, None), (0.7, None)]),
            MethodScores("syntf", [(0.05, 0.01), (0.06, 0.02), (0.07, 0.03)]),
            MethodScores("chance", [(0.01, None), (0.02, None), (0.03, None)])],
    labels=[LabelSurvival(EVIL if place == 1 else f"label {place}", 9, 0.9, 0.5, 0.1, "survives")
            for place in range(14)],
    trends=[(f"topic {place}", [EstimatedShare("1990", 0.2, -0.1, 0.4, 0.25),
                                EstimatedShare("1991", 0.3, 0.1, 0.5, 0.125)])
            for place in range(7)],
    trend_error=0.02, counted_error=0.05, coverage=0.9,
)  # fmt: skip


def test_other_tasks_are_shown_in_pictures_and_numbers(promised):
    raw = render_report(promised(10), summary("ice"), evaluation=replace(SCORES, tasks=TASKS))
    page = Page(raw)
    assert EVIL not in raw
    assert "the texts0.4000.300 the release0.2500.125" in page.text
    assert "the release0.050 ±0.0100.060 ±0.0200.070 ±0.030" in page.text
    told = "label 0: .90 on the texts, .50 on the release, chance .10, survives"
    assert f'aria-label="{told}"' in raw
    assert "2 more labels are in labels.csv" in page.text
    assert "1 more labels are in trends.csv" in page.text
    assert "wrong by 2.0% of the documents on average, plain counts of predictions by 5.0%" in (
        page.text
    )
    assert "topic 0199020.0%0% to 40.0%25.0%" in page.text
    plots = [a for tag, a in page.elements if tag in ("polygon", "polyline")]
    assert len(plots) == 6 * 3
    band, found, truth = (one["points"] for one in plots[:3])
    assert band == "0.00,100.00 100.00,80.00 100.00,0.00 0.00,20.00"
    assert found == "0.00,60.00 100.00,40.00"
    assert truth == "0.00,50.00 100.00,75.00"


def test_tasks_that_were_not_measured_leave_no_heading(promised):
    text = Page(render_report(promised(10), summary("ice"), evaluation=SCORES)).text
    for heading in ("which of them survive", "Clusters:", "Search:", "Shares over time"):
        assert heading not in text


def test_true_numbers_are_lines_in_the_picture(promised):
    counted = PrototypeCount("general", 0, "ice", 40, 39.6, 0.44, truth=20)
    raw = render_report(promised(10), DocumentSummary(0.957, 1000, 320, [counted]))
    assert "40 ± 0.4, truly 20" in Page(raw).text
    (line,) = [a for tag, a in Page(raw).elements if a.get("class") == "truth" and tag == "line"]
    assert line["x1"] == line["x2"] == f"{100 * 20 / 40.4:.2f}%"
