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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.execution.imports import HEADER, own_unit, read_table
from percuss.kinds import observations_imported
from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.event import Event
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
    table, digest = read_table(path, largest_bytes)
    bare = {HEADER.sub("", column).strip(): column for column in table.columns}
    if "case" in bare:
        if case:
            table = table.filter(table[bare["case"]] == case)
        cases = [study.case_name(str(name)) for name in table[bare["case"]]]
    else:
        cases = [study.case_name(case)] * table.height
    if not cases:
        raise InputError(f"{path}: has no rows of case {case}")
    long = {"output", "value"} <= set(bare)
    steps = _outputs(path, study, table, bare, cases) if long else _curves(path, study, table, bare, cases)
    return Observations(tuple(steps), path.name, digest)


def observed(session: Session, event: Event, study: Study, case: str | None) -> Observations:
    """The observations of an event, of one case or of all."""
    kind = observations_imported.KIND.name
    if event.kind != kind:
        raise InputError(f"--observations {event.id}: is of the kind {event.kind}, not {kind}")
    rows = [row for row in session.table(event, "observations").to_dicts() if case in (None, row["case"])]
    if not rows:
        raise InputError(f"--observations {event.id}: has no data of case {case}")
    grouped: dict[tuple[float, str, object], dict[str, float]] = {}
    told: dict[str, float | None] = {}
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
        if told.setdefault(name, row["std"]) != row["std"]:
            both = " and ".join("none" if std is None else f"{std:g} (SI)" for std in (told[name], row["std"]))
            raise InputError(
                f"--observations {event.id}: output {name} has several std, {both}: a filter takes one for an output",
                hint="percuss observe a table with one std for each output",
            )
    stds = {name: std for name, std in told.items() if std is not None}
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
    path: Path, study: Study, table: pl.DataFrame, bare: dict[str, str], cases: list[str]
) -> list[Observation]:
    values = _numbers(path, table, bare["value"])
    order = table[bare["step"]].to_list() if "step" in bare else list(range(table.height))
    names = [str(name) for name in table[bare["output"]]]
    variables = [str(name) for name in table[bare.get("variable", bare["output"])]]
    grouped: dict[tuple[object, str], dict[str, tuple[str, float]]] = {}
    for step, case, name, variable, value in zip(order, cases, names, variables, values, strict=True):
        if name not in study.outputs:
            raise InputError(f"{path}: output {name}: {did_you_mean(name, study.outputs)}")
        unit = own_unit(bare["value"], study.outputs[name].unit, path)
        into = grouped.setdefault((step, case), {})
        if name in into:
            raise InputError(f"{path}: step {step}: output {name} is observed twice")
        into[name] = (variable, to_si(value, unit))
    return [
        Observation(case, tuple(seen), tuple(v for v, _ in seen.values()), np.array([y for _, y in seen.values()]))
        for (_, case), seen in grouped.items()
    ]


def _curves(path: Path, study: Study, table: pl.DataFrame, bare: dict[str, str], cases: list[str]) -> list[Observation]:
    quantities = study.model().quantities
    known = {name: item for name, item in quantities.items() if item.curve and item.axis}
    names = [name for name in bare if name in known]
    axes = {known[name].axis for name in names}
    axis = next(iter(axes), None)
    if axis is None or len(axes) > 1 or axis not in bare:
        curves = ", ".join(f"{name} over {item.axis}" for name, item in known.items()) or "none"
        raise InputError(
            f"{path}: needs columns output and value, or an axis of the model and quantities over it; its columns are "
            f"{', '.join(table.columns[:20])}",
            hint=f"curves of the model: {curves}",
        )
    columns = {}
    for name in (axis, *names):
        unit = own_unit(bare[name], quantities[name].unit, path)
        columns[name] = [to_si(number, unit) for number in _numbers(path, table, bare[name])]
    return [
        Observation(
            case, tuple(names), tuple(names), np.array([columns[name][i] for name in names]), axis, columns[axis][i]
        )
        for i, case in enumerate(cases)
    ]


def _numbers(path: Path, table: pl.DataFrame, column: str) -> list[float]:
    series = table[column]
    numbers = [math.nan if x is None else float(x) for x in series] if series.dtype.is_numeric() else [math.nan]
    bad = next((i for i, number in enumerate(numbers) if not math.isfinite(number)), None)
    if bad is not None:
        raise InputError(f"{path}: row {bad + 1} of column {column}: an observation needs a number")
    return numbers
