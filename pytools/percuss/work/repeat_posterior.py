"""Sample a posterior again: same problem, same seed, same bits. A direct one from the runs in the ledger."""

from __future__ import annotations

import numpy as np

from percuss.calibration.calibrate import Sampling, calibrate, data_table, diagnostics_table, draws_table
from percuss.calibration.problem import load_problem
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.posterior_body import posterior_body
from percuss.work.repeated_tables import judged_tables, other_tables
from percuss.work.repetition import Repetition, judged

# Another build takes another path through the same posterior: means may differ by so many standard errors.
OTHER_BUILD_ERRORS = 6.0
# Of chains that converged no way through the posterior leads farther than this.
FAR_ERRORS = 12.0


def repeat_posterior(session: Session, event: Event, part: int = 0) -> Repetition:
    """Sample again and compare every draw; of another build the means, which differ within their errors."""
    body = PosteriorSampled.of(event)
    accepted = any(verdict.gate == "convergence" and verdict.accepted for verdict in body.trust)
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), event.seed or 0, accepted)  # type: ignore[arg-type]
    problem = load_problem(session, event)
    calibrated = calibrate(problem, how)
    drawn = calibrated.sample
    tables = {
        "draws": draws_table(drawn),
        "diagnostics": diagnostics_table(drawn),
        "data": data_table(problem, calibrated),
    }
    if "draws" not in other_tables(event, tables):
        return judged_tables(
            session,
            event,
            "posterior",
            tables,
            body=posterior_body(problem, calibrated),
            not_computed=("notes",),  # those on edits of the study are about the call
            own=calibrated.verdicts,
        )
    return judged(
        session,
        event,
        "posterior: its draws come out otherwise",
        same=False,
        near=lambda: (_outside(drawn, session, event), f"{OTHER_BUILD_ERRORS:g} standard errors of its means"),
        far=lambda makings: _outside(drawn, session, event, FAR_ERRORS) if body.converged else None,
    )


def _outside(sample: Sample, session: Session, event: Event, errors: float = OTHER_BUILD_ERRORS) -> str | None:
    """The first mean that is not the same within its errors."""
    before, diagnostics = session.table(event, "draws"), session.table(event, "diagnostics")
    for j, name in enumerate(sample.names):
        error = np.hypot(mcse_mean(sample.draws[:, :, j]), diagnostics["mcse"][j])
        now, then = float(np.mean(sample.draws[:, :, j])), float(np.mean(before[name].to_numpy()))
        if not abs(now - then) <= errors * error:
            return f"the mean of {name} was {then!r}, is {now!r}"
    return None
