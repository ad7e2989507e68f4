"""Joints, springs, bushings and actuators of a study file.

Numbers of a coordinate are in the unit of the coordinate: lengths or angles, forces or torques. A formula in t is SI;
the inputs it names are bare numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.models.scene.tables import number_setting, rows_setting, table_of, vector_setting
from percuss.scene import JOINT_KINDS, Actuator, Bushing, History, Imposed, Joint, JointFriction, Limit, Spring
from percuss.scene.links import Signal, coordinate_of, is_angle
from percuss.settings import Setting

if TYPE_CHECKING:
    from percuss.models.scene.reader import Reader

ANY = float("-inf")
NAME = Setting("name", "text", required=True, doc="a short name")
_PLACE = (
    Setting("bodies", "texts", doc="one body, joined to the world, or two"),
    vector_setting("point", "m", "in the world at the start"),
    vector_setting("axis", "1", "world axes"),
    vector_setting("reference", "1", "towards x of the frames, world axes"),
    rows_setting("points", "m", "one in the frame of each body", required=False),
    rows_setting("axes", "1", "one in the frame of each body", required=False),
)
_COORDINATE = Setting("coordinate", "text", doc="of the joint; needed where it has several")
JOINT = table_of(
    NAME,
    Setting("kind", "text", required=True, choices=tuple(JOINT_KINDS)),
    *_PLACE,
    number_setting("length", "m", doc="of a distance joint"),
    Setting("imposed", "list", [], doc="tables of a coordinate and its position or velocity"),
    Setting("limits", "list", [], doc="tables of a coordinate with low and high"),
    Setting("friction", "list", [], doc="tables of a coordinate with bound"),
)
BUSHING = table_of(
    NAME,
    *_PLACE,
    vector_setting("stiffness", "N/m", "along x, y, z"),
    vector_setting("rotational_stiffness", "N*m/rad", "about x, y, z"),
    vector_setting("damping", "N*s/m", "along x, y, z"),
    vector_setting("rotational_damping", "N*m*s/rad", "about x, y, z"),
    vector_setting("preload", "N", "on the second body"),
    vector_setting("preload_torque", "N*m", "on the second body"),
)
_ON = (
    NAME,
    *_PLACE,
    Setting("joint", "text", doc="acts on a coordinate of this joint"),
    _COORDINATE,
    Setting("about", "boolean", doc="turns about the axis through the point"),
)
# Units of a coordinate, its rate, force, stiffness and damping, and of friction by the reaction force.
_LENGTH = {"": "m", "rate": "m/s", "force": "N", "stiffness": "N/m", "damping": "N*s/m", "arm": "1"}
_ANGLE = {"": "rad", "rate": "rad/s", "force": "N*m", "stiffness": "N*m/rad", "damping": "N*m*s/rad", "arm": "m"}


def _numbers(name: str, unit: str) -> Setting:
    return Setting(name, "numbers", unit=unit, expression=True)


def _imposed(unit: Mapping[str, str]) -> dict[str, Setting]:
    times, positions, velocities = (
        _numbers("times", "s"),
        _numbers("positions", unit[""]),
        _numbers("velocities", unit["rate"]),
    )
    return table_of(_COORDINATE, times, positions, velocities)


def _limit(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        _COORDINATE,
        number_setting("low", unit[""], low=ANY),
        number_setting("high", unit[""], low=ANY),
        number_setting("restitution", high=1.0),
        number_setting("stiffness", unit["stiffness"]),
        number_setting("damping", unit["damping"]),
    )


def _friction(unit: Mapping[str, str]) -> dict[str, Setting]:
    bound = number_setting("bound", unit["force"], doc="largest friction force or torque")
    per_reaction = number_setting("per_reaction", unit["arm"], doc="what the reaction force adds to the bound")
    return table_of(_COORDINATE, bound, per_reaction, number_setting("slip_rate", unit["rate"]))


def _spring(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        *_ON,
        number_setting("stiffness", unit["stiffness"]),
        number_setting("damping", unit["damping"]),
        number_setting("rest", unit[""], low=ANY),
        number_setting("preload", unit["force"], low=ANY),
    )


def _actuator(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(*_ON, _numbers("times", "s"), _numbers("efforts", unit["force"]))


SPRING, ACTUATOR = _spring(_LENGTH), _actuator(_LENGTH)


def read_joint(reader: Reader, raw: Any, where: str) -> Joint | None:
    """A joint, or None after a fault."""
    table = reader.table(raw, JOINT, where)
    if table is None:
        return None
    for key, read in (("imposed", _read_imposed), ("limits", _read_limit), ("friction", _read_friction)):
        made = (read(reader, part, table["kind"], f"{where}.{key}[{i}]") for i, part in enumerate(table[key]))
        table[key] = [part for part in made if part is not None]
    return Joint(**table)


def read_bushing(reader: Reader, raw: Any, where: str) -> Bushing | None:
    """A bushing, or None after a fault."""
    table = reader.table(raw, BUSHING, where)
    return None if table is None else Bushing(**table)


def read_spring(reader: Reader, raw: Any, where: str, kinds: Mapping[str, str]) -> Spring | None:
    """A spring, or None after a fault; `kinds` are those of the joints by name."""
    table = _own_units(reader, raw, _spring(_unit_on(raw, kinds)), where)
    return None if table is None else Spring(**table)


def read_actuator(reader: Reader, raw: Any, where: str, kinds: Mapping[str, str]) -> Actuator | None:
    """An actuator, or None after a fault."""
    given, signal = _signal(reader, raw, ("effort",), where)
    table = _own_units(reader, given, _actuator(_unit_on(raw, kinds)), where)
    if table is None:
        return None
    found = signal.get("effort") or _history(reader, table, "efforts", where)
    return Actuator(**table, effort=found) if found is not None else None


def _read_imposed(reader: Reader, raw: Any, kind: str, where: str) -> Imposed | None:
    given, signal = _signal(reader, raw, ("position", "velocity"), where)
    table = _own_units(reader, given, _imposed(_unit(raw, kind)), where)
    if table is None:
        return None
    for key, values in (("position", "positions"), ("velocity", "velocities")):
        if values in table and key not in signal and (found := _history(reader, table, values, where)):
            signal[key] = found
    return Imposed(table.get("coordinate", ""), signal.get("position"), signal.get("velocity"))


def _read_limit(reader: Reader, raw: Any, kind: str, where: str) -> Limit | None:
    table = _own_units(reader, raw, _limit(_unit(raw, kind)), where)
    return None if table is None else Limit(**table)


def _read_friction(reader: Reader, raw: Any, kind: str, where: str) -> JointFriction | None:
    table = _own_units(reader, raw, _friction(_unit(raw, kind)), where)
    return None if table is None else JointFriction(**table)


def _unit(raw: Any, kind: str) -> Mapping[str, str]:
    """Units of the coordinate that a table names; what is wrong with the name shows later."""
    name = raw.get("coordinate", "") if isinstance(raw, dict) else ""
    try:
        return _ANGLE if is_angle(coordinate_of(kind, str(name), "")) else _LENGTH
    except InputError:
        return _LENGTH


def _unit_on(raw: Any, kinds: Mapping[str, str]) -> Mapping[str, str]:
    table = raw if isinstance(raw, dict) else {}
    if (joint := str(table.get("joint"))) in kinds:
        return _unit(table, kinds[joint])
    return _ANGLE if table.get("about") else _LENGTH


def _own_units(reader: Reader, raw: Any, schema: Mapping[str, Setting], where: str) -> dict[str, Any] | None:
    """A table whose numbers have the unit of a coordinate: only places keep theirs in their names."""
    return reader.table(raw, schema, where, suffixed=("point", "points"))


def _signal(reader: Reader, raw: Any, keys: tuple[str, ...], where: str) -> tuple[Any, dict[str, Signal]]:
    """The formulas of a table under some keys, and the rest of it."""
    if not isinstance(raw, dict):
        return raw, {}
    formulas = {key: reader.formula(raw[key], f"{where}.{key}") for key in keys if key in raw}
    return {key: value for key, value in raw.items() if key not in keys}, dict(formulas)


def _history(reader: Reader, table: dict[str, Any], key: str, where: str) -> History | None:
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
    return _INPUT.sub(lambda found: f"({float(values[found[1]])!r})", text)
