"""Tables that people bring: measured values, records, runs made elsewhere. CSV or Parquet, one row per sample.

A header may carry a unit, as `gap [mm]` or `gap (mm)`; without one a column is in the unit its reader expects, and a
header that names another outside of brackets (`gap_mm`) is refused. Empty cells and the words for no number are gaps.
Every sentence about a cell names file, line (of a CSV file), row and column.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.ledger.files import check_table_size, quiet_panics, read_file
from percuss.spelling import did_you_mean, shown
from percuss.text_tables import (
    COMMENT,
    bare_name,
    check_first_line,
    check_separator,
    check_unit,
    header_unit,
    is_unit,
    loose_unit,
    rows_of,
)
from percuss.units import parse_unit

if TYPE_CHECKING:
    import polars as pl

# What stands in a table where there is no number, in small letters.
NO_NUMBER = ("", "nan", "na", "n/a", "null", "none")
# A page of Parquet can stand for billions of rows: more values than this are not laid out in memory.
MOST_VALUES = 100_000_000


@dataclass(frozen=True, eq=False)
class Measured:
    """A table and the file it is from, as messages name it."""

    file: str
    frame: pl.DataFrame
    data: bytes
    commented: bool = False

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.frame.height

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Columns by their names without units."""
        named: dict[str, list[str]] = {}
        for column in self.frame.columns:
            named.setdefault(bare_name(column), []).append(column)
        return named

    def columns(self, renamed: Mapping[str, str] | None = None) -> dict[str, str]:
        """The column of each name, one for each; `renamed` gives names to columns that have others."""
        names = {column: name for name, column in (renamed or {}).items()}
        for column, name in names.items():
            if column not in self.frame.columns:
                near = did_you_mean(column, self.frame.columns)
                raise InputError(f"{self.file}: has no column {column} for {name}: {near}")
        columns: dict[str, str] = {}
        for bare, all_of_them in self.by_name.items():
            for column in all_of_them:
                name = names.get(column, bare)
                if name in columns:
                    raise InputError(f"{self.file}: has two columns for {name}: {columns[name]} and {column}")
                columns[name] = column
        return columns

    def column(self, name: str) -> str:
        """The column of a name, with its unit or without."""
        fitting = [name] if name in self.frame.columns else self.by_name.get(name, [])
        if len(fitting) > 1:
            raise InputError(f"{self.file}: has several columns for {name}: {', '.join(fitting)}")
        if not fitting:
            raise InputError(f"{self.file}: has no column `{name}`: {did_you_mean(name, self.frame.columns)}")
        if f"{fitting[0]}_duplicated_0" in self.frame.columns:
            raise InputError(f"{self.file}: has the column {fitting[0]} several times")
        return fitting[0]

    def listed(self) -> str:
        """The columns, for a message."""
        return ", ".join(self.frame.columns[:20])

    def place(self, row: int) -> str:
        """Where a row is, from 0: file, line and row."""
        line = self._lines[row] if row < len(self._lines) else None
        return f"{self.file}: " + (f"line {line}, " if line else "") + f"row {row + 1}"

    def cells(self, name: str) -> list[Any]:
        """What stands in a column."""
        return self.frame[name].to_list()

    def numbers(self, column: str) -> list[float]:
        """The numbers of a column; gaps are NaN, any text that is no number is refused."""
        import polars as pl

        series = self.frame[column]
        if series.dtype == pl.String:
            text = series.str.strip_chars()
            empty = text.is_null() | text.str.to_lowercase().is_in(NO_NUMBER)
            numbers = text.cast(pl.Float64, strict=False)
            wrong = (numbers.is_null() & ~empty).arg_true()
            if len(wrong):
                row = int(wrong[0])
                raise InputError(f"{self.place(row)} of column {column} is {shown(text[row])}, not a number")
            series = numbers.set(empty, None)
        elif not series.dtype.is_numeric() and series.dtype != pl.Null:
            raise InputError(f"{self.file}: column {column} holds {series.dtype}, not numbers")
        return list(series.cast(pl.Float64).fill_null(math.nan))

    def finite(self, column: str, quantity: str, rows: Sequence[int] | None = None) -> list[float]:
        """The numbers of a column, or of some of its rows, without gaps; `what` needs them."""
        numbers = self.numbers(column)
        for row in range(self.rows) if rows is None else rows:
            if not math.isfinite(numbers[row]):
                raise InputError(f"{self.place(row)} of column {column} is {numbers[row]}: {quantity} needs a number")
        return numbers if rows is None else [numbers[row] for row in rows]

    def with_gaps(self, column: str) -> list[float]:
        """The numbers of a column, NaN for gaps; none is infinite."""
        numbers = self.numbers(column)
        for row, number in enumerate(numbers):
            if math.isinf(number):
                raise InputError(f"{self.place(row)} of column {column} is {number}: a finite number is needed")
        return numbers

    def units(self, columns: Mapping[str, str], units: Mapping[str, str]) -> dict[str, tuple[str, bool]]:
        """The unit in which each column was read, and whether its header said it; `units` are those of the study."""
        return {
            name: (self.unit(column, units[name]), header_unit(column) is not None) for name, column in columns.items()
        }

    def unit(self, column: str, like: str, said_unit: str | None = None) -> str:
        """The unit of a column: that of its header, else the one `said` of it, else `like`, whose dimension it has."""
        in_header = header_unit(column)
        if in_header is None and said_unit is None and (loose := loose_unit(column, like)):
            raise InputError(
                f"{self.file}: column {column}: seems to be in {loose}, and without brackets would be read in {like}",
                hint=f"write the unit that holds in brackets: `{column} [{like}]`, or another",
            )
        if in_header is None or (said_unit is not None and not is_unit(in_header)):
            return said_unit or like
        try:
            check_unit(column, in_header, like)
        except InputError as fault:
            raise InputError(f"{self.file}: {fault}") from None
        if said_unit is not None and parse_unit(said_unit).scale != parse_unit(in_header).scale:
            raise InputError(f"{self.file}: column {column}: the study says that it is in {said_unit}")
        return in_header

    @cached_property
    def _lines(self) -> list[int]:
        """The line of each row of a CSV file; none where rows cannot be told from lines for certain."""
        if self.file.lower().endswith(".parquet"):
            return []
        lines: list[int] = []
        for line, cells in rows_of(self.data, comments=self.commented):
            # A blank line is a row of gaps, but for those above the header.
            if cells or lines:
                lines.append(line)
        return lines[1:] if len(lines) == self.rows + 1 else []


def text_in(cell: object) -> str | None:
    """The text of a cell; None for an empty one."""
    text = None if cell is None else str(cell).strip()
    return text or None


def read_measured(path: Path, largest_bytes: int) -> Measured:
    """A table from a file of at most so many bytes."""
    if path.is_file() and (size := path.stat().st_size) > largest_bytes:
        raise InputError(
            f"{path}: {size} bytes, and at most {largest_bytes} are read", hint="the setting import_mb raises it"
        )
    return parse_measured(str(path), read_file(path, str(path), largest_bytes))


def parse_measured(file: str, data: bytes, *, logged: bool = False) -> Measured:
    """A table from the bytes of a file, CSV or Parquet by its ending.

    What a logger wrote (`logged`) may have any ending and lines of comment, and columns of one name as long as nobody
    asks for them.
    """
    import polars as pl

    ending = Path(file).suffix.lower()
    try:
        if ending != ".parquet":
            _of_file(file, check_separator, data)
        if ending == ".parquet":
            with quiet_panics():
                _of_file(file, check_table_size, data)
                _check_size(pl.scan_parquet(io.BytesIO(data)), file)
                frame = pl.read_parquet(io.BytesIO(data))
        elif logged:
            frame = pl.read_csv(io.BytesIO(data), infer_schema=False, comment_prefix=COMMENT)
        elif ending == ".csv":
            heads = pl.read_csv(io.BytesIO(data), has_header=False, n_rows=1, infer_schema=False).row(0)
            _check_heads([str(head or "").strip() for head in heads], file)
            frame = pl.read_csv(io.BytesIO(data), infer_schema_length=None)
        else:
            raise InputError(f"{file}: must end in .csv or .parquet")
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as fault:
        _of_file(file, check_first_line, data)
        raise InputError(f"{file}: is not a readable table ({str(fault).splitlines()[0]})") from fault
    if frame.height == 0:
        raise InputError(f"{file}: has no rows")
    return Measured(file, frame, data, logged)


def _of_file(file: str, check: Callable[[bytes], object], data: bytes) -> None:
    """Let a check of the text say which file it is about."""
    try:
        check(data)
    except InputError as fault:
        raise InputError(f"{file}: {fault}", hint=fault.hint) from None


def _check_size(lazy: pl.LazyFrame, file: str) -> None:
    import polars as pl

    rows, columns = int(lazy.select(pl.len()).collect().item()), len(lazy.collect_schema())
    if rows * columns > MOST_VALUES:
        raise InputError(f"{file}: {rows} rows of {columns} columns, and at most {MOST_VALUES} values are read")


def _check_heads(heads: list[str], file: str) -> None:
    twice = [head for head in dict.fromkeys(heads) if heads.count(head) > 1]
    if twice:
        raise InputError(f"{file}: has the column {twice[0]} {heads.count(twice[0])} times")
