"""How far rounding could lead a computation: as far as it goes from points nearby.

An environment that an event claims is only a claim. Inputs that are moved by far more than rounding moves anything, in
several directions, show what could have come out: what they agree on, `LEEWAY` times as well, rounding does not change.

Another build may do more: its contact solver may stop anywhere within the tolerance of the scene. `OPEN` times as far
as numbers move with a tolerance `TIGHTER` times as small is left open to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from percuss.inference.arrays import Floats
from percuss.models.model import Model, Refines, Value

# So many points, each input moved by this part of itself.
NEIGHBOURS, MOVED, LEEWAY = 6, 1e-10, 1000.0
TIGHTER, OPEN = 10.0, 3.0


def factors(count: int, seed: int) -> Iterator[Floats]:
    """What to multiply so many inputs by, for each point nearby."""
    chance = np.random.default_rng([seed, NEIGHBOURS])
    for _ in range(NEIGHBOURS):
        yield 1 + MOVED * chance.choice([-1.0, 1.0], count)


def points_nearby(point: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """Points nearby: numbers are moved, words stay."""
    numbers = [name for name, value in point.items() if isinstance(value, float)]
    for by in factors(len(numbers), 0):
        moved = dict(zip(numbers, by.tolist(), strict=True))
        yield {name: value * moved[name] if name in moved else value for name, value in point.items()}


def tighter(model: Model, point: Mapping[str, Value], by: float = TIGHTER) -> tuple[Model, dict[str, Value]] | None:
    """Model and point of the same run with a tighter tolerance; None where there is none to tighten."""
    if not isinstance(model, Refines) or model.numerics(point).tolerance is None:
        return None
    return model.refined(point, 1, by)


def left_open(now: Floats, tight: Floats) -> Floats:
    """What a tolerance leaves open, of numbers now and with a tighter one."""
    return np.nan_to_num(OPEN * np.abs(tight - now), nan=0.0)


def beyond(
    recorded: Floats, now: Floats, nearby: Sequence[Floats], *, together: bool = False, besides: Floats | float = 0.0
) -> int | None:
    """The first place at which what was recorded lies beyond what rounding explains; None where there is none, or where
    those nearby do not agree. `together`: the numbers are a course, in which those nearby come apart more and more.
    `besides`: room for what is not rounding.
    """
    with np.errstate(invalid="ignore"):
        apart = np.max([np.abs(other - now) for other in nearby], axis=0)
        size = np.abs(now)
        if together:
            apart = np.maximum.accumulate(apart)
            size = np.full_like(now, np.max(size, initial=0.0, where=np.isfinite(size)))
        room = LEEWAY * (apart + MOVED * size) + besides
        wrong = np.isfinite(room) & ~(np.abs(recorded - now) <= room)
    return int(np.argmax(wrong)) if wrong.any() else None
