"""The paper's tables and its criterion for the best parameters."""

import dataclasses
from itertools import product
from math import prod

import pytest

from syntf.evaluation.attack.scenarios import AttackScenario
from syntf.evaluation.experiment.results import Parameters, Result, Results
from syntf.research import paper, paper_tables
from syntf.research.paper import OPTIMUM

OTHER = OPTIMUM._replace(epsilon=40.0, spelling=0.0)


def result(method, f1, parameters=None, *, model="nb", scenario="", attacker="writeprints", **more):
    scores = {"runs": 1, "f1": f1, "precision": f1 + 0.02, "recall": f1 + 0.01} | more
    return Result(
        method=method,
        task="attack" if scenario else "utility",
        scenario=scenario,
        model=model,
        attacker=attacker if scenario else "",
        **(parameters or Parameters())._asdict(),
        **scores,
    )


def some():
    """Both cells in two scenarios, with one model and two orders of words."""
    many = {"runs": 10, "f1_std": 0.0125, "loss_per_word": 25.614}
    return [
        result("original", 0.7),
        result("original", 0.6, scenario="top5-any"),
        result("original", 0.5, scenario="top10-any"),
        result("vectorised", 0.55, scenario="top10-any"),
        result("syntf", 0.63, OPTIMUM, **many),
        result("syntf", 0.54, OPTIMUM, scenario="top5-any", **many),
        result("syntf", 0.4, OPTIMUM, scenario="top10-any", **many),
        result("syntf", 0.1, OPTIMUM, scenario="top10-any", attacker="writeprints-random"),
        result("syntf", 0.56, OTHER, runs=10),
        result("syntf", 0.45, OTHER, scenario="top5-any", runs=10),
        result("syntf", 0.39, OTHER, scenario="top10-any", runs=10),
        result("scrubadub-names", 0.665),
        result("scrubadub-names", 0.45, scenario="top10-any"),
    ]


ROWS = [
    AttackScenario("top5-any", "abcde", range(218), range(155), 35, 17),
    AttackScenario("mine", "abcdefg", range(12345), range(1000), 3, 2),
]


def test_scenarios_alone_and_beside_the_paper():
    assert paper_tables.scenarios_table(ROWS) == (
        "| scenario | authors | train per author ≥ | test per author ≥ | train | test |\n"
        "|---|---|---|---|---|---|\n"
        "| Top 5/Any | 5 | 35 | 17 | 218 | 155 |\n"
        "| mine | 7 | 3 | 2 | 12,345 | 1,000 |\n"
    )
    beside = paper_tables.scenarios_table(ROWS, beside_paper=True).splitlines()
    assert beside[0].startswith("| scenario, here (paper) | authors |")
    assert beside[2:] == [
        "| Top 5/Any | 5 (5) | 35 (35) | 17 (17) | 218 | 155 |",
        "| mine | 7 | 3 | 2 | 12,345 | 1,000 |",
    ]


def test_authors_beside_the_paper():
    assert paper_tables.authors_table(5733, 23) == (
        "|  | here | paper |\n"
        "|---|---|---|\n"
        "| authors | 5,733 | 5,735 |\n"
        "| with 20 messages or more | 23 | 24 |\n"
    )


def test_parameters_and_the_best_of_them():
    """Least gains: .9 − .9 = 0 at the optimum, .8 − .78 at the other parameters."""
    assert paper_tables.parameters_table(Results(some())) == (
        "| parameter | paper | here | optimum, paper | best here, naive Bayes |\n"
        "|---|---|---|---|---|\n"
        "| ε | 35, 37.5, 40, 42.5, 45, 47.5, 50, 52.5, 55 | 40, 47.5 | 47.5 | 40 |\n"
        "| *n* | 100, 150, 200 | 150 | 150 | 150 |\n"
        "| *s* | 0, 0.1, 0.2, 0.3, 0.4 | 0, 0.3 | 0.3 | 0 |\n"
        "| morphology | lemma, lower, orth | lemma | lemma | lemma |\n"
        "| synsets | false, true | false | false | false |\n"
        "| combinations | 810 | 2 | – | – |\n"
        "| runs of each | 10 | 10 | – | – |\n"
        "| loss per word ℓ | – | – | 25.4 | – |\n"
        "| smallest gain β_U − β_A | – | – | – | 2.0 % |\n"
    )


def test_loss_is_that_of_the_best_parameters():
    best_only = [each for each in some() if each.parameters != OTHER]
    lines = paper_tables.parameters_table(Results(best_only)).splitlines()
    assert lines[-2:] == [
        "| loss per word ℓ | – | – | 25.4 | 25.61 |",
        "| smallest gain β_U − β_A | – | – | – | 0.0 % |",
    ]


def test_parameters_are_sorted_by_smallest_gain():
    half = OTHER._replace(length=100)
    rows = [*some(), result("syntf", 0.14, half), result("syntf", 0.5, half, scenario="top5-any")]
    assert paper_tables.gains_table(Results(rows), "nb") == (
        "| ε | *n* | *s* | morphology | synsets | runs | ℓ | β_U | gain, Top 5/Any "
        "| gain, Top 10/Any | smallest gain |  |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        "| 40 | 150 | 0 | lemma | false | 10 | – | 80.0 % | 5.0 % | 2.0 % | 2.0 % | best |\n"
        "| 47.5 | 150 | 0.3 | lemma | false | 10 | 25.61 | 90.0 % | 0.0 % | 10.0 % | 0.0 % "
        "| the paper's |\n"
        "| 40 | 100 | 0 | lemma | false | 1 | – | 20.0 % | −63.3 % | – | – |  |\n"
    )
    of_ten_runs = paper_tables.gains_table(Results(rows), "nb", min_runs=10).splitlines()
    assert of_ten_runs == paper_tables.gains_table(Results(rows), "nb").splitlines()[:-1]
    numbers = paper_tables.parameters_table(Results(rows)).splitlines()[-3]
    assert numbers == "| runs of each | 10 | 1 (1 of them), 10 (2 of them) | – | – |"


def test_comparison_beside_the_paper():
    found = paper_tables.comparison_table(
        Results(some()), OPTIMUM, "top10-any", "nb", beside_paper=True
    )
    assert found == (
        "| method, here (paper) | utility F1 | P | R | attack F1 | P | R | gain |\n"
        "|---|---|---|---|---|---|---|---|\n"
        "| original text | 0.700 (0.69) | 0.720 (0.71) | 0.710 (0.70) "
        "| 0.500 (0.64) | 0.520 (0.71) | 0.510 (0.63) | 0.200 (0.06) |\n"
        "| SynTF, absolute | 0.630 ± 0.013 (0.60) | 0.650 (0.61) | 0.640 (0.61) "
        "| 0.400 ± 0.013 (0.42) | 0.420 (0.44) | 0.410 (0.43) | 0.230 (0.18) |\n"
        "| scrubadub 2.x, absolute | – | – | – | – | – | – | – |\n"
        "| scrubadub with names, absolute | 0.665 (0.64) | 0.685 (0.65) | 0.675 (0.65) "
        "| 0.450 (0.57) | 0.470 (0.63) | 0.460 (0.57) | 0.215 (0.06) |\n"
        "| SynTF, relative | 90.0 % (87 %) | 90.3 % (86 %) | 90.1 % (87 %) "
        "| 80.0 % (66 %) | 80.8 % (61 %) | 80.4 % (69 %) | 10.0 % (20 %) |\n"
        "| scrubadub 2.x, relative | – | – | – | – | – | – | – |\n"
        "| scrubadub with names, relative | 95.0 % (92 %) | 95.1 % (92 %) | 95.1 % (92 %) "
        "| 90.0 % (90 %) | 90.4 % (88 %) | 90.2 % (91 %) | 5.0 % (2 %) |\n"
    )


def test_comparison_with_another_order_of_words():
    rows = [
        *some(),
        result("scrubadub", 0.35),
        result("scrubadub", 0.5, scenario="top10-any"),
    ]
    order = {"attacker": "writeprints-random"}
    lines = paper_tables.comparison_table(
        Results(rows), OPTIMUM, "top10-any", "nb", **order
    ).splitlines()
    assert lines[0] == "| method | utility F1 | P | R | attack F1 | P | R | gain |"
    assert lines[3] == (
        "| SynTF, absolute | 0.630 ± 0.013 | 0.650 | 0.640 | 0.100 | 0.120 | 0.110 | 0.530 |"
    )
    assert lines[4] == (
        "| scrubadub 2.x, absolute | 0.350 | 0.370 | 0.360 | 0.500 | 0.520 | 0.510 | −0.150 |"
    )
    assert lines[7].endswith("| 100.0 % | 100.0 % | 100.0 % | −50.0 % |")


def test_attackers_by_the_order_of_words():
    rows = [*some(), result("original", 0.8, scenario="top5-any", attacker="words", model="svm")]
    assert paper_tables.attackers_table(Results(rows), OPTIMUM) == (
        "| model | data | attacker | Top 5/Any | Top 10/Any |\n"
        "|---|---|---|---|---|\n"
        "| naive Bayes | original text | WritePrints | 0.600 | 0.500 |\n"
        "| naive Bayes | vectorised | WritePrints, alphabetical | – | 0.550 |\n"
        "| naive Bayes | SynTF | WritePrints, alphabetical | 0.540 ± 0.013 | 0.400 ± 0.013 |\n"
        "| naive Bayes | SynTF | WritePrints, random order | – | 0.100 |\n"
        "| linear SVM | original text | words | 0.800 | – |\n"
    )


def every_table(results):
    yield paper_tables.parameters_table(results)
    yield paper_tables.attackers_table(results, OPTIMUM)
    for model in ("nb", "svm"):
        yield paper_tables.gains_table(results, model)
        for scenario, beside in product(paper.SCENARIOS, (False, True)):
            yield paper_tables.comparison_table(
                results, OPTIMUM, scenario, model, beside_paper=beside
            )


@pytest.mark.parametrize("left_out", range(len(some()) + 1))
def test_partial_results_give_partial_tables(left_out):
    """Without any one result, with one alone, and the others as well: every table has its form."""
    rows = some()
    for kept in (rows[:left_out] + rows[left_out + 1 :], rows[left_out : left_out + 1], []):
        for table in every_table(Results(kept)):
            lines = table.splitlines()
            assert len(lines) >= 3
            assert len({line.count("|") for line in lines}) == 1
            assert "None" not in table
            assert "nan" not in table


def test_missing_results_are_dashes():
    empty = Results([])
    assert paper_tables.attackers_table(empty, OPTIMUM).splitlines()[-1] == "| – | – | – |"
    lines = paper_tables.comparison_table(
        empty, OPTIMUM, "top10-any", "nb", beside_paper=True
    ).splitlines()
    assert lines[3] == (
        "| SynTF, absolute | – (0.60) | – (0.61) | – (0.61) | – (0.42) | – (0.44) | – (0.43) "
        "| – (0.18) |"
    )


def test_zero_gain_has_no_sign():
    rows = [dataclasses.replace(each, f1=0.6) for each in some()]
    rows[4] = dataclasses.replace(rows[4], f1=0.6 - 1e-9)
    table = paper_tables.comparison_table(Results(rows), OPTIMUM, "top10-any", "nb")
    assert "| 0.0 % |\n" in table
    assert "−0.0 %" not in table


def test_published_numbers_agree_with_each_other():
    """To the two digits that were printed: differences and shares of rounded scores."""
    for method, row in paper.ABSOLUTE.items():
        assert row[6] == pytest.approx(row[0] - row[3], abs=0.0151)
        if method != "original":
            original, printed = paper.ABSOLUTE["original"], paper.RELATIVE[method]
            shares = [ours / whole for ours, whole in zip(row[:6], original[:6], strict=True)]
            assert printed[:6] == pytest.approx(shares, abs=0.016)
            assert printed[6] == pytest.approx(printed[0] - printed[3], abs=0.0151)
    assert prod(map(len, paper.GRID.values())) == 810
    assert paper.OPTIMUM in {Parameters(*values) for values in product(*paper.GRID.values())}
    assert list(paper.GRID) == list(Parameters._fields)
    assert paper.AUTHORS - paper.FREQUENT_AUTHORS == 5711
