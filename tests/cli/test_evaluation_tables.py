"""The tables that `syntf evaluate` prints."""

from syntf.cli.evaluation_tables import linkage_table
from syntf.evaluation.attack.linkage import LinkageAttack, LinkageScore


def test_chance_has_a_figure_for_each_column_that_was_measured():
    score = LinkageScore(0.9, 0.4, None, 10, 500)
    for pairs in (["any"], ["any", "same label"]):
        table = linkage_table([LinkageAttack("document", one, "syntf", score) for one in pairs])
        cells = [list(column.cells) for column in table.columns]
        assert len(cells) == 1 + 3 * len(pairs)
        assert [column[-1] for column in cells[1:]] == [".500", ".010", ".001"] * len(pairs)
