"""A regression check: how far each value is off, in units of what is allowed."""

from __future__ import annotations

import numpy as np

from percuss.kinds.check_passed import CheckPassed
from percuss.plots.drawing import BLUE, INK, RED, WIDE, canvas, dots, height_for, picture
from percuss.plots.figure import Figure
from percuss.plots.subject import Subject
from percuss.spelling import counted

MOST = 60


def draw(subject: Subject) -> Figure:
    """The values of an event."""
    return deviations(CheckPassed.of(subject.event))


def deviations(body: CheckPassed) -> Figure:
    """Found minus expected over the tolerance; beyond one a value has moved."""
    items = body.values[:MOST]
    off = np.array([(float(i.found) - float(i.expected)) / (float(i.tolerance) or 1.0) for i in items])
    holds = np.array([i.holds for i in items], dtype=bool)
    places = np.arange(len(items))[::-1]
    figure, axes = canvas(1, 1, WIDE * 0.75, height_for(len(items), 0.2, 0.8))
    axis = axes[0, 0]
    axis.axvspan(-1, 1, color=BLUE, alpha=0.1, linewidth=0)
    axis.axvline(0, color=INK, linewidth=0.7)
    seen = np.clip(off, -3, 3)
    dots(axis, seen[holds], places[holds], BLUE, 4.5, alpha=1)
    dots(axis, seen[~holds], places[~holds], RED, 6, "x", alpha=1)
    axis.set_yticks(places, [f"{i.output} ({i.case})" for i in items])
    axis.set_ylim(-0.7, len(items) - 0.3)
    axis.set_xlim(-3.2, 3.2)
    axis.set_xlabel("(found - expected) / tolerance; crosses have moved")
    axis.grid(axis="x")
    return picture(
        figure,
        f"{int(holds.sum())} of {counted(len(items), 'value')} hold; "
        f"the largest share of a tolerance is {np.abs(off).max():.2g}",
        "How far each value is off, over what is allowed (shaded).",
    )
