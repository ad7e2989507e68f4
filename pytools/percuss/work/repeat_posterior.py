"""Sample a posterior again: same problem, same seed, same bits. A direct one from the runs in the ledger.

Made elsewhere, its chains may have taken another path, and its draws are compared by how they are distributed. What it
says of its draws takes no path: that is computed from the recorded draws, and no claim excuses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from percuss.calibration.calibrate import (
    Calibrated,
    Sampling,
    assess,
    calibrate,
    data_table,
    diagnostics_table,
    draws_table,
)
from percuss.calibration.problem import Problem, load_problem
from percuss.calibration.records import load_posterior
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import ess_bulk, ess_tail, mcse_mean
from percuss.inference.samplers.registry import recorded_settings
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.posterior_body import posterior_body
from percuss.work.repeated import SAID, farthest, hidden_failures, judged_tables, other_fields, other_tables
from percuss.work.repetition import Elsewhere, Repetition, elsewhere, judged

# Another build takes another path through the same posterior: means may differ by so many standard errors, and of
# chains that converged no path leads farther than the second number.
NEAR_ERRORS, FAR_ERRORS = 6.0, 12.0
# Distances of Kolmogorov and Smirnov between two sets of draws, in units of sqrt(1/n + 1/m): one in 2 exp(-2 c^2) is
# larger by chance, 3e-8 at 3; a flattering spread or shape is.
NEAR_DISTANCE, FAR_DISTANCE = 3.0, 6.0
# Chains of the same length of the same sampler have no effective sample so much smaller than the other.
LEAST_SHARE = 1 / 9
# Not computed from draws alone is how the chains were made.
OF_CHAINS = ("acceptance", "evaluations", "modes", "converged", "reasons", "evidence", "not_compiled", "notes")


def repeat_posterior(session: Session, event: Event, part: int = 0) -> Repetition:
    """Sample again and compare every draw; where they may differ, what is said of them and how they are distributed."""
    body = PosteriorSampled.of(event)
    accepted = any(verdict.gate == "convergence" and verdict.accepted for verdict in body.trust)
    settings = recorded_settings(body.sampler, body.settings)
    how = Sampling(body.sampler, settings, Stopping(**body.stopping), event.seed or 0, accepted)  # type: ignore[arg-type]
    problem = load_problem(session, event, found_again=True)
    calibrated = calibrate(problem, how)
    tables = {
        "draws": draws_table(calibrated.sample),
        "diagnostics": diagnostics_table(calibrated.sample),
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
    makings = elsewhere(session, event)
    if makings and (wrong := _said_otherwise(session, event, problem, how, calibrated, makings)):
        return Repetition("differs", 1, f"posterior: {wrong}, by its own draws")
    return judged(
        session,
        event,
        "posterior: its draws differ when computed again",
        same=False,
        near=lambda: (
            _outside(session, event, calibrated, NEAR_ERRORS, NEAR_DISTANCE),
            f"{NEAR_ERRORS:g} standard errors of its means",
        ),
        far=lambda makings: _outside(session, event, calibrated, FAR_ERRORS, FAR_DISTANCE) if body.converged else None,
    )


def _said_otherwise(
    session: Session, event: Event, problem: Problem, how: Sampling, now: Calibrated, makings: Elsewhere
) -> str | None:
    """What the event says of its draws that these draws do not give."""
    then = load_posterior(session, event)
    sample = now.sample.with_draws(problem.target, then.draws, then.log_likelihood, then.log_prior)
    assessed = assess(problem, how, sample)
    if hidden := hidden_failures(event, assessed.verdicts):
        return f"it fails {', '.join(hidden)}, and its verdicts do not say so"
    # Replicates of the data come from a generator, which may be another one.
    left_out = (*OF_CHAINS, *(["fit"] if makings.generators else []))
    if not PosteriorSampled.of(event).converged and assessed.summary is None:
        left_out = (*left_out, "summary", "loo", "fit", "coverage")
    fields = other_fields(event, posterior_body(problem, assessed), left_out, words=0.0)
    if wrong := [name for name, apart in fields.items() if apart > SAID]:
        return f"differs when computed again: {', '.join(wrong)}"
    tables = {"diagnostics": diagnostics_table(sample), "data": data_table(problem, assessed)}
    wrong = [role for role, table in tables.items() if farthest(session, event, role, table) > SAID]
    return f"differs when computed again: {', '.join(wrong)}" if wrong else None


def _outside(session: Session, event: Event, now: Calibrated, errors: float, distance: float) -> str | None:
    """The first mean, shape or evidence that is not the same within its errors, which are those of what came out."""
    then, sample = load_posterior(session, event), now.sample
    if then.names != sample.names:
        return f"the parameters were {', '.join(then.names)}"
    for j, name in enumerate(sample.names):
        own, other = mcse_mean(sample.draws[:, :, j]), mcse_mean(then.draws[:, :, j])
        error = math.hypot(own, min(other, own / math.sqrt(LEAST_SHARE)))
        mean, was = float(np.mean(sample.draws[:, :, j])), float(np.mean(then.draws[:, :, j]))
        if not abs(mean - was) <= errors * error:
            return f"the mean of {name} was {was!r}, is {mean!r}"
    for words, a, b in _projections(sample.names, sample.draws, then.draws):
        size = _effective(a)
        room = distance * math.sqrt(1 / size + 1 / max(_effective(b), LEAST_SHARE * size))
        if not (apart := _distance(a.ravel(), b.ravel())) <= room:
            return f"{words}: distributed otherwise, {apart:.2g} apart, where {room:.2g} is chance"
    facts = PosteriorSampled.of(event).evidence
    for method, evidence in now.evidence.items():
        recorded = facts[method].log_evidence if method in facts else None
        room = max(errors * math.sqrt(2.0) * evidence.error, 0.05) if math.isfinite(evidence.error) else math.inf
        if recorded is not None and not abs(recorded - evidence.log_evidence) <= room:
            return f"the evidence by {method} was {recorded!r}, is {evidence.log_evidence!r}"
    return None


def _projections(names: tuple[str, ...], now: Floats, then: Floats) -> Iterator[tuple[str, Floats, Floats]]:
    """Each parameter, and of each two their sum and difference in units of what came out: what correlation shows in."""
    middle, scale = np.mean(now, axis=(0, 1)), np.std(now, axis=(0, 1))
    scale = np.where(scale > 0, scale, 1.0)
    a, b = (now - middle) / scale, (then - middle) / scale
    for j, name in enumerate(names):
        yield name, a[:, :, j], b[:, :, j]
    for i, j in combinations(range(len(names)), 2):
        for sign in (1.0, -1.0):
            yield f"{names[i]} with {names[j]}", a[:, :, i] + sign * a[:, :, j], b[:, :, i] + sign * b[:, :, j]


def _effective(x: Floats) -> float:
    """How many independent draws these are worth; at least one."""
    sizes = [size for size in (ess_bulk(x), ess_tail(x)) if math.isfinite(size)]
    return max(min(sizes, default=1.0), 1.0)


def _distance(a: Floats, b: Floats) -> float:
    """The largest distance of two empirical distribution functions."""
    a, b = np.sort(a), np.sort(b)
    at = np.concatenate([a, b])
    below = [np.searchsorted(x, at, side="right") / len(x) for x in (a, b)]
    return float(np.max(np.abs(below[0] - below[1])))
