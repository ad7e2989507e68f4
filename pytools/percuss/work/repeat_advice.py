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
from percuss.work.repeated_tables import judged_tables
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
    return judged_tables(
        session,
        event,
        "advice",
        advice_tables(ahead, advice, tried),
        far=None if body.twins else 0.25,
        body=again,
        own=advice_verdicts(advice, tried),
    )
