"""Results of a program: numbers by declared column from CSV, JSON, Parquet or NPY files, converted to SI.

What is half written, not a number, or not there is told in one sentence: to a campaign, a failed run. Sentences name
files and columns and never the scratch folder, so that a run that fails twice fails twice with the same words.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError, LedgerError
from percuss.ledger.files import check_table_size, quiet_panics, read_regular
from percuss.spelling import shown
from percuss.units import parse_unit, to_si

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Table = Callable[[str | int | None], "NDArray[Any]"]


class ResultError(InputError):
    """A result that cannot be used."""


@dataclass(frozen=True)
class Source:
    """Where a quantity is found: file, column (a dotted key in JSON, an index in NPY), row of a single number, unit."""

    file: str
    column: str | int | None
    unit: str
    row: int | None = None
    curve: bool = False


def read_results(
    folder: Path, sources: Mapping[str, Source], largest_bytes: int
) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """Single numbers and curves, in SI. Raises ResultError at the first that cannot be had."""
    tables: dict[str, Table] = {}
    values: dict[str, float] = {}
    curves: dict[str, NDArray[Any]] = {}
    for name, source in sources.items():
        if source.file not in tables:
            tables[source.file] = _open(folder, source.file, largest_bytes)
        where = source.file if source.column is None else f"{source.file}, {source.column}"
        try:
            column = tables[source.file](source.column)
        except (KeyError, IndexError, TypeError):
            raise ResultError(f"no such result: {where}: `{name}` is not there") from None
        except (ValueError, OverflowError) as fault:
            raise ResultError(f"no number: {where}: {fault}") from None
        if source.curve:
            curves[name] = column * float(parse_unit(source.unit).scale)
            continue
        row = 0 if source.row is None else source.row
        if (source.row is None and len(column) != 1) or not -len(column) <= row < len(column):
            raise ResultError(f"wrong number of rows: {where}: {len(column)}, and `{name}` is one number")
        values[name] = to_si(float(column[row]), source.unit)
    return values, curves


def _open(folder: Path, name: str, largest_bytes: int) -> Table:
    path = folder / name
    if not path.exists():
        raise ResultError(f"no result file: {name}")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ResultError(f"unreadable result: {name} is a link out of the scratch folder")
    try:
        data = read_regular(path, largest_bytes)
    except LedgerError as fault:
        words = str(fault).removeprefix(f"{path}: ")
        raise ResultError(f"unreadable result: {name}: {words}") from None
    try:
        return FORMATS[path.suffix](data)
    except ResultError as fault:
        raise ResultError(f"unreadable result: {name}: {fault}") from None
    except Exception as fault:  # whatever a reader makes of garbage
        raise ResultError(f"unreadable result: {name}: {type(fault).__name__}") from None


def _csv(data: bytes) -> Table:
    import polars as pl

    if not data.endswith(b"\n"):
        raise ResultError("its last line has no end, as if it was written in part")
    frame = pl.read_csv(io.BytesIO(data), infer_schema=False)
    return _columns(frame, texts=True)


def _json(data: bytes) -> Table:
    parsed = json.loads(data)

    def column(name: str | int | None) -> NDArray[Any]:
        inner = parsed
        for key in [] if name is None else str(name).split("."):
            inner = inner[int(key)] if isinstance(inner, list) else inner[key]
        return _numbers(inner if isinstance(inner, list) else [inner], texts=False)

    return column


def _parquet(data: bytes) -> Table:
    import polars as pl

    try:
        check_table_size(data)
        with quiet_panics():
            frame = pl.read_parquet(io.BytesIO(data))
    except InputError as fault:
        raise ResultError(f"is not read: {fault}") from None
    except pl.exceptions.PanicException:
        raise ResultError("is not Parquet") from None
    return _columns(frame, texts=False)


def _npy(data: bytes) -> Table:
    import numpy as np

    array = np.load(io.BytesIO(data), allow_pickle=False)

    def column(name: str | int | None) -> NDArray[Any]:
        inner = array if name is None else array[name] if array.dtype.names else array[:, int(name)]
        return np.atleast_1d(inner).astype(np.float64)

    return column


def _columns(frame: pl.DataFrame, *, texts: bool) -> Table:
    columns = {series.name: series for series in frame.get_columns()}
    return lambda name: _numbers(columns[str(name)].to_list(), texts=texts)


def _numbers(items: list[Any], *, texts: bool) -> NDArray[Any]:
    import numpy as np

    numbers = []
    for row, item in enumerate(items, start=1):
        if isinstance(item, bool) or not isinstance(item, (str if texts else float) | int | float):
            raise ValueError(f"row {row} is {shown(item)}")
        try:
            numbers.append(float(item))
        except ValueError:
            raise ValueError(f"row {row} is {shown(item)}") from None
    return np.array(numbers, np.float64)


FORMATS: dict[str, Callable[[bytes], Table]] = {
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
    ".npy": _npy,
}
