"""Predictions before and after the data: prior and posterior predictive (Gupta et al., 2023,
Eqs. C.13-C.14), and how they score.

Two things are predicted for each data group: the model's outputs, and data, which are outputs with the discrepancy
(measurement and surrogate error included) on top. Bands of data are what observations are held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.likelihood import Likelihood
from percuss.inference.samplers.sample import Sample
from percuss.inference.target import Target


@dataclass(frozen=True, eq=False)
class Predictive:
    """Draws for each group, (n, entries): `outputs` of the model and `data`."""

    points: Floats
    outputs: Mapping[str, Floats]
    data: Mapping[str, Floats]


@dataclass(frozen=True)
class Score:
    """One group: root mean square error of the mean prediction, the same over the mean absolute observation, and the
    share of observations inside the central bands of data, by the mass of the band.
    """

    group: str
    rmse: float
    rmse_relative: float
    coverage: Mapping[float, float]


def prior_predictive(likelihood: Likelihood, target: Target, n: int, seed: int) -> Predictive:
    """Draw n predictions before any data (Eq. C.13)."""
    generator = np.random.default_rng(seed)
    return predict_at(likelihood, target.transform.values(target.draw_prior(n, generator)), generator)


def posterior_predictive(likelihood: Likelihood, sample: Sample, n: int, seed: int) -> Predictive:
    """Draw n predictions after the data (Eq. C.14), at draws taken evenly from all chains."""
    points = spread_draws(sample.flat(), n)
    return predict_at(likelihood, points, np.random.default_rng(seed))


def predict_at(likelihood: Likelihood, points: Floats, generator: np.random.Generator) -> Predictive:
    """Predict once at each of the points (n, d), unknowns of discrepancies included."""
    return Predictive(points, likelihood.predict(points), likelihood.draw(points, generator))


def spread_draws(flat: Floats, n: int) -> Floats:
    """Take n of the draws of all chains, evenly; fewer when there are fewer."""
    if n < 1:
        raise InputError(f"n = {n} draws to predict at: at least 1 is needed")
    return flat[np.linspace(0, len(flat) - 1, min(n, len(flat))).round().astype(np.int64)]


def bands(values: Floats, masses: tuple[float, ...] = (0.5, 0.95)) -> dict[float, Floats]:
    """Central bands of draws (n, m): for each mass, low and high (2, m). For entries and for whole curves alike."""
    return {mass: np.quantile(values, ((1 - mass) / 2, (1 + mass) / 2), axis=0) for mass in masses}


def score(likelihood: Likelihood, prediction: Predictive, masses: tuple[float, ...] = (0.5, 0.95)) -> tuple[Score, ...]:
    """Hold predictions against the observations of each group."""
    scores = []
    for group in likelihood.groups:
        error = np.mean(prediction.outputs[group.name], axis=0) - group.observed
        rmse = float(np.sqrt(np.mean(error * error)))
        size = float(np.mean(np.abs(group.observed)))
        inside = {
            mass: float(np.mean((group.observed >= low) & (group.observed <= high)))
            for mass, (low, high) in bands(prediction.data[group.name], masses).items()
        }
        scores.append(Score(group.name, rmse, rmse / size if size > 0 else np.inf, inside))
    return tuple(scores)
