"""Curves, bands, rates and verdicts of one set of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import chdtrc

from percuss.errors import InputError
from percuss.fragility import cloud, counts, dynamic_analysis
from percuss.fragility.curves import Array, Curves, Observed
from percuss.fragility.hazard import Hazard
from percuss.fragility.uncertainty import bootstrap, posterior_draws
from percuss.spelling import did_you_mean
from percuss.trust import Verdict

METHODS = ("counts", "cloud", "ida")
# A resample of runs of which so many exceed a state has none of them with probability exp(-5), under one in a hundred.
FEWEST = 5
# Share of a rate that may come from intensities that were not run.
MOST_OUTSIDE = 0.2
# Of a test that is right one time in a hundred it says no.
SMALLEST_CHANCE = 0.01
PLACES = 81
# Up to so many intensities are stripes; more are gathered in bins.
MOST_STRIPES = 20
BINS = 8


@dataclass(frozen=True)
class Request:
    """States by name with their thresholds, rising; how curves are fitted and how well they must be known."""

    states: Mapping[str, float]
    method: str = "counts"
    common: bool = True
    level: float = 0.9
    draws: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        values = list(self.states.values())
        if self.method not in METHODS:
            raise InputError(f"method {self.method}: {did_you_mean(self.method, METHODS)}")
        if not values or any(b <= a for a, b in pairwise(values)):
            raise InputError("states: there must be at least one, with thresholds that rise from one to the next")
        if not 0 < self.level < 1:
            raise InputError(f"level {self.level:g}: must lie between 0 and 1")
        if not 50 <= self.draws <= 100_000:
            raise InputError(f"draws {self.draws}: must lie from 50 to 100000")


@dataclass(frozen=True, eq=False)
class Fragility:
    """What comes of a request: curves, draws of them by bootstrap and Bayes, annual rates, verdicts, tables."""

    curves: Curves
    resampled: list[Curves]
    posterior: list[Curves]
    exceeding: NDArray[np.intp]
    rates: Array | None
    verdicts: tuple[Verdict, ...]
    tables: dict[str, pl.DataFrame]

    def interval(self, of: Callable[[Curves], Array], level: float) -> Array:
        """Interval of a number of each state: by the bootstrap low and high, by Bayes low and high."""
        ends = [(1 - level) / 2, (1 + level) / 2]
        parts = [np.quantile([of(c) for c in draws], ends, axis=0) for draws in (self.resampled, self.posterior)]
        return np.concatenate(parts)


def fragility_of(observed: Observed, request: Request, hazard: Hazard | None = None) -> Fragility:
    """Fit the curves of a request to runs."""
    if not (observed.intensity > 0).all():
        least = float(observed.intensity.min())
        raise InputError(f"a run has the intensity {least:g}: all must be above 0, as their logarithms are used")
    thresholds = np.array(list(request.states.values()))
    damage = observed.damage(thresholds)
    exceeding = np.array([(damage > k).sum() for k in range(len(thresholds))], np.intp)
    for name, count in zip(request.states, exceeding, strict=True):
        if count in (0, len(damage)):
            which = "no run exceeds it" if count == 0 else "every run exceeds it"
            raise InputError(f"state {name}: {which}, and there is no curve without runs of either kind")
    curves = fit(observed, request, thresholds)
    resampled, lost = bootstrap(observed, lambda again: fit(again, request, thresholds), request.draws, request.seed)
    if len(resampled) < request.draws // 2:
        raise InputError(f"{lost} of {request.draws} resamples cannot be fitted: too few runs show some state")
    posterior = _posterior(observed, request, thresholds, curves)
    rates = hazard.rates(curves) if hazard else None
    verdicts = verdicts_of(observed, request, curves, hazard)
    grid = np.geomspace(observed.intensity.min() / 1.5, observed.intensity.max() * 1.5, PLACES)
    result = Fragility(curves, resampled, posterior, exceeding, rates, verdicts, {})
    band = result.interval(lambda c: c.probability(grid), request.level).reshape(4, PLACES, -1)
    names = list(request.states)
    result.tables["curves"] = pl.concat(
        pl.DataFrame(
            {
                "state": [name] * PLACES,
                "intensity": grid,
                "probability": curves.probability(grid)[:, k],
                "bootstrap_low": band[0, :, k],
                "bootstrap_high": band[1, :, k],
                "bayes_low": band[2, :, k],
                "bayes_high": band[3, :, k],
            }
        )
        for k, name in enumerate(names)
    )
    result.tables["points"] = _points(observed.intensity, damage, names)
    return result


def fit(observed: Observed, request: Request, thresholds: Array) -> Curves:
    """The curves by the method asked for."""
    if request.method == "cloud":
        return cloud.fit_cloud(observed.intensity, observed.demand, thresholds)
    if request.method == "ida":
        return dynamic_analysis.fit_capacities(dynamic_analysis.capacities(observed, thresholds), common=request.common)
    damage = observed.damage(thresholds)
    return counts.fit_counts(observed.intensity, damage, len(thresholds), common=request.common)


def _posterior(observed: Observed, request: Request, thresholds: Array, best: Curves) -> list[Curves]:
    # Another stream than that of the bootstrap.
    seed = request.seed + 2**32
    if request.method == "cloud":
        return cloud.posterior_draws(observed.intensity, observed.demand, thresholds, request.draws, seed)
    if request.method == "ida":
        known = dynamic_analysis.capacities(observed, thresholds)
        density = lambda curves: dynamic_analysis.log_likelihood(known, curves)  # noqa: E731
    else:
        damage = observed.damage(thresholds)
        if request.common:
            density = lambda curves: counts.log_likelihood(observed.intensity, damage, curves)  # noqa: E731
        else:
            density = lambda curves: _one_by_one(observed.intensity, damage, curves)  # noqa: E731
    return posterior_draws(density, best, request.draws, seed, common=request.common)[0]


def _one_by_one(intensity: Array, damage: NDArray[np.intp], curves: Curves) -> float:
    """Likelihood of states that are fitted each by itself."""
    return sum(
        counts.log_likelihood(
            intensity, np.asarray(damage > k, np.intp), Curves(curves.median[[k]], curves.dispersion[[k]])
        )
        for k in range(len(curves.median))
    )


def verdicts_of(
    observed: Observed, request: Request, curves: Curves, hazard: Hazard | None, *, hazard_ends: bool = True
) -> tuple[Verdict, ...]:
    """What the gates say of curves. Without `hazard_ends` as before the ends of the hazard curve were looked at."""
    damage = observed.damage(np.array(list(request.states.values())))
    low, high = float(observed.intensity.min()), float(observed.intensity.max())
    verdicts: list[Verdict] = []
    chance = curves.probability(observed.intensity)
    shares = []
    if hazard:
        outside = (hazard.rates(curves, 0.0, low) + hazard.rates(curves, high)) / hazard.rates(curves)
        ends = f"{hazard.intensity[0]:.4g} to {hazard.intensity[-1]:.4g}"
        shares = [(outside, "others")]
        shares += [(hazard.unknown(curves), f"outside of the hazard curve, {ends}")] if hazard_ends else []
    for k, name in enumerate(request.states):
        over = int((damage > k).sum())
        fewest = min(over, len(damage) - over)
        sentence = f"state {name}: {over} of {len(damage)} runs exceed it"
        if fewest < FEWEST:
            sentence += f", and at least {FEWEST} must do so and {FEWEST} must not"
        verdicts.append(Verdict("exceedances", fewest >= FEWEST, sentence, float(fewest), float(FEWEST), (name,)))
        median = float(curves.median[k])
        inside = low <= median <= high
        sentence = f"state {name}: its median {median:.4g} lies {'within' if inside else 'outside'} the intensities run"
        sentence += f", {low:.4g} to {high:.4g}"
        for share, where in shares if inside else ():
            inside &= bool(share[k] <= MOST_OUTSIDE)
            sentence += f"; {100 * share[k]:.2g} % of its annual rate comes from {where}"
        verdicts.append(Verdict("extrapolation", inside, sentence, median, None, (name,)))
        verdicts.append(_lognormal(observed.intensity, damage > k, chance[:, k], name))
    order = np.diff(curves.probability(np.geomspace(low, high, 200)), axis=1)
    if order.size and (order > 1e-12).any():
        sentence = "curves of two states cross within the intensities that were run: take one dispersion for all"
        verdicts.append(Verdict("extrapolation", False, sentence))
    return tuple(verdicts)


def _lognormal(intensity: Array, over: NDArray[np.bool_], chance: Array, name: str) -> Verdict:
    """Chi-square of counts in bins of intensity against the curve."""
    parts = [rows for rows in _bins(intensity) if 0.5 <= chance[rows].sum() <= len(rows) - 0.5]
    if len(parts) < 3:
        return Verdict("lognormal", True, f"state {name}: too few intensities to test the shape of its curve")
    expected = np.array([chance[rows].sum() for rows in parts])
    variance = np.array([(chance[rows] * (1 - chance[rows])).sum() for rows in parts])
    seen = np.array([over[rows].sum() for rows in parts])
    statistic = float(((seen - expected) ** 2 / variance).sum())
    tail = float(chdtrc(len(parts) - 2, statistic))
    word = "explains" if tail >= SMALLEST_CHANCE else "does not explain"
    sentence = f"state {name}: a lognormal curve {word} the counts, chi-square {statistic:.3g} with {len(parts) - 2}"
    return Verdict("lognormal", tail >= SMALLEST_CHANCE, sentence, tail, SMALLEST_CHANCE, (name,))


def _bins(intensity: Array) -> list[NDArray[np.intp]]:
    """Rows of each stripe, or of bins with as many runs each."""
    stripes = np.unique(intensity)
    if len(stripes) <= MOST_STRIPES:
        return [np.flatnonzero(intensity == stripe) for stripe in stripes]
    return [np.asarray(part, np.intp) for part in np.array_split(np.argsort(intensity, kind="stable"), BINS)]


def _points(intensity: Array, damage: NDArray[np.intp], names: list[str]) -> pl.DataFrame:
    rows = [
        (name, float(np.exp(np.log(intensity[part]).mean())), len(part), int((damage[part] > k).sum()))
        for k, name in enumerate(names)
        for part in _bins(intensity)
    ]
    return pl.DataFrame(rows, schema=["state", "intensity", "runs", "exceeding"], orient="row")
