"""Compute sensitivity indices again, from the same surrogate or runs."""

from __future__ import annotations

from percuss.execution.campaign import recorded_campaign
from percuss.kinds.indices_computed import IndicesComputed
from percuss.ledger.event import Event, asked
from percuss.sensitivity.compute import AUTO, Request, from_runs, from_surrogate
from percuss.session import Session
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition
from percuss.work.sensitivity import curves_over_time, indices_body, sensitivity_tables


def repeat_indices(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compute again what was asked for and compare every table; outputs that were left out are left out again."""
    body = IndicesComputed.of(event)
    if body.n is None:
        return Repetition("cannot", 0, "indices made before it was recorded how many points were sampled")
    request = Request(str(asked(event, "method") or AUTO), body.n, body.level, event.seed or 0, body.groups)
    surrogates = event.inputs_as("surrogate")
    if surrogates:
        surrogate = load_surrogate(session, session.state.events[surrogates[0].id])
        computed = from_surrogate(surrogate, request, body.left_out)
        tables = sensitivity_tables(computed, curves_over_time(surrogate, computed))
    else:
        computed = from_runs(recorded_campaign(session, event), request)
        tables = sensitivity_tables(computed)
    return judged_tables(session, event, "indices", tables, body=indices_body(computed, request))
