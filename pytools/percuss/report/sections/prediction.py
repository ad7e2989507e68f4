"""Predictions before and after the data, held against the data and, where it was asked for, against the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from percuss.calibration.records import Prediction, load_prediction
from percuss.ledger.event import Event
from percuss.report.bands import draw_bands, draw_data
from percuss.report.blocks import Block, Cell, Figure, Gallery, Notice, Section, Table, Text
from percuss.report.drawing import WIDE, canvas, height_for, key, picture
from percuss.report.labels import column_label, output_scale, quantity_scale, scale
from percuss.report.parity import parity
from percuss.report.source import Source

WHEN = ("prior", "posterior")
MOST_PARITY = 9
MOST_PANELS = 12


def section(source: Source, event: Event) -> Section:
    """Scores, bands on the data, bands of curves, verification."""
    found = load_prediction(source.ledger, source.state, event)
    body = found.body
    blocks: list[Block] = [
        Text(f"{body['draws']} draws before and after the data, each with all errors on top where data are predicted.")
    ]
    if body["accepted_unconverged"]:
        blocks.append(Notice("UNCONVERGED: these predictions stand on a posterior that is not converged."))
    short: list[str | Notice] = []
    if body["scores"]:
        blocks.append(_scores(body["scores"]))
        short.append(_said(body["scores"]))
    if found.data.height:
        blocks.append(_on_data(found))
    if found.curves is not None and found.curves.height:
        blocks.append(_curves(found, found.curves))
    if body["verification"]:
        verdict = _verdict(body["verification"])
        short.append(verdict)
        blocks += [verdict, *_verification(found, body["verification"])]
    blocks += [_outputs(found), *(Notice(f"{note}.", "note") for note in body["notes"])]
    return Section("Prediction", blocks, short)


def _scores(scores: list[dict[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for item in scores:
        shown = scale("", item["unit"])
        for at, rmse in item["rmse"].items():
            percent = item["rmse_percent"].get(at)
            inside = (
                [f"{float(share):.0%}" for share in item["coverage"].values()]
                if at == "posterior predictive mean"
                else []
            )
            rows.append(
                [
                    item["axis"] or "",
                    item["entries"],
                    at,
                    float(rmse) * shown.factor,
                    shown.unit,
                    percent,
                    " / ".join(inside),
                ]
            )
    masses = " / ".join(f"{100 * float(mass):g} %" for mass in scores[0]["coverage"])
    return Table(
        "Predictions against the data",
        ["axis", "values", "at", "rms error", "unit", "%", f"data inside {masses}"],
        rows,
    )


def _said(scores: list[dict[str, Any]]) -> str:
    told = []
    for item in scores:
        at = "posterior predictive mean"
        shown = scale("", item["unit"])
        axis = f"{item['axis']}: " if item["axis"] else ""
        told.append(
            f"{axis}{float(item['rmse'][at]) * shown.factor:.3g} {shown.unit} ({item['rmse_percent'][at]:.3g} %)".replace(
                " (", " ("
            ).replace("  ", " ")
        )
    return f"Root mean square error of the posterior prediction: {'; '.join(told)}."


def _on_data(found: Prediction) -> Figure:
    """One panel a case, axis and unit; the data along it, by instant where one point is seen over time."""
    data = found.data.with_columns(
        pl.col("axis").fill_null(""),
        unit=pl.Series([found.study.outputs[name].unit for name in found.data["output"]], dtype=pl.String),
    )
    panels = data.partition_by(["case", "axis", "unit"], maintain_order=True)[:MOST_PANELS]
    figure, axes = canvas(len(panels), 1, WIDE, height_for(len(panels), 2.1, 0.6))
    cases = data["case"].n_unique()
    for axis, rows in zip(axes[:, 0], panels, strict=True):
        shown = output_scale(found.study, rows["output"][0])
        sets = {when: rows.filter(pl.col("when") == when).sort("entry") for when in WHEN}
        after = sets["posterior"]
        over_time = after["instant"].null_count() == 0 and after["instant"].n_unique() == after.height > 3
        if over_time:
            sets = {when: part.sort("instant") for when, part in sets.items()}
            after = sets["posterior"]
        x = after["instant"].to_numpy() if over_time else np.arange(after.height, dtype=float)
        for when, width in (("prior", 0.72), ("posterior", 0.42)):
            draw_bands(axis, x, sets[when], when, shown.factor, 0.0 if over_time else width)
        draw_data(axis, x, shown.of(after["value"].to_numpy()), shown.of(after["std"].cast(pl.Float64).to_numpy()))
        if over_time:
            axis.set_xlabel("instant [s]")
        else:
            turned = after.height > 8 or max(map(len, after["output"])) * after.height > 90
            axis.set_xticks(
                x, after["output"].to_list(), rotation=40 if turned else 0, ha="right" if turned else "center"
            )
            axis.tick_params(bottom=False)
        words = [rows["case"][0]] if cases > 1 else []
        axis.set_title(", ".join([*words, *([rows["axis"][0]] if rows["axis"][0] else [])]))
        axis.set_ylabel(f"[{shown.unit}]" if shown.unit else "value")
        axis.grid(axis="y")
    key(figure, axes[0, 0])
    inside = data.filter(pl.col("when") == "posterior")
    held = int(((inside["value"] >= inside["q025"]) & (inside["value"] <= inside["q975"])).sum())
    alt = f"Prior and posterior predictive bands on {inside.height} measured values; {held} are in the posterior 95 % band"
    caption = (
        "What data were expected before (grey) and after (blue) the calibration, and what was measured; "
        f"{held} of {inside.height} values lie inside the 95 % band."
    )
    return picture(figure, alt, caption)


def _curves(found: Prediction, curves: pl.DataFrame) -> Figure:
    panels = curves.partition_by(["case", "quantity"], maintain_order=True)[:MOST_PANELS]
    figure, axes = canvas(len(panels), 1, WIDE, height_for(len(panels), 2.1, 0.6))
    quantities = found.study.model().quantities
    cases = curves["case"].n_unique()
    measured = found.data.filter(pl.col("when") == "posterior")
    for axis, rows in zip(axes[:, 0], panels, strict=True):
        case, quantity = rows["case"][0], rows["quantity"][0]
        y = quantity_scale(found.study, quantity)
        place = quantities[quantity].axis
        x = quantity_scale(found.study, place) if place else scale("sample", "1")
        for when in WHEN:
            part = rows.filter(pl.col("when") == when).sort("place")
            if part.height:
                draw_bands(axis, x.of(part["place"].to_numpy()), part, when, y.factor)
        outputs = [o.name for o in found.study.outputs.values() if o.quantity == quantity and o.at is not None]
        seen = measured.filter((pl.col("case") == case) & pl.col("output").is_in(outputs))
        if seen.height:
            at = x.of([found.study.outputs[name].at or 0.0 for name in seen["output"]])
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


def _verdict(verification: dict[str, Any]) -> Notice:
    runs = f"{verification['runs']} runs of the simulator at posterior draws"
    failed = f" ({verification['failed']} failed)" if verification["failed"] else ""
    ratio = f"the worst error is {verification['worst']:.3g} of what the likelihood allows (tolerance {verification['tolerance']:g})"
    if verification["passed"]:
        return Notice(f"verified by {runs}{failed}: {ratio}.", "good")
    more = verification.get("enrichment")
    hint = f" Design `{more}` proposes points that would help: `percuss run {more}`." if more else ""
    return Notice(f"NOT verified by {runs}{failed}: {ratio}.{hint}")


def _verification(found: Prediction, verification: dict[str, Any]) -> list[Block]:
    items = sorted(verification["outputs"], key=lambda item: -item["ratio"])
    cases = len({item["case"] for item in items})
    rows: list[list[Cell]] = []
    figures = []
    for number, item in enumerate(items):
        shown = output_scale(found.study, item["output"])
        errors = [float(item[name]) * shown.factor for name in ("rms_error", "surrogate_std", "allowed_std")]
        label = column_label(item["case"], item["output"], cases)
        rows.append([label, shown.unit, *errors, item["ratio"]])
        if number < MOST_PARITY and found.verification is not None:
            table = found.verification.filter(
                (pl.col("case") == item["case"]) & (pl.col("output") == item["output"])
            ).drop_nulls("simulated")
            if table.height:
                simulated, surrogate = (shown.of(table[name].to_numpy()) for name in ("simulated", "surrogate"))
                alt = f"Surrogate against simulator at {table.height} posterior draws for {label}: error {item['ratio']:.2g} of what is allowed"
                figures.append(parity(label, shown.unit, simulated, surrogate, f"ratio {item['ratio']:.2g}", alt))
    heads = ["output", "unit", "rms error", "surrogate's own std", "allowed std", "ratio"]
    blocks: list[Block] = [Table("Simulator against surrogate where the posterior is", heads, rows)]
    if figures:
        blocks.append(Gallery(figures, "The surrogate against the simulator at draws, mean and MAP of the posterior."))
    return blocks


def _outputs(found: Prediction) -> Table:
    rows: list[list[Cell]] = []
    cases = found.outputs["case"].n_unique()
    for row in found.outputs.iter_rows(named=True):
        shown = output_scale(found.study, row["output"])
        numbers = [float(row[name]) * shown.factor for name in ("mean", "q025", "q50", "q975")]
        rows.append([column_label(row["case"], row["output"], cases), row["when"], shown.unit, *numbers])
    return Table(
        "Outputs of the model before and after the data",
        ["output", "", "unit", "mean", "2.5 %", "median", "97.5 %"],
        rows,
    )
