"""The paper's Table 2 and its subsets."""

import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.paper import GRID, OPTIMUM
from syntf.research.grid import cells, curves, parse


def test_the_full_grid_has_all_combinations():
    full = parse(["full"])
    assert len(full) == len(set(full)) == 3 * 2 * 5 * 3 * 9
    assert OPTIMUM in full
    assert GRID["epsilon"][0] == 35
    assert GRID["epsilon"][-1] == 55


def test_what_is_not_named_stays_at_the_optimum():
    found = parse(["epsilon=35,47.5", "length=100"])
    assert found == cells(epsilon=(35.0, 47.5), length=(100,))
    assert {(cell.spelling, cell.morphology, cell.synsets) for cell in found} == {
        (0.3, "lemma", False)
    }


def test_names_and_truth_values():
    assert [cell.synsets for cell in parse(["synsets=true,false"])] == [True, False]
    assert [cell.morphology for cell in parse(["morphology=all"])] == ["lemma", "lower", "orth"]


def test_no_option_is_no_cell():
    assert parse([]) == []


def test_the_figures_need_each_epsilon_and_each_spelling():
    found = curves()
    assert found[0] == OPTIMUM
    assert len(found) == len(set(found)) == 9 + 5 - 1


@pytest.mark.parametrize(
    "option", ["", "epsilon", "epsilon=", "size=3", "epsilon=a", "length=1.5", "morphology=stem",
               "synsets=maybe", "epsilon=35,,40"],
)  # fmt: skip
def test_other_options_are_refused(option):
    with pytest.raises(SyntfError, match="--grid"):
        parse([option])
