"""The model: from a point of the inputs to the wall, and from a run to what the paper reads off it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from percuss.errors import InputError
from percuss.models.model import Done, Quantity, Reference, Value
from percuss.models.rockfall_wall.blocks import BlockSizes, Placed, block_body, placed_blocks
from percuss.models.rockfall_wall.connectors import Connectors
from percuss.models.rockfall_wall.laws import contact_laws
from percuss.models.rockfall_wall.layout import Plan, plan_of
from percuss.models.rockfall_wall.projectile import first_touch, projectile_body
from percuss.models.rockfall_wall.tables import INPUTS, MOST_STEPS, SETTINGS
from percuss.models.scene.experiment import Experiment, SceneModel
from percuss.models.scene.quantities import quantities_of
from percuss.scene import (
    Body,
    Contactor,
    HalfSpace,
    PairProbe,
    PointProbe,
    Probe,
    Record,
    Result,
    Scene,
    Settings,
    Settle,
)
from percuss.settings import SettingsError

# A wall at rest: bodies slower than a hundredth of what gravity gives in one step of 0.25 ms.
REST = Settle(speed_m_per_s=2.5e-5, max_steps=20_000)

OWN = (
    Quantity("tilt_impact", "rad", doc="lean of the impact line at the end"),
    Quantity("tilt_distant", "rad", doc="lean of the distant line at the end"),
    Quantity("sliding", "m", doc="largest displacement of the base on the impact line"),
)

CONVENTIONS = (
    "x is the direction of the impact, y runs along the wall, z up.",
    "A lean is positive where the wall leans away from the rock.",
)


@dataclass(frozen=True)
class WallModel(SceneModel):
    """The wall of these settings."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan = field(default_factory=list)
    blocks: tuple[Placed, ...] = ()

    def described(self, point: Mapping[str, Value]) -> Experiment:
        """The wall with the projectile before it."""
        s = self.settings
        p = {name: float(point[name]) for name in INPUTS}
        sizes = block_sizes(s)
        if s["connectors"] and not 0.0 < p["d_z"] < 0.5 * sizes.height_m:
            raise InputError(
                f"d_z = {p['d_z']:g} m: must be above 0 and below half a block, {0.5 * sizes.height_m:g} m"
            )
        if s["connectors"] and p["v_p"] >= sizes.height_m:
            raise InputError(f"v_p = {p['v_p']:g} m: must be below the height of a block, {sizes.height_m:g} m")
        stepper = Settings(
            s["step"],
            solver=s["solver"],
            tolerance=s["tolerance"],
            max_iterations=s["max_iterations"],
            look_ahead_m=s["look_ahead"],
            stabilise=s["stabilise"],
        )
        scene = Scene(self._bodies(p, sizes), self._laws(p), probes=self._probes(sizes))
        return Experiment(scene, stepper, s["duration"], max(1, round(s["sampling"] / s["step"])), REST)

    def _bodies(self, p: Mapping[str, float], sizes: BlockSizes) -> list[Body]:
        s = self.settings
        bodies = [Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)]
        connectors = connectors_of(s, sizes, p["d_z"], p["v_p"]) if s["connectors"] else None
        for block in self.blocks:
            bodies.append(block_body(block, sizes, connectors.on_block(block) if connectors else []))
        if connectors:
            bodies += connectors.bars(self.plan)
        size, cut, mass = s["projectile_size"], s["projectile_cut"], s["projectile_mass"]
        touch_x = first_touch(self.plan, p["impact_y"], size, cut, sizes.width_m)
        bodies.append(projectile_body(size, cut, mass, p["speed"], p["impact_y"], p["impact_z"], touch_x))
        return bodies

    def _laws(self, p: Mapping[str, float]) -> list[Any]:
        s = self.settings
        return contact_laws(
            p["mu_cc"],
            p["mu_cs"],
            p["e"],
            s["bar_friction"],
            s["impact"],
            connectors=s["connectors"],
            projectile_lands=s["projectile_on_ground"],
        )

    def _probes(self, sizes: BlockSizes) -> list[Probe]:
        return wall_probes(self.settings, self.plan, self.blocks, sizes)

    def outcome(self, experiment: Experiment, result: Result) -> Done:
        """Displacements and forces, tilt and sliding, and where every block ended up."""
        reduced = super().outcome(experiment, result)
        curves = reduced.curves or {}
        # From the middle of the lowest course to the top of the highest.
        height = (self.settings["rows"] - 0.5) * self.settings["block_height"]
        for line, (upper, lower) in {"impact": ("top", "base"), "distant": ("d", "c")}.items():
            reduced.values[f"tilt_{line}"] = math.atan2(
                float(curves[f"{upper}_ux"][-1] - curves[f"{lower}_ux"][-1]), height
            )
        reduced.values["sliding"] = float(np.max(curves["base_ux"]))
        return Done(
            reduced.values, curves, {**reduced.tables, "blocks": block_map(self.blocks, experiment.scene, result)}
        )


def block_sizes(s: Mapping[str, Any]) -> BlockSizes:
    """Sizes of a block from the settings."""
    return BlockSizes(s["block_length"], s["block_width"], s["block_height"], s["block_mass"])


def connectors_of(s: Mapping[str, Any], sizes: BlockSizes, d_z_m: float, play_m: float) -> Connectors:
    """The connectors from the settings and the two parameters of theirs."""
    return Connectors(
        sizes,
        s["rows"],
        d_z_m,
        play_m,
        s["hole_diameter"],
        s["bar_diameter"],
        s["bar_inner_diameter"],
        s["bar_density"],
        s["top_bar_share"],
        s["top_clearance"],
        s["disks"],
    )


def wall_probes(s: Mapping[str, Any], plan: Plan, blocks: tuple[Placed, ...], sizes: BlockSizes) -> list[Probe]:
    """The measuring points of the paper's Figure 2, and the forces in the slings and on the projectile.

    A measuring line is the axis next to it: no other vertical line passes through every course as blocks swing.
    """
    rows = s["rows"]
    lines = {"impact": nearest_axis(plan, 0.0), "distant": nearest_axis(plan, -s["distance"])}
    # Name: line, course, height in the block (top face, middle).
    points = {
        "top": ("impact", rows - 1, 0.5),
        "a": ("impact", max(rows - 2, 0), 0.0),
        "b": ("impact", min(1, rows - 1), 0.0),
        "base": ("impact", 0, 0.0),
        "d": ("distant", rows - 1, 0.5),
        "c": ("distant", 0, 0.0),
    }
    probes: list[Probe] = []
    for name, (line, row, height) in points.items():
        axis = lines[line]
        block = next(b for b in blocks if b.row == row and axis in b.axes)
        probes.append(PointProbe(name, block.name, (block.holes(sizes.pitch_m)[axis], 0.0, height * sizes.height_m)))
    probes.append(PointProbe("projectile", "projectile"))
    if s["connectors"]:
        probes.append(PairProbe("slings", ("box", "sphere")))
    probes.append(PairProbe("hit", ("cuboid", "projectile")))
    return probes


def nearest_axis(plan: Plan, y_m: float) -> int:
    """The axis nearest to y; of two equally near the first."""
    return min(range(len(plan)), key=lambda axis: round(abs(plan[axis][1] - y_m), 9))


def block_map(blocks: tuple[Placed, ...], scene: Scene, result: Result) -> dict[str, np.ndarray]:
    """Displacement of every block from start to end."""
    bodies = result.bodies
    first, last = bodies["time_s"].min(), bodies["time_s"].max()
    indices = np.array([scene.body_index[block.name] for block in blocks])
    at = {}
    for instant in (first, last):
        rows = bodies["time_s"] == instant
        order = np.argsort(bodies["body"][rows])
        at[instant] = {key: bodies[f"{key}_m"][rows][order][indices] for key in "xyz"}
    columns: dict[str, np.ndarray] = {
        "row": np.array([block.row + 1 for block in blocks]),
        "first_axis": np.array([block.axes[0] for block in blocks]),
        "last_axis": np.array([block.axes[1] for block in blocks]),
    }
    for key in "xyz":
        columns[f"{key}_m"] = at[first][key]
        columns[f"u{key}_m"] = at[last][key] - at[first][key]
    return columns


def reference() -> Reference:
    """Inputs, and the quantities of the wall with the settings of the paper."""
    wall = configure({name: setting.default for name, setting in SETTINGS.items()}, {})
    return Reference(tuple(INPUTS.values()), tuple(wall.quantities.values()), CONVENTIONS)


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> WallModel:
    """Build the model; raise SettingsError for a wall that cannot stand as described."""
    faults = []
    if settings["axes"] % 2:
        faults.append(("axes", f"{settings['axes']} is odd: a brick bond needs an even number"))
    if settings["block_length"] <= settings["block_width"]:
        faults.append(("block_length", f"{settings['block_length']:g} m: must exceed block_width"))
    if not settings["bar_inner_diameter"] < settings["bar_diameter"] < settings["hole_diameter"]:
        faults.append(("bar_diameter", "must lie between bar_inner_diameter and hole_diameter"))
    for key in ("step", "duration", "sampling", "block_mass", "projectile_mass", "projectile_size", "block_height"):
        if settings[key] <= 0.0:
            faults.append((key, f"{settings[key]:g}: must be above 0"))
    for key in ("duration", "sampling"):
        if settings[key] > MOST_STEPS * settings["step"]:
            faults.append((key, f"{settings[key]:g} s: is more than {MOST_STEPS:g} steps"))
    if faults:
        raise SettingsError(faults)
    sizes = block_sizes(settings)
    plan = plan_of(settings["layout"], settings["axes"], settings["angle"], sizes.pitch_m)
    blocks = tuple(placed_blocks(plan, settings["rows"], sizes))
    steps = round(settings["duration"] / settings["step"])
    model = WallModel(
        INPUTS, {}, "rockfall-wall", 2, Record(bodies_every=steps), settings=settings, plan=plan, blocks=blocks
    )
    scene = model.experiment({name: entry.default for name, entry in INPUTS.items() if entry.default is not None}).scene
    return replace(model, quantities=quantities_of(scene) | {item.name: item for item in OWN})
