"""Hamiltonian Monte Carlo on many chains in step, for posteriors whose gradient the core has.

A draw is a trajectory of leapfrog steps (Duane et al., 1987; Neal, 2011) in coordinates in which the posterior has
about the unit covariance. All chains take as many steps, from 1 to 2 n - 1 about the mean n, so that they go side by
side in the core (Hoffman, Radul and Sountsov, 2021). Everything that adapts does so in burn-in and is frozen before the
draws that count: the covariance, of all chains together; the length of a step, steered to an acceptance of 0.8
(Betancourt, Byrne, Girolami, 2014); and n, the one that makes most of its gradients (`choose_length`).

Chains start at draws from the prior and are judged as those of `adaptive-metropolis` are; where several modes are known
they jump between them by the same random walk, without gradients. An evaluation of the budget is one gradient.
Trajectories that diverge (Betancourt, 2017) tell of corners that steps of this length do not enter: draws with more
than one in a thousand are not converged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import diagnose
from percuss.inference.modes import Modes
from percuss.inference.samplers.adaptive_metropolis import AGREED, pooled_covariance, refilled, without_mass
from percuss.inference.samplers.jumping import jump
from percuss.inference.samplers.sample import (
    CHAINS,
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
        "steps", "integer", 0, low=0, high=10_000, doc="mean number of leapfrog steps of a draw; 0: found in burn-in"
    ),
)

ACCEPTANCE = 0.8
# Trajectories between two changes of the step, of the first stage, and for trying a length.
BATCH, FIRST_STAGE, TRIED = 5, 20, 20
FIRST_STEPS, MOST_STEPS = 4, 256
FIRST_DRAWS, FEWEST_DRAWS = 40, 8
# Share of diverged trajectories from which draws are not believed.
DIVERGED = 1e-3


@dataclass
class Glider:
    """Trajectories of all chains, what they are made with, and what they have cost."""

    target: Target
    glide: Callable[..., tuple[Block, int]]
    chains: int
    generator: np.random.Generator
    factor: Floats
    log_step: float = 0.0
    used: int = 0
    divergent: int = 0
    travelled: int = 0

    def draw(self, state: State, steps: int, draws: int) -> Block:
        """Advance all chains by `draws` trajectories of `steps` steps in the mean."""
        block, divergent = self.glide(state, self.factor, np.exp(self.log_step), steps, draws, self.generator)
        self.used += block.evaluations
        self.divergent += divergent
        self.travelled += self.chains * draws
        return block

    def adapt(self, state: State, steps: int, draws: int) -> list[Block]:
        """The same, with the step steered after every few trajectories."""
        blocks: list[Block] = []
        for _ in range(max(draws // BATCH, 1)):
            blocks.append(self.draw(blocks[-1].state if blocks else state, steps, BATCH))
            # Bounded, so that one batch changes the step by no more than a factor e.
            self.log_step += float(np.clip(2.0 * (np.mean(blocks[-1].acceptance) - ACCEPTANCE), -1.0, 0.4))
        return blocks

    def cost(self, steps: int, draws: int) -> int:
        """Gradients that `adapt` takes at most."""
        batches = max(draws // BATCH, 1)
        return self.chains * batches * (1 + (BATCH + 1) * steps)


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Burn in, choose the length, freeze, and draw until converged or out of budget."""
    if target.glide is None or target.advance is None:
        raise InputError(
            "sampler hamiltonian-monte-carlo needs the gradient of the posterior, which the core has for polynomial "
            "chaos with independent Gaussian data and independent priors only",
            hint="adaptive-metropolis and sequential-monte-carlo take any posterior",
        )
    chains, steps = int(settings["chains"]), int(settings["steps"])
    generator = np.random.default_rng(seed)
    if modes is not None and modes.several is not None:
        thin = target.dimension
        stopping.require(chains * (1 + FEWEST_DRAWS * (thin + 1)))
        return jump(target, target.advance, modes.several, chains, thin, stopping, generator, report)
    glider = Glider(target, target.glide, chains, generator, np.eye(target.dimension), used=chains)
    least = FEWEST_DRAWS * (steps or FIRST_STEPS)
    stopping.require(chains + 4 * glider.cost(steps or FIRST_STEPS, FIRST_STAGE) + chains * least)
    state = burn_in(glider, steps or FIRST_STEPS, stopping, report)
    if not steps:
        state, steps = choose_length(glider, state, 3 * stopping.evaluations // 4)
    glider.divergent = glider.travelled = 0
    # Draws come in pairs of lengths that add up to twice the mean: a block may cost one trajectory more than its share.
    budget = replace(stopping, evaluations=stopping.evaluations - chains * (2 * steps + 2))
    first = max(min(FIRST_DRAWS, (budget.evaluations - glider.used) // (chains * (steps + 1))), 1)
    drawn = draw_until_converged(
        target, lambda at, draws: glider.draw(at, steps, draws), state, first, glider.used, budget, report
    )
    share = glider.divergent / glider.travelled
    sentence = (
        f"{glider.divergent} of {glider.travelled} trajectories diverged: "
        f"part of the posterior is too narrow for the steps"
    )
    return replace(drawn, reasons=(sentence,) if share > DIVERGED else ())


def burn_in(glider: Glider, steps: int, stopping: Stopping, report: Report) -> State:
    """Return the state after burn-in; step and factor are left in the glider.

    Stages of doubling length, each with the covariance of the one before, until the chains of a stage agree roughly or
    half of the budget is spent. Trajectories become longer from stage to stage, as a valley that is not straight asks.
    """
    target, generator = glider.target, glider.generator
    state = State(*target.start(glider.chains, generator))
    covariance = pooled_covariance(state.positions)
    draws, own, agreed, first = FIRST_STAGE, steps, False, True
    while True:
        glider.factor = np.asarray(np.linalg.cholesky(covariance), np.float64)
        glider.log_step = float(np.log(0.5 / target.dimension**0.25)) if first else glider.log_step
        blocks = glider.adapt(state, own, draws)
        state = blocks[-1].state
        report(Progress("burn-in", glider.used))
        if agreed:
            return state
        z = np.concatenate([block.positions for block in blocks[len(blocks) // 2 :]], axis=1)
        log_density = np.concatenate([block.log_density for block in blocks[len(blocks) // 2 :]], axis=1)
        agreed = diagnose(z, log_density, target.names).worst_r_hat < AGREED
        if not agreed and not first:
            lost = without_mass(z, log_density)
            z = z[~lost]
            state = refilled(state, lost, generator)
        covariance = pooled_covariance(z.reshape(-1, target.dimension))
        first = False
        if not agreed:
            draws, own = 2 * draws, min(2 * own, MOST_STEPS)
            if glider.used + glider.cost(own, draws) > stopping.evaluations // 2:
                # One short stage more, for the step that belongs to the last covariance.
                draws, own, agreed = FIRST_STAGE, steps, True
        else:
            draws, own = FIRST_STAGE, steps


def choose_length(glider: Glider, state: State, limit: int) -> tuple[State, int]:
    """The mean number of steps, a power of two, whose draws are worth most for the gradients they take.

    A mean acceptance says little of the tails, where a bent valley is narrow: steps are halved until no trajectory
    diverges, and all lengths tried again.
    """
    best, steps, worth = 1, 1, -1.0
    while steps <= MOST_STEPS and glider.used + glider.cost(steps, TRIED) <= limit:
        before = glider.divergent
        block = glider.draw(state, steps, TRIED)
        state = block.state
        if glider.divergent > before:
            glider.log_step -= float(np.log(2.0))
            best, steps, worth = FIRST_STEPS, 1, -1.0
            continue
        each = efficiency(block.positions)
        if each / (steps + 1) > worth:
            best, worth = steps, each / (steps + 1)
        # Draws worth half an independent one are at best doubled by twice the steps.
        elif each > 0.5 or steps > 4 * best:
            break
        steps *= 2
    return state, best


def efficiency(z: Floats) -> float:
    """What a draw (chains, draws, d) is worth, of an independent one: the least over parameters and their squares about
    the mean, as if correlations fell by the first from draw to draw.
    """
    away = z - z.mean(axis=(0, 1))
    moments = np.concatenate([away, away**2 - (away**2).mean(axis=(0, 1))], axis=2)
    variance = (moments**2).mean(axis=(0, 1))
    together = (moments[:, 1:] * moments[:, :-1]).mean(axis=(0, 1))
    first = np.clip(np.divide(together, variance, out=np.ones_like(variance), where=variance > 0), 0.0, 1.0)
    return float(((1 - first) / (1 + first)).min())
