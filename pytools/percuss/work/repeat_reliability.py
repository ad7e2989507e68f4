"""Estimate again from the same inputs and seed; runs of the simulator are read from the ledger, not made again."""

from __future__ import annotations

import math

from percuss.kinds.reliability_estimated import ProbabilityFacts, ReliabilityEstimated
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.limit_estimate import Request, compute
from percuss.work.reliability import limit_source, refused
from percuss.work.repeated_tables import FAR, judged_tables
from percuss.work.repetition import Repetition

# Two estimates of the same probability are never so many of their standard errors apart, in its logarithm.
FAR_ERRORS = 12.0


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
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    again = refused(compute(limit_source(session, request, None), request), accepted)
    # What the simulator said near the limit is not run again here.
    verified = ("verify", "verification", "runs", "failed")
    return judged_tables(
        session,
        event,
        "reliability",
        again.tables,
        far=lambda: _beyond_chance(body.estimate, again.body.estimate),
        body=again.body,
        not_computed=verified if body.verify else (),
        own=again.verdicts,
    )


def _beyond_chance(then: ProbabilityFacts | None, now: ProbabilityFacts | None) -> str | None:
    """A probability that no other path of the same search gives; its error is that of what came out."""
    if then is None or now is None or not now.probability > 0:
        return None
    if now.cv is None:  # of a method that samples nothing
        apart, room = abs((then.index or 0.0) - (now.index or 0.0)), FAR * abs(now.index or 0.0)
    else:
        apart = abs(math.log(then.probability / now.probability)) if then.probability > 0 else math.inf
        room = FAR_ERRORS * math.sqrt(2.0 * math.log1p(now.cv**2))
    words = f"the probability was {then.probability!r}, is {now.probability!r}"
    return None if apart <= room else words
