"""First-order indices straight from runs that were made for something else: no surrogate, no special design.

    rank     (mean y_j y_{j+l} - mean^2) / V with the runs in order of one parameter, averaged over l = 1 to NEIGHBOURS
             (Gamboa, Gremaud, Klein and Lagnoux, 2022, with l = 1; neighbours in a Sobol sequence are far from
             independent in the other parameters, and a few of them together are not)
    binning  variance of the means over slices of equal probability, less what the noise within slices adds to it
             (Plischke, Borgonovo and Smith, 2013)

Both need a design that is like independent draws from the priors. Intervals of the second are percentiles over
resampled runs; ranks do not survive resampling, so the first has none.
"""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.sensitivity.indices import Array, Indices, bare, with_interval

METHOD = "given-data"
RESAMPLES = 200
FEWEST_RUNS = 16
NEIGHBOURS = 8


def given_data_indices(
    theta: Array, values: Array, case: str, outputs: tuple[str, ...], level: float, seed: int
) -> list[Indices]:
    """Indices of every output from points (n, d) and outputs (n, m)."""
    n, d = theta.shape
    if n < FEWEST_RUNS:
        raise InputError(f"case {case}: {n} finished runs are too few for given-data indices, at least {FEWEST_RUNS}")
    drawn = np.random.default_rng([seed, n, 19]).integers(0, n, (RESAMPLES, n))
    indices = []
    for j, output in enumerate(outputs):
        y = values[:, j]
        variance = float(y.var())
        if variance == 0:
            nothing = np.full(d, np.nan)
            indices.append(
                Indices(case, output, METHOD, float(y.mean()), 0.0, {"rank": bare(nothing), "binning": bare(nothing)})
            )
            continue
        rank = np.array([rank_index(theta[:, k], y) for k in range(d)])
        binning = np.array([binning_index(theta[:, k], y) for k in range(d)])
        again = np.array([[binning_index(theta[rows, k], y[rows]) for k in range(d)] for rows in drawn])
        # Repeated rows widen what noise adds to the means: the interval is centred on the estimate.
        again += binning - again.mean(axis=0)
        measures = {"rank": bare(rank), "binning": with_interval(binning, again, level)}
        indices.append(Indices(case, output, METHOD, float(y.mean()), variance, measures))
    return indices


def rank_index(x: Array, y: Array) -> float:
    """First-order index from the order of one parameter."""
    n = len(y)
    ordered = y[np.argsort(x, kind="stable")] - y.mean()
    lags = range(1, min(NEIGHBOURS, n // 4) + 1)
    return float(np.mean([(ordered[lag:] * ordered[:-lag]).mean() for lag in lags]) / y.var())


def binning_index(x: Array, y: Array) -> float:
    """First-order index from means over slices, free of the bias of the noise within them."""
    n = len(y)
    slices = np.array_split(y[np.argsort(x, kind="stable")], slice_count(n))
    between = sum(len(part) * (part.mean() - y.mean()) ** 2 for part in slices) / n
    within = sum(part.var(ddof=1) for part in slices) / n
    return float((between - within) / y.var() + 1.0 / n)


def slice_count(n: int) -> int:
    """Slices for n runs: the cube root of n carries bias and noise alike."""
    return int(np.clip(round(2.0 * n ** (1.0 / 3.0)), 4, 64))
