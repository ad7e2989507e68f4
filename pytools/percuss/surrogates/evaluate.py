"""A surrogate at the points of a table: mean, standard deviation of its error and band of every output."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.execution.imports import read_table
from percuss.surrogates.surrogate import Surrogate
from percuss.units import to_si

_HEADER = re.compile(r"\s*\[([^\]]*)\]\s*$")


def evaluate(surrogate: Surrogate, path: Path, level: float, largest_bytes: int) -> pl.DataFrame:
    """Predict at every row of a file that has a column for every parameter, in the study's units or `name [unit]`.

    Outputs are in SI: columns OUTPUT:CASE, and with std:, low:, high: before it.
    """
    table, _ = read_table(path, largest_bytes)
    bare = {_HEADER.sub("", column).strip(): column for column in table.columns}
    theta = np.empty((table.height, len(surrogate.names)))
    for j, name in enumerate(surrogate.names):
        if name not in bare:
            raise InputError(f"{path}: has no column for {name}; its columns are {', '.join(table.columns[:20])}")
        column = bare[name]
        if not table[column].dtype.is_numeric():
            raise InputError(f"{path}: column {column} holds {table[column].dtype}, not numbers")
        header = _HEADER.search(column)
        unit = header[1] if header else surrogate.study.parameters[name].unit
        theta[:, j] = [to_si(float(x), unit) for x in table[column].cast(pl.Float64).fill_null(float("nan"))]
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
    return pl.DataFrame(columns)
