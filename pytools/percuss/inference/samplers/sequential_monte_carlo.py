"""Sequential Monte Carlo by tempering: a population goes from the prior to the posterior, and weighs the evidence.

Densities prior likelihood^b with b from 0 to 1; each b is the largest that leaves the importance weights
likelihood^(b' - b) a given effective share (conditional ESS; Zhou, Johansen, Aston, 2016). A small pilot finds this
ladder, and with it what tempering costs: a budget that is too small is refused there. Repeats then all climb the same
ladder, so that their evidences, products of the mean weights, have no bias from rungs chosen by the weights themselves
(Beskos et al., 2016). Between two b the population is renewed the waste-free way (Dau, Chopin, 2022): few members are
drawn by weight, each makes a chain of many steps, and all states of all chains are the next population.

Steps are differential-evolution moves (ter Braak, 2006): along the difference of two members of the population. They
need no covariance, follow bent shapes, and where there are several modes lead from one to another.

Independent repeats stand side by side as chains: R-hat compares them, their scatter is the error of the evidence. How
many more it takes is decided once, from the scatter of the first few, which also stays the measure of the error
(Stein, 1945): stopping when the scatter happens to be small would make it look smaller than it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.modes import Modes
from percuss.inference.samplers.sample import Progress, Report, Run, Stopping, judge
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

SETTINGS = table_of(
    Setting("chains", "integer", 100, low=10, high=1_000_000, doc="members drawn by weight at each temperature"),
    Setting(
        "steps",
        "integer",
        50,
        low=4,
        high=1_000_000,
        doc="steps each of them makes; doubled, from the start, while repeats disagree",
    ),
    Setting("repeats", "integer", 8, low=4, high=1000, doc="independent repeats; more where the evidence needs them"),
    Setting("evidence_error", "bare", 0.03, low=0.0, high=1e9, doc="standard error of the log evidence to reach"),
    Setting(
        "share", "bare", 0.8, low=0.1, high=0.99, doc="effective share of the weights from one temperature to the next"
    ),
)

ACCEPTANCE = 0.25
# One move in ten goes the whole difference: from mode to mode.
JUMPS = 0.1
# The pilot has this part of the chains, no fewer than FEWEST, and no more than make MOST_MEMBERS; its ladder has
# MOST_RUNGS at most.
PILOT = 0.25
FEWEST = 10
MOST_MEMBERS = 2000
MOST_RUNGS = 10_000


class Rung(NamedTuple):
    """One temperature: b, and the length of moves in parts of a difference that was found to be good there."""

    tempering: float
    scale: float


class Population(NamedTuple):
    """Members (chains, steps, d), log-likelihood and log prior of each; log evidence, acceptance at the last rung."""

    z: Floats
    likelihood: Floats
    prior: Floats
    log_evidence: float
    acceptance: float


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Find the ladder, and repeat until the evidence is known well enough; again with twice the steps while repeats
    disagree. Populations start from the prior, whatever modes are known.
    """
    chains, steps, repeats = (int(settings[name]) for name in ("chains", "steps", "repeats"))
    stopping.require(2 * repeats * chains * steps)
    ladder, used = pilot(target, chains, steps, repeats, settings["share"], stopping, seed)
    report(Progress("pilot", used))
    while True:
        cost = costs(chains, steps, len(ladder))
        populations: list[Population] = []
        needed = repeats
        while len(populations) < needed:
            # Keyed by steps and number, so that a repeat does not depend on how many were asked for.
            generator = np.random.default_rng((seed, steps, len(populations)))
            populations.append(temper(target, chains, steps, ladder, generator))
            used += cost
            expected = used + cost * (needed - len(populations))
            if len(populations) == repeats:
                affordable = repeats + (stopping.evaluations - used) // cost
                needed = min(max(_needed(populations, settings["evidence_error"]), repeats), affordable)
            report(Progress(f"repeat {len(populations)} of {needed}", used, expected=expected))
        result = _combine(populations, repeats, used, settings["evidence_error"])
        diagnostics = judge(target, result.unbounded, result.log_density)
        report(Progress(f"repeat {len(populations)} of {needed}", used, diagnostics.worst_r_hat, diagnostics.least_ess))
        steps *= 2
        if (
            not stopping.reasons(diagnostics)
            or used + repeats * costs(chains, steps, len(ladder)) > stopping.evaluations
        ):
            return result


def costs(chains: int, steps: int, rungs: int) -> int:
    """Evaluations of one repeat: the prior, and all but the first state of every chain at each rung."""
    return chains * (steps + rungs * (steps - 1))


def pilot(
    target: Target, chains: int, steps: int, repeats: int, share: float, stopping: Stopping, seed: int
) -> tuple[list[Rung], int]:
    """Find the ladder with a small population; raise InputError as soon as it shows that the budget is too small."""
    few = max(FEWEST, min(int(PILOT * chains), MOST_MEMBERS // steps))
    generator = np.random.default_rng((seed, 0))
    size = few * steps
    z = target.draw_prior(size, generator)
    likelihood, prior = target.log_parts(z)
    if not np.isfinite(likelihood).any():
        raise InputError(
            f"the likelihood is zero or undefined at all of {size} points drawn from the prior",
            hint="check that the forward model answers inside the priors, and that variances are above zero",
        )
    log_scale = np.log(2.38 / np.sqrt(2 * target.dimension))
    ladder: list[Rung] = []
    b, before = 0.0, 0.0
    while b < 1:
        rise = _rise(likelihood, 1.0 - b, share)
        before, b = b, (1.0 if rise == 1.0 - b else b + rise)
        ladder.append(Rung(b, float(np.exp(log_scale))))
        # From here on b grows by a factor that hardly changes: as many rungs are to come, at least.
        left = int(math.log(1 / b) / math.log(b / before)) if b > before > 0 else 0
        total = costs(few, steps, len(ladder)) + repeats * costs(chains, steps, len(ladder) + left)
        if total > stopping.evaluations or len(ladder) + left > MOST_RUNGS:
            raise InputError(
                f"evaluations = {stopping.evaluations} must be at least {total} for tempering to reach the posterior: "
                f"about {len(ladder) + left} temperatures, {repeats} repeats of {chains} chains of {steps} steps",
                hint="fewer chains or steps, or a smaller share, need fewer: --setting chains=20",
            )
        weights = np.exp(rise * (likelihood - np.max(likelihood)))
        pool, kept = z[_systematic(weights, size, generator)], _systematic(weights, few, generator)
        z, likelihood, prior, acceptance = _renew(
            target, b, (z[kept], likelihood[kept], prior[kept]), pool, steps, ladder[-1].scale, generator
        )
        log_scale += np.clip(2.0 * (acceptance - ACCEPTANCE), -0.5, 0.5)
    return ladder, costs(few, steps, len(ladder))


def temper(target: Target, chains: int, steps: int, ladder: list[Rung], generator: np.random.Generator) -> Population:
    """Take a population up the ladder, from the prior to the posterior."""
    size = chains * steps
    z = target.draw_prior(size, generator)
    likelihood, prior = target.log_parts(z)
    b, log_evidence, acceptance = 0.0, 0.0, 0.0
    for rung in ladder:
        rise = rung.tempering - b
        b = rung.tempering
        weights = np.exp(rise * (likelihood - np.max(likelihood)))
        log_evidence += rise * float(np.max(likelihood)) + float(np.log(np.mean(weights)))
        pool = z[_systematic(weights, size, generator)]
        kept = _systematic(weights, chains, generator)
        z, likelihood, prior, acceptance = _renew(
            target, b, (z[kept], likelihood[kept], prior[kept]), pool, steps, rung.scale, generator
        )
    shape = (chains, steps)
    return Population(
        z.reshape(*shape, target.dimension), likelihood.reshape(shape), prior.reshape(shape), log_evidence, acceptance
    )


def _scatter(populations: list[Population]) -> float:
    """Standard deviation of the log evidences of repeats, enlarged to that of Student's t: few repeats say little."""
    n = len(populations)
    return float(np.std([population.log_evidence for population in populations], ddof=1)) * math.sqrt((n - 1) / (n - 3))


def _needed(populations: list[Population], error: float) -> int:
    """How many repeats make the error of the mean as small as wanted."""
    return math.ceil(min((_scatter(populations) / error) ** 2, 1e9)) if error > 0 else 10**9


def _combine(populations: list[Population], first: int, used: int, evidence_error: float) -> Run:
    """Lay repeats side by side as chains, and average their evidences."""
    dimension = populations[0].z.shape[2]
    logs = np.array([population.log_evidence for population in populations])
    top = float(np.max(logs))
    error = _scatter(populations[:first]) / math.sqrt(len(populations))
    return Run(
        np.stack([population.z.reshape(-1, dimension) for population in populations]),
        np.stack([(population.likelihood + population.prior).ravel() for population in populations]),
        np.array([population.acceptance for population in populations]),
        used,
        top + float(np.log(np.mean(np.exp(logs - top)))),
        error,
        ()
        if error <= evidence_error
        else (f"the log evidence is known to {error:.2g} only, not to {evidence_error:g}",),
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
