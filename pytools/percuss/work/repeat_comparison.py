"""Hold the same calibrations against each other again."""

from __future__ import annotations

from percuss.kinds.comparison_made import ComparisonMade
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.compare import compared
from percuss.work.repeated_tables import NEAR, judged_tables
from percuss.work.repetition import Repetition, judged


def repeat_comparison(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compare again: the table, and Bayes factors to the bit or within `NEAR`."""
    body = ComparisonMade.of(event)
    again, table = compared(session, [session.state.events[item.id] for item in event.inputs_as("posterior")])
    pairs = list(zip(body.bayes_factors, again.bayes_factors, strict=False))
    apart = max((abs(then.log - now.log) / max(1.0, abs(then.log)) for then, now in pairs), default=0.0)
    if len(body.bayes_factors) != len(again.bayes_factors):
        apart = float("inf")
    if apart:
        outside = None if apart <= NEAR else f"its Bayes factors are {apart:.2g} apart"
        what = "comparison: its Bayes factors come out otherwise"
        return judged(session, event, what, same=False, near=lambda: (outside, f"{NEAR:g}"))
    return judged_tables(session, event, "comparison", {"posteriors": table}, body=again)
