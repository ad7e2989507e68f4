"""A surrogate at the points of a table: mean, standard deviation of its error and band of every output."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.measured import read_measured
from percuss.surrogates.surrogate import Surrogate
from percuss.units import to_si


class Evaluated(NamedTuple):
    """Predictions, and in which unit each column of parameters was read, and whether its header said it."""

    table: pl.DataFrame
    units: dict[str, tuple[str, bool]]


def evaluate(surrogate: Surrogate, path: Path, level: float, largest_bytes: int) -> Evaluated:
    """Predict at every row of a file that has a column for every parameter, in the study's units or `name [unit]`.

    Outputs are in SI: columns OUTPUT:CASE, and with std:, low:, high: before it.
    """
    measured = read_measured(path, largest_bytes)
    columns = measured.columns()
    for name in surrogate.names:
        if name not in columns:
            raise InputError(f"{path}: has no column for {name}; its columns are {measured.listed()}")
    written = {name: surrogate.study.parameters[name].unit for name in surrogate.names}
    units = measured.units({name: columns[name] for name in surrogate.names}, written)
    theta = np.empty((measured.rows, len(surrogate.names)))
    for j, (name, (unit, _)) in enumerate(units.items()):
        theta[:, j] = [to_si(number, unit) for number in measured.finite(columns[name], "a parameter")]
    mean, variance = surrogate.predict(theta)
    std = np.sqrt(np.broadcast_to(variance, mean.shape))
    low, high = surrogate.band(theta, level) if surrogate.bands else (None, None)
    predicted: dict[str, object] = {name: theta[:, j] for j, name in enumerate(surrogate.names)}
    for number, (case, output) in enumerate(surrogate.outputs):
        name = f"{output}:{case}"
        predicted |= {name: mean[:, number], f"std:{name}": std[:, number]}
        if low is not None and high is not None:
            predicted |= {f"low:{name}": low[:, number], f"high:{name}": high[:, number]}
    return Evaluated(pl.DataFrame(predicted), units)
