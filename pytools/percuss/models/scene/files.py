"""Shapes of a scene that stand in files of the study's folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.errors import InputError
from percuss.scene import Mesh, Polyhedron, Shape
from percuss.scene.shapes import ground_of


def shape_from_file(kind: str, files: Mapping[str, bytes], file: str, unit: str, **settings: Any) -> Shape:
    """The shape of an attached file; raises InputError naming the file and what is wrong with it."""
    from percuss.scene.surfaces import read_heights, read_mesh

    if file not in files:
        raise InputError(f"`{file}` is not among the study's files")
    if kind == "height-field":
        return ground_of(read_heights(file, files[file], unit, settings.get("spacing_m"), settings["nodata"]))
    vertices, triangles = read_mesh(file, files[file], unit, reverse=settings["reverse"])
    return Mesh(vertices, triangles) if kind == "mesh" else Polyhedron(vertices)  # type: ignore[arg-type]
