"""Tables as CSV and Parquet, with the SI unit of every column in its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from percuss.errors import InputError
from percuss.ledger.place import check_outside
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl


def column_name(name: str, unit: str | None) -> str:
    """A name that carries its unit.

    >>> column_name("a1", "m/s^2"), column_name("restitution", "1"), column_name("force", "N")
    ('a1_m_s2', 'restitution', 'force_n')
    """
    if unit in (None, "1", ""):
        return name
    return f"{name}_{re.sub('[^a-z0-9.]+', '_', str(unit).replace('^', '').lower()).strip('_')}"


def study_units(study: Study) -> dict[str, str | None]:
    """The SI units of a study's inputs, quantities and outputs; None for a choice."""
    model = study.model()
    units: dict[str, str | None] = {name: item.unit for name, item in model.inputs.items()}
    units |= {name: item.unit for name, item in model.quantities.items()}
    return units | {name: model.quantities[item.quantity].unit for name, item in study.outputs.items()}


def with_unit_names(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """A table of a study's parameters, outputs or curves, its columns renamed to carry their SI units."""
    units = study_units(study)
    return table.rename({name: column_name(name, units.get(name)) for name in table.columns})


def write_csv(table: pl.DataFrame, path: Path | None) -> None:
    """Write a CSV file, or to stdout. Numbers keep every digit (shortest form that reads back to the same bits)."""
    import sys

    if path is None:
        sys.stdout.write(table.write_csv())
        return
    _written(path, table.write_csv)


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file."""
    _written(path, table.write_parquet)


def write_text(text: str, path: Path) -> None:
    """Write a file of UTF-8 text, line ends as they are."""
    _written(path, lambda file: file.write(text.encode()))


def check_target(path: Path) -> None:
    """Find out before any work is done that a file cannot be written where it is wanted."""
    check_outside(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, and a file is to be written")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written (there is no folder {path.parent})")


def _written(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    import polars as pl

    check_target(path)
    try:
        with path.open("wb") as file:  # polars takes no name that is not Unicode
            write(file)
    except (OSError, pl.exceptions.PolarsError) as fault:
        raise InputError(f"{path}: cannot be written ({getattr(fault, 'strerror', None) or fault})") from fault
