"""True peaks on sampled curves.

An impact is over in less than the time between two samples of a curve, and a stiffer one sooner: the samples of the
stiffest contact show the smallest spike. The largest size of a curve is known exactly where an output of the study is
that peak (`Quantity.peak_of`), and when impacts were from their own table; so the peak is put where it belongs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl

# Samples that come this close to the peak show it.
SHOWN = 0.98


class Peak(NamedTuple):
    """The largest size of a curve, signed, and where along its axis; SI."""

    place: float
    value: float


def peak_outputs(study: Study) -> dict[str, str]:
    """Which output of the study is the peak of which curve."""
    quantities = study.model().quantities
    return {
        quantities[output.quantity].peak_of: name
        for name, output in study.outputs.items()
        if quantities[output.quantity].peak_of
    }


def missed_peak(
    curve: str,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    outputs: Mapping[str, float],
    known: Mapping[str, str],
    impacts: pl.DataFrame | None,
) -> Peak | None:
    """The peak of a run's curve that its samples do not show; None where they do, or where it is not known."""
    if curve not in known or len(y) < 2:
        return None
    size = abs(float(outputs[known[curve]]))
    if not np.isfinite(size) or float(np.max(np.abs(y))) >= SHOWN * size:
        return None
    at = _place(x, y, impacts)
    near = y[max(at - 1, 0) : at + 2]
    jump = y[np.argmax(np.abs(y))] if not len(near) else near[np.argmax(np.abs(near - np.median(y)))]
    middle = x[at] if at + 1 >= len(x) else 0.5 * (x[at] + x[at + 1])
    return Peak(float(middle), size if jump >= 0 else -size)


def _place(x: NDArray[np.float64], y: NDArray[np.float64], impacts: pl.DataFrame | None) -> int:
    """Index of the sample before the peak: that of the hardest impact, else the largest sample."""
    if impacts is None or not impacts.height or "t_s" not in impacts.columns:
        return int(np.argmax(np.abs(y)))
    column = "peak_force_n" if impacts["peak_force_n"].is_finite().any() else "impulse_n_s"
    hardest = int(np.nanargmax(impacts[column].to_numpy()))
    return int(np.clip(np.searchsorted(x, float(impacts["t_s"][hardest]), side="right") - 1, 0, len(x) - 1))
