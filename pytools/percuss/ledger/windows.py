"""Runs of many batches in order, some at a time: a campaign may have millions, and memory must not grow with them.

A batch holds consecutive samples, so that cutting the samples where batches begin puts every batch into one window, or
into few. Batches that a stranger made otherwise are read for every window that they reach into.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

# How many runs are put in order at once.
RUNS_AT_ONCE = 32_768


@dataclass(frozen=True)
class Span:
    """What a batch reaches over: its lowest and highest sample, and how many it has."""

    low: int
    high: int
    count: int

    @classmethod
    def of(cls, samples: Sequence[int]) -> Span:
        """The span of some samples; of none, one that reaches over nothing."""
        return cls(min(samples), max(samples), len(samples)) if len(samples) else cls(0, -1, 0)


@dataclass(frozen=True)
class Window:
    """Samples from `low` up to, not including, `end`, and the numbers of the batches that have any of them."""

    low: int
    end: int
    batches: list[int] = field(default_factory=list)


def windows(spans: Sequence[Span], most: int | None = None) -> list[Window]:
    """Windows, in order, over batches with these spans, each of about as many runs as are put in order at once.

    >>> [(w.low, w.end, w.batches) for w in windows([Span(4, 7, 4), Span(0, 3, 4), Span(6, 9, 4)], 4)]
    [(0, 4, [1]), (4, 6, [0]), (6, 10, [0, 2])]
    """
    most = most or RUNS_AT_ONCE
    filled = sorted(((span.low, number) for number, span in enumerate(spans) if span.count))
    if not filled:
        return []
    cuts, held = [filled[0][0]], 0
    for low, number in filled:
        if held >= most and low > cuts[-1]:
            cuts.append(low)
            held = 0
        held += spans[number].count
    ends = [*cuts[1:], max(span.high for span in spans if span.count) + 1]
    listed = [Window(low, end) for low, end in zip(cuts, ends, strict=True)]
    for number, span in enumerate(spans):
        for window in listed[bisect_right(cuts, span.low) - 1 : bisect_right(cuts, span.high)] if span.count else ():
            window.batches.append(number)
    return listed
