"""Probabilities of failure: samples about the limit, draws of a posterior, or the search for a design."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.kinds.reliability_estimated import DesignFacts, ReliabilityEstimated
from percuss.plots.drawing import BLUE, INK, ORANGE, WIDE, canvas, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import scale
from percuss.plots.subject import Subject
from percuss.study.study import Study

# Samples that are drawn.
MOST_DRAWN = 2000
# Up to so many are drawn larger.
FEW_DRAWN = 200


def draw(subject: Subject) -> Figure:
    """The picture of one estimate."""
    session, event = subject.session, subject.event
    body, study = ReliabilityEstimated.of(event), session.study(event)
    figure = drawn_estimate(body, study, lambda role: session.table(event, role))
    if figure is None:
        raise InputError(f"event {event.id}: has no samples to draw")
    return figure


def drawn_estimate(body: ReliabilityEstimated, study: Study, table: Callable[[str], pl.DataFrame]) -> Figure | None:
    """A search as a curve, an estimate after a posterior as a histogram, any other by its samples."""
    if body.design:
        return _searched(body.design, study, table("levels"))
    return _draws(table("draws")) if body.epistemic else _samples(body, study, table("samples"))


def _searched(design: DesignFacts, study: Study, levels: pl.DataFrame) -> Figure:
    shown = scale(design.parameter, study.parameters[design.parameter].unit)
    figure, axes = canvas(1, 1, WIDE, 2.6)
    axis = axes[0, 0]
    seen = levels.filter(pl.col("probability") > 0)
    values = shown.of(seen["value"].to_numpy())
    low = np.maximum(seen["low"].to_numpy(), seen["probability"].to_numpy() * 1e-3)
    axis.fill_between(values, low, seen["high"].to_numpy(), color=BLUE, alpha=0.2, linewidth=0)
    axis.plot(values, seen["probability"].to_numpy(), color=BLUE, marker="o", markersize=3)
    axis.axhline(design.target, color=INK, linestyle=":")
    axis.axvline(float(shown.of([design.value])[0]), color=ORANGE, linestyle="--")
    axis.set_yscale("log")
    axis.set_xlabel(shown.label)
    axis.set_ylabel("probability of failure")
    axis.grid(True)
    ends = " to ".join(shown.with_unit(end) for end in design.interval)
    caption = f"{design.parameter} = {shown.with_unit(design.value)} ({ends}) meets the target {design.target:g}."
    return picture(figure, f"Probability of failure against {design.parameter}", caption)


def _draws(draws: pl.DataFrame) -> Figure:
    figure, axes = canvas(1, 1, WIDE, 2.6)
    axis = axes[0, 0]
    probabilities = draws["probability"].to_numpy()
    axis.hist(probabilities, bins=30, color=BLUE, alpha=0.6)
    axis.axvline(float(probabilities.mean()), color=ORANGE, linestyle="--")
    axis.set_xlabel("probability of failure given the parameters that data can tell")
    axis.set_ylabel("draws")
    caption = "Each draw of the posterior has its own probability; the dashed line is their mean, the predictive one."
    return picture(figure, "Probability of failure over the draws of the posterior", caption)


def _samples(body: ReliabilityEstimated, study: Study, table: pl.DataFrame) -> Figure | None:
    """Where it fails, in the two parameters of most importance."""
    importance = {item.parameter: item.importance or 0.0 for item in body.slopes}
    names = sorted(study.parameters, key=lambda name: -importance.get(name, 0.0))[:2]
    if table.height == 0:
        return None
    nearest = np.argsort(np.abs(table["limit"].to_numpy()), kind="stable")[:MOST_DRAWN]
    part = table[np.sort(nearest).tolist()]
    fails = part["limit"].to_numpy() <= 0
    shown = [scale(name, study.parameters[name].unit) for name in names]
    figure, axes = canvas(1, 1, WIDE, 3.4)
    axis = axes[0, 0]
    across = shown[0].of(part[names[0]].to_numpy())
    up = shown[1].of(part[names[1]].to_numpy()) if len(names) > 1 else part["limit"].to_numpy()
    size = 1.0 if part.height > FEW_DRAWN else 4.0
    axis.scatter(across[~fails], up[~fails], s=5 * size, color=BLUE, marker="o", linewidths=0)
    axis.scatter(across[fails], up[fails], s=14 * size, color=ORANGE, marker="x", linewidths=0.8 * size**0.5)
    axis.set_xlabel(shown[0].label)
    axis.set_ylabel(shown[1].label if len(names) > 1 else "limit function")
    axis.grid(True)
    caption = f"The {part.height} samples nearest to the limit: crosses fail, dots do not."
    return picture(figure, f"Samples of {' and '.join(names)} about the limit", caption)
