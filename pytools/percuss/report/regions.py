"""Regions of time histories: mean, pointwise and simultaneous region, a row a case and a column a curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from percuss.errors import InputError
from percuss.kinds.region_computed import RegionComputed
from percuss.report.drawing import BLUE, INK, canvas, chosen, drawing, key
from percuss.report.figures import check_picture, save
from percuss.report.labels import quantity_scale
from percuss.spelling import did_you_mean
from percuss.study.study import Study

# Points of a line in one of many small panels: more cannot be seen.
MOST_PLACES = 101


def write_regions(study: Study, body: RegionComputed, table: pl.DataFrame, curves: Sequence[str], path: Path) -> int:
    """Draw regions into a file; returns how many panels it has."""
    check_picture(path)
    for name in curves:
        if name not in body.curves:
            raise InputError(f"--curve {name}: {did_you_mean(name, body.curves)}")
    names = list(curves) or body.curves
    with drawing():
        figure = draw_regions(study, body, table, names, body.cases)
        figure.set_facecolor("white")
        save(figure, path)
    return len(names) * len(body.cases)


def draw_regions(
    study: Study, body: RegionComputed, table: pl.DataFrame, curves: Sequence[str], cases: Sequence[str]
) -> Any:
    """A figure; call it within `percuss.report.drawing.drawing`."""
    along = quantity_scale(study, body.axis)
    share = f"{100 * body.level:g} %"
    figure, axes = canvas(len(cases), len(curves), 4.7 * len(curves), 0.6 + 1.7 * len(cases), sharex=True, sharey="col")
    for i, case in enumerate(cases):
        for j, curve in enumerate(curves):
            axis, shown = axes[i, j], quantity_scale(study, curve)
            rows = table.filter((pl.col("case") == case) & (pl.col("curve") == curve))
            rows = rows[chosen(range(rows.height), MOST_PLACES)]
            at = along.of(rows["axis"].to_numpy())
            part = {name: shown.of(rows[name].to_numpy()) for name in rows.columns[3:]}
            axis.fill_between(
                at, part["low_whole"], part["high_whole"], color=BLUE, alpha=0.18, linewidth=0,
                label=f"{share} of whole histories",
            )  # fmt: skip
            axis.fill_between(
                at, part["low"], part["high"], color=BLUE, alpha=0.4, linewidth=0, label=f"{share} at each instant"
            )
            axis.plot(at, part["mean"], color=INK, linewidth=0.9, linestyle=(0, (4, 2)), label="mean")
            axis.set_ylabel(shown.label)
            axis.grid(True)
            if len(cases) > 1:
                axis.set_title(case)
            if i == len(cases) - 1:
                axis.set_xlabel(along.label)
    key(figure, axes[0, 0])
    return figure
