"""Discrete Gaussian noise: exact at every comparison, and broken samplers that must be found."""

import json
import os
import subprocess
from bisect import bisect_right
from copy import deepcopy
from functools import lru_cache
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.mechanism import gaussian
from syntf.mechanism.gaussian import MOST_VARIANCE, DiscreteGaussian

PLACES = 300  # of the exact numbers that draws are compared with
LARGE = 100_000_000  # σ = 10,000: blocks of 256
SURE = 1e-6


def exponential(part, whole):
    """Return 2^300 · exp(−part/whole) to nearly 300 places, by the series of its inverse."""
    one = term = total = 1 << PLACES + 20
    n = 0
    while term:
        n += 1
        term = term * part // (whole * n)
        total += term
    return (one << PLACES) // total


@lru_cache(maxsize=20)
def cumulative(variance, width):
    """Return 2^300 · P(block < q) for q = 1, 2, …, until the tail is below 2^−250."""
    weights = []
    while not weights or weights[-1] >> PLACES - 250:
        weights.append(exponential((len(weights) * width) ** 2, 2 * variance))
    total = sum(weights)
    return [(upto << PLACES) // total for upto in accumulate(weights)]


def pieces(u, more):
    """Cut a number into its first bits and `more` words of 64 bits."""
    return [u >> 64 * more, *((u >> 64 * i) % (1 << 64) for i in reversed(range(more)))]


class Script:
    """A source of prepared words, then of zeros. A proposal of zeros is accepted as the value 0."""

    def __init__(self, *words):
        self.words = list(words)
        self.sizes = []

    def __call__(self, size):
        self.sizes.append(size)
        taken, self.words = self.words[: size // 8], self.words[size // 8 :]
        taken += [0] * (size // 8 - len(taken))
        return b"".join(word.to_bytes(8, "little") for word in taken)


def width_of(noise):
    return 1 << noise._shift


def middle_of_block(noise, q):
    """Return a first word that chooses block q."""
    return sum(noise._first_bounds[q : q + 2].tolist()) // 2 << 2


def wrong_blocks(kind, variance, ending):
    """Count the first 12 bits from which the sampler finds another block than exact numbers do."""
    noise = kind(variance, bits=12)
    exact = cumulative(variance, width_of(noise))
    wrong = 0
    for point in range(4096):
        source = Script(point << 52, 0, ending)
        block = noise.sample(1, source)[0] >> noise._shift
        if source.sizes == [16]:  # settled: the least and the greatest U give the same block
            wrong += block != bisect_right(exact, point << PLACES - 12)
            wrong += block != bisect_right(exact, (point + 1 << PLACES - 12) - 1)
        else:
            wrong += block != bisect_right(exact, (point << 64 | ending) << PLACES - 76)
    return wrong


@pytest.mark.parametrize("ending", [0, 1 << 63, (1 << 64) - (1 << 30)])
@pytest.mark.parametrize("variance", [1, 7, 30, 5000])
def test_all_first_12_bits_give_the_block_of_the_exact_inverse(variance, ending):
    """Bits that do not settle a block are continued by `ending`."""
    assert wrong_blocks(DiscreteGaussian, variance, ending) == 0


@pytest.mark.parametrize("variance", [1, 40, 5000, LARGE, 1 << 40])
def test_a_block_at_its_boundary_is_settled_exactly(variance):
    """U agrees with a boundary to 62 + 64·more bits, and lies 5 units of the last beside it."""
    noise = DiscreteGaussian(variance)
    exact = cumulative(variance, width_of(noise))
    for more in (0, 1, 2):
        unused = PLACES - 62 - 64 * more
        for q in (1, 2, len(noise._first_bounds) // 4):
            for step in (-5, 5):
                u = (exact[q - 1] >> unused) + step
                first, *rest = pieces(u, more)
                source = Script(first << 2, 0, *rest)
                value = noise.sample(1, source)[0]
                assert value == bisect_right(exact, u << unused) * width_of(noise)
                assert value == (q - (step < 0)) * width_of(noise)
                assert source.sizes == [16] + [8] * more


@pytest.mark.parametrize("variance", [5000, LARGE, 1 << 40, MOST_VARIANCE])
def test_an_acceptance_at_its_boundary_is_settled_exactly(variance):
    """U agrees with exp(−x) to 31 + 64·more bits, and lies a little beside it."""
    noise = DiscreteGaussian(variance)
    offset = width_of(noise) - 1
    for more in (0, 1, 2):
        for q in (1, 30, 200):
            value = q * width_of(noise) + offset
            part = offset * (2 * q * width_of(noise) + offset)
            exact = exponential(part, 2 * variance) >> PLACES - 31 - 64 * more
            for step in (-5, 5) if more else (-16, 16):
                first, *rest = pieces(exact + step, more)
                source = Script(middle_of_block(noise, q), first << 33 | offset, *rest)
                assert noise.sample(1, source).tolist() == [value if step < 0 else 0]
                assert source.sizes == [16] + [8] * more + [16] * (step > 0)


@pytest.mark.parametrize("variance", [1, 50, LARGE])
def test_the_tail_has_no_end(variance):
    """U = 1 − 2^−ones has its exact block, far beyond the first table."""
    noise = DiscreteGaussian(variance)
    exact = cumulative(variance, width_of(noise))
    for ones in (58, 62, 100, 230):
        u = (1 << 254) - (1 << 254 - ones)
        first, *rest = pieces(u, 3)
        value = noise.sample(1, Script(first << 2, 0, *rest))[0]
        assert value == bisect_right(exact, u << PLACES - 254) * width_of(noise)
    assert value > 16 * variance**0.5


@pytest.mark.parametrize("step", [-5, 5])
@pytest.mark.parametrize("variance", [(1 << 26) - 1, MOST_VARIANCE])
def test_a_far_block_is_accepted_exactly(variance, step):
    """Block 40,000 does not fit the arithmetic of 64 bits."""
    noise = DiscreteGaussian(variance)
    noise._first_bounds = np.full(40_001, -3)  # every U chooses it, without thousands of bits
    width, offset = width_of(noise), width_of(noise) - 1
    exact = exponential(offset * (80_000 * width + offset), 2 * variance)
    second, more = pieces((exact >> PLACES - 95) + step, 1)
    found = noise._accepted(1, Script(0, second << 33 | offset, more))
    assert found.tolist() == [40_000 * width + offset] * (step < 0)


@given(
    variance=st.integers(1 << 11, MOST_VARIANCE),
    block=st.integers(0, 1024),
    share=st.floats(0, 1),
)
def test_the_exponential_of_31_bits_keeps_to_its_error(variance, block, share):
    width = width_of(DiscreteGaussian(variance, bits=8))
    offset = int(share * (width - 1))
    part = offset * (2 * block * width + offset)
    found = int(gaussian._exponentials(np.array([part]), 2 * variance)[0])
    assert part <= 1.001 * 2 * variance
    assert abs((found << PLACES - 31) - exponential(part, 2 * variance)) < 6 << PLACES - 31


def test_every_integer_is_proposed_once():
    """All blocks, offsets and signs: 0 once, and ±m once each."""
    noise = DiscreteGaussian(20_000)
    proposals = [
        (middle_of_block(noise, q) | sign, offset)
        for q in range(9)
        for offset in range(width_of(noise))
        for sign in (0, 1)
    ]
    firsts, seconds = zip(*proposals, strict=True)
    values = noise._accepted(len(proposals), Script(*firsts, *seconds))
    assert width_of(noise) == 4
    assert sorted(values.tolist()) == list(range(-35, 36))


# Samples, with power


def probabilities(variance, shift=0.0):
    """Return the integers up to 12 σ and their probabilities, with another mean if wished."""
    most = int(12 * variance**0.5) + 2
    values = np.arange(-most, most + 1)
    weights = np.exp(-((values - shift) ** 2) / (2 * variance))
    return values, weights / weights.sum()


def p_value(values, expected):
    """Return the probability of a χ² as large, of values 0, 1, … with these probabilities."""
    counts = np.bincount(values, minlength=len(expected))
    share = max(1 / 60, 20 / counts.sum())  # of a class: join neighbours until they have it
    classes = np.unique(np.cumsum(expected) // share, return_index=True)[1]
    seen, wanted = (np.add.reduceat(each, classes) for each in (counts, expected * counts.sum()))
    few = wanted < 5  # these make up the last class
    seen = np.append(seen[~few], seen[few].sum())
    wanted = np.append(wanted[~few], wanted[few].sum() + 1e-9)
    return chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(seen) - 1)


def fits(values, variance, shift=0.0):
    every, expected = probabilities(variance, shift)
    return p_value(values - every[0], expected) > SURE


@pytest.mark.parametrize("variance", [1, 2, 30, 1000, 5000, LARGE])
def test_samples_have_the_exact_distribution_and_no_other(variance):
    values = DiscreteGaussian(variance).sample(200_000, entropy.Seeded(variance))
    assert fits(values, variance)
    assert not fits(values, variance * 1.05)
    assert not fits(values, variance / 1.05)
    assert not fits(values, variance, shift=0.04 * variance**0.5)


def test_the_operating_system_gives_the_same_distribution():
    assert fits(DiscreteGaussian(LARGE).sample(100_000), LARGE)


@pytest.mark.parametrize("variance", [1, 12, 1 << 40, MOST_VARIANCE])
def test_moments(variance):
    sigma, count = variance**0.5, 400_000
    values = DiscreteGaussian(variance).sample(count, entropy.Seeded(7)) / sigma
    for power, moment, spread in [(1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5), (4, 3, 96**0.5)]:
        assert abs((values**power).mean() - moment) < 5 * spread / count**0.5 + 1e-3 * (power > 3)


@pytest.mark.parametrize("variance", [1, 2, 3, 12])
def test_the_variance_is_the_parameter_or_a_little_less(variance):
    values, expected = probabilities(variance)
    assert 1 - 1e-6 < (values**2 * expected).sum() / variance < 1 + 1e-14


# Entropy


def test_the_entropy_used_follows_from_the_count_and_the_noise(recorded):
    """Sixteen bytes a proposal; what is still missing is proposed again."""
    source = recorded()
    noise = DiscreteGaussian(LARGE)
    assert noise.sample(200_000, source).dtype == np.int64
    assert source.sizes[0] == 16 << 16
    assert all(size % 16 == 0 for size in source.sizes if size != 8)
    assert 16 <= sum(source.sizes) / 200_000 < 16.4


def test_a_copy_shares_no_stream():
    noise = DiscreteGaussian(LARGE)
    draws = [each.sample(1000).tolist() for each in (noise, noise, deepcopy(noise))]
    assert draws[0] != draws[1] != draws[2] != draws[0]


def test_a_source_that_fails_stops_the_draw():
    with pytest.raises(RuntimeError, match="entropy source gave"):
        DiscreteGaussian(5).sample(10, lambda size: b"\0" * (size - 1))


def test_no_draws():
    assert DiscreteGaussian(5).sample(0).tolist() == []


@pytest.mark.parametrize("variance", [0, -1, 2.5, True, float("nan"), MOST_VARIANCE + 1])
def test_an_invalid_variance_is_refused(variance):
    with pytest.raises(SyntfError, match="variance must be"):
        DiscreteGaussian(variance)


# Broken samplers


class Twice(DiscreteGaussian):
    """Each value is used for two coordinates."""

    def sample(self, count, source=entropy.system):
        return np.repeat(super().sample(-(-count // 2), source), 2)[:count]


class Remembering(DiscreteGaussian):
    """Noise is drawn once and used for every measurement."""

    def sample(self, count, source=entropy.system):
        kept = vars(self).setdefault("kept", {})
        return kept.setdefault(count, super().sample(count, source))


class Modulo(DiscreteGaussian):
    """Blocks are chosen by a word modulo a total that is no power of two."""

    def _accepted(self, count, source):
        words = entropy.words(source, count) >> np.uint64(48)
        total = 40_000
        points = (words % np.uint64(total)).astype(np.int64) * (2**62 // total)
        signs = entropy.words(source, count) & np.uint64(1)
        blocks = self._first_bounds.searchsorted(points, side="right") - 1
        return np.where(signs, -blocks, blocks)[(blocks > 0) | (signs == 0)]


class Rounded(DiscreteGaussian):
    """A continuous Gaussian in floating point is rounded to integers."""

    def sample(self, count, source=entropy.system):
        generator = np.random.default_rng(int(entropy.words(source, 1)[0]))
        return np.rint(generator.normal(0, self.variance**0.5, count)).astype(np.int64)


class Wider(DiscreteGaussian):
    """σ is 5 % too large."""

    def __init__(self, variance, **more):
        super().__init__(round(1.1025 * variance), **more)


class Smaller(DiscreteGaussian):
    """σ is 5 % too small."""

    def __init__(self, variance, **more):
        super().__init__(max(1, round(variance / 1.1025)), **more)


class TwoZeros(DiscreteGaussian):
    """−0 is accepted too."""

    def _accepted(self, count, source):
        values = super()._accepted(count, source)
        return np.append(values, np.zeros((values == 0).sum(), dtype=np.int64))[:count]


class SharedBits(DiscreteGaussian):
    """The bits that accept are those that choose the offset."""

    def _accepted(self, count, source):
        def shared(size):
            words = np.frombuffer(source(size), dtype="<u8").copy()
            if size > 8:
                words[count:] |= (words[count:] & np.uint64(255)) << np.uint64(56)
                words[count:] &= ~(~words[count:] << np.uint64(56))
            return words.tobytes()

        return super()._accepted(count, shared)


class FirstBits(DiscreteGaussian):
    """The first bits decide alone: probabilities are rounded, and the tail is cut off."""

    def __init__(self, variance, *, bits=62):
        super().__init__(variance, bits=bits)
        rounded = [0, *(self._first_bounds[1:] + 1).tolist()]
        self._block_bounds = lambda longer: [(each << longer - bits) - 3 for each in rounded]


def faults(kind):
    """Return what is wrong with a sampler."""
    source = entropy.Seeded(5)
    small, large = kind(2), kind(LARGE)
    few, again, many = (each.sample(100_000, source) for each in (small, small, large))
    found = set()
    if wrong_blocks(kind, 30, 0):
        found.add("blocks")
    if not fits(few, 2) or not fits(many, LARGE):
        found.add("distribution")
    values, expected = probabilities(LARGE)
    offsets = np.bincount(abs(values) % 256, expected)
    if p_value(abs(many) % 256, offsets) < SURE:
        found.add("offsets")
    values, expected = probabilities(2)
    for left, right in [(few[::2], few[1::2]), (few, again)]:  # neighbours, two measurements
        pairs = (left - values[0]) * len(values) + right - values[0]
        if p_value(pairs, np.outer(expected, expected).ravel()) < SURE:
            found.add("pairs")
    return found


def test_the_sampler_has_no_faults():
    assert faults(DiscreteGaussian) == set()


@pytest.mark.parametrize(
    ("kind", "found_by"),
    [
        (Twice, "pairs"), (Remembering, "pairs"), (Modulo, "distribution"),
        (Rounded, "distribution"), (Wider, "distribution"), (Smaller, "distribution"),
        (TwoZeros, "distribution"), (SharedBits, "offsets"), (FirstBits, "blocks"),
    ],
)  # fmt: skip
def test_a_broken_sampler_is_found(kind, found_by):
    assert found_by in faults(kind)


OPENDP = """
import json, sys
import opendp.prelude as dp
dp.enable_features("contrib")
variance, count = json.load(sys.stdin)
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
print(json.dumps(dp.m.make_gaussian(*space, scale=variance**0.5)([0] * count)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("variance", [4, 2500, LARGE])
def test_opendp_draws_from_the_same_distribution(variance):
    """Two samples of 20,000, in 20 classes of equal probability or in integers."""
    python = os.environ.get("SYNTF_OPENDP")
    if python is None:
        pytest.skip(
            "needs OpenDP: python3 -m venv DIR && DIR/bin/pip install opendp==0.16.0, "
            "then SYNTF_OPENDP=DIR/bin/python"
        )
    result = subprocess.run(
        [python, "-c", OPENDP],
        input=json.dumps([variance, 20_000]),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = np.array(json.loads(result.stdout))
    ours = DiscreteGaussian(variance).sample(20_000)
    edges = np.unique(np.quantile(ours, np.arange(0.05, 1, 0.05)))
    a, b = (np.bincount(edges.searchsorted(each, side="right")) for each in (ours, theirs))
    assert chi2.sf(((a - b) ** 2 / (a + b)).sum(), len(a) - 1) > SURE
    assert fits(theirs, variance)
