"""Rotation vectors: direction the axis, length the angle in radians."""

from __future__ import annotations

import math
from functools import lru_cache

from percuss.errors import InputError
from percuss.scene.shapes import Vector

_Quaternion = tuple[float, float, float, float]


def turn(rotation_rad: Vector, vector: Vector) -> Vector:
    """A vector turned.

    >>> [round(x, 12) for x in turn((0.0, 0.0, math.pi / 2), (1.0, 0.0, 2.0))]
    [0.0, 1.0, 2.0]
    """
    q = _quaternion(rotation_rad)
    return _product(_product(q, (0.0, *vector)), (q[0], -q[1], -q[2], -q[3]))[1:]


def turned_by(outer_rad: Vector, inner_rad: Vector) -> Vector:
    """The rotation `inner_rad` followed by `outer_rad`, both about fixed axes.

    >>> [round(x, 12) for x in turned_by((0.0, 0.0, 0.3), (0.0, 0.0, 0.4))]
    [0.0, 0.0, 0.7]
    """
    w, x, y, z = _product(_quaternion(outer_rad), _quaternion(inner_rad))
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return (0.0, 0.0, 0.0)
    scale = 2.0 * math.atan2(length, w) / length
    return (scale * x, scale * y, scale * z)


@lru_cache(maxsize=256)
def facing(axis: Vector, reference: Vector | None, label: str) -> Vector:
    """The rotation that brings z to `axis` and x to the side of `reference`; raises InputError if there is none.

    >>> [round(x, 12) + 0.0 for x in turn(facing((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), "axis"), (1.0, 0.0, 2.0))]
    [2.0, 1.0, 0.0]
    """
    length = math.sqrt(sum(a * a for a in axis))
    if not 0.0 < length < math.inf:
        raise InputError(f"{label} = {list(axis)} has no direction")
    x, y, z = (a / length for a in axis)
    sine = math.hypot(x, y)
    tilt: Vector = (math.pi, 0.0, 0.0) if z < 0.0 else (0.0, 0.0, 0.0)
    if sine > 0.0:
        scale = math.atan2(sine, z) / sine
        tilt = (-y * scale, x * scale, 0.0)
    if reference is None:
        return tilt
    (ax, ay, az), (rx, ry, rz) = turn(tilt, (1.0, 0.0, 0.0)), reference
    along = rx * ax + ry * ay + rz * az
    # z cross x is y: the part of the reference along it.
    across = rx * (y * az - z * ay) + ry * (z * ax - x * az) + rz * (x * ay - y * ax)
    size = math.sqrt(sum(r * r for r in reference))
    if not size < math.inf or math.hypot(along, across) <= 1e-9 * size:
        raise InputError(f"{label} = {list(axis)} has no reference {list(reference)} across it")
    angle = math.atan2(across, along)
    return turned_by((angle * x, angle * y, angle * z), tilt)


def _quaternion(rotation_rad: Vector) -> _Quaternion:
    angle = math.sqrt(sum(x * x for x in rotation_rad))
    if angle == 0.0:
        return (1.0, 0.0, 0.0, 0.0)
    scale = math.sin(0.5 * angle) / angle
    return (math.cos(0.5 * angle), *(scale * x for x in rotation_rad))  # type: ignore[return-value]


def _product(p: _Quaternion, q: _Quaternion) -> _Quaternion:
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )
