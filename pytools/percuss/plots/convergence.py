"""Changes of outputs from step to step, over the step: lines that fall settle, lines that rise have no limit."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.kinds.convergence_checked import ConvergenceChecked
from percuss.plots.drawing import DASHES, MARKERS, SERIES, WIDE, canvas, key, picture
from percuss.plots.figure import Figure
from percuss.plots.subject import Subject


def draw(subject: Subject) -> Figure:
    """The changes of an event."""
    body = ConvergenceChecked.of(subject.event)
    return changes(body, subject.session.table(subject.event, "convergence"))


def changes(body: ConvergenceChecked, table: pl.DataFrame) -> Figure:
    """Relative change of every output."""
    numerics = body.numerics
    figure, axes = canvas(1, 1, WIDE, 2.6)
    axis = axes[0, 0]
    names = [item.name for item in body.outputs if item.quote != "diagnostic"]
    for i, name in enumerate(names):
        rows = table.filter(pl.col("output") == name).unique("level", keep="first").sort("level")
        value, step = rows["value"].to_numpy(), rows["step"].to_numpy()
        change = np.abs(np.diff(value)) / (abs(value[-1]) or 1.0)
        seen = change > 0
        colour, dash = SERIES[i % len(SERIES)], DASHES[i // len(SERIES) % len(DASHES)]
        axis.plot(
            step[1:][seen],
            change[seen],
            color=colour,
            linestyle=dash,
            marker=MARKERS[i % len(MARKERS)],
            markersize=3.5,
            label=name,
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    steps = table["step"].unique().sort().to_list()[:-1]
    axis.set_xticks(steps, [f"{step:.3g}" for step in steps])
    axis.minorticks_off()
    axis.set_xlabel(numerics.name + ("" if numerics.unit == "1" else f" [{numerics.unit}]"))
    axis.set_ylabel("change / last value")
    axis.grid(True)
    if names:
        key(figure, axis, 4)
    alt = "Relative change of each output from one step to the next, over the step"
    return picture(figure, alt, "Change from the step before, over the value at the finest.")
