"""Predictions before and after the data, held against the data and, where it was asked for, against the simulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from percuss.calibration.records import Prediction, load_prediction
from percuss.kinds.prediction_made import PredictionMade, Score, VerificationFacts
from percuss.ledger.event import Event
from percuss.report.bands import draw_bands, draw_data
from percuss.report.blocks import Block, Cell, Figure, Gallery, Notice, Section, Table, Text
from percuss.report.drawing import THIRD, WIDE, canvas, height_for, key, picture
from percuss.report.labels import column_label, number_or_nan, output_scale, quantity_scale, scale
from percuss.report.parity import parity
from percuss.report.source import Source
from percuss.spelling import counted

WHEN = ("prior", "posterior")
POSTERIOR = "posterior predictive mean"
AT = ("prior predictive mean", POSTERIOR, "mean", "mode")
MOST_PARITY = 9
MOST_PANELS = 12


def section(source: Source, event: Event) -> Section:
    """Scores, bands on the data, bands of curves, verification."""
    prediction = load_prediction(source.session, event)
    body = PredictionMade.of(event)
    blocks: list[Block] = [
        Text(f"{body.draws} draws before and after the data, each with all errors on top where data are predicted.")
    ]
    short: list[str | Notice] = []
    if body.scores:
        blocks.append(_scores(body.scores))
        short.append(_score_sentence(body.scores))
    if prediction.data.height:
        blocks.append(_on_data(prediction))
    if prediction.curves is not None and prediction.curves.height:
        blocks.append(_curves(prediction, prediction.curves))
    if body.verification:
        verdict = _verdict(body.verification)
        short.append(verdict)
        blocks += [verdict, *_verification(prediction, body.verification)]
    blocks += [_outputs(prediction), *(Notice(f"{note}.", "note") for note in body.notes)]
    return Section("Prediction", blocks, short)


def _scores(scores: Sequence[Score]) -> Table:
    rows: list[list[Cell]] = []
    for item in scores:
        shown = scale("", item.unit)
        for at in (at for at in AT if at in item.rmse):
            inside = " / ".join(f"{float(share):.0%}" for share in item.coverage.values()) if at == POSTERIOR else ""
            error = number_or_nan(item.rmse[at]) * shown.factor
            rows.append([item.axis or "", item.entries, at, error, shown.unit, item.rmse_percent.get(at), inside])
    masses = " / ".join(f"{100 * float(mass):g} %" for mass in scores[0].coverage)
    heads = ["axis", "values", "at", "rms error", "unit", "in %", f"data inside {masses}"]
    return Table("Predictions against the data", heads, rows)


def _score_sentence(scores: Sequence[Score]) -> str:
    errors = []
    for item in scores:
        axis = f"{item.axis}: " if item.axis else ""
        error = scale("", item.unit).with_unit(number_or_nan(item.rmse[POSTERIOR]))
        percent = item.rmse_percent[POSTERIOR]
        errors.append(f"{axis}{error}" + ("" if percent is None else f" ({percent:.3g} %)"))
    return f"Root mean square error of the posterior prediction: {'; '.join(errors)}."


def _on_data(prediction: Prediction) -> Gallery:
    """A picture for each point that is seen over time, and one a case and unit for all other data."""
    data = prediction.data.with_columns(
        pl.col("axis").fill_null(""),
        pl.col("point").fill_null(""),
        unit=pl.Series([prediction.study.outputs[name].unit for name in prediction.data["output"]], dtype=pl.String),
    )
    data = data.with_columns(
        history=pl.col("instant").drop_nulls().n_unique().over("case", "axis", "point", "unit") > 3
    )
    cases = data["case"].n_unique()
    histories = data.filter("history").partition_by(["case", "axis", "point", "unit"], maintain_order=True)
    others = data.filter(~pl.col("history")).partition_by(["case", "unit"], maintain_order=True)
    figures = [_over_time(prediction, rows, cases) for rows in histories[:MOST_PANELS]]
    figures += [_one_by_one(prediction, rows, cases) for rows in others[:MOST_PANELS]]
    caption = "What data were expected before (grey) and after (blue) the calibration, and what was measured (dots); "
    caption += f"{_held(data)} values lie inside the 95 % band."
    left = len(histories) + len(others) - len(figures)
    return Gallery(figures, caption + (f" {left} more sets are not drawn." if left else ""))


def _held(rows: pl.DataFrame) -> str:
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
    words = [rows["case"][0] if cases > 1 else "", rows["point"][0], rows["axis"][0]]
    title = ", ".join(dict.fromkeys(word for word in words if word)) or rows["output"][0]
    axis.set_title(title)
    axis.set_xlabel("instant [s]")
    axis.set_ylabel(f"[{shown.unit}]" if shown.unit else "")
    axis.grid(True)
    key(figure, axis)
    return picture(
        figure, f"Prior and posterior predictive bands over time, {title}: {_held(rows)} data in that of 95 %"
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
        f"{rows['case'][0]}: {_held(rows)} data in that of 95 %",
    )


def _curves(prediction: Prediction, curves: pl.DataFrame) -> Figure:
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


def _verdict(verification: VerificationFacts) -> Notice:
    runs = f"{counted(verification.runs, 'run')} of the simulator at posterior draws"
    failed = f" ({verification.failed} failed)" if verification.failed else ""
    allowed = f"of what the likelihood allows (tolerance {verification.tolerance:g})"
    worst = verification.worst
    ratio = "the worst error cannot be told" if worst is None else f"the worst error is {worst:.3g} {allowed}"
    if verification.kept is not None:
        ratio += f", and {100 * verification.kept:.0f} % of what the data could tell comes through the surrogate"
    if verification.passed:
        return Notice(f"verified by {runs}{failed}: {ratio}.", "good")
    more = verification.enrichment
    hint = f" Design `{more}` proposes points that would help: `percuss run {more}`." if more else ""
    return Notice(f"NOT verified by {runs}{failed}: {ratio}.{hint}")


def _verification(prediction: Prediction, verification: VerificationFacts) -> list[Block]:
    items = sorted(verification.outputs, key=lambda item: -(item.ratio or 0.0))
    cases = len({item.case for item in items})
    rows: list[list[Cell]] = []
    figures = []
    for number, item in enumerate(items):
        shown = output_scale(prediction.study, item.output)
        stds = [item.rms_error, item.surrogate_std, item.allowed_std]
        errors = [None if value is None else float(value) * shown.factor for value in stds]
        label = column_label(item.case, item.output, cases)
        rows.append([label, shown.unit, *errors, item.ratio])
        if number < MOST_PARITY and prediction.verification is not None and item.ratio is not None:
            table = prediction.verification.filter(
                (pl.col("case") == item.case) & (pl.col("output") == item.output)
            ).drop_nulls("simulated")
            if table.height:
                simulated, surrogate = (shown.of(table[name].to_numpy()) for name in ("simulated", "surrogate"))
                alt = f"Surrogate against simulator at {table.height} posterior draws for {label}: {item.ratio:.2g}"
                alt += " of what is allowed"
                figures.append(parity(label, shown.unit, simulated, surrogate, f"ratio {item.ratio:.2g}", alt))
    heads = ["output", "unit", "rms error", "surrogate's own std", "allowed std", "ratio"]
    blocks: list[Block] = [Table("Simulator against surrogate where the posterior is", heads, rows)]
    if figures:
        blocks.append(Gallery(figures, "The surrogate against the simulator at draws, mean and MAP of the posterior."))
    return blocks


def _outputs(prediction: Prediction) -> Table:
    rows: list[list[Cell]] = []
    cases = prediction.outputs["case"].n_unique()
    for row in prediction.outputs.iter_rows(named=True):
        shown = output_scale(prediction.study, row["output"])
        numbers = [float(row[name]) * shown.factor for name in ("mean", "q025", "q50", "q975")]
        rows.append([column_label(row["case"], row["output"], cases), row["when"], shown.unit, *numbers])
    return Table(
        "Outputs of the model before and after the data",
        ["output", "", "unit", "mean", "2.5 %", "median", "97.5 %"],
        rows,
    )
