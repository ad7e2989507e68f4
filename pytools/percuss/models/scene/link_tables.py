"""The tables of joints, springs, bushings and actuators.

Numbers of a coordinate are in the unit of the coordinate: lengths or angles, forces or torques.
"""

from __future__ import annotations

from collections.abc import Mapping

from percuss.models.scene.forms import ANY, number_setting, numbers_setting, rows_setting, vector_setting
from percuss.scene import JOINT_KINDS
from percuss.settings import Setting, table_of

NAME = Setting("name", "text", required=True, doc="a short name")
_PLACE = (
    Setting("bodies", "texts", doc="one body, joined to the world, or two"),
    vector_setting("point", "m", "its position in the world at the start"),
    vector_setting("axis", "1", "z axis of the frames, world axes; default: up"),
    vector_setting("reference", "1", "direction of the x axis of the frames, world axes"),
    rows_setting("points", "m", "one point in the frame of each body", required=False),
    rows_setting("axes", "1", "one axis in the frame of each body", required=False),
)
_COORDINATE = Setting("coordinate", "text", doc="coordinate of the joint; required if it has several")
BUSHING = table_of(
    NAME,
    *_PLACE,
    vector_setting("stiffness", "N/m", "stiffness along x, y, z"),
    vector_setting("rotational_stiffness", "N*m/rad", "stiffness about x, y, z"),
    vector_setting("damping", "N*s/m", "damping along x, y, z"),
    vector_setting("rotational_damping", "N*m*s/rad", "damping about x, y, z"),
    vector_setting("preload", "N", "preload on the second body"),
    vector_setting("preload_torque", "N*m", "preload torque on the second body"),
)
_ON = (
    NAME,
    *_PLACE,
    Setting("joint", "text", doc="acts on a coordinate of this joint"),
    _COORDINATE,
    Setting("about", "boolean", doc="acts on the angle about the axis through the point"),
)
# Units of a coordinate, its rate, force, stiffness and damping, and of friction by the reaction force.
LENGTH = {"": "m", "rate": "m/s", "force": "N", "stiffness": "N/m", "damping": "N*s/m", "arm": "1"}
ANGLE = {"": "rad", "rate": "rad/s", "force": "N*m", "stiffness": "N*m/rad", "damping": "N*m*s/rad", "arm": "m"}


def imposed_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    times, positions, velocities = (
        numbers_setting("times", "s", "increasing times of positions or velocities; instead of a formula in t"),
        numbers_setting("positions", unit[""], "positions; smooth between times, at rest outside"),
        numbers_setting("velocities", unit["rate"], "velocities; linear between times, constant outside"),
    )
    return table_of(_COORDINATE, times, positions, velocities)


def limit_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        _COORDINATE,
        number_setting("low", unit[""], low=ANY, doc="smallest value of the coordinate"),
        number_setting("high", unit[""], low=ANY, doc="largest value of the coordinate"),
        number_setting("restitution", high=1.0, doc="restitution of the stop"),
        number_setting("stiffness", unit["stiffness"], doc="stiffness of the stop; required by the smooth stepper"),
        number_setting("damping", unit["damping"], doc="damping of the stop"),
    )


def friction_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    bound = number_setting("bound", unit["force"], doc="largest friction force or torque")
    per_reaction = number_setting("per_reaction", unit["arm"], doc="the bound grows by this times the reaction force")
    slip_rate = number_setting(
        "slip_rate", unit["rate"], doc="required by the smooth stepper: bound * tanh(rate / slip_rate)"
    )
    return table_of(_COORDINATE, bound, per_reaction, slip_rate)


def spring_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        *_ON,
        number_setting("stiffness", unit["stiffness"], doc="stiffness of the spring"),
        number_setting("damping", unit["damping"], doc="coefficient of a damper in parallel"),
        number_setting("rest", unit[""], low=ANY, doc="length or angle without force; default: that at the start"),
        number_setting("preload", unit["force"], low=ANY, doc="added to its force; tension is positive"),
    )


def actuator_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        *_ON,
        numbers_setting("times", "s", "increasing times of the efforts; instead of a formula `effort` in t"),
        numbers_setting("efforts", unit["force"], "force or torque that makes its coordinate grow"),
    )


JOINT = table_of(
    NAME,
    Setting(
        "kind", "text", required=True, choices=tuple(JOINT_KINDS), doc="kind of joint: which motion it leaves free"
    ),
    *_PLACE,
    number_setting("length", "m", doc="length of a distance joint"),
    Setting("imposed", "list", [], doc="tables of a coordinate and its motion", of=imposed_table(LENGTH)),
    Setting("limits", "list", [], doc="tables of a coordinate and its stops", of=limit_table(LENGTH)),
    Setting("friction", "list", [], doc="tables of a coordinate and its friction", of=friction_table(LENGTH)),
)
SPRING, ACTUATOR = spring_table(LENGTH), actuator_table(LENGTH)
