"""Fit surrogates of a campaign's outputs, or of whole curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign, recorded_campaign
from percuss.execution.results import Campaign
from percuss.kinds.surrogate_fitted import Curves, SurrogateFitted
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Session
from percuss.surrogates.assessment import skill
from percuss.surrogates.curves import project_curves, reduce_curves
from percuss.surrogates.fit import Fitted, fit_all
from percuss.surrogates.model import Settings, mean_of_parts
from percuss.surrogates.storage import surrogate_tables
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.surrogates.two_level import TWO_LEVEL
from percuss.trust import Trust
from percuss.work.repeated import SAID, hidden_failures, judged_tables, other_fields, other_tables
from percuss.work.repetition import Repetition, judged

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Surrogates:
    """What was fitted to which campaign; `curves` says what of, where whole curves were fitted."""

    event: Event
    trust: Trust
    campaign: Campaign
    fitted: Fitted
    curves: Curves | None


def fit_surrogates(
    session: Session,
    event: Event,
    settings: Settings | None = None,
    held_out: Event | None = None,
    low: Event | None = None,
) -> Surrogates:
    """Fit every output of every case of a design whose runs are all in; `held_out` are other runs to judge them by,
    `low` a surrogate of cheaper runs to build on.
    """
    settings = settings or Settings()
    campaign = closed_campaign(session, event)
    others = _others(session, campaign, held_out) if held_out else None
    lower = load_surrogate(session, low) if low else None
    spent = Spent()
    fitted = fit_campaign(session, campaign, settings, others, lower)
    draft = Draft(
        "surrogate.fitted",
        surrogate_body(fitted, settings),
        campaign.designs[0].reference,
        [
            *campaign.inputs(),
            *(("held_out", closing) for closing in (others.closings if others else ())),
            *([("low", lower.event)] if lower else []),
        ],
        [session.ledger.put_table(role, table) for role, table in sorted(fitted.tables.items())],
        seed=settings.seed,
        cost=spent.cost(),
    )
    used = [f"{c.case}/{c.output}" for c in fitted.fitted.columns if c.facts.get("method") == TWO_LEVEL]
    about = used if lower else None
    appended, trust = session.append_result(draft, skill(fitted.fitted.columns, fitted.curves), about)
    return Surrogates(appended, trust, campaign, fitted.fitted, fitted.curves)


@dataclass(frozen=True, eq=False)
class Fit:
    """A campaign fitted: `fitted_to` are its outputs or, of curves, the scores of their modes; all of it as tables."""

    fitted_to: Campaign
    fitted: Fitted
    curves: Curves | None
    tables: Mapping[str, pl.DataFrame]


def fit_campaign(
    session: Session, campaign: Campaign, settings: Settings, others: Campaign | None, low: Surrogate | None = None
) -> Fit:
    """Fit every output of every case, or whole curves; `others` are runs to judge them by, `low` a level below."""
    fitted_to, curves = campaign, None
    tables: dict[str, pl.DataFrame] = {}
    if settings.curves and low:
        raise InputError("--low: outputs of two levels are joined, not --curves")
    if settings.curves:
        fitted_to, tables, curves = reduce_curves(session, campaign, settings.curves)
        if others:
            others, left_out = project_curves(session, others, settings.curves, tables["modes"])
            curves = replace(curves, held_out_error=left_out)
    with session.voice.progress("fitting", len(fitted_to.cases) * len(fitted_to.outputs)) as advance:
        fitted = fit_all(fitted_to, settings, others, advance, low)
    return Fit(fitted_to, fitted, curves, tables | surrogate_tables(fitted_to, fitted))


def _others(session: Session, campaign: Campaign, event: Event) -> Campaign:
    """Runs to judge by: of the same study, and none of those that are fitted."""
    others = closed_campaign(session, event)
    if others.study.digest != campaign.study.digest:
        raise InputError(f"--held-out {event.id}: is of study {others.study.name}, not of the same study")
    if {design.id for design in others.designs} & {design.id for design in campaign.designs}:
        raise InputError(f"--held-out {event.id}: holds points the surrogate is fitted to")
    return others


def surrogate_body(fit: Fit, settings: Settings) -> SurrogateFitted:
    """The body of the event, before its verdicts."""
    campaign, fitted = fit.fitted_to, fit.fitted
    return SurrogateFitted(
        names=campaign.names,
        cases=tuple(runs.case for runs in campaign.cases),
        outputs=len(fitted.columns),
        points=len(campaign.theta),
        failed=sum(len(runs.failures) for runs in campaign.cases),
        duplicates=fitted.duplicates,
        families=tuple(sorted({column.family for column in fitted.columns})),
        largest_error=max(column.errors.trusted for column in fitted.columns),
        settings=settings.facts(),
        curves=fit.curves,
        trust=(),
    )


def output_facts(surrogates: Surrogates) -> Sequence[dict[str, object]]:
    """Every output with its errors, as plain data."""
    return [
        {
            "case": column.case,
            "output": column.output,
            "family": column.family,
            "loo": column.errors.loo,
            "loo_corrected": column.errors.loo_corrected,
            "nested": column.errors.nested,
            "elsewhere": column.errors.elsewhere,
            "held_out": column.errors.held_out,
            "points": column.points,
            **{key: column.facts.get(key) for key in ("method", "degree", "q", "candidates", "terms", "leverage")},
            "tried": column.tried,
            "warnings": list(column.warnings),
        }
        for column in surrogates.fitted.columns
    ]


# Fits of the same runs are never farther apart than so many of their errors, whichever terms a search has taken.
FAR_ERRORS = 10.0
# By how much the error that a surrogate claims may be smaller than that of the fit that came out.
NEAR_CLAIM, FAR_CLAIM = 2.0, 10.0


def repeat_surrogate(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again with the settings of the event and compare every table.

    Of another build the surrogates themselves: at the points of the design and between them they may differ by as much
    as they are known to be wrong.
    """
    body = SurrogateFitted.of(event)
    others = recorded_campaign(session, event, "held_out", oldest_first=True) if event.inputs_as("held_out") else None
    settings = Settings.of(body.settings, event.seed or 0)
    lower = [load_surrogate(session, session.state.events[item.id]) for item in event.inputs_as("low")]
    low = lower[0] if lower else None
    fit = fit_campaign(session, recorded_campaign(session, event), settings, others, low)
    other = other_tables(event, fit.tables)
    if not other:
        own = tuple(skill(fit.fitted.columns, fit.curves))
        return judged_tables(session, event, "surrogate", fit.tables, body=surrogate_body(fit, settings), own=own)
    if wrong := _misreported(session, event, surrogate_body(fit, settings)):
        return Repetition("differs", 1, f"surrogate: its own tables give another {', '.join(wrong)}")
    return judged(
        session,
        event,
        f"surrogate: its tables differ when computed again: {', '.join(other)}",
        same=False,
        near=lambda: (_outside(session, event, fit, 1.0, 1e-12, NEAR_CLAIM), "their own errors"),
        far=lambda makings: _outside(session, event, fit, FAR_ERRORS, 1e-6, FAR_CLAIM),
    )


def _misreported(session: Session, event: Event, again: SurrogateFitted) -> list[str]:
    """What the event says otherwise than its own tables: fields of its body, and gates that it fails by them."""
    body, columns = SurrogateFitted.of(event), load_surrogate(session, event).columns
    again = replace(
        again,
        outputs=len(columns),
        families=tuple(sorted({column.family for column in columns})),
        largest_error=max(column.errors.trusted for column in columns),
        curves=body.curves,
    )
    wrong = [name for name, apart in other_fields(event, again).items() if apart > SAID]
    return wrong + hidden_failures(event, skill(columns, body.curves))


def _outside(session: Session, event: Event, fit: Fit, errors: float, rounding: float, claim: float) -> str | None:
    """The first output by which the surrogates differ by more than so many of their errors, or whose claimed error is
    too small by this factor. Errors are those of the fit that came out: recorded ones are what somebody says.
    """
    surrogate, curves = load_surrogate(session, event), SurrogateFitted.of(event).curves
    for case, left in fit.curves.left_out().items() if fit.curves else ():
        claimed = curves.left_out().get(case, 0.0) if curves else 0.0
        if not left <= max(claim**2 * claimed, rounding):
            return f"{case}: claims that its modes leave out {claimed:.3g} of the curves, and they leave out {left:.3g}"
    if surrogate.outputs != tuple((column.case, column.output) for column in fit.fitted.columns):
        return "it has other outputs"
    for group in fit.fitted.groups:
        points = group.data.points
        # Between the points too, where a fit is free to do anything.
        at = np.concatenate([points, (points[1:] + points[:-1]) / 2])
        then, now = surrogate.mean_of_canonical(at), mean_of_parts(fit.fitted.parts, at)
        for number in group.columns:
            column, recorded = fit.fitted.columns[number], surrogate.columns[number]
            error = math.sqrt(max(column.errors.trusted * column.variance, 0.0))
            size = abs(column.mean) + math.sqrt(column.variance)
            apart = float(np.sqrt(np.mean((then[:, number] - now[:, number]) ** 2)))
            # Rounding of an output that is the same in every run, or that is met exactly.
            if not apart <= max(errors * error, rounding * size):
                return f"{recorded.name}: the fits are {apart:.3g} apart, with an error of {error:.3g}"
            claimed_error = math.sqrt(max(recorded.errors.trusted * recorded.variance, 0.0))
            if not error <= max(claim * claimed_error, rounding * size):
                return f"{recorded.name}: claims an error of {claimed_error:.3g}, has one of {error:.3g}"
    return None
