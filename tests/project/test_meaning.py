"""Every number in docs/meaning.md is computed again and compared."""

import doctest
import re
import sys
from pathlib import Path

import pytest

from syntf.cli import app as cli

PAGE = Path(__file__).parents[2] / "docs" / "meaning.md"
BLOCK = r"^```text\n(.*?)^```$"
COMMAND = "bounds --neighbours 1 --loss {} --max-size 3500 --length 100 --documents 50 --delta 1e-6"


def test_doctests_of_the_page():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried) == (0, 4)


@pytest.mark.parametrize(("loss", "block"), [(10, 0), (2, 1)])
def test_output_of_the_command_is_as_shown(capsys, monkeypatch, loss, block):
    page = PAGE.read_text(encoding="utf-8")
    assert f"`syntf {COMMAND.format(10)}`" in page
    shown = re.findall(BLOCK, page, re.MULTILINE | re.DOTALL)
    monkeypatch.setattr(sys, "argv", ["syntf", *COMMAND.format(loss).split()])
    with pytest.raises(SystemExit):
        cli.main()
    out = "".join(line.rstrip() + "\n" for line in capsys.readouterr().out.splitlines())
    assert out == shown[block]


def test_figures_in_the_text_occur_in_the_output():
    page = PAGE.read_text(encoding="utf-8")
    blocks = "".join(re.findall(BLOCK, page, re.MULTILINE | re.DOTALL))
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    for figure in ("989.90", "44,269.88", "9.54"):
        assert figure in prose
        assert figure in blocks
    assert "86.3 % of draws" in prose
    assert "86.3% of draws" in blocks
