"""Fit a surrogate again to the runs it was fitted to."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from percuss.execution.campaign import recorded_campaign
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.assessment import skill
from percuss.surrogates.model import Settings
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated_tables import judged_tables, other_tables
from percuss.work.repetition import Repetition, judged
from percuss.work.surrogate import fit_campaign, surrogate_body

# Fits of the same runs are never farther apart than so many of their errors, whichever terms a search has taken.
FAR_ERRORS = 10.0


def repeat_surrogate(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again with the settings of the event and compare every table.

    Of another build the surrogates themselves: at the points of the design they may differ by as much as they are
    known to be wrong.
    """
    body = SurrogateFitted.of(event)
    others = recorded_campaign(session, event, "held_out", oldest_first=True) if event.inputs_as("held_out") else None
    settings = Settings.of(body.settings, event.seed or 0)
    fit = fit_campaign(session, recorded_campaign(session, event), settings, others)
    other = other_tables(event, fit.tables)
    if not other:
        own = tuple(skill(fit.fitted.columns, fit.curves))
        return judged_tables(session, event, "surrogate", fit.tables, body=surrogate_body(fit, settings), own=own)
    return judged(
        session,
        event,
        f"surrogate: its tables come out otherwise: {', '.join(other)}",
        same=False,
        near=lambda: (_outside(session, event, fit.tables["residuals"]), "their own errors"),
        far=lambda makings: _outside(session, event, fit.tables["residuals"], FAR_ERRORS, 1e-6),
    )


def _outside(
    session: Session, event: Event, now: pl.DataFrame, errors: float = 1.0, rounding: float = 1e-12
) -> str | None:
    """The first output by which the surrogates differ by more than so many of their errors."""
    surrogate = load_surrogate(session, event)
    then = surrogate.tables["residuals"]
    for number, column in enumerate(surrogate.columns):
        pair = [table.filter(pl.col("column") == number)["fitted"].to_numpy() for table in (then, now)]
        error = math.sqrt(max(column.errors.trusted * column.variance, 0.0))
        apart = float(np.sqrt(np.mean((pair[0] - pair[1]) ** 2))) if len(pair[0]) == len(pair[1]) else math.inf
        # Rounding of an output that is the same in every run, or that is met exactly.
        if not apart <= max(errors * error, rounding * (abs(column.mean) + math.sqrt(column.variance))):
            return f"{column.name}: the fits are {apart:.3g} apart, with an error of {error:.3g}"
    return None
