"""Pareto smoothing of importance weights (Vehtari, Simpson, Gelman, Yao, Gabry, 2024).

The largest weights are replaced by quantiles of a generalised Pareto distribution fitted to them (Zhang, Stephens,
2009). Its shape k says whether weights can be trusted at all: above about 0.7 no number of draws helps.
"""

from __future__ import annotations

import numpy as np

from percuss.inference.arrays import Floats


def smooth(log_weights: Floats, efficiency: float = 1.0) -> tuple[Floats, float]:
    """Return smoothed log weights, normalised to sum one, and k; infinite k where the tail is too short to tell.

    `efficiency` is the effective share of the draws that weights were computed at.
    """
    n = len(log_weights)
    out = log_weights - np.max(log_weights)
    tail = int(np.ceil(min(0.2 * n, 3.0 * np.sqrt(n / efficiency))))
    k = np.inf
    if tail >= 5:
        order = np.argsort(out, kind="stable")
        largest = order[n - tail :]
        cut = out[order[n - tail - 1]]
        excess = np.exp(out[largest]) - np.exp(cut)
        if excess[-1] > 0:
            k, sigma = fit_tail(excess)
            if np.isfinite(k):
                ranks = (np.arange(tail) + 0.5) / tail
                out[largest] = np.minimum(np.log(_quantiles(ranks, k, sigma) + np.exp(cut)), 0.0)
        else:
            k = -np.inf  # all weights alike
    top = np.max(out)
    return out - (top + np.log(np.sum(np.exp(out - top)))), float(k)


def fit_tail(excess: Floats) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution from ascending excesses over a threshold.

    The estimate of Zhang and Stephens, with the shape drawn to 0.5 by ten pseudo-observations.
    """
    n = len(excess)
    points = 30 + int(np.sqrt(n))
    quartile = excess[max(int(n / 4 + 0.5) - 1, 0)]
    if quartile < 1e-300:  # one over it would overflow
        return np.inf, np.nan
    b = 1.0 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    b = b / (3.0 * quartile) + 1.0 / excess[-1]
    shapes = np.mean(np.log1p(-b[:, None] * excess), axis=1)
    profile = n * (np.log(-b / shapes) - shapes - 1.0)
    weights = np.exp(profile - np.max(profile))
    best = float(np.sum(b * weights) / np.sum(weights))
    shape = float(np.mean(np.log1p(-best * excess)))
    sigma = -shape / best
    return (n * shape + 5.0) / (n + 10.0), sigma


def _quantiles(p: Floats, k: float, sigma: float) -> Floats:
    if abs(k) < 1e-30:
        return -sigma * np.log1p(-p)
    # Where k is huge, quantiles are infinite; whoever asked cuts them, and k tells that nothing is to be trusted.
    with np.errstate(over="ignore"):
        return sigma * np.expm1(-k * np.log1p(-p)) / k
