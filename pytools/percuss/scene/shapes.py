"""Shapes of contactors, each in a frame of its own. A new shape is a class here and a branch in the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """A ball around the origin."""

    kind: ClassVar = "sphere"
    radius_m: float


@dataclass(frozen=True)
class Box:
    """A box centred at the origin, by its full side lengths."""

    kind: ClassVar = "box"
    size_m: Vector


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about z with flat ends, centred at the origin."""

    kind: ClassVar = "cylinder"
    radius_m: float
    height_m: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder about z with round ends, centred at the origin; the length is that of its straight part."""

    kind: ClassVar = "capsule"
    radius_m: float
    length_m: float


@dataclass(frozen=True)
class Cone:
    """A cone about z, base at -height/2, apex at +height/2."""

    kind: ClassVar = "cone"
    radius_m: float
    height_m: float


@dataclass(frozen=True)
class Ring:
    """A hollow disk about z, centred at the origin: holds a cylinder that passes through it."""

    kind: ClassVar = "ring"
    inner_radius_m: float
    outer_radius_m: float
    height_m: float


@dataclass(frozen=True)
class Polyhedron:
    """The convex hull of points."""

    kind: ClassVar = "polyhedron"
    vertices_m: Sequence[Vector]


@dataclass(frozen=True)
class HalfSpace:
    """Everything below z = 0: ground, or a wall when turned."""

    kind: ClassVar = "half-space"


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles, anticlockwise seen from outside: fixed ground."""

    kind: ClassVar = "mesh"
    vertices_m: Sequence[Vector]
    triangles: Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class HeightField:
    """A surface z(x, y) over a grid that starts at the origin: fixed ground. One row of heights for each y."""

    kind: ClassVar = "height-field"
    spacing_m: tuple[float, float]
    heights_m: Sequence[Sequence[float]]


Shape = Sphere | Box | Cylinder | Capsule | Cone | Ring | Polyhedron | HalfSpace | Mesh | HeightField
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape
    for shape in (Sphere, Box, Cylinder, Capsule, Cone, Ring, Polyhedron, HalfSpace, Mesh, HeightField)
}
