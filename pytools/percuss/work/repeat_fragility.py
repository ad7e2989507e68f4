"""Fit fragility curves again to the same runs, and compare."""

from __future__ import annotations

import numpy as np

from percuss.execution.results import load_campaign
from percuss.fragility.compute import fragility_of
from percuss.fragility.hazard import Hazard
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.fragility import asked_of, fragility_body, observed_runs
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition


def repeat_fragility(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again and compare the tables."""
    asked = asked_of(event)
    campaign = load_campaign(session, session.state.events[event.input("design")])
    observed, collapsed = observed_runs(campaign, asked)
    hazard = Hazard(*(np.array(column) for column in zip(*asked.hazard, strict=True))) if asked.hazard else None
    fitted = fragility_of(observed, asked.fit, hazard)
    body = fragility_body(campaign, asked, observed, collapsed, fitted, hazard)
    return judged_tables(session, event, "fragility", fitted.tables, body=body, own=tuple(fitted.verdicts))
