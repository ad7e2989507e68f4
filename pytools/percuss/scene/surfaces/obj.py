"""Wavefront OBJ: vertices `v` and faces `f`; textures, normals, groups, materials and comments are passed over."""

from __future__ import annotations

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array, fans, floats, text_of


def read(data: bytes) -> tuple[Array, Array]:
    """Vertices and triangles; faces of more corners are cut into triangles."""
    words: list[str] = []
    polygons: list[list[int]] = []
    for number, line in enumerate(text_of(data).splitlines(), 1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        if parts[0] == "v":
            if len(parts) < 4:
                raise InputError(f"line {number}: `v` needs three coordinates")
            words += parts[1:4]
        elif parts[0] == "f":
            polygons.append(_corners(parts[1:], len(words) // 3, number))
    vertices = floats(words, "vertex").reshape(-1, 3)
    return vertices, fans(polygons, vertices)


def _corners(parts: list[str], known: int, number: int) -> list[int]:
    try:
        corners = [int(part.split("/")[0]) for part in parts]
    except ValueError:
        raise InputError(f"line {number}: `f` needs numbers of vertices") from None
    if len(corners) < 3:
        raise InputError(f"line {number}: a face needs three corners or more")
    if 0 in corners:
        raise InputError(f"line {number}: vertex 0; OBJ counts from 1")
    # Negative numbers count back from the vertex given last.
    return [corner - 1 if corner > 0 else known + corner for corner in corners]
