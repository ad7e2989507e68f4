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
    vector_setting("point", "m", "where it is, in the world at the start"),
    vector_setting("axis", "1", "z of the frames, world axes; default: up"),
    vector_setting("reference", "1", "towards x of the frames, world axes"),
    rows_setting("points", "m", "one in the frame of each body", required=False),
    rows_setting("axes", "1", "one in the frame of each body", required=False),
)
_COORDINATE = Setting("coordinate", "text", doc="of the joint; needed where it has several")
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
LENGTH = {"": "m", "rate": "m/s", "force": "N", "stiffness": "N/m", "damping": "N*s/m", "arm": "1"}
ANGLE = {"": "rad", "rate": "rad/s", "force": "N*m", "stiffness": "N*m/rad", "damping": "N*m*s/rad", "arm": "m"}


def imposed_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    times, positions, velocities = (
        numbers_setting("times", "s", "of positions or velocities, rising; a formula in t does as well"),
        numbers_setting("positions", unit[""], "of the coordinate; smooth between times, at rest outside"),
        numbers_setting("velocities", unit["rate"], "of the coordinate; linear between times, held outside"),
    )
    return table_of(_COORDINATE, times, positions, velocities)


def limit_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        _COORDINATE,
        number_setting("low", unit[""], low=ANY, doc="least the coordinate can be"),
        number_setting("high", unit[""], low=ANY, doc="most the coordinate can be"),
        number_setting("restitution", high=1.0, doc="of the stop"),
        number_setting("stiffness", unit["stiffness"], doc="of the stop; the smooth stepper needs one"),
        number_setting("damping", unit["damping"], doc="of the stop"),
    )


def friction_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    bound = number_setting("bound", unit["force"], doc="largest friction force or torque")
    per_reaction = number_setting("per_reaction", unit["arm"], doc="what the reaction force adds to the bound")
    slip_rate = number_setting(
        "slip_rate", unit["rate"], doc="the smooth stepper needs one: bound * tanh(rate / slip_rate)"
    )
    return table_of(_COORDINATE, bound, per_reaction, slip_rate)


def spring_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        *_ON,
        number_setting("stiffness", unit["stiffness"], doc="of the spring"),
        number_setting("damping", unit["damping"], doc="of the damper beside it"),
        number_setting("rest", unit[""], low=ANY, doc="length or angle without force; default: that at the start"),
        number_setting("preload", unit["force"], low=ANY, doc="added to its force; tension is positive"),
    )


def actuator_table(unit: Mapping[str, str]) -> dict[str, Setting]:
    return table_of(
        *_ON,
        numbers_setting("times", "s", "of the efforts, rising; a formula `effort` in t does as well"),
        numbers_setting("efforts", unit["force"], "force or torque that makes its coordinate grow"),
    )


JOINT = table_of(
    NAME,
    Setting("kind", "text", required=True, choices=tuple(JOINT_KINDS), doc="what it leaves free"),
    *_PLACE,
    number_setting("length", "m", doc="of a distance joint"),
    Setting("imposed", "list", [], doc="tables of a coordinate and its motion", of=imposed_table(LENGTH)),
    Setting("limits", "list", [], doc="tables of a coordinate and its stops", of=limit_table(LENGTH)),
    Setting("friction", "list", [], doc="tables of a coordinate and its friction", of=friction_table(LENGTH)),
)
SPRING, ACTUATOR = spring_table(LENGTH), actuator_table(LENGTH)
