"""Digest of the logical content of a table: names, types and values, whatever Parquet writer stored it.

`docs/ledger-format.md` is the specification. Two tables have the same digest exactly if they have the same columns
in the same order with the same types and the same values bit for bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from percuss.errors import InputError

if TYPE_CHECKING:
    import polars as pl


# What the digest of a column is over is kept in memory up to this many bytes, and on disk beyond.
HELD_BYTES = 1 << 20


def table_digest(frame: pl.DataFrame) -> str:
    """SHA-256 over the columns: for each its name, its type, the number of rows, which are null, the values.

    >>> import polars as pl
    >>> table_digest(pl.DataFrame({"x": [1.0, 2.0]})) == table_digest(pl.DataFrame({"x": [1.0, 2.0]}).rechunk())
    True
    >>> table_digest(pl.DataFrame({"x": [1.0]})) == table_digest(pl.DataFrame({"x": [1]}))
    False
    """
    state = _begun(frame.width)
    for column in frame.get_columns():
        _name(state, column.name)
        _add_series(state, column)
    return state.hexdigest()


class SlicedDigest:
    """The digest of a table that is never in memory as a whole: its columns come in groups, each in slices of rows."""

    def __init__(self, width: int) -> None:
        self._state = _begun(width)

    def add(self, slices: Iterable[pl.DataFrame]) -> int:
        """The next columns, slice by slice from the first row on; how many rows they have. One slice at least."""
        columns: dict[str, _Column] = {}
        with ExitStack() as stack:
            for piece in slices:
                for series in piece.get_columns():
                    if series.name not in columns:
                        columns[series.name] = _Column(series.dtype, stack)
                    columns[series.name].add(series)
            for name, column in columns.items():
                _name(self._state, name)
                column.into(self._state)
        return next(iter(columns.values())).rows if columns else 0

    def hexdigest(self) -> str:
        """The digest of all columns so far."""
        return self._state.hexdigest()


class _Column:
    """A column as its slices come: the digest has all its nulls before all its values, so that they are put by."""

    def __init__(self, dtype: pl.DataType, stack: ExitStack) -> None:
        import polars as pl

        self.dtype = dtype
        self.rows = 0
        self.parts = [stack.enter_context(SpooledTemporaryFile(HELD_BYTES)) for _ in range(3)]  # noqa: SIM115
        self.items = _Column(dtype.inner, stack) if isinstance(dtype, pl.List) else None  # type: ignore[arg-type]

    def add(self, series: pl.Series) -> None:
        nulls, lengths, values, items = _parts(series)
        self.rows += len(series)
        for kept, part in zip(self.parts, (nulls, lengths, values), strict=True):
            kept.write(part)
        if self.items is not None and items is not None:
            self.items.add(items)

    def into(self, state: hashlib._Hash) -> None:
        state.update(_head(self.dtype) + self.rows.to_bytes(8, "little"))
        for kept in self.parts:
            kept.seek(0)
            while piece := kept.read(HELD_BYTES):
                state.update(piece)
        if self.items is not None:
            self.items.into(state)


def _begun(width: int) -> hashlib._Hash:
    return hashlib.sha256(width.to_bytes(8, "little"))


def _name(state: hashlib._Hash, name: str) -> None:
    text = name.encode()
    state.update(len(text).to_bytes(8, "little") + text)


def _add_series(state: hashlib._Hash, series: pl.Series) -> None:
    nulls, lengths, values, items = _parts(series)
    state.update(_head(series.dtype) + len(series).to_bytes(8, "little") + nulls + lengths)
    state.update(values)
    if items is not None:
        _add_series(state, items)


def _types() -> dict[object, tuple[bytes, str]]:
    import polars as pl

    return {
        pl.Float64: (b"f64", "<f8"),
        pl.Float32: (b"f32", "<f4"),
        pl.Int64: (b"i64", "<i8"),
        pl.Int32: (b"i32", "<i4"),
        pl.UInt64: (b"u64", "<u8"),
        pl.UInt32: (b"u32", "<u4"),
        pl.UInt8: (b"u8", "<u1"),
        pl.Boolean: (b"bool", "<u1"),
        pl.String: (b"text", ""),
        pl.List: (b"list", ""),
    }


def _head(dtype: pl.DataType) -> bytes:
    name = _types()[dtype.base_type()][0]
    return len(name).to_bytes(8, "little") + name


def _parts(series: pl.Series) -> tuple[bytes, bytes, bytes, pl.Series | None]:
    """What the digest of a column is over: nulls, lengths of what has any, values; of lists their items, all in one."""
    import polars as pl

    kind = series.dtype.base_type()
    if kind not in _types():
        raise InputError(f"column {series.name}: a payload cannot hold the type {series.dtype}")
    nulls = series.is_null().cast(pl.UInt8).to_numpy().tobytes()
    if kind is pl.String:
        filled = series.fill_null("")
        text = str(filled.str.join("").item()).encode() if len(series) else b""
        return nulls, _lengths(filled.str.len_bytes()), text, None
    if kind is pl.List:
        count = series.list.len()
        return nulls, _lengths(count.fill_null(0)), b"", series.filter(count > 0).explode()
    code = _types()[kind][1]
    values = series.fill_null(False if kind is pl.Boolean else 0).to_numpy().astype(code, copy=False).tobytes()
    return nulls, b"", values, None


def _lengths(counts: pl.Series) -> bytes:
    import polars as pl

    return counts.cast(pl.UInt64).to_numpy().astype("<u8", copy=False).tobytes()
