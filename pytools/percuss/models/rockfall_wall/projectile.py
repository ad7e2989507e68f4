"""The projectile of impact tests on barriers: a cube whose edges and corners are cut, 26 faces."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from percuss.models.rockfall_wall.layout import Plan
from percuss.scene import Body, Contactor, Polyhedron

# Distance of the projectile from the wall at the start: less than it flies in a few steps.
START_GAP_M = 0.002


def projectile_body(
    size_m: float, cut: float, mass_kg: float, speed_m_per_s: float, y_m: float, z_m: float, touch_x_m: float
) -> Body:
    """The projectile just before its centre comes to `touch_x_m`, where it meets the wall."""
    half, inner = 0.5 * size_m, (0.5 - cut) * size_m
    corners = {
        (a * x, b * y, c * z)
        for x, y, z in permutations((half, inner, inner))
        for a, b, c in product((-1.0, 1.0), repeat=3)
    }
    return Body(
        "projectile",
        [Contactor(Polyhedron(sorted(corners)), "projectile")],
        mass_kg=mass_kg,
        position_m=(touch_x_m - START_GAP_M, y_m, z_m),
        velocity_m_per_s=(speed_m_per_s, 0.0, 0.0),
    )


def first_touch(plan: Plan, y_m: float, size_m: float, cut: float, width_m: float) -> float:
    """x of the projectile's centre when it first touches the wall on its way at y, to 0.2 mm.

    Both seen from above: the projectile as an octagon, the wall as discs along its links.
    """
    half, inner, r = 0.5 * size_m, (0.5 - cut) * size_m, 0.5 * width_m
    across = np.linspace(-half, half, 1101)
    nose = np.minimum(half, half + inner - np.abs(across))
    share = np.linspace(0.0, 1.0, 41)[:, None]
    ends = np.array(plan)
    discs = (ends[:-1, None] + share * (ends[1:] - ends[:-1])[:, None]).reshape(-1, 2)
    near = discs[np.abs(discs[:, 1] - y_m) < half + r]
    if not near.size:
        return float(ends[:, 0].min()) - r - half
    off = near[:, 1:] - (y_m + across)
    front = np.where(np.abs(off) < r, near[:, :1] - np.sqrt(np.maximum(r * r - off * off, 0.0)), np.inf)
    return float((front.min(axis=0) - nose).min())
