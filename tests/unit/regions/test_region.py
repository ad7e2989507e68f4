"""Regions of curves against closed forms: a random sinusoid, whose amplitude is Rayleigh and phase uniform."""

import math

import numpy as np
import pytest

from percuss.regions.region import convergence, region_of, split

PHASE = np.linspace(0, 2 * math.pi, 101)
# Quantiles of the standard normal and of the Rayleigh law at 95 and 90 %.
POINTWISE, WHOLE = 1.6448536269514722, math.sqrt(-2 * math.log(0.1))


def waves(n, seed):
    a, b = np.random.default_rng(seed).standard_normal((2, n, 1))
    return a * np.cos(PHASE) + b * np.sin(PHASE)


def test_both_regions_of_a_random_wave():
    found = region_of(waves(20000, 1), 0.9)
    # Standard error of a 5 % quantile of n normals: sqrt(0.05 * 0.95 / n) / density there.
    error = math.sqrt(0.05 * 0.95 / 20000) / 0.103
    assert np.abs(found.high - POINTWISE).max() < 4.5 * error
    assert np.abs(found.low + POINTWISE).max() < 4.5 * error
    assert found.factor == pytest.approx(WHOLE / POINTWISE, rel=0.02)
    assert np.allclose(found.std, 1, atol=0.03)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_simultaneous_region_holds_its_share_of_further_runs(level):
    found, fresh = region_of(waves(4000, 2), level), waves(20000, 3)
    inside = ((fresh >= found.low_whole) & (fresh <= found.high_whole)).all(axis=1).mean()
    spread = math.sqrt(level * (1 - level))
    assert abs(inside - level) < 4 * spread * (1 / math.sqrt(4000) + 1 / math.sqrt(20000))
    alone = ((fresh >= found.low) & (fresh <= found.high)).all(axis=1).mean()
    assert alone < inside


def test_skew_histories_are_widened_on_their_own_side():
    random = np.random.default_rng(4)
    found = region_of(random.exponential(size=(5000, 1)) * np.linspace(1, 2, 30), 0.9)
    assert (found.low_whole >= -1e-12).all()
    assert found.factor < 1.1


def test_instants_that_do_not_vary_do_not_count():
    curves = waves(500, 5)
    curves[:, :10] = 3.0
    curves[0, 0] += 1e-12
    found = region_of(curves, 0.9)
    assert found.factor < 2
    assert np.allclose(found.low_whole[:10], 3.0)
    still = region_of(np.ones((30, 4)), 0.9)
    assert still.factor == 1 and (still.low_whole == 1).all()


def test_the_norm_converges_as_the_root_of_the_runs():
    counts, norm, error = convergence(PHASE, waves(4000, 6))
    assert counts[-1] == 4000
    assert abs(norm[-1] - 1) < 4 * error[-1]
    # The energy (a^2 + b^2) / 2 is exponential with deviation 1: the norm has half of it over the root.
    assert error[-1] == pytest.approx(0.5 / math.sqrt(4000), rel=0.1)


def test_the_variance_is_split_by_source():
    random = np.random.default_rng(7)
    slow, fast = np.cos(PHASE), 2 * np.sin(PHASE)

    def model(x):
        return x[:, :1] * slow + x[:, 1:] * fast

    a, b = random.standard_normal((2, 20000, 2))
    mixed = [np.where(np.arange(2) == k, b, a) for k in range(2)]
    first, total, variance = split(model(a), model(b), np.array([model(x) for x in mixed]))
    expected = slow**2 / (slow**2 + fast**2)
    assert np.abs(first[0] - expected).max() < 0.05
    assert np.abs(total[1] - (1 - expected)).max() < 0.05
    assert np.allclose(variance, slow**2 + fast**2, rtol=0.05)
