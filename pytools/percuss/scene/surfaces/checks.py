"""What a surface of triangles must be: corners that exist, triangles with an area that all face one side."""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array

# As in the core: twice the area over the square of the longest side.
_FLAT = 1e-12
# A tenth of a micrometre is still resolved there, and products of lengths are finite.
FARTHEST_M = 1e9
# A point that triangles surround so often lies in a closed piece; an open piece surrounds none by more than half.
_INSIDE = 0.75


def check_surface(vertices: Array, triangles: Array) -> None:
    """Raise InputError naming the first triangle that is wrong; triangles count from 0, as in the file."""
    if not len(triangles):
        raise InputError("has no triangle")
    if not np.isfinite(vertices).all():
        raise InputError(f"vertex {np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0]} is not finite")
    far = np.flatnonzero((np.abs(vertices) > FARTHEST_M).any(axis=1))
    if len(far):
        size = np.abs(vertices[far[0]]).max()
        raise InputError(
            f"vertex {far[0]} lies {size:.3g} m away, at most {FARTHEST_M:g} m are allowed: is the unit right?"
        )
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


def check_outwards(vertices: Array, triangles: Array) -> None:
    """Raise InputError for a closed piece of the surface that faces inwards, unless it is a cavity of another piece."""
    piece = _pieces(len(vertices), triangles)
    names = np.arange(len(vertices))
    ends = (triangles, np.roll(triangles, -1, axis=1))
    edges = (np.minimum(*ends) * len(vertices) + np.maximum(*ends)).ravel()
    _, edge, count = np.unique(edges, return_inverse=True, return_counts=True)
    alone = count[edge] == 1
    is_open = np.bincount(np.repeat(piece, 3), weights=alone, minlength=len(names)) > 0
    # From a vertex of the piece itself: pieces may lie far from the origin.
    corners = vertices[triangles] - vertices[piece][:, None]
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    volume = np.bincount(piece, weights=volumes, minlength=len(names))
    there = np.bincount(piece, minlength=len(names)) > 0
    for name in names[there & ~is_open & (volume <= 0)]:
        own = piece == name
        if own.all():
            raise InputError(
                "its triangles face inwards: turn them, by `reverse` here or in the program that wrote the file"
            )
        if _turns(vertices[name], vertices[triangles[~own]]) < _INSIDE:
            raise InputError(
                f"the closed piece with triangle {np.argmax(own)} faces inwards and lies in no other: turn its "
                "triangles in the program that wrote the file"
            )


def _pieces(count: int, triangles: Array) -> Array:
    """A vertex for each triangle, the same for all that vertices connect."""
    names = np.arange(count)
    while True:
        least = names[triangles].min(axis=1)
        before = names.copy()
        for k in range(3):
            # The name of the name too, so that long pieces take few rounds.
            np.minimum.at(names, names[triangles[:, k]], least)
            np.minimum.at(names, triangles[:, k], least)
        names = names[names]
        if np.array_equal(names, before):
            pieces: Array = names[triangles[:, 0]]
            return pieces


def _turns(point: Array, corners: Array) -> float:
    """How often triangles surround a point: 1 within a closed surface, 0 outside (van Oosterom and Strackee 1983)."""
    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(arm, axis=1) for arm in (a, b, c))
    dot = np.einsum
    below = la * lb * lc + dot("ij,ij->i", a, b) * lc + dot("ij,ij->i", b, c) * la + dot("ij,ij->i", c, a) * lb
    above = dot("ij,ij->i", a, np.cross(b, c))
    return float(2 * np.arctan2(above, below).sum() / (4 * np.pi))


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
