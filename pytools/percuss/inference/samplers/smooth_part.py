"""Walks on the posterior of a simulator's smooth part, which was learnt from its runs: no further run is made.

Used where roughness counts as an error of the outputs (`percuss.inference.smooth_posterior`). Draws are the ends of
walks long enough to forget where they began, until they are good by the rule for every sampler.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from percuss.errors import InputError
from percuss.inference.learnt_density import STEPS_A_DIMENSION, spread_of, walk
from percuss.inference.modes import Modes
from percuss.inference.samplers.sample import Progress, Report, Run, Sample, Stopping, judge
from percuss.inference.smooth_posterior import Smooth
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

NAME = "smooth-part"
HINT = "percuss calibrate STUDY --direct --roughness"
SETTINGS = table_of(
    Setting("chains", "integer", 20, low=8, high=1000, doc="chains that walk on the smooth part"),
    Setting("start", "integer", 0, low=0, high=1_000_000, doc="points of the prior to begin with; 0: by the dimension"),
    Setting(
        "error",
        "bare",
        0.05,
        low=0,
        high=1,
        low_open=True,
        doc="part of a standard deviation of the posterior to which the smooth part is learnt",
    ),
)
# Draws of each chain between two looks, and at most.
LOOK, MOST_DRAWS = 20, 2000


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Refused: there is no smooth part before it is learnt."""
    raise InputError(f"sampler {NAME}: needs a simulator whose roughness counts as an error", hint=HINT)


def sample(
    smooth: Smooth, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report | None = None
) -> Sample:
    """Walk on what was learnt until the draws are good."""
    target, chains = smooth.target, int(settings["chains"])
    generator = np.random.default_rng([seed, 7])
    factor = spread_of(smooth.draws)
    z = smooth.draws[np.linspace(0, len(smooth.draws) - 1, chains).astype(np.int64)]
    draws, logs, shares = [], [], []
    while True:
        z, taken = walk(target, z, factor, STEPS_A_DIMENSION * target.dimension, generator)
        draws.append(z)
        logs.append(target.log_density(z))
        shares.append(taken)
        if len(draws) % LOOK == 0:
            kept, log = np.stack(draws, axis=1), np.stack(logs, axis=1)
            diagnostics = judge(target, kept, log)
            if report:
                report(Progress("walking", smooth.runs, diagnostics.worst_r_hat, diagnostics.least_ess))
            if not stopping.reasons(diagnostics) or len(draws) >= MOST_DRAWS:
                break
    acceptance = np.full(chains, float(np.mean(shares)))
    made = Run(kept, log, acceptance, smooth.runs, reasons=smooth.reasons, diagnostics=diagnostics)
    return Sample.of(target, made, NAME, seed, settings, stopping)
