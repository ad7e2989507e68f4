"""Measured values: read from tables, bound to the outputs of a study by name, checked, kept in SI.

Three forms of a table, told apart by their columns:

    long       one row per datum: `output`, `value`, and where known `unit`, `std`, `case`, `point`, `axis`, `instant`
    wide       one column per output, one row per repetition, and `case`; an empty cell was not measured
    curves     a column of instants and one per curve, reduced to outputs (`percuss.calibration.reduced`)

Numbers are in the unit of the output, or in that of the header (`value [mm]`) or of the column `unit`. `std` is that
of the measurement alone. Channels bound to whole curves are read by `percuss.calibration.channels`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from percuss.calibration.channels import read_history
from percuss.calibration.reduced import axes, curve_outputs, read_curves
from percuss.errors import InputError
from percuss.measured import Measured, parse_measured, text_in
from percuss.settings import KeyPath, Note, Noted, Setting, check_table, table_of, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.faults import dotted
from percuss.study.histories import History, histories_in_si, read_histories
from percuss.study.output import Output
from percuss.study.study import Study
from percuss.study.tables import read_stds
from percuss.text_tables import header_unit, number_in
from percuss.units import parse_quantity, si_quantity, to_si

if TYPE_CHECKING:
    import polars as pl


SOURCE = table_of(
    Setting("file", "file", "", doc="CSV or Parquet with measured values"),
    Setting("case", "text", "", doc="case of all its rows"),
    Setting("columns", "table", {}, doc='columns of other names: name = "column of the file"'),
    Setting("std", "any", {}, doc="standard deviation of the measurement: one for all outputs, or output = std"),
    Setting("start", "number", 0.0, unit="s", doc="for measured curves: the time in the file at which a run begins"),
)
OBSERVED = SOURCE | table_of(
    Setting(
        "histories", "table", {}, files=("file",), doc="channels of loggers, each table assigned to curves of the model"
    ),
    Setting("twin", "table", doc="true parameters, if the data are twin data"),
    Setting("doc", "text", "", doc="description"),
)
# What a table of measured values may say of a datum.
COLUMNS = ("output", "value", "unit", "std", "case", "point", "axis", "instant", "specimen")


@dataclass(frozen=True)
class Source:
    """One file: its path in the study, the case of all its rows, columns of other names, std by output in SI, when a
    run begins in it, in s; and which table of the study says so.
    """

    file: str
    case: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    std: Mapping[str, float] = field(default_factory=dict)
    start: float = 0.0
    place: KeyPath = ("observations",)


@dataclass(frozen=True)
class ObservationPlan:
    """The files of a study, and the true parameters (SI) if what they hold are twin data.

    `base` is what the table says of every file, those from elsewhere among them.
    """

    sources: tuple[Source, ...]
    twin: Mapping[str, float] | None
    base: Source
    histories: tuple[History, ...] = ()


def read_observations(study: Study, table: Mapping[str, Any], note: Note) -> ObservationPlan:
    """Read the table of a study, noting what is wrong with it."""
    outputs = study.outputs
    top: KeyPath = ("observations",)
    named = {
        key: value
        for key, value in table.items()
        if key not in OBSERVED and isinstance(value, dict) and "file" in value
    }
    checked = check_table(OBSERVED, {key: value for key, value in table.items() if key not in named}, top, note)
    known = tuple(study.cases)
    base = _source(study, checked, top, note)
    sources = [base] if "file" in table else []
    for key, inner in named.items():
        own = check_table(SOURCE, inner, (*top, key), note)
        own |= {name: checked[name] for name in SOURCE if name not in inner}
        sources.append(_source(study, own, (*top, key), note))
    twin = _twin(checked.get("twin", {}), study, (*top, "twin"), note) if "twin" in table else None
    histories: tuple[History, ...] = ()
    if checked["histories"]:
        histories = read_histories(checked["histories"], study.model().quantities, outputs, known, note)
    return ObservationPlan(tuple(sources), twin, base, histories)


def observations_in_si(study: Study, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table, if it has no faults, with standard deviations and true parameters in SI."""
    si, outputs = dict(table), study.outputs
    for key, value in table.items():
        if key == "std" and isinstance(value, dict):
            si[key] = {name: si_quantity(item, outputs[name].unit) for name, item in value.items()}
        elif key == "std":
            # One number for outputs of several units is as many standard deviations.
            each = {name: si_quantity(value, unit) for name, unit in _measured_in(value, outputs).items()}
            alone = len(set(each.values())) == 1 and len(each) == len(outputs)
            si[key] = next(iter(each.values())) if alone else each or value
        elif key == "start":
            si[key] = si_quantity(value, "s")
        elif key == "twin":
            si[key] = {name: si_quantity(item, study.parameters[name].unit) for name, item in value.items()}
        elif key == "histories":
            si[key] = histories_in_si(value, study.model().quantities) if value else value
        elif isinstance(value, dict) and "file" in value:
            si[key] = observations_in_si(study, value)
    return si


def _source(study: Study, checked: Mapping[str, Any], path: KeyPath, note: Note) -> Source:
    case, outputs = checked["case"] or None, study.outputs
    if case is not None and case not in study.cases:
        note((*path, "case"), f"no such case; {did_you_mean(case, study.cases)}")
    for name, column in checked["columns"].items():
        known = [*COLUMNS, *outputs, *(output.quantity for output in outputs.values() if output.reduce)]
        if name not in known and name in study.model().quantities:
            note(
                (*path, "columns", name), "no output is taken from this curve; [outputs.NAME] with `quantity` takes one"
            )
        elif name not in known:
            note((*path, "columns", name), f"unknown; {did_you_mean(name, known)}")
        if not isinstance(column, str):
            note((*path, "columns", name), wrong_type(column, "the name of a column"))
    units = _measured_in(checked["std"], outputs)
    std = read_stds(checked["std"], units, "no such output", (*path, "std"), note)
    return Source(checked["file"], case, checked["columns"], std, checked["start"], path)


def _measured_in(std: Any, outputs: Mapping[str, Output]) -> dict[str, str]:
    """Units of the outputs of which this may be the standard deviation; of a table all of them.

    A count of impacts beside displacements has no error in mm. Where it fits none, the first is there to say so.
    """
    fitting, units = {}, {name: output.unit for name, output in outputs.items()}
    if isinstance(std, dict):
        return units
    for name, unit in units.items():
        with contextlib.suppress(InputError):
            parse_quantity(std, unit)
            fitting[name] = unit
    return fitting or dict(list(units.items())[:1])


def _twin(table: Mapping[str, Any], study: Study, path: KeyPath, note: Note) -> dict[str, float]:
    values, parameters = {}, study.parameters
    for name, value in table.items():
        if name not in parameters:
            note((*path, name), f"no such parameter; {did_you_mean(name, parameters)}")
            continue
        try:
            values[name] = parse_quantity(value, parameters[name].unit)
        except InputError as fault:
            note((*path, name), str(fault))
    return values


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
