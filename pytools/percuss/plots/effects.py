"""Main effects with their direction: outputs of runs over each parameter, and the mean along it.

What an index cannot say: whether an output rises or falls with a parameter, and whether it does so all the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.designs.design import load_design
from percuss.execution.records import batches_of, campaign_table
from percuss.ledger.event import Event
from percuss.plots.drawing import BLUE, ORANGE, WIDE, canvas, chosen, dots, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale, output_scale, parameter_scale
from percuss.session import Session
from percuss.spelling import counted

MOST_PARAMETERS = 6
MOST_OUTPUTS = 6
MOST_POINTS = 300
# Rank correlations below this are called no direction.
WEAK = 0.1


class Effect(NamedTuple):
    """One output of the runs (n,), in the units it is drawn in."""

    label: str
    values: NDArray[np.float64]


def effects_of(session: Session, event: Event, outputs: Sequence[tuple[str, str]], cases: int) -> Figure | None:
    """Main effects in the runs that indices were computed from, through a surrogate or not; None where there are none.

    `outputs` are cases and outputs, of which the first few are drawn.
    """
    holder = session.state.events[event.input("surrogate")] if event.inputs_as("surrogate") else event
    parts = []
    for item in holder.inputs_as("design"):
        design = load_design(session, session.state.events[item.id])
        runs = campaign_table(session.ledger, batches_of(session, session.state.events[item.id]), design)
        points = pl.DataFrame({f"at {name}": design.values[:, j] for j, name in enumerate(design.names)})
        points = points.with_columns(sample=pl.int_range(len(design.values), dtype=pl.Int64))
        parts.append(runs.filter(pl.col("failed").is_null()).join(points, on="sample", how="left"))
    if not parts or not sum(part.height for part in parts):
        return None
    study = session.study(event)
    table = pl.concat(parts, how="diagonal")
    case = outputs[0][0]
    own = table.filter(pl.col("case") == case)
    names = [name for name in design.names if name in study.parameters][:MOST_PARAMETERS]
    effects = []
    for of_case, name in outputs:
        if of_case == case and name in own.columns:
            shown = output_scale(study, name)
            effects.append(Effect(shown.label, shown.of(own[name].to_numpy())))
    if not names or not effects or own.height < MOST_PARAMETERS:
        return None
    values = own.select([f"at {name}" for name in names]).to_numpy()
    scales = [parameter_scale(study, name) for name in names]
    return main_effects(scales, values, effects, case if cases > 1 else "")


def rank_correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Spearman's: +1 where y always rises with x, -1 where it always falls; 0 for what does not vary."""
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float) for values in (x, y)]
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def direction(correlation: float) -> str:
    """In a word."""
    return "no clear direction" if abs(correlation) < WEAK else "rises" if correlation > 0 else "falls"


def class_means(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of y in classes of equal numbers of points along x: an estimate of E[y | x]."""
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, int(np.clip(len(x) // 12, 3, 12)))
    parts = [part for part in parts if len(part)]
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def main_effects(scales: list[Scale], points: NDArray[np.float64], effects: list[Effect], case: str = "") -> Figure:
    """Outputs (rows) over parameters (columns), of the case that is named; points (n, d) in SI."""
    left_out = max(len(effects) - MOST_OUTPUTS, 0)
    scales, effects = scales[:MOST_PARAMETERS], effects[:MOST_OUTPUTS]
    width = min(WIDE, 1.2 + 2.1 * len(scales))
    figure, axes = canvas(len(effects), len(scales), width, 0.4 + 1.45 * len(effects), sharex="col", sharey="row")
    shown = chosen(range(len(points)), MOST_POINTS)
    words = []
    for i, effect in enumerate(effects):
        for j, scale in enumerate(scales):
            axis, x = axes[i, j], scale.of(points[:, j])
            dots(axis, x[shown], effect.values[shown], BLUE, 2.0, alpha=0.4)
            axis.plot(*class_means(x, effect.values), color=ORANGE, marker="s", markersize=2.5, linewidth=1.3)
            if scale.logarithmic and x.min() > 0:
                axis.set_xscale("log")
            correlation = rank_correlation(x, effect.values)
            axis.set_title(f"{direction(correlation)} ({correlation:+.2f})", fontsize=7, fontweight="normal")
            axis.grid(True)
            if i == len(effects) - 1:
                axis.set_xlabel(scale.label)
            words.append(f"{effect.label} {direction(correlation)} with {scale.name}")
        axes[i, 0].set_ylabel(effect.label.replace(" [", "\n["))
    caption = (
        f"{f'Case {case}. ' if case else ''}Outputs over parameters: runs (dots) and their mean along the parameter "
        "(squares); in brackets the rank correlation, which has the sign of the direction."
    )
    if left_out:
        caption += f" {counted(left_out, 'more output')} not drawn."
    return picture(figure, f"Main effects: {'; '.join(words[:12])}", caption)
