"""Ranks of truths among draws: how their distribution strays from the uniform one, beside what chance allows."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.inference.ranks import envelope
from percuss.kinds.twins_checked import TwinsChecked
from percuss.plots.drawing import BLUE, GREY, INK, THIRD, canvas, picture
from percuss.plots.figure import Figure
from percuss.plots.subject import Subject

BARS = 20
PROBABILITY = 0.95
CAPTION = (
    f"Above: how many truths have a rank, in {BARS} bars; dashed: as many as there should be. Below: share of ranks up "
    f"to one, minus what it should be; grey: where all of it lies with {100 * PROBABILITY:g} % probability."
)


def draw(subject: Subject) -> Figure:
    """The ranks of an event."""
    return draw_ranks(TwinsChecked.of(subject.event), subject.session.table(subject.event, "ranks"))


def draw_ranks(body: TwinsChecked, table: pl.DataFrame) -> Figure:
    """A histogram for each quantity, and under it the difference of distributions with its simultaneous band."""
    names = list(dict.fromkeys(table["quantity"]))
    figure, axes = canvas(2, len(names), max(THIRD * len(names), 2 * THIRD), 3.6)
    for j, name in enumerate(names):
        ranks = table.filter((pl.col("quantity") == name) & pl.col("rank").is_not_null())["rank"].to_numpy()
        top, bottom = axes[0, j], axes[1, j]
        top.set_title(name)
        if not j:
            top.set_ylabel("truths")
        if len(ranks):
            top.hist(ranks, bins=np.linspace(0, body.draws + 1, BARS + 1), color=BLUE, alpha=0.7)
            top.axhline(len(ranks) / BARS, color=INK, linestyle="--", linewidth=0.8)
            band = envelope(len(ranks), body.draws, PROBABILITY)
            below = np.cumsum(np.bincount(ranks, minlength=body.draws + 1))[:-1] / len(ranks)
            low, high = (ends / len(ranks) - band.edges for ends in (band.low, band.high))
            bottom.fill_between(band.edges, low, high, color=GREY, alpha=0.3, linewidth=0)
            bottom.plot(band.edges, below - band.edges, color=BLUE, drawstyle="steps-post")
        bottom.set_xlabel("rank, as a share")
        if not j:
            bottom.set_ylabel("difference")
    return picture(figure, f"Ranks of {', '.join(names)} of {body.ranked} twins among {body.draws} draws", CAPTION)
