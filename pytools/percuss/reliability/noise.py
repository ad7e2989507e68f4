"""What is random in runs beside their parameters, as something chains can walk through: white noise mixed from seeds.

A step of conditional sampling (Papaioannou, Betz, Zwirglmaier and Straub, 2015), in as many variables as there are,

    xi' = sqrt(1 - s^2) xi + s xi(seed)

puts one more seed into a mixture (`percuss.models.seeds`) and scales the weights of the others: what a chain has to
remember of thousands of variables is one seed and one weight for each move that was accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from percuss.models.seeds import Mixture
from percuss.reliability.estimate import Array

# Seeds are below this: any generator takes them, and any table holds them.
SEEDS_BELOW = 2**63


@dataclass(frozen=True, eq=False)
class Noise:
    """Seeds (n, k) and weights (n, k) of n samples; a weight of zero: the sample has not taken that seed."""

    seeds: Array
    weights: Array

    @classmethod
    def fresh(cls, n: int, random: np.random.Generator) -> Noise:
        """Independent ones."""
        return cls(random.integers(SEEDS_BELOW, size=(n, 1)), np.ones((n, 1)))

    def __getitem__(self, rows: Array) -> Noise:
        """Those of some samples; a seed that none of them has taken is forgotten."""
        seeds, weights = self.seeds[rows], self.weights[rows]
        taken = (weights != 0).any(axis=0)
        return Noise(seeds[:, taken], weights[:, taken])

    def stepped(self, s: float, random: np.random.Generator) -> Noise:
        """One step on from each."""
        n = len(self.seeds)
        kept = math.sqrt(1 - s * s) * self.weights
        return Noise(
            np.column_stack([self.seeds, random.integers(SEEDS_BELOW, size=n)]), np.column_stack([kept, np.full(n, s)])
        )

    def where(self, accepted: Array, before: Noise) -> Noise:
        """Those that were accepted, a step on from `before`, and the others as they were."""
        idle = np.column_stack([before.weights, np.zeros(len(accepted))])
        return Noise(self.seeds, np.where(accepted[:, None], self.weights, idle))

    def mixtures(self) -> list[Mixture]:
        """For each sample the seeds that it has taken."""
        return [
            Mixture(tuple(seeds[weights != 0].tolist()), tuple(weights[weights != 0].tolist()))
            for seeds, weights in zip(self.seeds, self.weights, strict=True)
        ]


def joined(parts: list[Noise]) -> Noise:
    """One after the other."""
    width = max(part.seeds.shape[1] for part in parts)

    def wide(array: Array) -> Array:
        return np.asarray(np.pad(array, ((0, 0), (0, width - array.shape[1]))))

    return Noise(
        np.concatenate([wide(part.seeds) for part in parts]), np.concatenate([wide(part.weights) for part in parts])
    )
