"""Fit a surrogate again to the runs it was fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from percuss.designs.records import read_design
from percuss.execution.results import Campaign, read_campaign
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.software import software
from percuss.surrogates.settings import Settings
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated_tables import other_tables
from percuss.work.repetition import Repetition
from percuss.work.surrogate import fit_campaign


def repeat_surrogate(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again with the settings of the event and compare every table.

    Of another build the surrogates themselves: at the points of the design they may differ by as much as they are
    known to be wrong.
    """
    body = SurrogateFitted.of(event)
    closings = [session.state.events[item.id] for item in reversed(event.inputs_as("campaign"))]
    held_out = [session.state.events[item.id] for item in event.inputs_as("held_out")]
    others = _campaign(session, held_out) if held_out else None
    settings = Settings.of(body.settings, event.seed or 0)
    fit = fit_campaign(session, _campaign(session, closings), settings, others)
    other = other_tables(event, fit.tables)
    if not other:
        return Repetition("same", 1)
    if event.software.core == software().core:
        return Repetition("differs", 1, f"surrogate: its tables come out otherwise: {', '.join(other)}")
    return _held_against(session, event, fit.tables["residuals"])


def _campaign(session: Session, closings: Sequence[Event]) -> Campaign:
    """The runs that some closing events stand for."""
    designs = [read_design(session, session.state.events[closing.input("design")]) for closing in closings]
    return read_campaign(session, designs, closings)


def _held_against(session: Session, event: Event, now: pl.DataFrame) -> Repetition:
    """By another build: whether the surrogates differ by less than their errors, output by output."""
    surrogate = load_surrogate(session, event)
    then = surrogate.tables["residuals"]
    for number, column in enumerate(surrogate.columns):
        pair = [table.filter(pl.col("column") == number)["fitted"].to_numpy() for table in (then, now)]
        error = math.sqrt(max(column.errors.trusted * column.variance, 0.0))
        apart = float(np.sqrt(np.mean((pair[0] - pair[1]) ** 2))) if len(pair[0]) == len(pair[1]) else math.inf
        # Rounding of an output that is the same in every run.
        if not apart <= max(error, 1e-12 * abs(column.mean)):
            return Repetition(
                "differs", 1, f"surrogate: {column.name}: the fits are {apart:.3g} apart, with an error of {error:.3g}"
            )
    return Repetition("within", 1, "made by another build, compared within their own errors")
