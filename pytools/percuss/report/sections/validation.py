"""Validation: the paths of parameters that may drift, what speaks against the model, constant calibration beside it."""

from __future__ import annotations

from percuss.kinds.validation_computed import ValidationComputed, spoken
from percuss.ledger.event import Event
from percuss.plots.drawing import picture
from percuss.plots.drift import Shown, default_names, draw_paths, draw_predictions
from percuss.plots.labels import Scale, number_or_nan, scale
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import log_text, span_text, with_error
from percuss.validation.storage import load_validation
from percuss.validation.verdict import NO_EVIDENCE

INSIDE, BEYOND = ("training", "held out"), ("extrapolated",)


def section(source: Source, event: Event) -> Section:
    """Verdict first, then what it depends on."""
    validation = load_validation(source.session, event)
    body = ValidationComputed.of(event)
    shown = Shown(validation, source.study(event), body.model)
    word, good = spoken(body.verdict), body.verdict == NO_EVIDENCE
    verdict = Notice(f"{body.model}: {word}.", "good" if good else "warning", body.reasons)
    blocks: list[Block] = [verdict]
    blocks += [Notice(f"{note}.", "note") for note in body.notes]
    figure = draw_paths([shown], default_names([shown]), window=None, ladder=False)
    names = ", ".join(body.tracked)
    blocks.append(
        picture(
            figure,
            f"Measured quantities and the paths of {names} over time",
            f"What was measured, and the paths of {names} with three standard deviations of the filter. "
            f"Steps of {body.drift:g} of the value are allowed from sample to sample; constant parameters stay put.",
        )
    )
    rows: list[list[Cell]] = []
    for p in body.parameters:
        unit = _scale(shown, p.name)
        numbers = [number_or_nan(x) * unit.factor for x in (p.mean, p.std, p.low, p.high, p.own_std)]
        rows.append([p.name, unit.unit, *numbers, p.wander])
    heads = ["parameter", "unit", "mean", "spread", "min", "max", "filter's std", "wander"]
    blocks.append(Table(f"Paths after {body.settled_from_s:g} s", heads, rows))
    rungs: list[list[Cell]] = [
        [f"{rung.drift:g}", log_text(number_or_nan(rung.log_likelihood)), *(rung.wander[name] for name in body.tracked)]
        for rung in body.ladder
    ]
    blocks.append(
        Table("The ladder of drifts", ["drift", "log-likelihood", *(f"wander {n}" for n in body.tracked)], rungs)
    )
    if len(body.ladder) > 1:
        figure = draw_paths([shown], list(body.tracked), window=None, ladder=True)
        blocks.append(
            picture(figure, f"Paths of {names} at every drift", "The same paths at every drift of the ladder.")
        )
    channels: list[list[Cell]] = [
        [
            c.name,
            c.used,
            c.surprise,
            c.trend_z,
            c.period_probability,
            c.period_s,
            c.memory_probability,
        ]
        for c in body.innovations
    ]
    heads = ["channel", "used", "surprise", "trend (z)", "period: probability", "period [s]", "memory: probability"]
    blocks.append(Table("Innovations", heads, channels))
    blocks += _constant(body, shown)
    return Section(
        f"Validation: {body.model}{f', case {body.case}' if body.case else ''}",
        blocks,
        [verdict if not good else f"{body.model}: {word}."],
    )


def _constant(body: ValidationComputed, shown: Shown) -> list[Block]:
    """The calibration with constant parameters, and what it predicts."""
    known = body.calibration
    if not known:
        return []
    rows: list[list[Cell]] = []
    for row in known.parameters:
        unit = _scale(shown, row.name)
        low, high = (number_or_nan(end) * unit.factor for end in (row.low, row.high))
        mean, std, mode = (number_or_nan(x) * unit.factor for x in (row.mean, row.std, row.mode))
        rows.append([row.name, unit.unit, with_error(mean, std), mode, span_text(low, high)])
    evidence: list[list[Cell]] = [
        [method, log_text(number_or_nan(e.log_evidence), e.error)] for method, e in known.evidence.items()
    ]
    scores: list[list[Cell]] = []
    for p in body.predictions:
        unit = _scale(shown, p.quantity)
        scores.append(
            [p.part, p.quantity, number_or_nan(p.rmse) * unit.factor, unit.unit, p.rmse_relative, p.within_three_std]
        )
    heads = ["prediction", "of", "rms error", "unit", "over rms", "within 3 std"]
    pictures: list[Block] = [Text("Predictions inside what was measured, then those beyond it.")]
    pictures += [figure for parts in (INSIDE, BEYOND) if (figure := draw_predictions(shown, parts)) is not None]
    return [
        Text(f"Beside it, constant parameters and noise of unknown variance, calibrated on {known.samples} samples."),
        Table("Constant parameters", ["parameter", "unit", "mean ± std", "mode", "95 % interval"], rows),
        Table("Evidence", ["method", "log ± error"], evidence),
        Table("Predictions of the constant model", heads, scores),
        *(pictures if len(pictures) > 1 else []),
    ]


def _scale(shown: Shown, name: str) -> Scale:
    """In the unit of the study, where it has one for it."""
    return scale(name, shown.units().get(name, "1"))
