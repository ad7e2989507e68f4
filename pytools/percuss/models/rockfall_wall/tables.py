"""Settings and inputs of the wall, with the values of Gupta et al. (2023), Tables 1 and 4."""

from __future__ import annotations

from collections.abc import Mapping

from percuss import _core
from percuss.models.model import Input
from percuss.models.rockfall_wall.layout import LAYOUTS
from percuss.settings import Setting

# Ten times the longest and highest wall that anyone would build, and a bound to what a stranger's file can ask for.
MOST_AXES, MOST_ROWS = 400, 40
MOST_STEPS = 1e9


def _length(name: str, default_m: float, doc: str) -> Setting:
    return Setting(name, "number", default_m, unit="m", low=0.0, doc=doc)


def _mass(name: str, default_kg: float, doc: str) -> Setting:
    return Setting(name, "number", default_kg, unit="kg", low=0.0, doc=doc)


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("axes", "integer", 20, low=2, high=MOST_AXES, doc="number of vertical axes through the holes; even"),
        Setting("rows", "integer", 4, low=1, high=MOST_ROWS, doc="number of courses of blocks"),
        Setting("layout", "text", "trapezoidal", choices=tuple(LAYOUTS), doc="layout of the axes in plan"),
        Setting(
            "angle",
            "number",
            0.7853981633974483,
            unit="rad",
            low=-1.5,
            high=1.5,
            doc="angle of the pattern in plan, from y; negative: the rock hits a projection",
        ),
        Setting("connectors", "boolean", True, doc="with bars, disks and slings"),
        Setting("disks", "text", "faces-and-ends", choices=("faces-and-ends", "faces"), doc="which disks hold a bar"),
        _length("block_length", 1.56, "length of a block, end to end"),
        _length("block_width", 0.76, "width of a block, and diameter of its round ends"),
        _length("block_height", 0.80, "height of a block"),
        _mass("block_mass", 1800.0, "mass of a block"),
        _length("hole_diameter", 0.154, "inner diameter of the disks"),
        _length("bar_diameter", 0.1397, "outer diameter of a bar"),
        _length("bar_inner_diameter", 0.1237, "inner diameter of a bar"),
        Setting("bar_density", "number", 7850.0, unit="kg/m^3", low=0.0, doc="density of the steel"),
        Setting(
            "top_bar_share", "number", 0.05, low=1e-3, high=1.0, doc="mass of the top bar as a share of a real one's"
        ),
        Setting("bar_friction", "number", 0.2, low=0.0, doc="friction of steel on blocks and ground"),
        _length("top_clearance", 0.001, "clearance between the sphere of the top block and the stopper of the top bar"),
        _length("projectile_size", 1.1, "side of the cube around the rock"),
        _mass("projectile_mass", 2600.0, "mass of the rock"),
        Setting(
            "projectile_cut", "number", 0.25, low=0.05, high=0.45, doc="share of a side that is cut off at each edge"
        ),
        Setting("projectile_on_ground", "boolean", True, doc="false: it falls through the ground, as in the paper"),
        Setting("impact", "text", "newton", choices=tuple(_core.contact_impact_laws()), doc="impact law"),
        Setting(
            "distance", "number", 3.5, unit="m", doc="distance from the impact line to the distant line, to the left"
        ),
        Setting("duration", "number", 1.0, unit="s", low=0.0, doc="how long to simulate"),
        Setting("step", "number", 2.5e-4, unit="s", low=0.0, doc="time step"),
        Setting("sampling", "number", 2e-3, unit="s", low=0.0, doc="interval of the curves"),
        Setting("solver", "text", "auto", doc="contact solver"),
        Setting("tolerance", "number", 1e-4, low=0.0, doc="residual of the contact problem"),
        Setting("max_iterations", "integer", 1000, low=1, doc="largest number of sweeps in a step"),
        _length("look_ahead", 0.002, "gap up to which contacts without restitution are stopped at touch"),
        Setting("stabilise", "boolean", False, doc="push overlaps apart, as far as dissipation covers the work"),
    )
}


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set."""
    return SETTINGS


INPUTS: dict[str, Input] = {
    entry.name: entry
    for entry in (
        Input(
            "d_z",
            "m",
            0.075,
            low=0.0,
            low_open=True,
            doc="distance of the disks from the faces of a block and the ends of a bar",
        ),
        Input("v_p", "m", 0.055, low=0.0, doc="vertical play of a sling, over its whole length"),
        Input("mu_cc", "1", 0.4, low=0.0, doc="friction of concrete on concrete"),
        Input("mu_cs", "1", 0.45, low=0.0, doc="friction of concrete on soil"),
        Input("e", "1", 0.15, low=0.0, high=1.0, doc="restitution of blocks, projectile and ground"),
        Input("speed", "m/s", 20.0, low=0.0, doc="speed of the projectile at impact, along x"),
        Input("impact_y", "m", 0.0, doc="point of impact along the wall, from its middle"),
        Input("impact_z", "m", 1.7, low=0.0, doc="height of its centre at impact"),
    )
}
