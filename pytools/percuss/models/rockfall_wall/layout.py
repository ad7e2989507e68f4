"""Where the vertical axes stand in plan, and which axes a block of each course joins.

Neighbouring axes are as far apart as the two holes of a block, whether or not a block joins them: this is the
40 mm between blocks of a course. Odd courses hold blocks on the axes (0, 1), (2, 3), ..; even courses half-blocks at
both ends and blocks on (1, 2), (3, 4), .. between them: a brick bond.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Plan = list[tuple[float, float]]


def _trapezoidal(step: int, angle_rad: float) -> float:
    """Odd courses along y, even ones turned by +angle and -angle in turn."""
    return 0.0 if step % 2 == 0 else angle_rad * (1 if step % 4 == 1 else -1)


def _trapezoidal_symmetric(step: int, angle_rad: float) -> float:
    """Even courses along y, odd ones turned by +angle and -angle in turn: both halves of the wall are mirror images."""
    return 0.0 if step % 2 else angle_rad * (1 if step % 4 == 0 else -1)


def _zig_zag(step: int, angle_rad: float) -> float:
    """Odd courses turned by +angle, even ones by -angle."""
    return angle_rad if step % 2 == 0 else -angle_rad


def _straight(step: int, angle_rad: float) -> float:
    return 0.0


# Direction from axis `step` to the next, from y towards x.
LAYOUTS: dict[str, Callable[[int, float], float]] = {
    "trapezoidal": _trapezoidal,
    "trapezoidal-symmetric": _trapezoidal_symmetric,
    "zig-zag": _zig_zag,
    "straight": _straight,
}


def plan_of(layout: str, axes: int, angle_rad: float, pitch_m: float) -> Plan:
    """Places (x, y) of the axes; y = 0 half way between the ends, the foremost axes at x = 0.

    >>> [(round(x, 3), round(y, 3)) for x, y in plan_of("trapezoidal", 4, 0.7853981633974483, 0.8)]
    [(0.0, -1.083), (0.0, -0.283), (0.566, 0.283), (0.566, 1.083)]
    """
    plan = [(0.0, 0.0)]
    for step in range(axes - 1):
        direction = LAYOUTS[layout](step, angle_rad)
        x, y = plan[-1]
        plan.append((x + pitch_m * math.sin(direction), y + pitch_m * math.cos(direction)))
    front = min(x for x, _ in plan)
    middle = 0.5 * (plan[0][1] + plan[-1][1])
    return [(x - front, y - middle) for x, y in plan]


def course(row: int, axes: int) -> list[tuple[int, int]]:
    """Axes that the blocks of a course join; a half-block stands on one.

    >>> course(0, 6), course(1, 6)
    ([(0, 1), (2, 3), (4, 5)], [(0, 0), (1, 2), (3, 4), (5, 5)])
    """
    if row % 2 == 0:
        return [(axis, axis + 1) for axis in range(0, axes, 2)]
    return [(0, 0), *((axis, axis + 1) for axis in range(1, axes - 1, 2)), (axes - 1, axes - 1)]
