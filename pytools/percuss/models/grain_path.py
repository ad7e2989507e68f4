"""Tests along a path: a table of goals, one row after another, as `[[model.path]]` of a study writes it.

    stress_x = "200 kPa"
    stress_y = "200 kPa"
    strain_z = "2 %"
    increments = 20

Every axis goes to a stress or to a strain, in a straight line from where the row before ended, in as many increments as
the row says; each is brought to rest and measured. Strains are logarithmic, count from the isotropic state and are
positive in compression, as stresses are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from percuss.errors import InputError
from percuss.settings import Setting, table_of
from percuss.units import parse_quantity

AXES = ("x", "y", "z")
MOST_INCREMENTS = 100_000

PATH = table_of(
    *(
        Setting(f"stress_{axis}", "number", unit="Pa", low=0, low_open=True, doc=f"target stress along {axis}")
        for axis in AXES
    ),
    *(
        Setting(f"strain_{axis}", "number", low=-1, high=1, doc=f"target strain along {axis}, instead of a stress")
        for axis in AXES
    ),
    Setting("increments", "integer", 1, low=1, high=MOST_INCREMENTS, doc="number of increments, each brought to rest"),
)

# Goals of x, y and z at the end of an increment: whether it is a strain, and how much (SI).
Goals = tuple[tuple[bool, float], ...]


def increments(rows: Sequence[object], pressure_pa: float) -> list[Goals]:
    """Goals of every increment of a path that starts at an isotropic pressure. Raises InputError."""
    path: list[Goals] = []
    last: Goals = tuple((False, pressure_pa) for _ in AXES)
    for number, row in enumerate(rows, start=1):
        count, goals = _row(row, f"model setting `path`: row {number}")
        for k in range(1, count + 1):
            path.append(tuple(_between(a, b, k / count) for a, b in zip(last, goals, strict=True)))
        last = goals
    return path


def _row(row: object, where: str) -> tuple[int, Goals]:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: {row!r} is not a table")
    for key in row:
        if key not in PATH:
            raise InputError(f"{where}: unknown key `{key}`; allowed are {', '.join(sorted(PATH))}")
    count: Any = row.get("increments", 1)
    if type(count) is not int or not 1 <= count <= MOST_INCREMENTS:
        raise InputError(f"{where}: increments = {count!r} must be an integer from 1 to {MOST_INCREMENTS}")
    goals = []
    for axis in AXES:
        controls = [key for key in (f"stress_{axis}", f"strain_{axis}") if key in row]
        if len(controls) != 1:
            raise InputError(f"{where}: needs either stress_{axis} or strain_{axis}")
        strain = controls[0].startswith("strain")
        try:
            value = parse_quantity(row[controls[0]], "1" if strain else "Pa")
        except (InputError, TypeError) as fault:
            raise InputError(f"{where}: {controls[0]}: {fault}") from None
        if not (abs(value) <= 1 if strain else value > 0):
            allowed = "lie between -1 and 1" if strain else "be positive"
            raise InputError(f"{where}: {controls[0]} = {row[controls[0]]!r} must {allowed}")
        goals.append((strain, value))
    return count, tuple(goals)


def _between(start: tuple[bool, float], end: tuple[bool, float], share: float) -> tuple[bool, float]:
    """A goal on the way. An axis that changes from stress to strain or back goes to its goal as strains do: at once."""
    if start[0] != end[0] or share == 1:
        return end
    return end[0], start[1] + (end[1] - start[1]) * share
