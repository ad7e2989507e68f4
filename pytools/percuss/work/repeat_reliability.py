"""Estimate again from the same inputs and seed; runs of the simulator are read from the ledger, not made again."""

from __future__ import annotations

from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.software import software
from percuss.work.limit_estimate import Request, compute
from percuss.work.reliability import limit_source
from percuss.work.repeated_tables import farthest, other_tables
from percuss.work.repetition import Repetition

# By another build only rounding differs; a sample at the very limit may then change sides.
NEAR = 1e-6


def repeat_reliability(session: Session, event: Event, part: int = 0) -> Repetition:
    """Estimate again and compare every table."""
    body = ReliabilityEstimated.of(event)
    above = [session.state.events[item.id] for role in ("posterior", "surrogate") for item in event.inputs_as(role)]
    request = Request(
        study=session.study(event),
        event=above[0] if above else None,
        limit=body.limit,
        method=body.method,
        n=body.n,
        cv=body.cv,
        level=body.level,
        options=body.options,
        draws=body.draws or None,
        design=body.design.parameter if body.design else None,
        target=body.design.target if body.design else None,
        seed=event.seed or 0,
    )
    tables = compute(limit_source(session, request, None), request).tables
    other = other_tables(event, tables)
    if not other:
        return Repetition("same", 1)
    if event.software.core == software().core:
        return Repetition("differs", 1, f"reliability: its tables come out otherwise: {', '.join(other)}")
    apart = max(farthest(session, event, role, tables[role]) if role in tables else float("inf") for role in other)
    if apart > NEAR:
        return Repetition("differs", 1, f"reliability: by another build {apart:.2g} apart, {NEAR:g} is near enough")
    return Repetition("within", 1, f"made by another build, compared within {NEAR:g}")
