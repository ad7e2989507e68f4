"""Fit fragility curves again to the same runs, and compare."""

from __future__ import annotations

import numpy as np

from percuss.execution.results import load_campaign
from percuss.fragility.compute import fragility_of
from percuss.fragility.hazard import Hazard
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.software import software
from percuss.work.fragility import asked_of, observed_runs
from percuss.work.repeated_tables import farthest, other_tables
from percuss.work.repetition import Repetition

# By another build only rounding differs, which the search for a maximum does not make much of.
NEAR = 1e-6


def repeat_fragility(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again and compare the tables."""
    asked = asked_of(event)
    campaign = load_campaign(session, session.state.events[event.input("design")])
    observed, _ = observed_runs(campaign, asked)
    hazard = Hazard(*(np.array(column) for column in zip(*asked.hazard, strict=True))) if asked.hazard else None
    tables = fragility_of(observed, asked.fit, hazard).tables
    other = other_tables(event, tables)
    if not other:
        return Repetition("same", 1)
    if event.software.core == software().core:
        return Repetition("differs", 1, f"fragility: its tables come out otherwise: {', '.join(other)}")
    apart = max(farthest(session, event, role, tables[role]) for role in other)
    if apart > NEAR:
        return Repetition("differs", 1, f"fragility: by another build {apart:.2g} apart, {NEAR:g} is near enough")
    return Repetition("within", 1, f"made by another build, compared within {NEAR:g}")
