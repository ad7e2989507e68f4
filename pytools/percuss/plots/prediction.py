"""Predictions before and after the data, with the data on them."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.calibration.records import Prediction
from percuss.errors import InputError
from percuss.plots.bands import draw_bands, draw_data
from percuss.plots.drawing import THIRD, WIDE, canvas, height_for, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import column_label, instant_label, output_scale, quantity_scale, scale
from percuss.plots.subject import Subject

WHEN = ("prior", "posterior")
MOST_PANELS = 12


def draw(subject: Subject) -> Figure:
    """Bands on the time history that was calibrated on, or bands of curves where there are some, else bands on the data
    (the first set of them).
    """
    prediction = subject.load()
    histories = any(name not in prediction.study.outputs for name in prediction.data["output"].unique())
    if prediction.curves is not None and prediction.curves.height and not histories:
        return curve_bands(prediction, prediction.curves)
    if not prediction.data.height:
        raise InputError(f"event {subject.event.id} ({subject.event.kind}): predicts neither curves nor data")
    return on_data(prediction)[0][0]


def on_data(prediction: Prediction) -> tuple[list[Figure], int]:
    """A picture for each point seen over time, one a case and unit for all other data; and how many are left."""
    data = prediction.data.with_columns(
        pl.col("axis").fill_null(""),
        pl.col("point").fill_null(""),
        unit=pl.Series([prediction.study.observable(name).unit for name in prediction.data["output"]], dtype=pl.String),
    )
    data = data.with_columns(
        history=pl.col("instant").drop_nulls().n_unique().over("case", "axis", "point", "unit") > 3
    )
    cases = data["case"].n_unique()
    histories = data.filter("history").partition_by(["case", "axis", "point", "unit"], maintain_order=True)
    others = data.filter(~pl.col("history")).partition_by(["case", "unit"], maintain_order=True)
    figures = [_over_time(prediction, rows, cases) for rows in histories[:MOST_PANELS]]
    figures += [_one_by_one(prediction, rows, cases) for rows in others[:MOST_PANELS]]
    return figures, len(histories) + len(others) - len(figures)


def held(rows: pl.DataFrame) -> str:
    """How many of the measured values lie inside the posterior band."""
    after = rows.filter(pl.col("when") == "posterior")
    held = int(((after["value"] >= after["q025"]) & (after["value"] <= after["q975"])).sum())
    return f"{held} of {after.height}"


def _over_time(prediction: Prediction, rows: pl.DataFrame, cases: int) -> Figure:
    """Bands over the instants of one point."""
    shown = output_scale(prediction.study, rows["output"][0])
    figure, axes = canvas(1, 1, WIDE, 2.4)
    axis = axes[0, 0]
    for when in WHEN:
        part = rows.filter(pl.col("when") == when).sort("instant")
        x = part["instant"].to_numpy()
        draw_bands(axis, x, part, when, shown.factor)
    draw_data(axis, x, shown.of(part["value"].to_numpy()), shown.of(part["std"].cast(pl.Float64).to_numpy()))
    curve = "" if rows["output"][0] in prediction.study.outputs else rows["output"][0]
    words = [rows["case"][0] if cases > 1 else "", rows["point"][0], rows["axis"][0], curve]
    title = ", ".join(dict.fromkeys(word for word in words if word)) or rows["output"][0]
    axis.set_title(title)
    axis.set_xlabel(instant_label(prediction.study, rows["output"][0]))
    axis.set_ylabel(f"[{shown.unit}]" if shown.unit else "")
    axis.grid(True)
    key(figure, axis)
    return picture(
        figure, f"Prior and posterior predictive bands over time, {title}: {held(rows)} data in that of 95 %"
    )


def _one_by_one(prediction: Prediction, rows: pl.DataFrame, cases: int) -> Figure:
    """Bands of every datum about the posterior median, so that all of one unit share a scale."""
    shown = output_scale(prediction.study, rows["output"][0])
    sets = {when: rows.filter(pl.col("when") == when).sort("entry") for when in WHEN}
    middle = sets["posterior"]["q50"]
    names = sets["posterior"]["output"].to_list()
    x = np.arange(len(names), dtype=float)
    figure, axes = canvas(1, 1, min(WIDE, max(THIRD, 1.6 + 0.6 * len(names))), 2.7)
    axis = axes[0, 0]
    for when, width in (("prior", 0.62), ("posterior", 0.36)):
        part = sets[when].with_columns(pl.col("value", "q025", "q25", "q50", "q75", "q975") - middle)
        draw_bands(axis, x, part, when, shown.factor, width)
    draw_data(axis, x, shown.of(part["value"].to_numpy()), shown.of(part["std"].cast(pl.Float64).to_numpy()))
    turned = len(names) > 2 and max(map(len, names)) > 6
    axis.set_xticks(x, names, rotation=40 if turned else 0, ha="right" if turned else "center")
    axis.set_xlim(min(-0.6, 0.5 * len(names) - 1.5), max(len(names) - 0.4, 0.5 * len(names) + 0.5))
    axis.tick_params(bottom=False)
    axis.set_title(rows["case"][0] if cases > 1 else "")
    axis.set_ylabel("\n".join(["from the posterior median", *([f"[{shown.unit}]"] if shown.unit else [])]))
    axis.grid(axis="y")
    key(figure, axis, 2)
    return picture(
        figure,
        f"Prior and posterior predictive bands of {', '.join(names[:8])} about the posterior median, case "
        f"{rows['case'][0]}: {held(rows)} data in that of 95 %",
    )


def curve_bands(prediction: Prediction, curves: pl.DataFrame) -> Figure:
    panels = curves.partition_by(["case", "quantity"], maintain_order=True)[:MOST_PANELS]
    figure, axes = canvas(len(panels), 1, WIDE, height_for(len(panels), 2.1, 0.6))
    quantities = prediction.study.model().quantities
    cases = curves["case"].n_unique()
    measured = prediction.data.filter(pl.col("when") == "posterior")
    for axis, rows in zip(axes[:, 0], panels, strict=True):
        case, quantity = rows["case"][0], rows["quantity"][0]
        y = quantity_scale(prediction.study, quantity)
        place = quantities[quantity].axis
        x = quantity_scale(prediction.study, place) if place else scale("sample", "1")
        for when in WHEN:
            part = rows.filter(pl.col("when") == when).sort("place")
            if part.height:
                draw_bands(axis, x.of(part["place"].to_numpy()), part, when, y.factor)
        outputs = [o.name for o in prediction.study.outputs.values() if o.quantity == quantity and o.at is not None]
        seen = measured.filter((pl.col("case") == case) & pl.col("output").is_in(outputs))
        if seen.height:
            at = x.of([prediction.study.outputs[name].at or 0.0 for name in seen["output"]])
            draw_data(axis, at, y.of(seen["value"].to_numpy()), y.of(seen["std"].cast(pl.Float64).to_numpy()))
        axis.set_title(column_label(case, quantity, cases))
        axis.set_ylabel(y.label)
        axis.set_xlabel(x.label)
        axis.grid(True)
    key(figure, axes[0, 0])
    names = ", ".join(dict.fromkeys(curves["quantity"].to_list()))
    return picture(
        figure,
        f"Prior and posterior bands of the curves {names}",
        "Whole curves before (grey) and after (blue) the calibration; the line is the posterior median.",
    )
