"""The projectile of impact tests on barriers: a cube whose edges and corners are cut, 26 faces."""

from __future__ import annotations

from itertools import permutations, product

from percuss.models.rockfall_wall.layout import Plan
from percuss.scene import Body, Contactor, Polyhedron

# Distance of the projectile from the wall at the start: less than it flies in a few steps.
START_GAP_M = 0.002


def projectile_body(
    size_m: float, cut: float, mass_kg: float, speed_m_per_s: float, y_m: float, z_m: float, face_x_m: float
) -> Body:
    """The projectile just before it meets the face of the wall at `face_x_m`."""
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
        position_m=(face_x_m - half - START_GAP_M, y_m, z_m),
        velocity_m_per_s=(speed_m_per_s, 0.0, 0.0),
    )


def face_of_wall(plan: Plan, y_m: float, size_m: float, width_m: float) -> float:
    """Foremost x that the projectile can meet on its way at y."""
    reach = 0.5 * size_m + 0.5 * width_m
    near = [x for x, y in plan if abs(y - y_m) <= reach]
    return min(near or [x for x, _ in plan]) - 0.5 * width_m
