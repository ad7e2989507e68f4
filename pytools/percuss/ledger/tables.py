"""Digest of the logical content of a table: names, types and values, whatever Parquet writer stored it.

`docs/ledger-format.md` is the specification. Two tables have the same digest exactly if they have the same columns
in the same order with the same types and the same values bit for bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from percuss.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def table_digest(frame: pl.DataFrame) -> str:
    """SHA-256 over the columns: for each its name, its type, the number of rows, which are null, the values.

    >>> import polars as pl
    >>> table_digest(pl.DataFrame({"x": [1.0, 2.0]})) == table_digest(pl.DataFrame({"x": [1.0, 2.0]}).rechunk())
    True
    >>> table_digest(pl.DataFrame({"x": [1.0]})) == table_digest(pl.DataFrame({"x": [1]}))
    False
    """
    return columns_digest(frame.get_columns(), frame.width)


def columns_digest(columns: Iterable[pl.Series], width: int) -> str:
    """The same, of columns that come one by one: a table may be larger than the memory."""
    state = hashlib.sha256()
    state.update(width.to_bytes(8, "little"))
    for column in columns:
        name = column.name.encode()
        state.update(len(name).to_bytes(8, "little") + name)
        _add_series(state, column)
    return state.hexdigest()


def _add_series(state: hashlib._Hash, series: pl.Series) -> None:
    import polars as pl

    names: dict[object, tuple[bytes, str]] = {
        pl.Float64: (b"f64", "<f8"),
        pl.Float32: (b"f32", "<f4"),
        pl.Int64: (b"i64", "<i8"),
        pl.Int32: (b"i32", "<i4"),
        pl.UInt64: (b"u64", "<u8"),
        pl.UInt32: (b"u32", "<u4"),
        pl.UInt8: (b"u8", "<u1"),
        pl.Boolean: (b"bool", "<u1"),
    }
    dtype = series.dtype
    kind = dtype.base_type()
    rows = len(series).to_bytes(8, "little")
    nulls = series.is_null().cast(pl.UInt8).to_numpy().tobytes()
    if kind in names:
        name, code = names[kind]
        values = series.fill_null(False if kind is pl.Boolean else 0).to_numpy().astype(code, copy=False).tobytes()
        state.update(len(name).to_bytes(8, "little") + name + rows + nulls + values)
    elif kind is pl.String:
        filled = series.fill_null("")
        lengths = filled.str.len_bytes().cast(pl.UInt64).to_numpy().astype("<u8", copy=False).tobytes()
        text = str(filled.str.join("").item()).encode() if rows != bytes(8) else b""
        state.update((4).to_bytes(8, "little") + b"text" + rows + nulls + lengths + text)
    elif isinstance(dtype, pl.List):
        lengths = series.list.len().fill_null(0).cast(pl.UInt64).to_numpy().astype("<u8", copy=False).tobytes()
        state.update((4).to_bytes(8, "little") + b"list" + rows + nulls + lengths)
        _add_series(state, series.filter(series.list.len() > 0).explode())
    else:
        raise InputError(f"column {series.name}: a payload cannot hold the type {dtype}")
