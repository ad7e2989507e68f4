"""A limit function of independent standard normal variables u: failure is where it is zero or below.

A limit may be a system: `evaluate` then gives one column for each of its elements, and `combine` says how these fail
together (the least of a series, the largest of a parallel system). Whoever evaluates counts: `runs` is the cost of an
estimate. A run without a result is `failed` and is taken for a failure of the structure, which is on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import AnswerIsNo
from percuss.reliability.noise import Noise

Array = NDArray[Any]


def only_column(columns: Array) -> Array:
    """The one element of what is no system."""
    return columns[:, 0]


@dataclass
class Limit:
    """`evaluate` maps points (n, d) to elements (n, m), `combine` those to the limit function (n,).

    `parallel`: some elements must fail together, so that an element by itself is no way to fail. Where a run is random
    beyond u, `evaluate` draws that again in every call; `on_noise` evaluates points on `noise` that is given, of
    `noise_variables`, None where it cannot be given.
    """

    dimension: int
    evaluate: Callable[[Array], Array]
    combine: Callable[[Array], Array] = only_column
    parallel: bool = False
    on_noise: Callable[[Array, Noise], Array] | None = None
    noise_variables: int = 0
    runs: int = 0
    failed: int = 0

    @classmethod
    def of(cls, dimension: int, function: Callable[[Array], Array]) -> Limit:
        """A limit of one function (n, d) -> (n,)."""
        return cls(dimension, lambda u: np.asarray(function(u), float)[:, None])

    def fresh_noise(self, n: int, random: np.random.Generator) -> Noise | None:
        """Noise of n independent runs; None where it cannot be given."""
        return Noise.fresh(n, random) if self.on_noise else None

    def elements(self, u: Array, noise: Noise | None = None) -> Array:
        """Every element (n, m); minus infinity where a run failed."""
        points = np.atleast_2d(np.asarray(u, float))
        margins = self.on_noise(points, noise) if self.on_noise and noise else self.evaluate(points)
        columns = np.asarray(margins, float)
        lost = np.isnan(columns).any(axis=1)
        self.runs += len(points)
        self.failed += int(lost.sum())
        if lost.any():
            columns = np.where(lost[:, None], -np.inf, columns)
        return columns

    def __call__(self, u: Array, noise: Noise | None = None) -> Array:
        """The limit function (n,)."""
        return np.asarray(self.combine(self.elements(u, noise)), float)

    def finite(self, u: Array) -> Array:
        """The elements (n, m), for methods that need numbers and not only verdicts."""
        columns = self.elements(u)
        if not np.isfinite(columns).all():
            raise AnswerIsNo(
                "a run failed where the method needs its value", hint="--method monte-carlo counts it as a failure"
            )
        return columns
