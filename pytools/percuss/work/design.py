"""Designs: the points of a study's parameters at which it will be run, chosen in three ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from percuss.designs.design import Design, append_design, draft_design, load_design
from percuss.designs.registry import make_design
from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign
from percuss.ledger.event import Event
from percuss.models.model import Value
from percuss.session import Session
from percuss.study.study import Study

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
