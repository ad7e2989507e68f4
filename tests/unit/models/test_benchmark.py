"""Benchmark functions against their closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

from percuss.errors import InputError
from percuss.models.benchmark import FUNCTIONS, exact_posterior
from percuss.models.model import Done, Failed, Mixing, configure
from percuss.models.seeds import Mixture
from percuss.settings import SettingsError
from percuss.testing.models import check_model


def one(function, point, seed=0, **settings):
    (outcome,) = configure("benchmark", {"function": function, **settings}, {}).run([point], [seed])
    return outcome


def test_ishigami_moments():
    # Mean a/2, variance a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2, by a product of Gauss rules exact to rounding.
    model = configure("benchmark", {"function": "ishigami"}, {})
    nodes, weights = np.polynomial.legendre.leggauss(24)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), -1).reshape(-1, 3) * math.pi
    w = np.einsum("i,j,k->ijk", weights, weights, weights).ravel() / 8
    points = [{"x1": x, "x2": y, "x3": z, "a": 7.0, "b": 0.1} for x, y, z in grid.tolist()]
    y = np.array([outcome.values["y"] for outcome in model.run(points, [0] * len(points))])
    assert w @ y == pytest.approx(3.5, rel=1e-12)
    assert w @ (y - 3.5) ** 2 == pytest.approx(49 / 8 + 0.1 * math.pi**4 / 5 + 0.01 * math.pi**8 / 18 + 0.5, rel=1e-12)


def test_gfunction_of_any_dimension():
    a = [0, 1, 4.5]
    point = {"x1": 0.1, "x2": 0.8, "x3": 0.5}
    expected = (1.6 + 0) / 1 * (1.2 + 1) / 2 * 4.5 / 5.5
    assert one("gfunction", point, coefficients=a).values["y"] == pytest.approx(expected, rel=1e-15)
    assert len(configure("benchmark", {"function": "gfunction", "coefficients": [9] * 40}, {}).inputs) == 40


def test_borehole_at_the_centre_of_its_ranges():
    year = 31557600.0
    point = {"rw": 0.1, "r": 25050.0, "Tu": 89335 / year, "Hu": 1050.0, "Tl": 89.55 / year, "Hl": 760.0}
    point |= {"L": 1400.0, "Kw": 10950 / year}
    log = math.log(250500)
    flow = 2 * math.pi * 89335 * 290 / (log * (1 + 2 * 1400 * 89335 / (log * 0.01 * 10950) + 89335 / 89.55))
    assert one("borehole", point).values["flow"] * year == pytest.approx(flow, rel=1e-14)
    assert isinstance(one("borehole", point | {"r": 0.05}), Failed)


def test_four_branches_fail_where_the_closed_form_says():
    """With s, t = (x1 +- x2) / sqrt 2, both standard normal: failure where |s| > 3 + t^2 / 5 or |t| > k / 2."""

    def least(s, t):
        return min(one("four-branch", {"x1": (s + t) / 2**0.5, "x2": (s - t) / 2**0.5}, k=6).values.values())

    for t in (-2.9, -1.0, 0.0, 2.0):
        for sign in (-1, 1):
            edge = sign * (3 + 0.2 * t**2)
            assert least(edge * (1 - 1e-9), t) > 0 > least(edge * (1 + 1e-9), t)
    assert least(0.5, 3 - 1e-9) > 0 > least(0.5, 3 + 1e-9)
    assert least(0.5, 1e-9 - 3) > 0 > least(0.5, -3 - 1e-9)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = 3 * nodes
    inside = 3 * weights @ (stats.norm.pdf(t) * 2 * stats.norm.sf(3 + 0.2 * t**2))
    assert inside + 2 * stats.norm.sf(3) == pytest.approx(4.46e-3, rel=2e-3)


def test_impact_is_continuous_with_a_kink_at_the_stop():
    def rest(gap):
        return one("impact", {"speed": 2.0, "friction": 0.4, "gap": gap, "restitution": 0.5}).values

    sliding = 4 / (2 * 0.4 * 9.80665)
    h = 1e-6
    assert rest(sliding + h)["rebound_speed"] == 0.0
    assert rest(sliding)["rest_position"] == pytest.approx(sliding, rel=1e-12)
    before = (rest(sliding - h)["rest_position"] - rest(sliding - 2 * h)["rest_position"]) / h
    after = (rest(sliding + 2 * h)["rest_position"] - rest(sliding + h)["rest_position"]) / h
    assert (before, after) == (pytest.approx(1 + 0.25, abs=1e-6), pytest.approx(0, abs=1e-6))


@pytest.mark.parametrize("gap", [0.1, 5.0])
def test_impact_curve_meets_its_scalars(gap):
    done = one("impact", {"speed": 2.0, "friction": 0.4, "gap": gap, "restitution": 0.5}, duration=3.0, samples=3001)
    t, x = done.curves["t_s"], done.curves["position"]
    assert x[-1] == pytest.approx(done.values["rest_position"], rel=1e-12)
    assert x[t >= done.values["rest_time"]] == pytest.approx(done.values["rest_position"], rel=1e-12)
    # Speed never exceeds the initial one.
    assert np.abs(np.diff(x)).max() <= 2.0 * 1e-3 * (1 + 1e-9)


LINEAR = {"inputs": ["p", "q"], "outputs": ["u", "v"], "matrix": [[1, 2], [0, -1]], "offset": [0.5, 0]}


def test_linear_gaussian():
    assert one("linear-gaussian", {"p": 1.0, "q": 0.25}, **LINEAR).values == {"u": 2.0, "v": -0.25}


def test_noise_follows_the_seed_alone():
    point = {"p": 1.0, "q": 0.25}
    first = one("linear-gaussian", point, seed=5, **LINEAR, noise=0.1)
    assert first == one("linear-gaussian", point, seed=5, **LINEAR, noise=0.1)
    assert first != one("linear-gaussian", point, seed=6, **LINEAR, noise=0.1)
    model = configure("benchmark", {"function": "linear-gaussian", **LINEAR, "noise": 0.1}, {})
    drawn = np.array([o.values["u"] for o in model.run([point] * 4000, range(4000))]) - 2.0
    # Standard errors of mean and deviation at 4000 draws, five of them wide.
    assert abs(drawn.mean()) < 5 * 0.1 / math.sqrt(4000)
    assert abs(drawn.std() - 0.1) < 5 * 0.1 / math.sqrt(8000)


def test_exact_posterior_of_one_unknown():
    # Prior N(1, 4), y = 2 x + 1 + N(0, 0.25): precision 1/4 + 4/0.25, and evidence N(y; 3, 16.25).
    mean, covariance, evidence = exact_posterior([[2]], [1], [4], [[0.25]], [1], [[4]])
    precision = 0.25 + 16
    assert covariance[0, 0] == pytest.approx(1 / precision, rel=1e-13)
    assert mean[0] == pytest.approx((0.25 * 1 + 2 * 3 / 0.25) / precision, rel=1e-13)
    assert evidence == pytest.approx(stats.norm(3, math.sqrt(16.25)).logpdf(4), rel=1e-13)


def test_exact_posterior_against_quadrature():
    a, b = np.array([[1, 0.5], [0, 2], [1, -1]]), np.array([0, 1, 0])
    y, r = np.array([1.2, 1.5, 0.3]), np.diag([0.3, 0.4, 0.5]) ** 2
    m, p = np.array([1.0, 0.0]), np.array([[1.0, 0.3], [0.3, 0.5]])
    # The trapezoidal rule converges faster than any power for a Gaussian; 0.05 is a quarter of its width.
    nodes = np.linspace(-8, 8, 321)
    z = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
    x = m + z @ np.linalg.cholesky(p).T
    likelihood = (
        0.05**2
        * np.exp(-0.5 * (z * z).sum(axis=1))
        / (2 * math.pi)
        * stats.multivariate_normal(cov=r).pdf(y - x @ a.T - b)
    )
    evidence = likelihood.sum()
    mean = likelihood @ x / evidence
    covariance = (x - mean).T @ ((x - mean) * likelihood[:, None]) / evidence
    exact = exact_posterior(a, b, y, r, m, p)
    np.testing.assert_allclose(exact.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(exact.covariance, covariance, rtol=1e-8)
    assert exact.log_evidence == pytest.approx(math.log(evidence), rel=1e-10)


def test_a_run_gives_the_same_bits_in_any_batch():
    generator = np.random.default_rng(1)
    for function, settings in (("ishigami", {}), ("gfunction", {"coefficients": [0, 1, 2]})):
        model = configure("benchmark", {"function": function, **settings}, {})
        points = [{"x1": x, "x2": y, "x3": z, "a": 7.0, "b": 0.1} for x, y, z in generator.random((67, 3)).tolist()]
        together = model.run(points, [0] * 67)
        assert together == [model.run([point], [0])[0] for point in points]
        assert together[::-1] == model.run(points[::-1], [0] * 67)
        assert model.batch == 64


def test_rehearsed_failures_and_delays(monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    point = {"x1": 0.0, "x2": 0.0, "x3": 0.0, "a": 7.0, "b": 0.1}
    model = configure("benchmark", {"function": "ishigami", "delay": "10 ms", "fail_above": {"x1": 1}}, {})
    outcomes = model.run([point, point | {"x1": 2.0}, point | {"x1": 1.0}], [0, 0, 0])
    assert [type(outcome) for outcome in outcomes] == [Done, Failed, Done]
    assert "x1 = 2.0 is above fail_above = 1.0" in outcomes[1].reason
    assert slept == [0.01] * 3


def test_an_overflow_is_a_failed_run():
    outcome = one("ishigami", {"x1": 1.0, "x2": 0.0, "x3": 1e200, "a": 7.0, "b": 0.1})
    assert isinstance(outcome, Failed)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"function": "ishigmai"}, "did you mean `ishigami`"),
        ({"function": 3}, "not a text"),
        ({}, "missing"),
        ({"function": "gfunction"}, "coefficients"),
        ({"function": "gfunction", "coefficients": []}, "one number >= 0"),
        ({"function": "gfunction", "coefficients": [-1]}, "one number >= 0"),
        ({"function": "gfunction", "coefficients": ["a"]}, "not a finite number"),
        ({"function": "ishigami", "coefficients": [1]}, "unknown setting"),
        ({"function": "ishigami", "delay": "1 m"}, "where s is wanted"),
        ({"function": "ishigami", "delay": -1}, "outside"),
        ({"function": "ishigami", "fail_above": {"x": 1}}, "unknown input"),
        ({"function": "ishigami", "fail_above": {"x1": "1 m"}}, "wanted"),
        ({"function": "impact", "samples": 2.5}, "whole number"),
        ({"function": "linear-gaussian", **LINEAR, "matrix": [[1, 2]]}, "2 rows"),
        ({"function": "linear-gaussian", **LINEAR, "offset": [1]}, "2 numbers"),
        ({"function": "linear-gaussian", **LINEAR, "inputs": ["a", "a"]}, "distinct"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(SettingsError) as caught:
        configure("benchmark", settings, {})
    assert said in str(caught.value)


def test_unknown_kind():
    with pytest.raises(InputError, match="did you mean `benchmark`"):
        configure("benchmrk", {}, {})


def test_every_function_has_a_test_here():
    assert set(FUNCTIONS) == {"ishigami", "gfunction", "borehole", "linear-gaussian", "impact", "four-branch"}


def test_noise_can_be_mixed_from_seeds() -> None:
    """One seed of weight one is that seed; a mixture is the weighted sum of the noises, in any batch."""
    settings = {
        "function": "linear-gaussian",
        "inputs": ["x"],
        "outputs": ["y", "z"],
        "matrix": [[1], [2]],
        "noise": 0.5,
    }
    points = [{"x": 1.0}, {"x": 2.0}]
    model = check_model("benchmark", settings, points)
    assert isinstance(model, Mixing) and model.random_variables() == 2
    alone, other, mixed, single = (
        np.array([run.values["y"], run.values["z"]])
        for seed in (5, 6, Mixture((5, 6), (0.6, 0.8)), Mixture((5,), (1.0,)))
        for run in model.run(points[:1], [seed])
        if isinstance(run, Done)
    )
    np.testing.assert_array_equal(single, alone)
    exact = np.array([1.0, 2.0])
    np.testing.assert_allclose(mixed - exact, 0.6 * (alone - exact) + 0.8 * (other - exact), rtol=1e-13)
    assert configure("benchmark", settings | {"noise": 0.0}, {}).random_variables() == 0
