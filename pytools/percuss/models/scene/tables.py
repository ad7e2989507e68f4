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


POSITION = vector_setting("position", "m", "where the frame is: three lengths")
ROTATION = vector_setting("rotation", "rad", "three angles: direction the axis, length the angle")
SPEED = vector_setting("velocity", "m/s", "of the centre of mass at the start, world axes")
TURNING = vector_setting("angular_velocity", "rad/s", "at the start, world axes")

SHAPES: dict[str, dict[str, Setting]] = {
    "sphere": table_of(_length("radius", "of the sphere")),
    "box": table_of(vector_setting("size", "m", "three side lengths", required=True)),
    "cylinder": table_of(_length("radius", "about z"), _length("height", "along z, centred")),
    "capsule": table_of(_length("radius", "of the round ends"), _length("length", "of the straight part, along z")),
    "cone": table_of(_length("radius", "of the base"), _length("height", "along z; the base is at -height/2")),
    "ellipsoid": table_of(vector_setting("half_axes", "m", "three lengths, along x, y and z", required=True)),
    "ring": table_of(
        _length("inner_radius", "of the hole"),
        _length("outer_radius", "about z"),
        _length("height", "along z, centred"),
    ),
    "polyhedron": table_of(
        rows_setting("vertices", "m", "corners, three lengths each; the shape is their convex hull")
    ),
    "half-space": {},
    "mesh": table_of(
        rows_setting("vertices", "m", "corners, three lengths each"),
        Setting("triangles", "list", required=True, doc="three numbers of vertices each, from 0"),
    ),
    "height-field": table_of(
        numbers_setting("spacing", "m", "of the grid along x and y", required=True, length=2),
        rows_setting("heights", "m", "a row of heights for each y", length=0),
    ),
}
FILE = Setting("file", "file", required=True, doc="in the study's folder")
UNIT = Setting("unit", "text", "m", doc="of the lengths in the file")
# Shapes whose numbers a file may hold instead.
SHAPE_FILES: dict[str, dict[str, Setting]] = {
    "mesh": table_of(FILE, UNIT, Setting("reverse", "boolean", False, doc="turn every triangle")),
    "polyhedron": table_of(FILE, UNIT, Setting("reverse", "boolean", False, doc="turn every triangle")),
    "height-field": table_of(
        FILE,
        UNIT,
        Setting("spacing", "numbers", unit="m", length=2, doc="two lengths, for a file that knows none"),
        Setting("nodata", "text", "refuse", choices=NODATA, doc="where the file has no height"),
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
        vector_setting("amplitude", "m", "of the displacement along x, y, z", required=True),
        Setting("frequency", "number", unit="Hz", low=0.0, required=True, expression=True, doc="of the sine"),
        number_setting("phase", "rad", low=ANY, doc="of the sine at the start"),
    ),
    "sampled": table_of(
        numbers_setting("times", "s", "rising; linear between them, held outside", required=True),
        rows_setting("velocities", "m/s", "three at each time"),
        rows_setting("angular_velocities", "rad/s", "three at each time", required=False),
    ),
}
PATTERNS: dict[str, dict[str, Setting]] = {
    "grid": table_of(
        Setting("counts", "list", required=True, doc="copies along x, y and z"),
        vector_setting("pitch", "m", "from one copy to the next along x, y, z", required=True),
        vector_setting("stagger", "m", "shift of every second layer along z"),
        Setting("centred", "boolean", doc="the middle of the grid stands where the body does"),
    ),
    "polar": table_of(
        Setting("count", "integer", required=True, low=1, doc="copies"),
        Setting("angle", "number", unit="rad", required=True, expression=True, doc="between copies"),
        vector_setting("axis", "1", "about which copies are turned; default: z"),
        vector_setting("centre", "m", "a point of the axis"),
    ),
}
# The keys that choose among shapes, motions and patterns.
PLACED = table_of(
    Setting("shape", "text", required=True, choices=tuple(SHAPES), doc="of the contactor", variants=SHAPES)
)
PLACED |= CONTACTOR
MOTION = table_of(Setting("kind", "text", required=True, choices=tuple(MOTIONS), doc="of motion", variants=MOTIONS))
REPEAT = table_of(
    Setting("pattern", "text", required=True, choices=tuple(PATTERNS), doc="of the copies", variants=PATTERNS)
)
CUTS: dict[str, dict[str, Setting]] = {
    "planes": table_of(
        rows_setting("points", "m", "a point of each plane, in the body's frame"),
        rows_setting("normals", "1", "the normal of each"),
    ),
    "voronoi": table_of(
        Setting("pieces", "integer", required=True, low=1, high=10_000, doc="how many, at most"),
        Setting("seed", "integer", required=True, low=0, high=2**63 - 1, doc="of the points the cells are of"),
    ),
}
CUT = table_of(Setting("by", "text", required=True, choices=tuple(CUTS), doc="how it is cut", variants=CUTS))
BODY = table_of(
    Setting("name", "text", required=True, doc="a short name"),
    Setting("fixed", "boolean", doc="nothing moves it"),
    number_setting("mass", "kg", doc="in place of density, fixed and motion"),
    number_setting("density", "kg/m^3", doc="of the contactors, in place of mass"),
    rows_setting("inertia", "kg*m^2", "three rows of three, about the centre of mass", required=False),
    numbers_setting("gyration", "m^2", "instead of inertia, over the mass: xx, yy, zz, xy, xz, yz", length=6),
    vector_setting("centre", "m", "centre of mass, goes with inertia or gyration"),
    Setting("motion", "table", doc="moves as given, whatever it meets", of=MOTION),
    POSITION,
    ROTATION,
    SPEED,
    TURNING,
    number_setting("birth", "s", doc="when the body begins to take part"),
    number_setting("removal", "s", doc="when it is taken away"),
    Setting("contactors", "list", [], doc="tables of a shape that can touch others", of=PLACED),
    Setting("repeat", "table", doc="many bodies from this one", of=REPEAT),
    Setting("cut", "table", doc="parts of it that lie where they were", of=CUT),
)
LAW = table_of(
    Setting("groups", "list", required=True, doc="two groups"),
    number_setting("restitution", high=1.0, doc="rebound speed over approach speed; default: 0"),
    number_setting("friction", doc="coefficient of Coulomb friction; default: 0"),
    Setting("impact", "text", choices=tuple(_core.contact_impact_laws()), doc="law of restitution; default: newton"),
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
LOAD = table_of(
    Setting("body", "text", required=True, doc="which body it acts on"),
    vector_setting("force", "N", "world axes"),
    vector_setting("point", "m", "where the force acts, in the body's frame"),
    vector_setting("torque", "N*m", "world axes"),
    numbers_setting("times", "s", "of the factors, rising; linear between them"),
    numbers_setting("factors", doc="of force and torque, one at each time"),
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
    Setting("max_steps", "integer", low=1, high=1e9, doc="a scene that moves after so many steps fails"),
)

GRAVITY = Setting(
    "gravity", "numbers", [0.0, 0.0, -9.80665], unit="m/s^2", length=3, expression=True, doc="acceleration, world axes"
)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set beside inputs."""
    return table_of(
        Setting("duration", "number", unit="s", low=0.0, required=True, expression=True, doc="how long to simulate"),
        Setting("step", "number", unit="s", low=0.0, required=True, expression=True, doc="time step"),
        Setting("sampling", "number", unit="s", low=0.0, expression=True, doc="interval of the curves"),
        Setting("stepper", "text", choices=("nonsmooth", "smooth"), doc="smooth: no contacts; default: nonsmooth"),
        Setting("method", "text", choices=tuple(_core.smooth_methods()), doc="of the smooth stepper"),
        Setting("accuracy", "number", low=0.0, expression=True, doc="of the method dormand-prince"),
        Setting("theta", "number", 0.5, low=0.5, high=1.0, expression=True, doc="of the time stepping scheme"),
        Setting("solver", "text", "auto", choices=tuple(_core.contact_solvers()), doc="of the contact problem"),
        Setting(
            "tolerance",
            "number",
            1e-6,
            low=0.0,
            high=_core.LOOSEST_TOLERANCE,
            expression=True,
            doc="of the contact solver",
        ),
        Setting("max_iterations", "integer", 1000, low=1, high=1e9, doc="of the contact solver in a step"),
        Setting("max_factorisations", "integer", 400, low=0, high=1e9, doc="of the contact solver in a step"),
        Setting(
            "contact_tolerance", "number", 1e-8, unit="m", low=0.0, expression=True, doc="gap below which bodies touch"
        ),
        Setting(
            "look_ahead", "number", 0.0, unit="m", low=0.0, expression=True, doc="gap within which bodies end at touch"
        ),
        Setting(
            "overlap_tolerance", "number", 1e-6, unit="m", low=0.0, expression=True, doc="overlap allowed at the start"
        ),
        Setting("stabilise", "boolean", False, doc="push overlapping bodies apart"),
        Setting("sleep_speed", "number", unit="m/s", low=0.0, expression=True, doc="islands slower than this sleep"),
        Setting("sleep_steps", "integer", low=1, high=1e9, doc="once they have been for so many steps"),
        Setting("threads", "integer", low=0, high=1024, doc="of a run; changes no number"),
        GRAVITY,
        Setting("settle", "table", doc="come to rest first", of=SETTLE),
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
