"""Numbers out of text, many at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from percuss.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]

# No file has as many vertices.
_MOST = 2**62


def text_of(data: bytes) -> str:
    """The text of a file; raises InputError for bytes that are none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None


def floats(words: Sequence[str] | Sequence[bytes], label: str) -> Array:
    """Words as numbers; raises InputError naming the first that is none."""
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        for word in words:
            shown = word.decode(errors="replace") if isinstance(word, bytes) else word
            if not re.fullmatch(
                r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|\s*[-+]?(nan|inf(inity)?)\s*", shown, re.I
            ):
                raise InputError(f"{label}: `{shown[:40]}` is no number") from None
        raise InputError(f"{label}: not numbers") from None


def joined(points: Array) -> tuple[Array, Array]:
    """Points that differ, in the order of their first use, and the number among them of each.

    Sorted by a hash of their bits, which takes a tenth of the time of sorting them as rows.
    """
    points = points + 0.0  # one zero, not two
    bits = points.view(np.uint64)
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * odd
    _, first, places = np.unique(mixed.sum(axis=1), return_index=True, return_inverse=True)
    if not np.array_equal(points[first][places], points):  # two points with one hash
        _, first, places = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[places.reshape(-1)]


def fans(polygons: Sequence[Sequence[int]], vertices: Array) -> Array:
    """Polygons cut into triangles, from the first corner of each; raises InputError for one that is not convex."""
    for place, polygon in enumerate(polygons):
        if max(map(abs, polygon), default=0) > _MOST:
            raise InputError(f"face {place} names a vertex that does not exist: there are {len(vertices)}")
    for count in sorted({len(polygon) for polygon in polygons} - {3}):
        places = [place for place, polygon in enumerate(polygons) if len(polygon) == count]
        if count < 3:
            raise InputError(f"face {places[0]} has {count} corners: a face needs three or more")
        corners = np.array([polygons[place] for place in places])
        if corners.min() < 0 or corners.max() >= len(vertices):
            continue  # refused with all that name no vertex
        arms = vertices[corners[:, 1:]] - vertices[corners[:, :1]]
        across = np.cross(arms[:, :-1], arms[:, 1:])
        # A fan covers the polygon once if none of its triangles is turned over.
        over = np.flatnonzero((np.einsum("ijk,ik->ij", across, across.sum(axis=1)) < 0).any(axis=1))
        if len(over):
            raise InputError(
                f"face {places[over[0]]} with {count} corners cannot be cut into triangles from its first corner, as "
                "it is not convex: cut it in the program that wrote the file"
            )
    triangles = [(p[0], p[k], p[k + 1]) for p in polygons for k in range(1, len(p) - 1)]
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)
