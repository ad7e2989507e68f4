"""What a posterior says, parameter by parameter, and whether it may be said.

Without convergence there is no summary, unless asked for in so many words; then it carries the reasons with it.

The mode of a posterior (maximum a posteriori, MAP): the point estimate of Gupta et al. (2023, Eq. C.15),
optimised, not the best draw.

In the parameters themselves, where the density is likelihood times prior: the mode depends on the variables it is taken
in, and these are the ones people name. Bounds are bounds of the search: a mode on one is found there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo, InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import mcse_mean, mcse_quantile, mcse_std
from percuss.inference.samplers.sample import Sample
from percuss.inference.target import Target
from percuss.study.priors.prior import Prior

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


# Less contraction than this, and the data have said next to nothing about a parameter.
LITTLE = 0.1
# More correlation than this, and two parameters are known only together.
TOGETHER = 0.95
# Less than this many times what the prior has at its bound is what the prior put there, and the noise of the draws.
PILED_UP = 1.25


class NotConverged(AnswerIsNo):
    """The draws do not represent the posterior; `reasons` says what shows it."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        self.reasons = reasons
        super().__init__(
            f"the posterior is not converged: {'; '.join(reasons)}",
            hint="raise the budget, take another sampler, or look whether the variances are far too small",
        )


@dataclass(frozen=True)
class Row:
    """One parameter, in SI. `contraction` is 1 - posterior variance / prior variance; errors are those of Monte Carlo,
    `interval_error` of both ends of the interval.
    """

    name: str
    mean: float
    mean_error: float
    std: float
    std_error: float
    median: float
    median_error: float
    mode: float
    interval: tuple[float, float]
    interval_error: tuple[float, float]
    densest: tuple[float, float]
    contraction: float
    r_hat: float
    ess_bulk: float
    ess_tail: float
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Summary:
    """All parameters; `mass` of the probability lies in each interval (equal-tailed, and densest: shortest)."""

    rows: tuple[Row, ...]
    correlations: Floats
    mode_log_posterior: float
    mass: float
    acceptance: tuple[float, float]
    converged: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def summarise(
    target: Target, sample: Sample, *, mass: float = 0.95, accept_unconverged: bool = False, costly: bool = False
) -> Summary:
    """Summarise a sample; raise NotConverged for one that is not, unless that is accepted. `costly`: each point that is
    looked at for the mode is a run of a simulator.
    """
    if not 0 < mass < 1:
        raise InputError(f"mass = {mass!r} must lie between 0 and 1")
    if not sample.converged and not accept_unconverged:
        raise NotConverged(sample.reasons)
    mode = find_mode(target, sample, costly=costly)
    tails = ((1 - mass) / 2, (1 + mass) / 2)
    rows = []
    for j, (name, prior) in enumerate(zip(target.names, target.priors, strict=True)):
        x = sample.draws[:, :, j]
        std = float(np.std(x))
        contraction = 1.0 - (std / prior.std()) ** 2
        low, high = np.quantile(x, tails)
        notes = []
        if contraction < LITTLE:
            notes.append(f"the data say little about it: contraction {contraction:.2f}")
        else:
            notes += _on_bounds(x, prior)
        rows.append(
            Row(
                name=name,
                mean=float(np.mean(x)),
                mean_error=mcse_mean(x),
                std=std,
                std_error=mcse_std(x),
                median=float(np.median(x)),
                median_error=mcse_quantile(x, 0.5),
                mode=float(mode.values[j]),
                interval=(float(low), float(high)),
                interval_error=(mcse_quantile(x, tails[0]), mcse_quantile(x, tails[1])),
                densest=densest_interval(x, mass),
                contraction=contraction,
                r_hat=float(sample.diagnostics.r_hat[j]),
                ess_bulk=float(sample.diagnostics.ess_bulk[j]),
                ess_tail=float(sample.diagnostics.ess_tail[j]),
                notes=tuple(notes),
            )
        )
    correlations = correlation_matrix(sample.flat())
    return Summary(
        rows=tuple(rows),
        correlations=correlations,
        mode_log_posterior=mode.log_posterior,
        mass=mass,
        acceptance=(float(np.min(sample.acceptance)), float(np.max(sample.acceptance))),
        converged=sample.converged,
        reasons=sample.reasons,
        notes=tuple(_known_together(target.names, correlations)),
    )


def densest_interval(x: Floats, mass: float) -> tuple[float, float]:
    """Shortest interval that holds `mass` of the draws (the highest-density one, where there is one mode)."""
    ordered = np.sort(x, axis=None)
    held = min(int(np.ceil(mass * len(ordered))), len(ordered)) - 1
    widths = ordered[held:] - ordered[: len(ordered) - held]
    first = int(np.argmin(widths))
    return float(ordered[first]), float(ordered[first + held])


def correlation_matrix(x: Floats) -> Floats:
    """Correlations of the columns; zero for a column that does not vary."""
    away = x - x.mean(axis=0)
    size = np.sqrt(np.sum(away * away, axis=0))
    away = away / np.where(size > 0, size, 1.0)
    matrix: Floats = np.einsum("ni,nj->ij", away, away)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _on_bounds(x: Floats, prior: Prior) -> list[str]:
    """Say on which bound a posterior lies: where its density at the bound is at least half of the highest, and the data
    have put more there than the prior had.
    """
    width = 0.25 * float(np.std(x))
    notes = []
    low, high = prior.support()
    for bound, inwards, word in ((low, 1.0, "low"), (high, -1.0, "high")):
        if np.isfinite(bound) and width > 0:
            bins = np.minimum(inwards * (x - bound) / width, 1e6).astype(np.int64)
            counts = np.bincount(bins.ravel())
            before = abs(float(np.diff(prior.cdf(np.array([bound, bound + inwards * width])))[0]))
            if counts[0] >= 0.5 * np.max(counts) and counts[0] > PILED_UP * before * np.size(x):
                notes.append(f"the posterior lies on the {word} bound of its prior, {bound:g} (SI)")
    return notes


def _known_together(names: tuple[str, ...], correlations: Floats) -> list[str]:
    return [
        f"{names[i]} and {names[j]} are known only together: correlation {correlations[i, j]:.3f}"
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if abs(correlations[i, j]) > TOGETHER
    ]
