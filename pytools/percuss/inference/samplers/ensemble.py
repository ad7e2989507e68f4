"""Run an emcee ensemble (Foreman-Mackey et al., 2013) until its walkers agree.

Walkers are taken as chains for the diagnostics. The first half of a run is burn-in at every look, so that a slow start
is forgotten as the run grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from percuss.inference.modes import Modes, begin
from percuss.inference.samplers.sample import Progress, Report, Run, Stopping, growing, judge
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

SETTINGS = table_of(
    Setting(
        "walkers",
        "integer",
        64,
        low=8,
        high=100_000,
        doc="walkers, started where chains would be; more than twice the parameters",
    ),
    Setting(
        "thin", "integer", 0, low=0, high=100_000, doc="keep every so many steps; 0: as many as there are parameters"
    ),
)


def run_ensemble(
    target: Target,
    moves: Any,
    settings: Mapping[str, float],
    stopping: Stopping,
    seed: int,
    report: Report,
    modes: Modes | None,
) -> Run:
    """Draw with the given emcee moves until converged or out of budget."""
    import emcee

    dimension = target.dimension
    # emcee wants two walkers a dimension and an even number of them.
    walkers = max(int(settings["walkers"]), 2 * dimension + 2)
    walkers += walkers % 2
    thin = int(settings["thin"]) or dimension
    stopping.require(walkers * (1 + 8 * thin))
    generator = np.random.default_rng(seed)
    start, log_density = begin(target, modes, walkers, generator)
    sampler = emcee.EnsembleSampler(walkers, dimension, target.log_density, moves=moves, vectorize=True)
    legacy = np.random.RandomState(np.random.MT19937(int(generator.integers(2**63))))
    state = emcee.State(start, log_prob=log_density, random_state=legacy.get_state())

    used, drawn = walkers, 0
    for sweeps in growing(200):
        affordable = (stopping.evaluations - used) // (walkers * thin)
        if not affordable:
            break
        more = min(sweeps - drawn, affordable)
        state = sampler.run_mcmc(state, more, thin_by=thin, skip_initial_state_check=True)
        drawn += more
        used += more * thin * walkers
        kept = sampler.get_chain(discard=drawn - drawn // 2).swapaxes(0, 1)
        kept_density = sampler.get_log_prob(discard=drawn - drawn // 2).swapaxes(0, 1)
        diagnostics = judge(target, kept, kept_density)
        report(Progress("draws", used, diagnostics.worst_r_hat, diagnostics.least_ess))
        if not stopping.reasons(diagnostics):
            break
    return Run(kept, kept_density, sampler.acceptance_fraction, used)
