"""The tables of formats, by the ending of a file's name, and the way from bytes to a checked surface in SI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from percuss.errors import InputError
from percuss.scene.nodata import NODATA
from percuss.scene.surfaces import ascii_grid, csv_grid, npy, obj, ply, stl
from percuss.scene.surfaces.checks import FARTHEST_M, check_outwards, check_surface
from percuss.scene.surfaces.numbers import Array, joined
from percuss.units import parse_unit, same_dimension

MESHES: dict[str, Callable[[bytes], tuple[Array, Array]]] = {".stl": stl.read, ".obj": obj.read, ".ply": ply.read}
GRIDS: dict[str, Callable[[bytes], tuple[Array, tuple[float, float] | None]]] = {
    ".asc": ascii_grid.read,
    ".npy": npy.read,
    ".csv": csv_grid.read,
}
T = TypeVar("T")


@dataclass(frozen=True)
class Heights:
    """A grid of heights, rows from y = 0 on; the first point stands at x = y = 0. NaN has no ground."""

    spacing_m: tuple[float, float]
    heights_m: Array

    def mesh(self) -> tuple[Array, Array]:
        """Vertices and triangles, those at a point without a height left out."""
        rows, columns = self.heights_m.shape
        y, x = np.mgrid[:rows, :columns]
        vertices = np.stack([x * self.spacing_m[0], y * self.spacing_m[1], self.heights_m], axis=2).reshape(-1, 3)
        a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        b, c, d = a + 1, a + columns, a + columns + 1
        triangles = np.stack([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)], axis=1).reshape(-1, 3)
        triangles = triangles[np.isfinite(vertices[:, 2])[triangles].all(axis=1)]
        used, places = np.unique(triangles, return_inverse=True)
        return vertices[used], places.reshape(-1, 3)


def read_mesh(name: str, data: bytes, unit: str = "m", *, reverse: bool = False) -> tuple[Array, Array]:
    """Vertices (m) and triangles of a mesh file; `unit` is that of its lengths, `reverse` turns every triangle.

    Raises InputError that names the file and what is wrong with it.
    """
    try:
        vertices, triangles = _reader(name, MESHES)(data)
        triangles = triangles[:, ::-1] if reverse else triangles
        vertices, triangles = _welded(vertices, triangles)
        check_surface(vertices, triangles)
        check_outwards(vertices, triangles)
        return _in_metres(vertices, unit), np.ascontiguousarray(triangles, dtype=np.uint32)
    except InputError as fault:
        raise InputError(f"`{name}`: {fault}") from None


def _welded(vertices: Array, triangles: Array) -> tuple[Array, Array]:
    """Vertices that are the same joined, so that neighbours are known: many programs write each triangle by itself."""
    if not len(triangles) or triangles.min() < 0 or triangles.max() >= len(vertices):
        return vertices, triangles  # refused by the check of the surface
    distinct, places = joined(vertices)
    return (distinct, places[triangles]) if len(distinct) < len(vertices) else (vertices, triangles)


def read_heights(
    name: str, data: bytes, unit: str = "m", spacing_m: tuple[float, float] | None = None, nodata: str = "refuse"
) -> Heights:
    """The grid of a file; `unit` is that of its heights and of the spacing it knows. See `read_mesh`."""
    try:
        heights, spacing = _reader(name, GRIDS)(data)
        if spacing is None and spacing_m is None:
            raise InputError("states no grid spacing: give it with `spacing`")
        if spacing is not None and spacing_m is not None:
            raise InputError(f"has a spacing of its own, {spacing[0]:g} and {spacing[1]:g} {unit}: leave out `spacing`")
        if min(heights.shape) < 2:
            raise InputError(
                f"has {heights.shape[1]} columns and {heights.shape[0]} rows: at least 2 of each are needed"
            )
        _check_heights(heights, nodata)
        if spacing is not None:
            x, y = _in_metres(np.array(spacing), unit).tolist()
            spacing_m = (x, y)
        heights_m = _in_metres(heights, unit)
        _check_size(spacing_m or (0.0, 0.0), heights_m)
        return Heights(spacing_m or (0.0, 0.0), heights_m)
    except InputError as fault:
        raise InputError(f"`{name}`: {fault}") from None


def _check_heights(heights: Array, nodata: str) -> None:
    if nodata not in NODATA:
        raise InputError(f"nodata = {nodata!r}: must be one of {', '.join(NODATA)}")
    if np.isinf(heights).any():
        raise InputError("holds an infinite height")
    empty = np.isnan(heights)
    if not empty.any():
        return
    if nodata == "refuse":
        row, column = np.argwhere(empty)[0]
        raise InputError(
            f"{empty.sum()} of {empty.size} points have no height, the first at row {row}, column {column} from y = 0 "
            'and x = 0: fill them, or say nodata = "hole", which leaves out the ground around them'
        )
    if not (~empty[:-1, :-1] & ~empty[1:, 1:] & (~empty[:-1, 1:] | ~empty[1:, :-1])).any():
        raise InputError("has no cell with heights at three corners: no ground is left")


def _check_size(spacing_m: tuple[float, float], heights_m: Array) -> None:
    rows, columns = heights_m.shape
    if not all(
        0 < length * (count - 1) <= FARTHEST_M for length, count in zip(spacing_m, (columns, rows), strict=True)
    ):
        raise InputError(
            f"its points are {spacing_m[0]:g} and {spacing_m[1]:g} m apart: must be above 0, and at most "
            f"{FARTHEST_M:g} m in all"
        )
    far = np.argwhere(np.abs(heights_m) > FARTHEST_M)
    if len(far):
        row, column = far[0]
        raise InputError(
            f"the height at row {row}, column {column} from y = 0 and x = 0 is {heights_m[row, column]:.3g} m, at most "
            f"{FARTHEST_M:g} m are allowed: is the unit right, and does the file say what stands for no height?"
        )


def _reader(name: str, formats: dict[str, T]) -> T:
    ending = PurePath(name).suffix.lower()
    if ending not in formats:
        raise InputError(f"ends in `{ending}`: must be one of {', '.join(formats)}")
    return formats[ending]


def _in_metres(lengths: Array, unit: str) -> Array:
    if not same_dimension(unit, "m"):
        raise InputError(f"unit = {unit!r} is no unit of length")
    scale = parse_unit(unit).scale
    # One rounding for millimetres and the like, as everywhere else.
    return lengths * float(scale.numerator) / float(scale.denominator)
