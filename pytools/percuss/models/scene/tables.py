"""The tables of [model]: what a scene, body, contactor, shape, law, load, motion, pattern and probe may say.

Every number is a quantity or an expression of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from percuss import _core
from percuss.models.model import Setting


def _table(*settings: Setting) -> dict[str, Setting]:
    return {setting.name: setting for setting in settings}


def _vector(name: str, unit: str, doc: str = "", *, required: bool = False) -> Setting:
    return _numbers(name, unit, doc, required=required, length=3)


def _numbers(name: str, unit: str = "1", doc: str = "", *, required: bool = False, length: int = 0) -> Setting:
    return Setting(name, "numbers", unit=unit, required=required, doc=doc, expression=True, length=length)


def _rows(name: str, unit: str, doc: str, *, required: bool = True, length: int = 3) -> Setting:
    return Setting(name, "rows", unit=unit, required=required, doc=doc, expression=True, length=length)


def _number(name: str, unit: str = "1", *, low: float = 0.0, high: float = float("inf"), doc: str = "") -> Setting:
    return Setting(name, "number", unit=unit, low=low, high=high, doc=doc, expression=True)


def _length(name: str) -> Setting:
    return Setting(name, "number", unit="m", low=0.0, required=True, expression=True)


POSITION = _vector("position", "m", "three lengths")
ROTATION = _vector("rotation", "rad", "three angles: direction the axis, length the angle")
SPEED = _vector("velocity", "m/s")
TURNING = _vector("angular_velocity", "rad/s")
ANY = float("-inf")

BODY = _table(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("fixed", "boolean", doc="nothing moves it"),
    _number("mass", "kg"),
    _number("density", "kg/m^3"),
    _rows("inertia", "kg*m^2", "three rows of three, about the centre of mass", required=False),
    _numbers("gyration", "m^2", "instead of inertia, over the mass: xx, yy, zz, xy, xz, yz", length=6),
    _vector("centre", "m", "centre of mass, goes with inertia or gyration"),
    Setting("motion", "table", doc="moves as given"),
    POSITION,
    ROTATION,
    SPEED,
    TURNING,
    _number("birth", "s"),
    _number("removal", "s"),
    Setting("contactors", "list", [], doc="tables of a contactor"),
    Setting("repeat", "table", doc="many bodies from this one"),
)
SHAPES: dict[str, dict[str, Setting]] = {
    "sphere": _table(_length("radius")),
    "box": _table(_vector("size", "m", "three side lengths", required=True)),
    "cylinder": _table(_length("radius"), _length("height")),
    "capsule": _table(_length("radius"), _length("length")),
    "cone": _table(_length("radius"), _length("height")),
    "ring": _table(_length("inner_radius"), _length("outer_radius"), _length("height")),
    "polyhedron": _table(_rows("vertices", "m", "points of three lengths")),
    "half-space": {},
    "mesh": _table(
        _rows("vertices", "m", "points of three lengths"),
        Setting("triangles", "list", required=True, doc="three numbers of vertices each, from 0"),
    ),
    "height-field": _table(
        _numbers("spacing", "m", "two lengths", required=True, length=2),
        _rows("heights", "m", "rows of lengths", length=0),
    ),
}
CONTACTOR = _table(
    Setting("group", "text", required=True, doc="laws are between groups"),
    POSITION,
    ROTATION,
)
MOTIONS: dict[str, dict[str, Setting]] = {
    "steady": _table(SPEED, TURNING),
    "sine": _table(
        _vector("amplitude", "m", required=True),
        Setting("frequency", "number", unit="Hz", low=0.0, required=True, expression=True),
        _number("phase", "rad", low=ANY),
    ),
    "sampled": _table(
        _numbers("times", "s", required=True),
        _rows("velocities", "m/s", "three at each time"),
        _rows("angular_velocities", "rad/s", "three at each time", required=False),
    ),
}
PATTERNS: dict[str, dict[str, Setting]] = {
    "grid": _table(
        Setting("counts", "list", required=True, doc="three whole numbers"),
        _vector("pitch", "m", "three lengths", required=True),
        _vector("stagger", "m", "shift of every second layer along z"),
        Setting("centred", "boolean", doc="the middle of the grid stands where the body does"),
    ),
    "polar": _table(
        Setting("count", "integer", required=True, low=1),
        Setting("angle", "number", unit="rad", required=True, expression=True, doc="between copies"),
        _vector("axis", "1"),
        _vector("centre", "m"),
    ),
}
LAW = _table(
    Setting("groups", "list", required=True, doc="two groups"),
    _number("restitution", high=1.0),
    _number("friction"),
    Setting("impact", "text", choices=tuple(_core.contact_impact_laws())),
    _number("rolling", "m", doc="largest couple about a tangent over the normal force"),
    _number("twisting", "m", doc="largest couple about the normal over the normal force"),
)
LOAD = _table(
    Setting("body", "text", required=True),
    _vector("force", "N"),
    _vector("point", "m", "in the body's frame"),
    _vector("torque", "N*m"),
    _numbers("times", "s"),
    _numbers("factors", doc="of force and torque, one at each time"),
)
PROBE = _table(
    Setting("name", "text", required=True, doc="quantities are named after it"),
    Setting("body", "text", doc="follow a point of this body"),
    _vector("point", "m", "in the body's frame"),
    Setting("contacts_of", "text", doc="sum the contacts of this body"),
    Setting("between", "list", doc="sum the contacts between two groups"),
)
SETTLE = _table(
    _number("speed", "m/s", doc="every body slower than this"),
    Setting("quiet_steps", "integer", low=1, high=1e9, doc="for so many steps"),
    _number("damping", high=1.0, doc="share of the velocity taken away in a step"),
    Setting("max_steps", "integer", low=1, high=1e9),
)

GRAVITY = Setting("gravity", "numbers", [0.0, 0.0, -9.80665], unit="m/s^2", length=3, expression=True)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return _table(
        Setting("duration", "number", unit="s", low=0.0, required=True, expression=True, doc="how long to simulate"),
        Setting("step", "number", unit="s", low=0.0, required=True, expression=True, doc="time step"),
        Setting("sampling", "number", unit="s", low=0.0, expression=True, doc="interval of the curves"),
        Setting("theta", "number", 0.5, low=0.5, high=1.0, expression=True, doc="of the scheme"),
        Setting("solver", "text", "auto", choices=tuple(_core.contact_solvers())),
        Setting("tolerance", "number", 1e-6, low=0.0, expression=True, doc="of the contact solver"),
        Setting("max_iterations", "integer", 1000, low=1, high=1e9),
        Setting("max_factorisations", "integer", 50, low=0, high=1e9),
        Setting("contact_tolerance", "number", 1e-8, unit="m", low=0.0, expression=True),
        Setting("overlap_tolerance", "number", 1e-6, unit="m", low=0.0, expression=True, doc="allowed at the start"),
        Setting("stabilise", "boolean", False, doc="push overlapping bodies apart"),
        GRAVITY,
        Setting("settle", "table", doc="come to rest first: " + ", ".join(SETTLE)),
        Setting("bodies", "list", required=True, doc="tables of a body: " + ", ".join(BODY)),
        Setting("laws", "list", [], doc="tables of a law: " + ", ".join(LAW)),
        Setting("loads", "list", [], doc="tables of a load: " + ", ".join(LOAD)),
        Setting("probes", "list", [], doc="tables of a probe: " + ", ".join(PROBE)),
    )
