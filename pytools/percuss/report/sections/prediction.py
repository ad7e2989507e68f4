"""Predictions before and after the data, held against the data and, where it was asked for, against the simulator."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from percuss.calibration.records import Prediction, load_prediction
from percuss.kinds.prediction_made import PredictionMade, Score, VerificationFacts
from percuss.ledger.event import Event
from percuss.plots.labels import column_label, number_or_nan, output_scale, scale
from percuss.plots.prediction import curve_bands, held, on_data
from percuss.plots.surrogate import parity
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted

POSTERIOR = "posterior predictive mean"
AT = ("prior predictive mean", POSTERIOR, "mean", "mode")
MOST_PARITY = 9


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
        # Of outputs that the surrogate knows nothing of, accepted or not, nothing is concluded.
        if all(verdict.passed or verdict.gate != "skill" for verdict in body.trust):
            short.append(_score_sentence(body.scores))
    if prediction.data.height:
        blocks.append(_on_data(prediction))
    if prediction.curves is not None and prediction.curves.height:
        blocks.append(curve_bands(prediction, prediction.curves))
    if body.verification:
        verdict = _verdict(body.verification)
        short.append(verdict)
        blocks += [verdict, *_verification(prediction, body.verification)]
    if prediction.outputs.height:
        blocks.append(_outputs(prediction))
    blocks += [*(Notice(f"{note}.", "note") for note in body.notes)]
    return Section("Prediction", blocks, short)


def _scores(scores: Sequence[Score]) -> Table:
    rows: list[list[Cell]] = []
    for item in scores:
        shown = scale("", item.unit)
        for at in (at for at in AT if at in item.rmse):
            inside = (
                " / ".join(f"{100 * float(share):.0f} %" for share in item.coverage.values()) if at == POSTERIOR else ""
            )
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
    figures, left = on_data(prediction)
    caption = "What data were expected before (grey) and after (blue) the calibration, and what was measured (dots); "
    caption += f"{held(prediction.data)} values lie inside the 95 % band."
    return Gallery(figures, caption + (f" {left} more sets are not drawn." if left else ""))


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
        ["output", "when", "unit", "mean", "2.5 %", "median", "97.5 %"],
        rows,
    )
