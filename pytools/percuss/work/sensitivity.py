"""Compute sensitivity indices, from a surrogate or from the runs of a design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.execution.campaign import closed_campaign, recorded_campaign
from percuss.kinds import surrogate_fitted
from percuss.kinds.indices_computed import IndicesComputed
from percuss.ledger.event import Draft, Event, asked
from percuss.sensitivity.compute import AUTO, Computed, Request, from_runs, from_surrogate
from percuss.sensitivity.over_time import over_time_table
from percuss.sensitivity.storage import indices_tables
from percuss.session import Session, inherit, reference
from percuss.study.study import Study
from percuss.surrogates.assessment import left_out
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.trust import Trust, accept
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Indices, and for a surrogate of curves those at every place of the axis."""

    event: Event
    trust: Trust
    computed: Computed
    over_time: pl.DataFrame | None


def compute_indices(session: Session, event: Event, request: Request | None = None) -> Sensitivities:
    """Indices of a surrogate (of outputs that it knows something of), or of the runs of a design."""
    request = request or Request()
    if event.kind == surrogate_fitted.KIND.name:
        return _of_surrogate(session, event, request)
    campaign = closed_campaign(session, event)
    return _appended(session, campaign.study, campaign.inputs(), from_runs(campaign, request), request, None)


def _of_surrogate(session: Session, event: Event, request: Request) -> Sensitivities:
    surrogate = load_surrogate(session, event)
    worthless = left_out(accept(inherit(session.state, [event]), session.accept))
    computed = from_surrogate(surrogate, request, worthless)
    over_time = curves_over_time(surrogate, computed)
    inputs: list[tuple[str, Event | Draft]] = [
        ("study", session.state.events[event.input("study")]),
        ("surrogate", event),
    ]
    return _appended(session, surrogate.study, inputs, computed, request, over_time)


def curves_over_time(surrogate: Surrogate, computed: Computed) -> pl.DataFrame | None:
    """Indices at every place of the axis; None for a surrogate that is not of curves."""
    if not surrogate.has_curves:
        return None
    return over_time_table(surrogate, list(dict.fromkeys(item.case for item in computed.indices)))


def sensitivity_tables(computed: Computed, over_time: pl.DataFrame | None = None) -> dict[str, pl.DataFrame]:
    """The tables of the event."""
    return indices_tables(computed) | ({} if over_time is None else {"over_time": over_time})


def indices_body(computed: Computed, request: Request) -> IndicesComputed:
    """The body of the event, before its verdicts."""
    return IndicesComputed(
        names=computed.names,
        methods=tuple(sorted({item.method for item in computed.indices})),
        level=request.level,
        n=request.n,
        groups=dict(request.groups),
        notes=computed.notes,
        left_out=computed.left_out,
        trust=(),
    )


def _appended(
    session: Session,
    study: Study,
    inputs: list[tuple[str, Event | Draft]],
    computed: Computed,
    request: Request,
    over_time: pl.DataFrame | None,
) -> Sensitivities:
    tables = sensitivity_tables(computed, over_time)
    body = indices_body(computed, request)
    blobs = [session.ledger.put_table(role, table) for role, table in sorted(tables.items())]
    draft = Draft("indices.computed", body, reference(study), inputs, blobs, seed=request.seed)
    appended, trust = session.append_result(draft)
    return Sensitivities(appended, trust, computed, over_time)


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
