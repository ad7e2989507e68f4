"""What was measured: every value with its error, those of one unit in one panel."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.calibration.records import Observations
from percuss.plots.bands import draw_data
from percuss.plots.drawing import WIDE, canvas, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import instant_label, output_scale, unit_text
from percuss.plots.subject import Subject
from percuss.spelling import counted

MOST_LABELS = 40


def draw(subject: Subject) -> Figure:
    """The values of an event."""
    return measured(subject.load())


def measured(observations: Observations) -> Figure:
    """A panel a unit: values over instants where all of them have one, else one after the other."""
    table = observations.table.with_columns(
        unit=pl.Series(
            [observations.study.observable(name).unit for name in observations.table["output"]], dtype=pl.String
        )
    )
    # A channel of a logger has a panel of its own.
    history = pl.Series([name not in observations.study.outputs for name in table["output"]], dtype=pl.Boolean)
    panel = (
        pl.when(history)
        .then(pl.concat_str("point", pl.lit(" "), "output", "case", ignore_nulls=True))
        .otherwise(pl.col("unit"))
    )
    parts = table.with_columns(panel=panel).partition_by("panel", maintain_order=True)
    figure, axes = canvas(len(parts), 1, WIDE * 0.8, 0.5 + 2.0 * len(parts))
    for axis, rows in zip(axes[:, 0], parts, strict=True):
        factor = output_scale(observations.study, rows["output"][0]).factor
        over_time = "instant" in rows.columns and rows["instant"].null_count() == 0 and rows["instant"].n_unique() > 3
        x = rows["instant"].to_numpy() if over_time else np.arange(rows.height, dtype=float)
        draw_data(axis, x, rows["value"].to_numpy() * factor, rows["std"].cast(pl.Float64).to_numpy() * factor)
        if over_time:
            axis.set_xlabel(instant_label(observations.study, rows["output"][0]))
            if rows["output"][0] not in observations.study.outputs:
                axis.set_title(f"{rows['point'][0]}: {rows['output'][0]} ({rows['case'][0]})")
        elif rows.height <= MOST_LABELS:
            several = rows["case"].n_unique() > 1
            names = [
                f"{row['output']} ({row['case']})" if several else row["output"] for row in rows.iter_rows(named=True)
            ]
            turned = len(names) > 3
            axis.set_xticks(x, names, rotation=40 if turned else 0, ha="right" if turned else "center")
            axis.set_xlim(-0.6, len(names) - 0.4)
        unit = unit_text(rows["unit"][0])
        axis.set_ylabel(f"measured [{unit}]" if unit else "measured")
        axis.grid(True)
    outputs = table["output"].unique(maintain_order=True).to_list()[:8]
    alt = f"{counted(table.height, 'measured value')} of {', '.join(outputs)}"
    return picture(figure, alt, "Measured values; lines are two standard deviations of the measurement.")
