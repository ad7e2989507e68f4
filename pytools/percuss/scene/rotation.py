"""Rotation vectors: direction the axis, length the angle in radians."""

from __future__ import annotations

import math

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
