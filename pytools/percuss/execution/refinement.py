"""Values at finer and finer steps: observed order, what error is left, and to how many digits they may be quoted.

With v_l at the step h / r^l and changes d_l = v_l - v_{l-1}, a method of order p gives |d_l| / |d_{l+1}| = r^p and a
remaining error of |d_L| / (r^p - 1) (Richardson, 1911). Where three changes agree on an order this is taken times 1.25,
as for grids (Roache, 1994), and with an order of 2 at most. Where they do not (impacts fall into steps at random) the
error is that of order 1 through the largest change seen, |d_l| r^-(L - l) / (r - 1), times 3: the factor for grids
without a confirmed order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

CONFIRMED, UNCONFIRMED = 1.25, 3.0
# Orders above this are not built on: such changes are small by accident as often as by merit.
HIGHEST_ORDER = 2.0
# How far apart orders are that confirm each other.
ALIKE = 0.5
# Digits that a double can tell.
MOST_DIGITS = 15


@dataclass(frozen=True)
class Trend:
    """What a sequence of values tells: its last change, the order of its last two (None: they differ in sign, or are
    none), the error that is left in its last value, and whether its last change is smaller than one before.
    """

    change: float
    largest_change: float
    order: float | None
    error: float
    shrinks: bool


def trend(values: Sequence[float], refine: float) -> Trend:
    """Judge three values or more, each at a step `refine` times smaller than the one before."""
    changes = [after - before for before, after in pairwise(values)]
    sizes = [abs(change) for change in changes]
    last = sizes[-1]
    orders = [_order(*pair, refine) for pair in pairwise(changes)]
    order = orders[-1]
    recent = [fitted for fitted in orders[-2:] if fitted is not None]
    shrinks = last == 0.0 or last < max(sizes[:-1])
    if len(recent) == 2 and min(recent) >= ALIKE and max(recent) - min(recent) <= ALIKE:
        error = CONFIRMED * _left(last, min(recent), refine)
    else:
        envelope = max(size * refine ** -(len(sizes) - 1 - i) for i, size in enumerate(sizes)) / (refine - 1)
        slow = _left(last, order, refine) if order is not None and order > 0 else 0.0
        error = UNCONFIRMED * max(envelope, slow)
    return Trend(changes[-1], max(sizes), order, error, shrinks)


def _order(before: float, after: float, refine: float) -> float | None:
    """The order two changes show; None where they differ in sign or are none."""
    if before == 0.0 or after == 0.0 or (before > 0) != (after > 0):
        return None
    return (math.log(abs(before)) - math.log(abs(after))) / math.log(refine)


def _left(change: float, order: float, refine: float) -> float:
    """What is left after a change, at an order."""
    return change / math.expm1(min(order, HIGHEST_ORDER) * math.log(refine))


def digits(value: float, error: float) -> int | None:
    """How many digits of a value hold: half a unit of the last one is no less than the error.

    None without any error: what did not move at all does not depend on the step, which says nothing of its digits.

    >>> digits(123.456, 0.04), digits(123.456, 0.06), digits(0.5, 1.0), digits(1.0, 0.0)
    (4, 3, 0, None)
    """
    if error == 0.0:
        return None
    if value == 0.0:
        return 0
    place = math.ceil(math.log10(2 * error))
    return min(max(math.floor(math.log10(abs(value))) - place + 1, 0), MOST_DIGITS)
