"""Fragility curves with their bands, and the shares of runs they were fitted to."""

from __future__ import annotations

from typing import Any

import polars as pl

from percuss.kinds.fragility_fitted import FragilityFitted
from percuss.plots.drawing import DASHES, MARKERS, SERIES, WIDE, canvas, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale, scale
from percuss.plots.subject import Subject
from percuss.study.study import Study


def draw(subject: Subject) -> Figure:
    """The curves of an event."""
    event, session = subject.event, subject.session
    tables = (session.table(event, role) for role in ("curves", "points"))
    return draw_curves(session.study(event), FragilityFitted.of(event), *tables)


def intensity_scale(study: Study, name: str) -> Scale:
    """How an intensity is shown: in the unit of the parameter, output or input."""
    if name in study.parameters:
        return scale(name, study.parameters[name].unit)
    if name in study.outputs:
        return scale(name, study.outputs[name].unit)
    return scale(name, str(study.model().inputs[name].unit))


def draw_curves(study: Study, body: FragilityFitted, curves: pl.DataFrame, points: pl.DataFrame) -> Figure:
    """Curves, bands of the bootstrap (filled) and of Bayes (lines), shares of runs as marks."""
    shown = intensity_scale(study, body.intensity)
    figure, axes = canvas(1, 1, WIDE, 3.2)
    axis: Any = axes[0, 0]
    for i, state in enumerate(body.states):
        colour, dash = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
        rows = curves.filter(pl.col("state") == state.name)
        x = shown.of(rows["intensity"].to_numpy())
        low, high = (rows[f"bootstrap_{end}"].to_numpy() for end in ("low", "high"))
        axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        for end in ("low", "high"):
            axis.plot(x, rows[f"bayes_{end}"].to_numpy(), color=colour, linewidth=0.6, linestyle=":")
        axis.plot(x, rows["probability"].to_numpy(), color=colour, linestyle=dash, label=state.name)
        own = points.filter(pl.col("state") == state.name)
        share = own["exceeding"].to_numpy() / own["runs"].to_numpy()
        axis.plot(
            shown.of(own["intensity"].to_numpy()), share, color=colour, marker=MARKERS[i % len(MARKERS)],
            markersize=4, linestyle="none",
        )  # fmt: skip
    for bound in (body.lowest, body.highest):
        axis.axvline(shown.factor * bound, color="0.6", linewidth=0.6)
    axis.set_xscale("log")
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel(shown.label)
    axis.set_ylabel(f"probability, {body.output}")
    axis.grid(True)
    key(figure, axis)
    share_text = f"{100 * body.level:g} %"
    names = ", ".join(state.name for state in body.states)
    return picture(
        figure,
        f"Fragility curves of {names} against {body.intensity}",
        f"Marks: shares of runs. Filled: {share_text} band of the bootstrap; dotted: of Bayes. Grey lines: the "
        "intensities between which runs were made.",
    )
