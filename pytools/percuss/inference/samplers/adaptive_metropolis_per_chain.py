"""Adaptive Metropolis as first published (Haario, Saksman, Tamminen, 2001), each chain by itself.

The variant of Gupta et al. (2023, Appendix C): 100 chains of 1000 steps, the covariance adapted from step 100 on. From
then on each chain proposes with 2.38^2 / d times the covariance of its own whole history, and keeps adapting to the
end. The second half of the steps counts. Kept for comparison: in 1000 steps it converges on hardly any target.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.modes import Modes, begin
from percuss.inference.samplers.sample import Progress, Report, Run, Stopping
from percuss.inference.target import Target
from percuss.settings import Setting, table_of

SETTINGS = table_of(
    Setting("chains", "integer", 100, low=2, high=100_000, doc="chains, started at draws from the prior"),
    Setting("steps", "integer", 1000, low=20, high=100_000_000, doc="steps of each chain; the second half counts"),
    Setting("start", "integer", 100, low=2, high=100_000_000, doc="step from which the covariance is adapted"),
)


def run(
    target: Target, settings: Mapping[str, float], stopping: Stopping, seed: int, report: Report, modes: Modes | None
) -> Run:
    """Run all chains side by side for the steps asked for, as far as the budget goes."""
    chains, start = int(settings["chains"]), int(settings["start"])
    stopping.require(9 * chains)
    steps = min(int(settings["steps"]), stopping.evaluations // chains - 1)
    dimension = target.dimension
    generator = np.random.default_rng(seed)
    z, p = begin(target, modes, chains, generator)
    draws, log_density = np.empty((steps, chains, dimension)), np.empty((steps, chains))
    accepted = np.zeros(chains, np.int64)
    scale = 2.38 / np.sqrt(dimension)
    spread = np.var(z, axis=0)
    # Until chains have a history of their own they step by a tenth of the prior's width.
    factor = np.broadcast_to(np.diag(0.1 * np.sqrt(spread)), (chains, dimension, dimension))
    history = History(z)
    for t in range(steps):
        if t >= start:
            # The small part keeps the covariance regular while a chain has not moved in every direction.
            covariance = history.covariance() + 1e-6 * np.diag(spread)
            factor = scale * np.linalg.cholesky(covariance)
        proposal = z + np.einsum("cij,cj->ci", factor, generator.standard_normal((chains, dimension)))
        q = target.log_density(proposal)
        accept = q - p > -generator.standard_exponential(chains)
        np.copyto(z, proposal, where=accept[:, None])
        np.copyto(p, q, where=accept)
        history.add(z)
        draws[t], log_density[t] = z, p
        if t >= steps - steps // 2:
            accepted += accept
        if t % 100 == 99:
            report(Progress("draws", chains * (t + 2), expected=chains * (steps + 1)))
    half = steps // 2
    kept, kept_density = draws[-half:].swapaxes(0, 1), log_density[-half:].swapaxes(0, 1)
    return Run(kept, kept_density, accepted / half, chains * (steps + 1))


class History:
    """Running mean and scatter of each chain (Welford)."""

    def __init__(self, z: Floats) -> None:
        self.count = 1
        self.mean = z.copy()
        self.scatter = np.zeros((*z.shape, z.shape[1]))

    def add(self, z: Floats) -> None:
        """Take one more state of each chain in."""
        self.count += 1
        away = z - self.mean
        self.mean += away / self.count
        self.scatter += np.einsum("ci,cj->cij", away, z - self.mean)

    def covariance(self) -> Floats:
        """Covariance of each chain, (chains, d, d)."""
        # Symmetric to the last bit: the two factors of an update are parallel but not equal.
        return (self.scatter + self.scatter.swapaxes(1, 2)) / (2 * (self.count - 1))
