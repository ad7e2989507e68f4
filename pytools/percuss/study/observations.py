"""`[observations]` of a study file: which files hold measured values, and how they are to be read.

Keys stand in `[observations]` itself or, for several files, in tables `[observations.NAME]`. Channels of loggers are
bound to curves in tables `[observations.histories.NAME]` (`percuss.study.histories`). What can be checked without the
files is checked here; `percuss.calibration.observations` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Setting, check_table, table_of, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.histories import History, histories_in_si, read_histories
from percuss.study.output import Output
from percuss.study.study import Study
from percuss.units import parse_quantity, si_quantity

SOURCE = table_of(
    Setting("file", "file", "", doc="CSV or Parquet with measured values"),
    Setting("case", "text", "", doc="case of all its rows"),
    Setting("columns", "table", {}, doc='columns of other names: name = "column of the file"'),
    Setting("std", "any", {}, doc="standard deviation of the measurement: one for all outputs, or output = std"),
    Setting("start", "number", 0.0, unit="s", doc="of measured curves: the instant of the file at which a run begins"),
)
OBSERVED = SOURCE | table_of(
    Setting(
        "histories", "table", {}, files=("file",), doc="channels of loggers, each table bound to curves of the model"
    ),
    Setting("twin", "table", doc="true parameters, where the data are those of a simulation"),
    Setting("doc", "text", "", doc="words for people"),
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
    base = _source(checked, outputs, known, top, note)
    sources = [base] if "file" in table else []
    for key, inner in named.items():
        own = check_table(SOURCE, inner, (*top, key), note)
        own |= {name: checked[name] for name in SOURCE if name not in inner}
        sources.append(_source(own, outputs, known, (*top, key), note))
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
            each = {name: si_quantity(value, output.unit) for name, output in outputs.items()}
            si[key] = each if len(set(each.values())) > 1 else next(iter(each.values()), value)
        elif key == "start":
            si[key] = si_quantity(value, "s")
        elif key == "twin":
            si[key] = {name: si_quantity(item, study.parameters[name].unit) for name, item in value.items()}
        elif key == "histories":
            si[key] = histories_in_si(value, study.model().quantities) if value else value
        elif isinstance(value, dict) and "file" in value:
            si[key] = observations_in_si(study, value)
    return si


def _source(
    checked: Mapping[str, Any], outputs: Mapping[str, Output], cases: tuple[str, ...], path: KeyPath, note: Note
) -> Source:
    case = checked["case"] or None
    if case is not None and case not in cases:
        note((*path, "case"), f"no such case; {did_you_mean(case, cases)}")
    for name, column in checked["columns"].items():
        known = [*COLUMNS, *outputs, *(output.quantity for output in outputs.values() if output.reduce)]
        if name not in known:
            note((*path, "columns", name), f"unknown; {did_you_mean(name, known)}")
        if not isinstance(column, str):
            note((*path, "columns", name), wrong_type(column, "the name of a column"))
    std = _std(checked["std"], outputs, (*path, "std"), note)
    return Source(checked["file"], case, checked["columns"], std, checked["start"], path)


def _std(written: object, outputs: Mapping[str, Output], path: KeyPath, note: Note) -> dict[str, float]:
    """The measurement's standard deviation by output: one for all, or a table."""
    stds = {}
    for name, value in (written if isinstance(written, dict) else dict.fromkeys(outputs, written)).items():
        if name not in outputs:
            note((*path, name), f"no such output; {did_you_mean(name, outputs)}")
            continue
        try:
            stds[name] = std_of(value, outputs[name])
        except InputError as fault:
            note((*path, name) if isinstance(written, dict) else path, str(fault))
    return stds


def std_of(value: Any, output: Output) -> float:
    """A standard deviation of an output in SI: finite and not negative."""
    std = parse_quantity(value, output.unit)
    if std < 0:
        raise InputError(f"a std of {value} for output `{output.name}`: must be at least 0")
    return std


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
