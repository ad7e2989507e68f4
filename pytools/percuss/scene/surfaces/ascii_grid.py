"""ESRI ASCII grid: a header with size and spacing, then rows of heights from north to south."""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array, floats, text_of

_KEYS = ("ncols", "nrows", "cellsize", "dx", "dy", "xllcorner", "yllcorner", "xllcenter", "yllcenter", "nodata_value")


def read(data: bytes) -> tuple[Array, tuple[float, float] | None]:
    """Heights, rows from south to north and NaN where there is none, and the spacing along x and y."""
    words = text_of(data).split()
    head: dict[str, float] = {}
    while 2 * len(head) + 1 < len(words) and words[2 * len(head)].lower() in _KEYS:
        key = words[2 * len(head)].lower()
        if key in head:
            raise InputError(f"its header gives {key} twice")
        head[key] = float(floats([words[2 * len(head) + 1]], key)[0])
    for key in ("ncols", "nrows"):
        if not (head.get(key, 0.0) >= 1 and head[key].is_integer()):
            raise InputError(f"its header gives no whole number `{key}`: it is no ESRI ASCII grid")
    spacing = (head.get("cellsize", head.get("dx", 0.0)), head.get("cellsize", head.get("dy", 0.0)))
    if not (0 < spacing[0] < float("inf") and 0 < spacing[1] < float("inf")):
        raise InputError("its header gives no cellsize > 0 (or dx and dy)")
    columns, rows = int(head["ncols"]), int(head["nrows"])
    values = words[2 * len(head) :]
    if len(values) != columns * rows:
        raise InputError(f"has {len(values)} heights for {columns} x {rows} cells")
    heights = floats(values, "heights").reshape(rows, columns)[::-1].copy()
    # In single precision, in which many of these grids are kept: header and cells may be rounded to other digits.
    with np.errstate(over="ignore"):
        heights[heights.astype(np.float32) == np.float32(head.get("nodata_value", -9999.0))] = np.nan
    return heights, spacing
