"""STL, text and binary: triangles by their corners, which are joined where they are the same to the bit."""

from __future__ import annotations

import re

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array, floats, joined

_HEAD = 84
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE | re.IGNORECASE)
_NORMAL = re.compile(rb"^\s*facet\s+normal\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE | re.IGNORECASE)


def read(data: bytes) -> tuple[Array, Array]:
    """Vertices and triangles; a normal that contradicts the order of its corners is refused."""
    normals, corners = _binary(data) if _is_binary(data) else _text(data)
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    against = np.flatnonzero(np.einsum("ij,ij->i", sides, normals) < 0)
    if len(against):
        raise InputError(
            f"triangle {against[0]}: its normal points to the side from which its corners run clockwise "
            f"({len(against)} of {len(corners)} triangles contradict themselves so)"
        )
    vertices, places = joined(corners.reshape(-1, 3))
    return vertices, places.reshape(-1, 3)


def _is_binary(data: bytes) -> bool:
    # Binary files may begin with "solid" too, but text has no zero byte.
    return data.lstrip()[:5].lower() != b"solid" or b"\0" in data[:512]


def _binary(data: bytes) -> tuple[Array, Array]:
    if len(data) < _HEAD:
        raise InputError(
            f"has {len(data)} bytes: a binary STL file has at least {_HEAD}, a text one begins with `solid`"
        )
    count = int.from_bytes(data[80:84], "little")
    if len(data) - _HEAD != count * _FACET.itemsize:
        raise InputError(
            f"says {count} triangles, which take {_HEAD + count * _FACET.itemsize} bytes, and has {len(data)} bytes"
        )
    facets = np.frombuffer(data, _FACET, count, _HEAD)
    return facets["normal"].astype(np.float64), facets["corners"].astype(np.float64)


def _text(data: bytes) -> tuple[Array, Array]:
    corners, normals = _VERTEX.findall(data), _NORMAL.findall(data)
    if len(corners) != 3 * len(normals):
        raise InputError(f"has {len(corners)} vertices for {len(normals)} facets: each facet has three")
    begin = [facet.start() for facet in _NORMAL.finditer(data)]
    facets = np.searchsorted(begin, [vertex.start() for vertex in _VERTEX.finditer(data)]) - 1
    odd = np.flatnonzero(facets != np.repeat(np.arange(len(normals)), 3))
    if len(odd):
        raise InputError(f"triangle {odd[0] // 3} has not three vertices")
    last = data.rstrip().rsplit(b"\n", 1)[-1].split()
    if not last or last[0].lower() != b"endsolid":
        raise InputError("does not end with `endsolid`: its end is missing")
    return (
        floats([x for row in normals for x in row], "normal").reshape(-1, 3),
        floats([x for row in corners for x in row], "vertex").reshape(-1, 3, 3),
    )
