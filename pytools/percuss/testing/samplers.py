"""The contract of a sampler of posteriors: right on a density known in closed form, the same bits for a seed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from percuss.inference.samplers.registry import sample_posterior, sampler_settings
from percuss.inference.samplers.sample import Progress, Stopping
from percuss.inference.target import Target
from percuss.study.priors.registry import read_prior

# A Gaussian likelihood with correlation under wide uniform priors: the posterior is that Gaussian.
MEAN = np.array([0.4, -0.3])
COVARIANCE = np.array([[0.04, 0.018], [0.018, 0.02]])
# Standard errors by which a mean may be off: chance in some 1 of 10^5.
ERRORS = 4.5


def check_sampler(sampler: str, settings: Mapping[str, float] | None = None, evaluations: int = 2_000_000) -> None:
    """Check a sampler with these settings."""
    for name, setting in sampler_settings(sampler).items():
        assert setting.doc, f"setting {name} has no doc"
        default = setting.default
        assert isinstance(default, int | float), f"setting {name}: its default is no number"
        assert setting.low <= default <= setting.high, f"setting {name}: default outside its bounds"
    precision = np.linalg.inv(COVARIANCE)
    counted = 0

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        nonlocal counted
        counted += len(x)
        away = x - MEAN
        return np.asarray(-0.5 * np.einsum("ni,ij,nj->n", away, precision, away))

    wide = read_prior({"kind": "uniform", "low": -3, "high": 3}, "1")
    target = Target(("a", "b"), (wide, wide), log_likelihood)
    reports: list[Progress] = []
    stopping = Stopping(evaluations=evaluations)
    sample = sample_posterior(target, sampler, seed=5, stopping=stopping, settings=settings, report=reports.append)
    assert sample.converged, f"not converged on a Gaussian: {'; '.join(sample.reasons)}"
    assert reports, "it never reported its progress"
    assert sample.evaluations <= evaluations, f"{sample.evaluations} evaluations, and {evaluations} were allowed"
    assert counted >= sample.evaluations - 1, f"{sample.evaluations} evaluations are claimed, {counted} were made"
    draws = sample.flat()
    ess = np.array([sample.diagnostics.ess_bulk[j] for j in range(2)])
    error = np.sqrt(np.diag(COVARIANCE) / ess)
    assert (np.abs(draws.mean(axis=0) - MEAN) < ERRORS * error).all(), f"means are {draws.mean(axis=0)}, not {MEAN}"
    spread = np.cov(draws.T)
    np.testing.assert_allclose(spread, COVARIANCE, rtol=0.25, atol=0.004, err_msg="covariance of the draws")
    again = sample_posterior(target, sampler, seed=5, stopping=stopping, settings=settings)
    np.testing.assert_array_equal(again.draws, sample.draws, err_msg="another sample with the same seed")
    other = sample_posterior(target, sampler, seed=6, stopping=stopping, settings=settings)
    assert not np.array_equal(other.draws, sample.draws), "the same sample with another seed"
