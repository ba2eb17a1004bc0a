"""docs/results.md has the tables that the stored results of the paper's experiment give."""

import re

import pytest
import results_page

from syntf.evaluation.experiment.results import Result, Results, read_results, write_results
from syntf.research import grid_tables, paper
from syntf.research.grid import parse_grid
from syntf.research.paper import OPTIMUM

HIGH = OPTIMUM._replace(epsilon=55.0)


def result(method, f1, parameters=None, scenario="", runs=1, model="nb"):
    return Result(
        method=method,
        task="attack" if scenario else "utility",
        scenario=scenario,
        model=model,
        attacker="writeprints" if scenario else "",
        runs=runs,
        f1=f1,
        f1_std=0.012345678 if runs > 1 else None,
        precision=f1,
        recall=f1,
        loss_per_word=25.6123456 if method == "syntf" else None,
        **(parameters or paper.Parameters())._asdict(),
    )


def some_results():
    """Every combination once: β_U is .9, the attacker keeps .7, at ε = 55 .6, at the optimum .8."""
    rows = [result("original", 0.5), result("original", 0.25, scenario="top10-any")]
    for parameters in parse_grid(["full"]):
        share = 0.8 if parameters == OPTIMUM else 0.6 if parameters.epsilon == 55.0 else 0.7
        runs = 10 if parameters in (OPTIMUM, HIGH) else 1
        rows.append(result("syntf", 0.45, parameters, runs=runs))
        rows.append(result("syntf", 0.25 * share, parameters, "top10-any", runs))
    return rows


@pytest.fixture(scope="module")
def results():
    return Results(some_results())


def test_page_is_the_one_that_the_stored_results_give():
    if not results_page.STORED.exists():
        pytest.skip("no results are stored: run benchmarks/results_page.py with a reproduction")
    page = results_page.PAGE.read_text(encoding="utf-8")
    assert results_page.fill_page(page, results_page.read_stored()) == page


def test_every_part_of_the_page_is_written_and_nothing_else(results):
    page = results_page.PAGE.read_text(encoding="utf-8")
    written = results_page.fill_page(page, results)
    assert results_page.fill_page(written, results) == written
    parts = re.compile(
        "(<!-- [a-z]+: benchmarks/results_page.py -->\n).*?(<!-- end -->)", re.DOTALL
    )
    assert parts.sub(r"\1\2", written) == parts.sub(r"\1\2", page)
    assert len(parts.findall(page)) == len(results_page.PARTS)
    assert "| combinations | 810 | 810 | – | – |" in written
    assert "| runs of each | 10 | 1 (808 of them), 10 (2 of them) | – | – |" in written
    assert "| 55 | 150 | 0.3 | lemma | false | 10 | 25.61 | 90.0 % | 30.0 % | 30.0 % | best |" in (
        written
    )


def test_page_without_a_part_is_refused(results):
    page = results_page.PAGE.read_text(encoding="utf-8").replace("<!-- order:", "<!-- other:")
    with pytest.raises(SystemExit, match="must have the part order once, not 0 times"):
        results_page.fill_page(page, results)


def test_sentences_by_hand(results):
    assert grid_tables.grid_sentence(results) == (
        "Of 810 combinations, 810 were run: 808 of them once, 2 of them 10 times. With "
        "naive Bayes, the best "
        "combination that was run most often is ε = 55, *n* = 150, *s* = 0.3, morphology = lemma, "
        "synsets = false, with a smallest gain of 30.0 %; the paper's optimum has 10.0 % and is "
        "number 2 of these 2."
    )
    assert grid_tables.summary_sentence(results) == (
        "At the paper's optimum, the attacker keeps 80 % of its score here, not 66 %, and the "
        "analyst's gain over it is 10 points, not 20 (naive Bayes, Top 10/Any)."
    )
    assert grid_tables.criterion_sentence(results).endswith("2 of 810 combinations have 10.")
    assert "| attack at the optimum, Top 10/Any | .200 ± .012 | .42 |" in (
        grid_tables.summary_table(results)
    )


def test_gains_by_s_and_scrubbing_by_hand(results):
    assert "| naive Bayes | 0.3 | 10.0 % |" in grid_tables.spelling_section(results)
    assert "| naive Bayes | 0.4 | 20.0 % |" in grid_tables.spelling_section(results)
    rows = [
        *some_results(),
        result("scrubadub-names", 0.4),
        result("scrubadub-names", 0.2, scenario="top10-any"),
    ]
    assert grid_tables.scrubbing_section(Results(rows)) == (
        "| model | method | β_U | β_A, Top 10/Any |\n"
        "|---|---|---|---|\n"
        "| naive Bayes | SynTF | 90.0 % | 80.0 % |\n"
        "| naive Bayes | scrubadub 2.x | – | – |\n"
        "| naive Bayes | scrubadub with names | 80.0 % | 80.0 % |\n"
        "\n"
        "Scrubbing has no guarantee.\n"
    )


def test_means_are_over_all_combinations_with_a_value(results):
    lines = grid_tables.effects_table(results).splitlines()
    assert len(lines) == 2 + sum(map(len, paper.GRID.values()))
    assert "| ε | 55 | 90 | 90.0 % | 30.0 % |" in lines
    assert "| ε | 47.5 | 90 | 90.0 % | 19.9 % |" in lines  # 89 times .2, once .1
    assert "| synsets | true | 405 | 90.0 % | 21.1 % |" in lines  # 8 of 9 ε have .2, one .3


def test_stored_results_are_rounded_and_repeatable(tmp_path):
    rows = some_results()[:6]
    for name in ("one", "two"):
        results_page.store(rows, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    found = list(results_page.read_stored(tmp_path / "one"))
    for before, after in zip(rows, found, strict=True):
        assert after.key == before.key
        assert after.f1 == round(before.f1, 5)
        assert after.loss_per_word == (None if before.loss_per_word is None else 25.61235)
    write_results(tmp_path / "again.csv", found)
    assert read_results(tmp_path / "again.csv") == found


def test_empty_results_give_a_page_of_dashes():
    page = results_page.PAGE.read_text(encoding="utf-8")
    written = results_page.fill_page(page, Results([]))
    assert "The optimum of the paper was not run." in written
    assert "None" not in written
