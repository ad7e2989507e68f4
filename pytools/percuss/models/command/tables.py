"""What a study says about a program: its settings, its inputs and where its results are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from percuss.errors import InputError
from percuss.models.command.results import FORMATS, Source
from percuss.models.model import Input, Quantity, Reference
from percuss.settings import KeyPath, Note, Setting, SettingsError, check_table, table_of, wrong_type
from percuss.spelling import shown
from percuss.units import dimension, parse_unit

SEED = "seed"
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
INPUT = table_of(
    Setting("unit", "text", default="1", doc="unit in which the program receives it; also that of bare numbers"),
    Setting("default", "any", doc="value if the study gives none"),
    Setting("low", "any", doc="smallest value allowed"),
    Setting("high", "any", doc="largest value allowed"),
    Setting("choices", "texts", doc="texts allowed, for an input that is not a number"),
    Setting("doc", "text", default="", doc="description in one line"),
)
QUANTITY = table_of(
    Setting("file", "text", required=True, doc="file that the program writes into its scratch folder"),
    Setting("column", "any", doc="name or number of the column"),
    Setting("row", "integer", doc="number of the row, from 0; -1 is the last"),
    Setting("unit", "text", default="1", doc="unit in which the program writes it"),
    Setting("axis", "text", doc="for a curve: the quantity on its axis"),
    Setting("doc", "text", default="", doc="description in one line"),
)

_SETTINGS = (
    Setting("command", "list", required=True, doc="the program and its arguments, as a list of texts; never a shell"),
    Setting("inputs", "table", required=True, doc="inputs: name = { unit = ..., low = ..., default = ... }", of=INPUT),
    Setting(
        "quantities",
        "table",
        required=True,
        doc="results: name = { file = ..., column = ..., unit = ... }",
        of=QUANTITY,
    ),
    Setting("files", "files", default=[], doc="files of the study's folder that it needs"),
    Setting("templates", "files", default=[], doc="files of the study's folder in which values are filled in"),
    Setting("environment", "table", default={}, doc="environment variables it gets, with values filled in"),
    Setting("pass_environment", "list", default=[], doc="environment variables passed on from the caller"),
    Setting("writable", "list", default=[], doc="folders it may write to in addition to its scratch folder"),
    Setting("network", "boolean", doc="whether it may use the network; default: no"),
    Setting("version", "list", default=[], doc="a call that prints its version"),
    Setting(
        "timeout", "number", default=3600.0, unit="s", low=1e-3, high=1e8, doc="a run that takes longer is stopped"
    ),
    Setting("retries", "integer", default=0, low=0, high=100, doc="how often a failed run is tried again"),
    Setting("exit_codes", "list", default=[0], doc="exit codes that mean success"),
    Setting(
        "largest_print",
        "integer",
        default=1_000_000,
        low=1,
        high=10**9,
        doc="largest number of bytes it may print on a stream",
    ),
    Setting(
        "largest_file",
        "integer",
        default=10**9,
        low=1,
        high=10**12,
        doc="largest size of a file it may write, in bytes",
    ),
    Setting(
        "most_processes",
        "integer",
        default=1000,
        low=1,
        high=10**6,
        doc="largest number of processes and threads at a time",
    ),
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
            "The program reads and writes each in the unit given in the study; percuss converts to SI and back.",
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
    with _Tables("inputs", tables, INPUT) as each:
        for name, table, note in each:
            if name == SEED:
                note((), "stands for the seed of the run; choose another name")
            elif "choices" in table:
                choices, default = tuple(table["choices"]), table.get("default")
                if not choices:
                    note(("choices",), "must hold at least one text")
                if default is not None and default not in choices:
                    note(("default",), f"{shown(default)}: must be one of {', '.join(choices)}")
                inputs[name] = Input(name, None, default, choices=choices, doc=table["doc"])
            elif unit := _unit(table, note):
                bounds = table_of(*(Setting(key, "number", unit=unit) for key in ("default", "low", "high")))
                numbers = check_table(bounds, {key: table[key] for key in bounds if key in table}, (), note)
                inputs[name] = Input(name, _si(unit), doc=table["doc"], **numbers)
                units[name] = unit
    return inputs, units


def read_quantities(tables: Mapping[str, Any]) -> tuple[dict[str, Quantity], dict[str, Source]]:
    """The quantities, in SI, and where each is found. One with an axis is a curve, and so is its axis."""
    quantities: dict[str, Quantity] = {}
    sources: dict[str, Source] = {}
    axes = [table.get("axis") for table in tables.values() if isinstance(table, dict)]
    with _Tables("quantities", tables, QUANTITY) as each:
        for name, table, note in each:
            file, column, row, axis = (table.get(key) for key in ("file", "column", "row", "axis"))
            if file is None:
                continue
            suffix = file[file.rfind(".") :] if "." in file else ""
            if not is_inside(file):
                note(("file",), f"{shown(file)}: must be a path inside the scratch folder")
            elif suffix not in FORMATS:
                note(("file",), f"{shown(file)}: must end in {', '.join(FORMATS)}")
            if isinstance(column, bool) or not isinstance(column, str | int | None):
                note(("column",), f"{shown(column)}: must be a name or a number")
            if column is None and suffix in (".csv", ".parquet"):
                note(("column",), f"missing, and {file} has columns")
            other = tables.get(axis) if axis is not None else None
            if axis is not None and (not isinstance(other, dict) or other.get("axis")):
                note(("axis",), f"{shown(axis)}: must be another quantity, without an axis of its own")
            if unit := _unit(table, note):
                curve = axis is not None or name in axes
                quantities[name] = Quantity(name, _si(unit), curve, table["doc"], axis)
                sources[name] = Source(file, column, unit, row, curve)
    if not tables:
        raise SettingsError([("quantities", "must hold at least one")])
    return quantities, sources


class _Tables:
    """Named tables under one key, each held against its settings; what was noted of them is raised at the end."""

    def __init__(self, key: str, tables: Mapping[str, Any], schema: Mapping[str, Setting]) -> None:
        self.key, self.tables, self.schema = key, tables, schema
        self.faults: list[tuple[str, str]] = []

    def __enter__(self) -> Iterator[tuple[str, dict[str, Any], Note]]:
        return self._each()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.faults and kind is None:
            raise SettingsError(self.faults)

    def _each(self) -> Iterator[tuple[str, dict[str, Any], Note]]:
        for name, table in self.tables.items():

            def note(path: KeyPath, message: str, name: str = name) -> None:
                self.faults.append((self.key, ": ".join([name, *map(str, path), message])))

            if not _NAME.fullmatch(name):
                note((), "a name holds letters, digits, `_`, `-` and `.`, and begins with a letter")
            elif not isinstance(table, dict):
                note((), wrong_type(table, "a table"))
            else:
                yield name, check_table(self.schema, table, (), note), note


def _unit(table: Mapping[str, Any], note: Note) -> str | None:
    try:
        return parse_unit(table["unit"]).name
    except InputError as fault:
        note(("unit",), str(fault))
        return None


def _si(unit: str) -> str:
    return unit if parse_unit(unit).scale == 1 else dimension(unit)


def is_inside(path: str) -> bool:
    """Whether a path stays in the scratch folder: a study may come out of a stranger's ledger."""
    return bool(path) and path.isprintable() and not path.startswith("/") and ".." not in path.split("/")
