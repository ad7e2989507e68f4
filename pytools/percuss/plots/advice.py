"""What candidate tests are expected to tell: gain for the cost, and contraction of each quantity."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.kinds.advice_computed import AdviceComputed
from percuss.plots.drawing import BLUE, GREY, INK, THIRD, canvas, picture
from percuss.plots.figure import Figure
from percuss.plots.subject import Subject

# Candidates and quantities that fit on a page.
MOST, MOST_QUANTITIES = 24, 5
CAPTION = (
    "Left: expected information gain for a unit of cost, in nats, the advised candidate in blue; ticks: the closed "
    "form of Gaussian quantities. Beside it: expected contraction, 1 - expected variance over that there is now. "
    "Whiskers: two Monte Carlo standard errors."
)


def draw(subject: Subject) -> Figure:
    """The candidates of an event."""
    event = subject.event
    tables = (subject.session.table(event, role) for role in ("candidates", "contractions"))
    return draw_advice(AdviceComputed.of(event), *tables)


def draw_advice(body: AdviceComputed, candidates: pl.DataFrame, contractions: pl.DataFrame) -> Figure:
    """Bars of the best candidates, and of how much each quantity contracts."""
    best = candidates.head(MOST)
    names = best["candidate"].to_list()
    quantities = body.about[:MOST_QUANTITIES]
    places = np.arange(len(names))[::-1]
    columns = 1 + len(quantities)
    figure, axes = canvas(1, columns, THIRD * max(columns, 2), 0.8 + 0.24 * max(len(names), 3))
    colours = [BLUE if name == body.advised else GREY for name in names]
    left = axes[0, 0]
    left.barh(places, best["per_cost"], xerr=2 * best["per_cost_error"], color=colours, ecolor=INK, capsize=2)
    left.plot(best["gaussian"] / best["cost"], places, linestyle="", marker="|", color=INK)
    left.set_yticks(places, names)
    left.set_xlabel("gain for the cost, nats")
    for j, quantity in enumerate(quantities):
        own = contractions.filter(pl.col("quantity") == quantity).head(MOST)
        axis = axes[0, 1 + j]
        axis.barh(places, own["contraction"], xerr=2 * own["error"], color=colours, ecolor=INK, capsize=2)
        axis.set_yticks([])
        axis.set_xlabel(f"contraction of {quantity}")
    return picture(figure, f"What {len(names)} tests are expected to tell about {', '.join(quantities)}", CAPTION)
