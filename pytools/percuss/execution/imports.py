"""Tables from elsewhere: files read, headers with units, and numbers out of columns."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.designs.design import MAX_NUMBERS
from percuss.errors import InputError
from percuss.ledger.canonical import sha256_hex
from percuss.spelling import shown
from percuss.units import parse_unit

if TYPE_CHECKING:
    import polars as pl

# What stands in a table where there is no number, in small letters.
NO_NUMBER = ("", "nan", "na", "n/a", "null", "none")
# A header may carry a unit, as `gap [mm]`.
HEADER = re.compile(r"\s*\[([^\]]*)\]\s*$")


def read_table(path: Path, largest_bytes: int) -> tuple[pl.DataFrame, str]:
    """A CSV or Parquet file as a table, and the digest of its bytes."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise InputError(f"{path}: is not a regular file")
        if size > largest_bytes:
            raise InputError(
                f"{path}: {size} bytes, and at most {largest_bytes} are read", hint="the setting import_mb raises it"
            )
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as fault:
        raise InputError(f"{path}: cannot be read ({fault.strerror})") from fault
    return parse_table(path, data), sha256_hex(data)


def parse_table(path: Path, data: bytes) -> pl.DataFrame:
    """The bytes of a CSV or Parquet file, as its name says, as a table."""
    import polars as pl

    try:
        if path.suffix.lower() == ".parquet":
            _check_size(pl.scan_parquet(io.BytesIO(data)), path)
            table = pl.read_parquet(io.BytesIO(data))
        elif path.suffix.lower() == ".csv":
            _check_separator(data, path)
            heads = pl.read_csv(io.BytesIO(data), has_header=False, n_rows=1, infer_schema=False).row(0)
            _check_heads([str(head or "").strip() for head in heads], path)
            table = pl.read_csv(io.BytesIO(data), infer_schema_length=None)
        else:
            raise InputError(f"{path}: must end in .csv or .parquet")
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as fault:
        raise InputError(f"{path}: is not a readable table ({str(fault).splitlines()[0]})") from fault
    if table.height == 0:
        raise InputError(f"{path}: has no rows")
    return table


def _check_separator(data: bytes, path: Path) -> None:
    """A table as spreadsheets write it where the comma is the decimal sign."""
    first = data.split(b"\n", 1)[0]
    if b"," not in first and b";" in first:
        raise InputError(
            f"{path}: its columns are separated by `;`, and `,` is needed",
            hint="write it anew with `,` between columns and `.` in numbers",
        )


def _check_size(lazy: pl.LazyFrame, path: Path) -> None:
    """A few bytes of Parquet can stand for billions of rows: count before they are laid out in memory."""
    import polars as pl

    rows, columns = int(lazy.select(pl.len()).collect().item()), len(lazy.collect_schema())
    if rows * columns > MAX_NUMBERS:
        raise InputError(f"{path}: {rows} rows of {columns} columns, and at most {MAX_NUMBERS} values are read")


def _check_heads(heads: list[str], path: Path) -> None:
    twice = [head for head in dict.fromkeys(heads) if heads.count(head) > 1]
    if twice:
        raise InputError(f"{path}: has the column {twice[0]} {heads.count(twice[0])} times")


def column_numbers(table: pl.DataFrame, column: str, path: Path) -> list[float]:
    """The numbers of a column; empty cells and the words for no number are NaN, any other text is refused."""
    import polars as pl

    series = table[column]
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        empty = text.is_null() | text.str.to_lowercase().is_in(NO_NUMBER)
        numbers = text.cast(pl.Float64, strict=False)
        wrong = (numbers.is_null() & ~empty).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise InputError(f"{path}: row {row + 1} of column {column} is {shown(text[row])}, not a number")
        series = numbers.set(empty, None)
    elif not series.dtype.is_numeric() and series.dtype != pl.Null:
        raise InputError(f"{path}: column {column} holds {series.dtype}, not numbers")
    return list(series.cast(pl.Float64).fill_null(math.nan))


def own_unit(column: str, unit: str, path: Path) -> str:
    """The unit a header gives, or the study's; a length must not come in as a time."""
    given = HEADER.search(column)
    if not given:
        return unit
    own = given[1].strip()
    own = "1" if own in ("", "-") else own
    try:
        fits = parse_unit(own).dims == parse_unit(unit).dims
    except InputError as fault:
        raise InputError(f"{path}: column {column}: {fault}") from None
    if not fits:
        raise InputError(f"{path}: column {column}: must be in {unit}, or in a unit of the same dimension")
    return own


def column_units(columns: Mapping[str, str], units: Mapping[str, str], path: Path) -> dict[str, tuple[str, bool]]:
    """The unit in which each column was read, and whether its header said it; `units` are those of the study."""
    return {
        name: (own_unit(column, units[name], path), bool(HEADER.search(column))) for name, column in columns.items()
    }
