"""Advise again: the same draws, the same data of tests that were not made, the same twins."""

from __future__ import annotations

from dataclasses import replace

from percuss.calibration.advice import advise
from percuss.calibration.records import load_posterior
from percuss.kinds.advice_computed import AdviceComputed
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.advise import (
    advice_body,
    advice_tables,
    advice_verdicts,
    look_ahead,
    recorded_candidates,
    try_advised,
)
from percuss.work.repeated_tables import FAR, farthest, judged_tables
from percuss.work.repetition import Repetition


def repeat_advice(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compute every gain again; posteriors of twins may take another path elsewhere."""
    body, events, seed = AdviceComputed.of(event), session.state.events, event.seed or 0
    posterior = load_posterior(session, events[event.input("posterior")])
    surrogates = [events[item.id] for item in event.inputs_as("surrogate")]
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    ahead = look_ahead(session, posterior, surrogates, body.about, accepted)
    candidates = recorded_candidates(body)
    advice = advise(ahead, candidates, body.outer, body.inner, seed)
    tried = try_advised(ahead, advice, body.twins, seed) if body.twins else None
    again = replace(advice_body(ahead, candidates, advice, tried), trust=body.trust, notes=body.notes)
    tables = advice_tables(ahead, advice, tried)

    def beyond() -> str | None:
        # No search is in these; posteriors of twins may take any path.
        apart = [farthest(session, event, role, tables[role]) for role in ("candidates", "contractions")]
        return next((f"{far:.2g} apart" for far in apart if FAR < far < float("inf")), None)

    own = advice_verdicts(advice, tried)
    return judged_tables(session, event, "advice", tables, far=beyond, body=again, own=own)
