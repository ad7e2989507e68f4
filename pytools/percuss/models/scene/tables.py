"""The tables of [model]: what a scene, body, contactor, shape, law, load, motion, pattern and probe may say;
`links` has those of joints and elements.

Every number is a quantity or an expression of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from percuss import _core
from percuss.models.model import Setting


def table_of(*settings: Setting) -> dict[str, Setting]:
    """A table by the names of its settings."""
    return {setting.name: setting for setting in settings}


def vector_setting(name: str, unit: str, doc: str = "", *, required: bool = False) -> Setting:
    """Three numbers of a unit."""
    return _numbers(name, unit, doc, required=required, length=3)


def _numbers(name: str, unit: str = "1", doc: str = "", *, required: bool = False, length: int = 0) -> Setting:
    return Setting(name, "numbers", unit=unit, required=required, doc=doc, expression=True, length=length)


def rows_setting(name: str, unit: str, doc: str, *, required: bool = True, length: int = 3) -> Setting:
    """A list of lists of numbers of a unit."""
    return Setting(name, "rows", unit=unit, required=required, doc=doc, expression=True, length=length)


def number_setting(
    name: str, unit: str = "1", *, low: float = 0.0, high: float = float("inf"), doc: str = ""
) -> Setting:
    """A number of a unit within bounds."""
    return Setting(name, "number", unit=unit, low=low, high=high, doc=doc, expression=True)


def _length(name: str) -> Setting:
    return Setting(name, "number", unit="m", low=0.0, required=True, expression=True)


POSITION = vector_setting("position", "m", "three lengths")
ROTATION = vector_setting("rotation", "rad", "three angles: direction the axis, length the angle")
SPEED = vector_setting("velocity", "m/s")
TURNING = vector_setting("angular_velocity", "rad/s")
ANY = float("-inf")

BODY = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("fixed", "boolean", doc="nothing moves it"),
    number_setting("mass", "kg"),
    number_setting("density", "kg/m^3"),
    rows_setting("inertia", "kg*m^2", "three rows of three, about the centre of mass", required=False),
    _numbers("gyration", "m^2", "instead of inertia, over the mass: xx, yy, zz, xy, xz, yz", length=6),
    vector_setting("centre", "m", "centre of mass, goes with inertia or gyration"),
    Setting("motion", "table", doc="moves as given"),
    POSITION,
    ROTATION,
    SPEED,
    TURNING,
    number_setting("birth", "s"),
    number_setting("removal", "s"),
    Setting("contactors", "list", [], doc="tables of a contactor"),
    Setting("repeat", "table", doc="many bodies from this one"),
    Setting("cut", "table", doc="parts of it that lie where they were: by planes or voronoi"),
)
SHAPES: dict[str, dict[str, Setting]] = {
    "sphere": table_of(_length("radius")),
    "box": table_of(vector_setting("size", "m", "three side lengths", required=True)),
    "cylinder": table_of(_length("radius"), _length("height")),
    "capsule": table_of(_length("radius"), _length("length")),
    "cone": table_of(_length("radius"), _length("height")),
    "ring": table_of(_length("inner_radius"), _length("outer_radius"), _length("height")),
    "polyhedron": table_of(rows_setting("vertices", "m", "points of three lengths")),
    "half-space": {},
    "mesh": table_of(
        rows_setting("vertices", "m", "points of three lengths"),
        Setting("triangles", "list", required=True, doc="three numbers of vertices each, from 0"),
    ),
    "height-field": table_of(
        _numbers("spacing", "m", "two lengths", required=True, length=2),
        rows_setting("heights", "m", "rows of lengths", length=0),
    ),
}
CONTACTOR = table_of(
    Setting("group", "text", required=True, doc="laws are between groups"),
    POSITION,
    ROTATION,
)
MOTIONS: dict[str, dict[str, Setting]] = {
    "steady": table_of(SPEED, TURNING),
    "sine": table_of(
        vector_setting("amplitude", "m", required=True),
        Setting("frequency", "number", unit="Hz", low=0.0, required=True, expression=True),
        number_setting("phase", "rad", low=ANY),
    ),
    "sampled": table_of(
        _numbers("times", "s", required=True),
        rows_setting("velocities", "m/s", "three at each time"),
        rows_setting("angular_velocities", "rad/s", "three at each time", required=False),
    ),
}
PATTERNS: dict[str, dict[str, Setting]] = {
    "grid": table_of(
        Setting("counts", "list", required=True, doc="three whole numbers"),
        vector_setting("pitch", "m", "three lengths", required=True),
        vector_setting("stagger", "m", "shift of every second layer along z"),
        Setting("centred", "boolean", doc="the middle of the grid stands where the body does"),
    ),
    "polar": table_of(
        Setting("count", "integer", required=True, low=1),
        Setting("angle", "number", unit="rad", required=True, expression=True, doc="between copies"),
        vector_setting("axis", "1"),
        vector_setting("centre", "m"),
    ),
}
LAW = table_of(
    Setting("groups", "list", required=True, doc="two groups"),
    number_setting("restitution", high=1.0),
    number_setting("friction"),
    Setting("impact", "text", choices=tuple(_core.contact_impact_laws())),
    number_setting("rolling", "m", doc="largest couple about a tangent over the normal force"),
    number_setting("twisting", "m", doc="largest couple about the normal over the normal force"),
)
BOND = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("bodies", "list", doc="the two that it holds together"),
    Setting("groups", "list", doc="instead: all that touch at the start by contactors of two groups"),
    Setting("tension", "number", unit="Pa", low=0.0, required=True, expression=True, doc="strength"),
    Setting("shear", "number", unit="Pa", low=0.0, required=True, expression=True, doc="strength"),
    number_setting("tension_energy", "J/m^2", doc="that breaks it; none: it breaks as soon as it opens"),
    number_setting("shear_energy", "J/m^2", doc="that breaks it; goes with tension_energy"),
    Setting("refinement", "integer", low=1, high=32, doc="how finely faces are divided"),
)
CUTS: dict[str, dict[str, Setting]] = {
    "planes": table_of(
        rows_setting("points", "m", "a point of each plane, in the body's frame"),
        rows_setting("normals", "1", "the normal of each"),
    ),
    "voronoi": table_of(
        Setting("pieces", "integer", required=True, low=1, high=10_000),
        Setting("seed", "integer", required=True, low=0, high=2**63 - 1),
    ),
}
LOAD = table_of(
    Setting("body", "text", required=True),
    vector_setting("force", "N"),
    vector_setting("point", "m", "in the body's frame"),
    vector_setting("torque", "N*m"),
    _numbers("times", "s"),
    _numbers("factors", doc="of force and torque, one at each time"),
)
PROBE = table_of(
    Setting("name", "text", required=True, doc="quantities are named after it"),
    Setting("body", "text", doc="follow a point of this body"),
    vector_setting("point", "m", "in the body's frame"),
    Setting("contacts_of", "text", doc="sum the contacts of this body"),
    Setting("between", "list", doc="sum the contacts between two groups"),
    Setting("joint", "text", doc="coordinates and reaction of this joint"),
)
SETTLE = table_of(
    number_setting("speed", "m/s", doc="every body slower than this"),
    Setting("quiet_steps", "integer", low=1, high=1e9, doc="for so many steps"),
    number_setting("damping", high=1.0, doc="share of the velocity taken away in a step"),
    Setting("max_steps", "integer", low=1, high=1e9),
)

GRAVITY = Setting("gravity", "numbers", [0.0, 0.0, -9.80665], unit="m/s^2", length=3, expression=True)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return table_of(
        Setting("duration", "number", unit="s", low=0.0, required=True, expression=True, doc="how long to simulate"),
        Setting("step", "number", unit="s", low=0.0, required=True, expression=True, doc="time step"),
        Setting("sampling", "number", unit="s", low=0.0, expression=True, doc="interval of the curves"),
        Setting("stepper", "text", choices=("nonsmooth", "smooth")),
        Setting("method", "text", choices=tuple(_core.smooth_methods()), doc="of the smooth stepper"),
        Setting("accuracy", "number", low=0.0, expression=True, doc="of the method dormand-prince"),
        Setting("theta", "number", 0.5, low=0.5, high=1.0, expression=True, doc="of the scheme"),
        Setting("solver", "text", "auto", choices=tuple(_core.contact_solvers())),
        Setting(
            "tolerance",
            "number",
            1e-6,
            low=0.0,
            high=_core.LOOSEST_TOLERANCE,
            expression=True,
            doc="of the contact solver",
        ),
        Setting("max_iterations", "integer", 1000, low=1, high=1e9),
        Setting("max_factorisations", "integer", 50, low=0, high=1e9),
        Setting("contact_tolerance", "number", 1e-8, unit="m", low=0.0, expression=True),
        Setting("look_ahead", "number", 0.0, unit="m", low=0.0, expression=True, doc="bodies end at touch"),
        Setting("overlap_tolerance", "number", 1e-6, unit="m", low=0.0, expression=True, doc="allowed at the start"),
        Setting("stabilise", "boolean", False, doc="push overlapping bodies apart"),
        Setting("sleep_speed", "number", unit="m/s", low=0.0, expression=True, doc="islands slower than this sleep"),
        Setting("sleep_steps", "integer", low=1, high=1e9, doc="once they have been for so many steps"),
        Setting("threads", "integer", low=0, high=1024, doc="of a run; changes no number"),
        GRAVITY,
        Setting("settle", "table", doc="come to rest first: " + ", ".join(SETTLE)),
        Setting("bodies", "list", required=True, doc="tables of a body: " + ", ".join(BODY)),
        Setting("laws", "list", [], doc="tables of a law: " + ", ".join(LAW)),
        Setting("bonds", "list", doc="tables of a bond: " + ", ".join(BOND)),
        Setting("joints", "list", doc="tables of a joint"),
        Setting("springs", "list", doc="tables of a spring"),
        Setting("bushings", "list", doc="tables of a bushing"),
        Setting("actuators", "list", doc="tables of an actuator"),
        Setting("loads", "list", [], doc="tables of a load: " + ", ".join(LOAD)),
        Setting("probes", "list", [], doc="tables of a probe: " + ", ".join(PROBE)),
    )
