"""Sequential Monte Carlo by tempering: a population goes from the prior to the posterior, and weighs the evidence.

Densities prior likelihood^b with b from 0 to 1; each b is the largest that leaves the importance weights
likelihood^(b' - b) a given effective share (conditional ESS; Zhou, Johansen, Aston, 2016). The evidence is the
product of the mean weights. Between two b the population is renewed the waste-free way (Dau, Chopin, 2022): few members
are drawn by weight, each makes a chain of many steps, and all states of all chains are the next population.

Steps are differential-evolution moves (ter Braak, 2006): along the difference of two members of the population. They
need no covariance, follow bent shapes, and where there are several modes lead from one to another.

Independent repeats stand side by side as chains: R-hat compares them, their scatter is the error of the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import diagnose
from percuss.inference.samplers.registry import Setting
from percuss.inference.samplers.sample import Run
from percuss.inference.samplers.stopping import Progress, Report, Stopping
from percuss.inference.target import Target

SETTINGS: Mapping[str, Setting] = {
    "chains": Setting(100, 10, 1_000_000, "members drawn by weight at each temperature"),
    "steps": Setting(50, 4, 1_000_000, "steps each of them makes; doubled, from the start, while repeats disagree"),
    "repeats": Setting(8, 4, 1000, "independent repeats, and as many again until the evidence is known"),
    "evidence_error": Setting(0.012, 0.0, 1e9, "standard error of the log evidence to reach, within the budget"),
    "share": Setting(0.8, 0.1, 0.99, "effective share of the weights from one temperature to the next"),
}

ACCEPTANCE = 0.25
# One move in ten goes the whole difference: from mode to mode.
JUMPS = 0.1


class Population(NamedTuple):
    """Members (chains, steps, d), log-likelihood and log prior of each; b reached, log evidence, evaluations made,
    acceptance at the last temperature.
    """

    z: Floats
    likelihood: Floats
    prior: Floats
    tempering: float
    log_evidence: float
    evaluations: int
    acceptance: float


def run(target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report) -> Run:
    """Repeat until the evidence is known well enough; begin again with twice the steps while repeats disagree."""
    chains, steps = int(settings["chains"]), int(settings["steps"])
    repeats, share = int(settings["repeats"]), settings["share"]
    stopping.require(repeats * chains * steps)
    used = 0
    done: list[Population] = []
    while True:
        for left in range(repeats, 0, -1):
            # Keyed by steps and number, so that a repeat does not depend on how many were asked for.
            generator = np.random.default_rng((seed, steps, len(done)))
            done.append(temper(target, chains, steps, share, (stopping.evaluations - used) // left, generator))
            used += done[-1].evaluations
            report(Progress(f"repeat {len(done)}", used, stopping.evaluations))
        result = _combine(done, used)
        found = diagnose(result.unbounded, result.log_density, target.names)
        report(Progress(f"repeat {len(done)}", used, stopping.evaluations, found.worst_r_hat, found.least_ess))
        agreed = not stopping.reasons(found)
        if result.log_evidence_error is None or (agreed and result.log_evidence_error <= settings["evidence_error"]):
            return result
        cost = repeats * max(population.evaluations for population in done) * (1 if agreed else 2)
        if used + cost > stopping.evaluations:
            return result
        if not agreed:
            steps, done = 2 * steps, []


def _combine(done: list[Population], used: int) -> Run:
    """Lay repeats side by side as chains, and average their evidences."""
    dimension = done[0].z.shape[2]
    logs = np.array([population.log_evidence for population in done])
    top = float(np.max(logs))
    lowest = min(population.tempering for population in done)
    return Run(
        np.stack([population.z.reshape(-1, dimension) for population in done]),
        np.stack([(population.likelihood + population.prior).ravel() for population in done]),
        np.array([population.acceptance for population in done]),
        used,
        top + float(np.log(np.mean(np.exp(logs - top)))) if lowest == 1 else None,
        float(np.std(logs, ddof=1) / np.sqrt(len(logs))) if lowest == 1 else None,
        () if lowest == 1 else (f"tempering ended at likelihood^{lowest:.3g}: the budget is too small",),
    )


def temper(
    target: Target, chains: int, steps: int, share: float, allowance: int, generator: np.random.Generator
) -> Population:
    """Take a population from the prior as far towards the posterior as `allowance` evaluations go."""
    size = chains * steps
    z = target.draw_prior(size, generator)
    likelihood, prior = target.log_parts(z)
    used, b, log_evidence, acceptance = size, 0.0, 0.0, 0.0
    log_scale = np.log(2.38 / np.sqrt(2 * target.dimension))
    while b < 1 and used + size <= allowance:
        rise = _rise(likelihood, 1.0 - b, share)
        b = 1.0 if rise == 1.0 - b else b + rise
        weights = np.exp(rise * (likelihood - np.max(likelihood)))
        log_evidence += rise * float(np.max(likelihood)) + float(np.log(np.mean(weights)))
        pool = z[_systematic(weights, size, generator)]
        kept = _systematic(weights, chains, generator)
        z, likelihood, prior, acceptance = _renew(
            target, b, (z[kept], likelihood[kept], prior[kept]), pool, steps, float(np.exp(log_scale)), generator
        )
        used += size - chains
        log_scale += np.clip(2.0 * (acceptance - ACCEPTANCE), -0.5, 0.5)
    shape = (chains, steps)
    return Population(
        z.reshape(*shape, target.dimension),
        likelihood.reshape(shape),
        prior.reshape(shape),
        b,
        log_evidence,
        used,
        acceptance,
    )


def _rise(likelihood: Floats, most: float, share: float) -> float:
    """Largest rise of b up to `most` for which the weights keep their effective share."""

    def effective(rise: float) -> float:
        weights = np.exp(rise * (likelihood - np.max(likelihood)))
        return float(np.sum(weights) ** 2 / np.sum(weights * weights)) / len(weights)

    if effective(most) >= share:
        return most
    low, high = 0.0, most
    # Narrow likelihoods need tiny rises: halve the ratio while the lower end is zero, then the interval.
    for _ in range(200):
        middle = high / 4 if low == 0 else 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) >= share else (low, middle)
        if high - low < 1e-3 * high:
            break
    return low if low > 0 else high


def _systematic(weights: Floats, n: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw n indices in proportion to the weights, evenly spread; copies of a member stand together."""
    heights = np.cumsum(weights)
    marks = (np.arange(n) + generator.random()) * (heights[-1] / n)
    places: NDArray[np.int64] = np.searchsorted(heights, marks, side="right")
    return np.minimum(places, len(weights) - 1)


def _renew(
    target: Target,
    b: float,
    members: tuple[Floats, Floats, Floats],
    pool: Floats,
    steps: int,
    scale: float,
    generator: np.random.Generator,
) -> tuple[Floats, Floats, Floats, float]:
    """Make chains of `steps` states from the members, with moves along differences of the pool."""
    z, likelihood, prior = (part.copy() for part in members)
    chains, dimension = z.shape
    states = np.empty((chains, steps, dimension))
    likelihoods, priors = np.empty((chains, steps)), np.empty((chains, steps))
    states[:, 0], likelihoods[:, 0], priors[:, 0] = z, likelihood, prior
    # Two picks may be copies of one member: a trace of noise keeps every move possible.
    jitter = 1e-3 * np.std(pool, axis=0)
    accepted = 0
    for t in range(1, steps):
        pairs = generator.integers(len(pool), size=(2, chains))
        length = np.where(generator.random(chains) < JUMPS, 1.0, scale)
        move = length[:, None] * (pool[pairs[0]] - pool[pairs[1]])
        proposal = z + move + jitter * generator.standard_normal((chains, dimension))
        new_likelihood, new_prior = target.log_parts(proposal)
        gain = b * new_likelihood + new_prior - (b * likelihood + prior)
        accept = gain > -generator.standard_exponential(chains)
        np.copyto(z, proposal, where=accept[:, None])
        np.copyto(likelihood, new_likelihood, where=accept)
        np.copyto(prior, new_prior, where=accept)
        accepted += int(np.count_nonzero(accept))
        states[:, t], likelihoods[:, t], priors[:, t] = z, likelihood, prior
    flat = states.reshape(-1, dimension), likelihoods.ravel(), priors.ravel()
    return *flat, accepted / (chains * (steps - 1))
