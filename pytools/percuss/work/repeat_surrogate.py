"""Fit a surrogate again to the runs it was fitted to."""

from __future__ import annotations

import math

import numpy as np

from percuss.execution.campaign import recorded_campaign
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.assessment import skill
from percuss.surrogates.model import Settings, mean_of_parts
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated_tables import judged_tables, other_tables
from percuss.work.repetition import Repetition, judged
from percuss.work.surrogate import Fit, fit_campaign, surrogate_body

# Fits of the same runs are never farther apart than so many of their errors, whichever terms a search has taken.
FAR_ERRORS = 10.0
# By how much the error that a surrogate claims may be smaller than that of the fit that came out.
NEAR_CLAIM, FAR_CLAIM = 2.0, 10.0


def repeat_surrogate(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again with the settings of the event and compare every table.

    Of another build the surrogates themselves: at the points of the design and between them they may differ by as much
    as they are known to be wrong.
    """
    body = SurrogateFitted.of(event)
    others = recorded_campaign(session, event, "held_out", oldest_first=True) if event.inputs_as("held_out") else None
    settings = Settings.of(body.settings, event.seed or 0)
    lower = [load_surrogate(session, session.state.events[item.id]) for item in event.inputs_as("low")]
    low = lower[0] if lower else None
    fit = fit_campaign(session, recorded_campaign(session, event), settings, others, low)
    other = other_tables(event, fit.tables)
    if not other:
        own = tuple(skill(fit.fitted.columns, fit.curves))
        return judged_tables(session, event, "surrogate", fit.tables, body=surrogate_body(fit, settings), own=own)
    return judged(
        session,
        event,
        f"surrogate: its tables come out otherwise: {', '.join(other)}",
        same=False,
        near=lambda: (_outside(session, event, fit, 1.0, 1e-12, NEAR_CLAIM), "their own errors"),
        far=lambda makings: _outside(session, event, fit, FAR_ERRORS, 1e-6, FAR_CLAIM),
    )


def _outside(session: Session, event: Event, fit: Fit, errors: float, rounding: float, claim: float) -> str | None:
    """The first output by which the surrogates differ by more than so many of their errors, or whose claimed error is
    too small by this factor. Errors are those of the fit that came out: recorded ones are what somebody says.
    """
    surrogate = load_surrogate(session, event)
    if surrogate.outputs != tuple((column.case, column.output) for column in fit.fitted.columns):
        return "it has other outputs"
    for group in fit.fitted.groups:
        points = group.data.points
        # Between the points too, where a fit is free to do anything.
        at = np.concatenate([points, (points[1:] + points[:-1]) / 2])
        then, now = surrogate.mean_of_canonical(at), mean_of_parts(fit.fitted.parts, at)
        for number in group.columns:
            column, recorded = fit.fitted.columns[number], surrogate.columns[number]
            error = math.sqrt(max(column.errors.trusted * column.variance, 0.0))
            size = abs(column.mean) + math.sqrt(column.variance)
            apart = float(np.sqrt(np.mean((then[:, number] - now[:, number]) ** 2)))
            # Rounding of an output that is the same in every run, or that is met exactly.
            if not apart <= max(errors * error, rounding * size):
                return f"{recorded.name}: the fits are {apart:.3g} apart, with an error of {error:.3g}"
            claimed_error = math.sqrt(max(recorded.errors.trusted * recorded.variance, 0.0))
            if not error <= max(claim * claimed_error, rounding * size):
                return f"{recorded.name}: claims an error of {claimed_error:.3g}, has one of {error:.3g}"
    return None
