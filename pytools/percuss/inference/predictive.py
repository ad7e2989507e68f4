"""Predictions before and after the data: prior and posterior predictive (Gupta et al., 2023,
Eqs. C.13-C.14).

Two things are predicted for each data group: the model's outputs, and data, which are outputs with measurement error
and discrepancy on top. The error of a surrogate is part of the outputs where it is common to all data of an output: one
draw for all of them, after the data as these leave it. So is the error of the model where a group has one, at its data
and at the outputs it is shared with. Bands of data are what observations are held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.likelihood import Likelihood


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
