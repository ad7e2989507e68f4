"""The tables of [model]: what a scene, body, contactor, shape, law, load, motion, pattern and probe may say;
`link_tables` has those of joints and elements.

Every number is a quantity or an expression of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from percuss import _core
from percuss.models.scene.forms import ANY, number_setting, numbers_setting, rows_setting, vector_setting
from percuss.models.scene.link_tables import ACTUATOR, BUSHING, JOINT, SPRING
from percuss.scene.nodata import NODATA
from percuss.settings import Setting, table_of


def _length(name: str, doc: str) -> Setting:
    return Setting(name, "number", unit="m", low=0.0, required=True, expression=True, doc=doc)


POSITION = vector_setting("position", "m", "position of the frame: three lengths")
ROTATION = vector_setting("rotation", "rad", "rotation vector: its direction is the axis, its length the angle")
SPEED = vector_setting("velocity", "m/s", "initial velocity of the centre of mass, world axes")
TURNING = vector_setting("angular_velocity", "rad/s", "initial angular velocity, world axes")

SHAPES: dict[str, dict[str, Setting]] = {
    "sphere": table_of(_length("radius", "radius of the sphere")),
    "box": table_of(vector_setting("size", "m", "three side lengths", required=True)),
    "cylinder": table_of(_length("radius", "radius about z"), _length("height", "height along z, centred")),
    "capsule": table_of(
        _length("radius", "radius of the round ends"), _length("length", "length of the straight part, along z")
    ),
    "cone": table_of(
        _length("radius", "radius of the base"), _length("height", "height along z; the base is at -height/2")
    ),
    "ellipsoid": table_of(vector_setting("half_axes", "m", "three lengths, along x, y and z", required=True)),
    "ring": table_of(
        _length("inner_radius", "radius of the hole"),
        _length("outer_radius", "outer radius about z"),
        _length("height", "height along z, centred"),
    ),
    "polyhedron": table_of(
        rows_setting("vertices", "m", "corners, three lengths each; the shape is their convex hull")
    ),
    "half-space": {},
    "mesh": table_of(
        rows_setting("vertices", "m", "corners, three lengths each"),
        Setting("triangles", "list", required=True, doc="triangles, each three numbers of vertices, from 0"),
    ),
    "height-field": table_of(
        numbers_setting("spacing", "m", "spacing of the grid along x and y", required=True, length=2),
        rows_setting("heights", "m", "a row of heights for each y", length=0),
    ),
}
FILE = Setting("file", "file", required=True, doc="a file in the study's folder")
UNIT = Setting("unit", "text", "m", doc="unit of the lengths in the file")
# Shapes whose numbers a file may hold instead.
SHAPE_FILES: dict[str, dict[str, Setting]] = {
    "mesh": table_of(FILE, UNIT, Setting("reverse", "boolean", False, doc="reverse the orientation of every triangle")),
    "polyhedron": table_of(
        FILE, UNIT, Setting("reverse", "boolean", False, doc="reverse the orientation of every triangle")
    ),
    "height-field": table_of(
        FILE,
        UNIT,
        Setting(
            "spacing",
            "numbers",
            unit="m",
            length=2,
            doc="spacing of the grid: two lengths, for a file that states none",
        ),
        Setting("nodata", "text", "refuse", choices=NODATA, doc="what to do where the file has no height"),
    ),
}
CONTACTOR = table_of(
    Setting("group", "text", required=True, doc="name of its group; contact laws are given between groups"),
    POSITION,
    ROTATION,
)
MOTIONS: dict[str, dict[str, Setting]] = {
    "steady": table_of(SPEED, TURNING),
    "sine": table_of(
        vector_setting("amplitude", "m", "amplitude of the displacement along x, y, z", required=True),
        Setting("frequency", "number", unit="Hz", low=0.0, required=True, expression=True, doc="frequency of the sine"),
        number_setting("phase", "rad", low=ANY, doc="phase of the sine at the start"),
    ),
    "sampled": table_of(
        numbers_setting("times", "s", "increasing times; linear between them, constant outside", required=True),
        rows_setting("velocities", "m/s", "velocity at each time, three numbers"),
        rows_setting("angular_velocities", "rad/s", "angular velocity at each time, three numbers", required=False),
    ),
}
PATTERNS: dict[str, dict[str, Setting]] = {
    "grid": table_of(
        Setting("counts", "list", required=True, doc="number of copies along x, y and z"),
        vector_setting("pitch", "m", "distance from one copy to the next along x, y, z", required=True),
        vector_setting("stagger", "m", "shift of every second layer along z"),
        Setting("centred", "boolean", doc="put the middle of the grid at the position of the body"),
    ),
    "polar": table_of(
        Setting("count", "integer", required=True, low=1, doc="number of copies"),
        Setting("angle", "number", unit="rad", required=True, expression=True, doc="angle between copies"),
        vector_setting("axis", "1", "axis about which copies are turned; default: z"),
        vector_setting("centre", "m", "a point on the axis"),
    ),
}
# The keys that choose among shapes, motions and patterns.
PLACED = table_of(
    Setting("shape", "text", required=True, choices=tuple(SHAPES), doc="shape of the contactor", variants=SHAPES)
)
PLACED |= CONTACTOR
MOTION = table_of(
    Setting("kind", "text", required=True, choices=tuple(MOTIONS), doc="kind of motion", variants=MOTIONS)
)
REPEAT = table_of(
    Setting("pattern", "text", required=True, choices=tuple(PATTERNS), doc="pattern of the copies", variants=PATTERNS)
)
CUTS: dict[str, dict[str, Setting]] = {
    "planes": table_of(
        rows_setting("points", "m", "a point on each plane, in the body's frame"),
        rows_setting("normals", "1", "the normal of each plane"),
    ),
    "voronoi": table_of(
        Setting("pieces", "integer", required=True, low=1, high=10_000, doc="largest number of pieces"),
        Setting(
            "seed",
            "integer",
            required=True,
            low=0,
            high=2**63 - 1,
            doc="seed of the points from which the Voronoi cells are made",
        ),
    ),
}
CUT = table_of(Setting("by", "text", required=True, choices=tuple(CUTS), doc="how it is cut", variants=CUTS))
BODY = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("fixed", "boolean", doc="the body never moves"),
    number_setting("mass", "kg", doc="mass, instead of density, fixed and motion"),
    number_setting("density", "kg/m^3", doc="density of the contactors, instead of mass"),
    rows_setting("inertia", "kg*m^2", "three rows of three, about the centre of mass", required=False),
    numbers_setting(
        "gyration", "m^2", "Euler tensor divided by the mass, instead of inertia: xx, yy, zz, xy, xz, yz", length=6
    ),
    vector_setting("centre", "m", "centre of mass; only with inertia or gyration"),
    Setting("motion", "table", doc="prescribed motion, whatever the contacts", of=MOTION),
    POSITION,
    ROTATION,
    SPEED,
    TURNING,
    number_setting("birth", "s", doc="time at which the body appears"),
    number_setting("removal", "s", doc="time at which it is removed"),
    Setting("contactors", "list", [], doc="shapes of the body that can touch others, one table each", of=PLACED),
    Setting("repeat", "table", doc="make many copies of this body", of=REPEAT),
    Setting("cut", "table", doc="cut the body into pieces", of=CUT),
)
LAW = table_of(
    Setting("groups", "list", required=True, doc="the two groups it applies to"),
    number_setting("restitution", high=1.0, doc="rebound speed over approach speed; default: 0"),
    number_setting("friction", doc="coefficient of Coulomb friction; default: 0"),
    Setting("impact", "text", choices=tuple(_core.contact_impact_laws()), doc="law of restitution; default: newton"),
    number_setting(
        "rolling", "m", doc="rolling resistance: largest couple about a tangent divided by the normal force"
    ),
    number_setting(
        "twisting", "m", doc="twisting resistance: largest couple about the normal divided by the normal force"
    ),
)
BOND = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("bodies", "list", doc="the two bodies that it holds together"),
    Setting(
        "groups", "list", doc="instead of bodies: bond all bodies that touch at the start by contactors of two groups"
    ),
    Setting("tension", "number", unit="Pa", low=0.0, required=True, expression=True, doc="tensile strength"),
    Setting("shear", "number", unit="Pa", low=0.0, required=True, expression=True, doc="shear strength"),
    number_setting(
        "tension_energy", "J/m^2", doc="fracture energy in tension; without it the bond breaks as soon as it opens"
    ),
    number_setting("shear_energy", "J/m^2", doc="fracture energy in shear; only with tension_energy"),
    Setting("refinement", "integer", low=1, high=32, doc="how finely faces are divided"),
)
LOAD = table_of(
    Setting("body", "text", required=True, doc="which body it acts on"),
    vector_setting("force", "N", "force, world axes"),
    vector_setting("point", "m", "where the force acts, in the body's frame"),
    vector_setting("torque", "N*m", "torque, world axes"),
    numbers_setting("times", "s", "increasing times of the factors; linear between them"),
    numbers_setting("factors", doc="factors of force and torque, one for each time"),
)
PROBE = table_of(
    Setting("name", "text", required=True, doc="quantities are named after it"),
    Setting("body", "text", doc="follow a point of this body"),
    vector_setting("point", "m", "the point, in the body's frame"),
    Setting("contacts_of", "text", doc="sum the contacts of this body"),
    Setting("between", "list", doc="sum the contacts between two groups"),
    Setting("joint", "text", doc="coordinates and reaction of this joint"),
)
SETTLE = table_of(
    number_setting("speed", "m/s", doc="at rest if every body is slower than this"),
    Setting("quiet_steps", "integer", low=1, high=1e9, doc="for this many steps"),
    number_setting("damping", high=1.0, doc="share of the velocity removed in a step"),
    Setting("max_steps", "integer", low=1, high=1e9, doc="a scene that still moves after this many steps fails"),
)

GRAVITY = Setting(
    "gravity", "numbers", [0.0, 0.0, -9.80665], unit="m/s^2", length=3, expression=True, doc="gravity, world axes"
)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return table_of(
        Setting("duration", "number", unit="s", low=0.0, required=True, expression=True, doc="how long to simulate"),
        Setting("step", "number", unit="s", low=0.0, required=True, expression=True, doc="time step"),
        Setting("sampling", "number", unit="s", low=0.0, expression=True, doc="interval of the curves"),
        Setting("stepper", "text", choices=("nonsmooth", "smooth"), doc="smooth: no contacts; default: nonsmooth"),
        Setting(
            "method", "text", choices=tuple(_core.smooth_methods()), doc="integration method of the smooth stepper"
        ),
        Setting("accuracy", "number", low=0.0, expression=True, doc="accuracy of the method dormand-prince"),
        Setting("theta", "number", 0.5, low=0.5, high=1.0, expression=True, doc="parameter of the theta method"),
        Setting("solver", "text", "auto", choices=tuple(_core.contact_solvers()), doc="contact solver"),
        Setting(
            "tolerance",
            "number",
            1e-6,
            low=0.0,
            high=_core.LOOSEST_TOLERANCE,
            expression=True,
            doc="tolerance of the contact solver",
        ),
        Setting(
            "max_iterations",
            "integer",
            1000,
            low=1,
            high=1e9,
            doc="largest number of iterations of the contact solver in a step",
        ),
        Setting(
            "max_factorisations",
            "integer",
            400,
            low=0,
            high=1e9,
            doc="largest number of factorisations of the contact solver in a step",
        ),
        Setting(
            "contact_tolerance", "number", 1e-8, unit="m", low=0.0, expression=True, doc="gap below which bodies touch"
        ),
        Setting(
            "look_ahead",
            "number",
            0.0,
            unit="m",
            low=0.0,
            expression=True,
            doc="gap within which bodies are stopped at touch",
        ),
        Setting(
            "overlap_tolerance", "number", 1e-6, unit="m", low=0.0, expression=True, doc="overlap allowed at the start"
        ),
        Setting("stabilise", "boolean", False, doc="push overlapping bodies apart"),
        Setting(
            "sleep_speed",
            "number",
            unit="m/s",
            low=0.0,
            expression=True,
            doc="groups of touching bodies slower than this are put to sleep",
        ),
        Setting("sleep_steps", "integer", low=1, high=1e9, doc="after they have been slower for this many steps"),
        Setting("threads", "integer", low=0, high=1024, doc="threads of a run; results do not depend on it"),
        GRAVITY,
        Setting("settle", "table", doc="let the scene come to rest first", of=SETTLE),
        Setting("bodies", "list", required=True, doc="tables of a body", of=BODY, files=("file",)),
        Setting("laws", "list", [], doc="tables of a contact law", of=LAW),
        Setting("bonds", "list", doc="tables of a bond", of=BOND),
        Setting("joints", "list", doc="tables of a joint", of=JOINT),
        Setting("springs", "list", doc="tables of a spring", of=SPRING),
        Setting("bushings", "list", doc="tables of a bushing", of=BUSHING),
        Setting("actuators", "list", doc="tables of an actuator", of=ACTUATOR),
        Setting("loads", "list", [], doc="tables of a load", of=LOAD),
        Setting("probes", "list", [], doc="tables of a probe", of=PROBE),
    )
