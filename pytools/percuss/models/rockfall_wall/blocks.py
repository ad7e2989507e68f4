"""Blocks: a cuboid between two round ends, which carry all contacts but the projectile's on the cuboid."""

from __future__ import annotations

import math
from dataclasses import dataclass

from percuss.models.rockfall_wall.layout import Plan, course
from percuss.scene import Body, Box, Contactor, Cylinder


@dataclass(frozen=True)
class BlockSizes:
    """Sizes and mass of a full block; a half-block is one cut through its middle."""

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
        r, a = 0.5 * self.width_m, self.pitch_m
        box, ends = a * self.width_m, math.pi * r * r
        m_box, m_ends = (self.mass_kg * area / (box + ends) for area in (box, ends))
        # Two half-cylinders: their centroids lie `out` beyond the hole's axis, all other terms as of one cylinder.
        out = 4.0 * r / (3.0 * math.pi)
        along = m_box * a * a / 12.0 + m_ends * (r * r / 4.0 + (0.5 * a + out) ** 2 - out**2)
        across = m_box * self.width_m**2 / 12.0 + m_ends * r * r / 4.0
        rise = self.mass_kg * self.height_m**2 / 12.0
        return across + rise, along + rise, along + across

    def half_inertia(self) -> tuple[float, float, float]:
        """Moments of a half-block about its own centre: half of a full one, by the parallel axes."""
        ix, iy, iz = (0.5 * moment for moment in self.inertia())
        moved = 0.5 * self.mass_kg * self.half_centre_m**2
        return ix, iy - moved, iz - moved

    @property
    def half_centre_m(self) -> float:
        """From the cut to the centre of mass of a half-block."""
        r, a = 0.5 * self.width_m, 0.5 * self.pitch_m
        box, end = a * self.width_m, 0.5 * math.pi * r * r
        return (box * 0.5 * a + end * (a + 4.0 * r / (3.0 * math.pi))) / (box + end)


@dataclass(frozen=True)
class Placed:
    """A block of the wall: which axes it joins, and where its holes are in its frame, whose x runs along the block.

    A half-block's cut faces the end of the wall, its round end the next block of the course, with the same gap as
    between any two; `cut_m` is the way from the cut to its centre.
    """

    name: str
    row: int
    axes: tuple[int, int]
    centre_m: tuple[float, float, float]
    turn_rad: float
    cut_m: float = 0.0

    @property
    def whole(self) -> bool:
        """Not a half-block."""
        return self.axes[0] != self.axes[1]

    def holes(self, pitch_m: float) -> dict[int, float]:
        """x of each hole in the block's frame, by axis."""
        if not self.whole:
            return {self.axes[0]: 0.5 * pitch_m - self.cut_m}
        return {self.axes[0]: -0.5 * pitch_m, self.axes[1]: 0.5 * pitch_m}


def placed_blocks(plan: Plan, rows: int, sizes: BlockSizes) -> list[Placed]:
    """All blocks, course by course from the ground."""
    blocks = []
    for row in range(rows):
        z = (row + 0.5) * sizes.height_m
        for first, last in course(row, len(plan)):
            if first == last:
                blocks.append(_half_block(plan, row, first, z, sizes))
                continue
            (x0, y0), (x1, y1) = plan[first], plan[last]
            centre = (0.5 * (x0 + x1), 0.5 * (y0 + y1), z)
            blocks.append(
                Placed(f"block_{row + 1}_{first}_{last}", row, (first, last), centre, _direction(plan, first, last))
            )
    return blocks


def _half_block(plan: Plan, row: int, axis: int, z_m: float, sizes: BlockSizes) -> Placed:
    """The half-block at an end of the wall, in line with the link from its axis to the next."""
    turn = _direction(plan, axis, axis + 1 if axis == 0 else axis - 1)
    inwards = sizes.half_centre_m - 0.5 * sizes.pitch_m
    x, y = plan[axis]
    centre = (x + inwards * math.cos(turn), y + inwards * math.sin(turn), z_m)
    return Placed(f"half_{row + 1}_{axis}", row, (axis, axis), centre, turn, sizes.half_centre_m)


def _direction(plan: Plan, first: int, last: int) -> float:
    (x0, y0), (x1, y1) = plan[first], plan[last]
    return math.atan2(y1 - y0, x1 - x0)


def block_body(block: Placed, sizes: BlockSizes, extra: list[Contactor]) -> Body:
    """The block with its own contactors and those that belong to connectors."""
    round_end = Cylinder(0.5 * sizes.width_m, sizes.height_m)
    contactors = [Contactor(round_end, "round", (x, 0.0, 0.0)) for x in block.holes(sizes.pitch_m).values()]
    length, share = (sizes.pitch_m, 1.0) if block.whole else (0.5 * sizes.pitch_m, 0.5)
    middle = 0.0 if block.whole else 0.5 * length - block.cut_m
    contactors.append(Contactor(Box((length, sizes.width_m, sizes.height_m)), "cuboid", (middle, 0.0, 0.0)))
    ix, iy, iz = sizes.inertia() if block.whole else sizes.half_inertia()
    return Body(
        block.name,
        [*contactors, *extra],
        mass_kg=share * sizes.mass_kg,
        inertia_kg_m2=((ix, 0.0, 0.0), (0.0, iy, 0.0), (0.0, 0.0, iz)),
        position_m=block.centre_m,
        rotation_rad=(0.0, 0.0, block.turn_rad),
    )
