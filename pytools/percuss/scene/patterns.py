"""Many bodies from one: grids, walls, stacks, rings and arches."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

from percuss.errors import InputError
from percuss.scene.bodies import ZERO, Body
from percuss.scene.rotation import turn, turned_by
from percuss.scene.shapes import Vector


def grid(
    body: Body, counts: tuple[int, int, int], pitch_m: Vector, *, stagger_m: Vector = ZERO, centred: bool = False
) -> list[Body]:
    """Copies of a body on a grid. The first is at the body's position, or the middle with `centred`.

    Every second layer along z is shifted by `stagger_m`: a running bond. Copies are named after their places along
    those axes that have several.

    >>> wall = grid(Body("block", mass_kg=1.0), (1, 3, 2), (0.0, 1.0, 0.5), stagger_m=(0.0, 0.5, 0.0))
    >>> [(block.name, block.position_m[1:]) for block in wall][2:4]
    [('block_3_1', (2.0, 0.0)), ('block_1_2', (0.5, 0.5))]
    """
    if any(count < 1 for count in counts):
        raise InputError(f"pattern of body {body.name}: counts = {list(counts)}, each must be at least 1")
    first = [-0.5 * (n - 1) * p if centred else 0.0 for n, p in zip(counts, pitch_m, strict=True)]
    copies = []
    # Layer by layer, so that neighbours in space are neighbours in the list.
    for k, j, i in product(*map(range, counts[::-1])):
        places = (i, j, k)
        x, y, z = (
            body.position_m[axis] + first[axis] + places[axis] * pitch_m[axis] + (stagger_m[axis] if k % 2 else 0.0)
            for axis in range(3)
        )
        name = _numbered(body.name, [place + 1 for place, n in zip(places, counts, strict=True) if n > 1])
        copies.append(replace(body, name=name, position_m=(x, y, z)))
    return copies


def polar(
    body: Body, count: int, angle_rad: float, *, axis: Vector = (0.0, 0.0, 1.0), centre_m: Vector = ZERO
) -> list[Body]:
    """Copies of a body turned about an axis through a centre, each by `angle_rad` more than the one before.

    >>> ring = polar(Body("stone", mass_kg=1.0, position_m=(2.0, 0.0, 0.0)), 4, math.pi / 2)
    >>> [stone.name for stone in ring], [round(x, 9) for x in ring[1].position_m]
    (['stone_1', 'stone_2', 'stone_3', 'stone_4'], [0.0, 2.0, 0.0])
    """
    length = math.sqrt(sum(x * x for x in axis))
    if count < 1 or length == 0.0:
        raise InputError(f"pattern of body {body.name}: count = {count} about {list(axis)}, needs >= 1 and an axis")
    if not math.isfinite(count * angle_rad / length):
        raise InputError(f"pattern of body {body.name}: {count} times an angle of {angle_rad:g} rad is no angle")
    copies = []
    for k in range(count):
        angle = k * angle_rad / length
        rotation = (angle * axis[0], angle * axis[1], angle * axis[2])
        (x, y, z), (cx, cy, cz) = body.position_m, centre_m
        dx, dy, dz = turn(rotation, (x - cx, y - cy, z - cz))
        copies.append(
            replace(
                body,
                name=_numbered(body.name, [k + 1]),
                position_m=(cx + dx, cy + dy, cz + dz),
                rotation_rad=turned_by(rotation, body.rotation_rad),
                velocity_m_per_s=turn(rotation, body.velocity_m_per_s),
                angular_velocity_rad_per_s=turn(rotation, body.angular_velocity_rad_per_s),
            )
        )
    return copies


def _numbered(name: str, places: list[int]) -> str:
    return "_".join([name, *map(str, places)])
