"""How the benchmarks measure: the best of several repeats, both sides taken in turn, so that load falls on both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line of the table: what was compared, how it came out, what it is held against."""

    what: str
    figure: str
    ratio: float
    limit: float

    @property
    def holds(self) -> bool:
        """Whether the ratio is within the limit."""
        return self.ratio <= self.limit


def best(repeats: int, *tasks: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Least time of each task in seconds by a clock, over interleaved repeats."""
    times = [float("inf")] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            start = clock()
            task()
            times[i] = min(times[i], clock() - start)
    return times
