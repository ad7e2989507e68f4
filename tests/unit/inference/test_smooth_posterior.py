"""Roughness of a simulator as an error of its outputs: what it is estimated as, and the posterior that follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.learnt_density import quadratic
from percuss.inference.likelihood import Forward, Group, Likelihood
from percuss.inference.samplers.registry import ROUGH, clean_settings, sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.samplers.smooth_part import sample as walked
from percuss.inference.smooth_part import fit_smooth_part
from percuss.inference.smooth_posterior import Smooth, learn_smooth
from percuss.inference.target import Target
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.kernels import KERNELS, MATERN, NO_SHAPE

Array = NDArray[Any]

MATRIX = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0], [0.5, 0.5]])
NOISE = 0.4
# The ripple: waves of a length of about 1e-4, mixed to the covariance MIX MIX'.
WAVES = 1e4 * np.array([[1.3, 2.7], [3.1, -1.7], [2.2, 4.1], [-3.3, 1.9]])
MIX = 0.3 * np.array([[1.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.5, 0.8]])
SEEN = MATRIX @ np.array([1.0, 0.5]) + np.array([0.5, -0.3, 0.4, -0.2])
PRIORS: dict[str, Prior] = {name: Normal({"mean": 0.0, "std": 3.0}) for name in ("a", "b")}


def rippled(x: Array) -> tuple[Array, Array]:
    """Linear, with a deterministic ripple: sines of independent phases have a variance of 1/2."""
    return x @ MATRIX.T + np.sqrt(2.0) * np.sin(x @ WAVES.T + 1.0) @ MIX.T, np.zeros(4)


def linear(forward: Forward, discrepancy: Discrepancy | None = None) -> Target:
    group = Group("g", SEEN, np.arange(4), discrepancy or Gaussian(NOISE))
    return Likelihood(("a", "b"), {"model": forward}, (group,)).posterior(PRIORS)


def drawn(target: Target, seed: int = 1, evaluations: int = 2000, **settings: float) -> tuple[Smooth, Sample]:
    cleaned, stopping = clean_settings(ROUGH, settings), Stopping(evaluations=evaluations)
    smooth = learn_smooth(target, cleaned, stopping, seed, lambda _: None)
    return smooth, walked(smooth, cleaned, stopping, seed)


def conjugate(covariance: Array) -> tuple[Array, Array]:
    """Mean and covariance of the posterior of the linear model, given the covariance of the data."""
    precision = MATRIX.T @ np.linalg.solve(covariance, MATRIX) + np.eye(2) / 9.0
    mean = np.linalg.solve(precision, MATRIX.T @ np.linalg.solve(covariance, SEEN))
    return mean, np.linalg.inv(precision)


def test_the_posterior_is_the_conjugate_one_with_the_ripple_as_an_error() -> None:
    smooth, sample = drawn(linear(rippled))
    assert sample.converged and sample.evaluations < 1500
    truth = MIX @ MIX.T
    std = np.sqrt(np.diag(truth))
    np.testing.assert_allclose(smooth.part.roughness, std, rtol=0.1)
    np.testing.assert_allclose(smooth.part.together, truth / np.outer(std, std), atol=0.12)
    mean, covariance = conjugate(truth + NOISE**2 * np.eye(4))
    spread = np.sqrt(np.diag(covariance))
    # Of what was learnt, and of Monte Carlo; four of each. The learnt covariance moves a std by some per cent.
    room = 4.0 * np.hypot(smooth.mean_errors, 1.0 / np.sqrt(sample.diagnostics.ess_bulk[:2]))
    assert (np.abs(sample.flat().mean(axis=0) - mean) < room * spread).all()
    assert (room < 0.3).all()
    np.testing.assert_allclose(sample.flat().std(axis=0), spread, rtol=0.1)
    # Taken at their word, the same runs would give a posterior that is narrower by more than that.
    narrow = np.sqrt(np.diag(conjugate(NOISE**2 * np.eye(4))[1]))
    assert (narrow < 0.88 * spread).all()


def test_same_seed_same_bits() -> None:
    first, again = (drawn(linear(rippled), error=0.2)[1] for _ in range(2))
    assert np.array_equal(first.draws, again.draws) and first.evaluations == again.evaluations


def test_the_error_that_is_stated_is_the_one_that_is_made() -> None:
    """Means over seeds, each with other runs: off the conjugate ones by what is stated, beside that of Monte Carlo."""
    mean, covariance = conjugate(MIX @ MIX.T + NOISE**2 * np.eye(4))
    spread = np.sqrt(np.diag(covariance))
    ratios = []
    for seed in range(10):
        smooth, sample = drawn(linear(rippled), seed, error=0.15)
        stated = np.hypot(smooth.mean_errors, 1.0 / np.sqrt(sample.diagnostics.ess_bulk[:2]))
        ratios.append((sample.flat().mean(axis=0) - mean) / spread / stated)
    # Twenty numbers of unit variance: between 0.63 and 1.4 but once in a hundred.
    assert 0.6 < np.sqrt(np.mean(np.square(ratios))) < 1.5


TIMES = np.array([0.2, 0.5, 1.0, 1.5, 2.5, 4.0])
DECAYED = 3.0 * np.exp(-0.7 * TIMES) + np.array([0.02, -0.05, 0.04, 0.01, -0.03, 0.02])


def test_a_smooth_simulator_has_no_roughness_and_its_own_posterior() -> None:
    """Decay with an inferred error, against quadrature."""
    priors: dict[str, Prior] = {"rate": Uniform({"low": 0.05, "high": 3.0}), "size": Normal({"mean": 2.0, "std": 2.0})}
    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.03}))
    group = Group("g", DECAYED, np.arange(6), Gaussian(noise))
    forward = {"model": lambda x: (x[:, 1:2] * np.exp(-x[:, :1] * TIMES), np.zeros(6))}
    target = Likelihood(("rate", "size"), forward, (group,)).posterior(priors)
    smooth, sample = drawn(target)
    assert sample.converged and sample.evaluations < 500
    assert smooth.part.roughness.max() < 1e-3 * 0.04
    axes = np.linspace(0.45, 1.0, 50), np.linspace(2.4, 3.6, 50), np.linspace(0.005, 0.3, 60)
    at = np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)
    density = np.exp(target.log_likelihood(at) + target.log_prior(at))
    mean = density @ at / density.sum()
    std = np.sqrt(density @ (at - mean) ** 2 / density.sum())
    error = std * np.hypot(0.05, 1.0 / np.sqrt(sample.diagnostics.ess_bulk[:3]))
    assert (np.abs(sample.flat().mean(axis=0) - mean) < 3.5 * error).all()
    np.testing.assert_allclose(sample.flat().std(axis=0), std, rtol=0.12)


def test_kriging_is_that_of_the_bordered_system() -> None:
    """Mean, error and covariance of the smooth part against the equations of universal kriging, written out."""
    generator = np.random.default_rng(3)
    w, new = generator.standard_normal((40, 2)), generator.standard_normal((5, 2))
    outputs = np.stack([np.sin(2.0 * w[:, 0]) * w[:, 1], np.exp(0.5 * w[:, 0])], axis=1)
    outputs += 0.1 * generator.standard_normal(outputs.shape)
    fit = fit_smooth_part(w, outputs)

    def kernel(a: Array, b: Array) -> Array:
        return np.asarray(KERNELS[MATERN].between(a / fit.length, b / fit.length, NO_SHAPE))

    basis, terms = quadratic(w), quadratic(w).shape[1]
    for j in range(2):
        size, rough = fit.smooth[j], fit.roughness[j] ** 2
        system = np.block([[size * kernel(w, w) + rough * np.eye(40), basis], [basis.T, np.zeros((terms, terms))]])
        right = np.concatenate([size * kernel(w, new), quadratic(new).T])
        weights = np.linalg.solve(system, right)
        np.testing.assert_allclose(fit.mean(new)[:, j], weights[:40].T @ outputs[:, j], rtol=1e-6, atol=1e-8)
        covariance = size * kernel(new, new) - right.T @ weights
        np.testing.assert_allclose(fit.covariances(new)[j], covariance, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(fit.errors(new)[:, j] ** 2, np.diag(covariance), rtol=1e-5, atol=1e-8)


def test_roughness_is_estimated_by_the_likelihood() -> None:
    """The size that was found is likelier than others: restricted likelihood with determinants written out."""
    generator = np.random.default_rng(5)
    w = generator.standard_normal((60, 2))
    y = np.sin(2.0 * w[:, 0]) * w[:, 1] + 0.2 * generator.standard_normal(60)
    fit = fit_smooth_part(w, y[:, None])
    basis = quadratic(w)

    def likelihood(size: float, rough: float) -> float:
        covariance = size * KERNELS[MATERN].between(w / fit.length, w / fit.length, NO_SHAPE) + rough * np.eye(60)
        through = np.linalg.solve(covariance, basis)
        left = y - basis @ np.linalg.solve(basis.T @ through, through.T @ y)
        dets = [np.linalg.slogdet(matrix)[1] for matrix in (covariance, basis.T @ through)]
        return float(-0.5 * (sum(dets) + left @ np.linalg.solve(covariance, left)))

    size, rough = fit.smooth[0], fit.roughness[0] ** 2
    best = likelihood(size, rough)
    for factors in ((1.3, 1.0), (0.7, 1.0), (1.0, 1.3), (1.0, 0.7)):
        assert best > likelihood(size * factors[0], rough * factors[1])
    assert 0.15 < fit.roughness[0] < 0.26


def test_outputs_that_do_not_vary_are_no_fault() -> None:
    w = np.random.default_rng(6).standard_normal((30, 2))
    fit = fit_smooth_part(w, np.stack([w[:, 0], np.full(30, 2.0)], axis=1))
    assert np.isfinite(fit.mean(w)).all() and fit.roughness[1] < 1e-6
    np.testing.assert_allclose(fit.mean(w)[:, 1], 2.0)


def test_too_few_runs_are_not_converged_and_say_why() -> None:
    smooth, sample = drawn(linear(rippled), evaluations=160)
    assert not sample.converged and sample.evaluations <= 160
    assert any("smooth part of the outputs is not learnt" in reason for reason in sample.reasons)
    assert smooth.reasons == sample.reasons


class Rougher:
    """Every run scatters by a hundredth more than the one before it: no fit knows how the next ones will."""

    def __init__(self) -> None:
        self.known: dict[bytes, Array] = {}

    def __call__(self, x: Array) -> tuple[Array, Array]:
        for row in x:
            if row.tobytes() not in self.known:
                size = 0.05 * 1.01 ** len(self.known)
                own = np.random.default_rng(np.frombuffer(row.tobytes(), np.uint32))
                self.known[row.tobytes()] = MATRIX @ row + size * own.standard_normal(4)
        return np.array([self.known[row.tobytes()] for row in x]), np.zeros(4)


def test_new_runs_that_scatter_more_than_claimed_are_a_reason() -> None:
    _, sample = drawn(linear(Rougher()), evaluations=450, error=0.5)
    assert any("scatter about the smooth part more than claimed" in reason for reason in sample.reasons)


def test_runs_that_fail_at_the_posterior_are_a_reason() -> None:
    def failing(x: Array) -> tuple[Array, Array]:
        outputs, variance = rippled(x)
        outputs[np.sin(7e3 * x[:, 0]) > 0.8] = np.nan
        return outputs, variance

    _, sample = drawn(linear(failing), evaluations=600, error=0.2)
    assert any("new runs at draws of the posterior failed" in reason for reason in sample.reasons)


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match="Gaussian errors"):
        drawn(linear(rippled, StudentT(NOISE)))
    with pytest.raises(InputError, match="needs a simulator whose roughness"):
        sample_posterior(linear(rippled), ROUGH, seed=0, look=False)
    with pytest.raises(InputError, match="evaluations"):
        drawn(linear(rippled), evaluations=50)
