"""Measured data as the filter takes it: evenly spaced, in SI, gaps said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.measured import Measured, parse_measured
from percuss.text_tables import other_quantity
from percuss.units import parse_unit
from percuss.validation.following import Floats
from percuss.validation.settings import Column, Validating

if TYPE_CHECKING:
    import polars as pl

# A step may differ so much from the usual one and still count as the usual one (times are often rounded).
EVEN = 0.01


@dataclass(frozen=True, eq=False)
class Record:
    """Instants, inputs by what they act on, measured channels (samples, channels) with NaN for gaps; what to say."""

    times_s: Floats
    inputs: dict[str, Floats]
    data: Floats
    notes: tuple[str, ...]

    def table(self, channels: tuple[str, ...]) -> pl.DataFrame:
        """As a table: t, one column an input, one a channel."""
        import polars as pl

        columns = {"t": self.times_s} | {f"input:{name}": values for name, values in self.inputs.items()}
        return pl.DataFrame(columns | {name: self.data[:, i] for i, name in enumerate(channels)})


def read_record(data: bytes, shown: str, asked: Validating) -> Record:
    """Read a table of data; raise InputError naming file, column and place."""
    measured = parse_measured(shown, data, logged=True)
    inputs = {column.name: _column(measured, column) for column in asked.inputs}
    channels = np.stack([_column(measured, column) for column in asked.observed], axis=1)
    if asked.time is None:
        assert asked.step_s is not None
        rows = np.arange(measured.rows, dtype=np.int64)
        times = asked.step_s * rows.astype(float)
    else:
        times, rows = _evenly(_column(measured, Column("time", asked.time, "s", asked.time_unit)), shown)
    if len(times) < 10:
        raise InputError(f"{shown}: has {len(times)} samples; a filter needs at least 10")
    notes = []
    full = np.full((len(times), channels.shape[1]), np.nan)
    full[rows] = channels
    missing = np.isnan(full)
    if missing.any():
        absent = len(times) - len(rows)
        row, column = np.argwhere(missing)[0]
        complaint = (
            f"{shown}: {int(missing.sum())} measurements are missing ({absent} samples are not in the table), "
            f"the first of `{asked.observed[column].column}` at {times[row]:g} s"
        )
        if asked.gaps == "refuse":
            raise InputError(complaint, hint='--gaps skip, or gaps = "skip" in [validation], leaves them out')
        notes.append(f"{complaint}: left out")
    for name, values in inputs.items():
        there = np.isfinite(values)
        if there.all() and len(rows) == len(times):
            continue
        count = len(times) - int(there.sum())
        if asked.gaps == "refuse":
            raise InputError(f"{shown}: {count} samples of the input to {name} are missing")
        if not there.any():
            raise InputError(f"{shown}: the input to {name} has no numbers at all")
        inputs[name] = np.interp(times, times[rows][there], values[there])
        notes.append(f"{shown}: {count} samples of the input to {name} are missing: straight lines instead")
    return Record(times, inputs, full, tuple(notes))


def _column(measured: Measured, column: Column) -> Floats:
    """One column in SI, NaN for gaps."""
    header = measured.column(column.column)
    other = other_quantity(header, column.like)
    # A factor may make one quantity of another, as a force of an acceleration.
    if other and column.factor == 1:
        asked = f"for {column.name} it must be in {column.like}"
        raise InputError(f"{measured.file}: column {header} names another quantity ({other}): {asked}")
    unit = measured.unit(header, column.like, column.unit)
    return np.array(measured.with_gaps(header)) * float(parse_unit(unit).scale) * column.factor


def _evenly(times: Floats, shown: str) -> tuple[Floats, NDArray[np.int64]]:
    """All instants from first to last, evenly spaced, and which of them the rows are."""
    if len(times) < 2 or np.isnan(times).any():
        raise InputError(f"{shown}: the time must be there in every row, of two rows at least")
    steps = np.diff(times)
    if not (steps > 0).all():
        row = int(np.flatnonzero(~(steps > 0))[0]) + 2
        raise InputError(f"{shown}: the time of row {row} does not come after the one before")
    usual = float(np.median(steps))
    # the mean of the usual steps is free of the rounding of a single time
    usual = float(np.mean(steps[np.abs(steps - usual) < 0.5 * usual]))
    rows = np.rint((times - times[0]) / usual).astype(np.int64)
    away = np.abs(times - times[0] - rows * usual)
    counts = np.rint(steps / usual)
    if (np.abs(steps - counts * usual) > EVEN * counts * usual).any() or (counts < 1).any() or away.max() > 0.5 * usual:
        row = int(np.argmax(np.abs(steps - counts * usual))) + 2
        raise InputError(f"{shown}: samples are not evenly spaced (row {row}: a step of {steps[row - 2]:g} s)")
    if rows[-1] + 1 > 100 * len(times):
        raise InputError(f"{shown}: gaps are more than a hundred times as long as the record")
    return times[0] + usual * np.arange(int(rows[-1]) + 1, dtype=float), rows
