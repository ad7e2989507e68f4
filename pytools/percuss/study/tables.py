"""TOML files held against tables of settings: parsed one way, read table by table, with the line of what is wrong.

Functions that read tables note what is wrong and return what they can.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Setting, check_table, clean_setting, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.faults import Fault, dotted
from percuss.units import dimension, same_dimension

MAX_DEPTH = 32
STD = Setting("std", "number", low=0, doc="standard deviation")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def plain_data(raw: Mapping[str, Any], note: Note) -> bool:
    """Check that all is JSON data: no dates, no NaN or infinities, not nested beyond reason."""
    fine = True
    pending: list[tuple[KeyPath, object]] = [((), raw)]
    while pending:
        path, value = pending.pop()
        if len(path) > MAX_DEPTH:
            note(path[:1], f"is nested more than {MAX_DEPTH} levels deep")
            return False
        children: Iterable[tuple[str | int, object]] = ()
        if isinstance(value, dict):
            children = value.items()
        elif isinstance(value, list):
            children = enumerate(value)
        elif isinstance(value, float) and not math.isfinite(value):
            note(path, f"{value} is not a finite number")
            fine = False
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63:
            note(path, "is a whole number beyond 64 bits")
            fine = False
        elif not isinstance(value, str | int | float):
            note(path, f"{value} is a date or time: write it as a text")
            fine = False
        pending.extend(((*path, key), child) for key, child in children)
    return fine


def subtable(raw: Mapping[str, Any], key: str, note: Note, path: KeyPath = ()) -> dict[str, Any]:
    """Return the table under a key, empty when it is missing or no table."""
    value = raw.get(key, {})
    if not isinstance(value, dict):
        note((*path, key), wrong_type(value, "a table"))
        return {}
    return value


def named_tables(tables: Mapping[str, Any], section: str, note: Note) -> Iterable[tuple[str, dict[str, Any]]]:
    """Go through the tables [section.NAME] whose name and type are right."""
    for name in tables:
        if not _NAME.fullmatch(name):
            note((section, name), "a name holds letters, digits, `_`, `-` and `.`, at most 64")
        else:
            table = tables[name]
            if isinstance(table, dict):
                yield name, table
            else:
                note((section, name), wrong_type(table, "a table"))


def read_stds(written: object, units: Mapping[str, str], unknown: str, path: KeyPath, note: Note) -> dict[str, float]:
    """Standard deviations in SI by name, of what has these units: one for all, or a table; `unknown` is the complaint
    about a name without one.
    """
    stds = {}
    for name, value in (written if isinstance(written, dict) else dict.fromkeys(units, written)).items():
        place = (*path, name) if isinstance(written, dict) else path
        if name not in units:
            note(place, f"{unknown}; {did_you_mean(name, units)}")
            continue
        try:
            stds[name] = clean_setting(replace(STD, unit=units[name]), value)
        except InputError as fault:
            note(place, str(fault))
    return stds


def display_unit(
    table: Mapping[str, Any], si: str | None, path: KeyPath, note: Note, others: tuple[str, ...] = ()
) -> str | None:
    """Read a unit of the dimension of `si` or `others`, or of any when that is not known; `si` after a fault."""
    unit = table.get("unit", si)
    if unit is None:
        return None
    if not isinstance(unit, str):
        note((*path, "unit"), wrong_type(unit, "a text"))
        return si
    try:
        if any(same_dimension(unit, known) for known in (si or unit, *others)):
            return unit
        expected = f"{si} ({dimension(si or unit)})"
        note((*path, "unit"), f"{unit} ({dimension(unit)}) is not of the dimension of {expected}")
    except InputError as fault:
        note((*path, "unit"), str(fault))
    return si


# tomllib takes time quadratic in the number of parts of a dotted key; no file needs this many.
_LONG_KEY = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){33}""")
# Faults that one message tells.
SHOWN = 3
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class TomlError(InputError):
    """A file that is no TOML: `fault` says where and why."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(str(fault))


class TomlFile:
    """The tables of a file, and the lines that faults in them stand on."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.text = self._decoded(data)
        self.table: dict[str, Any] = self._parsed()

    def _refusal(self, line: int, message: str) -> TomlError:
        return TomlError(Fault(self.name, line, "", message))

    def _decoded(self, data: bytes) -> str:
        try:
            # One kind of line end for parser and scanner alike.
            return data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError as fault:
            raise self._refusal(data.count(b"\n", 0, fault.start) + 1, "is not UTF-8 text") from None

    def _parsed(self) -> dict[str, Any]:
        if long := _LONG_KEY.search(self.text):
            raise self._refusal(self.text.count("\n", 0, long.start()) + 1, "a dotted key has too many parts")
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as fault:
            message = str(fault)
            place = _TOML_PLACE.search(message)
            line = int(place[1]) if place and place[1] else self.text.rstrip("\n").count("\n") + 1
            raise self._refusal(line, f"is not valid TOML: {_TOML_PLACE.sub('', message)}") from None
        except RecursionError:
            raise self._refusal(0, "is nested too deeply") from None
        except (ValueError, OverflowError) as fault:
            raise self._refusal(0, f"holds a value that cannot be read: {fault}") from None

    def faults(self, noted: list[tuple[KeyPath, str]]) -> list[Fault]:
        """Faults that were noted at keys, in the order of their lines."""
        from percuss.study.toml_lines import key_lines

        lines = key_lines(self.text) if noted else {}
        faults = {
            Fault(self.name, _line(lines, key), _cut(dotted(key), 100), _cut(message, 500)) for key, message in noted
        }
        return sorted(faults, key=lambda fault: (fault.line, fault.key))

    def refuse(self, noted: list[tuple[KeyPath, str]], hint: str | None = None) -> None:
        """Raise InputError with the first few faults, each with its line; nothing if there is none."""
        if not (faults := self.faults(noted)):
            return
        words = [str(faults[0]), *(f"line {f.line}: {f.key}: {f.message}" for f in faults[1:SHOWN])]
        more = f" (and {len(faults) - SHOWN} more)" if len(faults) > SHOWN else ""
        raise InputError("; ".join(words) + more, hint=hint)

    def check(self, schema: Mapping[str, Setting]) -> dict[str, Any]:
        """The tables with quantities in SI and defaults; raise InputError if they do not fit the settings."""
        noted: list[tuple[KeyPath, str]] = []
        checked = check_table(schema, self.table, (), lambda key, message: noted.append((key, message)))
        self.refuse(noted)
        return checked


def _line(lines: Mapping[KeyPath, int], key: KeyPath) -> int:
    """Return the line of a key, or of the nearest table around it when the key itself is missing."""
    for depth in range(len(key), 0, -1):
        if key[:depth] in lines:
            return lines[key[:depth]]
    return 1


def _cut(text: str, length: int) -> str:
    """What a line can hold: a name in the file may be as long as the file."""
    return text if len(text) <= length else text[: length - 3] + "..."
