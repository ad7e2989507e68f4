"""The traditional route (Green et al., Sections 4.2 and 5.2, Appendix A): parameters constant, all that the model
misses taken for noise of unknown variance; prediction of data held out; evidence.

    log p(D | theta, R) = -1/2 sum over samples of (z - y(theta))^2 / R + log 2 pi R

The evidence by Laplace is `-J + d/2 log 2 pi - 1/2 log det A` with `exp(-J)` likelihood times prior at the mode. Eqs.
A.4 to A.6 of the paper have `+J`: the sign of its log Bayes factor, 5622 for the linear model, is wrong. Importance
sampling beside it needs no such formula and says the same as `-J`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo
from percuss.inference.evidence import Evidence, importance_evidence, laplace_evidence
from percuss.inference.samplers.sample import Run, Sample, Stopping
from percuss.inference.summary import Mode, find_mode
from percuss.inference.target import Target
from percuss.study.priors.prior import Prior
from percuss.validation.following import Floats, Following

PROPOSALS = 1500
CHAINS, DRAWS = 4, 250
DEGREES_OF_FREEDOM = 5.0
ROUNDS = 4
# Independent draws that the weights must be worth before they are drawn from.
ENOUGH = 300.0


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A posterior of constant parameters and noise variances; `names` of the latter are variance_QUANTITY."""

    target: Target
    sample: Sample
    mode: Mode
    laplace: Evidence
    importance: Evidence
    samples: int
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a calibrated model makes of a stretch of data; the std includes noise. Scores by channel."""

    part: str
    times_s: Floats
    observed: Floats
    mean: Floats
    std: Floats
    rmse: Floats
    rmse_relative: Floats
    within_three: Floats


def posterior(
    following: Following, data: Floats, priors: Mapping[str, Prior], variance_priors: Mapping[str, Prior]
) -> Target:
    """What is to be inferred: the tracked parameters and the variance of each channel's noise."""
    count = np.sum(~np.isnan(data), axis=0)
    d = len(following.tracked)

    def log_likelihood(x: Floats) -> Floats:
        squares = following.misfit(np.ascontiguousarray(x[:, :d]), data)
        variance = x[:, d:]
        with np.errstate(all="ignore"):
            log = -0.5 * (squares / variance + count * np.log(2 * np.pi * variance))
        return np.asarray(log.sum(axis=1))

    names = (*following.tracked, *(f"variance_{name}" for name in following.quantities))
    all_priors = (
        *(priors[name] for name in following.tracked),
        *(variance_priors[name] for name in following.quantities),
    )
    return Target(names, all_priors, log_likelihood)


def calibrate_constant(
    following: Following,
    data: Floats,
    priors: Mapping[str, Prior],
    variance_priors: Mapping[str, Prior],
    starts: Sequence[Floats],
    noise: Floats,
    seed: int = 0,
) -> Calibrated:
    """Calibrate from several starts (parameters); raise AnswerIsNo where no start leads anywhere."""
    target = posterior(following, data, priors, variance_priors)
    best, covariance = _least_squares(following, data, target, starts, noise)
    run, notes = _resample(target, best, covariance, seed)
    sample = Sample.of(target, run, "importance-resampling", seed, {"proposals": PROPOSALS}, Stopping())
    return Calibrated(
        target,
        sample,
        find_mode(target, sample),
        laplace_evidence(target, sample),
        importance_evidence(target, sample, draws=PROPOSALS, seed=seed + 1),
        len(data),
        (*notes, *sample.reasons),
    )


def predict(
    following: Following, times_s: Floats, data: Floats, points: Floats, part: str, begin: int = 0
) -> Predicted:
    """Predict with draws of the posterior (n, parameters and variances), from the start; keep samples from `begin`."""
    d = len(following.tracked)
    readings = following.respond(np.ascontiguousarray(points[:, :d]), len(data))[:, begin:]
    mean = readings.mean(axis=0)
    std = np.sqrt(readings.var(axis=0) + points[:, d:].mean(axis=0))
    observed = data[begin:]
    error = observed - mean
    size = np.sqrt(np.nanmean(observed * observed, axis=0))
    rmse = np.sqrt(np.nanmean(error * error, axis=0))
    there = ~np.isnan(error)
    within = np.sum((np.abs(error) <= 3 * std) & there, axis=0) / np.sum(there, axis=0)
    return Predicted(part, times_s[begin:], observed, mean, std, rmse, rmse / size, within)


def _least_squares(
    following: Following, data: Floats, target: Target, starts: Sequence[Floats], noise: Floats
) -> tuple[Floats, Floats]:
    """Mode and covariance of parameters and variances, nearly: by least squares with the priors as further data."""
    from scipy.optimize import least_squares

    d = len(following.tracked)
    prior_mean = np.array([prior.mean() for prior in target.priors[:d]])
    prior_std = np.array([prior.std() for prior in target.priors[:d]])
    low, high = np.array([prior.support() for prior in target.priors[:d]]).T
    there = ~np.isnan(data)
    count = there.sum(axis=0)

    def residuals(points: Floats, variance: Floats) -> Floats:
        """Weighted differences and distances from the prior means: (n, residuals)."""
        gap = (following.respond(points, len(data)) - data) / np.sqrt(variance)
        return np.concatenate([gap[:, there], (points - prior_mean) / prior_std], axis=1)

    best: tuple[float, Floats, Floats, Floats] | None = None
    for start in starts:
        at, variance = np.clip(start, low + 1e-9 * prior_std, high - 1e-9 * prior_std), noise
        for _ in range(3):

            def jacobian(x: Floats, variance: Floats = variance) -> Floats:
                step = 1e-6 * np.maximum(np.abs(x), 1e-3 * prior_std)
                both = residuals(np.concatenate([x + np.diag(step), x - np.diag(step)]), variance)
                return np.asarray(((both[:d] - both[d:]) / (2 * step[:, None])).T)

            def value(x: Floats, variance: Floats = variance) -> Floats:
                # a motion that runs away is as bad as can be, not the end of the search
                return np.asarray(np.nan_to_num(residuals(x[None], variance)[0], nan=1e6, posinf=1e6, neginf=-1e6))

            with np.errstate(all="ignore"):
                end = least_squares(
                    value, at, jacobian, bounds=(low, high), x_scale=prior_std, xtol=1e-12, ftol=1e-12, max_nfev=60
                )
                at = end.x
                variance = np.maximum(following.misfit(at[None], data)[0] / count, 1e-12 * noise)
        if not np.isfinite(variance).all():
            continue
        score = float(np.sum(count * np.log(variance)))
        if best is None or score < best[0]:
            best = (score, at, variance, jacobian(at, variance))
    if best is None:
        raise AnswerIsNo("no start leads to a motion that stays finite: nothing to calibrate")
    _, at, variance, slope = best
    covariance = np.zeros((d + len(variance),) * 2)
    covariance[:d, :d] = np.linalg.inv(slope.T @ slope)
    covariance[np.arange(d, len(covariance)), np.arange(d, len(covariance))] = 2 * variance**2 / count
    return np.concatenate([at, variance]), covariance


def _resample(target: Target, best: Floats, covariance: Floats, seed: int) -> tuple[Run, tuple[str, ...]]:
    """Independent draws of the posterior: from a Student-t about the mode, taken by their weights; the t is fitted
    again to the weighted draws until these are worth enough.
    """
    d = target.dimension
    std = np.sqrt(np.diag(covariance))
    centre = target.transform.unbounded(best[None])[0]
    step = 1e-4 * std
    slope = (
        target.transform.unbounded((best + step)[None])[0] - target.transform.unbounded((best - step)[None])[0]
    ) / (2 * step)
    spread = covariance * slope[:, None] * slope
    random = np.random.default_rng(seed)
    worth, evaluations = 0.0, 0
    for _ in range(ROUNDS):
        factor = np.linalg.cholesky(spread)
        normal = random.standard_normal((PROPOSALS, d))
        normal /= np.sqrt(random.chisquare(DEGREES_OF_FREEDOM, PROPOSALS) / DEGREES_OF_FREEDOM)[:, None]
        z = centre + normal @ factor.T
        log_density = target.log_density(z)
        evaluations += PROPOSALS
        log_weight = log_density + 0.5 * (DEGREES_OF_FREEDOM + d) * np.log1p(
            np.sum(normal * normal, axis=1) / DEGREES_OF_FREEDOM
        )
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        worth = float(1.0 / np.sum(weight * weight))
        if worth >= ENOUGH:
            break
        centre = weight @ z
        away = z - centre
        # never narrower than half of what it was: few draws of weight say little about the spread
        spread = (away * weight[:, None]).T @ away + 0.25 * spread
    chosen = random.choice(PROPOSALS, CHAINS * DRAWS, p=weight)
    shape = (CHAINS, DRAWS)
    run = Run(z[chosen].reshape(*shape, d), log_density[chosen].reshape(shape), np.full(CHAINS, math.nan), evaluations)
    notes = () if worth >= ENOUGH else (f"the draws are worth {worth:.0f} independent ones only",)
    return run, notes
