"""Metropolis with proposals that do not depend on where a chain is: from a mixture of Student-t's that was fitted.

The modes that the search found start the mixture, one component each. It is fitted in rounds by importance sampling:
draws of the mixture, weighted by posterior over mixture, give weights, centres and scales of the next, each draw shared
out between the components by their densities there, so that the Kullback-Leibler divergence from the posterior falls
from round to round (Cappe, Douc, Guillin, Marin, Robert, 2008). Components are split once, for posteriors that are
skew. Then all is frozen. Proposals of all chains and draws are made and evaluated in one call, and accepted by the
ratio of the weights (Tierney, 1994): where the mixture fits, draws are nearly independent, and an evaluation is nearly
a draw.

Where it does not fit (a posterior that bends, many parameters) chains would stay for long at points of large weight.
So the weights of the last round must be worth ENOUGH of as many independent draws, with a tail of finite variance
(Pareto k, Vehtari et al., 2024), and the chains must converge within a few times the draws that independent ones would
take; else `adaptive-metropolis` samples instead, with what is left of the evaluations. Chains are judged as those of
every other sampler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.loo import smooth
from percuss.inference.mixture import DEGREES_OF_FREEDOM, Mixture
from percuss.inference.modes import Modes
from percuss.inference.samplers import adaptive_metropolis
from percuss.inference.samplers.sample import Block, Progress, Report, Run, State, Stopping, draw_until_converged
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

SETTINGS = table_of(
    Setting("chains", "integer", 100, low=4, high=100_000, doc="chains, started at weighted draws of the mixture"),
)

# Rounds of fitting, and draws of each: so many, and for each number of a component's scale.
ROUNDS, ROUND_DRAWS, DRAWS_A_NUMBER = 8, 1000, 20
# The round after which components are split, and into how many.
SPLIT_AFTER, PARTS = 2, 3
# Components begin wider than the Gaussians that fit the modes.
WIDER = 1.3
# What weights must be worth, of as many independent draws, so that chains move by them; and at which fitting ends.
ENOUGH, PLENTY = 0.4, 0.8
# Shape of the tail of the weights below which their variance is finite.
FINITE = 0.5
# How many times the draws that should be enough may be made before the chains are given up.
PATIENCE = 4
# No component has less weight than this part of an equal share.
LEAST = 0.02
# Draws left out at the start: weighted draws are near the posterior, not of it.
LEFT_OUT = 10
# Independent draws that a standard deviation asks for, in effective ones (`Stopping`), with some to spare.
SPARE = 3.8


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Fit, and draw until converged or out of budget; by `adaptive-metropolis` where the mixture does not fit."""
    chains = int(settings["chains"])
    generator = np.random.default_rng([seed, 7])
    rows = ROUND_DRAWS + DRAWS_A_NUMBER * target.dimension**2
    stopping.require(chains * (LEFT_OUT + 8))
    used = 0
    if modes is not None and len(modes) and ROUNDS * rows + chains * (LEFT_OUT + 8) <= stopping.evaluations // 2:
        mixture, z, log_weights, used = fitted(target, modes, rows, generator, report)
        share = effective_share(log_weights)
        if share >= ENOUGH and smooth(log_weights[np.isfinite(log_weights)])[1] < FINITE:
            drawn = _drawn(target, mixture, z, log_weights, chains, used, share, stopping, generator, report)
            # Nothing is left that random walks could do better with.
            spent = stopping.evaluations - drawn.evaluations < stopping.evaluations // 2
            if drawn.diagnostics or spent:
                return drawn
            used = drawn.evaluations
    rest = replace(stopping, evaluations=stopping.evaluations - used)
    walked = adaptive_metropolis.run(
        target, {"chains": chains, "thin": 0}, rest, seed, lambda progress: report(_after(progress, used)), modes
    )
    return replace(walked, evaluations=walked.evaluations + used)


def _after(progress: Progress, used: int) -> Progress:
    expected = None if progress.expected is None else progress.expected + used
    return replace(progress, evaluations=progress.evaluations + used, expected=expected)


def _drawn(
    target: Target,
    mixture: Mixture,
    z: Floats,
    log_weights: Floats,
    chains: int,
    used: int,
    share: float,
    stopping: Stopping,
    generator: np.random.Generator,
    report: Report,
) -> Run:
    weights = np.exp(log_weights - np.max(log_weights))
    marks = (np.arange(chains) + generator.random()) / chains
    picked = np.minimum(np.searchsorted(np.cumsum(weights) / np.sum(weights), marks), len(z) - 1)
    # Neighbours of the systematic choice are neighbours in no sense: the draws are in no order.
    state = State(z[picked], target.quick_log_density(z[picked]))
    begun = propose(target, mixture, state, LEFT_OUT, generator)
    used += chains + begun.evaluations
    first = int(np.ceil(SPARE * stopping.ess / share / chains))
    first = max(min(max(first, 50), (stopping.evaluations - used) // chains), 1)
    stopping = replace(stopping, evaluations=min(stopping.evaluations, used + PATIENCE * first * chains))
    return draw_until_converged(
        target,
        lambda at, draws: propose(target, mixture, at, draws, generator),
        begun.state,
        first,
        used,
        stopping,
        report,
    )


def propose(target: Target, mixture: Mixture, state: State, draws: int, generator: np.random.Generator) -> Block:
    """Advance all chains by `draws` proposals each."""
    chains = len(state.positions)
    proposals = mixture.draw(chains * draws, generator)
    log = target.quick_log_density(proposals)
    weights = (log - mixture.log_density(proposals)).reshape(draws, chains)
    hurdles = -generator.standard_exponential((draws, chains))
    held = state.log_density - mixture.log_density(state.positions)
    # Which proposal each chain holds after each draw; -1 where it still is at its start.
    holds = np.empty((draws, chains), np.int64)
    at = np.full(chains, -1)
    accepted = np.zeros(chains)
    numbers = np.arange(draws * chains).reshape(draws, chains)
    for i in range(draws):
        take = weights[i] - held > hurdles[i]
        held = np.where(take, weights[i], held)
        at = np.where(take, numbers[i], at)
        accepted += take
        holds[i] = at
    everything = np.concatenate([proposals, state.positions])
    logs = np.concatenate([log, state.log_density])
    rows = np.where(holds < 0, draws * chains + np.arange(chains), holds).T
    z, p = everything[rows], logs[rows]
    return Block(z, p, State(z[:, -1].copy(), p[:, -1].copy()), accepted / draws, chains * draws)


def fitted(
    target: Target, modes: Modes, rows: int, generator: np.random.Generator, report: Report
) -> tuple[Mixture, Floats, Floats, int]:
    """The mixture, draws of it (n, d), their log weights, and the evaluations made."""
    mixture = Mixture.equal(modes.at, WIDER * modes.factors)
    used = 0
    for number in range(ROUNDS):
        z = mixture.draw(rows, generator)
        log_weights = target.quick_log_density(z) - mixture.log_density(z)
        used += len(z)
        share = effective_share(log_weights)
        report(Progress(f"fitting a mixture, effective share {share:.2f}", used))
        if number == ROUNDS - 1 or share > PLENTY or not np.isfinite(np.max(log_weights)):
            break
        weights = np.exp(log_weights - np.max(log_weights))
        weights /= np.sum(weights)
        mixture = updated(mixture, z, weights)
        if number == SPLIT_AFTER:
            mixture = split(mixture, generator)
    return mixture, z, log_weights, used


def updated(mixture: Mixture, z: Floats, weights: Floats) -> Mixture:
    """One step of expectation and maximisation on weighted draws (Cappe et al., 2008, section 4: Student-t)."""
    d, nu = z.shape[1], DEGREES_OF_FREEDOM
    parts = mixture.log_parts(z)
    of_part = weights[:, None] * np.exp(parts - np.logaddexp.reduce(parts, axis=1)[:, None])
    shares = of_part.sum(axis=0)
    centres, factors = mixture.centres.copy(), mixture.factors.copy()
    for k in range(len(mixture)):
        own = of_part[:, k]
        # A component that hardly any draw belongs to stays as it was.
        if shares[k] <= 0 or shares[k] ** 2 < 2 * (d + 1) * float(np.sum(own * own)):
            continue
        w = np.einsum("ij,nj->ni", np.linalg.inv(factors[k]), z - centres[k])
        far = own * (nu + d) / (nu + np.einsum("ni,ni->n", w, w))
        centres[k] = np.einsum("n,ni->i", far, z) / np.sum(far)
        away = z - centres[k]
        scale = np.einsum("n,ni,nj->ij", far, away, away) / shares[k]
        factors[k] = np.linalg.cholesky(scale + np.diag(1e-10 * np.diag(scale) + 1e-300))
    floor = LEAST / len(mixture)
    new = np.maximum(shares, floor)
    return Mixture(new / np.sum(new), centres, factors)


def split(mixture: Mixture, generator: np.random.Generator) -> Mixture:
    """Every component in parts: about draws of its own, with its scale."""
    normal = generator.standard_normal((len(mixture), PARTS, mixture.centres.shape[1]))
    centres = mixture.centres[:, None] + 0.7 * np.einsum("kij,kpj->kpi", mixture.factors, normal)
    factors = np.repeat(0.9 * mixture.factors, PARTS, axis=0)
    return Mixture(np.repeat(mixture.weights / PARTS, PARTS), centres.reshape(-1, centres.shape[2]), factors)


def effective_share(log_weights: Floats) -> float:
    """Kish's effective number of weights, as a share."""
    top = float(np.max(log_weights))
    if not np.isfinite(top):
        return 0.0
    weights = np.exp(log_weights - top)
    return float(np.sum(weights) ** 2 / np.sum(weights**2) / len(weights))
