"""What is known of a simulator's posterior so far: every run that was made, and how the first of them are chosen.

Points of the prior are run, climbs from the highest of them find the top in few runs
(`percuss.inference.affine_climb`), and points are spread about it as a Gaussian there would. New ones are then drawn
from what was learnt of the density by walks.
"""

from __future__ import annotations

import numpy as np

from percuss.inference.affine_climb import affine_climb, spread_at
from percuss.inference.arrays import Floats
from percuss.inference.climbing import climb, curvature
from percuss.inference.learnt_density import STEPS_A_DIMENSION, Density, spread_of, trend_terms, walk
from percuss.inference.likelihood import Likelihood
from percuss.inference.target import Target

# Climbs that start from the highest points of the prior.
CLIMBS = 8
# The first points about the top are spread wider than the Gaussian that fits it.
WIDER = 1.3
# Where the bulk of a Gaussian lies below its top: so far, and its dimension.
BULK = 5.0


def few(target: Target) -> int:
    """Points of the prior, and points about the top, to begin with: so that a quadratic trend can be fitted, to the
    outputs over the parameters of the model or to the density over all unknowns.
    """
    likelihood = outputs_alone(target)
    return 3 * trend_terms(len(likelihood.parameters)) // 2 if likelihood else 3 * trend_terms(target.dimension)


def outputs_alone(target: Target) -> Likelihood | None:
    """The likelihood, where its entries are outputs of forward models without an error of their own: a simulator's."""
    likelihood = target.log_likelihood
    if not isinstance(likelihood, Likelihood) or likelihood.specimens or likelihood.errors:
        return None
    return None if any(group.reading for group in likelihood.groups) else likelihood


class Known:
    """All points that were evaluated, in order, and how many more may be: what is new in the parameters of the model
    counts, since unknowns of the discrepancy need no run.
    """

    def __init__(self, target: Target, allowed: int) -> None:
        self.target, self.allowed = target, allowed
        likelihood = outputs_alone(target)
        self.columns = len(likelihood.parameters) if likelihood else target.dimension
        self.z: Floats = np.empty((0, target.dimension))
        self.f: Floats = np.empty(0)
        self._run: set[bytes] = set()

    @property
    def used(self) -> int:
        """Runs that were made."""
        return len(self._run)

    @property
    def left(self) -> int:
        """Runs that may still be made."""
        return self.allowed - self.used

    def evaluate(self, z: Floats) -> Floats:
        """Log density at unbounded points (n, d): runs of those that are new."""
        if not len(z):
            return np.empty(0)
        f = self.target.log_density(z)
        self.z, self.f = np.concatenate([self.z, z]), np.concatenate([self.f, f])
        self._run |= {row.tobytes() for row in np.ascontiguousarray(z[:, : self.columns])}
        return f


def find(target: Target, known: Known, generator: np.random.Generator) -> None:
    """Climb from the highest points, and spread points about the top as a Gaussian there would."""
    order = np.argsort(-known.f, kind="stable")
    starts = order[np.isfinite(known.f[order])][:CLIMBS]
    if outputs_alone(target):
        best = affine_climb(target, known, known.z[starts], known.f[starts])[0]
        at, factor = best.z, spread_at(target, best)
    else:
        climbed = climb(known.evaluate, known.z[starts[:1]], known.f[starts[:1]])
        at, factor = climbed.ends[0], curvature(known.evaluate, climbed.ends[0], climbed.spread[0])[0]
    count = max(min(few(target), known.left), 0)
    known.evaluate(at + WIDER * np.einsum("ij,nj->ni", factor, generator.standard_normal((count, target.dimension))))


def drawn(
    learnt: Density, z: Floats, f: Floats, count: int, generator: np.random.Generator, heat: float = 1.0
) -> Floats:
    """So many draws of what was learnt, from the highest of points (n, d) on, of log density (n,)."""
    d = z.shape[1]
    order = np.argsort(-f, kind="stable")
    # Walks from farther down would have far to come.
    high = order[: max(int(np.count_nonzero(f > f[order[0]] - BULK - d)), 2 * d)]
    at = z[high[np.arange(count) % len(high)]]
    factor = spread_of(z[high])
    steps = STEPS_A_DIMENSION * d
    for _ in range(3):
        at, taken = walk(learnt, at, factor, steps, generator, heat)
        # Chains that hardly moved had too wide a step: shorter by what was missing. Else the spread of the chains.
        factor = factor * max(taken / 0.23, 0.1) if taken < 0.1 or count < 2 * d else spread_of(at)
    return at
