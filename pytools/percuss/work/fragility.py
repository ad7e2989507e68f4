"""Fit fragility curves to the runs of a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.execution.campaign import closed_campaign
from percuss.execution.results import Campaign, load_campaign
from percuss.fragility.compute import Fragility, Request, fragility_of, verdicts_of
from percuss.fragility.curves import Array, Observed
from percuss.fragility.hazard import Hazard
from percuss.kinds.fragility_fitted import FragilityFitted, StateFacts
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.spelling import did_you_mean
from percuss.trust import Trust
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition, elsewhere

# What stands for "every run has a motion of its own" and for "every case is a motion".
RUN, CASE = "run", "case"


@dataclass(frozen=True)
class Asked:
    """What is asked of the runs: intensity and output by name, cases (none: all), what tells motions apart.

    `hazard` are pairs of intensity in SI and annual rate. `failed_collapse`: runs that failed count as collapses.
    """

    intensity: str
    output: str
    fit: Request
    cases: Sequence[str] = ()
    motion: str = RUN
    hazard: Sequence[tuple[float, float]] = field(default=())
    failed_collapse: bool = False


@dataclass(frozen=True, eq=False)
class FittedFragility:
    """Curves of the damage states, as an event."""

    event: Event
    trust: Trust
    body: FragilityFitted
    fragility: Fragility


def fit_fragility(session: Session, event: Event, asked: Asked) -> FittedFragility:
    """Fit the curves and append them."""
    campaign = closed_campaign(session, event)
    observed, collapsed = observed_runs(campaign, asked)
    hazard = Hazard(*(np.array(column) for column in zip(*asked.hazard, strict=True))) if asked.hazard else None
    fragility = fragility_of(observed, asked.fit, hazard)
    body = fragility_body(campaign, asked, observed, collapsed, fragility, hazard)
    blobs = [session.ledger.put_table(role, table) for role, table in sorted(fragility.tables.items())]
    draft = Draft(
        "fragility.fitted", body, campaign.designs[0].reference, campaign.inputs(), blobs, seed=asked.fit.seed
    )
    appended, trust = session.append_result(draft, fragility.verdicts)
    return FittedFragility(appended, trust, body, fragility)


def observed_runs(campaign: Campaign, asked: Asked) -> tuple[Observed, int]:
    """Intensity, demand and motion of every run, and how many of them collapsed by failing."""
    if asked.output not in campaign.outputs:
        raise InputError(f"output {asked.output}: {did_you_mean(asked.output, campaign.outputs)}")
    for name in asked.cases:
        if name not in (known := [runs.case for runs in campaign.cases]):
            raise InputError(f"case {name}: {did_you_mean(name, known)}")
    cases = [runs for runs in campaign.cases if not asked.cases or runs.case in asked.cases]
    if len(cases) > 1 and asked.motion != CASE:
        listed = ", ".join(runs.case for runs in cases)
        raise InputError(
            f"there are several cases ({listed}): choose one, or take each for a motion with --motion case"
        )
    column = campaign.outputs.index(asked.output)
    parts: list[tuple[Array, Array, list[str]]] = []
    collapsed = 0
    for runs in cases:
        rows, demand = runs.rows, runs.values[:, column]
        if runs.failures and asked.failed_collapse:
            failed = np.array(sorted(runs.failures), np.intp)
            collapsed += len(failed)
            if asked.intensity in campaign.outputs:
                raise InputError(f"intensity {asked.intensity} is an output, and runs that failed have none")
            rows, demand = np.concatenate([rows, failed]), np.concatenate([demand, np.full(len(failed), np.inf)])
        intensity = _column(campaign, runs.case, rows, asked.intensity, runs.values)
        motions = [_motion(campaign, runs.case, int(row), asked.motion) for row in rows]
        parts.append((intensity, demand, motions))
    labels = [label for part in parts for label in part[2]]
    _, group = np.unique(labels, return_inverse=True)
    observed = Observed(
        np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), group.astype(np.intp)
    )
    return observed, collapsed


def _column(campaign: Campaign, case: str, rows: NDArray[np.intp], name: str, values: Array) -> Array:
    """A parameter, an output or another input of each run, SI."""
    study = campaign.study
    if name in campaign.names and name not in study.cases[case]:
        return np.asarray(campaign.theta[rows, campaign.names.index(name)], float)
    if name in campaign.outputs:
        return np.asarray(values[:, campaign.outputs.index(name)], float)
    inputs = study.model().inputs
    if name not in inputs:
        raise InputError(f"intensity {name}: {did_you_mean(name, [*inputs, *campaign.outputs])}")
    point = {name: default.default for name, default in inputs.items()} | study.fixed | dict(campaign.fixed)
    value = (point | study.cases[case])[name]
    if not isinstance(value, int | float):
        raise InputError(f"intensity {name} = {value}: must be a number")
    return np.full(len(rows), float(value))


def _motion(campaign: Campaign, case: str, row: int, name: str) -> str:
    """What tells the motion of a run from those of others."""
    if name == RUN:
        return f"{case} {row:09d}"
    if name == CASE:
        return case
    if name not in campaign.names:
        raise InputError(f"motion {name}: {did_you_mean(name, [RUN, CASE, *campaign.names])}")
    # Numbers of records are rounded down, as the model rounds them.
    return f"{int(np.floor(campaign.theta[row, campaign.names.index(name)])):09d}"


def fragility_body(
    campaign: Campaign, asked: Asked, observed: Observed, collapsed: int, fragility: Fragility, hazard: Hazard | None
) -> FragilityFitted:
    """The body of the event, before its verdicts."""
    request, curves = asked.fit, fragility.curves
    medians = fragility.interval(lambda c: c.median, request.level)
    spreads = fragility.interval(lambda c: c.dispersion, request.level)
    rates = fragility.interval(hazard.rates, request.level) if hazard else None

    def ends(table: Array, first: int, k: int) -> tuple[float, float]:
        return float(table[first, k]), float(table[first + 1, k])

    states = tuple(
        StateFacts(
            name=name,
            threshold=float(threshold),
            exceeding=int(fragility.exceeding[k]),
            median=float(curves.median[k]),
            dispersion=float(curves.dispersion[k]),
            median_bootstrap=ends(medians, 0, k),
            median_bayes=ends(medians, 2, k),
            dispersion_bootstrap=ends(spreads, 0, k),
            dispersion_bayes=ends(spreads, 2, k),
            rate=None if fragility.rates is None else float(fragility.rates[k]),
            rate_bootstrap=None if rates is None else ends(rates, 0, k),
            rate_bayes=None if rates is None else ends(rates, 2, k),
        )
        for k, (name, threshold) in enumerate(request.states.items())
    )
    return FragilityFitted(
        intensity=asked.intensity,
        output=asked.output,
        cases=tuple(runs.case for runs in campaign.cases if not asked.cases or runs.case in asked.cases),
        motion=asked.motion,
        method=request.method,
        dispersion="common" if request.common else "each",
        level=request.level,
        draws=request.draws,
        runs=len(observed.intensity),
        collapsed=collapsed,
        lowest=float(observed.intensity.min()),
        highest=float(observed.intensity.max()),
        states=states,
        hazard=tuple((float(x), float(y)) for x, y in asked.hazard),
        trust=(),
    )


def asked_of(event: Event) -> Asked:
    """What an event of the kind was asked."""
    body = FragilityFitted.of(event)
    states: Mapping[str, float] = {state.name: state.threshold for state in body.states}
    request = Request(states, body.method, body.dispersion == "common", body.level, body.draws, event.seed or 0)
    return Asked(body.intensity, body.output, request, body.cases, body.motion, body.hazard, body.collapsed > 0)


def repeat_fragility(session: Session, event: Event, part: int = 0) -> Repetition:
    """Fit again and compare the tables."""
    asked = asked_of(event)
    campaign = load_campaign(session, session.state.events[event.input("design")])
    observed, collapsed = observed_runs(campaign, asked)
    hazard = Hazard(*(np.array(column) for column in zip(*asked.hazard, strict=True))) if asked.hazard else None
    fitted = fragility_of(observed, asked.fit, hazard)
    body = fragility_body(campaign, asked, observed, collapsed, fitted, hazard)

    def judged_by(own: Trust) -> Repetition:
        return judged_tables(session, event, "fragility", fitted.tables, body=body, own=own)

    again = judged_by(fitted.verdicts)
    if again.verdict == "differs" and elsewhere(session, event).code:
        # Of all that it may hide, only what older code did not ask is excused.
        before = verdicts_of(observed, asked.fit, fitted.curves, hazard, hazard_ends=False)
        if judged_by(before).verdict in ("same", "within"):
            return Repetition(
                "cannot",
                0,
                "made by other code, which did not ask whether the hazard curve reaches the damage; it does not",
                by_claim=True,
            )
    return again
