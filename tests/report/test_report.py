"""report.html: its figures are those of the guarantee, and nothing in it comes from a text."""

import inspect
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import chain

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from minijinja import TemplateError
from scipy.sparse import csr_matrix, load_npz

from syntf.cli import main
from syntf.core import entropy, tables
from syntf.core.errors import SyntfError
from syntf.core.exact import shown, shown_ratio
from syntf.evaluation.attack.linkage import FirstGuess, LinkageAttack, LinkageScore
from syntf.evaluation.experiment import folder, results
from syntf.evaluation.experiment.results import Parameters, Result
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy import accounting, bounds
from syntf.releases import draft
from syntf.releases.contents import folder as release_folder
from syntf.report import page
from syntf.report.evaluation import EvaluationScores, ScenarioScores, ScoreChange
from syntf.report.figures import PAPER, Sparsity, odds
from syntf.report.page import render_report
from syntf.report.table_summary import Chances, WordExample, summarize_table
from syntf.research import paper
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.guarantee_file import read_guarantee
from syntf.verification.texts import render_report_again
from syntf.verification.verify import verify

TEXTS = ["The cat and the dog run.", "", "A piano on a boat, a song.", "bread and cheese"]
OTHERS = ["Water, water, a river.", "car", "", "Mice run from a horse, a cow, a bird"]
LENGTH = 20
VOID = {"meta", "rect", "line", "circle"}


class Page(HTMLParser):
    """Elements, their text, and whether every one that was opened was closed in its place."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.said = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

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

    @property
    def text(self):
        return " ".join("".join(self.said).split())


@pytest.fixture(scope="module")
def build(toy_vectors, toy_words):
    def built(source=entropy.system, texts=TEXTS, **chosen):
        chosen = {"vectors": toy_vectors, "vocabulary": toy_words, "length": LENGTH, **chosen}
        return Anonymizer.build(Settings(**chosen), texts, source=source)

    return built


def seen(anonymizer):
    return summarize_table(
        anonymizer.mechanism, anonymizer.vocabulary, length=anonymizer.settings.length
    )


def write(path, anonymizer, kept=("topic",)):
    columns = {name: list("abca") for name in kept}
    draft.write(
        path, anonymizer.anonymize(TEXTS), anonymizer.vocabulary.outputs,
        tables.from_polars(pl.DataFrame({"document": range(len(TEXTS)), **columns})),
        anonymizer.guarantee(kept_columns=kept), seen(anonymizer),
    )  # fmt: skip
    return path


def html(anonymizer, **given):
    return render_report(anonymizer.guarantee(), seen(anonymizer), **given)


KINDS = [
    {"neighbours": 2, "loss": 4.0},
    {"neighbours": 1, "loss": 0.01},
    {"neighbours": 3, "loss": 0.4},
    {"neighbours": 2, "loss": 4.0, "vocabulary": ["cat", "dog", "boat"]},  # 2k > M
    {"neighbours": None, "epsilon": 20.0},
    {"neighbours": None, "epsilon": 47.5, "length": 150},
]


def shown_odds(ratio, words):
    shift = odds(ratio, words)
    return shift["factor"] or f"a number with {shift['digits']:,} digits"


@pytest.mark.parametrize("chosen", KINDS)
def test_the_numbers_are_those_of_the_guarantee(build, chosen):
    anonymizer = build(**chosen)
    guarantee, text = anonymizer.guarantee(), Page(html(anonymizer)).text
    losses, length = guarantee.loss_per_word, guarantee.length
    document = shown(guarantee.loss_per_document, 2)
    author = shown(bounds.author_loss(losses.tight, length, 50), 2)
    ratio = Fraction(guarantee.loss_ratio)
    for told in (
        f"{document}largest privacy loss of a document",
        f"at most e to the power of {document}.",
        f"one released word{shown(losses.tight, 4)}{shown_ratio(ratio)}",
        f"one document ({length} words){document}{shown_odds(ratio, length)}",
        f"an author of 50 documents{author}{shown_odds(ratio, 50 * length)}",
        f"standard (ε){shown(losses.standard, 4)}",
        f"improved (ε + ln η){shown(losses.improved, 4)}",
        f"tight, promised{shown(losses.tight, 4)}",
        "best setting of the paper25.4",
        f"Here the losses are {shown(losses.tight, 4)} and {document}",
        guarantee.digest,
    ):
        assert told in text


@pytest.mark.parametrize("chosen", KINDS)
def test_the_epsilons_are_those_of_the_accounting(build, chosen):
    anonymizer = build(**chosen)
    draws = [anonymizer.settings.length, 50 * anonymizer.settings.length]
    known = accounting.accounts(anonymizer.mechanism, draws, 1e-6)
    sound = [one for one in known if not one.method.startswith("Rényi")]
    least = [min(one.epsilons[place].epsilon for one in sound) for place in (0, 1)]
    assert accounting.quick_epsilons(anonymizer.mechanism, draws, 1e-6) == least
    pure = [shown(one.epsilon, 2) for one in known[0].epsilons]
    smaller = [shown(epsilon, 2) for epsilon in least]
    told = f"ε is {smaller[0]} for a document and {smaller[1]} for an author of 50 documents."
    assert (told in Page(html(anonymizer)).text) == (smaller != pure)


def test_so_many_draws_that_sums_take_long_cost_what_each_costs(build):
    mechanism = build(neighbours=2, loss=4.0).mechanism
    many = accounting.QUICK_DRAWS + 1
    assert accounting.quick_epsilons(mechanism, [many], 1e-6) == [
        bounds.document_loss(mechanism.loss, many)
    ]


@pytest.mark.parametrize(
    ("loss", "told"),
    [(0.02, "a strong promise"), (0.3, "though not by much"), (4.0, "this excludes nothing")],
)
def test_what_a_document_loses_is_called_what_it_is(build, loss, told):
    assert told in Page(html(build(neighbours=2, loss=loss))).text


def test_the_paper_s_numbers_are_the_paper_s():
    assert PAPER["loss_per_word"] == paper.LOSS
    assert PAPER["words_per_document"] == paper.OPTIMUM.length
    assert PAPER["loss_per_document"] == pytest.approx(paper.LOSS * paper.OPTIMUM.length)


@given(st.fractions(1, 10**6), st.integers(1, 60))
def test_a_large_factor_is_told_by_its_digits(ratio, count):
    shift = odds(ratio, count)
    if shift["factor"] is None:
        assert shift["digits"] == len(str(int(ratio**count)))
    else:
        assert ratio**count < 10**12
        assert shift == {"factor": shown_ratio(ratio**count), "digits": None}


@pytest.mark.parametrize(
    ("ratio", "told"),
    [("3000", "at most 1 to 333.3."), ("1000001", "most 1.001 to 1."), ("5/2", "1 to 400,000.")],
)
def test_a_suspicion_of_one_in_a_million_is_followed_up(build, ratio, told):
    anonymizer = build(neighbours=2, loss=4.0)
    guarantee = replace(anonymizer.guarantee(), loss_ratio=ratio)
    assert told in Page(render_report(guarantee, seen(anonymizer))).text


@pytest.mark.parametrize("chosen", [*KINDS, {"vocabulary": ["Piano", "cat", "boat"]}])
def test_chances_of_words_are_the_table_s(build, chosen):
    """Against a slow look at each row, in exact fractions and in another order."""
    anonymizer = build(**chosen)
    mechanism, words = anonymizer.mechanism, anonymizer.vocabulary
    found = seen(anonymizer)
    near = min(chosen.get("neighbours") or 10, len(words.outputs))
    assert (found.near, found.sampled) == (near, len(words.outputs))
    ranked = [words.outputs[i] for i in np.argsort(words.output_rows, kind="stable")]
    assert [one.word for one in found.examples] == ranked[:12]
    fates = []
    for word in ranked:
        row = mechanism.weights(list(words.inputs).index(word)).tolist()
        paired = zip(row, words.outputs, strict=True)
        chances = [(Fraction(weight, mechanism.total), term) for weight, term in paired]
        best = sorted(chances, key=lambda pair: -pair[0])[:near]
        stays = {term: chance for chance, term in chances}[word]
        others = [(term, chance) for chance, term in best if term != word]
        fates.append((stays, sum(chance for _, chance in others)))
        if word in ranked[:12]:
            one = found.examples[ranked.index(word)]
            assert one.becomes == [(term, float(chance)) for term, chance in others[:3]]
            assert (one.chances.stays, one.chances.near) == tuple(map(float, fates[-1]))
    mean = [sum(parts) / len(fates) for parts in zip(*fates, strict=True)]
    assert (found.chances.stays, found.chances.near) == tuple(map(float, mean))
    assert found.chances.other == float(1 - sum(mean))


def call_macro(name, *arguments):
    """Return what a macro of the report's template makes of some arguments."""
    named = {f"argument{place}": value for place, value in enumerate(arguments)}
    call = f"{{% from 'macros.html' import {name} %}}{{{{ {name}({', '.join(named)}) }}}}"
    return page._environment().render_str(call, "call.html", **named)


def test_a_share_that_is_shown_is_never_a_false_zero_or_one():
    shares = (0.99995, 0.995, 0.5, 0.00994, 1e-9)
    assert [call_macro("percent", share).strip() for share in shares] == [
        "over 99.99%", "99.50%", "50.0%", "0.99%", "under 0.01%",
    ]  # fmt: skip


def test_numbers_are_written_as_python_writes_them():
    """minijinja alone would write 1e-06 as 0.000001."""
    values = [1e-06, 0.1, 25.4, 2**62, True, None]
    template = "{% for value in values %}{{ value }} {% endfor %}"
    found = page._environment().render_str(template, "a.html", values=values).split()
    assert found == [str(value) for value in values]


@pytest.mark.parametrize(
    "template", ["%.0f", "%.1f", "%.2f", "%.3f", "%g", "{:,}", "{:,.0f}", "{:.1f}"]
)
def test_numbers_are_rounded_as_python_rounds_them(template):
    """Exact ties too: 0.125 becomes 0.12, and 0.5 becomes 0."""
    generator = np.random.default_rng(1)
    numbers = [*(np.arange(-64, 4096) / 16).tolist(), *(np.arange(4096) / 1000).tolist()]
    numbers += [*generator.random(2000).tolist(), *(10 ** generator.uniform(-8, 9, 2000)).tolist()]
    if template == "{:,}":
        numbers = [0, -1, 999, 1000, 1234567, 10**15]
    call = "text|format(n)" if "%" in template else "text.format(n)"
    loop = "{% for n in numbers %}{{ " + call + " }}\n{% endfor %}"
    found = page._environment().render_str(loop, "a.txt", numbers=numbers, text=template)
    expected = [template % n if "%" in template else template.format(n) for n in numbers]
    assert found.splitlines() == expected


@pytest.mark.parametrize(
    "template", ["{{ nothing }}", "{{ known.nothing }}", "{% if nothing %}{% endif %}"]
)
def test_a_name_that_is_not_defined_is_an_error(template):
    with pytest.raises(TemplateError, match="undefined"):
        page._environment().render_str(template, "a.html", known={})


@pytest.mark.parametrize("name", page.TEMPLATES)
def test_every_printed_alternative_has_an_else(name):
    """Without it, minijinja passes None to the finalizer, which is printed."""
    printed = re.findall(r"{{(.*?)}}", page._source(name), re.DOTALL)
    assert [one for one in printed if one.count(" if ") != one.count(" else ")] == []


@pytest.mark.parametrize("chosen", KINDS)
def test_the_page_is_well_formed_alone_and_can_be_read_aloud(build, tmp_path, chosen):
    raw = (write(tmp_path / "out", build(**chosen)) / "report.html").read_text(encoding="utf-8")
    found = Page(raw)
    names = [name for name, _ in found.elements]
    assert names.count("h1") == names.count("main") == 1
    assert not {"script", "link", "img", "iframe", "object", "base", "a", "form"} & set(names)
    for name, attributes in found.elements:
        assert not {"src", "href", "style", "data", "action"} & set(attributes)
        assert not any(key.startswith("on") for key in attributes)
        if name == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes["aria-label"]
    assert not re.search(r"url\(|@import|https?:|//", raw)
    assert {"charset": "utf-8"} in [attributes for _, attributes in found.elements]
    headings = [attributes["id"] for name, attributes in found.elements if name == "h2"]
    assert headings == ["meaning", "comparison", "done", "fate", "sparsity", "limits", "checking"]
    assert "default-src 'none'" in str(found.elements)


EVIL = ["<script>alert(1)</script>", '"onload="x', "&amp;", "]]>", "<!--", "\u202etxt", "a\x1b[2J"]


def test_words_and_columns_that_mean_harm_are_inert(tmp_path):
    """Whatever a vocabulary, a column, an analyzer or a version is called."""
    words = [*EVIL, "cat", "dog"]
    vectors = WordVectors.quantize(words, np.eye(len(words)) + 0.1)
    chosen = {"vectors": vectors, "vocabulary": words, "neighbours": 2, "length": LENGTH}
    anonymizer = Anonymizer.build(Settings(**chosen), TEXTS)
    guarantee = replace(
        anonymizer.guarantee(kept_columns=EVIL), analyzer=f"spacy:{EVIL[0]}", version=EVIL[0],
        digest=EVIL[0],
    )  # fmt: skip
    bad = ScoreChange(EVIL[0], 0.5, 0.4)
    measured = EvaluationScores(1, 1.0, [bad], [ScenarioScores(EVIL[0], 2, [bad], 0.1)], [])
    raw = render_report(
        guarantee, seen(anonymizer), Sparsity.count(np.array([3]), LENGTH), measured
    )
    found = Page(raw)
    names = {name for name, _ in found.elements}
    assert "script" not in names
    assert "<script" not in raw
    assert not any("onload" in attributes for _, attributes in found.elements)
    assert "\x1b" not in raw
    assert "\u202e" not in raw
    assert found.text.count(EVIL[0]) >= 8
    for word in EVIL[1:5]:
        assert word in found.text
    labels = [a["aria-label"] for _, a in found.elements if "aria-label" in a]
    assert any(EVIL[1] in label for label in labels)


def test_what_voids_the_guarantee_comes_before_the_number(build):
    for chosen, told in (
        ({"source": entropy.Seeded(1)}, "the random draws come from a seed"),
        ({"vocabulary": None, "fit_vocabulary": True, "min_df": 1}, "vocabulary fitted on the"),
        ({"weights": "tfidf", "idf": "fitted"}, "idf fitted on the texts"),
    ):
        anonymizer = build(**chosen)
        text = Page(html(anonymizer)).text
        assert not anonymizer.guarantee().private
        assert text.startswith("syntf: not private")
        assert "A release with these settings is not private" in text
        assert text.index("No guarantee covers") < text.index(told)
        assert text.index(told) < text.index("loss of a document according to the table alone")
        assert "The sentence does not hold here" in text
        assert ("fitted on the texts of the release: this voids the guarantee" in text) == (
            "fitted" in told
        )
        assert ("from a seed, can be repeated" in text) == ("source" in chosen)
        assert "promised" not in text
        assert "largest privacy loss" not in text
    assert "not private" not in Page(html(build())).text


def test_what_was_kept_brought_or_left_in_order_is_told(build, tmp_path):
    anonymizer = build(neighbours=2, loss=4.0)
    released = Sparsity.count(np.array([3, 4]), LENGTH)
    guarantee = anonymizer.guarantee(kept_columns=["topic", "year"], shuffled=False)
    text = Page(render_report(guarantee, seen(anonymizer), released)).text
    assert "outside the guarantee: columns topic, year." in text
    assert "columns kepttopic, year" in text
    assert "are in the order of the source" in text
    assert "Public only according to the sender of this release: vocabulary and vectors." in text
    assert "word vectorspublic according to the sender of the release" in text
    assert "stop wordspublic: part of syntf" in text
    assert "idf weightsnot used" in text
    shuffled = Page(
        render_report(replace(guarantee, shuffled=True), seen(anonymizer), released)
    ).text
    assert "are in the order of the source" not in shuffled
    assert "order of documentsshuffled" in shuffled


def test_sparsity_is_counted_on_the_released_counts(build, tmp_path):
    anonymizer = build(neighbours=2, loss=4.0)
    out = write(tmp_path / "out", anonymizer)
    sizes = [int(size) for size in np.diff(load_npz(out / "vectors.npz").indptr)]
    text = Page((out / "report.html").read_text(encoding="utf-8")).text
    mean = f"{sum(sizes) / 4:.1f}"
    assert f"at least {min(sizes)}, {mean} on average, at most {max(sizes)}, in 4 documents" in text
    assert f"Of the 40 columns, a document fills {mean} on average" in text


@given(st.lists(st.lists(st.integers(1, 9), max_size=8), max_size=4))
def test_shards_add_up_to_one(shards):
    empty = Sparsity.count(np.array([], dtype=np.int64), 9)
    whole = Sparsity.count(np.array([*chain(*shards)], dtype=np.int64), 9)
    added = sum((Sparsity.count(np.array(one, dtype=np.int64), 9) for one in shards), empty)
    assert added.distinct.tolist() == whole.distinct.tolist()
    assert whole.documents == sum(map(len, shards))


def test_a_release_without_documents_has_a_report(build):
    anonymizer = build(neighbours=2, loss=4.0)
    released = Sparsity.count(np.array([], dtype=np.int64), LENGTH)
    assert "There are no documents" in Page(html(anonymizer, sparsity=released)).text


def test_long_histograms_are_binned_and_lose_no_document(build):
    anonymizer = build(neighbours=2, loss=4.0)
    guarantee = replace(anonymizer.guarantee(), length=900, vocabulary_size=3000)
    released = Sparsity.count(np.arange(100, 301).repeat(2), 900)
    text = Page(render_report(guarantee, seen(anonymizer), released)).text
    assert "Each column covers 6 numbers; the highest column stands for 12 documents" in text
    assert "100distinct words303" in text


def test_pictures_are_to_scale():
    def at(name, picture):
        return [float(x) for x in re.findall(rf'{name}="([\d.]+)%"', picture)]

    stacked = call_macro("stack", Chances(0.125, 0.5, 0.375), "x")
    assert (at(" x", stacked), at("width", stacked)) == ([0, 12.5, 62.5], [12.5, 50, 37.5])
    drawn = call_macro("track", 0.75, 0.5, 0.25, 0.125, "x")
    assert at("cx", drawn) == [75, 50]
    assert at("x1", drawn) == [0, 12.5, 25, 75]
    heights = re.findall(r' height="([\d.]+)"/', call_macro("histogram", [1, 0, 4], "x", 100))
    assert heights == ["25.0", "0.0", "100.0"]


# What it depends on


@pytest.fixture
def place(tmp_path, monkeypatch, toy_vectors, toy_words):
    """Two files of texts, each text another, and what makes releases of them alike."""
    monkeypatch.chdir(tmp_path)
    np.savez("toy.npz", words=np.array(toy_vectors.words), vectors=toy_vectors.matrix.astype("f4"))
    (tmp_path / "terms.txt").write_text("\n".join(toy_words))
    for name, texts in (("one", TEXTS), ("other", OTHERS)):
        pl.DataFrame({"text": texts, "topic": list("abca")}).write_csv(f"{name}.csv")
    return tmp_path


@pytest.fixture
def syntf(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return run


def anonymize(syntf, name, *more):
    options = ["--vectors", "toy.npz", "--vocabulary", "terms.txt", "--length", "20", "-q"]
    options += ["--keep", "topic", "--out", f"{name}-out", *more]
    assert syntf("anonymize", f"{name}.csv", *options) == 0
    return f"{name}-out"


SPARSITY = re.compile(
    r'<section aria-labelledby="sparsity">.*?</section>|"distinct_words": {.*?}', re.DOTALL
)


def test_texts_reach_the_page_through_the_released_counts_alone(place, syntf, monkeypatch):
    """Texts that all differ, the same entropy: the page differs where it counts the release.

    Then the same counts, whatever the texts were: not a byte differs.
    """
    assert not set(TEXTS) & set(OTHERS) - {""}
    assert all(one != other for one, other in zip(TEXTS, OTHERS, strict=True))
    pages = [
        (place / anonymize(syntf, name, "--insecure-seed", "7") / "report.html").read_text("utf-8")
        for name in ("one", "other")
    ]
    assert len(set(pages)) == 2
    assert len({SPARSITY.sub("", made) for made in pages}) == 1

    fixed = csr_matrix((np.full(4, 20), ([0, 1, 2, 3], [5, 6, 7, 8])), shape=(4, 40), dtype="i4")
    monkeypatch.setattr(Anonymizer, "draw_rows", lambda *_, **__: fixed)
    same = {
        (place / anonymize(syntf, name, "--force") / "report.html").read_bytes()
        for name in ("one", "other")
    }
    assert len(same) == 1


def test_the_page_is_given_nothing_but_guarantee_table_and_counts():
    assert list(inspect.signature(render_report).parameters) == [
        "guarantee", "table", "sparsity", "evaluation",
    ]  # fmt: skip
    assert list(inspect.signature(summarize_table).parameters) == [
        "mechanism",
        "vocabulary",
        "length",
    ]


@pytest.mark.parametrize("more", [(), ("--preset", "paper"), ("--format", "jsonl", "--shuffle")])
def test_the_page_is_made_again_from_the_release_alone(place, syntf, more):
    out = anonymize(syntf, "one", *more)
    (place / "one.csv").unlink()
    assert syntf("report", out, "--vectors", "toy.npz", "--out", "again.html") == 0
    assert (place / "again.html").read_bytes() == (place / out / "report.html").read_bytes()


def test_digests_of_files_are_no_part_of_the_page(build, tmp_path):
    """Or a page could not be written before the guarantee that seals it."""
    anonymizer = build(neighbours=2, loss=4.0)
    sealed = read_guarantee(
        (write(tmp_path / "out", anonymizer) / "guarantee.json").read_bytes()
    ).guarantee
    assert sealed.files
    assert render_report(sealed, seen(anonymizer)) == render_report(
        replace(sealed, files={}), seen(anonymizer)
    )


# Checked by whoever receives it


@pytest.fixture
def received(build, tmp_path):
    return write(tmp_path / "release", build(neighbours=2, loss=4.0))


def failed(report):
    return [check.name for check in report.checks if check.status == "FAILED"]


def test_a_changed_byte_of_the_report_is_caught(received, toy_vectors):
    path = received / "report.html"
    raw = path.read_bytes()
    for at in range(0, len(raw), 211):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        assert failed(verify(received, vectors=lambda: toy_vectors)) == ["files"]
    path.unlink()
    assert failed(verify(received, vectors=lambda: toy_vectors)) == ["files"]


def test_a_report_that_flatters_is_caught_with_digests_that_fit(received, toy_vectors):
    path = received / "report.html"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(">80.00<", ">8.00<"), encoding="utf-8")
    sealed = read_guarantee((received / "guarantee.json").read_bytes()).guarantee
    (received / "guarantee.json").unlink()
    sealed = replace(sealed, files=release_folder.digests(received))
    (received / "guarantee.json").write_text(sealed.as_json())
    found = verify(received, vectors=lambda: toy_vectors)
    assert failed(found) == ["report.html"]
    assert not found.verified


def test_the_command_refuses_what_it_should(place, syntf, capsys):
    out = anonymize(syntf, "one")
    vectors = ("--vectors", "toy.npz")
    before = (place / out / "report.html").read_bytes()
    for arguments, told in (
        (["--out", f"{out}/report.html", "--force", *vectors], "is sealed"),
        (["--out", f"{out}/../{out}/x.html", *vectors], "is sealed"),
        (["--out", "terms.txt", *vectors], "exists already"),
        (["--out", "new.html"], "could not be verified: vectors"),
        (["--out", "new.html", "--vectors", "none.npz"], "no file of word vectors"),
        (["--out", "new.html", "--evaluation", "one-out", *vectors], "no results.csv"),
    ):
        assert syntf("report", out, *arguments) == 2
        assert told in capsys.readouterr().err
    assert syntf("report", place, "--out", "new.html") == 2
    assert (place / out / "report.html").read_bytes() == before
    (place / out / "report.html").write_bytes(before + b" ")
    assert syntf("report", out, "--out", "new.html", *vectors) == 2
    assert "report.html was changed" in capsys.readouterr().err
    assert not (place / "new.html").exists()


# With an evaluation

CHOICE = Parameters(8.0, 20, 0.3, "lemma", False)


def result(method, f1, *, model="nb", scenario="", attacker="", std=None, parameters=CHOICE):
    chosen = parameters._asdict() if method == "syntf" else {}
    return Result(
        method=method, task="attack" if scenario else "utility", scenario=scenario, model=model,
        attacker=attacker, runs=3 if method == "syntf" else 1, f1=f1, f1_std=std, precision=0.0,
        recall=0.0, loss_per_word=4.0 if method == "syntf" else None, **chosen,
    )  # fmt: skip


FOUND = [
    result("original", 0.91), result("syntf", 0.72, std=0.03),
    result("original", 0.93, model="svm"), result("syntf", 0.70, model="svm"),
    *(result("original", f1, model=model, scenario="top5-any", attacker=name)
      for model, name, f1 in (("nb", "writeprints", 0.81), ("svm", "writeprints", 0.86),
                              ("nb", "words", 0.97), ("nb", "topic", 0.33),
                              ("svm", "topic", 0.37))),
    *(result("syntf", f1, model=model, scenario="top5-any", attacker=name, std=0.02)
      for model, name, f1 in (("nb", "writeprints", 0.45), ("svm", "writeprints", 0.41),
                              ("nb", "words", 0.58), ("nb", "words-static", 0.28))),
]  # fmt: skip


@pytest.fixture
def proof(tmp_path):
    """A folder as syntf evaluate leaves it."""
    made = tmp_path / "proof"
    made.mkdir()
    results.write_results(made / "results.csv", FOUND)
    (made / "scenarios.csv").write_text(
        "scenario,authors,min_train,min_test,train,test\ntop5-any,4,9,8,70,40\n"
    )
    folder.write_linkage(
        made,
        [LinkageAttack("document", "any", "syntf", LinkageScore(0.9996, 0.983, None, 40, 900)),
         LinkageAttack("author", "same label", "syntf", LinkageScore(0.71, None, None, 4, 90))],
    )  # fmt: skip
    return made


def test_an_evaluation_is_read_as_it_was_written(proof):
    found = folder.read_evaluation(proof, CHOICE)
    assert found.analyst == [
        ScoreChange("naive Bayes", 0.91, 0.72, 0.03), ScoreChange("linear SVM", 0.93, 0.70),
    ]  # fmt: skip
    (scenario,) = found.scenarios
    assert (scenario.name, scenario.authors, scenario.floor) == ("Top 5/Any", 4, 0.37)
    assert scenario.attackers == [
        ScoreChange("words", 0.97, 0.58, 0.02),
        ScoreChange("WritePrints, alphabetical", 0.86, 0.45, 0.02),
        ScoreChange("words, trained on original texts", 0.97, 0.28, 0.02),
    ]
    assert [(one.name, one.auc, one.found) for one in found.links] == [
        ("a text and its release", 0.9996, 0.983),
        ("a text and a release of an author, same topic", 0.71, None),
    ]
    assert (found.runs, found.loss_per_word) == (3, 4.0)


def test_links_of_another_choice_of_parameters_are_left_out(proof):
    more = CHOICE._replace(length=30)
    results.write_results(proof / "results.csv", [*FOUND, result("syntf", 0.8, parameters=more)])
    assert folder.read_evaluation(proof, CHOICE).links == []
    assert folder.read_evaluation(proof, more).analyst == [ScoreChange("naive Bayes", 0.91, 0.8)]


def test_the_page_shows_everyone_before_and_after_and_warns(build, proof):
    anonymizer = build(neighbours=2, loss=4.0)
    found = Page(html(anonymizer, evaluation=folder.read_evaluation(proof, CHOICE)))
    for told in (
        "For the owner of the texts.",
        "averaged over 3 releases, drawn for this measurement with a loss of 4.0000 per word",
        "naive Bayes: .91 on the texts, .72 on the release.91 → .72 ± .03",
        "Attackers, Top 5/Any: which of 4 authors wrote it?",
        "words: .97 on the texts, .58 on the release, topic floor .37.97 → .58 ± .02",
        "at least 9 texts that attackers learn from, and 8 that they are tested on",
        "a release with these settings80.00these texts.72",
        "SynTF, best setting of the paper (SIGIR 2018)3,81020 newsgroups.60",
        "trained on original texts: .97 on the texts, .28 on the release, topic floor .37",
        "Topic floor: .37. The best attacker on the release reaches .58: .21 above the floor.",
        "a text and its release1.00098%",
        "same topic0.710–",
        "What a release with these settings promises",
        "amber Topics: 77% of the accuracy is kept (F1 .72 of .93).",
        "red Authors: the best attacker names the right one of 4 with F1 .58; guessing by topic",
        "No verdict on linking: this was not measured here.",
    ):
        assert told in " ".join(found.text.replace("naive Bayesnaive", "naive").split())
    assert "Evaluation of" not in found.text  # an earlier version did not record the file
    assert "How to check it" not in found.text
    assert "How sparse" not in found.text


def test_the_command_adds_an_evaluation_of_the_same_parameters_only(place, syntf, capsys, proof):
    out = anonymize(syntf, "one", "--neighbours", "2", "--loss", "4", "--spelling", "0.3")
    arguments = ["report", out, "--vectors", "toy.npz", "--evaluation", proof, "--out", "new.html"]
    assert syntf(*arguments) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("For the owner of the texts: exact figures")
    assert "amber Topics: 77% of the accuracy is kept (F1 .72 of .93)." in printed
    text = Page((place / "new.html").read_text(encoding="utf-8")).text
    assert "For the owner of the texts." in text
    assert "The best attacker on the release reaches .58" in text
    assert "How sparse the counts are" in text
    own = (place / out / "report.html").read_text(encoding="utf-8")
    assert "For the owner of the texts." not in Page(own).text
    shutil.rmtree(place / out)
    anonymize(syntf, "one", "--neighbours", "2", "--loss", "5")
    assert syntf(*arguments, "--force") == 2
    assert "no evaluation with the parameters of this release (ε = 10" in capsys.readouterr().err


def test_chance_and_the_first_guess_are_read(proof):
    (proof / "chance.csv").write_text("task,scenario,f1\nutility,,0.125\nattack,top5-any,0.25\n")
    score = LinkageScore(0.9996, 0.983, None, 40, 900)
    attack = LinkageAttack("document", "any", "syntf", score, FirstGuess(0.5, 40))
    folder.write_linkage(proof, [attack])
    found = folder.read_evaluation(proof, CHOICE)
    assert (found.chance, found.scenarios[0].chance) == (0.125, 0.25)
    assert (found.links[0].first_guess, found.links[0].among) == (0.5, 40)
    (proof / "chance.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SyntfError, match=r"chance\.csv does not have the columns task, scenario"):
        folder.read_evaluation(proof, CHOICE)


def test_other_files_are_no_evaluation(proof):
    (proof / "linkage.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SyntfError, match="does not have the columns"):
        folder.read_evaluation(proof, CHOICE)
    (proof / "linkage.csv").unlink()
    assert folder.read_evaluation(proof, CHOICE).links == []


def test_a_release_needs_no_matplotlib(python):
    code = "import sys, syntf.releases.job; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([python, "-c", code]).returncode == 0


def test_a_page_made_again_is_that_of_the_release(received, toy_vectors):
    found = verify(received, vectors=lambda: toy_vectors)
    made = render_report_again(found.guarantee, *found.table, found.sparsity)
    assert made.encode() == (received / "report.html").read_bytes()


def test_a_word_that_is_its_own_nearest_word_only_shows_its_chance_to_stay(build):
    anonymizer = build(neighbours=2, loss=4.0)
    example = WordExample("national", Chances(0.427, 0.0, 0.573), [])
    table = replace(seen(anonymizer), examples=[example])
    text = Page(render_report(anonymizer.guarantee(), table)).text
    assert "unchanged 42.7%" in text
    assert "; unchanged 42.7%" not in text
