"""How well a posterior predicts data it has not seen: leave-one-out by Pareto-smoothed importance sampling (PSIS-LOO;
Vehtari, Gelman, Gabry, 2017). No run is repeated: the posterior without a datum is the posterior weighted by one over
that datum's density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import ess_mean
from percuss.inference.pareto import smooth


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
