"""Observations for a filter: a table, one row an assimilation step, in the order in which they come in.

Two forms, told apart by their columns:

- curves: a column with the name of the axis and one for each observed quantity, as `axial_strain [%], stress_ratio`;
- outputs: columns `output` and `value`; rows with the same `step`, if there is such a column, are one step, and outputs
  with the same `variable`, if there is such a column, are one variable at several instants: they share their error.

Either may have a column `case`. Numbers are in the unit of the header, else in that of the study's output or in SI.

What `percuss observe` took in does as well: data of one case at one instant, or at one place on the axis of a curve,
are one step, and steps come in the order of their places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.kinds import observations_imported
from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.event import Event
from percuss.measured import Measured, read_measured
from percuss.session import Session
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.units import to_si

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Observation:
    """What one step observes: `names` of quantities at `place` on `axis`, or of outputs (axis None); values in SI.

    `variables` say whose error each has.
    """

    case: str
    names: tuple[str, ...]
    variables: tuple[str, ...]
    values: Array
    axis: str | None = None
    place: float = math.nan


@dataclass(frozen=True, eq=False)
class Observations:
    """The steps, the file they are from, and the event and standard deviations where `percuss observe` took them in."""

    steps: tuple[Observation, ...]
    file: str
    sha256: str
    event: Event | None = None
    stds: Mapping[str, float] = field(default_factory=dict)

    def table(self) -> pl.DataFrame:
        """One row an observed value, as the event keeps them."""
        import polars as pl

        rows = [
            (t, step.case, name, step.place if step.axis else None, float(value))
            for t, step in enumerate(self.steps, start=1)
            for name, value in zip(step.names, step.values, strict=True)
        ]
        schema = {"step": pl.Int64(), "case": pl.String(), "variable": pl.String(), "place": pl.Float64()}
        return pl.DataFrame(rows, schema | {"value": pl.Float64()}, orient="row")


def read_observations(path: Path, study: Study, case: str | None, largest_bytes: int) -> Observations:
    """Read the file; `case` is that of a file that names none."""
    return observations_in(read_measured(path, largest_bytes), study, case)


def observations_in(measured: Measured, study: Study, case: str | None) -> Observations:
    """The observations of a table; `case` is that of one that names none."""
    columns = measured.columns()
    rows, cases = list(range(measured.rows)), [study.case_name(case)] * measured.rows if "case" not in columns else []
    if "case" in columns:
        named = [str(name) for name in measured.cells(columns["case"])]
        rows = [row for row in rows if case in (None, named[row])]
        cases = [study.case_name(named[row]) for row in rows]
    if not rows:
        raise InputError(f"{measured.file}: has no rows of case {case}")
    read = _outputs if {"output", "value"} <= set(columns) else _curves
    return Observations(tuple(read(study, measured, columns, rows, cases)), Path(measured.file).name, measured.sha256)


def observed(session: Session, event: Event, study: Study, case: str | None) -> Observations:
    """The observations of an event, of one case or of all."""
    kind = observations_imported.KIND.name
    if event.kind != kind:
        raise InputError(f"--observations {event.id}: is of the kind {event.kind}, not {kind}")
    rows = [row for row in session.table(event, "observations").to_dicts() if case in (None, row["case"])]
    if not rows:
        raise InputError(f"--observations {event.id}: has no data of case {case}")
    grouped: dict[tuple[float, str, object], dict[str, float]] = {}
    own_stds: dict[str, float | None] = {}
    for number, row in enumerate(rows):
        name = row["output"]
        if name not in study.outputs:
            raise InputError(f"--observations {event.id}: output {name}: {did_you_mean(name, study.outputs)}")
        place = row["instant"] if row["instant"] is not None else study.outputs[name].at
        # A datum without a place is a step of its own, after those that have one.
        key = (math.inf, row["case"], number) if place is None else (place, row["case"], None)
        into = grouped.setdefault(key, {})
        if name in into:
            raise InputError(f"--observations {event.id}: output {name} of case {row['case']} was observed twice")
        into[name] = row["value"]
        if own_stds.setdefault(name, row["std"]) != row["std"]:
            both = " and ".join("none" if std is None else f"{std:g} (SI)" for std in (own_stds[name], row["std"]))
            raise InputError(
                f"--observations {event.id}: output {name} has several std, {both}: a filter takes one for an output",
                hint="percuss observe a table with one std for each output",
            )
    stds = {name: std for name, std in own_stds.items() if std is not None}
    steps = [
        # An output with a deviation of its own is a variable of its own; others share that of their quantity.
        Observation(
            key[1],
            tuple(seen),
            tuple(name if name in stds else study.outputs[name].quantity for name in seen),
            np.array(list(seen.values())),
        )
        for key, seen in sorted(grouped.items(), key=lambda item: item[0][0])
    ]
    blob = event.blob("observations")
    assert blob is not None
    return Observations(tuple(steps), ObservationsImported.of(event).file, blob.digest, event, stds)


def _outputs(
    study: Study, measured: Measured, columns: Mapping[str, str], rows: Sequence[int], cases: Sequence[str]
) -> list[Observation]:
    values = measured.finite(columns["value"], "an observation", rows)
    order = measured.cells(columns["step"]) if "step" in columns else list(range(measured.rows))
    names = measured.cells(columns["output"])
    variables = measured.cells(columns.get("variable", columns["output"]))
    grouped: dict[tuple[object, str], dict[str, tuple[str, float]]] = {}
    for row, case, value in zip(rows, cases, values, strict=True):
        name, step = str(names[row]), order[row]
        if name not in study.outputs:
            raise InputError(f"{measured.place(row)}: output {name}: {did_you_mean(name, study.outputs)}")
        unit = measured.unit(columns["value"], study.outputs[name].unit)
        into = grouped.setdefault((step, case), {})
        if name in into:
            raise InputError(f"{measured.place(row)}: step {step}: output {name} is observed twice")
        into[name] = (str(variables[row]), to_si(value, unit))
    return [
        Observation(case, tuple(seen), tuple(v for v, _ in seen.values()), np.array([y for _, y in seen.values()]))
        for (_, case), seen in grouped.items()
    ]


def _curves(
    study: Study, measured: Measured, columns: Mapping[str, str], rows: Sequence[int], cases: Sequence[str]
) -> list[Observation]:
    quantities = study.model().quantities
    known = {name: item for name, item in quantities.items() if item.curve and item.axis}
    names = [name for name in columns if name in known]
    axes = {known[name].axis for name in names}
    axis = next(iter(axes), None)
    if axis is None or len(axes) > 1 or axis not in columns:
        curves = ", ".join(f"{name} over {item.axis}" for name, item in known.items()) or "none"
        raise InputError(
            f"{measured.file}: needs columns output and value, or an axis of the model and quantities over it; its "
            f"columns are {measured.listed()}",
            hint=f"curves of the model: {curves}",
        )
    values = {}
    for name in (axis, *names):
        unit = measured.unit(columns[name], quantities[name].unit)
        values[name] = [to_si(x, unit) for x in measured.finite(columns[name], "an observation", rows)]
    return [
        Observation(
            case, tuple(names), tuple(names), np.array([values[name][i] for name in names]), axis, values[axis][i]
        )
        for i, case in enumerate(cases)
    ]
