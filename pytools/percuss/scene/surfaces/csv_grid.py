"""CSV: a table of heights without a header, rows from y = 0 on; empty fields and `nan` have none."""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array, floats, text_of


def read(data: bytes) -> tuple[Array, tuple[float, float] | None]:
    """Heights; the file knows no spacing."""
    lines = [line for line in text_of(data).splitlines() if line.strip()]
    if not lines:
        raise InputError("is empty")
    mark = next((mark for mark in (";", ",", "\t") if mark in lines[0]), ",")
    rows = [line.split(mark) for line in lines]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise InputError(f"row {number} has {len(row)} fields, the first {len(rows[0])}")
    words = [word if word.strip() else "nan" for row in rows for word in row]
    table = floats(words, "heights (a table without a header)").reshape(len(rows), -1)
    if _is_points(table):
        raise InputError("is a list of points x, y, z: must be a table of heights, one row for each y")
    return table, None


def _is_points(table: Array) -> bool:
    """Whether three columns give each pair of some x and some y once."""
    if table.shape[1] != 3 or not np.isfinite(table[:, :2]).all():
        return False
    places = {(x, y) for x, y in table[:, :2].tolist()}
    columns, rows = (len({place[axis] for place in places}) for axis in (0, 1))
    return min(columns, rows) > 1 and len(table) == len(places) == columns * rows
