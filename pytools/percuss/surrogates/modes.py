"""Modes of curves, as a surrogate of curves keeps them: mean, modes and what they leave out, over one axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.errors import InputError

Array = NDArray[Any]


@dataclass(frozen=True)
class Modes:
    """Mean (t,), modes (k, t) and the variance (t,) that they leave out, over the axis of one case."""

    axis: Array
    mean: Array
    modes: Array
    rest: Array

    def curves(self, scores: Array) -> Array:
        """Curves (n, t) from scores (n, k)."""
        return np.asarray(self.mean + scores @ self.modes)


def modes_table(case: str, modes: Modes) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "case": pl.Series([case] * len(modes.axis), dtype=pl.String),
            "axis": pl.Series(modes.axis, dtype=pl.Float64),
            "mean": pl.Series(modes.mean, dtype=pl.Float64),
            "rest": pl.Series(modes.rest, dtype=pl.Float64),
            "modes": pl.Series(modes.modes.T.tolist(), dtype=pl.List(pl.Float64)),
        }
    )


def load_modes(tables: Mapping[str, Any], case: str) -> Modes:
    """The modes of a case, as stored."""
    rows = tables["modes"].filter(pl.col("case") == case)
    if not rows.height:
        raise InputError(f"the surrogate has no curves of case {case}")
    matrix = np.array(rows["modes"].to_list(), float).T
    return Modes(
        rows["axis"].to_numpy(), rows["mean"].to_numpy(), np.ascontiguousarray(matrix), rows["rest"].to_numpy()
    )
