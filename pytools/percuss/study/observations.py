"""`[observations]` of a study file: which files hold measured values, and how they are to be read.

Keys stand in `[observations]` itself or, for several files, in tables `[observations.NAME]`. What can be checked
without the files is checked here; `percuss.calibration.observations` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.study.output import Output
from percuss.study.study import Parameter
from percuss.study.tables import Note, kind_of, only_known, optional_text, subtable
from percuss.study.toml_lines import Path
from percuss.units import parse_quantity, si_quantity

SOURCE_KEYS = ("file", "case", "columns", "std")
# What a table of measured values may say of a datum.
COLUMNS = ("output", "value", "unit", "std", "case", "point", "axis", "instant")


@dataclass(frozen=True)
class Source:
    """One file: its path in the study, the case of all its rows, columns of other names, std by output in SI; and
    which table of the study says so.
    """

    file: str
    case: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    std: Mapping[str, float] = field(default_factory=dict)
    place: Path = ("observations",)


@dataclass(frozen=True)
class ObservationPlan:
    """The files of a study, and the true parameters (SI) if what they hold are twin data.

    `base` is what the table says of every file, those from elsewhere among them.
    """

    sources: tuple[Source, ...]
    twin: Mapping[str, float] | None
    base: Source


def read_observations(
    table: Mapping[str, Any],
    outputs: Mapping[str, Output],
    cases: Iterable[str],
    parameters: Mapping[str, Parameter],
    note: Note,
) -> ObservationPlan:
    """Read the table, noting what is wrong with it."""
    top: Path = ("observations",)
    named = {key: value for key, value in table.items() if isinstance(value, dict) and "file" in value}
    only_known(table, (*SOURCE_KEYS, "twin", "doc", *named), top, note)
    optional_text(table, "doc", top, note)
    known = tuple(cases)
    base = _source(table, outputs, known, top, note)
    sources = [base] if "file" in table else []
    for key, inner in named.items():
        only_known(inner, SOURCE_KEYS, (*top, key), note)
        sources.append(_source({**table, **inner}, outputs, known, (*top, key), note))
    twin = _twin(subtable(table, "twin", note, top), parameters, (*top, "twin"), note) if "twin" in table else None
    return ObservationPlan(tuple(sources), twin, base)


def observations_in_si(
    table: Mapping[str, Any], outputs: Mapping[str, Output], parameters: Mapping[str, Parameter]
) -> dict[str, Any]:
    """The table, if it has no faults, with standard deviations and true parameters in SI."""
    found = dict(table)
    for key, value in table.items():
        if key == "std" and isinstance(value, dict):
            found[key] = {name: si_quantity(item, outputs[name].unit) for name, item in value.items()}
        elif key == "std":
            # One number for outputs of several units is as many standard deviations.
            each = {name: si_quantity(value, output.unit) for name, output in outputs.items()}
            found[key] = each if len(set(each.values())) > 1 else next(iter(each.values()), value)
        elif key == "twin":
            found[key] = {name: si_quantity(item, parameters[name].unit) for name, item in value.items()}
        elif isinstance(value, dict) and "file" in value:
            found[key] = observations_in_si(value, outputs, parameters)
    return found


def _source(
    table: Mapping[str, Any], outputs: Mapping[str, Output], cases: tuple[str, ...], path: Path, note: Note
) -> Source:
    file = optional_text(table, "file", path, note)
    case = optional_text(table, "case", path, note) or None
    if case is not None and case not in cases:
        note((*path, "case"), f"no such case; {did_you_mean(case, cases)}")
    columns = subtable(table, "columns", note, path)
    for name, column in columns.items():
        if name not in COLUMNS and name not in outputs:
            note((*path, "columns", name), f"unknown; {did_you_mean(name, [*COLUMNS, *outputs])}")
        if not isinstance(column, str):
            note((*path, "columns", name), f"must be the name of a column, not {kind_of(column)}")
    return Source(file, case, columns, _std(table.get("std", {}), outputs, (*path, "std"), note), path)


def _std(given: object, outputs: Mapping[str, Output], path: Path, note: Note) -> dict[str, float]:
    """The measurement's standard deviation by output: one for all, or a table."""
    found = {}
    for name, value in (given if isinstance(given, dict) else dict.fromkeys(outputs, given)).items():
        if name not in outputs:
            note((*path, name), f"no such output; {did_you_mean(name, outputs)}")
            continue
        try:
            found[name] = std_of(value, outputs[name])
        except InputError as fault:
            note((*path, name) if isinstance(given, dict) else path, str(fault))
    return found


def std_of(value: Any, output: Output) -> float:
    """A standard deviation of an output in SI: finite and not negative."""
    std = parse_quantity(value, output.unit)
    if std < 0:
        raise InputError(f"a std of {value} for output `{output.name}`: must be at least 0")
    return std


def _twin(table: Mapping[str, Any], parameters: Mapping[str, Parameter], path: Path, note: Note) -> dict[str, float]:
    found = {}
    for name, value in table.items():
        if name not in parameters:
            note((*path, name), f"no such parameter; {did_you_mean(name, parameters)}")
            continue
        try:
            found[name] = parse_quantity(value, parameters[name].unit)
        except InputError as fault:
            note((*path, name), str(fault))
    return found
