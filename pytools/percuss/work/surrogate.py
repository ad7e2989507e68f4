"""Fit surrogates of a campaign's outputs, or of whole curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign
from percuss.execution.results import Campaign
from percuss.kinds.surrogate_fitted import Curves, SurrogateFitted
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Session
from percuss.surrogates.assessment import skill
from percuss.surrogates.curves import project_curves, reduce_curves
from percuss.surrogates.fit import Fitted, fit_all
from percuss.surrogates.model import Settings
from percuss.surrogates.storage import surrogate_tables
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.surrogates.two_level import TWO_LEVEL
from percuss.trust import Trust

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
