"""Measured values: read from tables, bound to the outputs of a study by name, checked, kept in SI.

Two forms of a table, told apart by their columns:

    long    a row a datum: `output`, `value`, and where known `unit`, `std`, `case`, `point`, `axis`, `instant`
    wide    a column an output, a row a repetition, and `case`; an empty cell is something that was not measured

Numbers are in the unit of the output, or in that of the header (`value [mm]`) or of the column `unit`. `std` is that
of the measurement alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.calibration.records import OBSERVATIONS
from percuss.errors import InputError
from percuss.execution.imports import HEADER, own_unit, parse_table
from percuss.execution.records import study_source
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.ledger.tables import table_digest
from percuss.settings import KeyPath, Note, Noted
from percuss.spelling import did_you_mean
from percuss.study.faults import dotted
from percuss.study.observations import COLUMNS, OBSERVED, ObservationPlan, Source, observations_in_si, read_observations
from percuss.study.output import Output
from percuss.study.study import Study
from percuss.units import to_si

if TYPE_CHECKING:
    import polars as pl

SCHEMA = OBSERVED


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check `[observations]` of a study; quantities come back in SI."""
    noted = Noted(note)
    read_observations(table, study.outputs, study.cases, study.parameters, noted)
    return dict(table) if noted.faults else observations_in_si(table, study.outputs, study.parameters)


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the files of observations a study names."""
    for source, data in attached(study, study_plan(study)):
        try:
            read_entries(study, source, data)
        except InputError as fault:
            note((*source.place, "file"), str(fault))


def study_plan(study: Study) -> ObservationPlan:
    """What `[observations]` of a study says."""
    table: Any = study.sections.get("observations", {})
    return read_observations(table, study.outputs, study.cases, study.parameters, refuse)


def refuse(path: KeyPath, message: str) -> None:
    """A fault of a section of a study that was resolved before this percuss knew what it should hold."""
    raise InputError(f"{dotted(path)}: {message}")


def study_observations(ledger: Ledger, state: State, study: Study) -> Event | list[Draft]:
    """The observations in the files a study names: the event that has them, or drafts of what must be appended."""
    plan = study_plan(study)
    if not plan.sources:
        raise InputError(
            f"study {study.name}: as it is taken, names no file of observations",
            hint="put `file` into [observations], or give --observations what percuss observe made",
        )
    sources = attached(study, plan)
    return draft_observations(ledger, state, study, sources, bound(study, sources)[0], plan.twin)


def attached(study: Study, plan: ObservationPlan) -> list[tuple[Source, bytes]]:
    """The files of observations a study names, with their bytes."""
    return [(source, study.files[source.file]) for source in plan.sources]


def bound(study: Study, sources: Sequence[tuple[Source, bytes]]) -> tuple[pl.DataFrame, list[str]]:
    """Read files and bind their rows to the outputs of the study; and columns that were left out."""
    import polars as pl

    parts, left_out = [], []
    for source, data in sources:
        rows, unused = read_entries(study, source, data)
        parts.append(rows)
        left_out += unused
    return pl.concat(parts).with_columns(entry=pl.int_range(pl.len(), dtype=pl.Int64)), left_out


def draft_observations(
    ledger: Ledger,
    state: State,
    study: Study,
    sources: Sequence[tuple[Source, bytes]],
    table: pl.DataFrame,
    twin: Mapping[str, float] | None,
) -> Event | list[Draft]:
    """The event that holds the bound rows of these files already, or drafts."""
    truth = dict(twin) if twin else None
    if there := _stored(state, study, table_digest(table), truth):
        return there
    source_event = study_source(ledger, study, state)
    body = {
        "file": ", ".join(Path(source.file).name for source, _ in sources),
        # Of a file from elsewhere only the name: where it lay is nobody's business.
        "files": {
            source.file if source.file in study.files else Path(source.file).name: sha256_hex(data)
            for source, data in sources
        },
        "entries": table.height,
        "twin": truth,
    }
    reference = StudyRef(study.name, study.digest)
    draft = Draft(OBSERVATIONS, body, reference, [("study", source_event)], [ledger.put_table("observations", table)])
    return [item for item in (source_event, draft) if isinstance(item, Draft)]


def _stored(state: State, study: Study, digest: str, twin: Mapping[str, float] | None) -> Event | None:
    """The event that holds these very observations of the study."""
    for event in state.events.values():
        if event.kind != OBSERVATIONS or event.id in state.superseded:
            continue
        blob = event.blob("observations")
        same_study = event.study is not None and event.study.digest == study.digest
        if same_study and blob and blob.digest == digest and event.data["twin"] == twin:
            return event
    return None


def read_entries(study: Study, source: Source, data: bytes) -> tuple[pl.DataFrame, list[str]]:
    """The rows of one file as entries in SI; and the columns that were left out."""
    import polars as pl

    path = Path(source.file)
    table = parse_table(path, data)
    columns = _columns(table, path, source)
    wide = "output" not in columns
    entries = _wide(study, source, table, columns, path) if wide else _long(study, source, table, columns, path)
    if not entries:
        raise InputError(f"{path}: holds no measured value")
    text, number = pl.String(), pl.Float64()
    schema: dict[str, Any] = {"entry": pl.Int64(), "case": text, "output": text, "value": number, "std": number}
    schema |= {"point": text, "axis": text, "instant": number}
    known = {*COLUMNS, *study.outputs}
    left_out = [column for name, column in columns.items() if name not in known]
    return pl.DataFrame([{"entry": 0, **entry} for entry in entries], schema), left_out


def _columns(table: pl.DataFrame, path: Path, source: Source) -> dict[str, str]:
    """Columns of the file by the name they stand for."""
    renamed = {column: name for name, column in source.columns.items()}
    for column, name in renamed.items():
        if column not in table.columns:
            raise InputError(f"{path}: has no column {column} for {name}: {did_you_mean(column, table.columns)}")
    found: dict[str, str] = {}
    for column in table.columns:
        name = renamed.get(column) or HEADER.sub("", column).strip()
        if name in found:
            raise InputError(f"{path}: has two columns for {name}: {found[name]} and {column}")
        found[name] = column
    return found


def _long(
    study: Study, source: Source, table: pl.DataFrame, columns: Mapping[str, str], path: Path
) -> list[dict[str, Any]]:
    if "value" not in columns:
        raise InputError(f"{path}: has no column value; its columns are {', '.join(table.columns[:20])}")
    entries = []
    for number, row in enumerate(table.iter_rows(named=True), 1):
        where = f"{path}: row {number}"
        told = {name: row[column] for name, column in columns.items() if name in COLUMNS}
        output = _output(study, told["output"], where)
        unit = _text(told.get("unit")) or None
        units = {
            name: _unit(columns[name], unit, output.unit, path, where) for name in ("value", "std") if name in told
        }
        entry: dict[str, Any] = {name: _text(told.get(name)) for name in ("point", "axis")}
        entry |= {"case": _case(study, told.get("case", source.case), where), "output": output.name}
        entry["value"] = _number(told["value"], units["value"], f"{where}: value")
        std = None if told.get("std") is None else _number(told["std"], units["std"], f"{where}: std")
        entry["std"] = _checked_std(source.std.get(output.name) if std is None else std, where)
        instant = told.get("instant")
        place = None if instant is None else _instant(study, output, instant, columns["instant"], path, where)
        entry["instant"] = output.at if place is None else place
        entries.append(entry)
    return entries


def _wide(
    study: Study, source: Source, table: pl.DataFrame, columns: Mapping[str, str], path: Path
) -> list[dict[str, Any]]:
    measured = [name for name in columns if name in study.outputs]
    for name in columns:
        if name not in study.outputs and name not in COLUMNS and not measured:
            near = did_you_mean(name, study.outputs)
            raise InputError(f"{path}: column {columns[name]} is no output of study {study.name}: {near}")
    entries = []
    for number, row in enumerate(table.iter_rows(named=True), 1):
        where = f"{path}: row {number}"
        case = _case(study, row[columns["case"]] if "case" in columns else source.case, where)
        for name in measured:
            output, column = study.outputs[name], columns[name]
            if row[column] is None:
                continue
            value = _number(row[column], own_unit(column, output.unit, path), f"{where}: {column}")
            std = _checked_std(source.std.get(name), where)
            told = {"case": case, "output": name, "value": value, "std": std, "instant": output.at}
            entries.append(told | {"point": None, "axis": None})
    return entries


def _output(study: Study, name: object, where: str) -> Output:
    text = _text(name) or ""
    if text not in study.outputs:
        near = did_you_mean(text, study.outputs)
        raise InputError(f"{where}: output {text!r} is not of study {study.name}: {near}")
    return study.outputs[text]


def _case(study: Study, name: object, where: str) -> str:
    try:
        return study.case_name(_text(name) or None)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None


def _unit(column: str, unit: str | None, wanted: str, path: Path, where: str) -> str:
    """The unit of a number: its header's, else that of the column `unit`, else the output's own."""
    if HEADER.search(column) or unit is None:
        return own_unit(column, wanted, path)
    try:
        return own_unit(f"unit [{unit}]", wanted, path)
    except InputError:
        raise InputError(f"{where}: unit {unit!r} must be {wanted}, or a unit of the same dimension") from None


def _number(value: object, unit: str, where: str) -> float:
    """A finite number in SI."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{where} is {value!r}: not a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{where} is {value}: a finite number is needed")
    return to_si(float(value), unit)


def _checked_std(std: float | None, where: str) -> float | None:
    if std is not None and std < 0:
        raise InputError(f"{where}: std is {std:g} (SI): must be at least 0")
    return std


def _instant(study: Study, output: Output, value: object, column: str, path: Path, where: str) -> float:
    """Where on its axis a datum belongs: where the output is taken, if that is said."""
    quantities = study.model().quantities
    axis = quantities[output.quantity].axis
    unit = quantities[axis].unit if axis else "s"
    found = _number(value, own_unit(column, unit, path), f"{where}: instant")
    if output.at is not None and abs(found - output.at) > 1e-9 * max(abs(output.at), abs(found)):
        raise InputError(
            f"{where}: instant {found:g} {unit}, but output {output.name} is taken at {output.at:g} {unit}"
        )
    return found


def _text(value: object) -> str | None:
    text = None if value is None else str(value).strip()
    return text or None
