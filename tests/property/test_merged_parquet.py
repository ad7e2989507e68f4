"""Many small Parquet files as one: what comes out is what polars reads of each, whatever the columns hold; and a file
that is not as it should be is refused, never a crash."""

from __future__ import annotations

import io
import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from percuss import _core
from percuss.ledger.files import parquet_bytes

LARGEST = 64 * 1024 * 1024
NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
TEXT = st.none() | st.text(max_size=300) | st.sampled_from(["main", "percuss.sha256", ""])
PAIR = st.none() | st.fixed_dictionaries({"role": TEXT, "rows": NUMBER})
ROW = st.fixed_dictionaries(
    {
        "seq": NUMBER,
        "version": st.none() | st.integers(-(2**31), 2**31 - 1),
        "x": st.none() | st.floats(),
        "at": st.none() | st.datetimes(),
        "body": TEXT,
        "argv": st.none() | st.lists(TEXT, max_size=9),
        "study": PAIR,
        "inputs": st.none() | st.lists(PAIR, max_size=5),
        "deep": st.none() | st.lists(st.none() | st.lists(TEXT, max_size=3), max_size=3),
    }
)
TABLES = st.lists(st.lists(ROW, max_size=20), min_size=1, max_size=6)


def _schema() -> pl.Schema:
    pair = pl.Struct({"role": pl.String(), "rows": pl.Int64()})
    return pl.Schema(
        {
            "seq": pl.Int64(),
            "version": pl.Int32(),
            "x": pl.Float64(),
            "at": pl.Datetime("us", "UTC"),
            "body": pl.String(),
            "argv": pl.List(pl.String()),
            "study": pair,
            "inputs": pl.List(pair),
            "deep": pl.List(pl.List(pl.String())),
        }
    )


def _frame(rows: list[dict[str, object]]) -> pl.DataFrame:
    plain = pl.Schema({**_schema(), "at": pl.Datetime("us")})
    return pl.DataFrame(rows, schema=plain).with_columns(pl.col("at").dt.replace_time_zone("UTC"))


def _merged(files: list[bytes], largest: int = LARGEST) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(_core.merge_parquet(files, largest)))


@given(TABLES)
@settings(deadline=None)
def test_rows_come_out_as_polars_reads_them(tables) -> None:
    frames = [_frame(rows) for rows in tables]
    merged = _merged([parquet_bytes(frame) for frame in frames])
    assert merged.schema == _schema()
    assert_frame_equal(merged, pl.concat(frames))


@pytest.mark.parametrize("compression", ["zstd", "uncompressed"])
@pytest.mark.parametrize("rows_in_group", [7, None])
def test_long_columns_and_many_groups(compression, rows_in_group) -> None:
    """Dictionaries of many values, runs, packed numbers, several groups and pages."""
    draw = random.Random(3)
    rows = [
        {
            "seq": i,
            "version": i % 3,
            "x": float(i // 100),
            "body": "same" * (i % 2),
            "argv": [str(draw.randrange(50)) for _ in range(i % 4)],
            "inputs": [{"role": "a", "rows": k} for k in range(i % 3)] if i % 5 else None,
        }
        for i in range(3000)
    ]
    frame, file = _frame([{**dict.fromkeys(_schema()), **row} for row in rows]), io.BytesIO()
    frame.write_parquet(
        file, compression=compression, statistics=True, row_group_size=rows_in_group, data_page_size=2000
    )
    assert_frame_equal(_merged([file.getvalue(), file.getvalue()]), pl.concat([frame, frame]))


def test_other_columns_are_refused() -> None:
    one, other = pl.DataFrame({"seq": [1]}), pl.DataFrame({"seq": ["1"]})
    with pytest.raises(ValueError, match="file 1 has other columns than the first"):
        _core.merge_parquet([parquet_bytes(one), parquet_bytes(other)], LARGEST)


def test_other_words_beside_the_columns_are_refused() -> None:
    """What a reader makes of columns may depend on them; the digest that each file carries is no such word."""
    buffer = io.BytesIO()
    pl.DataFrame({"seq": [1]}).write_parquet(buffer, metadata={"percuss.sha256": "0" * 64, "more": "words"})
    with pytest.raises(ValueError, match="other columns"):
        _core.merge_parquet([parquet_bytes(pl.DataFrame({"seq": [1]})), buffer.getvalue()], LARGEST)


def test_tables_that_unpack_to_more_than_allowed_are_refused() -> None:
    """A run of one value takes a few bytes in the file, and as many as there are rows in memory."""
    file = parquet_bytes(pl.DataFrame({"text": ["x" * 1000] * 100_000}))
    assert len(file) < 10_000
    with pytest.raises(ValueError, match="more than 10000000 bytes"):
        _core.merge_parquet([file], 10_000_000)
    assert _merged([file], 200_000_000).height == 100_000


@given(st.randoms(use_true_random=False), st.integers(1, 8))
@settings(deadline=None, max_examples=300)
def test_damaged_files_are_refused_or_read(random_, changes) -> None:
    """Any bytes changed or cut: a ValueError, or a file that polars takes or refuses by itself."""
    row = {**dict.fromkeys(_schema()), "seq": 7, "body": "text", "argv": ["a", "b"]}
    data = bytearray(parquet_bytes(_frame([row, row])))
    for _ in range(changes):
        data[random_.randrange(len(data))] = random_.randrange(256)
    if random_.random() < 0.2:
        del data[random_.randrange(len(data)) :]
    try:
        _core.merge_parquet([bytes(data)], LARGEST)
    except ValueError as fault:
        assert len(str(fault)) < 200
