"""The evidence Z (Gupta et al., 2023, Eq. C.12), three ways, and what it says between two models.

    Laplace       a Gaussian about the mode of the unbounded density: log Z = log p* + d/2 log 2 pi - 1/2 log det H
    importance    draws from a Student-t of the posterior's mean and covariance, weighted: exact as draws grow
    sequential    the product of mean weights of a tempering (`samplers.sequential_monte_carlo`)

The first is quick and right where the posterior is near Gaussian; the second shows whether it is, with an error of its
own; the third needs neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo, InputError
from percuss.inference.arrays import Floats
from percuss.inference.climbing import second_differences
from percuss.inference.loo import smooth
from percuss.inference.samplers.sample import Sample
from percuss.inference.summary import value_and_gradient
from percuss.inference.target import Target

# Step of the Hessian in posterior standard deviations: truncation h^4 and rounding 1e-16 / h^2 are both below 1e-7.
STEP = 0.02
DEGREES_OF_FREEDOM = 5.0
# Above this shape of the tail of the weights their mean means nothing.
TRUSTED_K = 0.7


@dataclass(frozen=True)
class Evidence:
    """log Z and its standard error; NaN where the method has none."""

    method: str
    log_evidence: float
    error: float = math.nan
    notes: tuple[str, ...] = ()


def laplace_evidence(target: Target, sample: Sample) -> Evidence:
    """Approximate about the mode of the unbounded density; the sample gives start and scales."""
    from scipy.optimize import minimize

    z = target.transform.unbounded(sample.flat())
    factor = _factor(z)
    # The densities of the draws are known; asking the model again may cost runs.
    known = (sample.log_likelihood + sample.log_prior).ravel() + target.transform.log_jacobian(z)
    start = z[int(np.argmax(known))]

    def negative(w: Floats) -> Floats:
        value = -target.log_density(start + np.einsum("ij,nj->ni", factor, w))
        return np.where(np.isfinite(value), value, 1e100)

    ones = np.ones(target.dimension)
    end = minimize(
        lambda w: value_and_gradient(negative, w, ones),
        np.zeros(target.dimension),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-7},
    )
    hessian = second_differences(negative, end.x, STEP)
    try:
        log_det = 2.0 * float(np.sum(np.log(np.diag(np.linalg.cholesky(hessian)))))
    except np.linalg.LinAlgError:
        raise AnswerIsNo(
            "the posterior has no curvature at its mode: no Laplace evidence",
            hint="take the evidence of sequential-monte-carlo",
        ) from None
    # The Hessian is that in coordinates w, z = start + factor w: det H_z = det H_w / det(factor)^2.
    log_scale = float(np.sum(np.log(np.diag(factor))))
    log_z = -float(end.fun) + 0.5 * target.dimension * math.log(2 * math.pi) - 0.5 * log_det + log_scale
    return Evidence("laplace", log_z)


def importance_evidence(target: Target, sample: Sample, *, draws: int = 10_000, seed: int = 0) -> Evidence:
    """Weigh draws from a Student-t that has mean and covariance of the posterior in the unbounded space."""
    from scipy.special import gammaln

    z = target.transform.unbounded(sample.flat())
    d, nu = target.dimension, DEGREES_OF_FREEDOM
    factor = _factor(z)
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal((draws, d))
    normal /= np.sqrt(generator.chisquare(nu, draws) / nu)[:, None]
    constant = gammaln((nu + d) / 2) - gammaln(nu / 2) - 0.5 * d * math.log(nu * math.pi)
    constant -= float(np.sum(np.log(np.diag(factor))))
    log_proposal = constant - 0.5 * (nu + d) * np.log1p(np.sum(normal * normal, axis=1) / nu)
    log_weights = target.log_density(z.mean(axis=0) + np.einsum("ij,nj->ni", factor, normal)) - log_proposal
    top = float(np.max(log_weights))
    if not math.isfinite(top):
        raise AnswerIsNo("no draw of the importance sampling has a density above zero: no evidence")
    weights = np.exp(log_weights - top)
    mean = float(np.mean(weights))
    error = float(np.std(weights, ddof=1)) / mean / math.sqrt(draws)
    k = smooth(log_weights)[1]
    notes = (f"the weights have tails of shape {k:.2f}: not to be trusted",) if not k < TRUSTED_K else ()
    return Evidence("importance", top + math.log(mean), error, notes)


def sampled_evidence(sample: Sample) -> Evidence:
    """Return the evidence a sampler found on its way; raise InputError for a sampler that has none."""
    if sample.log_evidence is None or sample.log_evidence_error is None:
        raise InputError(
            f"a sample of {sample.sampler} holds no evidence", hint="take the sampler sequential-monte-carlo"
        )
    return Evidence(sample.sampler, sample.log_evidence, sample.log_evidence_error)


@dataclass(frozen=True)
class BayesFactor:
    """Log of the evidence of one model over that of another, its error, and the words of Kass and Raftery (1995)."""

    log: float
    error: float
    words: str


def bayes_factor(first: Evidence, second: Evidence) -> BayesFactor:
    """Weigh two models of the same data; positive speaks for the first."""
    log = first.log_evidence - second.log_evidence
    strength = 2.0 * abs(log)
    words = "barely worth mentioning"
    for least, grade in ((2.0, "positive"), (6.0, "strong"), (10.0, "very strong")):
        if strength > least:
            words = grade
    side = "first" if log > 0 else "second"
    return BayesFactor(log, math.hypot(first.error, second.error), f"{words}, for the {side}")


def _factor(z: Floats) -> Floats:
    """Lower Cholesky factor of the covariance of draws."""
    from percuss.inference.samplers.adaptive_metropolis import pooled_covariance

    return np.asarray(np.linalg.cholesky(pooled_covariance(z)))
