"""What a surface of triangles must be: corners that exist, triangles with an area that all face one side."""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array

# As in the core: twice the area over the square of the longest side.
_FLAT = 1e-12


def check_surface(vertices: Array, triangles: Array) -> None:
    """Raise InputError naming the first triangle that is wrong; triangles count from 0, as in the file."""
    if not len(triangles):
        raise InputError("has no triangle")
    if not np.isfinite(vertices).all():
        raise InputError(f"vertex {np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0]} is not finite")
    outside = np.flatnonzero(((triangles < 0) | (triangles >= len(vertices))).any(axis=1))
    if len(outside):
        raise InputError(f"triangle {outside[0]} names a vertex that does not exist: there are {len(vertices)}")
    corners = vertices[triangles]
    sides = np.roll(corners, -1, axis=1) - corners
    across = np.linalg.norm(np.cross(sides[:, 0], -sides[:, 2]), axis=1)
    longest = np.einsum("ijk,ijk->ij", sides, sides).max(axis=1)
    flat = np.flatnonzero(across <= _FLAT * longest)
    if len(flat):
        raise InputError(f"triangle {flat[0]} has no area ({len(flat)} of {len(triangles)} have none): take them out")
    _check_turned(vertices, triangles)


def _check_turned(vertices: Array, triangles: Array) -> None:
    """Two neighbours that face one side pass along their common edge in opposite directions."""
    edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    names = edges[:, 0] * len(vertices) + edges[:, 1]
    order = np.argsort(names, kind="stable")
    twice = np.flatnonzero(names[order][1:] == names[order][:-1])
    if len(twice):
        # The first in the file is the one to look at.
        pairs = np.sort(np.column_stack([order[twice], order[twice + 1]]) // 3, axis=1)
        first, second = min(map(tuple, pairs[:, ::-1].tolist()))[::-1]
        raise InputError(
            f"triangles {first} and {second} face opposite sides: corners must be anticlockwise seen from outside for "
            "all of them"
        )


def closed_volume(vertices: Array, triangles: Array) -> float | None:
    """The volume a surface encloses, m^3, negative if it faces inwards; None if it has a border."""
    names = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    forth = names[:, 0] * len(vertices) + names[:, 1]
    back = names[:, 1] * len(vertices) + names[:, 0]
    if not np.array_equal(np.sort(forth), np.sort(back)):
        return None
    corners = vertices[triangles] - vertices.mean(axis=0)
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def solid_of(vertices: Array, triangles: Array, density_kg_per_m3: float) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of the solid that a closed surface bounds.

    The solid is the signed sum of the tetrahedra from one point to the triangles; for each the integral of x x^T is
    V/20 (sum of v v^T + (sum v)(sum v)^T). Raises InputError for a surface with a border, or one that faces inwards.
    """
    vertices, triangles = np.asarray(vertices, np.float64), np.asarray(triangles, np.int64)
    volume = closed_volume(vertices, triangles)
    if volume is None or volume <= 0:
        complaint = "has a border" if volume is None else "faces inwards"
        raise InputError(f"the surface {complaint}: it bounds no solid")
    apex = vertices.mean(axis=0)
    corners = vertices[triangles] - apex
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    sums = corners.sum(axis=1)
    centre = (volumes @ sums) / 4 / volume
    second = np.einsum("i,ijk,ijl->kl", volumes, corners, corners) + np.einsum("i,ik,il->kl", volumes, sums, sums)
    spread = density_kg_per_m3 * (second / 20 - volume * np.outer(centre, centre))
    return density_kg_per_m3 * volume, apex + centre, np.trace(spread) * np.eye(3) - spread
