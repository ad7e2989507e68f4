"""The mode of a posterior (maximum a posteriori, MAP): the point estimate of Gupta et al. (2023, Eq. C.15),
optimised, not the best draw.

In the parameters themselves, where the density is likelihood times prior: the mode depends on the variables it is taken
in, and these are the ones people name. Bounds are bounds of the search: a mode on one is found there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.samplers.sample import Sample
from percuss.inference.target import Target

STARTS = 4
EXACT = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500}


@dataclass(frozen=True, eq=False)
class Mode:
    """Where likelihood times prior is largest, and its logarithm there."""

    values: Floats
    log_posterior: float


def find_mode(target: Target, sample: Sample, *, costly: bool = False) -> Mode:
    """Climb from the best draws of the best chains; the highest point reached is the mode.

    `costly`: each point is a run of a simulator. One climb, which stops where a step gains next to nothing.
    """
    from scipy.optimize import minimize

    log_posterior = sample.log_likelihood + sample.log_prior
    best = np.argmax(log_posterior, axis=1)
    chains = np.argsort(-log_posterior[np.arange(len(best)), best], kind="stable")[: 1 if costly else STARTS]
    scale = np.std(sample.flat(), axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    low, high = _bounds(target, scale)

    def negative(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            value = -(np.asarray(target.log_likelihood(x), float) + target.log_prior(x))
        # A wall, not infinity, which no line search can interpolate.
        return np.where(np.isfinite(value), value, 1e100)

    mode = Mode(sample.draws[chains[0], best[chains[0]]], float(log_posterior[chains[0], best[chains[0]]]))
    for chain in chains:
        start = np.clip(sample.draws[chain, best[chain]], low, high)
        end = minimize(
            lambda w, at=start: value_and_gradient(negative, at + scale * w, scale, low, high),
            np.zeros(target.dimension),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip((low - start) / scale, (high - start) / scale, strict=True)),
            options={"ftol": 1e-6, "gtol": 1e-2, "maxiter": 12} if costly else EXACT,
        )
        if -end.fun > mode.log_posterior:
            mode = Mode(np.clip(start + scale * end.x, low, high), float(-end.fun))
    return mode


def value_and_gradient(
    function: Callable[[Floats], Floats],
    x: Floats,
    scale: Floats,
    low: Floats | float = -np.inf,
    high: Floats | float = np.inf,
) -> tuple[float, Floats]:
    """Value at x (d,) and central differences along each `scale` (one-sided at bounds), in one call of the function."""
    # Never below what x itself resolves: a posterior can be narrower than that.
    step = np.diag(np.maximum(1e-5 * scale, 8.0 * np.spacing(np.abs(x))))
    points = np.concatenate([x[None], np.clip(x + step, low, high), np.clip(x - step, low, high)])
    values = function(points)
    d = len(x)
    apart = np.diagonal(points[1 : d + 1] - points[d + 1 :]) / scale
    # Steps below rounding, where all draws lie together, leave nothing to differentiate.
    difference = values[1 : d + 1] - values[d + 1 :]
    return float(values[0]), np.divide(difference, apart, out=np.zeros(d), where=apart != 0)


def _bounds(target: Target, scale: Floats) -> tuple[Floats, Floats]:
    """Bounds of the priors, a trace inside where the density is zero or infinite on the bound itself."""
    low, high = np.array([prior.support() for prior in target.priors]).T.copy()
    for j, prior in enumerate(target.priors):
        if np.isfinite(low[j]) and not np.isfinite(prior.logpdf(low[j])):
            low[j] += 1e-8 * scale[j]
        if np.isfinite(high[j]) and not np.isfinite(prior.logpdf(high[j])):
            high[j] -= 1e-8 * scale[j]
    return low, high
