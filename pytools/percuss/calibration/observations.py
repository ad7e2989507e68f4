"""Measured values: read from tables, bound to the outputs of a study by name, checked, kept in SI.

Three forms of a table, told apart by their columns:

    long       one row per datum: `output`, `value`, and where known `unit`, `std`, `case`, `point`, `axis`, `instant`
    wide       one column per output, one row per repetition, and `case`; an empty cell was not measured
    curves     a column of instants and one per curve, reduced to outputs

Numbers are in the unit of the output, or in that of the header (`value [mm]`) or of the column `unit`. `std` is that
of the measurement alone. Channels bound to whole curves are read by `percuss.calibration.channels`.

Measured curves, reduced to the outputs of a study as the curves of a run are.

A table with a column of instants (`instant`, or the name of the model's axis, as `t`) and a column for each curve that
was measured, under the name the model has for it. Every output that reduces one of these curves becomes a datum.
`percuss.calibration.channels` takes whole curves instead, sample by sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from percuss.calibration.channels import read_history
from percuss.errors import InputError
from percuss.measured import Measured, header_unit, number_in, parse_measured, text_in
from percuss.settings import KeyPath, Note, Noted
from percuss.spelling import did_you_mean
from percuss.study.faults import dotted
from percuss.study.histories import History
from percuss.study.observations import COLUMNS, OBSERVED, ObservationPlan, Source, observations_in_si, read_observations
from percuss.study.output import Output
from percuss.study.study import Study
from percuss.units import parse_unit, to_si

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from percuss.study.observations import Source
    from percuss.study.output import Output
    from percuss.study.study import Study


SCHEMA = OBSERVED


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check `[observations]` of a study; quantities come back in SI."""
    noted = Noted(note)
    read_observations(study, table, noted)
    return dict(table) if noted.faults else observations_in_si(study, table)


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the files of observations a study names."""
    for source, data in attached(study, study_plan(study)):
        try:
            bound(study, [(source, data)])
        except InputError as fault:
            note((*source.place, "file"), str(fault))


def study_plan(study: Study) -> ObservationPlan:
    """What `[observations]` of a study says."""
    table: Any = study.sections.get("observations", {})
    return read_observations(study, table, refuse)


def refuse(path: KeyPath, message: str) -> None:
    """A fault of a section of a study that was resolved before this percuss knew what it should hold."""
    raise InputError(f"{dotted(path)}: {message}")


def attached(study: Study, plan: ObservationPlan) -> list[tuple[Source | History, bytes]]:
    """The files of observations a study names, with their bytes."""
    sources: list[Source | History] = [*plan.sources, *plan.histories]
    return [(source, study.files[source.file]) for source in sources]


def bound(study: Study, sources: Sequence[tuple[Source | History, bytes]]) -> tuple[pl.DataFrame, list[str]]:
    """Read files and bind their rows to outputs and curves of the study; and columns that were left out."""
    import polars as pl

    parts, left_out = [], []
    for source, data in sources:
        rows, unused = (
            (read_history(study, source, data), [])
            if isinstance(source, History)
            else read_entries(study, source, data)
        )
        parts.append(rows)
        left_out += unused
    return pl.concat(parts, how="diagonal").with_columns(entry=pl.int_range(pl.len(), dtype=pl.Int64)), left_out


def read_entries(study: Study, source: Source, data: bytes) -> tuple[pl.DataFrame, list[str]]:
    """The rows of one file as entries in SI; and the columns that were left out."""
    import polars as pl

    measured = parse_measured(source.file, data)
    columns = measured.columns(source.columns)
    if "output" in columns:
        entries = _long(study, source, measured, columns)
    elif curve_outputs(study, columns):
        entries = read_curves(study, source, measured, columns, _case(study, source.case, source.file))
    else:
        entries = _wide(study, source, measured, columns)
    if not entries:
        raise InputError(f"{source.file}: holds no measured value")
    text, number = pl.String(), pl.Float64()
    schema: dict[str, Any] = {"entry": pl.Int64(), "case": text, "output": text, "value": number, "std": number}
    schema |= {"point": text, "axis": text, "instant": number}
    # Only where some are named: tables of a time before there were specimens stay what they are.
    schema |= {"specimen": text} if any(entry.get("specimen") for entry in entries) else {}
    entries = [{name: entry.get(name) for name in schema if name != "entry"} for entry in entries]
    quantities = {output.quantity for output in study.outputs.values()}
    known = {*COLUMNS, *study.outputs, *quantities, *axes(study, quantities & set(columns))}
    left_out = [column for name, column in columns.items() if name not in known]
    return pl.DataFrame([{"entry": 0, **entry} for entry in entries], schema), left_out


def _long(study: Study, source: Source, measured: Measured, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """One row per datum."""
    if "value" not in columns:
        raise InputError(f"{source.file}: has no column value; its columns are {measured.listed()}")
    entries = []
    for number, row in enumerate(measured.frame.iter_rows(named=True)):
        where = measured.place(number)
        fields = {name: row[column] for name, column in columns.items() if name in COLUMNS}
        output = _output(study, fields["output"], where)
        unit = text_in(fields.get("unit"))
        entry: dict[str, Any] = {name: text_in(fields.get(name)) for name in ("point", "axis", "specimen")}
        entry |= {"case": _case(study, fields.get("case", source.case), where), "output": output.name}
        si = {
            name: to_si(
                number_in(fields[name], f"{where}: {name}"), _unit(measured, columns[name], unit, output.unit, where)
            )
            for name in ("value", "std")
            if name == "value" or fields.get(name) is not None
        }
        entry["value"], std = si["value"], si.get("std")
        entry["std"] = _checked_std(source.std.get(output.name) if std is None else std, where)
        instant = fields.get("instant")
        place = None if instant is None else _instant(study, output, instant, columns["instant"], measured, where)
        entry["instant"] = output.at if place is None else place
        entries.append(entry)
    return entries


def _wide(study: Study, source: Source, measured: Measured, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """One column per output, one row per repetition."""
    observed = [name for name in columns if name in study.outputs]
    for name in columns:
        if name not in study.outputs and name not in COLUMNS and not observed:
            near = did_you_mean(name, study.outputs)
            raise InputError(f"{source.file}: column {columns[name]} is no output of study {study.name}: {near}")
    entries = []
    for number, row in enumerate(measured.frame.iter_rows(named=True)):
        where = measured.place(number)
        case = _case(study, row[columns["case"]] if "case" in columns else source.case, where)
        for name in observed:
            output, column = study.outputs[name], columns[name]
            if row[column] is None:
                continue
            value = to_si(number_in(row[column], f"{where}: {column}"), measured.unit(column, output.unit))
            std = _checked_std(source.std.get(name), where)
            fields = {"case": case, "output": name, "value": value, "std": std, "instant": output.at}
            specimen = text_in(row[columns["specimen"]]) if "specimen" in columns else None
            entries.append(fields | {"point": None, "axis": None, "specimen": specimen})
    return entries


def _output(study: Study, name: object, where: str) -> Output:
    text = text_in(name) or ""
    if text not in study.outputs:
        near = did_you_mean(text, study.outputs)
        raise InputError(f"{where}: output {text!r} is not of study {study.name}: {near}")
    return study.outputs[text]


def _case(study: Study, name: object, where: str) -> str:
    try:
        return study.case_name(text_in(name) or None)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None


def _unit(measured: Measured, column: str, unit: str | None, like: str, where: str) -> str:
    """The unit of a number: its header's, else that of the column `unit`, else the output's own."""
    if header_unit(column) is not None or unit is None:
        return measured.unit(column, like)
    try:
        return measured.unit(f"unit [{unit}]", like)
    except InputError:
        raise InputError(f"{where}: unit {unit!r} must be {like}, or a unit of the same dimension") from None


def _checked_std(std: float | None, where: str) -> float | None:
    if std is not None and std < 0:
        raise InputError(f"{where}: std is {std:g} (SI): must be at least 0")
    return std


def _instant(study: Study, output: Output, value: object, column: str, measured: Measured, where: str) -> float:
    """Where on its axis a datum belongs: where the output is taken, if that is said."""
    quantities = study.model().quantities
    axis = quantities[output.quantity].axis
    unit = quantities[axis].unit if axis else "s"
    instant = to_si(number_in(value, f"{where}: instant"), measured.unit(column, unit))
    if output.at is not None and abs(instant - output.at) > 1e-9 * max(abs(output.at), abs(instant)):
        raise InputError(
            f"{where}: instant {instant:g} {unit}, but output {output.name} is taken at {output.at:g} {unit}"
        )
    return instant


def curve_outputs(study: Study, columns: Mapping[str, str]) -> list[Output]:
    """Outputs that reduce a curve which the table has a column for; none where no column says when."""
    outputs = [output for output in study.outputs.values() if output.reduce and output.quantity in columns]
    timed = "instant" in columns or any(axis in columns for axis in axes(study, {o.quantity for o in outputs}))
    return outputs if timed else []


def axes(study: Study, curves: Collection[str]) -> set[str]:
    """What these curves of the model are over."""
    known = study.model().quantities if curves else {}
    return {known[name].axis or "" for name in curves if name in known} - {""}


def read_curves(
    study: Study, source: Source, measured: Measured, columns: Mapping[str, str], case: str
) -> list[dict[str, Any]]:
    """A datum, in SI, for every output that one of the measured curves gives."""
    if "case" in columns:
        raise InputError(
            f"{source.file}: measured curves have no column case: one file per case, in [observations.NAME]"
        )
    quantities = study.model().quantities
    entries = []
    for output in curve_outputs(study, columns):
        axis = quantities[output.quantity].axis or "instant"
        x = _instants(source, measured, columns, axis, quantities[axis].unit if axis in quantities else "1")
        y = _si(measured, columns[output.quantity], quantities[output.quantity].unit)
        known = y == y  # gaps of a curve are passed over
        try:
            value = output.evaluate({}, {output.quantity: y[known], axis: x[known]}, axis)
        except InputError as fault:
            raise InputError(f"{source.file}: column {columns[output.quantity]}: {fault}") from None
        fields = {"case": case, "output": output.name, "value": value, "std": source.std.get(output.name)}
        entries.append(fields | {"point": None, "axis": None, "instant": output.at})
    return entries


def _instants(source: Source, measured: Measured, columns: Mapping[str, str], axis: str, unit: str) -> NDArray[Any]:
    """Places on the axis of the curves, counted from the start of the run."""
    import numpy as np

    column = columns.get("instant") or columns.get(axis)
    if column is None:
        near = did_you_mean(axis, columns)
        raise InputError(f"{source.file}: has curves and no column `{axis}` or `instant` to say when: {near}")
    if source.start and parse_unit(unit).dims != parse_unit("s").dims:
        raise InputError(f"{source.file}: start is in s, and these curves are over {axis} in {unit}")
    measured.finite(column, "a curve")
    x = _si(measured, column, unit)
    back = np.flatnonzero(np.diff(x) <= 0)
    if back.size:
        raise InputError(f"{measured.place(int(back[0]) + 1)} of column {column}: instants must increase")
    return x - source.start


def _si(measured: Measured, column: str, unit: str) -> NDArray[Any]:
    import numpy as np

    scale = parse_unit(measured.unit(column, unit)).scale / parse_unit(unit).scale
    # By numerator and denominator: 800 ms are 0.8 s, to the last digit.
    return np.asarray(measured.with_gaps(column)) * float(scale.numerator) / float(scale.denominator)
