"""How well a posterior predicts data it has not seen: leave-one-out by Pareto-smoothed importance sampling (PSIS-LOO;
Vehtari, Gelman, Gabry, 2017). No run is repeated: the posterior without a datum is the posterior weighted by one over
that datum's density.

Pareto smoothing of importance weights (Vehtari, Simpson, Gelman, Yao, Gabry, 2024).

The largest weights are replaced by quantiles of a generalised Pareto distribution fitted to them (Zhang, Stephens,
2009). Its shape k says whether weights can be trusted at all: above about 0.7 no number of draws helps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import ess_mean


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


@dataclass(frozen=True, eq=False)
class Loo:
    """Expected log predictive density (sum over entries, with its standard error), effective number of parameters, and
    entry by entry the density, its leave-one-out probability integral transform (the probability of less than was
    measured, uniform if the model is right) and the k of its weights. `reliable` where every k is below its limit.
    """

    elpd: float
    elpd_error: float
    effective_parameters: float
    pointwise: Floats
    transform: Floats
    pareto_k: Floats
    reliable: bool


def leave_one_out(log_likelihood: Floats, below: Floats) -> Loo:
    """Judge by log densities of each entry given all others, and the probabilities of less than was measured; (chains,
    draws, entries) each.
    """
    if log_likelihood.ndim != 3 or not np.isfinite(log_likelihood).all():
        raise InputError("leave-one-out needs finite log densities, chains x draws x entries")
    chains, draws, entries = log_likelihood.shape
    n = chains * draws
    pointwise, transform, ks, whole = np.empty((4, entries))
    for i in range(entries):
        at = log_likelihood[:, :, i]
        efficiency = min(ess_mean(np.exp(at - np.max(at))) / n, 1.0) if np.ptp(at) > 0 else 1.0
        flat = at.ravel()
        weights, ks[i] = smooth(-flat, efficiency)
        pointwise[i] = _log_sum_exp(weights + flat)
        transform[i] = np.clip(np.sum(np.exp(weights) * below[:, :, i].ravel()), 0.0, 1.0)
        whole[i] = _log_sum_exp(flat) - np.log(n)
    limit = min(1.0 - 1.0 / np.log10(n), 0.7)
    return Loo(
        elpd=float(np.sum(pointwise)),
        elpd_error=float(np.sqrt(entries * np.var(pointwise))),
        effective_parameters=float(np.sum(whole - pointwise)),
        pointwise=pointwise,
        transform=transform,
        pareto_k=ks,
        reliable=bool((ks < limit).all()),
    )


def difference(first: Floats, second: Floats) -> tuple[float, float]:
    """Advantage of the first over the second by the densities of the same entries, and its standard error."""
    if first.shape != second.shape:
        raise InputError(f"posteriors of {len(first)} and {len(second)} data cannot be compared entry by entry")
    gain = first - second
    return float(np.sum(gain)), float(np.sqrt(len(gain) * np.var(gain)))


def _log_sum_exp(x: Floats) -> float:
    top = np.max(x)
    return float(top + np.log(np.sum(np.exp(x - top))))
