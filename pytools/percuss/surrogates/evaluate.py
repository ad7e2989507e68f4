"""A surrogate at the points of a table: mean, standard deviation of its error and band of every output."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.execution.imports import HEADER, column_numbers, column_units, read_table
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
    table, _ = read_table(path, largest_bytes)
    bare = {HEADER.sub("", column).strip(): column for column in table.columns}
    for name in surrogate.names:
        if name not in bare:
            raise InputError(f"{path}: has no column for {name}; its columns are {', '.join(table.columns[:20])}")
    written = {name: surrogate.study.parameters[name].unit for name in surrogate.names}
    units = column_units({name: bare[name] for name in surrogate.names}, written, path)
    theta = np.empty((table.height, len(surrogate.names)))
    for j, (name, (unit, _)) in enumerate(units.items()):
        theta[:, j] = [to_si(number, unit) for number in column_numbers(table, bare[name], path)]
    wrong = np.argwhere(~np.isfinite(theta))
    if len(wrong):
        row, j = wrong[0]
        raise InputError(f"{path}: row {row + 1} of column {bare[surrogate.names[j]]} is not a number")
    mean, variance = surrogate.predict(theta)
    std = np.sqrt(np.broadcast_to(variance, mean.shape))
    low, high = surrogate.band(theta, level) if surrogate.bands else (None, None)
    columns: dict[str, object] = {name: theta[:, j] for j, name in enumerate(surrogate.names)}
    for number, (case, output) in enumerate(surrogate.outputs):
        name = f"{output}:{case}"
        columns |= {name: mean[:, number], f"std:{name}": std[:, number]}
        if low is not None and high is not None:
            columns |= {f"low:{name}": low[:, number], f"high:{name}": high[:, number]}
    return Evaluated(pl.DataFrame(columns), units)
