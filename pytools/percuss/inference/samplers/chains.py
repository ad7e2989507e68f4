"""Chains side by side: their state, blocks of draws, and drawing until they agree or the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.samplers.sample import Run, judge
from percuss.inference.samplers.stopping import Progress, Report, Stopping
from percuss.inference.target import Target


class State(NamedTuple):
    """Where the chains are: unbounded positions (chains, d) and log density (chains,)."""

    positions: Floats
    log_density: Floats


class Block(NamedTuple):
    """Draws of all chains, (chains, draws, d) and (chains, draws), the state after them, the share of proposals each
    chain accepted, and the evaluations of the log density made.
    """

    positions: Floats
    log_density: Floats
    state: State
    acceptance: Floats
    evaluations: int


# (target, state, factor, draws, thin, generator) -> block
Advance = Callable[[Target, State, Floats, int, int, np.random.Generator], Block]


def growing(first: int) -> Iterator[int]:
    """Yield numbers of draws at which to look: half as many again each time, so that looking costs a fixed share."""
    n = first
    while True:
        yield n
        n += (n + 1) // 2


def draw_until_converged(
    target: Target,
    draw: Callable[[State, int], Block],
    state: State,
    first: int,
    used: int,
    stopping: Stopping,
    report: Report,
) -> Run:
    """Draw `first` times and on, until converged or, by what a draw has cost so far, out of budget."""
    blocks: list[Block] = []
    drawn, cost = 0, 0.0
    draws = first
    while True:
        # The cost of a draw is known after the first block, which is made in any case.
        more = draws if not drawn else min(draws - drawn, int((stopping.evaluations - used) / cost))
        if more < 1:
            break
        blocks.append(draw(state, more))
        state = blocks[-1].state
        drawn += more
        used += blocks[-1].evaluations
        cost = sum(block.evaluations for block in blocks) / drawn
        z = np.concatenate([block.positions for block in blocks], axis=1)
        log_density = np.concatenate([block.log_density for block in blocks], axis=1)
        # A chain that came late spoils the first draws, not the last.
        short = np.inf
        looks = []
        for kept in (slice(None), slice(drawn // 2, None)):
            diagnostics = judge(target, z[:, kept], log_density[:, kept])
            looks.append(diagnostics)
            if not stopping.reasons(diagnostics):
                return Run(z[:, kept], log_density[:, kept], _acceptance(blocks), used, diagnostics=diagnostics)
            short = min(short, stopping.shortfall(diagnostics) * log_density[:, kept].shape[1])
        # A tenth more than it takes if the chains mix as they seem to.
        draws = int(np.clip(1.1 * short, 1.2 * drawn + 1, 4.0 * drawn))
        expected = min(used + int((draws - drawn) * cost), stopping.evaluations)
        report(Progress("draws", used, looks[0].worst_r_hat, looks[0].least_ess, expected))
    return Run(z, log_density, _acceptance(blocks), used)


def _acceptance(blocks: list[Block]) -> Floats:
    draws = [block.log_density.shape[1] for block in blocks]
    return np.average([block.acceptance for block in blocks], axis=0, weights=draws)
