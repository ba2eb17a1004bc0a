"""Measure the loss of, and draw from, vocabularies of growing size."""

import os

from suite.figures import Figure, compared, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "Vocabularies: measuring the loss, drawing"
NOTE = """\
Embedded vectors of 100 dimensions, s = 0.3, as many input words as output words, all cores.
*Measuring* starts with the vectors in memory and an empty cache. It computes the paper's rating
and its tight loss at ε = 47.5, or the nearest neighbour of each word (ε = 20). *Drawing* is one
call for 250,000 words, or 4,000,000 with neighbours; frequent words come more often. The *bare
product* multiplies the same vectors in blocks, in float32, and drops the results."""

LIMIT_SIZE = 25_000
CORES = {"OMP_NUM_THREADS": str(os.cpu_count())}
"""The matrix product uses all cores too, whatever the environment says."""
KINDS = {"paper": "the paper's rating", "neighbourhood": "neighbourhood"}


def groups(place: Place) -> list[list[Row]]:
    made = []
    for size in place.sizes:
        rounds = place.rounds if size == LIMIT_SIZE else place.few if size < LIMIT_SIZE else 1
        rows = [_product(size, rounds)]
        for kind in KINDS:
            rows += [_row(place, kind, step, size, rounds) for step in ("measure", "draw")]
        if size == LIMIT_SIZE:
            rows.append(_row(place, "paper", "measure", size, 1, "numpy"))
        made.append(rows)
    return made


def _product(size: int, rounds: int) -> Row:
    title, command = f"{size:,} words: the bare product", worker("bare", "product", size)
    return Row(f"tables/product/{size}", title, command, "fresh", rounds, env=CORES)


def _row(
    place: Place, kind: str, step: str, size: int, rounds: int, loops: str = "compiled"
) -> Row:
    doing = "drawing" if step == "draw" else "measuring"
    other = "" if loops == "compiled" else ", NumPy's loops"
    return Row(
        f"tables/{kind}-{step}{'-numpy' if other else ''}/{size}",
        f"{size:,} words: {KINDS[kind]}, {doing}{other}",
        worker("table", kind, step, size, loops),
        "fresh",
        rounds,
        amount="words" if step == "draw" else "",
        env={**place.env, **CORES},
    )


def figures(found: Results) -> list[Figure]:
    made: list[Figure] = []
    sizes = sorted(int(key.rpartition("/")[2]) for key in found if "/product/" in key)
    for size in sizes:
        bare = found[f"tables/product/{size}"]
        must, aim = (4.0, 2.0) if size == LIMIT_SIZE else (None, None)
        made += compared(
            f"tables/paper-{size}", f"tight loss, {size:,} words, against the bare product",
            found[f"tables/paper-measure/{size}"], bare, must=must, aim=aim,
        )  # fmt: skip
        made += compared(
            f"tables/neighbours-{size}", f"neighbours, {size:,} words, against the bare product",
            found[f"tables/neighbourhood-measure/{size}"], bare,
        )  # fmt: skip
    made += compared(
        "tables/numpy",
        f"tight loss, {LIMIT_SIZE:,} words, NumPy's loops, against the bare product",
        found[f"tables/paper-measure-numpy/{LIMIT_SIZE}"], found[f"tables/product/{LIMIT_SIZE}"],
    )  # fmt: skip
    for size in sizes[-1:]:
        made += plain(
            f"tables/memory-{size}",
            f"peak memory, measuring {size:,} words, {os.cpu_count()} cores",
            found[f"tables/paper-measure/{size}"], of="peak", unit="MB",
        )  # fmt: skip
    return made
