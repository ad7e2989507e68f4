"""Importance sampling about design points: a mixture of unit normals, weights of the parts as Phi(-beta).

    p = mean of I(u) phi(u) / q(u),   q = sum_k w_k phi(u - u_k) + w_0 phi(u / 2) / 2^d

Design points are searched for every element of a series from several starts (`starts`). A region that no design point
lies in is seen by the wide part of the mixture, with a share w_0 of the draws: with few variables it is found, or the
coefficient of variation shows it; with more than some thirty it is not, and subset simulation is the method to take.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp, ndtr

from percuss.errors import InputError
from percuss.reliability.design_point import all_design_points
from percuss.reliability.estimate import (
    Array,
    Estimate,
    Samples,
    Settings,
    lognormal_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.form import reason_of
from percuss.reliability.limit import Limit

DEFAULT_N = 10_000
OPTIONS = {"starts": "searches beside that from the origin, for each element; 2"}
LOOKS = 10
# A part of the mixture is never left out, however far its point.
LEAST_SHARE = 0.02
# How many times the share of the heaviest draw the coefficient of variation is at least.
SHARES = 4.0
# Of the draws, those from a normal twice as wide about the origin.
WIDE_SHARE, WIDE = 0.1, 2.0


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Search, then sample in blocks until the coefficient of variation is reached."""
    if limit.parallel:
        raise InputError("importance: takes limits and series of limits, not parallel systems", hint="--method subset")
    searches = all_design_points(limit, int(settings.options.get("starts", 2)), settings.seed)
    reason = reason_of(searches)
    centres = np.array([s.point.u for s in searches])
    shares = np.maximum(ndtr(-np.linalg.norm(centres, axis=1)), 1e-300)
    shares = np.maximum(shares / shares.sum(), LEAST_SHARE)
    random = np.random.Generator(np.random.PCG64((settings.seed, 2)))
    sampled = sample_mixture(limit, centres, shares / shares.sum(), settings, random)
    p, cv, n = sampled.weights[sampled.values <= 0].sum(), _cv(sampled), len(sampled.u)
    if p == 0:
        raise never_reached(n, settings.level)
    interval = lognormal_interval(float(p), cv, settings.level)
    points = tuple(s.point for s in searches)
    return Estimate(float(p), interval, cv, reason or too_wide(cv, settings.cv, n), sampled, points)


def sample_mixture(
    limit: Limit, centres: Array, shares: Array, settings: Settings, random: np.random.Generator
) -> Samples:
    """Draws of the mixture with their weights over n."""
    block = max(settings.n // LOOKS, 1)
    points, values, weights = [], [], []
    n = 0
    while n < settings.n:
        size = min(block, settings.n - n)
        part = random.choice(len(centres), size, p=shares)
        u = random.standard_normal((size, limit.dimension))
        wide = random.random(size) < WIDE_SHARE
        u = np.where(wide[:, None], WIDE * u, u + centres[part])
        points.append(u)
        values.append(limit(u))
        weights.append(np.exp(log_weights(u, centres, shares)))
        n += size
        joined = Samples(np.concatenate(points), np.concatenate(values), np.concatenate(weights) / n)
        if _cv(joined) <= settings.cv:
            break
    return joined


def log_weights(u: Array, centres: Array, shares: Array) -> Array:
    """log phi(u) / q(u): phi(u - c) / phi(u) = exp(u.c - |c|^2 / 2)."""
    lift = u @ centres.T - 0.5 * np.einsum("ij,ij->i", centres, centres)
    near = math.log1p(-WIDE_SHARE) + logsumexp(lift, axis=1, b=shares)
    square = np.einsum("ij,ij->i", u, u)
    wide = math.log(WIDE_SHARE) - u.shape[1] * math.log(WIDE) + 0.5 * (1 - WIDE**-2) * square
    return np.asarray(-np.logaddexp(near, wide))


def _cv(samples: Samples) -> float:
    """Coefficient of variation of the mean of the weights of what fails.

    Where the surface bends towards the origin few draws carry most of the weight, and the variance among those seen so
    far tells too little: as long as one draw carries a share, the estimate is no better than some of such shares.
    """
    n = len(samples.u)
    failing = np.where(samples.values <= 0, samples.weights * n, 0.0)
    mean = float(failing.mean())
    if not mean > 0 or n < 2:
        return math.inf
    spread = float(failing.std(ddof=1)) / mean / math.sqrt(n)
    return max(spread, SHARES * float(failing.max()) / (n * mean))
