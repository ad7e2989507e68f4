"""Posteriors in few runs: the simulator decides, each run counts once, and few are enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.inference.affine_climb import affine_climb
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.known_runs import Known
from percuss.inference.learnt_density import learn, quadratic, spread_of, walk
from percuss.inference.learnt_outputs import NUGGETS, fit_outputs, learn_outputs
from percuss.inference.likelihood import Forward, Group, Likelihood
from percuss.inference.samplers.registry import recorded_settings, sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.target import Target
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.kernels import KERNELS, MATERN, NO_SHAPE

PRIORS: dict[str, Prior] = {"rate": Uniform({"low": 0.05, "high": 3.0}), "size": Normal({"mean": 2.0, "std": 2.0})}
TIMES = np.array([0.2, 0.5, 1.0, 1.5, 2.5, 4.0])
SEEN = 3.0 * np.exp(-0.7 * TIMES) + np.array([0.02, -0.05, 0.04, 0.01, -0.03, 0.02])


class Simulator:
    """A decay, run once for each point: what a ledger does."""

    def __init__(self) -> None:
        self.known: dict[bytes, NDArray[Any]] = {}

    def __call__(self, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        for row in x:
            self.known.setdefault(row.tobytes(), row[1] * np.exp(-row[0] * TIMES))
        return np.array([self.known[row.tobytes()] for row in x]), np.zeros(len(TIMES))


def at_once(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same for all points together."""
    return x[:, 1:2] * np.exp(-x[:, :1] * TIMES), np.zeros(len(TIMES))


def decay(simulator: Forward) -> Target:
    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.03}))
    group = Group("g", SEEN, np.arange(len(TIMES)), Gaussian(noise))
    return Likelihood(("rate", "size"), {"model": simulator}, (group,)).posterior(PRIORS)


def test_few_runs_give_the_posterior_that_quadrature_gives() -> None:
    simulator = Simulator()
    few = sample_posterior(
        decay(simulator),
        "delayed-acceptance",
        seed=1,
        stopping=Stopping(evaluations=600, ess=150, r_hat=1.02),
        look=False,
    )
    assert few.evaluations <= 600 and len(simulator.known) <= 600
    assert few.diagnostics.least_ess > 150
    axes = np.linspace(0.45, 1.0, 50), np.linspace(2.4, 3.6, 50), np.linspace(0.005, 0.3, 60)
    at = np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)
    target = decay(at_once)
    density = np.exp(target.log_likelihood(at) + target.log_prior(at))
    mean = density @ at / density.sum()
    std = np.sqrt(density @ (at - mean) ** 2 / density.sum())
    error = std / np.sqrt(np.minimum(few.diagnostics.ess_bulk[:3], few.diagnostics.ess_tail[:3]))
    assert (np.abs(few.flat().mean(axis=0) - mean) < 4.5 * error).all()
    np.testing.assert_allclose(few.flat().std(axis=0), std, rtol=0.2)


def test_climbs_of_a_linear_model_take_one_step() -> None:
    matrix = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]])
    priors: dict[str, Prior] = {name: Normal({"mean": 0.0, "std": 3.0}) for name in ("a", "b")}
    group = Group("g", np.array([1.0, 2.0, 0.5]), np.arange(3), Gaussian(0.1))
    likelihood = Likelihood(("a", "b"), {"model": lambda x: (x @ matrix.T, np.zeros(3))}, (group,))
    target = likelihood.posterior(priors)
    known = Known(target, 100)
    start = target.transform.unbounded(np.array([[0.9, 0.4]]))
    (climbed,) = affine_climb(target, known, start, known.evaluate(start))
    precision = matrix.T @ matrix / 0.01 + np.eye(2) / 9
    exact = np.linalg.solve(precision, matrix.T @ np.array([1.0, 2.0, 0.5]) / 0.01)
    np.testing.assert_allclose(target.transform.values(climbed.z[None])[0], exact, atol=1e-3)
    # The start, a difference for each parameter, and the step.
    assert known.used == 4


def test_what_was_learnt_of_a_gaussian_is_that_gaussian() -> None:
    """Walks on the learnt density have its covariance; a density that is wrong would have another."""
    generator = np.random.default_rng(1)
    factor = np.array([[1.0, 0.0], [0.8, 0.5]])
    z = 2.0 * generator.standard_normal((60, 2)) @ factor.T
    f = -0.5 * np.sum(np.linalg.solve(factor, z.T) ** 2, axis=0)
    learnt, _ = learn(z, f)
    at, taken = walk(learnt, z[np.argsort(-f)[np.arange(400) % 20]], spread_of(z) / 2, 60, generator)
    np.testing.assert_allclose(np.cov(at.T), factor @ factor.T, atol=0.2)
    assert 0.1 < taken < 0.6


def test_residuals_of_learnt_outputs_are_those_of_fits_without_the_point() -> None:
    generator = np.random.default_rng(3)
    w = generator.standard_normal((25, 2))
    values = np.stack([np.sin(w[:, 0]) * w[:, 1], np.exp(0.5 * w[:, 0])], axis=1)
    fit = fit_outputs(w, values)
    correlation = KERNELS[MATERN].between(w / fit.length, w / fit.length, NO_SHAPE)
    assert np.abs(fit.mean(w) - values).max() < 1e-3
    for i in (0, 7, 24):
        rest = np.arange(25) != i
        # The bordered system of a process with a trend, without the point.
        basis = quadratic(w)
        size = basis.shape[1]
        system = np.block(
            [
                [correlation[np.ix_(rest, rest)] + NUGGETS[0] * np.eye(24), basis[rest]],
                [basis[rest].T, np.zeros((size, size))],
            ]
        )
        solved = np.linalg.solve(system, np.concatenate([values[rest], np.zeros((size, 2))]))
        left_out = np.concatenate([correlation[i, rest], basis[i]]) @ solved
        np.testing.assert_allclose(fit.residuals[i], values[i] - left_out, rtol=1e-4, atol=1e-9)


def test_scatter_of_runs_becomes_an_error_of_the_outputs() -> None:
    """Runs that scatter by 0.3 about a plane: a process through every run would claim none of it."""
    generator = np.random.default_rng(4)
    w = generator.standard_normal((80, 2))
    values = (w @ np.array([1.0, -2.0]) + 0.3 * generator.standard_normal(80))[:, None]
    fit = fit_outputs(w, values)
    assert 0.2 < float(np.sqrt(np.mean(fit.residuals**2))) < 0.45
    new = generator.standard_normal((50, 2))
    assert np.abs(fit.mean(new)[:, 0] - new @ np.array([1.0, -2.0])).max() < 0.5


def test_outputs_teach_the_density_better_than_its_values_do() -> None:
    """The same thirty runs: errors of the learnt log density at draws about the top, a tenth of those by values."""
    target = decay(at_once)
    likelihood = target.log_likelihood
    assert isinstance(likelihood, Likelihood)
    generator = np.random.default_rng(5)
    top = target.transform.unbounded(np.array([[0.7, 3.0, 0.04]]))
    spread = np.array([0.06, 0.03, 0.3])
    z, new = (top + spread * wide * generator.standard_normal((n, 3)) for n, wide in ((30, 1.5), (200, 1.0)))
    outputs = likelihood.means(target.transform.values(z))
    by_outputs = learn_outputs(target, likelihood, z, outputs, np.arange(30))
    by_values, _ = learn(z, target.log_density(z))
    true = target.log_density(new)
    misses = [np.std(learnt.near(new) - true) for learnt in (by_outputs, by_values)]
    assert misses[0] < 0.1 * misses[1]


class Scattering(Simulator):
    """The same, with an error of its own at every point, always the same there: what rounding does to contacts."""

    def __call__(self, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        for row in x:
            if row.tobytes() not in self.known:
                own = np.random.default_rng(np.frombuffer(row.tobytes(), np.uint32))
                teeth = 0.04 * own.standard_normal(len(TIMES))
                self.known[row.tobytes()] = row[1] * np.exp(-row[0] * TIMES) + teeth
        return super().__call__(x)


def test_runs_that_scatter_are_stepped_on_not_learnt_for_ever() -> None:
    """Proposals are never accepted as often as wanted: most of the runs are draws all the same."""
    simulator = Scattering()
    group = Group("g", SEEN, np.arange(len(TIMES)), Gaussian(std=0.06))
    target = Likelihood(("rate", "size"), {"model": simulator}, (group,)).posterior(PRIORS)
    stopping = Stopping(ess=400, evaluations=3000)
    sample = sample_posterior(target, "delayed-acceptance", seed=1, stopping=stopping, look=False)
    assert 0.2 < sample.acceptance.mean() < 0.85
    assert sample.draws.shape[0] * sample.draws.shape[1] > 0.6 * sample.evaluations


@pytest.mark.parametrize("budget", [100])
def test_a_budget_too_small_is_refused(budget: int) -> None:
    from percuss.errors import InputError

    with pytest.raises(InputError, match="evaluations"):
        sample_posterior(decay(Simulator()), "delayed-acceptance", seed=1, stopping=Stopping(evaluations=budget))


def test_samples_of_before_there_was_patience_are_made_without() -> None:
    assert recorded_settings("delayed-acceptance", {"chains": 10})["patience"] == 0
    assert recorded_settings("delayed-acceptance", {"chains": 10, "patience": 50})["patience"] == 50
    assert recorded_settings("adaptive-metropolis", {"chains": 10}) == {"chains": 10}
