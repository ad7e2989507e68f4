"""Take in runs made elsewhere: a table with parameters and outputs in one file, bound to a design on the way in.

Parameters and outputs come together, row by row, so that nobody can set the outputs of one design against the points
of another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.designs.design import draft_design, drafts_of, stored
from percuss.errors import InputError
from percuss.execution.batch import Result, split
from percuss.execution.points import table_design
from percuss.execution.records import draft_campaign, draft_result
from percuss.kinds.design_created import IMPORTED
from percuss.ledger.event import Draft, Event
from percuss.measured import Measured, read_measured
from percuss.session import Session
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.units import from_si, to_si

if TYPE_CHECKING:
    from numpy import ndarray

NO_VALUE = "no value in the imported table"


@dataclass(frozen=True)
class Imported:
    """What an import amounts to; `units` are those of the columns, and whether their headers said them."""

    event: Event
    rows: int
    holes: int
    left_out: list[str]
    units: dict[str, tuple[str, bool]]


def import_runs(session: Session, study: Study, case: str, path: Path, renamed: Mapping[str, str]) -> Imported:
    """Read a table, bind it to a new design, and append design, runs and campaign in two commits.

    An output that is missing or not a number in a row makes that row a failed run, never a dropped one.
    """
    measured = read_measured(path, session.setting("import_mb") * 1_000_000)
    columns = _columns(study, measured, renamed)
    values = _matrix(measured, columns, {p.name: p.unit for p in study.parameters.values()})
    outputs = _matrix(measured, columns, {o.name: o.unit for o in study.outputs.values()}, holes=True)
    _check_points(study, case, measured, values)
    origin = {"file": path.name, "sha256": measured.sha256}
    design = draft_design(session, table_design(study, values, IMPORTED), cases=[case], fixed={}, origin=origin)
    drafts: list[Draft] = drafts_of(design)
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
        drafts += draft_result(session.ledger, design, result)
    # The campaign lists the runs by their hashes, so it comes in a commit of its own; without it the runs are in the
    # ledger all the same and `percuss run` on the design closes them.
    session.append(drafts)
    campaign = session.append([draft_campaign(session, stored(session, design))])[0]
    used = set(columns.values())
    left_out = [name for name in measured.frame.columns if name not in used]
    own = {p.name: p.unit for p in study.parameters.values()} | {o.name: o.unit for o in study.outputs.values()}
    return Imported(campaign, len(values), holes, left_out, measured.units(columns, own))


def _columns(study: Study, measured: Measured, renamed: Mapping[str, str]) -> dict[str, str]:
    """Which column holds which parameter or output."""
    expected = [*study.parameters, *study.outputs]
    for name, column in renamed.items():
        if name not in expected:
            raise InputError(
                f"--column {name}: study {study.name} has no such parameter or output: {did_you_mean(name, expected)}"
            )
        if column not in measured.frame.columns:
            near = did_you_mean(column, measured.frame.columns)
            raise InputError(f"--column {name}={column}: {measured.file} has no such column: {near}")
    by_name = measured.by_name
    for name in expected:
        if name not in renamed and len(by_name.get(name, [])) > 1:
            raise InputError(
                f"{measured.file}: has several columns for {name}: {', '.join(by_name[name])}",
                hint="--column NAME=COLUMN says which column is meant",
            )
    columns = {name: renamed.get(name) or "".join(by_name.get(name, [])) for name in expected}
    missing = [name for name, column in columns.items() if not column]
    if missing:
        raise InputError(
            f"{measured.file}: has no column for {', '.join(missing)}; its columns are {measured.listed()}",
            hint="--column NAME=COLUMN says which column is meant",
        )
    return columns


def _matrix(
    measured: Measured, columns: Mapping[str, str], units: Mapping[str, str], *, holes: bool = False
) -> ndarray:
    import numpy as np

    matrix = np.empty((measured.rows, len(units)))
    for j, (name, unit) in enumerate(units.items()):
        column = columns[name]
        own = measured.unit(column, unit)
        numbers = measured.numbers(column) if holes else measured.finite(column, "a parameter")
        matrix[:, j] = [to_si(number, own) if math.isfinite(number) else math.nan for number in numbers]
    return matrix


def _check_points(study: Study, case: str, measured: Measured, values: ndarray) -> None:
    """Refuse points that the model does not take, or to which the study gives no probability."""
    for j, parameter in enumerate(study.parameters.values()):
        low, high = parameter.prior.support()
        # As much as the last digits of a decimal may take away.
        slack = 1e-9 * max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
        beyond = [i for i, value in enumerate(values[:, j]) if not low - slack <= value <= high + slack]
        if beyond:
            told_value, *ends = (f"{from_si(x, parameter.unit):.6g}" for x in (values[beyond[0], j], low, high))
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            more = f" (and {len(beyond) - 1} more rows)" if len(beyond) > 1 else ""
            raise InputError(
                f"{measured.place(beyond[0])}{more}: {parameter.name} = {told_value}{unit} is outside its prior, "
                f"{ends[0]} to {ends[1]}{unit}",
                hint="leave such rows out, or widen the prior of the study",
            )
    for i, row in enumerate(values):
        try:
            study.point(case, dict(zip(study.parameters, row.tolist(), strict=True)))
        except InputError as fault:
            raise InputError(f"{measured.place(i)}: {fault}") from None
