"""Predictions before and after the data: prior and posterior predictive (Gupta et al., 2023,
Eqs. C.13-C.14).

Two things are predicted for each data group: the model's outputs, and data, which are outputs with measurement error
and discrepancy on top. The error of a surrogate is part of the outputs where it is common to all data of an output: one
draw for all of them, after the data as these leave it. So is the error of the model where a group has one, at its data
and at the outputs it is shared with. Bands of data are what observations are held against.

Does the model explain the data? Posterior predictive checks (Gelman, Meng and Stern, 1996).

At a draw theta of the posterior the misfit T(y, theta) = -2 log p(y | theta) of the data is held against that of data
drawn from the model at the same theta. The posterior predictive p-value is the share of drawn data that fit worse. If
model, errors and prior are right, it falls below a in at most 2 a of all cases, whatever the model (Meng, 1994): the
pair (y, theta) is then distributed as data and the truth are, so that the p-value at one draw is uniform, and twice the
mean of dependent uniform numbers is a p-value. It falls there more rarely the more parameters were fitted.

A misfit is silent about order: errors that last from one sample of a record to the next, taken for independent ones of
the same size, have the same misfit, and make a posterior far too narrow. So along records the correlation of
neighbouring residuals is a second statistic, held against that of drawn data in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.likelihood import Likelihood

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Predictive:
    """Draws of all outputs of every forward model, `every` (n, outputs); for each group, (n, entries), `outputs` of the
    model and `data`.
    """

    points: Floats
    every: Mapping[str, Floats]
    outputs: Mapping[str, Floats]
    data: Mapping[str, Floats]


def predict_at(
    likelihood: Likelihood, points: Floats, generator: np.random.Generator, *, given_data: bool = False
) -> Predictive:
    """Predict once at each of the points (n, d), unknowns included; errors of forward models as the data leave them if
    `given_data`.
    """
    every = likelihood.draw_outputs(points, generator, given_data=given_data)
    errors = likelihood.draw_model_errors(points, every, generator, given_data=given_data)
    outputs = likelihood.read(points, every)
    data = likelihood.draw_data(points, every, generator, errors)
    for group in likelihood.groups:
        if group.name in errors:
            at_entries, beside = np.split(errors[group.name], [len(group.observed)], axis=1)
            outputs[group.name] = outputs[group.name] + at_entries
            columns = [column for column, _ in group.related]
            every = {**every, group.forward: every[group.forward].copy()}
            every[group.forward][:, columns] += beside
    return Predictive(points, every, outputs, data)


def spread_draws(flat: Floats, n: int) -> Floats:
    """Take n of the draws of all chains, evenly; fewer when there are fewer."""
    if n < 1:
        raise InputError(f"n = {n} draws to predict at: at least 1 is needed")
    return flat[np.linspace(0, len(flat) - 1, min(n, len(flat))).round().astype(np.int64)]


def bands(values: Floats, masses: tuple[float, ...] = (0.5, 0.95)) -> dict[float, Floats]:
    """Central bands of draws (n, m): for each mass, low and high (2, m). For entries and for whole curves alike."""
    return {mass: np.quantile(values, ((1 - mass) / 2, (1 + mass) / 2), axis=0) for mass in masses}


# Central bands in which data are counted.
MASSES = (0.5, 0.95)
# Draws of the posterior that data are predicted at, and sets of data drawn at each: p-values down to 1e-4. Many data
# are drawn less often, so that the check stays cheap beside sampling: FEWEST draws still tell p-values of 1e-3.
DRAWS, REPEATS, FEWEST = 2000, 20, 200
NUMBERS = 4_000_000


@dataclass(frozen=True)
class Fit:
    """How some data fit: their number, the posterior predictive p-value, its Monte Carlo error, from how many sets of
    drawn data it is, and how many data lie inside each central band of the posterior predictive distribution.
    """

    entries: int
    p_value: float
    p_error: float
    sets: int
    inside: Mapping[float, int]

    def p_text(self) -> str:
        """The p-value for a person; data drawn in finite number tell nothing below one in all of them.

        >>> Fit(8, 0.0, 0.0, 40_000, {}).p_text(), Fit(8, 0.314, 0.01, 40_000, {}).p_text()
        ('below 2.5e-05', '0.31')
        """
        return f"{self.p_value:.2g}" if self.p_value > 0 else f"below {1 / self.sets:.2g}"

    def share(self, mass: float) -> tuple[float, float]:
        """Share of the data inside a band, and the binomial standard error that share has if the model is right."""
        return self.inside[mass] / self.entries, math.sqrt(mass * (1 - mass) / self.entries)


@dataclass(frozen=True)
class Neighbours:
    """How residuals of neighbouring samples of records go together: their correlation, a mean over the posterior; the
    posterior predictive p-value of one as large; from how many sets of drawn data.
    """

    correlation: float
    p_value: float
    sets: int

    def p_text(self) -> str:
        """The p-value for a person."""
        return f"{self.p_value:.2g}" if self.p_value > 0 else f"below {1 / self.sets:.2g}"


def check_neighbours(
    likelihood: Likelihood, draws: Floats, generator: np.random.Generator, group: str, records: Sequence[Places]
) -> Neighbours:
    """Hold residuals of a group along `records`, places of its entries in order, against those of drawn data."""
    draws = spread_draws(draws, FEWEST)
    each = likelihood.residuals(draws, REPEATS, generator, group)
    correlations = np.stack([neighbours(residuals, records) for residuals in each], axis=1)
    # A simulator may fail at a draw.
    correlations = correlations[np.isfinite(correlations).all(axis=1)]
    observed, drawn = correlations[:, :1], correlations[:, 1:]
    return Neighbours(float(np.mean(observed)), float(np.mean(drawn >= observed)), drawn.size)


def neighbours(residuals: Floats, records: Sequence[Places]) -> Floats:
    """Correlation of neighbours in residuals (n, m), a mean over all pairs of all records: (n,)."""
    products = np.zeros(len(residuals))
    for places in records:
        own = residuals[:, places]
        power = np.mean(own * own, axis=1)
        products += np.sum(own[:, 1:] * own[:, :-1], axis=1) / np.where(power > 0, power, 1.0)
    return products / sum(len(places) - 1 for places in records)


def check_fit(likelihood: Likelihood, draws: Floats, generator: np.random.Generator) -> tuple[Fit, dict[str, Fit]]:
    """How the data fit in all, and group by group, at some of the draws (n, d) of a posterior."""
    entries = sum(len(group.observed) for group in likelihood.groups)
    draws = spread_draws(draws, int(np.clip(NUMBERS // (REPEATS * entries), FEWEST, DRAWS)))
    data = likelihood.draw(draws, generator, given_data=True)
    groups = {
        group.name: _fit(likelihood.misfits(draws, REPEATS, generator, group.name), group.observed, data[group.name])
        for group in likelihood.groups
    }
    if len(groups) == 1:
        return next(iter(groups.values())), groups
    observed = np.concatenate([group.observed for group in likelihood.groups])
    together = np.concatenate([data[group.name] for group in likelihood.groups], axis=1)
    return _fit(likelihood.misfits(draws, REPEATS, generator), observed, together), groups


def _fit(misfits: tuple[Floats, Floats], observed: Floats, data: Floats) -> Fit:
    observed_misfit, drawn = misfits
    worse = np.mean(drawn >= observed_misfit[:, None], axis=1)
    inside = {
        mass: int(np.count_nonzero((low <= observed) & (observed <= high)))
        for mass, (low, high) in bands(data, MASSES).items()
    }
    return Fit(len(observed), float(np.mean(worse)), float(np.std(worse) / math.sqrt(len(worse))), drawn.size, inside)
