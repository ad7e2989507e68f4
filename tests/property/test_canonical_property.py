"""Encoding and digests: different values never look the same, the same values always do."""

from __future__ import annotations

import io
import struct

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.ledger.blobs import table_digest
from percuss.ledger.canonical import encode

values = st.recursive(
    st.none() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


def decode(data: bytes) -> object:
    """The inverse of `encode`: that it exists shows that no two values share their bytes."""
    value, rest = _decode(data)
    assert rest == b""
    return value


def _decode(data: bytes) -> tuple[object, bytes]:
    tag, data = data[:1], data[1:]
    if tag == b"n":
        return None, data
    (length,) = struct.unpack("<Q", data[:8])
    data = data[8:]
    if tag == b"l":
        items = []
        for _ in range(length):
            item, data = _decode(data)
            items.append(item)
        return items, data
    piece, data = data[:length].decode(), data[length:]
    return (int(piece) if tag == b"i" else piece), data


@given(values)
def test_encode_can_be_undone(value: object) -> None:
    assert decode(encode(value)) == value


@given(values, values)
def test_encode_is_injective(a: object, b: object) -> None:
    assert (encode(a) == encode(b)) == (a == b and str(a) == str(b))


TYPES: dict[str, tuple[pl.DataType, st.SearchStrategy[object]]] = {
    "f64": (pl.Float64(), st.floats(allow_nan=True)),
    "f32": (pl.Float32(), st.floats(width=32)),
    "i64": (pl.Int64(), st.integers(-(2**63), 2**63 - 1)),
    "i32": (pl.Int32(), st.integers(-(2**31), 2**31 - 1)),
    "u64": (pl.UInt64(), st.integers(0, 2**64 - 1)),
    "u32": (pl.UInt32(), st.integers(0, 2**32 - 1)),
    "u8": (pl.UInt8(), st.integers(0, 255)),
    "bool": (pl.Boolean(), st.booleans()),
    "text": (pl.String(), st.text(st.characters(codec="utf-8"), max_size=5)),
    "list": (pl.List(pl.Float64()), st.lists(st.none() | st.floats(), max_size=3)),
    "texts": (pl.List(pl.String()), st.lists(st.text(st.characters(codec="utf-8"), max_size=3), max_size=3)),
    "lists": (pl.List(pl.List(pl.Int64())), st.lists(st.lists(st.integers(0, 9), max_size=2), max_size=2)),
}


@st.composite
def tables(draw: st.DrawFn, rows: int | None = None) -> pl.DataFrame:
    """A table of any of the types a payload can hold, with nulls."""
    names = draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=4), min_size=1, max_size=4, unique=True))
    height = draw(st.integers(0, 5)) if rows is None else rows
    columns = []
    for name in names:
        dtype, items = TYPES[draw(st.sampled_from(sorted(TYPES)))]
        cells = draw(st.lists(st.none() | items, min_size=height, max_size=height))
        columns.append(pl.Series(name, cells, dtype=dtype))
    return pl.DataFrame(columns)


@settings(max_examples=150)
@given(tables(), st.sampled_from(["zstd", "snappy", "uncompressed"]), st.integers(0, 5))
def test_digest_survives_parquet_and_chunks(table: pl.DataFrame, compression: str, cut: int) -> None:
    digest = table_digest(table)
    stored = io.BytesIO()
    table.write_parquet(stored, compression=compression, row_group_size=2)
    assert table_digest(pl.read_parquet(io.BytesIO(stored.getvalue()))) == digest
    pieces = pl.concat([table.head(cut), table.slice(cut)], rechunk=False)
    assert table_digest(pieces) == digest
    assert table_digest(pieces.rechunk()) == digest


@settings(max_examples=200)
@given(tables(rows=4), st.data())
def test_digest_sees_every_change(table: pl.DataFrame, data: st.DataObject) -> None:
    digest = table_digest(table)
    column = data.draw(st.sampled_from(table.columns))
    series = table[column]
    what = data.draw(st.sampled_from(["cell", "null", "name", "rows", "drop", "order", "type", "row order"]))
    if what == "cell":
        items = next(items for dtype, items in TYPES.values() if dtype == series.dtype)
        row, item = data.draw(st.integers(0, 3)), data.draw(items)
        cells = series.to_list()
        changed = pl.Series(column, [*cells[:row], item, *cells[row + 1 :]], dtype=series.dtype)
        # Bit patterns decide: 0.0 is not -0.0, and NaN is itself.
        same = _bits(changed) == _bits(series)
        assert (table_digest(table.with_columns(changed)) == digest) == same
        return
    if what == "null":
        row = data.draw(st.integers(0, 3))
        cells = series.to_list()
        if cells[row] is None:
            return
        changed = pl.Series(column, [*cells[:row], None, *cells[row + 1 :]], dtype=series.dtype)
        other = table.with_columns(changed)
    elif what == "name":
        other = table.rename({column: column + "'"})
        if len(set(other.columns)) < other.width:
            return
    elif what == "rows":
        other = table.head(3)
    elif what == "drop":
        other = pl.DataFrame([kept for kept in table.get_columns() if kept.name != column])
    elif what == "order":
        other = pl.DataFrame(table.get_columns()[::-1])
        if other.columns == table.columns:
            return
    elif what == "type":
        wider = {pl.UInt8(): pl.UInt32(), pl.UInt32(): pl.UInt64(), pl.Int32(): pl.Int64(), pl.Boolean(): pl.UInt8()}
        if series.dtype not in wider:
            return
        other = table.with_columns(series.cast(wider[series.dtype]))
    else:
        other = pl.concat([table.slice(row, 1) for row in (3, 2, 1, 0)])
        if all(_bits(other[name]) == _bits(table[name]) for name in table.columns):
            return
    assert table_digest(other) != digest


def _bits(series: pl.Series) -> list[object]:
    def bits(value: object) -> object:
        if isinstance(value, float):
            return struct.pack("<d", value)
        if isinstance(value, list):
            return [bits(item) for item in value]
        return value

    return [bits(value) for value in series.to_list()]
