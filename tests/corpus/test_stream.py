"""The stream of bits is the same everywhere, and its numbers have the right distribution."""

from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from syntf.core.exact import EXACT
from syntf.corpus.sample import _LOGIT, FREQUENCY
from syntf.corpus.stream import NORMAL_SCALE, Stream, _quantiles

STREAM = Stream(b"a seed")


def test_bits_are_those_of_any_machine():
    assert STREAM.integers("frozen", 5, 16).tolist() == FROZEN
    assert STREAM.integers("frozen", 5, 12).tolist() == [number >> 4 for number in FROZEN]
    assert STREAM.integers("frozen", 3, 63).max() < 2**63


FROZEN = [7056, 63239, 17634, 44935, 53922]


def test_seeds_and_names_give_different_bits():
    streams = (STREAM, Stream(b"a see"), Stream(b""))
    names = ("dx", "x", "", "d")
    found = {stream.integers(n, 4, 16).tobytes() for stream in streams for n in names}
    assert len(found) == len(streams) * len(names)


@pytest.mark.parametrize("bits", [1, 5, 16, 20])
def test_integers_are_uniform(bits):
    drawn = STREAM.integers("uniform", 200_000, bits) >> max(0, bits - 6)
    assert chisquare(np.bincount(drawn, minlength=2 ** min(bits, 6))).pvalue > 1e-6


def test_normals_are_normal():
    drawn = STREAM.normals("normal", 300_000) / NORMAL_SCALE
    assert kstest(drawn, "norm").pvalue > 1e-6
    assert kstest(drawn * 1.02, "norm").pvalue < 1e-6
    neighbours = np.corrcoef(drawn[:-1], drawn[1:])[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(len(drawn))
    table = _quantiles()
    assert (table == -table[::-1]).all()
    assert (np.diff(table.astype(int)) >= 0).all()
    assert table.astype(float).std() / NORMAL_SCALE == pytest.approx(1, abs=1e-3)


def test_no_quantile_could_be_rounded_to_two_integers():
    from statistics import NormalDist

    upper = [NormalDist().inv_cdf(0.5 + (i + 0.5) / 65536) for i in range(32768)]
    apart = np.abs((np.array(upper) * NORMAL_SCALE) % 1 - 0.5)
    assert apart.min() > 1e-7  # a float64 is exact to about 1e-11 here


def test_no_frequency_could_be_rounded_to_two_integers():
    logits = -FREQUENCY * _LOGIT * np.log(np.arange(200_000) + 200.0)
    assert np.abs(logits % 1 - 0.5).min() > 1e-7  # a float64 is exact to about 1e-9 here
    exact = EXACT.multiply(EXACT.ln(Decimal(1200)), Decimal(-FREQUENCY * _LOGIT))
    assert abs(float(exact) - logits[1000]) < 1e-8


def test_a_permutation_has_everything_once():
    order = STREAM.permutation("order", 1000)
    assert (np.sort(order) == np.arange(1000)).all()
    assert (order != np.arange(1000)).sum() > 900
