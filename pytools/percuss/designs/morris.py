"""Trajectories for screening by elementary effects (Morris, 1991): n trajectories of d + 1 points.

Each parameter has four levels in the middle of the quarters of its probability, so that unbounded priors have finite
ones; in each trajectory every parameter moves once by half of the probability, in random order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.designs.design import Points, Request
from percuss.designs.registry import check_size, count, no_skip
from percuss.settings import Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTIONS: dict[str, Setting] = {}
LEVELS = 4


def points(request: Request) -> Points:
    """Return the trajectories one after the other."""
    no_skip(request, "morris")
    n, d = count(request, "morris"), len(request.parameters)
    check_size([n, d + 1], d)
    return Points(trajectories(n, d, request.seed))


def trajectories(count: int, dimensions: int, seed: int) -> NDArray[Any]:
    """Return (count (d + 1), d) points of the unit cube."""
    import numpy as np

    rng = np.random.default_rng([seed, 29])
    half = LEVELS // 2
    unit_points = np.empty((count, dimensions + 1, dimensions))
    for t in range(count):
        at = rng.integers(0, LEVELS, dimensions)
        unit_points[t, 0] = at
        for step, k in enumerate(rng.permutation(dimensions), start=1):
            at[k] = at[k] + half if at[k] < half else at[k] - half
            unit_points[t, step] = at
    return (unit_points.reshape(-1, dimensions) + 0.5) / LEVELS
