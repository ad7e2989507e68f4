"""Choose the points of a design again: by its sampler and seed, where a surrogate needs them, or from a posterior."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from percuss.calibration.records import load_posterior
from percuss.calibration.verification import LABELS, verifying_points
from percuss.calibration.verification import SAMPLER as VERIFYING
from percuss.designs.design import Design, points_table
from percuss.designs.registry import SAMPLERS, make_design
from percuss.execution.points import table_design
from percuss.kinds.design_created import DesignCreated
from percuss.ledger.blobs import SlicedDigest
from percuss.ledger.event import Event, asked
from percuss.session import Session
from percuss.surrogates.enrichment import SAMPLER as ENRICHING
from percuss.surrogates.enrichment import extend
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repeated import NEAR, judged_tables
from percuss.work.repetition import Repetition, elsewhere

if TYPE_CHECKING:
    import polars as pl

# How many points of a sequence are made at once.
POINTS_AT_ONCE = 16_384


def repeat_design(session: Session, event: Event, part: int = 0) -> Repetition:
    """Choose again and compare every point."""
    body = DesignCreated.of(event)
    if _same_some_at_a_time(session, event, body):
        return Repetition("same", 1)
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


def _same_some_at_a_time(session: Session, event: Event, body: DesignCreated) -> bool:
    """Whether a long design of a sequence comes out to the bit, made some points at a time: memory does not grow with
    it. Otherwise it is made as a whole, to say how it differs.
    """
    if body.sampler not in SAMPLERS or not SAMPLERS[body.sampler].sequence or body.n <= POINTS_AT_ONCE:
        return False
    if [blob.role for blob in event.blobs] != ["design"] or _count(event, body) != body.n:
        return False
    study, seed = session.study(event), event.seed or 0

    def slices() -> Iterator[pl.DataFrame]:
        for start in range(0, body.n, POINTS_AT_ONCE):
            count = min(POINTS_AT_ONCE, body.n - start)
            some = make_design(study, body.sampler, count, seed, body.skip + start, body.options)
            yield points_table(some, start)

    digest = SlicedDigest(1 + 2 * len(study.parameters))
    digest.add(slices())
    return digest.hexdigest() == event.blobs[0].digest


def _count(event: Event, body: DesignCreated) -> int | None:
    """How many points were asked for."""
    count = asked(event, "n") if event.call and event.call.operation == "design" else body.n
    return count if isinstance(count, int) else None


def _sampled(session: Session, event: Event, body: DesignCreated) -> Design | None:
    """By the sampler; None where it makes another number of points than was asked for, which is not known."""
    study, count = session.study(event), _count(event, body)
    again = make_design(study, body.sampler, count, event.seed or 0, body.skip, body.options)
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
