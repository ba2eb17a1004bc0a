"""Every reader and every writer, on one machine: no text changes anything but its own counts."""

import pytest
from machine import INPUTS
from one_machine import GIVEN, budget, compare, generated, rows
from pairs import TEXTS, check

from syntf.releases.contents.writers import WRITERS

pytestmark = pytest.mark.slow

every_input = pytest.mark.parametrize("name", INPUTS)
every_output = pytest.mark.parametrize("format", WRITERS)


@every_input
@every_output
@budget(7)
@GIVEN
def test_generated_texts(machine, trust, name, format, case, tried):
    generated(machine, trust, name, format, case, tried)


@every_input
def test_texts_that_might_break_a_format(machine, trust, name):
    number = list(INPUTS).index(name)
    compare(
        machine, name, TEXTS.values(), number=5, place=2, suffix="", sizes=1,
        shuffle=bool(number % 2), with_id=True, with_keep=True,
        format=list(WRITERS)[number % len(WRITERS)], trust=trust,
    )  # fmt: skip


@pytest.mark.slow
@every_input
def test_a_text_of_20_megabytes(machine, trust, name):
    compare(
        machine, name, ["cat, dog\n" * 2_300_000, "x" * 20_000_000], number=4, place=1, suffix="",
        sizes=0, shuffle=True, with_id=True, with_keep=True, format="npz", trust=trust,
    )  # fmt: skip


@every_input
@pytest.mark.parametrize("more", [["--json"], ["--shuffle", "--format", "text"]])
def test_what_the_command_prints(machine, capsys, trust, name, more):
    made = []
    for text in ("cat", "", "a,\r\nb\n\nFrom \0", "17", "cat dog " * 3000):
        path = machine.write(name, rows(1, text, 4))
        made.append(machine.command(path, capsys, *more))
        assert made[-1].status == 0
    for second in made[1:]:
        check(made[0], second, None if "--shuffle" in more else 1)
        trust["pairs compared by the non-interference suite"] += 1
