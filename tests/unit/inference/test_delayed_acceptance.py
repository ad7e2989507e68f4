"""Posteriors in few runs: the simulator decides, each run counts once, and few are enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.inference.affine_climb import affine_climb
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.learnt_density import learn, spread_of, walk
from percuss.inference.likelihood import Forward, Group, Likelihood
from percuss.inference.samplers.delayed_acceptance import _Known
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.target import Target
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform

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


def test_the_posterior_is_that_of_long_chains_in_a_hundredth_of_the_runs() -> None:
    simulator = Simulator()
    few = sample_posterior(
        decay(simulator),
        "delayed-acceptance",
        seed=1,
        stopping=Stopping(evaluations=900, ess=200, r_hat=1.02),
        look=False,
    )
    assert few.evaluations <= 900 and len(simulator.known) <= 900
    assert few.diagnostics.least_ess > 200
    long = sample_posterior(decay(at_once), seed=2, settings={"chains": 20}, look=False)
    assert long.converged and long.evaluations > 20_000
    mean, std = long.flat().mean(axis=0), long.flat().std(axis=0)
    error = std / np.sqrt(np.minimum(few.diagnostics.ess_bulk[:3], few.diagnostics.ess_tail[:3]))
    assert (np.abs(few.flat().mean(axis=0) - mean) < 4.5 * error).all()
    np.testing.assert_allclose(few.flat().std(axis=0), std, rtol=0.2)


def test_climbs_of_a_linear_model_take_one_step() -> None:
    matrix = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]])
    priors: dict[str, Prior] = {name: Normal({"mean": 0.0, "std": 3.0}) for name in ("a", "b")}
    group = Group("g", np.array([1.0, 2.0, 0.5]), np.arange(3), Gaussian(0.1))
    likelihood = Likelihood(("a", "b"), {"model": lambda x: (x @ matrix.T, np.zeros(3))}, (group,))
    target = likelihood.posterior(priors)
    known = _Known(target, 100)
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
    learnt = learn(z, f)
    at, taken = walk(learnt, z[np.argsort(-f)[np.arange(400) % 20]], spread_of(z) / 2, 60, generator)
    np.testing.assert_allclose(np.cov(at.T), factor @ factor.T, atol=0.2)
    assert 0.1 < taken < 0.6


@pytest.mark.parametrize("budget", [100])
def test_a_budget_too_small_is_refused(budget: int) -> None:
    from percuss.errors import InputError

    with pytest.raises(InputError, match="evaluations"):
        sample_posterior(decay(Simulator()), "delayed-acceptance", seed=1, stopping=Stopping(evaluations=budget))
