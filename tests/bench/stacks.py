"""Redundant contacts in motion and at rest: steps of stacks of ten cubes and of arches that miss a tolerance of 1e-6.

The ratio is the share of steps not met; the figure has their number, the steps, and seconds of CPU time.
"""

from __future__ import annotations

import math
from time import process_time

from tests.bench.measure import Line

from percuss.scene import Body, Box, Contactor, HalfSpace, Law, Polyhedron, Record, Scene, Settings

STEP_S = 1e-3
STONES = 11


def stack(gap_m: float, offset_m: float) -> list[Body]:
    """Ten cubes of 1 m, so far above each other, every other one put aside."""
    return [
        Body(
            f"cube_{k}",
            [Contactor(Box((1.0, 1.0, 1.0)), "stone")],
            density_kg_per_m3=1000.0,
            position_m=(offset_m * (k % 2), 0.0, k + 0.5 + (k + 1) * gap_m),
        )
        for k in range(10)
    ]


def arch(thickness_m: float) -> list[Body]:
    """A half circle of wedges, 1 m in radius."""
    stones = []
    for k in range(STONES):
        ends = [math.pi * (k + end) / STONES for end in (0, 1)]
        middle = 0.5 * sum(ends)
        x, z = math.cos(middle), math.sin(middle)
        corners = [
            (radius * math.cos(angle) - x, y, radius * math.sin(angle) - z)
            for angle in ends
            for radius in (1.0 - 0.5 * thickness_m, 1.0 + 0.5 * thickness_m)
            for y in (-0.2, 0.2)
        ]
        contactor = Contactor(Polyhedron(corners), "stone")
        stones.append(Body(f"stone_{k}", [contactor], density_kg_per_m3=2000.0, position_m=(x, 0.0, z)))
    return stones


def measured(what: str, bodies: list[Body], friction: float, steps: int, limit: float) -> Line:
    """How many steps miss 1e-6."""
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    laws = [Law(("ground", "stone"), friction=friction), Law(("stone", "stone"), friction=friction)]
    world = Scene([ground, *bodies], laws).world(Settings(STEP_S, threads=1, tolerance=1e-6))
    start = process_time()
    unmet = world.run(steps * STEP_S, Record(energy_every=0, steps_every=0)).unmet_steps
    return Line(what, f"{unmet} of {steps}, {process_time() - start:.2f} s", unmet / steps, limit)


def bench() -> list[Line]:
    """Stacks have to be met in every step; an arch that falls in all but one of two hundred."""
    return [
        measured("ten cubes at rest, unmet", stack(0.0, 0.0), 0.5, 2000, 0.0),
        measured("ten cubes that settle by 1 mm each", stack(1e-3, 0.0), 0.5, 2000, 0.0),
        measured("ten cubes, every other 5 cm aside", stack(0.0, 0.05), 0.5, 2000, 0.0),
        measured("arch that stands", arch(0.15), 0.6, 1500, 0.0),
        measured("arch that falls, too thin", arch(0.08), 0.6, 1500, 0.001),
        measured("arch that falls, too smooth", arch(0.2), 0.3, 1500, 0.001),
    ]
