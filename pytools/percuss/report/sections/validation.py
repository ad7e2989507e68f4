"""Validation: the paths of parameters that may drift, what speaks against the model, constant calibration beside it."""

from __future__ import annotations

from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.event import Event
from percuss.plots.drawing import picture
from percuss.plots.drift import Shown, default_names, draw_paths
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.validation.storage import load_validation
from percuss.validation.verdict import NO_EVIDENCE


def section(source: Source, event: Event) -> Section:
    """Verdict first, then what it stands on."""
    validation = load_validation(source.session, event)
    body = ValidationComputed.of(event)
    shown = Shown(validation, source.study(event), body.model)
    word, good = body.verdict, body.verdict == NO_EVIDENCE
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
    rows: list[list[Cell]] = [[p.name, p.mean, p.std, p.low, p.high, p.own_std, p.wander] for p in body.parameters]
    heads = ["parameter (SI)", "mean", "spread", "min", "max", "filter's std", "wander"]
    blocks.append(Table(f"Paths after {body.settled_from_s:g} s", heads, rows))
    rungs: list[list[Cell]] = [
        [f"{rung.drift:g}", rung.log_likelihood, *(rung.wander[name] for name in body.tracked)] for rung in body.ladder
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
    blocks += _constant(body)
    return Section(f"Validation: {body.model}", blocks, [verdict if not good else f"{body.model}: {word}."])


def _constant(body: ValidationComputed) -> list[Block]:
    """The calibration with constant parameters, and what it predicts."""
    known = body.calibration
    if not known:
        return []
    rows: list[list[Cell]] = [[row.name, row.mode, row.mean, row.std, row.low, row.high] for row in known.parameters]
    evidence: list[list[Cell]] = [
        [method, estimate.log_evidence, estimate.error] for method, estimate in known.evidence.items()
    ]
    scores: list[list[Cell]] = [
        [p.part, p.quantity, p.rmse, p.rmse_relative, p.within_three_std] for p in body.predictions
    ]
    heads = ["prediction", "of", "rmse (SI)", "over rms", "within 3 std"]
    return [
        Text(f"Beside it, constant parameters and noise of unknown variance, calibrated on {known.samples} samples."),
        Table("Constant parameters (SI)", ["parameter", "mode", "mean", "std", "2.5 %", "97.5 %"], rows),
        Table("Evidence", ["method", "log", "error"], evidence),
        Table("Predictions of the constant model", heads, scores),
    ]
