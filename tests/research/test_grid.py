"""Parts of the parameter grid of the paper."""

import pytest

from syntf.core.errors import SyntfError
from syntf.research.grid import combinations, figure_parameters, parse_grid
from syntf.research.paper import GRID, OPTIMUM


def test_full_grid_has_all_combinations():
    full = parse_grid(["full"])
    assert len(full) == len(set(full)) == 3 * 2 * 5 * 3 * 9
    assert OPTIMUM in full
    assert GRID["epsilon"][0] == 35
    assert GRID["epsilon"][-1] == 55


def test_other_parameters_stay_at_the_optimum():
    found = parse_grid(["epsilon=35,47.5", "length=100"])
    assert found == combinations(epsilon=(35.0, 47.5), length=(100,))
    assert {(one.spelling, one.morphology, one.synsets) for one in found} == {(0.3, "lemma", False)}


def test_names_and_booleans_are_parsed():
    assert [one.synsets for one in parse_grid(["synsets=true,false"])] == [True, False]
    assert [one.morphology for one in parse_grid(["morphology=all"])] == ["lemma", "lower", "orth"]


def test_no_option_gives_no_parameters():
    assert parse_grid([]) == []


def test_figures_need_each_epsilon_and_each_spelling():
    found = figure_parameters()
    assert found[0] == OPTIMUM
    assert len(found) == len(set(found)) == 9 + 5 - 1


@pytest.mark.parametrize(
    "option", ["", "epsilon", "epsilon=", "size=3", "epsilon=a", "length=1.5", "morphology=stem",
               "synsets=maybe", "epsilon=35,,40"],
)  # fmt: skip
def test_invalid_options_are_refused(option):
    with pytest.raises(SyntfError, match="--grid"):
        parse_grid([option])
