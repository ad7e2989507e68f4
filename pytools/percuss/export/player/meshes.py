"""Bodies as triangles: one mesh for all that look the same, smooth where the surface is round, and its sharp edges.

What lies inside another part of the same body comes last, so that it need not be drawn; balls are drawn coarser than
they are recorded, since shading makes them round. Rounds that are few pixels wide need few sides: `coarser`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.film import Surface

    Array = NDArray[np.float64]

# Edges between faces that meet at a smaller angle belong to a round surface: not drawn, and shaded as one.
ROUND_DEG = 25.0
# Sides of a round at each level of a mesh, and the angle up to which they are shaded as one: the last has no edges,
# which would be all one sees of it.
LEVELS = ((None, ROUND_DEG), (12, 40.0), (6, 75.0), (4, 100.0))
UNBOUNDED = "half-space"


@dataclass(frozen=True)
class Mesh:
    """Corners with normals, three of them a triangle, two an edge; `closed`: no back face can be seen."""

    places: Array
    normals: Array
    triangles: NDArray[np.int64]
    edges: NDArray[np.int64]
    closed: bool
    # Of triangles and edges those that can be seen while the body is opaque; the others come after them.
    outer: tuple[int, int]


def look_of(surfaces: Sequence[Surface]) -> bytes:
    """What tells how surfaces look from how others do."""
    return b"|".join(s.corners_m.tobytes() + repr(s.loops).encode() for s in surfaces)


def meshes_of(surfaces: Sequence[Surface], small_m: float = 0.0) -> list[Mesh]:
    """The mesh of a body, and coarser ones where it has rounds with many sides."""
    levels = [mesh_of(surfaces, small_m)]
    for sides, round_deg in LEVELS[1:]:
        assert sides is not None
        fewer = [coarser(surface, sides) for surface in surfaces]
        if any(a is not b for a, b in zip(surfaces, fewer, strict=True)):
            levels.append(mesh_of(fewer, small_m, round_deg))
    return levels


def round_m(surfaces: Sequence[Surface]) -> float:
    """How wide the widest round with many sides is; 0 where there is none."""
    import numpy as np

    most = LEVELS[1][0]
    assert most is not None
    rounds = [s.corners_m[loop] for s in surfaces for loop in s.loops if len(loop) > most]
    return max((float(np.ptp(corners, axis=0).max()) for corners in rounds), default=0.0)


def coarser(surface: Surface, sides: int) -> Surface:
    """A surface whose faces have at most so many corners, neighbours drawn together; the surface itself if they do."""
    import numpy as np

    target = np.arange(len(surface.corners_m))
    for loop in surface.loops:
        step = -(-len(loop) // sides)
        if surface.shape != UNBOUNDED and step > 1:
            for k, corner in enumerate(loop):
                target[corner] = target[loop[k - k % step]]
    if (target == np.arange(len(target))).all():
        return surface
    loops = [list(dict.fromkeys(int(target[corner]) for corner in loop)) for loop in surface.loops]
    return replace(surface, loops=[loop for loop in loops if len(loop) > 2])


def mesh_of(surfaces: Sequence[Surface], small_m: float = 0.0, round_deg: float = ROUND_DEG) -> Mesh:
    """The mesh of all surfaces of a body together; balls with a radius below `small_m` are coarse."""
    import numpy as np

    places: list[Array] = []
    normals: list[Array] = []
    triangles: list[tuple[int, int, int]] = []
    edges: list[tuple[int, int]] = []
    closed = True
    hidden = [any(_encloses(other, s) for other in surfaces if other is not s) for s in surfaces]
    outer = (0, 0)
    for inside in (False, True):
        for surface, covered in zip(surfaces, hidden, strict=True):
            if covered == inside:
                closed &= _add(_as_ball(surface, small_m), places, normals, triangles, edges, round_deg)
        outer = outer if inside else (len(triangles), len(edges))
    return Mesh(
        np.array(places, float).reshape(-1, 3),
        np.array(normals, float).reshape(-1, 3),
        np.array(triangles, np.int64).reshape(-1, 3),
        np.array(edges, np.int64).reshape(-1, 2),
        closed,
        outer,
    )


def _encloses(outer: Surface, inner: Surface) -> bool:
    """Whether every corner of one lies within the other, which must be convex and larger."""
    import numpy as np

    if UNBOUNDED in (outer.shape, inner.shape):
        return False
    reach = float(np.ptp(outer.corners_m, axis=0).max())
    planes = [(_normal(outer.corners_m[loop]), outer.corners_m[loop[0]]) for loop in outer.loops]
    normals, points = np.array([n for n, _ in planes]), np.array([p for _, p in planes])
    offsets = (normals * points).sum(axis=1)
    convex = float((outer.corners_m @ normals.T - offsets).max()) < 1e-6 * reach
    return convex and float((inner.corners_m @ normals.T - offsets).max()) < -1e-6 * reach


def _as_ball(surface: Surface, small_m: float) -> Surface:
    """A sphere with fewer and more even faces; any other surface as it is."""
    import numpy as np

    if surface.shape != "sphere":
        return surface
    middle = 0.5 * (surface.corners_m.min(axis=0) + surface.corners_m.max(axis=0))
    radius = float(np.linalg.norm(surface.corners_m - middle, axis=1).max())
    corners, loops = ball(1 if radius < small_m else 2)
    return replace(surface, corners_m=middle + radius * corners, loops=loops)


@cache
def ball(level: int) -> tuple[Array, list[list[int]]]:
    """A unit icosahedron with every face divided into four, `level` times."""
    import numpy as np

    g = 0.5 * (1 + 5**0.5)
    corners = [np.array(c, float) for c in ((-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
               (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1))]  # fmt: skip
    corners = [c / np.linalg.norm(c) for c in corners]
    loops = [list(f) for f in ((0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4),
             (11, 10, 2), (10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5),
             (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1))]  # fmt: skip
    for _ in range(level):
        middles: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int, middles: dict[tuple[int, int], int] = middles) -> int:
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(corners)
                between = corners[a] + corners[b]
                corners.append(between / np.linalg.norm(between))
            return middles[key]

        divided = []
        for a, b, c in loops:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            divided += [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        loops = divided
    return np.array(corners), loops


def _add(
    surface: Surface,
    places: list[Array],
    normals: list[Array],
    triangles: list[tuple[int, int, int]],
    edges: list[tuple[int, int]],
    round_deg: float,
) -> bool:
    """Add a surface to a mesh; tells whether it is closed."""
    import numpy as np

    corners = surface.corners_m
    if surface.shape == UNBOUNDED:
        # As far as the haze, which hides its end.
        centre = corners.mean(axis=0)
        corners = centre + 8.0 * (corners - centre)
    facing = [_normal(corners[loop]) for loop in surface.loops]
    touching: dict[int, list[int]] = {}
    sides: dict[tuple[int, int], list[int]] = {}
    for number, loop in enumerate(surface.loops):
        for a, b in zip(loop, [*loop[1:], loop[0]], strict=True):
            touching.setdefault(a, []).append(number)
            sides.setdefault((min(a, b), max(a, b)), []).append(number)
    smooth = float(np.cos(np.radians(round_deg)))
    kept: dict[tuple[int, bytes], int] = {}
    first_of: dict[int, int] = {}
    for number, loop in enumerate(surface.loops):
        here = []
        for corner in loop:
            mean = np.sum([facing[other] for other in _round(number, touching[corner], facing, smooth)], axis=0)
            normal = mean / np.linalg.norm(mean)
            key = (corner, np.round(normal, 3).tobytes())
            if key not in kept:
                kept[key] = len(places)
                places.append(corners[corner])
                normals.append(normal)
            first_of.setdefault(corner, kept[key])
            here.append(kept[key])
        triangles += [(here[0], here[k], here[k + 1]) for k in range(1, len(here) - 1)]
    if surface.shape != UNBOUNDED:
        edges += [
            (first_of[a], first_of[b])
            for (a, b), faces in sides.items()
            if len(faces) < 2 or float(facing[faces[0]] @ facing[faces[1]]) < smooth
        ]
    return all(len(faces) == 2 for faces in sides.values())


def face_normals(surface: Surface) -> Array:
    """Normals of the polygons of a surface, in the frame of its body."""
    import numpy as np

    return np.array([_normal(surface.corners_m[loop]) for loop in surface.loops]).reshape(-1, 3)


def _round(face: int, around: Sequence[int], facing: Sequence[Array], smooth: float) -> list[int]:
    """The faces around a corner that one can get to from a face without crossing a sharp edge."""
    reached, left = [face], [other for other in around if other != face]
    for here in reached:
        near = [other for other in left if float(facing[other] @ facing[here]) >= smooth]
        reached += near
        left = [other for other in left if other not in near]
    return sorted(reached)


def _normal(points: Array) -> Array:
    """Newell's normal: right for any flat polygon."""
    import numpy as np

    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    return normal / length if length else np.array([0.0, 0.0, 1.0])
