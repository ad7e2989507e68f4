"""Joints, springs, bushings and actuators of a study file.

Numbers of a coordinate are in the unit of the coordinate: lengths or angles, forces or torques. A formula in t is SI;
the inputs it names are bare numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from percuss.errors import InputError
from percuss.models.scene.link_tables import (
    ANGLE,
    BUSHING,
    JOINT,
    LENGTH,
    actuator_table,
    friction_table,
    imposed_table,
    limit_table,
    spring_table,
)
from percuss.scene import Actuator, Bushing, History, Imposed, Joint, JointFriction, Limit, Spring
from percuss.scene.links import Signal, coordinate_of, is_angle
from percuss.settings import Setting


class TableReader(Protocol):
    """Reads the tables of a scene, gathering faults."""

    def table(
        self, raw: Any, schema: Mapping[str, Setting], where: str, suffixed: Collection[str] | None = None
    ) -> dict[str, Any] | None: ...
    def formula(self, value: Any, where: str) -> str: ...
    def fault(self, where: str, message: str) -> None: ...


def read_joint(reader: TableReader, raw: Any, where: str) -> Joint | None:
    """A joint, or None after a fault."""
    table = reader.table(raw, JOINT, where)
    if table is None:
        return None
    for key, read in (("imposed", _read_imposed), ("limits", _read_limit), ("friction", _read_friction)):
        made = (read(reader, part, table["kind"], f"{where}.{key}[{i}]") for i, part in enumerate(table[key]))
        table[key] = [part for part in made if part is not None]
    return Joint(**table)


def read_bushing(reader: TableReader, raw: Any, where: str) -> Bushing | None:
    """A bushing, or None after a fault."""
    table = reader.table(raw, BUSHING, where)
    return None if table is None else Bushing(**table)


def read_spring(reader: TableReader, raw: Any, where: str, kinds: Mapping[str, str]) -> Spring | None:
    """A spring, or None after a fault; `kinds` are those of the joints by name."""
    table = _own_units(reader, raw, spring_table(_unit_on(raw, kinds)), where)
    return None if table is None else Spring(**table)


def read_actuator(reader: TableReader, raw: Any, where: str, kinds: Mapping[str, str]) -> Actuator | None:
    """An actuator, or None after a fault."""
    fields, signal = _signal(reader, raw, ("effort",), where)
    table = _own_units(reader, fields, actuator_table(_unit_on(raw, kinds)), where)
    if table is None:
        return None
    effort = signal.get("effort") or _history(reader, table, "efforts", where)
    return Actuator(**table, effort=effort) if effort is not None else None


def _read_imposed(reader: TableReader, raw: Any, kind: str, where: str) -> Imposed | None:
    fields, signal = _signal(reader, raw, ("position", "velocity"), where)
    table = _own_units(reader, fields, imposed_table(_unit(raw, kind)), where)
    if table is None:
        return None
    for key, values in (("position", "positions"), ("velocity", "velocities")):
        if values in table and key not in signal and (history := _history(reader, table, values, where)):
            signal[key] = history
    return Imposed(table.get("coordinate", ""), signal.get("position"), signal.get("velocity"))


def _read_limit(reader: TableReader, raw: Any, kind: str, where: str) -> Limit | None:
    table = _own_units(reader, raw, limit_table(_unit(raw, kind)), where)
    return None if table is None else Limit(**table)


def _read_friction(reader: TableReader, raw: Any, kind: str, where: str) -> JointFriction | None:
    table = _own_units(reader, raw, friction_table(_unit(raw, kind)), where)
    return None if table is None else JointFriction(**table)


def _unit(raw: Any, kind: str) -> Mapping[str, str]:
    """Units of the coordinate that a table names; what is wrong with the name shows later."""
    name = raw.get("coordinate", "") if isinstance(raw, dict) else ""
    try:
        return ANGLE if is_angle(coordinate_of(kind, str(name), "")) else LENGTH
    except InputError:
        return LENGTH


def _unit_on(raw: Any, kinds: Mapping[str, str]) -> Mapping[str, str]:
    table = raw if isinstance(raw, dict) else {}
    if (joint := str(table.get("joint"))) in kinds:
        return _unit(table, kinds[joint])
    return ANGLE if table.get("about") else LENGTH


def _own_units(reader: TableReader, raw: Any, schema: Mapping[str, Setting], where: str) -> dict[str, Any] | None:
    """A table whose numbers have the unit of a coordinate: only places keep theirs in their names."""
    return reader.table(raw, schema, where, suffixed=("point", "points"))


def _signal(reader: TableReader, raw: Any, keys: tuple[str, ...], where: str) -> tuple[Any, dict[str, Signal]]:
    """The formulas of a table under some keys, and the rest of it."""
    if not isinstance(raw, dict):
        return raw, {}
    formulas = {key: reader.formula(raw[key], f"{where}.{key}") for key in keys if key in raw}
    return {key: value for key, value in raw.items() if key not in keys}, dict(formulas)


def _history(reader: TableReader, table: dict[str, Any], key: str, where: str) -> History | None:
    """Values at times."""
    if key not in table or "times" not in table:
        reader.fault(where, f"gives neither a formula nor times with {key}")
        return None
    return History(table.pop("times"), table.pop(key))


_INPUT = re.compile(r"\$([A-Za-z]\w*)", re.ASCII)


def inputs_of_formula(text: str) -> list[str]:
    """Names of the inputs in a formula.

    >>> inputs_of_formula("$a * sin(2 * pi * t / $period)")
    ['a', 'period']
    """
    return _INPUT.findall(text)


def with_values(text: str, values: Mapping[str, float]) -> str:
    """A formula with numbers for its inputs.

    >>> with_values("$a * t", {"a": -0.5})
    '(-0.5) * t'
    """
    return _INPUT.sub(lambda match: f"({float(values[match[1]])!r})", text)
