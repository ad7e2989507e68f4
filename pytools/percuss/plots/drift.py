"""Paths of parameters that were allowed to drift, as in Figures 8-10 and 15-19 of Green et al.

One panel a quantity: what was measured, then each parameter with a band of three of the filter's standard deviations;
several validations on top of each other, or one validation at every drift of its ladder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.kinds.validation_computed import ValidationComputed
from percuss.plots.drawing import BLUE, DASHES, GREY, ORANGE, SERIES, WIDE, canvas, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import scale
from percuss.plots.subject import Subject
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.validation.storage import Validation

# Points of a line: more cannot be seen.
MOST_POINTS = 3000


@dataclass(frozen=True, eq=False)
class Shown:
    """A validation, its study (for units) and what to call it."""

    validation: Validation
    study: Study
    label: str

    def units(self) -> dict[str, str]:
        """Unit of each quantity and parameter it can show."""
        model = self.study.model()
        unit_of = {name: quantity.unit for name, quantity in model.quantities.items() if quantity.curve}
        for name in self.validation.body.tracked:
            parameter = self.study.parameters.get(name)
            # a law of another dimension than the study's parameter is shown as it is
            changed = name in self.validation.body.values
            unit_of[name] = (
                parameter.unit if parameter and not changed else "1" if changed else str(model.inputs[name].unit)
            )
        for item in self.validation.body.observed:
            unit = unit_of.get(item.quantity, "1")
            unit_of[f"variance_{item.quantity}"] = (
                unit if unit == "1" else f"({unit})^2" if "/" in unit else f"{unit}^2"
            )
        return unit_of


def default_names(shown: Sequence[Shown]) -> list[str]:
    """What was measured, and what drifted."""
    observed = [item.quantity for one in shown for item in one.validation.body.observed]
    tracked = [name for one in shown for name in one.validation.body.tracked]
    return list(dict.fromkeys([*observed, *tracked]))


def draw(subject: Subject) -> Figure:
    """What was measured, and the paths of what drifted, in one validation or several."""
    shown = [
        Shown(subject.session.load(event), subject.session.study(event), ValidationComputed.of(event).model)
        for event in subject.events
    ]
    names = list(subject.request.curves) or default_names(shown)
    figure = draw_paths(shown, names, window=subject.request.window, ladder=subject.request.ladder)
    models = ", ".join(one.label for one in shown)
    return picture(figure, f"Paths of {', '.join(names)} over time, {models}", "Paths with three standard deviations.")


def draw_paths(
    shown: Sequence[Shown], names: Sequence[str], *, window: tuple[float, float] | None, ladder: bool
) -> Any:
    """A figure; call it within `percuss.plots.drawing.drawing`."""
    units: dict[str, str] = {}
    for one in shown:
        units |= one.units()
    known = default_names(shown)
    for name in names:
        if name not in known:
            raise InputError(f"--curve {name}: {did_you_mean(name, known)}")
    figure, axes = canvas(len(names), 1, 8.0, 0.8 + 1.5 * len(names), sharex=True)
    for axis, name in zip(axes[:, 0], names, strict=True):
        unit = scale(name, units.get(name, "1"))
        for number, one in enumerate(shown):
            if name in one.validation.body.tracked:
                for line, (label, table) in enumerate(_tables(one, ladder)):
                    _path(axis, _cut(table, window), name, unit, number + line, label, band=not ladder)
            elif name in one.validation.record.columns and not number:
                part = _cut(one.validation.record, window)
                axis.plot(part["t"], unit.of(part[name].to_numpy()), color=GREY, linewidth=0.7)
        axis.set_ylabel(unit.label)
        axis.grid(True)
        if axis.get_legend_handles_labels()[1] and (len(shown) > 1 or ladder):
            axis.legend(loc="upper right", ncols=3)
    axes[-1, 0].set_xlabel("t [s]")
    return figure


def _tables(one: Shown, ladder: bool) -> list[tuple[str, pl.DataFrame]]:
    if not ladder:
        return [(one.label, one.validation.course)]
    courses = one.validation.ladder_courses
    drifts = courses["drift"].unique(maintain_order=True).to_list()
    return [(f"drift {drift:g}", courses.filter(pl.col("drift") == drift)) for drift in drifts]


def _cut(table: pl.DataFrame, window: tuple[float, float] | None) -> pl.DataFrame:
    if window:
        table = table.filter(pl.col("t").is_between(*window))
        if table.height < 2:
            raise InputError(f"--window {window[0]:g} {window[1]:g}: holds no samples")
    return table.gather_every(max(1, table.height // MOST_POINTS))


def _path(axis: Any, table: pl.DataFrame, name: str, unit: Any, place: int, label: str, *, band: bool) -> None:
    colour, dash = SERIES[place % len(SERIES)], DASHES[place % len(DASHES)]
    times, mean = table["t"].to_numpy(), table[name].to_numpy()
    axis.plot(times, unit.of(mean), color=colour, linestyle=dash, linewidth=1.0, label=label)
    low, high = unit.of(mean), unit.of(mean)
    if band:
        spread = unit.of(3 * table[f"{name}:std"].to_numpy())
        low, high = low - spread, high + spread
        axis.fill_between(times, low, high, color=colour, alpha=0.22, linewidth=0)
    # the first samples, before anything is known, would hide the rest
    later = slice(len(times) // 20, None)
    room = 0.05 * float(np.max(high[later]) - np.min(low[later]))
    ends = [float(np.min(low[later])) - room, float(np.max(high[later])) + room]
    seen = [*ends, *axis.get_ylim()] if len(axis.lines) > 1 else ends
    if min(seen) < max(seen):
        axis.set_ylim(min(seen), max(seen))


def draw_predictions(shown: Shown, parts: Sequence[str]) -> Figure | None:
    """What was observed against what the constant calibration predicts, with two of its standard deviations.

    One row per quantity, one column per part of the data; None where none of the parts was predicted.
    """
    table = shown.validation.predictions
    if table is None:
        return None
    table = table.filter(pl.col("part").is_in(list(parts)))
    if not table.height:
        return None
    columns = [part for part in parts if part in table["part"].to_list()]
    names = table["quantity"].unique(maintain_order=True).to_list()
    units = shown.units()
    figure, axes = canvas(len(names), len(columns), WIDE, 0.8 + 1.9 * len(names), sharey="row")
    words = []
    for i, name in enumerate(names):
        unit = scale(name, units.get(name, "1"))
        for j, part in enumerate(columns):
            axis = axes[i, j]
            rows = table.filter((pl.col("quantity") == name) & (pl.col("part") == part))
            rows = rows.gather_every(max(1, rows.height // MOST_POINTS))
            times = rows["t"].to_numpy()
            observed, mean, std = (unit.of(rows[key].to_numpy()) for key in ("observed", "mean", "std"))
            axis.fill_between(
                times, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25, linewidth=0, label="predicted ± 2 std"
            )
            axis.plot(times, mean, color=BLUE, linewidth=0.9, label="predicted")
            axis.plot(times, observed, color=ORANGE, linewidth=0.8, linestyle=(0, (3, 1.2)), label="observed")
            axis.grid(True)
            if i == 0:
                axis.set_title(part)
            if i == len(names) - 1:
                axis.set_xlabel("t [s]")
            if j == 0:
                axis.set_ylabel(unit.label)
            inside = float(np.mean(np.abs(observed - mean) <= 2 * std))
            words.append(f"{name}, {part}: {100 * inside:.0f} % within the band")
    key(figure, axes[0, 0])
    alt = f"Observed against predicted: {'; '.join(words)}"
    return picture(
        figure, alt, f"Observed (dashed) against predicted with two standard deviations. {'; '.join(words)}."
    )
