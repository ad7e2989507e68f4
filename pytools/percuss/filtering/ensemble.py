"""The ensemble a filter works on: points and what their runs predict at every step of the observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.designs.design import Design
from percuss.errors import InputError
from percuss.execution.results import Campaign
from percuss.filtering.observations import Observations
from percuss.filtering.proposal import EDGE, Mixture, log_start, prior_only
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.surrogates.curves import run_curves

Array = NDArray[Any]

MIXTURE = "mixture"


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Samples that finished in every case: their `rows` among the points, `theta` (n, d), normal scores `z` (n, d),
    log weights before the data `log_start` (n,), and `predicted`, one (n, m) a step.
    """

    rows: NDArray[np.intp]
    theta: Array
    z: Array
    log_start: Array
    predicted: tuple[Array, ...]
    left_out: int


def make_ensemble(session: Session, campaign: Campaign, observations: Observations) -> Ensemble:
    """Bind runs and observations. Raises InputError when a run does not reach what was observed."""
    used = {step.case for step in observations.steps}
    runs = {item.case: item for item in campaign.cases}
    for case in used - set(runs):
        raise InputError(f"observations of case {case}: the design has the cases {', '.join(runs)}")
    rows = np.arange(len(campaign.theta))
    for case in sorted(used):
        rows = np.intersect1d(rows, runs[case].rows)
    if len(rows) < 2:
        raise InputError(f"a filter needs 2 samples that finished in every observed case; there are {len(rows)}")
    predicted: list[Array] = [np.empty((len(rows), len(step.names))) for step in observations.steps]
    for case in sorted(used):
        kept = np.searchsorted(runs[case].rows, rows)
        steps = [(t, step) for t, step in enumerate(observations.steps) if step.case == case]
        for name in dict.fromkeys(name for _, step in steps for name in step.names):
            taken = [(t, step) for t, step in steps if name in step.names]
            axis = taken[0][1].axis
            if axis is None:
                column = runs[case].values[kept, campaign.outputs.index(name)]
                for t, step in taken:
                    predicted[t][:, step.names.index(name)] = column
                continue
            if not campaign.keep_curves:
                raise InputError(
                    "observations along curves: the runs of this design were made without their curves",
                    hint="percuss design STUDY --curves keeps them",
                )
            curves = run_curves(session, campaign, runs[case], name, axis)
            at = np.array([step.place for _, step in taken])
            for row in kept:
                _check_reach(case, axis, curves[row][0], at)
            values = np.array([np.interp(at, *curves[row]) for row in kept])
            for i, (t, step) in enumerate(taken):
                predicted[t][:, step.names.index(name)] = values[:, i]
    theta = campaign.theta[rows]
    z = normal_scores(campaign, theta)
    proposals = [_proposal(session, design, theta.shape[1]) for design in campaign.designs]
    counts = [len(design.values) for design in campaign.designs]
    return Ensemble(rows, theta, z, log_start(z, proposals, counts), tuple(predicted), len(campaign.theta) - len(rows))


def normal_scores(campaign: Campaign, theta: Array) -> Array:
    """Normal scores (n, d) of points: where every prior is the standard Gaussian."""
    from scipy.special import ndtri

    priors = [campaign.study.parameters[name].prior for name in campaign.names]
    unit = np.stack([prior.cdf(theta[:, k]) for k, prior in enumerate(priors)], axis=1)
    return np.asarray(ndtri(np.clip(unit, EDGE, 1 - EDGE)))


def read_mixture(session: Session, event: Event, d: int) -> Mixture:
    """The proposal that a filter event holds."""
    table = session.table(event, MIXTURE).to_numpy()
    return Mixture(table[:, 0], table[:, 1 : 1 + d], table[:, 1 + d :].reshape(len(table), d, d))


def _proposal(session: Session, design: Design, d: int) -> Mixture:
    inputs = design.stored.inputs_as("filter", "proposal")
    return read_mixture(session, session.state.events[inputs[0].id], d) if inputs else prior_only(d)


def _check_reach(case: str, axis: str, x: Array, places: Array) -> None:
    slack = 1e-9 * float(x[-1] - x[0])  # units were converted on the way
    beyond = ~((places >= x[0] - slack) & (places <= x[-1] + slack))
    if beyond.any():
        raise InputError(
            f"observation of case {case} at {axis} = {float(places[beyond.argmax()])!r}: the runs cover "
            f"{float(x[0])!r} to {float(x[-1])!r} (SI)"
        )
