"""Adaptive Metropolis with one covariance for all chains, frozen before the draws that count.

Random-walk Metropolis with Gaussian proposals of covariance s^2 C. During burn-in C is the covariance of the draws of
all chains together (Haario, Saksman, Tamminen, 2001, take it chain by chain, from whole histories, which learns
slowly and never ends) and s is steered to an acceptance of 0.234 (Roberts, Gelman, Gilks, 1997). Burn-in goes in
stages of doubling length, each with the covariance of the stage before, until the chains of a stage agree roughly. Then
both are frozen, and only from there on draws are kept: they come from a plain Markov chain.

Chains start at draws from the prior, independent of each other, so that R-hat can see a chain that is caught
elsewhere. Where several modes are known (`percuss.inference.modes`) they start there and jump between them instead
(`percuss.inference.samplers.jumping`). Chains caught where there is no mass to speak
of (a bump in the flank of the posterior, a corner of the box) go on from the others instead (Hou et al., 2012, prune
them by their density alone, which would empty a mode that is low and wide).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import diagnose
from percuss.inference.modes import Modes
from percuss.inference.samplers.jumping import jump
from percuss.inference.samplers.sample import (
    CHAINS,
    Advance,
    Block,
    Progress,
    Report,
    Run,
    State,
    Stopping,
    draw_until_converged,
)
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

SETTINGS = table_of(
    CHAINS,
    Setting(
        "thin", "integer", 0, low=0, high=100_000, doc="keep every so many steps; 0: as many as there are parameters"
    ),
)

ACCEPTANCE = 0.234
FIRST_STAGE = 100
BATCH = 20
# Draws that a small budget must leave room for after burn-in.
FEWEST_DRAWS = 8
# Chains of a stage agree when R-hat is below this: rough, since the stage is short and still adapts.
AGREED = 1.1
# Share of the posterior that a chain may be lost for.
NEGLIGIBLE = 1e-5


def advance(
    target: Target, state: State, factor: Floats, draws: int, thin: int, generator: np.random.Generator
) -> Block:
    """Advance all chains draws * thin steps with proposals N(0, factor factor^T), and keep every thin-th state.

    One call of the log density a step. A compiled replacement (`Target.advance`) may take its own random numbers, keyed
    by an integer drawn from `generator`.
    """
    z, p = state.positions.copy(), state.log_density.copy()
    chains, dimension = z.shape
    kept, log_density = np.empty((chains, draws, dimension)), np.empty((chains, draws))
    accepted = np.zeros(chains, np.int64)
    for i in range(draws):
        # einsum, not matmul: the bits do not depend on the threads of a BLAS.
        moves = np.einsum("ij,tcj->tci", factor, generator.standard_normal((thin, chains, dimension)))
        hurdles = -generator.standard_exponential((thin, chains))  # logarithms of uniform numbers
        for move, hurdle in zip(moves, hurdles, strict=True):
            proposal = z + move
            q = target.log_density(proposal)
            accept = q - p > hurdle
            np.copyto(z, proposal, where=accept[:, None])
            np.copyto(p, q, where=accept)
            accepted += accept
        if target.move is not None:
            z = target.move(z, generator)
            p = target.log_density(z)
        kept[:, i], log_density[:, i] = z, p
    used = chains * draws * (thin if target.move is None else thin + 1)
    return Block(kept, log_density, State(z, p), accepted / (draws * thin), used)


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Burn in, freeze, and draw until converged or out of budget."""
    chains, thin = int(settings["chains"]), int(settings["thin"]) or target.dimension
    generator = np.random.default_rng(seed)
    step = target.advance or advance
    stopping.require(chains * (1 + 2 * BATCH + FEWEST_DRAWS * thin))
    if modes is not None and modes.several is not None:
        return jump(target, step, modes.several, chains, thin, stopping, generator, report)
    spare = stopping.evaluations // chains - 1 - FEWEST_DRAWS * thin
    stage = min(FIRST_STAGE, max(spare // (4 * BATCH), 1) * BATCH)
    state, factor, used = burn_in(target, step, chains, stage, stopping, generator, report)
    return draw_until_converged(
        target,
        lambda at, draws: step(target, at, factor, draws, thin, generator),
        state,
        min(max(400 // thin, 100), (stopping.evaluations - used) // (chains * thin)),
        used,
        stopping,
        report,
    )


def burn_in(
    target: Target,
    step: Advance,
    chains: int,
    stage: int,
    stopping: Stopping,
    generator: np.random.Generator,
    report: Report,
) -> tuple[State, Floats, int]:
    """Return the state after burn-in, the frozen factor of the proposals, and the evaluations made.

    The first is `stage` steps long. Stages go on until the chains of one agree, or half of the budget is spent; a last,
    short one only finds the scale that belongs to the last covariance.
    """
    state = State(*target.start(chains, generator))
    covariance = pooled_covariance(state.positions)
    used, length, last = chains, stage, False
    while True:
        factor = np.linalg.cholesky(covariance)
        log_scale = np.log(2.38 / np.sqrt(target.dimension))
        blocks = []
        for _ in range(length // BATCH):
            block = step(target, state, np.exp(log_scale) * factor, BATCH, 1, generator)
            state = block.state
            used += block.evaluations
            # Bounded, so that one batch changes the scale by no more than a factor e.
            log_scale += np.clip(4.0 * (float(np.mean(block.acceptance)) - ACCEPTANCE), -1.0, 1.0)
            blocks.append(block)
            report(Progress("burn-in", used))
        if last:
            return state, np.exp(log_scale) * factor, used
        half = len(blocks) // 2
        z = np.concatenate([block.positions for block in blocks[half:]], axis=1)
        log_density = np.concatenate([block.log_density for block in blocks[half:]], axis=1)
        # Neighbours tell little; every so many are enough to see whether chains agree.
        apart = slice(None, None, min(target.dimension, max(length // 20, 1)))
        agreed = diagnose(z[:, apart], log_density[:, apart], target.names).worst_r_hat < AGREED
        if not agreed and length > stage:
            lost = without_mass(z, log_density)
            z = z[~lost]
            state = refilled(state, lost, generator)
        covariance = pooled_covariance(z.reshape(-1, target.dimension))
        last = agreed or used + chains * 2 * length > stopping.evaluations // 2
        length = stage if last else 2 * length


def without_mass(z: Floats, log_density: Floats) -> NDArray[np.bool_]:
    """Tell which chains (chains, draws, d) are caught where the posterior has no mass worth mentioning.

    The mass of a region is exp(E log density + entropy) over it. A chain is caught when its region, were it as wide as
    all chains together, would still have less than NEGLIGIBLE times the mass about the best chain, of Gaussian shape
    by its own covariance. Both err on the side of the chain, so that a mode that counts is never emptied.
    """
    height = np.mean(log_density, axis=1)
    away = z - z.mean(axis=1, keepdims=True)
    own = np.linalg.slogdet(np.einsum("cni,cnj->cij", away, away) / z.shape[1])
    widest = np.linalg.slogdet(pooled_covariance(z.reshape(-1, z.shape[2])))[1]
    best = np.max(np.where(own[0] > 0, height + 0.5 * own[1], -np.inf))
    return np.asarray(height + 0.5 * widest < best + np.log(NEGLIGIBLE))


def refilled(state: State, lost: NDArray[np.bool_], generator: np.random.Generator) -> State:
    """Put chains that are lost where others are, drawn by lot."""
    chosen = np.arange(len(lost))
    chosen[lost] = generator.choice(np.flatnonzero(~lost), np.count_nonzero(lost))
    return State(state.positions[chosen], state.log_density[chosen])


def pooled_covariance(z: Floats) -> Floats:
    """Covariance of all rows, with a trace of its diagonal added: positive definite though no chain has moved."""
    away = z - z.mean(axis=0)
    covariance: Floats = np.einsum("ni,nj->ij", away, away) / len(z)
    return covariance + np.diag(1e-10 * np.diag(covariance) + 1e-300)
