"""The part of `percuss audit` that samples posteriors again: same problem, same seed, same bits."""

from __future__ import annotations

import hashlib

import numpy as np

from percuss.calibration.calibrate import Request, draw, draws_table
from percuss.calibration.problem import load_problem
from percuss.calibration.records import POSTERIOR
from percuss.errors import PercussError
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.samplers.sample import Sample
from percuss.inference.samplers.stopping import Stopping
from percuss.ledger.audit import Proof
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.ledger.tables import table_digest

# Another build takes another path through the same posterior: means may differ by so many standard errors.
OTHER_BUILD_ERRORS = 6.0


def prove_posteriors(proof: Proof, ledger: Ledger, state: State, count: int, core: str) -> None:
    """Sample some of the recorded posteriors again and compare every draw; direct ones from the runs in the ledger."""
    posteriors = [e for e in state.events.values() if e.kind == POSTERIOR and e.id not in state.superseded]
    if not posteriors or not count:
        return
    posteriors.sort(key=lambda event: hashlib.sha256(event.hash.encode()).digest())
    for event in posteriors[:count]:
        proof.checked += 1
        try:
            fault = _differs(ledger, state, event, exact=event.software.core == core)
        except (PercussError, KeyError, TypeError, ValueError) as trouble:  # a ledger may come from a stranger
            fault = f"cannot be sampled again ({trouble})"
        if fault:
            proof.faults.append(f"event {event.id}: posterior: {fault}")
    proof.note += f"; {min(count, len(posteriors))} of {len(posteriors)} posteriors"


def _differs(ledger: Ledger, state: State, event: Event, *, exact: bool) -> str | None:
    data = event.data
    request = Request(data["sampler"], data["settings"], Stopping(**data["stopping"]), event.seed or 0)
    sample = draw(load_problem(ledger, state, event), request)
    blob = event.blob("draws")
    if blob and table_digest(draws_table(sample)) == blob.digest:
        return None
    if exact:
        return "its draws come out otherwise"
    return _moved(sample, ledger, event)


def _moved(sample: Sample, ledger: Ledger, event: Event) -> str | None:
    """By another build: whether the means are the same within their errors."""
    before, told = ledger.table(event, "draws"), ledger.table(event, "diagnostics")
    for j, name in enumerate(sample.names):
        error = np.hypot(mcse_mean(sample.draws[:, :, j]), told["mcse"][j])
        now, then = float(np.mean(sample.draws[:, :, j])), float(np.mean(before[name].to_numpy()))
        if not abs(now - then) <= OTHER_BUILD_ERRORS * error:
            return f"the mean of {name} was {then!r}, is {now!r}"
    return None
