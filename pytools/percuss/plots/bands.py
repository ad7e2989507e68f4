"""Bands of predictions before and after the data, with the data on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from percuss.plots.drawing import BLUE, GREY, INK, ORANGE, dots, thinned

# More values than this are a record: its samples are drawn small.
MANY = 60
# A step this much longer than most is a gap.
GAP = 8.0
# How each set of draws is drawn: colour, and the shades of the outer and the inner band.
LOOKS = {"prior": (GREY, 0.22, 0.0), "posterior": (BLUE, 0.25, 0.4)}


def draw_bands(axis: Any, x: Any, rows: pl.DataFrame, when: str, factor: float, width: float = 0.0) -> None:
    """95 % and (after the data) 50 % of the draws over x: as areas, or with a width as bars."""
    colour, outer, inner = LOOKS[when]
    places = thinned(len(x))
    x, rows = x[places], rows[places]
    q = {name: rows[name].to_numpy() * factor for name in ("q025", "q25", "q50", "q75", "q975")}
    gaps = _gaps(x) if not width else np.empty(0, np.intp)
    x, q = np.insert(x, gaps, np.nan), {name: np.insert(values, gaps, np.nan) for name, values in q.items()}
    spans = [("q025", "q975", outer, f"{when}, 95 %"), ("q25", "q75", inner, f"{when}, 50 %")]
    for low, high, alpha, label in spans:
        if not alpha:
            continue
        if width:
            axis.bar(x, q[high] - q[low], width, q[low], color=colour, alpha=alpha, label=label)
        else:
            axis.fill_between(x, q[low], q[high], color=colour, alpha=alpha, linewidth=0, label=label)
    if when == "posterior":
        if width:
            axis.hlines(q["q50"], x - width / 2, x + width / 2, color=INK, linewidth=1)
        else:
            axis.plot(x, q["q50"], color=INK, linewidth=0.9)


def _gaps(x: Any) -> Any:
    """Where a long record has no samples: bands end there."""
    steps = np.diff(x)
    return np.flatnonzero(steps > GAP * np.median(steps)) + 1 if len(x) > MANY else np.empty(0, np.intp)


def draw_data(axis: Any, x: Any, values: Any, std: Any) -> None:
    """Measured values, with two standard deviations of the measurement where they are known."""
    spread = 2 * np.nan_to_num(np.asarray(std, float))
    many = len(x) > MANY
    axis.vlines(x, values - spread, values + spread, color=ORANGE, linewidth=0.3 if many else 1.2)
    dots(axis, x, values, ORANGE, 1.2 if many else 4.5, alpha=1).set_label("measured, ± 2 std")
