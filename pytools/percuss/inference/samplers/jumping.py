"""Metropolis between several known modes: steps inside each, and jumps from any to any.

A draw is a cycle of moves, each of which leaves the posterior as it is: random-walk steps with the covariance of every
mode in turn, so that narrow and wide ones are both explored, and one independent proposal from the mixture that was
fitted to the modes, accepted by the ratio of posterior to mixture (Tierney, 1994). Nothing adapts while draws are
made. Chains start at weighted draws from the mixture, in each mode as many as its mass asks for.
"""

from __future__ import annotations

import numpy as np

from percuss.inference.mixture import Mixture, Weighed
from percuss.inference.samplers.sample import Advance, Block, Report, Run, State, Stopping, draw_until_converged
from percuss.inference.target import Target

# Draws that are made and left out: weighted draws are near the posterior, not of it.
LEFT_OUT = 20


def jump(
    target: Target,
    step: Advance,
    weighed: Weighed,
    chains: int,
    thin: int,
    stopping: Stopping,
    generator: np.random.Generator,
    report: Report,
) -> Run:
    """Draw until converged or out of budget; `thin` random-walk steps go to each draw, one for each mode at least."""
    mixture = weighed.mixture
    each = max(thin // len(mixture), 1)
    scale = 2.38 / np.sqrt(target.dimension)

    def draw(state: State, draws: int) -> Block:
        shape = (chains, draws)
        kept, log_density = np.empty((*shape, target.dimension)), np.empty(shape)
        accepted = np.zeros(chains)
        used = 0
        for i in range(draws):
            for factor in mixture.factors:
                block = step(target, state, scale * factor, 1, each, generator)
                state = block.state
                accepted += each * block.acceptance
                used += block.evaluations
            state, jumped = independent(target, mixture, state, generator)
            accepted += jumped
            used += chains
            kept[:, i], log_density[:, i] = state.positions, state.log_density
        return Block(kept, log_density, state, accepted / (draws * (each * len(mixture) + 1)), used)

    a_draw = chains * (each * len(mixture) + 1)
    first = State(*weighed.start(chains, generator))
    most = (stopping.evaluations - chains) // a_draw
    begun = draw(first, min(LEFT_OUT, max(most // 4, 1)))
    used = chains + begun.evaluations
    next_draws = max(min(100, (stopping.evaluations - used) // a_draw), 1)
    return draw_until_converged(target, draw, begun.state, next_draws, used, stopping, report)


def independent(
    target: Target, mixture: Mixture, state: State, generator: np.random.Generator
) -> tuple[State, np.ndarray]:
    """Propose to all chains a draw from the mixture; tell which took it."""
    z, p = state.positions.copy(), state.log_density.copy()
    proposal = mixture.draw(len(z), generator)
    q = target.log_density(proposal)
    gain = (q - p) - (mixture.log_density(proposal) - mixture.log_density(z))
    accept = gain > -generator.standard_exponential(len(z))
    np.copyto(z, proposal, where=accept[:, None])
    np.copyto(p, q, where=accept)
    return State(z, p), accept
