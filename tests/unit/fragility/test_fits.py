"""Fits recover the curves that samples were drawn from; bands cover them; rates are those of closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from percuss.errors import InputError
from percuss.fragility import cloud, counts, dynamic_analysis
from percuss.fragility.curves import Curves, Observed
from percuss.fragility.hazard import Hazard, power_law
from percuss.fragility.uncertainty import bootstrap, posterior_draws

TRUE = Curves(np.array([2.0, 3.5, 6.0]), np.full(3, 0.4))
THRESHOLDS = np.array([1.0, 2.0, 3.0])


def samples(count: int, seed: int, low: float = 0.5, high: float = 12.0) -> Observed:
    """Runs of which each has a motion of its own: its capacity factor is lognormal, common to all states."""
    generator = np.random.Generator(np.random.PCG64(seed))
    intensity = np.exp(generator.uniform(np.log(low), np.log(high), count))
    factor = np.exp(0.4 * generator.standard_normal(count))
    exceeded = (intensity[:, None] > TRUE.median * factor[:, None]).sum(axis=1)
    return Observed(intensity, exceeded + 0.5, np.arange(count))


def fit(observed: Observed, common: bool = True) -> Curves:
    return counts.fit_counts(observed.intensity, observed.damage(THRESHOLDS), 3, common=common)


def test_counts_recover_the_curves() -> None:
    for common in (True, False):
        found = fit(samples(20_000, 1), common)
        np.testing.assert_allclose(found.median, TRUE.median, rtol=0.03)
        np.testing.assert_allclose(found.dispersion, 0.4, rtol=0.05)


def test_one_state_is_the_probit_of_baker() -> None:
    """Stripes of 40 motions: the maximum of the binomial likelihood, by a search over a grid."""
    intensity = np.repeat([0.2, 0.4, 0.6, 0.8, 1.0], 40)
    counts_above = [1, 6, 15, 25, 33]
    damage = np.concatenate([np.arange(40) < c for c in counts_above]).astype(np.intp)
    found = counts.fit_counts(intensity, damage, 1)

    def likelihood(median: float, dispersion: float) -> float:
        p = norm.cdf(np.log(np.array([0.2, 0.4, 0.6, 0.8, 1.0]) / median) / dispersion)
        z = np.array(counts_above)
        return float((z * np.log(p) + (40 - z) * np.log(1 - p)).sum())

    best = likelihood(float(found.median[0]), float(found.dispersion[0]))
    for scale in (0.99, 1.01):
        assert likelihood(scale * float(found.median[0]), float(found.dispersion[0])) < best
        assert likelihood(float(found.median[0]), scale * float(found.dispersion[0])) < best
    assert counts.log_likelihood(intensity, damage, found) == pytest.approx(best)


def test_curves_of_one_dispersion_never_cross() -> None:
    for seed in range(20):
        observed = samples(60, seed)
        found = fit(observed)
        assert (np.diff(found.median) > 0).all()
        chance = found.probability(np.geomspace(0.01, 100, 50))
        assert (np.diff(chance, axis=1) <= 1e-15).all()


def test_counts_that_tell_nothing_are_refused() -> None:
    observed = samples(50, 3)
    with pytest.raises(InputError, match="no run exceeds it"):
        counts.fit_counts(observed.intensity, np.zeros(50, np.intp), 1)
    with pytest.raises(InputError, match="every run exceeds it"):
        counts.fit_counts(observed.intensity, np.ones(50, np.intp), 1)


def test_separated_counts_give_the_smallest_dispersion() -> None:
    """All damage above one intensity and none below: a step, whose place is between."""
    found = counts.fit_counts(np.linspace(1, 2, 20), (np.arange(20) >= 10).astype(np.intp), 1)
    assert found.dispersion[0] < 0.05
    assert 1.4 < found.median[0] < 1.6


def cloud_samples(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.Generator(np.random.PCG64(seed))
    x = np.exp(generator.uniform(-1, 2, count))
    return x, np.exp(0.3 + 1.2 * np.log(x) + 0.36 * generator.standard_normal(count))


def test_a_cloud_recovers_its_line() -> None:
    found = cloud.fit_cloud(*cloud_samples(20_000, 1), THRESHOLDS)
    np.testing.assert_allclose(found.median, np.exp((np.log(THRESHOLDS) - 0.3) / 1.2), rtol=0.01)
    np.testing.assert_allclose(found.dispersion, 0.3, rtol=0.02)
    with pytest.raises(InputError, match="does not grow"):
        cloud.fit_cloud(np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 3.0, 2.0, 1.0]), THRESHOLDS)
    with pytest.raises(InputError, match="a cloud needs at least 4"):
        cloud.fit_cloud(np.ones(9), np.ones(9), THRESHOLDS)


def lines(motions: int, seed: int, top: float = 12.0) -> Observed:
    """Motions at ten intensities; demand grows with the square of the intensity over the motion's capacity."""
    generator = np.random.Generator(np.random.PCG64(seed))
    capacity = 3.0 * np.exp(0.4 * generator.standard_normal(motions))
    x = np.geomspace(0.3, top, 10)
    demand = (x[None, :] / capacity[:, None]) ** 2
    return Observed(np.tile(x, motions), demand.ravel(), np.repeat(np.arange(motions), 10))


def test_incremental_analysis_recovers_capacities_exactly_and_censored() -> None:
    """Demand 1 is reached at the capacity itself: power laws are straight lines in logarithms."""
    observed = lines(400, 1, top=60.0)
    known = dynamic_analysis.capacities(observed, np.array([1.0]))
    generator = np.random.Generator(np.random.PCG64(1))
    np.testing.assert_allclose(known.value[:, 0], np.log(3.0) + 0.4 * generator.standard_normal(400), atol=1e-10)
    whole = dynamic_analysis.fit_capacities(known)
    cut = dynamic_analysis.fit_capacities(dynamic_analysis.capacities(lines(400, 1, top=3.5), np.array([1.0])))
    for curves in (whole, cut):
        assert curves.median[0] == pytest.approx(3.0, rel=0.05)
        assert curves.dispersion[0] == pytest.approx(0.4, rel=0.1)
    with pytest.raises(InputError, match="no motion comes to it"):
        dynamic_analysis.fit_capacities(dynamic_analysis.capacities(observed, np.array([1e9])))


def covered(draws: list[Curves], level: float = 0.9) -> bool:
    """Whether the band of the first state holds the true probability at the true median."""
    chance = [float(d.probability(np.array([2.0]))[0, 0]) for d in draws]
    low, high = np.quantile(chance, [(1 - level) / 2, (1 + level) / 2])
    return bool(low <= 0.5 <= high)


def test_bands_cover_as_often_as_they_say() -> None:
    """40 repetitions of 100 runs at a level of 90 %: 30 hits or more in 99.8 % of cases for a coverage of 0.9."""
    hits = [0, 0]
    for seed in range(40):
        observed = samples(100, 1000 + seed)
        best = fit(observed)
        damage = observed.damage(THRESHOLDS)
        boot, failed = bootstrap(observed, fit, 40, seed)
        assert failed == 0
        bayes, effective = posterior_draws(
            lambda c, o=observed, d=damage: counts.log_likelihood(o.intensity, d, c), best, 100, seed, common=True
        )
        assert effective > 50
        hits = [hits[0] + covered(boot), hits[1] + covered(bayes)]
    assert min(hits) >= 30, hits


def test_posterior_of_a_cloud_covers() -> None:
    hits = 0
    for seed in range(60):
        x, y = cloud_samples(40, 500 + seed)
        draws = cloud.posterior_draws(x, y, np.array([1.0]), 200, seed)
        low, high = np.quantile([float(d.median[0]) for d in draws], [0.05, 0.95])
        hits += bool(low <= math.exp(-0.3 / 1.2) <= high)
    assert hits >= 46


def test_rates_of_a_power_law_are_exact() -> None:
    """k0 m^-k exp(k^2 b^2 / 2) (Cornell et al., 2002), where the law holds from far below on."""
    k0, k = 1e-4, 2.5
    hazard = power_law(k0, k, 1e-6, 1.0)
    expected = k0 * TRUE.median**-k * np.exp(0.5 * (k * TRUE.dispersion) ** 2)
    np.testing.assert_allclose(hazard.rates(TRUE), expected, rtol=1e-9)
    parts = hazard.rates(TRUE, 0.0, 3.0) + hazard.rates(TRUE, 3.0)
    np.testing.assert_allclose(parts, expected, rtol=1e-12)
    # Cut off at both ends, what is left and what is unknown make up the whole again.
    ends = np.array([0.7, 2.0, 3.0])
    cut = Hazard(ends, k0 * ends**-k)
    np.testing.assert_allclose(cut.rates(TRUE, 0.0, 3.0), (1 - cut.unknown(TRUE)) * expected, rtol=1e-12)


def test_rates_of_a_table_are_those_of_quadrature() -> None:
    x, y = np.array([0.5, 1.5, 3.0, 9.0]), np.array([1e-1, 1e-2, 2e-3, 1e-5])
    hazard = Hazard(x, y)
    found = hazard.rates(TRUE, 0.0, 9.0)

    def slope(z: float) -> float:
        i = int(np.clip(np.searchsorted(x, z) - 1, 0, 2))
        k = math.log(y[i] / y[i + 1]) / math.log(x[i + 1] / x[i])
        return k * y[i] * (z / x[i]) ** -k / z

    for state in range(3):
        expected = sum(
            quad(lambda z, s=state: float(TRUE.probability(np.array([z]))[0, s]) * slope(z), *ends)[0]
            for ends in pairwise(x)
        )
        assert found[state] == pytest.approx(expected, rel=1e-7)
    with pytest.raises(InputError, match="must rise"):
        Hazard(np.array([1.0, 1.0]), np.array([1.0, 0.5]))
    with pytest.raises(InputError, match="both numbers must be above 0"):
        power_law(1.0, -1.0, 0.1, 1.0)
