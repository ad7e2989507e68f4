"""Sample a posterior again: same problem, same seed, same bits. A direct one from the runs in the ledger."""

from __future__ import annotations

import numpy as np

from percuss.calibration.calibrate import Sampling, draw, draws_table
from percuss.calibration.problem import load_problem
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.samplers.sample import Sample
from percuss.inference.samplers.stopping import Stopping
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.ledger.tables import table_digest
from percuss.session import Session
from percuss.software import software
from percuss.work.repetition import Repetition

# Another build takes another path through the same posterior: means may differ by so many standard errors.
OTHER_BUILD_ERRORS = 6.0


def repeat_posterior(session: Session, event: Event, part: int = 0) -> Repetition:
    """Sample again and compare every draw; of another build the means, which differ within their errors."""
    body = PosteriorSampled.of(event)
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), event.seed or 0)  # type: ignore[arg-type]
    drawn = draw(load_problem(session, event), how)
    blob = event.blob("draws")
    if blob and table_digest(draws_table(drawn)) == blob.digest:
        return Repetition("same", 1)
    if event.software.core == software().core:
        return Repetition("differs", 1, "posterior: its draws come out otherwise")
    return _held_against(drawn, session, event)


def _held_against(sample: Sample, session: Session, event: Event) -> Repetition:
    """By another build: whether the means are the same within their errors."""
    before, diagnostics = session.table(event, "draws"), session.table(event, "diagnostics")
    for j, name in enumerate(sample.names):
        error = np.hypot(mcse_mean(sample.draws[:, :, j]), diagnostics["mcse"][j])
        now, then = float(np.mean(sample.draws[:, :, j])), float(np.mean(before[name].to_numpy()))
        if not abs(now - then) <= OTHER_BUILD_ERRORS * error:
            return Repetition("differs", 1, f"posterior: the mean of {name} was {then!r}, is {now!r}")
    return Repetition(
        "within", 1, f"made by another build, means compared within {OTHER_BUILD_ERRORS:g} standard errors"
    )
