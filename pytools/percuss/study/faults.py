"""Faults of a study file: collected all in one go, each with its file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.errors import InputError


def dotted(key: Sequence[str | int]) -> str:
    """Spell the path of a key, as `observed[0].unit`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text if len(text) <= 100 else text[:97] + "..."


@dataclass(frozen=True)
class Fault:
    """One thing wrong: the file, its line (0 when no line is to blame), the dotted key and a sentence."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class StudyError(InputError):
    """A study that cannot be used. `faults` holds everything found; the message tells the first."""

    def __init__(self, faults: Sequence[Fault], path: str) -> None:
        self.faults = list(faults)
        more = f"; and {len(faults) - 1} more: percuss study check {path}" if len(faults) > 1 else ""
        super().__init__(f"{self.faults[0]}{more}")
