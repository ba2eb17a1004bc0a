import ast
import os
from pathlib import Path

import numpy as np
import pytest

import syntf
from syntf.core import entropy


def test_integers_are_the_top_bits_of_eight_bytes_each():
    raw = bytes(range(1, 17))
    expected = [int.from_bytes(raw[i : i + 8], "little") >> 2 for i in (0, 8)]
    assert entropy.integers(lambda size: raw[:size], 2, 62).tolist() == expected


def test_integers_reach_both_ends_and_no_further():
    assert entropy.integers(lambda size: b"\xff" * size, 1, 62).tolist() == [2**62 - 1]
    assert entropy.integers(lambda size: b"\0" * size, 1, 62).tolist() == [0]


def test_too_few_random_bytes_raise_an_error():
    with pytest.raises(RuntimeError, match="15 bytes instead of 16"):
        entropy.integers(lambda size: bytes(15), 2, 62)


def test_a_failing_system_raises(monkeypatch):
    def fail(size):
        raise NotImplementedError("no entropy here")

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(NotImplementedError):
        entropy.integers(entropy.system, 1, 62)


def test_the_seeded_source_repeats_and_its_calls_differ():
    one, two = entropy.Seeded(7), entropy.Seeded(7)
    assert [one(9), one(9)] == [two(9), two(9)]
    assert entropy.Seeded(7)(9) != entropy.Seeded(8)(9)
    assert one(9) != one(9)


def test_permutations_are_uniform():
    """All 24 orders of 4 things, 24,000 draws: chi-square with 23 degrees, at 1e-6."""
    orders = [tuple(entropy.permutation(entropy.system, 4)) for _ in range(24_000)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in set(orders))
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert ((counts - 1000) ** 2 / 1000).sum() < 75.4


def test_the_package_imports_no_random_generator():
    """trust: the operating system's entropy only. What evaluates draws for no release."""
    banned = {"random", "secrets", "uuid"}
    package = Path(syntf.__file__).parent
    for path in package.rglob("*.py"):
        evaluates = {"evaluation", "research"} & set(path.relative_to(package).parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Attribute) and not evaluates:
                names = [node.attr] if node.attr == "random" else []
            for name in names:
                assert name.split(".")[0] not in banned, path
                assert not name.startswith("numpy.random"), path
