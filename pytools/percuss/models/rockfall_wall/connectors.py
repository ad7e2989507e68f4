"""Connectors: bars through the holes, disks that hold them, slings that tie them together.

On every axis a bar of half a block's height stands on the ground, full bars are centred on the joints between
courses, and a half bar closes the top. The sling gives each of its links - ground to bar, bar to bar, bar to top - the
same play: a box over the upper end of a bar catches the sphere under the lower end of the next one from above, a
stopper inside the bar from below (Gupta et al., 2023, section 3.2.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from percuss.models.rockfall_wall.blocks import BlockSizes, Placed
from percuss.models.rockfall_wall.layout import Plan
from percuss.scene import Body, Box, Contactor, Cylinder, Ring, Sphere

# Sides of the box and of the stopper over the diameter of a bar (section 3.2.2); their thickness is not given.
BOX_SIDE, STOPPER_SIDE, THICKNESS = 2.5, 1.5, 0.5
# The disk's own thickness and width of rim over the hole's diameter: only the hole is touched.
DISK_THICKNESS, DISK_RIM = 0.06, 0.5


@dataclass(frozen=True)
class Connectors:
    """Sizes of the connectors of a wall. `d_z_m` and `play_m` (of the whole sling) are calibrated."""

    sizes: BlockSizes
    rows: int
    d_z_m: float
    play_m: float
    hole_diameter_m: float
    bar_diameter_m: float
    bar_inner_diameter_m: float
    bar_density_kg_per_m3: float
    top_bar_share: float
    top_clearance_m: float
    disks: str

    @property
    def link_play_m(self) -> float:
        """Play of one link: as many links as bars, and one more."""
        return self.play_m / (self.rows + 2)

    def spans(self) -> list[tuple[float, float]]:
        """Lower and upper end of the bars of an axis."""
        h = self.sizes.height_m
        ends = [0.0, *((row + 0.5) * h for row in range(self.rows)), self.rows * h]
        return list(pairwise(ends))

    def on_block(self, block: Placed) -> list[Contactor]:
        """What a block carries: disks in its holes; the sling's anchorage at the bottom, its catch at the top."""
        h, d, play = self.sizes.height_m, self.bar_diameter_m, self.link_play_m
        r = 0.5 * self.hole_diameter_m
        ring = Ring(r, r * (1.0 + DISK_RIM), DISK_THICKNESS * self.hole_diameter_m)
        places = [self.d_z_m - 0.5 * h, 0.5 * h - self.d_z_m]
        if self.disks == "faces-and-ends":
            places += [-self.d_z_m, self.d_z_m]
        contactors = []
        for x in block.holes(self.sizes.pitch_m).values():
            contactors += [Contactor(ring, "disk", (x, 0.0, z)) for z in places]
            if block.row == 0:
                contactors.append(_plate(BOX_SIDE * d, THICKNESS * d, "box", (x, 0.5 * play - 0.5 * h), upwards=True))
            if block.row == self.rows - 1:
                z = 0.5 * h - 0.5 * play - 0.5 * d + self.top_clearance_m
                contactors.append(Contactor(Sphere(0.5 * d), "sphere", (x, 0.0, z)))
        return contactors

    def bars(self, plan: Plan) -> Iterator[Body]:
        """All bars, axis by axis, from the ground up."""
        d, play = self.bar_diameter_m, self.link_play_m
        outer, inner = 0.5 * d, 0.5 * self.bar_inner_diameter_m
        spans = self.spans()
        for axis, (x, y) in enumerate(plan):
            for number, (low, high) in enumerate(spans, start=1):
                length = high - low
                mass = self.bar_density_kg_per_m3 * math.pi * (outer**2 - inner**2) * length
                if number == len(spans):
                    mass *= self.top_bar_share
                across = mass * ((outer**2 + inner**2) / 4.0 + length**2 / 12.0)
                along = mass * (outer**2 + inner**2) / 2.0
                top = 0.5 * length
                yield Body(
                    f"bar_{axis}_{number}",
                    [
                        Contactor(Cylinder(outer, length), "odd_bar" if number % 2 else "even_bar"),
                        _plate(BOX_SIDE * d, THICKNESS * d, "box", (0.0, top + 0.5 * play), upwards=True),
                        _plate(STOPPER_SIDE * d, THICKNESS * d, "stopper", (0.0, top - 0.5 * play - d), upwards=False),
                        Contactor(Sphere(outer), "sphere", (0.0, 0.0, -top - 0.5 * play - outer)),
                    ],
                    mass_kg=mass,
                    inertia_kg_m2=((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, along)),
                    position_m=(x, y, 0.5 * (low + high)),
                )


def _plate(side_m: float, thickness_m: float, group: str, face: tuple[float, float], *, upwards: bool) -> Contactor:
    """A plate with one face at the height `face[1]`, the rest of it above (`upwards`) or below."""
    x, z = face
    middle = z + (0.5 if upwards else -0.5) * thickness_m
    return Contactor(Box((side_m, side_m, thickness_m)), group, (x, 0.0, middle))
