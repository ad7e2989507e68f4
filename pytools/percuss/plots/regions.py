"""Regions of time histories: mean, pointwise and simultaneous region, one row per case and one column per curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from percuss.errors import InputError
from percuss.kinds.region_computed import RegionComputed
from percuss.plots.drawing import BLUE, INK, canvas, chosen, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import quantity_scale
from percuss.plots.subject import Subject
from percuss.spelling import did_you_mean
from percuss.study.study import Study

# Points of a line in one of many small panels: more cannot be seen.
MOST_PLACES = 101


def draw(subject: Subject) -> Figure:
    """The regions of an event."""
    body = RegionComputed.of(subject.event)
    for name in subject.request.curves:
        if name not in body.curves:
            raise InputError(f"--curve {name}: {did_you_mean(name, body.curves)}")
    curves = list(subject.request.curves) or body.curves
    study, table = subject.session.study(subject.event), subject.session.table(subject.event, "region")
    share = f"{100 * body.level:g} %"
    return picture(
        draw_regions(study, body, table, curves, body.cases),
        f"Mean and {share} regions of {', '.join(curves)} in {', '.join(body.cases)}",
        f"Dark: {share} of the runs at each instant. Light: {share} of the runs at all instants. Dashed: mean.",
    )


def draw_regions(
    study: Study, body: RegionComputed, table: pl.DataFrame, curves: Sequence[str], cases: Sequence[str]
) -> Any:
    """A figure; call it within `percuss.plots.drawing.drawing`."""
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
