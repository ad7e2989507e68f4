"""A TOML file held against tables of settings: one way to parse it, and to say on which line what is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Setting, check_table
from percuss.study.faults import Fault, dotted

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
