"""Predict again at the same draws. What the simulator said of the surrogate is not run again here: its runs are events
of their own.
"""

from __future__ import annotations

from dataclasses import replace

from percuss.calibration import prediction
from percuss.calibration.problem import load_problem
from percuss.calibration.records import load_posterior
from percuss.kinds.prediction_made import PredictionMade
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.predict import worthless
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition


def repeat_prediction(session: Session, event: Event, part: int = 0) -> Repetition:
    """Predict again and compare every table but that of the verification."""
    body, events = PredictionMade.of(event), session.state.events
    posterior = load_posterior(session, events[event.input("posterior")])
    curves = [load_surrogate(session, events[item.id]) for item in event.inputs_as("surrogate")]
    problem = load_problem(session, posterior.event)
    predicted = prediction.predict(problem, posterior, body.draws, event.seed or 0, curves[0] if curves else None)
    accepted = frozenset(verdict.gate for verdict in body.trust if verdict.accepted)
    unknown = worthless(session, problem, accepted)
    kept = prediction.without(predicted, unknown)
    scores = () if body.verification else tuple(prediction.scores(problem, posterior, predicted, None, unknown))
    again = replace(body, scores=scores, notes=kept.notes)
    verified = ("scores", "verification") if body.verification else ()
    return judged_tables(
        session,
        event,
        "prediction",
        kept.tables,
        left_out=("verification",),
        body=again,
        not_computed=verified,
        own=prediction.learnt(problem),
    )
