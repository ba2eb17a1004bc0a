"""Figures of README.txt and report.html are those of the guarantee, and estimates hold."""

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from math import exp

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from syntf import __version__
from syntf.core.exact import EXACT, shown
from syntf.mechanism.response import ResponseMechanism
from syntf.privacy.guarantee import SEEDED, Part, Public, loss_of
from syntf.release.report import VERSIONS, factor, render_readme, render_report
from syntf.release.topics import COVERED, estimates, keep_probability, topic_table
from syntf.settings import PRESETS, Settings

EVIL = "<script>alert('1')</script>"
VOID = {"meta", "rect", "line"}


class Page(HTMLParser):
    """Elements and their text; every element must be closed in its place."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.said = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = " ".join("".join(self.said).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.said.append(data)


@pytest.fixture
def both(topics, promise):
    """Both texts of a guarantee with some fields changed, each as one line."""

    def both(table=None, **changed):
        guarantee = replace(promise(topics), **changed)
        html = Page(render_report(guarantee, table)).text
        readme = render_readme(guarantee, ["document"], "npz", listed=table is not None)
        return html, " ".join(readme.split())

    return both


def response(loss, answers, draws=1):
    """The composition of some draws of randomised response."""
    mechanism = ResponseMechanism(answers, loss=loss)
    return Part(mechanism.scheme, answers, draws, loss, str(mechanism.ratio), "sha256:0")


def of(*parts):
    loss = loss_of(parts)
    return {"composition": parts, "loss_per_document": loss, "loss_if_replaced": loss}


# Estimates


def distribution(true, documents, draws, kept, other):
    """The exact probabilities of how often an answer is released that `true` documents have."""
    of_others = binom.pmf(np.arange(documents * draws - true + 1), documents * draws - true, other)
    return np.convolve(binom.pmf(np.arange(true + 1), true, kept), of_others)


CASES = [(1, 60, 5.0, 40), (1, 30, 1.0, 4), (1, 40, 12.0, 300), (3, 20, 4.0, 30)]


@pytest.mark.parametrize(("draws", "documents", "loss", "answers"), CASES)
def test_estimates_are_unbiased_and_intervals_hold(draws, documents, loss, answers):
    """For every true number, and for every share of which the documents are a random sample."""
    ratio = Fraction(round(10**6 * exp(loss)), 10**6)
    kept = float(keep_probability(ratio, answers))
    other = kept / float(ratio)
    total = documents * draws
    found = [
        estimates(np.array([seen, total - seen] + [0] * (answers - 2)), draws, ratio)
        for seen in range(total + 1)
    ]
    mean, low, high = (np.array([each[part][0] for each in found]) for part in range(3))
    for true in range(documents + 1):
        chances = distribution(true, documents, draws, kept, other)
        assert chances @ mean == pytest.approx(true)
        assert chances @ ((low <= true) & (true <= high)) >= COVERED
    assert low.min() == 0
    assert high.max() == documents
    for share in np.linspace(0, 1, 23):
        one = binom.pmf(np.arange(documents + 1), documents, share * kept + (1 - share) * other)
        more = binom.pmf(np.arange(total - documents + 1), total - documents, other)
        true = share * documents
        assert np.convolve(one, more) @ ((low <= true) & (true <= high)) >= COVERED


def test_the_test_of_intervals_has_power():
    """The interval of 0.2, of 1.96 standard errors of the noise, fails it."""
    kept, other = float(keep_probability(Fraction(22026), 300)), 1 / (22026 + 299)
    seen = np.arange(61)
    mean = (seen - 60 * other) / (kept - other)
    true = np.clip(mean, 0, 60)
    error = np.sqrt(true * kept * (1 - kept) + (60 - true) * other * (1 - other)) / kept
    held = [
        distribution(t, 60, 1, kept, other)
        @ ((mean - 1.96 * error <= t) & (t <= mean + 1.96 * error))
        for t in range(61)
    ]
    assert min(held) < 0.9


def test_the_table_of_topics_has_every_answer_of_each_list(topics):
    table = topic_table(topics)
    assert table["list"].to_list() == ["general"] * 4 + ["sharpened"] * 3
    assert table["released"].to_list() == [1, 1, 1, 1, 4, 2, 2]
    assert table["words"][0] == "cat, dog"
    assert table["words"][3] == ""
    assert (table["low"] <= table["high"]).all()
    assert table["high"][0] <= 2 < table["high"][4] <= 4  # documents of each list


def test_words_have_no_table_of_topics(words):
    assert topic_table(words) is None


# Figures


@given(st.floats(0.001, 27))
def test_at_most_is_rounded_up(loss):
    exact = EXACT.exp(Decimal(loss))
    assert exact <= Decimal(factor(loss).replace(",", "")) <= exact * Decimal("1.01") + 1


def test_a_loss_that_excludes_nothing_says_so(both):
    for loss, told in ((8.0, True), (1.0, False)):
        html, readme = both(**of(response(loss, 4000, draws=125 if told else 1)))
        assert ("For a whole document this excludes nothing." in html) == told
        assert ("whoever was sure 2.72 to 1 that a document is not" in html) != told
        assert ("one of 125 draws8.00002,981" in html) == told
        assert shown(loss * (125 if told else 1), 2) in html
        assert ("a number with 435 digits" in readme) == told


@pytest.mark.parametrize(
    ("part", "coarse", "several"),
    [
        (response(10.0, 301), True, False),
        (response(10.0, 30_000), False, False),
        (response(4.0, 301), False, False),
        (response(10.0, 301, draws=2), False, True),
        (Part("exponential-int62/1", 4000, 1, 25.0, "9", "sha256:0"), False, False),
        (Part("exponential-int62/1", 4000, 150, 25.0, "9", "sha256:0"), False, True),
    ],
)
def test_what_hides_a_document_is_said(both, topics, part, coarse, several):
    for told in both(topic_table(topics), **of(part)):
        assert (
            "it is the coarse list of topics that hides a document, not chance" in told
        ) == coarse
        assert ("Whoever holds a text can often find its row here" in told) == several


def test_the_probability_of_the_true_answer_is_that_of_the_mechanism(both):
    mechanism = ResponseMechanism(301, loss=6.0)
    html, readme = both(**of(response(6.0, 301)))
    kept = f"{100 * float(mechanism.keep_probability):.1f} %"
    assert f"every document13016.0000{kept}" in html
    assert f"the true answer is released in {kept} of draws" in readme
    html, readme = both(**of(Part("exponential-int62/1", 4000, 150, 25.0, "9", "sha256:0")))
    assert "depends on the answer" in html
    assert "the true answer is released" not in readme


def test_losses_are_at_most_and_authors_have_a_line(both):
    html, readme = both(**of(response(10.0, 301)))
    assert "at most 10.00privacy loss of a document" in html
    assert "an author with 50 documents500.00a number with 218 digits" in html
    assert "loss per document at most 10.00" in readme
    assert "An author of m documents in this release loses at most m times" in html
    limited = {"documents_per_author": 3, "loss_per_author": 30.0}
    html, readme = both(**of(response(10.0, 301)), **limited)
    assert "at most 30.00privacy loss of an author" in html
    assert "of whom at most 3 documents are released30.00" in html
    assert "loss per author at most 30.00" in readme


def test_a_release_that_is_not_private_says_so_first(both):
    for changed, why in (
        ({"entropy": SEEDED}, "NOT PRIVATE: the random draws come from a seed"),
        (
            {"public": {"vocabulary": Public("sha256:0", "private")}},
            "NOT COVERED: vocabulary fitted",
        ),
    ):
        html, readme = both(**changed)
        assert html.startswith("syntf: not private This release is not private")
        assert html.index("No guarantee covers") < html.index(why) < html.index("at most")
        assert "This sentence does not hold here" in html
        assert "This holds for every document" not in html
        assert why in readme
        assert "is differentially private" not in readme
        assert "NOT covered by a differential-privacy guarantee" in readme


def test_order_and_kept_columns_are_outside_the_guarantee(both):
    for told in both(kept_columns=["year", "place"], shuffled=False):
        assert "outside the guarantee: columns year, place." in told
        assert "in the order of the source" in told
        assert "No column of the source" not in told
    for told in both(kept_columns=[], shuffled=True):
        assert "No column of the source is released here." in told
        assert "in random order" in told


def test_the_picture_shows_frequent_topics_with_their_intervals(topics, promise):
    table = topic_table(topics)
    page = Page(render_report(promise(topics), table))
    rows = table.filter(pl.col("list") == "sharpened").sort("released", descending=True)
    for name, estimate, low, high in rows.select("name", "estimate", "low", "high").iter_rows():
        assert f"{name}{max(0, round(estimate))} ({low} to {high})" in page.text
    bars = [about for tag, about in page.elements if tag == "rect"]
    lines = [about for tag, about in page.elements if tag == "line"]
    assert (len(bars), len(lines)) == (3, 9)
    assert lines[0]["x2"] == f"{100 * rows['high'][0] / rows['high'].max():.2f}%"
    assert "2 documents, chosen at random, answered first: the pilot" in page.text
    assert "What the documents are about" not in Page(render_report(promise(topics), None)).text


def test_names_and_columns_that_mean_harm_are_inert(topics, promise):
    topics.rest.names[0] = EVIL
    changed = replace(promise(topics), kept_columns=[EVIL, "a\x1b[2J"], version=EVIL)
    raw = render_report(changed, topic_table(topics))
    page = Page(raw)
    assert {tag for tag, _ in page.elements} <= {
        "html", "head", "meta", "title", "style", "body", "main", "header", "section", "div", "h1",
        "h2", "p", "span", "small", "strong", "sup", "ul", "li", "figure", "svg", "rect", "line",
        "table", "thead", "tbody", "tr", "th", "td", "code",
    }  # fmt: skip
    assert not any(name.startswith("on") for _, about in page.elements for name in about)
    assert page.text.count(EVIL) == 3
    assert not re.search(r"url\(|@import|https?:|//", raw)
    assert "\x1b" not in raw + render_readme(changed, ["a\x1b[2J"], "npz", listed=True)
    assert (
        "meta",
        {
            "http-equiv": "Content-Security-Policy",
            "content": "default-src 'none'; style-src 'unsafe-inline'",
        },
    ) in page.elements


@pytest.mark.parametrize("preset", PRESETS)
def test_only_settings_that_matter_are_listed(topics, promise, preset):
    settings = Settings.of(preset)
    text = Page(render_report(promise(topics, settings=settings), None)).text
    assert ("length" in text) == (preset != "document")
    assert f"{settings.unit.replace('_', ' ')}{getattr(settings, settings.unit)}" in text


def test_the_wording_belongs_to_this_version():
    """Whoever changes a sentence reads the docstring of VERSIONS first."""
    assert __version__ in VERSIONS
