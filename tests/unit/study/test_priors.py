"""Priors: closed-form moments and densities against scipy.stats, tails, units, and bad fields."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from percuss.study.priors.prior import PriorError
from percuss.study.priors.registry import PRIORS, prior_from_json, read_prior


class Cut:
    """A distribution of scipy cut to an interval, by its own functions and quadrature."""

    def __init__(self, whole, low=-math.inf, high=math.inf):
        self.whole = whole
        self.ends = max(low, whole.support()[0]), min(high, whole.support()[1])
        self.below, self.above = whole.cdf(self.ends)

    def support(self):
        return self.ends

    def ppf(self, u):
        return self.whole.ppf(self.below + (self.above - self.below) * u)

    def cdf(self, x):
        return (self.whole.cdf(x) - self.below) / (self.above - self.below)

    def logpdf(self, x):
        return self.whole.logpdf(x) - math.log(self.above - self.below)

    def _moment(self, function):
        places = self.whole.ppf(np.linspace(self.below, self.above, 41)[1:-1])
        edges = [self.ends[0], *places, self.ends[1]]
        density = self.whole.pdf
        parts = [integrate.quad(lambda x: function(x) * density(x), a, b, epsabs=0, epsrel=1e-12)[0]
                 for a, b in pairwise(edges)]  # fmt: skip
        return math.fsum(parts) / (self.above - self.below)

    def mean(self):
        return self._moment(lambda x: x)

    def std(self):
        mean = self.mean()
        return math.sqrt(self._moment(lambda x: (x - mean) ** 2))


FALLING = stats.truncexpon(2, -1, 2)
GIVEN = {
    "uniform": ({"low": -1.5, "high": 4}, stats.uniform(-1.5, 5.5)),
    "normal": ({"mean": 3, "std": 0.5}, stats.norm(3, 0.5)),
    "lognormal": ({"mu": 1.2, "sigma": 0.4}, stats.lognorm(0.4, scale=math.exp(1.2))),
    "truncated-normal": ({"mean": 1, "std": 2, "low": 0, "high": 3}, stats.truncnorm(-0.5, 1, 1, 2)),
    "beta": ({"alpha": 2, "beta": 3.5, "low": -1, "high": 2}, stats.beta(2, 3.5, -1, 3)),
    "gamma": ({"shape": 2.5, "scale": 0.3}, stats.gamma(2.5, scale=0.3)),
    "log-uniform": ({"low": 0.01, "high": 30}, stats.loguniform(0.01, 30)),
    "triangular": ({"low": 1, "mode": 2, "high": 5}, stats.triang(0.25, 1, 4)),
    "gumbel": ({"location": 3, "scale": 2}, stats.gumbel_r(3, 2)),
    "weibull": ({"shape": 1.7, "scale": 2}, stats.weibull_min(1.7, scale=2)),
    "gev": ({"location": 1, "scale": 2, "shape": 0.15}, stats.genextreme(-0.15, 1, 2)),
    "truncated-lognormal": ({"mu": 0.2, "sigma": 0.7, "high": 3}, Cut(stats.lognorm(0.7, scale=math.exp(0.2)), high=3)),
    "truncated-gamma": ({"shape": 2.5, "scale": 1.5, "low": 1, "high": 8}, Cut(stats.gamma(2.5, scale=1.5), 1, 8)),
    "truncated-gumbel": ({"location": 3, "scale": 2, "low": 2}, Cut(stats.gumbel_r(3, 2), low=2)),
    "truncated-weibull": (
        {"shape": 1.7, "scale": 2, "low": 0.5, "high": 4},
        Cut(stats.weibull_min(1.7, scale=2), 0.5, 4),
    ),
    "truncated-gev": (
        {"location": 1, "scale": 2, "shape": 0.15, "high": 9},
        Cut(stats.genextreme(-0.15, 1, 2), high=9),
    ),
    "truncated-exponential": ({"mean": FALLING.mean(), "low": -1, "high": 3}, FALLING),
}


def test_every_prior_is_tested_here():
    assert set(GIVEN) == set(PRIORS)


@pytest.mark.parametrize("kind", PRIORS)
def test_against_scipy_stats(kind):
    fields, peer = GIVEN[kind]
    prior = read_prior({"kind": kind, **fields}, "1")
    u = np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9])
    x = peer.ppf(u)
    np.testing.assert_allclose(prior.ppf(u), x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(prior.cdf(x), peer.cdf(x), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(prior.logpdf(x), peer.logpdf(x), rtol=1e-9, atol=1e-9)
    assert prior.mean() == pytest.approx(peer.mean(), rel=1e-11)
    assert prior.std() == pytest.approx(peer.std(), rel=1e-10)
    assert prior.support() == pytest.approx(peer.support())


@pytest.mark.parametrize("kind", PRIORS)
def test_density_is_the_slope_of_the_distribution(kind):
    prior = read_prior({"kind": kind, **GIVEN[kind][0]}, "1")
    low, high = prior.ppf([0.2, 0.8])
    mass, _ = integrate.quad(lambda x: math.exp(prior.logpdf(x)), low, high, epsabs=1e-12)
    assert mass == pytest.approx(0.6, abs=1e-10)


@pytest.mark.parametrize("kind", PRIORS)
def test_ends_of_the_support(kind):
    prior = read_prior({"kind": kind, **GIVEN[kind][0]}, "1")
    assert tuple(prior.ppf([0.0, 1.0])) == prior.support()
    assert tuple(prior.cdf(list(prior.support()))) == (0.0, 1.0)
    low, high = prior.support()
    outside = [x for x in (low - 1, high + 1) if math.isfinite(x)]
    assert all(prior.logpdf(x) == -math.inf for x in outside)


@pytest.mark.parametrize("kind", PRIORS)
def test_json_round_trip(kind):
    prior = read_prior({"kind": kind, **GIVEN[kind][0]}, "1")
    assert prior_from_json(prior.to_json()) == prior


def test_truncation_far_out_in_a_tail():
    # Mill's ratio: beyond 40 standard deviations the cut Gaussian is exponential of rate 40 to 1/40^2.
    for sign in (1, -1):
        bound = {"low": 40} if sign > 0 else {"high": -40}
        prior = read_prior({"kind": "truncated-normal", "mean": 0, "std": 1, **bound}, "1")
        u = np.array([0.01, 0.5, 0.99])
        x = prior.ppf(u)
        np.testing.assert_allclose(prior.cdf(x), u, rtol=1e-9)
        assert sign * prior.mean() == pytest.approx(40 + 1 / 40 - 2 / 40**3, rel=1e-8)
        assert prior.std() == pytest.approx(1 / 40 * (1 - 3 / 40**2), rel=1e-5)
        top = 40.0 * sign
        assert math.exp(prior.logpdf(top)) == pytest.approx(40 + 1 / 40 - 2 / 40**3, rel=1e-7)


def test_two_forms_of_one_distribution():
    by_log = read_prior({"kind": "lognormal", "mu": 0.5, "sigma": 0.7}, "1")
    by_moments = read_prior({"kind": "lognormal", "mean": by_log.mean(), "std": by_log.std()}, "1")
    np.testing.assert_allclose(by_log.ppf([0.1, 0.9]), by_moments.ppf([0.1, 0.9]), rtol=1e-13)
    by_shape = read_prior({"kind": "gamma", "shape": 4, "scale": 0.5}, "1")
    by_moments = read_prior({"kind": "gamma", "mean": 2, "std": 1}, "1")
    np.testing.assert_allclose(by_shape.ppf([0.1, 0.9]), by_moments.ppf([0.1, 0.9]), rtol=1e-13)


@pytest.mark.parametrize("kind", PRIORS)
def test_units_scale_the_variable(kind):
    fields = GIVEN[kind][0]
    plain, scaled = read_prior({"kind": kind, **fields}, "m"), read_prior({"kind": kind, **fields}, "cm")
    u = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(scaled.ppf(u), plain.ppf(u) / 100, rtol=1e-13)
    assert scaled.std() == pytest.approx(plain.std() / 100, rel=1e-13)


def test_fields_bring_their_own_units():
    prior = read_prior({"kind": "uniform", "low": 2, "high": "0.09 m"}, "cm")
    assert prior.support() == (0.02, 0.09)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "kind"),
        ({"kind": "unifrom", "low": 0, "high": 1}, "did you mean `uniform`"),
        ({"kind": "uniform", "low": 0}, "high missing"),
        ({"kind": "uniform", "low": 0, "hihg": 1}, "did you mean `high`"),
        ({"kind": "uniform", "low": 1, "high": 1}, "must be above low"),
        ({"kind": "uniform", "low": -1e308, "high": 1e308}, "too far"),
        ({"kind": "uniform", "low": math.nan, "high": 1}, "finite"),
        ({"kind": "uniform", "low": "1 kg", "high": 1}, "wanted"),
        ({"kind": "uniform", "low": False, "high": 1}, "no number"),
        ({"kind": "normal", "mean": 0, "std": 0}, "above 0"),
        ({"kind": "lognormal", "mean": 1, "sigma": 1}, "takes mean and std or mu and sigma"),
        ({"kind": "lognormal", "mean": -1, "std": 1}, "above 0"),
        ({"kind": "lognormal", "mu": 0, "sigma": 100}, "overflow"),
        ({"kind": "truncated-normal", "mean": 0, "std": 1}, "low, high or both"),
        ({"kind": "truncated-normal", "mean": 0, "std": 1e-9, "low": 1}, "standard deviations"),
        ({"kind": "beta", "alpha": -1, "beta": 1, "low": 0, "high": 1}, "above 0"),
        ({"kind": "gamma", "shape": 1}, "scale missing"),
        ({"kind": "log-uniform", "low": 0, "high": 1}, "above 0"),
    ],
)
def test_bad_priors_are_refused_with_a_sentence(table, said):
    with pytest.raises(PriorError) as caught:
        read_prior(table, "m")
    assert any(said in f"{field} {message}" for field, message in caught.value.faults)
