"""Separation two structures need so that they do not pound: three rules of codes and literature.

    ABS   s = uA + uB                                    no knowledge of phase: they may peak at once, apart
    SRSS  s = sqrt(uA^2 + uB^2)                          peaks independent
    CQC   s = sqrt(uA^2 + uB^2 - 2 rho uA uB)            double difference (Jeng, Kasai and Maison, 1992)

uA and uB are peak displacements at the level in question of the structures standing alone, rho the correlation of two
oscillators under wide-band excitation (Der Kiureghian, 1980), from the first periods and damping ratios.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

Mode = tuple[float, float]


def separation_abs(left_m: float, right_m: float) -> float:
    """Sum of the peaks."""
    return left_m + right_m


def separation_srss(left_m: float, right_m: float) -> float:
    """Root of the sum of squares.

    >>> separation_srss(3.0, 4.0)
    5.0
    """
    return math.hypot(left_m, right_m)


def separation_cqc(left_m: float, right_m: float, correlation: float) -> float:
    """Double difference: zero for two equal structures, SRSS for uncorrelated ones.

    >>> separation_cqc(3.0, 3.0, 1.0), separation_cqc(3.0, 4.0, 0.0)
    (0.0, 5.0)
    """
    return math.sqrt(max(left_m**2 + right_m**2 - 2 * correlation * left_m * right_m, 0.0))


def correlation(left: tuple[float, float], right: tuple[float, float]) -> float:
    """Correlation of two oscillators given as (period in s, damping ratio); one for two equal ones.

    >>> round(correlation((0.5, 0.05), (0.5, 0.05)), 12)
    1.0
    """
    (left_s, a), (right_s, b) = left, right
    r = right_s / left_s
    top = 8 * math.sqrt(a * b) * (b + a * r) * r**1.5
    bottom = (1 - r * r) ** 2 + 4 * a * b * (1 + r * r) * r + 4 * (a * a + b * b) * r * r
    return top / bottom if bottom else 1.0


def first_mode(
    masses_kg: Sequence[float],
    springs: Sequence[tuple[int, int, float, float]],
    dampers: Sequence[tuple[int, int, float]],
    rayleigh: tuple[float, float],
    mass: int,
) -> tuple[float, float] | None:
    """Period and damping ratio of the first mode of the structure a mass belongs to; None if it is not held.

    Springs are (node, node, linear, cubic), dampers (node, node, coefficient); node -1 is the base.
    """
    import numpy as np

    members = _structure(len(masses_kg), springs, mass)
    place = {node: i for i, node in enumerate(members)}
    weight = np.array([masses_kg[node] for node in members])
    stiffness = np.zeros((len(members), len(members)))
    damping = np.zeros_like(stiffness)
    for matrix, links in ((stiffness, [s[:3] for s in springs]), (damping, dampers)):
        for first, second, value in links:
            ends = [place[node] for node in (first, second) if node in place]
            if not ends:
                continue
            for end in ends:
                matrix[end, end] += value
            if len(ends) == 2:
                matrix[ends[0], ends[1]] -= value
                matrix[ends[1], ends[0]] -= value
    damping += rayleigh[0] * np.diag(weight) + rayleigh[1] * stiffness
    scale = 1 / np.sqrt(weight)
    values, vectors = np.linalg.eigh(scale[:, None] * stiffness * scale[None, :])
    if values[0] <= 1e-12 * values[-1]:
        return None
    shape = vectors[:, 0]
    omega = math.sqrt(values[0])
    ratio = float(shape @ (scale[:, None] * damping * scale[None, :]) @ shape) / (2 * omega)
    return 2 * math.pi / omega, ratio


@functools.lru_cache(maxsize=16)
def first_modes(
    masses_kg: tuple[float, ...],
    springs: tuple[tuple[int, int, float, float], ...],
    dampers: tuple[tuple[int, int, float], ...],
    rayleigh: tuple[float, float],
) -> tuple[Mode | None, ...]:
    """The first mode of the structure of every mass; kept, since runs of an ensemble often differ in motion alone."""
    modes: dict[int, Mode | None] = {}
    for mass in range(len(masses_kg)):
        if mass not in modes:
            mode = first_mode(masses_kg, springs, dampers, rayleigh, mass)
            modes |= dict.fromkeys(_structure(len(masses_kg), springs, mass), mode)
    return tuple(modes[mass] for mass in range(len(masses_kg)))


def _structure(count: int, springs: Sequence[tuple[int, int, float, float]], mass: int) -> list[int]:
    """The masses that springs join to this one, not counting ways over the base."""
    masses, todo = {mass}, [mass]
    while todo:
        node = todo.pop()
        for first, second, *_ in springs:
            for here, there in ((first, second), (second, first)):
                if here == node and 0 <= there < count and there not in masses:
                    masses.add(there)
                    todo.append(there)
    return sorted(masses)
