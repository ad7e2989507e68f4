"""Calibrations side by side: each parameter as every one of them sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from percuss.kinds.comparison_made import ComparedFacts, ComparisonMade
from percuss.kinds.validation_computed import ValidationComputed
from percuss.ledger.event import Event
from percuss.plots.drawing import BLUE, INK, ORANGE, PURPLE, THIRD, canvas, height_for, picture
from percuss.plots.drift import Shown
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale, scale
from percuss.plots.subject import Subject
from percuss.session import Session

CAPTION = "Each parameter in every calibration: interval (line), mean (circle), MAP (diamond)."


def draw(subject: Subject) -> Figure:
    """Every parameter in one picture."""
    table = in_study_units(subject.session, subject.event, subject.load().posteriors)
    names = names_of(ComparisonMade.of(subject.event).posteriors)
    parts = table.partition_by(["parameter"], maintain_order=True)
    across = min(3, len(parts))
    down = -(-len(parts) // across)
    figure, axes = canvas(down, across, THIRD * across, height_for(len(names), 0.28, 0.75) * down)
    for axis in axes.flat[len(parts) :]:
        axis.set_axis_off()
    for axis, rows in zip(axes.flat, parts, strict=False):
        _intervals(axis, rows, scale(rows["parameter"][0], rows["unit"][0]), names)
    alt = ", ".join(rows["parameter"][0] for rows in parts)
    return picture(figure, f"{alt} in {', '.join(names.values())}", CAPTION)


def in_study_units(session: Session, event: Event, table: pl.DataFrame) -> pl.DataFrame:
    """The table with the units that models of validations have: they are recorded without."""
    units: dict[tuple[str, str], str] = {}
    for item in event.inputs:
        source = session.state.events.get(item.id)
        if source is not None and source.kind == "validation.computed":
            shown = Shown(session.load(source), session.study(source), ValidationComputed.of(source).model)
            units |= {(item.id, name): unit for name, unit in shown.units().items()}
    own = [units.get((row["posterior"], row["parameter"]), row["unit"]) for row in table.iter_rows(named=True)]
    return table.with_columns(pl.Series("unit", own, dtype=pl.String))


def names_of(posteriors: Sequence[ComparedFacts]) -> dict[str, str]:
    """Calibrations by block; where blocks have the same name, by the end of the id as well."""
    blocks = [item.block for item in posteriors]
    return {i.id: i.block if blocks.count(i.block) == 1 else f"{i.block} {i.id[-6:]}" for i in posteriors}


def side_by_side(table: pl.DataFrame, names: dict[str, str]) -> tuple[list[Figure], str]:
    """A picture a parameter, and what to say under them."""
    figures = []
    for (parameter,), rows in table.partition_by(["parameter"], as_dict=True, maintain_order=True).items():
        shown = scale(str(parameter), rows["unit"][0])
        figure, axes = canvas(1, 1, THIRD, height_for(rows.height, 0.28, 0.75))
        _intervals(axes[0, 0], rows, shown, names)
        alt = ", ".join(
            f"{names.get(row['posterior'], '')} {row['mean'] * shown.factor:.4g}"
            for row in rows.iter_rows(named=True)
            if row["mean"] is not None
        )
        figures.append(picture(figure, f"{shown.label} in every calibration, means: {alt}"))
    return figures, CAPTION


def _intervals(axis: Any, rows: pl.DataFrame, shown: Scale, names: dict[str, str]) -> None:
    places = np.arange(rows.height)[::-1]
    numbers = {name: shown.of(rows[name].cast(pl.Float64).to_numpy()) for name in ("low", "high", "mean", "mode")}
    axis.hlines(places, numbers["low"], numbers["high"], color=BLUE, linewidth=2.5, alpha=0.7)
    axis.plot(numbers["mean"], places, "o", color=ORANGE, markersize=4.5, markeredgecolor=INK, markeredgewidth=0.4)
    axis.plot(numbers["mode"], places, "D", color=PURPLE, markersize=4, markeredgecolor=INK, markeredgewidth=0.4)
    axis.set_yticks(places, [names.get(id, id[-6:]) for id in rows["posterior"]])
    axis.set_ylim(-0.6, rows.height - 0.4)
    axis.tick_params(left=False)
    axis.locator_params(axis="x", nbins=4)
    axis.grid(axis="x")
    axis.set_xlabel(shown.label)
