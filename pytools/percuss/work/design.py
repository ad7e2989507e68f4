"""Designs: the points of a study's parameters at which it will be run, chosen in three ways.

Choose the points of a design again: by its sampler and seed, where a surrogate needs them, or from a posterior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from percuss.calibration.records import load_posterior
from percuss.calibration.verification import LABELS, verifying_points
from percuss.calibration.verification import SAMPLER as VERIFYING
from percuss.designs.design import Design, append_design, draft_design, load_design, points_table
from percuss.designs.registry import SAMPLERS, make_design
from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign
from percuss.execution.points import table_design
from percuss.kinds.design_created import DesignCreated
from percuss.ledger.event import Event, asked
from percuss.models.model import Value
from percuss.session import Session
from percuss.study.study import Study
from percuss.surrogates.enrichment import SAMPLER as ENRICHING
from percuss.surrogates.enrichment import extend
from percuss.surrogates.surrogate import load_surrogate
from percuss.work.repetition import NEAR, Repetition, elsewhere, judged_tables

if TYPE_CHECKING:
    from percuss.calibration.records import Posterior
    from percuss.surrogates.surrogate import Surrogate


FILTER = "filter.updated"


@dataclass(frozen=True)
class Request:
    """What is asked of a sampler; `cases`: all where none is named, `fixed`: inputs as they are written."""

    sampler: str = "sobol"
    n: int | None = None
    seed: int = 0
    skip: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    cases: Sequence[str] = ()
    fixed: Mapping[str, Value] = field(default_factory=dict)
    keep_curves: bool = False


def plan_design(study: Study, request: Request) -> Design:
    """The points, with all that is needed to run them; nothing is appended."""
    cases = [study.case_name(name) for name in request.cases] or list(study.cases)
    design = make_design(study, request.sampler, request.n, request.seed, request.skip, request.options)
    for key in request.fixed:
        if key in study.parameters:
            raise InputError(f"--set {key}: is a parameter of the study, which a design varies")
    middle = dict(zip(design.names, design.values[0].tolist(), strict=True))
    points = [study.point(name, {**middle, **request.fixed}) for name in cases]
    fixed = {key: points[0][key] for key in request.fixed}
    return replace(design, cases=tuple(cases), fixed=fixed, keep_curves=request.keep_curves)


def create_design(session: Session, design: Design) -> Design:
    """Append a design that was planned, and its study if that is new."""
    drafted = draft_design(session, design, cases=design.cases, fixed=design.fixed, keep_curves=design.keep_curves)
    return append_design(session, drafted)


def extend_design(session: Session, event: Event, n: int | None, seed: int, posterior: Event | None = None) -> Design:
    """More points where a surrogate needs them, with a posterior among its draws; appended."""
    from percuss.surrogates.surrogate import load_surrogate

    if n is None or n < 1:
        raise InputError("--extend: needs the number of points to add, --n N")
    needed = session.load(session.take(posterior, "posterior.sampled")) if posterior else None
    return append_design(session, draft_extension(session, load_surrogate(session, event), n, seed, needed))


def draft_extension(
    session: Session, surrogate: Surrogate, count: int, seed: int, posterior: Posterior | None = None
) -> Design:
    """A design that extends those of a surrogate, among the draws of a posterior if there is one."""
    # Surrogates take longer to load than a design to make.
    from percuss.surrogates.enrichment import extend

    before = load_design(session, surrogate.event)
    inputs: list[tuple[str, Event]] = [("surrogate", surrogate.event)]
    draws = None
    if posterior:
        if posterior.names[: len(surrogate.names)] != surrogate.names:
            raise InputError(
                f"posterior {posterior.event.id}: is of the parameters {', '.join(posterior.names)}, not of those of "
                f"surrogate {surrogate.event.id}"
            )
        posterior.trusted_summary()
        draws = posterior.flat()[:, : len(surrogate.names)]
        inputs.append(("posterior", posterior.event))
    return draft_design(
        session,
        extend(session, surrogate, count, seed, draws),
        cases=before.cases,
        fixed=before.fixed,
        keep_curves=before.keep_curves,
        inputs=inputs,
    )


def propose_design(session: Session, event: Event, n: int | None, seed: int, cases: Sequence[str] = ()) -> Design:
    """More points where a filter found weight, appended; of other cases, the first of an ensemble of their own."""
    from percuss.filtering.update import propose

    if n is None or n < 1:
        raise InputError("--propose: needs the number of points to add, --n N")
    if event.kind != FILTER:
        raise InputError(f"--propose {event.id}: is of the kind {event.kind}, not {FILTER}")
    if event.id in session.state.superseded:
        raise InputError(f"--propose {event.id}: is superseded", hint="percuss show says by what")
    last = session.state.events[event.inputs_as("design")[-1].id]
    points = propose(session, closed_campaign(session, last), event, n, seed)
    before = load_design(session, last)
    chosen = [before.study.case_name(name) for name in cases] or list(before.cases)
    drafted = draft_design(
        session,
        points,
        cases=chosen,
        fixed=before.fixed,
        keep_curves=before.keep_curves,
        inputs=[("filter" if set(chosen) == set(before.cases) else "proposal", event)],
    )
    return append_design(session, drafted)


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
