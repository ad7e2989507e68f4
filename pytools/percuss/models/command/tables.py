"""What a study says about a program: its settings, its inputs and where its results are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from percuss.errors import InputError
from percuss.models.command.results import FORMATS, Source
from percuss.models.model import Input, Quantity, Reference
from percuss.settings import Setting, SettingsError, table_of
from percuss.spelling import did_you_mean, shown
from percuss.units import dimension, parse_quantity, parse_unit

SEED = "seed"
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
INPUT = table_of(
    Setting("unit", "any", "1", doc="in which the program gets it, and bare numbers are"),
    Setting("default", "any", doc="value where a study gives none"),
    Setting("low", "any", doc="least it may be"),
    Setting("high", "any", doc="most it may be"),
    Setting("choices", "any", doc="texts it may be, for an input that is no number"),
    Setting("doc", "any", "", doc="what it is, in a line"),
)
QUANTITY = table_of(
    Setting("file", "any", required=True, doc="that the program writes into its scratch folder"),
    Setting("column", "any", doc="name or number of the column"),
    Setting("row", "any", doc="number of the row, from 0; -1 is the last"),
    Setting("unit", "any", "1", doc="in which the program writes it"),
    Setting("axis", "any", doc="the quantity it is a curve over"),
    Setting("doc", "any", "", doc="what it is, in a line"),
)

_SETTINGS = (
    Setting("command", "list", required=True, doc="the program and its arguments, as a list of texts; never a shell"),
    Setting(
        "inputs", "table", required=True, doc="what it takes: name = { unit = ..., low = ..., default = ... }", of=INPUT
    ),
    Setting(
        "quantities",
        "table",
        required=True,
        doc="what it gives: name = { file = ..., column = ..., unit = ... }",
        of=QUANTITY,
    ),
    Setting("files", "files", default=[], doc="files of the study's folder that it needs"),
    Setting("templates", "files", default=[], doc="the same, with values filled in"),
    Setting("environment", "table", default={}, doc="variables it gets, with values filled in"),
    Setting("pass_environment", "list", default=[], doc="variables of the caller that it gets"),
    Setting("writable", "list", default=[], doc="folders it may write to beside its scratch folder"),
    Setting("network", "boolean", doc="whether it may use the network; not given: no"),
    Setting("version", "list", default=[], doc="a call that prints its version"),
    Setting("timeout", "number", default=3600.0, unit="s", low=1e-3, high=1e8, doc="a run that takes longer is ended"),
    Setting("retries", "integer", default=0, low=0, high=100, doc="how often a failed run is tried again"),
    Setting("exit_codes", "list", default=[0], doc="codes that mean success"),
    Setting("largest_print", "integer", default=1_000_000, low=1, high=10**9, doc="bytes it may print on a stream"),
    Setting("largest_file", "integer", default=10**9, low=1, high=10**12, doc="bytes of a file it may write"),
    Setting("batch", "integer", default=1, low=1, high=100_000, doc="runs in one event"),
)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """List the settings of a program."""
    return {setting.name: setting for setting in _SETTINGS}


def reference() -> Reference:
    """What holds for any program; its inputs and quantities are those the study names."""
    return Reference(
        conventions=(
            "Inputs and quantities are those that `inputs` and `quantities` of the study name.",
            "The program reads and writes each in the unit the study says; percuss converts to SI and back.",
            "Signs are the program's own.",
        )
    )


def read_texts(key: str, values: object, *, least: int = 0) -> tuple[str, ...]:
    """A list of texts that an operating system takes as arguments."""
    if (
        not isinstance(values, list)
        or len(values) < least
        or not all(isinstance(item, str) and "\0" not in item for item in values)
    ):
        raise SettingsError([(key, "must be a list of texts" + (", the program first" if least else ""))])
    return tuple(values)


def read_environment(key: str, table: Mapping[str, object]) -> dict[str, str]:
    """Variables and their texts."""
    for name, value in table.items():
        if not _VARIABLE.fullmatch(name) or not isinstance(value, str) or "\0" in value:
            raise SettingsError([(key, f"{shown(name)} = {shown(value)}: must be the name of a variable and a text")])
    return {name: str(value) for name, value in table.items()}


def read_inputs(tables: Mapping[str, Any]) -> tuple[dict[str, Input], dict[str, str]]:
    """The inputs, in SI, and the unit in which each is given to the program."""
    inputs: dict[str, Input] = {}
    units: dict[str, str] = {}
    for name, table in tables.items():
        where = f"{name}: "
        try:
            _checked(name, table, INPUT)
            if name == SEED:
                raise InputError("stands for the seed of the run; choose another name")
            if "choices" in table:
                choices = read_texts("choices", table["choices"], least=1)
                default = table.get("default")
                if default is not None and default not in choices:
                    raise InputError(f"default {shown(default)}: must be one of {', '.join(choices)}")
                inputs[name] = Input(name, None, default, choices=choices, doc=str(table.get("doc", "")))
                continue
            unit = _unit(table)
            numbers: dict[str, Any] = {
                key: parse_quantity(table[key], unit) for key in ("default", "low", "high") if key in table
            }
            inputs[name] = Input(name, _si(unit), doc=str(table.get("doc", "")), **numbers)
            units[name] = unit
        except InputError as fault:
            raise SettingsError([("inputs", f"{where}{fault}")]) from None
    return inputs, units


def read_quantities(tables: Mapping[str, Any]) -> tuple[dict[str, Quantity], dict[str, Source]]:
    """The quantities, in SI, and where each is found. One with an axis is a curve, and so is its axis."""
    quantities: dict[str, Quantity] = {}
    sources: dict[str, Source] = {}
    axes = [table.get("axis") for table in tables.values() if isinstance(table, dict)]
    for name, table in tables.items():
        try:
            _checked(name, table, QUANTITY)
            file, column, row, axis = (table.get(key) for key in ("file", "column", "row", "axis"))
            if not isinstance(file, str) or not is_inside(file):
                raise InputError(f"file = {shown(file)}: must be a path inside the scratch folder")
            suffix = file[file.rfind(".") :] if "." in file else ""
            if suffix not in FORMATS:
                raise InputError(f"file = {shown(file)}: must end in {', '.join(FORMATS)}")
            if isinstance(column, bool) or not isinstance(column, str | int | None):
                raise InputError(f"column = {shown(column)}: must be a name or a number")
            if column is None and suffix in (".csv", ".parquet"):
                raise InputError(f"column: missing, and {file} has columns")
            if isinstance(row, bool) or not isinstance(row, int | None):
                raise InputError(f"row = {shown(row)}: must be a whole number; -1 is the last")
            other = tables.get(axis) if isinstance(axis, str) else None
            if axis is not None and (not isinstance(other, dict) or other.get("axis")):
                raise InputError(f"axis = {shown(axis)}: must be another quantity, without an axis of its own")
            unit = _unit(table)
            curve = axis is not None or name in axes
            quantities[name] = Quantity(name, _si(unit), curve, str(table.get("doc", "")), axis)
            sources[name] = Source(file, column, unit, row, curve)
        except InputError as fault:
            raise SettingsError([("quantities", f"{name}: {fault}")]) from None
    if not quantities:
        raise SettingsError([("quantities", "must hold at least one")])
    return quantities, sources


def _checked(name: str, table: object, keys: Collection[str]) -> None:
    if not _NAME.fullmatch(name):
        raise InputError("a name holds letters, digits, `_`, `-` and `.`, and begins with a letter")
    if not isinstance(table, dict):
        raise InputError("must be a table")
    for key in table:
        if key not in keys:
            raise InputError(f"unknown key `{key}`: {did_you_mean(key, keys)}")


def _unit(table: Mapping[str, object]) -> str:
    unit = table.get("unit", "1")
    if not isinstance(unit, str):
        raise InputError(f"unit = {shown(unit)}: must be a text")
    return parse_unit(unit).name


def _si(unit: str) -> str:
    return unit if parse_unit(unit).scale == 1 else dimension(unit)


def is_inside(path: str) -> bool:
    """Whether a path stays in the scratch folder: a study may come out of a stranger's ledger."""
    return bool(path) and path.isprintable() and not path.startswith("/") and ".." not in path.split("/")
