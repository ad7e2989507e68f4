"""Bodies cut into parts that fit: by planes, or into the cells of random points (blocks that can break).

Parts lie where they were, so that a `Bond` between their group and itself glues them along every cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from percuss import _core
from percuss.errors import InputError
from percuss.scene.bodies import Body, Contactor
from percuss.scene.rotation import turn
from percuss.scene.shapes import Box, Polyhedron, Vector

if TYPE_CHECKING:
    from numpy import ndarray

# Corners nearer to a plane than this share of the body's size are on it.
NEAR = 1e-9
# Parts smaller than this share of the body's volume are none: what planes through corners leave.
LEAST = 1e-9


def cut(body: Body, planes: Sequence[tuple[Vector, Vector]]) -> list[Body]:
    """The parts of a body on either side of every plane, given by a point and a normal in the body's frame.

    >>> beam = Body("beam", [Contactor(Box((1.0, 0.1, 0.1)), "beam")], density_kg_per_m3=2000.0)
    >>> [part.name for part in cut(beam, [((-0.2, 0, 0), (1, 0, 0)), ((0.2, 0, 0), (1, 0, 0))])]
    ['beam_1', 'beam_2', 'beam_3']
    """
    import numpy as np

    parts = [_solid(body)]
    for point, direction in planes:
        normal = np.asarray(direction, float)
        length = float(np.linalg.norm(normal))
        if not length > 0.0 or not np.isfinite(length):
            raise InputError(f"plane with normal {list(direction)}: it must have a direction")
        if not np.isfinite(point).all():
            raise InputError(f"plane through {list(point)}: the point must be finite")
        offset = float(normal / length @ np.asarray(point, float))
        halves = [(part, side) for part in parts for side in (1.0, -1.0)]
        parts = [_clipped(part, side * normal / length, side * offset) for part, side in halves]
        parts = [part for part in parts if part]
    return _bodies(body, parts)


def shatter(body: Body, pieces: int, seed: int) -> list[Body]:
    """A body in pieces: the Voronoi cells of `pieces` random points.

    >>> block = Body("block", [Contactor(Box((1.0, 1.0, 1.0)), "block")], mass_kg=100.0)
    >>> len(shatter(block, 8, seed=1))
    8
    """
    import numpy as np

    if not 1 <= pieces <= 10_000:
        raise InputError(f"pieces = {pieces}: must be from 1 to 10000")
    if not 0 <= seed < 2**128:
        raise InputError(f"seed = {seed}: must be from 0 to 2^128 - 1")
    solid = _solid(body)
    corners = np.concatenate(solid)
    low, high = corners.min(axis=0), corners.max(axis=0)
    random = np.random.Generator(np.random.Philox(key=seed))
    points: list[ndarray] = []
    while len(points) < pieces:
        point = random.uniform(low, high)
        if _inside(solid, point):
            points.append(point)
    cells = []
    for own in points:
        cell = solid
        for other in sorted(points, key=lambda p: float(np.linalg.norm(p - own))):
            normal = other - own
            length = float(np.linalg.norm(normal))
            if length > 0.0 and cell:
                cell = _clipped(cell, normal / length, float(normal / length @ (own + other)) / 2)
        cells.append(cell)
    return _bodies(body, [cell for cell in cells if cell])


def _solid(body: Body) -> list[ndarray]:
    """Faces of the body's only contactor, in the body's frame, each a ring of corners."""
    if len(body.contactors) != 1 or not isinstance(body.contactors[0].shape, Box | Polyhedron):
        raise InputError(f"body {body.name}: only a body of one box or polyhedron can be cut")
    if body.mass_kg is None and body.density_kg_per_m3 is None and not body.fixed:
        raise InputError(f"body {body.name}: a body that is cut needs a mass or a density")
    for key in ("inertia_kg_m2", "gyration_m2"):
        if getattr(body, key) is not None:
            raise InputError(f"body {body.name} gives {key}: the inertia of a body that is cut follows from its shape")
    from percuss.scene.scene import Scene
    from percuss.scene.world import Settings

    # The core knows the faces; the smooth stepper asks for no laws.
    described = Scene([replace(body, position_m=(0, 0, 0), rotation_rad=(0, 0, 0))]).description()
    try:
        world = _core.RigidWorld(described, vars(Settings(1.0, stepper="smooth")))
    except ValueError as fault:
        raise InputError(str(fault)) from None
    _, corners, rings = world.outlines(1.0)[0]
    return [corners[ring] for ring in rings]


def _size(faces: Sequence[ndarray]) -> float:
    import numpy as np

    corners = np.concatenate(faces)
    return float((corners.max(axis=0) - corners.min(axis=0)).max())


def _clipped(faces: Sequence[ndarray], normal: ndarray, offset: float) -> list[ndarray]:
    """What of a convex solid lies where normal . x <= offset; nothing: no faces."""
    import numpy as np

    near = NEAR * _size(faces)
    whole = volume(faces)
    left: list[ndarray] = []
    cap: list[ndarray] = []
    for face in faces:
        height = face @ normal - offset
        ring = []
        for k in range(len(face)):
            here, there = height[k], height[(k + 1) % len(face)]
            if here <= near:
                ring.append(face[k])
            if abs(here) <= near:
                cap.append(face[k])
            elif abs(there) > near and (here < 0) != (there < 0):
                crossing = face[k] + (face[(k + 1) % len(face)] - face[k]) * (here / (here - there))
                ring.append(crossing)
                cap.append(crossing)
        if len(ring) >= 3:
            left.append(np.array(ring))
    corners = _distinct(cap, near)
    if len(corners) >= 3 and left and not any(np.abs(face @ normal - offset).max() <= near for face in left):
        middle = np.mean(corners, axis=0)
        first = corners[0] - middle
        second = np.cross(normal, first)
        corners.sort(key=lambda p: float(np.arctan2((p - middle) @ second, (p - middle) @ first)))
        left.append(np.array(corners))
    return left if len(left) >= 4 and volume(left) > LEAST * whole else []


def _distinct(points: Sequence[ndarray], near: float) -> list[ndarray]:
    import numpy as np

    distinct: list[ndarray] = []
    for point in points:
        if all(np.abs(point - other).max() > near for other in distinct):
            distinct.append(point)
    return distinct


def volume(faces: Sequence[ndarray]) -> float:
    """Volume of a convex solid by its faces, whichever way they turn."""
    return _volume_and_centre(faces)[0]


def _volume_and_centre(faces: Sequence[ndarray]) -> tuple[float, ndarray]:
    """Volume and centre of mass of a convex solid by its faces."""
    import numpy as np

    middle = np.mean(np.concatenate(faces), axis=0)
    total, moment = 0.0, np.zeros(3)
    for face in faces:
        for k in range(1, len(face) - 1):
            corners = face[[0, k, k + 1]] - middle
            share = abs(float(np.linalg.det(corners))) / 6
            total += share
            moment += share * corners.sum(axis=0) / 4
    return total, middle + (moment / total if total > 0.0 else 0.0)


def _inside(faces: Sequence[ndarray], point: ndarray) -> bool:
    import numpy as np

    middle = np.mean(np.concatenate(faces), axis=0)
    for face in faces:
        normal = np.cross(face[1] - face[0], face[2] - face[0])
        if ((point - face[0]) @ normal) * ((middle - face[0]) @ normal) < 0:
            return False
    return True


def _bodies(body: Body, parts: Sequence[Sequence[ndarray]]) -> list[Body]:
    """A body for each part, of the same group and density, where the part was and moving as it did."""
    import numpy as np

    sizes = [_volume_and_centre(part) for part in parts]
    whole = sum(size for size, _ in sizes)
    middle = sum((size / whole * centre for size, centre in sizes), np.zeros(3))
    made = []
    for number, (part, (size, centre)) in enumerate(zip(parts, sizes, strict=True), 1):
        corners = _distinct(list(np.concatenate(part)), NEAR * _size(part))
        shape = Polyhedron(tuple((float(x), float(y), float(z)) for x, y, z in corners))
        mass = None if body.mass_kg is None else body.mass_kg * size / whole
        contactor = Contactor(shape, body.contactors[0].group)
        named = replace(body, name=f"{body.name}_{number}", contactors=[contactor], mass_kg=mass)
        if any(body.angular_velocity_rad_per_s):
            arm = turn(body.rotation_rad, tuple((centre - middle).tolist()))
            velocity = np.cross(body.angular_velocity_rad_per_s, arm) + body.velocity_m_per_s
            named = replace(named, velocity_m_per_s=tuple(velocity.tolist()))
        made.append(named)
    return made
