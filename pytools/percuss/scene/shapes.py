"""Shapes of contactors, each in a frame of its own. A new shape is a class here and a file in the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.scene.surfaces import Heights

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
class Ellipsoid:
    """An ellipsoid centred at the origin, by its three half axes."""

    kind: ClassVar = "ellipsoid"
    half_axes_m: Vector


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

    @classmethod
    def from_file(cls, path: str | Path, unit: str = "m") -> Polyhedron:
        """The convex hull of a mesh file: STL, OBJ or PLY."""
        return cls(Mesh.from_file(path, unit).vertices_m)


@dataclass(frozen=True)
class HalfSpace:
    """Everything below z = 0: ground, or a wall when turned."""

    kind: ClassVar = "half-space"


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles, anticlockwise seen from outside: fixed ground. Both may be arrays of numpy."""

    kind: ClassVar = "mesh"
    vertices_m: Sequence[Vector]
    triangles: Sequence[tuple[int, int, int]]

    @classmethod
    def from_file(cls, path: str | Path, unit: str = "m", *, reverse: bool = False) -> Mesh:
        """The surface of a file: STL, OBJ or PLY, with lengths in `unit`; `reverse` turns every triangle."""
        from percuss.scene.surfaces import read_mesh

        return cls(*read_mesh(str(path), _bytes_of(path), unit, reverse=reverse))  # type: ignore[arg-type]

    def solid(self, density_kg_per_m3: float) -> dict[str, Any]:
        """Mass, centre and inertia of the solid inside, as the keywords of a `Body`."""
        from percuss.scene.surfaces import solid_of

        mass, centre, inertia = solid_of(self.vertices_m, self.triangles, density_kg_per_m3)  # type: ignore[arg-type]
        return {
            "mass_kg": mass,
            "centre_m": tuple(centre.tolist()),
            "inertia_kg_m2": tuple(map(tuple, inertia.tolist())),
        }


@dataclass(frozen=True)
class HeightField:
    """A surface z(x, y) over a grid that starts at the origin: fixed ground. One row of heights for each y."""

    kind: ClassVar = "height-field"
    spacing_m: tuple[float, float]
    heights_m: Sequence[Sequence[float]]

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        unit: str = "m",
        spacing_m: tuple[float, float] | None = None,
        nodata: str = "refuse",
    ) -> HeightField | Mesh:
        """The ground of a file: ESRI ASCII grid, or NPY or CSV with a spacing. With holes it is a mesh."""
        from percuss.scene.surfaces import read_heights

        return ground_of(read_heights(str(path), _bytes_of(path), unit, spacing_m, nodata))


def ground_of(heights: Heights) -> HeightField | Mesh:
    """A height field, or a mesh where points have no height."""
    import numpy as np

    if np.isfinite(heights.heights_m).all():
        return HeightField(heights.spacing_m, heights.heights_m)  # type: ignore[arg-type]
    return Mesh(*heights.mesh())  # type: ignore[arg-type]


def _bytes_of(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise InputError(f"`{path}` cannot be read: {fault.strerror}") from None


Shape = Sphere | Box | Cylinder | Capsule | Cone | Ellipsoid | Ring | Polyhedron | HalfSpace | Mesh | HeightField
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape
    for shape in (Sphere, Box, Cylinder, Capsule, Cone, Ellipsoid, Ring, Polyhedron, HalfSpace, Mesh, HeightField)
}
