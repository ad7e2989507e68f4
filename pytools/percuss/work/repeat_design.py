"""Choose the points of a design again: by its sampler and seed, where a surrogate needs them, or from a posterior."""

from __future__ import annotations

from percuss.calibration.records import load_posterior
from percuss.calibration.verification import LABELS, verifying_points
from percuss.calibration.verification import SAMPLER as VERIFYING
from percuss.designs.design import Design, points_table
from percuss.designs.registry import SAMPLERS, make_design
from percuss.execution.points import table_design
from percuss.kinds.design_created import DesignCreated
from percuss.ledger.event import Event, asked
from percuss.session import Session
from percuss.surrogates.enrichment import SAMPLER as ENRICHING
from percuss.surrogates.enrichment import extend
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated import NEAR, judged_tables
from percuss.work.repetition import Repetition, elsewhere


def repeat_design(session: Session, event: Event, part: int = 0) -> Repetition:
    """Choose again and compare every point."""
    body = DesignCreated.of(event)
    if body.sampler in SAMPLERS:
        again = _sampled(session, event, body)
    elif body.sampler == ENRICHING:
        again = _enriched(session, event, body)
    elif body.sampler == VERIFYING:
        again = _verifying(session, event, body)
    else:
        return Repetition("cannot", 0, f"designs of points that were not chosen by a sampler ({body.sampler})")
    if again is None:
        return Repetition("cannot", 0, "designs made before it was recorded how many points were asked for")
    # Points of a sampler are numbers of a generator through a quantile function: nothing in that can go another way.
    as_near = body.sampler in SAMPLERS and not elsewhere(session, event).generators
    return judged_tables(session, event, "design", {"design": points_table(again)}, far=NEAR if as_near else None)


def _sampled(session: Session, event: Event, body: DesignCreated) -> Design | None:
    """By the sampler; None where it makes another number of points than was asked for, which is not known."""
    wanted_n = asked(event, "n") if event.call and event.call.operation == "design" else body.n
    count = wanted_n if isinstance(wanted_n, int) else None
    again = make_design(session.study(event), body.sampler, count, event.seed or 0, body.skip, body.options)
    return None if event.call is None and len(again.values) != body.n else again


def _enriched(session: Session, event: Event, body: DesignCreated) -> Design:
    events = session.state.events
    surrogate = load_surrogate(session, events[event.input("surrogate")])
    posteriors = [load_posterior(session, events[item.id]) for item in event.inputs_as("posterior")]
    draws = posteriors[0].flat()[:, : len(surrogate.names)] if posteriors else None
    return extend(session, surrogate, body.n, event.seed or 0, draws)


def _verifying(session: Session, event: Event, body: DesignCreated) -> Design:
    posterior = load_posterior(session, session.state.events[event.input("posterior")])
    values = verifying_points(posterior, len(body.names), body.n - len(LABELS))
    return table_design(session.study(event), values, VERIFYING, event.seed or 0)
