"""Compare releases of one machine: no text changes anything but its own counts."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machine import COMPRESS, INPUTS, SIZES, compressible
from pairs import check, texts

ORDINARY = ["the cat and the dog", "a bus, a train", "", "music by the river", "bread"]
VARIANTS = 9
"""Texts tried in each generated case, in place of the same document."""


def rows(place, text, number):
    """Documents, one of which has a given text."""
    return [
        (f"d{i}", f"t{i % 2}", text if i == place else ORDINARY[i % len(ORDINARY)])
        for i in range(number)
    ]


def compare(machine, name, tried, *, number, place, suffix, sizes, trust, **options):
    """Compare releases with each text tried to one with an ordinary text."""
    format = INPUTS[name]
    released = {
        "id": format.id if options.pop("with_id") else None,
        "keep": [format.topic] if options.pop("with_keep") else [],
        **options,
    }
    made = []
    for text in ("cat", *tried):
        path = machine.write(name, rows(place, text, number), suffix)
        made.append(machine.run(path, sizes=sizes, **released))
    known = place if not released["shuffle"] else None
    for second in made[1:]:
        differs = check(made[0], second, known)
        if differs is not None:
            again = machine.rebuilt(made[0], second, differs, released["format"])
            assert again == {**second.files, **second.sealed}
        trust["pairs compared by the non-interference suite"] += 1


CASES = {
    "number": st.integers(1, 7),
    "place": st.integers(0, 6),
    "suffix": st.sampled_from(["", "", *COMPRESS]),
    "sizes": st.integers(0, len(SIZES) - 1),
    "shuffle": st.booleans(),
    "with_id": st.booleans(),
    "with_keep": st.booleans(),
}


def generated(machine, trust, name, format, case, tried):
    case["place"] %= case["number"]
    if not compressible(name):
        case["suffix"] = ""
    compare(machine, name, tried, format=format, trust=trust, **case)


def budget(examples):
    return settings(
        max_examples=examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


GIVEN = given(
    case=st.fixed_dictionaries(CASES),
    tried=st.lists(texts(), min_size=VARIANTS, max_size=VARIANTS),
)
