"""NPY: a table of heights as numpy saves it, rows from y = 0 on, NaN where there is none."""

from __future__ import annotations

import io
import math

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array


def read(data: bytes) -> tuple[Array, tuple[float, float] | None]:
    """Heights; the file knows no spacing. Objects are refused, and a header that promises more than the file has."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, kind = header(stream)
    except (ValueError, KeyError, EOFError):
        raise InputError("is no NPY file of version 1 or 2") from None
    if kind.hasobject or kind.kind not in "fiu" or len(shape) != 2:
        raise InputError(f"holds {len(shape)} dimensions of {kind}: heights are a table of numbers with two")
    start = stream.tell()
    if math.prod(shape) * kind.itemsize != len(data) - start:
        raise InputError(f"has {len(data) - start} bytes after its header, {shape[0]} x {shape[1]} numbers take others")
    table = np.frombuffer(data, kind, offset=start).reshape(shape, order="F" if fortran else "C")
    return np.ascontiguousarray(table, dtype=np.float64), None
