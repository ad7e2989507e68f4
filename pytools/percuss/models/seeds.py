"""What a run draws its random numbers from: one seed, or a mixture of several.

Standard normal variables of seeds s_1 .. s_k with weights w_1 .. w_k, the squares of which sum to one, are

    xi = sum_i w_i xi(s_i)

and standard normal themselves: the white noise of a run that lies near to that of another shares most of its mixture
with it. Thousands of variables are told by a few numbers, and a run can be repeated from these alone. A model that
takes mixtures is `Mixing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import ndarray


@dataclass(frozen=True)
class Mixture:
    """Seeds with their weights, in the order in which their variables are summed."""

    seeds: tuple[int, ...]
    weights: tuple[float, ...]

    def normals(self, drawn: Callable[[int], ndarray]) -> ndarray:
        """The mixture of what is drawn from each seed."""
        total = self.weights[0] * drawn(self.seeds[0])
        for seed, weight in zip(self.seeds[1:], self.weights[1:], strict=True):
            total += weight * drawn(seed)
        return total


Seed = int | Mixture
