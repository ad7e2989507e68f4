"""Runs made elsewhere: a table with parameters and outputs in one file, bound to a design on the way in.

Parameters and outputs come together, row by row, so that nobody can set the outputs of one design against the points
of another.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.designs.design import MAX_NUMBERS
from percuss.errors import InputError
from percuss.execution.batch import Result, split
from percuss.execution.given import table_design
from percuss.execution.records import IMPORTED, draft_campaign, draft_design, draft_result, new_drafts
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, Event
from percuss.ledger.files import quiet_panics
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold
from percuss.spelling import did_you_mean, shown
from percuss.study.study import Study
from percuss.units import from_si, parse_unit, to_si

if TYPE_CHECKING:
    import polars as pl
    from numpy import ndarray

# What stands in a table where there is no number, in small letters.
NO_NUMBER = ("", "nan", "na", "n/a", "null", "none")
NO_VALUE = "no value in the imported table"
# A header may carry a unit, as `gap [mm]`.
HEADER = re.compile(r"\s*\[([^\]]*)\]\s*$")


@dataclass(frozen=True)
class Imported:
    """What an import amounts to; `units` are those of the columns, and whether their headers said them."""

    campaign: Event
    rows: int
    holes: int
    left_out: list[str]
    units: dict[str, tuple[str, bool]]


def import_runs(
    ledger: Ledger, study: Study, case: str, path: Path, renamed: Mapping[str, str], largest_bytes: int
) -> Imported:
    """Read a table, bind it to a new design, and append design, runs and campaign in two commits.

    An output that is missing or not a number in a row makes that row a failed run, never a dropped one.
    """
    table, digest = read_table(path, largest_bytes)
    columns = _columns(study, table, path, renamed)
    values = _matrix(study, table, path, columns, {p.name: p.unit for p in study.parameters.values()})
    outputs = _matrix(study, table, path, columns, {o.name: o.unit for o in study.outputs.values()}, holes=True)
    _check_points(study, case, path, values)
    design = table_design(study, values, IMPORTED)
    origin = {"file": path.name, "sha256": digest}
    record = draft_design(ledger, study, design, cases=[case], fixed={}, origin=origin)
    drafts: list[Draft] = new_drafts(record)
    holes = 0
    for samples in split(len(values), study.model().batch):
        result = Result(case)
        for i in samples:
            if all(math.isfinite(value) for value in outputs[i]):
                result.samples.append(i)
                result.outputs.append(dict(zip(study.outputs, outputs[i].tolist(), strict=True)))
            else:
                result.failures[i] = NO_VALUE
        holes += len(result.failures)
        drafts += draft_result(ledger, record, result)
    # The campaign lists the runs by their hashes, so it comes in a commit of its own; without it the runs are in the
    # ledger all the same and `percuss run` on the design closes them.
    state = fold([*ledger.events(), *ledger.append(drafts)])
    stored = record.in_ledger(state)
    campaign = ledger.append([draft_campaign(ledger, state, stored)])[0]
    used = set(columns.values())
    left_out = [name for name in table.columns if name not in used]
    own = {p.name: p.unit for p in study.parameters.values()} | {o.name: o.unit for o in study.outputs.values()}
    return Imported(campaign, len(values), holes, left_out, column_units(columns, own, path))


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
        if isinstance(fault, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({fault.strerror})") from fault
    return parse_table(path, data), sha256_hex(data)


def parse_table(path: Path, data: bytes) -> pl.DataFrame:
    """The bytes of a CSV or Parquet file, as its name says, as a table."""
    import polars as pl

    try:
        if path.suffix.lower() == ".parquet":
            with quiet_panics():
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


def _columns(study: Study, table: pl.DataFrame, path: Path, renamed: Mapping[str, str]) -> dict[str, str]:
    """Which column holds which parameter or output. A header may carry a unit, as `gap [mm]`."""
    wanted = [*study.parameters, *study.outputs]
    for name, column in renamed.items():
        if name not in wanted:
            raise InputError(
                f"--column {name}: study {study.name} has no such parameter or output: {did_you_mean(name, wanted)}"
            )
        if column not in table.columns:
            raise InputError(
                f"--column {name}={column}: {path} has no such column: {did_you_mean(column, table.columns)}"
            )
    bare: dict[str, list[str]] = {}
    for column in table.columns:
        bare.setdefault(HEADER.sub("", column).strip(), []).append(column)
    for name in wanted:
        if name not in renamed and len(bare.get(name, [])) > 1:
            raise InputError(
                f"{path}: has several columns for {name}: {', '.join(bare[name])}",
                hint="--column NAME=COLUMN says which column is meant",
            )
    found = {name: renamed.get(name) or "".join(bare.get(name, [])) for name in wanted}
    missing = [name for name, column in found.items() if not column]
    if missing:
        raise InputError(
            f"{path}: has no column for {', '.join(missing)}; its columns are {', '.join(table.columns[:20])}",
            hint="--column NAME=COLUMN says which column is meant",
        )
    return found


def _matrix(
    study: Study,
    table: pl.DataFrame,
    path: Path,
    columns: Mapping[str, str],
    units: Mapping[str, str],
    *,
    holes: bool = False,
) -> ndarray:
    import numpy as np

    matrix = np.empty((table.height, len(units)))
    for j, (name, unit) in enumerate(units.items()):
        column = columns[name]
        own = own_unit(column, unit, path)
        numbers = column_numbers(table, column, path)
        bad = next((i for i, number in enumerate(numbers) if not math.isfinite(number)), None)
        if bad is not None and not holes:
            raise InputError(f"{path}: row {bad + 1} of column {column} is {numbers[bad]}: a parameter needs a number")
        matrix[:, j] = [to_si(number, own) if math.isfinite(number) else math.nan for number in numbers]
    return matrix


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


def _check_points(study: Study, case: str, path: Path, values: ndarray) -> None:
    """Refuse points that the model does not take, or to which the study gives no probability."""
    for j, parameter in enumerate(study.parameters.values()):
        low, high = parameter.prior.support()
        # As much as the last digits of a decimal may take away.
        slack = 1e-9 * max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
        beyond = [i for i, value in enumerate(values[:, j]) if not low - slack <= value <= high + slack]
        if beyond:
            found, *ends = (f"{from_si(x, parameter.unit):.6g}" for x in (values[beyond[0], j], low, high))
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            more = f" (and {len(beyond) - 1} more rows)" if len(beyond) > 1 else ""
            raise InputError(
                f"{path}: row {beyond[0] + 1}{more}: {parameter.name} = {found}{unit} is outside its prior, "
                f"{ends[0]} to {ends[1]}{unit}",
                hint="leave such rows out, or widen the prior of the study",
            )
    for i, row in enumerate(values):
        try:
            study.point(case, dict(zip(study.parameters, row.tolist(), strict=True)))
        except InputError as fault:
            raise InputError(f"{path}: row {i + 1}: {fault}") from None
