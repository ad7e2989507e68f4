"""Blocks: a cuboid between two round ends, which carry all contacts but the projectile's on the cuboid."""

from __future__ import annotations

import math
from dataclasses import dataclass

from percuss.models.rockfall_wall.layout import Plan, course
from percuss.scene import Body, Box, Contactor, Cylinder


@dataclass(frozen=True)
class BlockSizes:
    """Sizes and mass of a full block; a half-block is one round end of the same material."""

    length_m: float
    width_m: float
    height_m: float
    mass_kg: float

    @property
    def pitch_m(self) -> float:
        """Between the two holes."""
        return self.length_m - self.width_m

    def inertia(self) -> tuple[float, float, float]:
        """Moments of a full block about its centre; x along the block."""
        r, a, h = 0.5 * self.width_m, self.pitch_m, self.height_m
        box, ends = a * self.width_m, math.pi * r * r
        m_box, m_ends = (self.mass_kg * area / (box + ends) for area in (box, ends))
        # Two half-cylinders: their centroids lie `out` beyond the hole's axis, all other terms as of one cylinder.
        out = 4.0 * r / (3.0 * math.pi)
        along = m_ends * (r * r / 4.0 + (0.5 * a + out) ** 2 - out**2)
        across = m_ends * r * r / 4.0
        rise = self.mass_kg * h * h / 12.0
        ix = m_box * self.width_m**2 / 12.0 + across + rise
        iy = m_box * a * a / 12.0 + along + rise
        iz = m_box * (a * a + self.width_m**2) / 12.0 + along + across
        return ix, iy, iz

    def half_mass_kg(self) -> float:
        """Mass of a half-block."""
        end = math.pi * (0.5 * self.width_m) ** 2
        return self.mass_kg * end / (self.pitch_m * self.width_m + end)


@dataclass(frozen=True)
class Placed:
    """A block of the wall: which axes it joins, and where its holes are in its frame."""

    name: str
    row: int
    axes: tuple[int, int]
    centre_m: tuple[float, float, float]
    turn_rad: float

    @property
    def whole(self) -> bool:
        """Not a half-block."""
        return self.axes[0] != self.axes[1]

    def holes(self, pitch_m: float) -> dict[int, float]:
        """x of each hole in the block's frame, by axis."""
        if not self.whole:
            return {self.axes[0]: 0.0}
        return {self.axes[0]: -0.5 * pitch_m, self.axes[1]: 0.5 * pitch_m}


def placed_blocks(plan: Plan, rows: int, sizes: BlockSizes) -> list[Placed]:
    """All blocks, course by course from the ground."""
    found = []
    for row in range(rows):
        for first, last in course(row, len(plan)):
            (x0, y0), (x1, y1) = plan[first], plan[last]
            turn = math.atan2(y1 - y0, x1 - x0) if first != last else 0.0
            centre = (0.5 * (x0 + x1), 0.5 * (y0 + y1), (row + 0.5) * sizes.height_m)
            name = f"block_{row + 1}_{first}_{last}" if first != last else f"half_{row + 1}_{first}"
            found.append(Placed(name, row, (first, last), centre, turn))
    return found


def block_body(block: Placed, sizes: BlockSizes, extra: list[Contactor]) -> Body:
    """The block with its own contactors and those that belong to connectors."""
    holes = block.holes(sizes.pitch_m)
    round_end = Cylinder(0.5 * sizes.width_m, sizes.height_m)
    contactors = [Contactor(round_end, "round", (x, 0.0, 0.0)) for x in holes.values()]
    if block.whole:
        contactors.append(Contactor(Box((sizes.pitch_m, sizes.width_m, sizes.height_m)), "cuboid"))
        ix, iy, iz = sizes.inertia()
        mass = sizes.mass_kg
    else:
        mass, r = sizes.half_mass_kg(), 0.5 * sizes.width_m
        ix = iy = mass * (r * r / 4.0 + sizes.height_m**2 / 12.0)
        iz = mass * r * r / 2.0
    inertia = ((ix, 0.0, 0.0), (0.0, iy, 0.0), (0.0, 0.0, iz))
    return Body(
        block.name,
        [*contactors, *extra],
        mass_kg=mass,
        inertia_kg_m2=inertia,
        position_m=block.centre_m,
        rotation_rad=(0.0, 0.0, block.turn_rad),
    )
