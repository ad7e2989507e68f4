"""The rockfall wall: its parts, its rest, what connectors do, and the energy account."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.models.model import Done, configure
from percuss.models.rockfall_wall.layout import plan_of
from percuss.models.rockfall_wall.model import WallModel, block_map
from percuss.scene import PointProbe, Record

# The set "all" of Gupta et al. (2023), Table 5.
POINT = {"d_z": 0.068, "v_p": 0.071, "mu_cc": 0.316, "mu_cs": 0.307, "e": 0.222, "impact_y": 0.0, "impact_z": 1.7}
SMALL = {"axes": 8, "rows": 3, "duration": 0.2, "step": 5e-4}


def wall(**settings: Any) -> WallModel:
    model = configure("rockfall-wall", settings, {})
    assert isinstance(model, WallModel)
    return model


def run(model: WallModel, **point: float) -> Done:
    done = model.run([POINT | {"speed": 15.0} | point], [0])[0]
    assert isinstance(done, Done), done
    return done


def test_the_wall_of_the_paper() -> None:
    """42 blocks, 100 bars, 13.85 m long, 3.2 m high, blocks of 1800 kg, projectile of 2600 kg."""
    scene = wall().experiment(POINT | {"speed": 28.0}).scene
    kinds = [body.name.split("_")[0] for body in scene.bodies]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "block": 38,
        "half": 4,
        "bar": 100,
        "ground": 1,
        "projectile": 1,
    }
    groups = [c.group for body in scene.bodies for c in body.contactors]
    assert groups.count("disk") == 320 and groups.count("sphere") == groups.count("box") == 120
    plan = plan_of("trapezoidal", 20, math.pi / 4, 0.8)
    assert plan[-1][1] - plan[0][1] + 0.76 == pytest.approx(13.85, abs=5e-3)
    assert {body.mass_kg for body in scene.bodies if body.name.startswith("block")} == {1800.0}
    assert {body.mass_kg for body in scene.bodies if body.name.startswith("half")} == {900.0}
    assert [math.dist(a, b) for a, b in pairwise(plan)] == pytest.approx(19 * [0.8])


@pytest.mark.parametrize(("kind", "left_m", "mass_kg"), [("block", -0.78, 1800.0), ("half", 0.0, 900.0)])
def test_inertia_is_that_of_the_volume(kind: str, left_m: float, mass_kg: float) -> None:
    """Against sums over a fine grid of points in the plan, of a block or of what lies beyond its middle."""
    scene = wall().experiment(POINT | {"speed": 28.0}).scene
    body = next(body for body in scene.bodies if body.name.startswith(kind))
    x, y = np.meshgrid(np.linspace(left_m, 0.78, 1561), np.linspace(-0.38, 0.38, 761), indexing="ij")
    inside = np.hypot(np.maximum(np.abs(x) - 0.4, 0.0), y) <= 0.38
    middle = float(np.mean(x[inside]))
    x2, y2 = float(np.mean((x[inside] - middle) ** 2)), float(np.mean(y[inside] ** 2))
    want = np.array([y2 + 0.8**2 / 12, x2 + 0.8**2 / 12, x2 + y2]) * mass_kg
    assert body.inertia_kg_m2 is not None
    # The grid is 1 mm: its sums are off by about 1e-3.
    assert np.diag(np.array(body.inertia_kg_m2)) == pytest.approx(want, rel=3e-3)
    hole = next(contactor for contactor in body.contactors if contactor.group == "round")
    assert abs(hole.position_m[0]) == pytest.approx(0.4 - middle, abs=1e-3)


@pytest.mark.parametrize("layout", ["trapezoidal", "trapezoidal-symmetric", "zig-zag"])
def test_axes_carry_their_holes_and_lines(layout: str) -> None:
    """Round ends stand on the axes; every measuring point of a line is on one axis, in its course."""
    model = wall(layout=layout)
    scene = model.experiment(POINT | {"speed": 28.0}).scene
    places = {}
    for body in scene.bodies:
        for number, contactor in enumerate(c for c in body.contactors if c.group == "round"):
            turn = body.rotation_rad[2]
            reach = contactor.position_m[0]
            places[body.name, number] = (
                body.position_m[0] + reach * math.cos(turn),
                body.position_m[1] + reach * math.sin(turn),
            )
    assert len(places) == 80
    assert max(min(math.dist(place, axis) for axis in model.plan) for place in places.values()) < 1e-12
    rows = {probe.name: probe.body.split("_")[1] for probe in scene.probes if isinstance(probe, PointProbe)
            and probe.name != "projectile"}  # fmt: skip
    assert rows == {"top": "4", "a": "3", "b": "2", "base": "1", "d": "4", "c": "1"}


def test_symmetric_layout_mirrors_itself() -> None:
    plan = np.array(plan_of("trapezoidal-symmetric", 20, math.pi / 4, 0.8))
    assert np.allclose(plan[::-1], plan * [1.0, -1.0])
    assert plan[-1][1] - plan[0][1] + 0.76 == pytest.approx(13.62, abs=5e-3)


@pytest.mark.parametrize("layout", ["trapezoidal", "trapezoidal-symmetric", "zig-zag", "straight"])
def test_projectile_starts_right_before_the_wall(layout: str) -> None:
    """It flies freely for the first 2 mm, and has met the wall after 3."""
    model = wall(axes=8, rows=3, layout=layout, step=1e-4, duration=3e-4, sampling=1e-4)
    speed = run(model, speed=10.0, mu_cc=0.3).curves
    assert speed is not None
    assert speed["projectile_vx"][:2] == pytest.approx([10.0, 10.0])
    assert speed["projectile_vx"][-1] < 9.0


def test_horizontal_momentum_is_conserved_where_the_ground_is_smooth() -> None:
    """Nothing but friction on the ground pushes sideways: without it all contacts of bars, disks and blocks cancel."""
    model = wall(**SMALL, bar_friction=0.0)
    experiment = model.experiment(POINT | {"speed": 15.0, "mu_cs": 0.0})
    world, _ = experiment.run_in()
    moving = [body.name for body in experiment.scene.bodies if world.mass_kg(body.name)]
    momentum = sum(float(world.mass_kg(name) or 0.0) * world.velocity_m_per_s(name)[:2] for name in moving)
    assert momentum == pytest.approx([2600.0 * 15.0, 0.0], abs=1e-6 * 2600.0 * 15.0)


def test_at_rest_nothing_moves() -> None:
    """A projectile that hardly moves falls past the wall: no block moves by 0.1 mm in a second, nothing overlaps.

    Bars, which stand on smooth spheres, topple within their play and meet the disks at last: they end at touch.
    """
    model = wall(duration=1.0, step=5e-4, projectile_on_ground=False)
    experiment = model.experiment(POINT | {"speed": 1e-9})
    result = experiment.run_in(record=Record(bodies_every=2000, contacts_every=100))[1]
    blocks = block_map(model.blocks, experiment.scene, result)
    moved = np.sqrt(sum(blocks[f"u{axis}_m"] ** 2 for axis in "xyz"))
    assert moved.max() < 1e-4
    assert result.pairs["cuboid", "projectile"].normal_impulse_n_s == 0.0
    assert result.unmet_steps == 0
    assert result.deepest_overlap_m < 1e-5
    laws = [law.groups for law in experiment.scene.laws]
    assert np.isin(result.contacts["law"], [laws.index((bar, "disk")) for bar in ("odd_bar", "even_bar")]).any()


def test_a_loose_tolerance_settles_as_well() -> None:
    """At 1e-3 what lies still would creep for thousands of steps."""
    _, how = wall(**SMALL, tolerance=1e-3).settled(POINT | {"speed": 15.0})
    assert how["steps"] < 100 and how["moved_m"] < 1e-6


def growth_and_way(contacts: dict[str, Any], bodies: dict[str, Any], step: float) -> tuple[Any, Any]:
    """By how much overlap grew in a step, and the way the bodies made past each other there, a row a contact."""
    count = int(bodies["body"].max()) + 1
    of = {
        kind: np.stack([bodies[f"{kind}{axis}_{unit}"] for axis in "xyz"], axis=1).reshape(-1, count, 3)
        for kind, unit in (("v", "m_per_s"), ("w", "rad_per_s"), ("", "m"))
    }
    number = np.round(contacts["time_s"] / step).astype(int)
    place = np.stack([contacts[f"{axis}_m"] for axis in "xyz"], axis=1)

    def speed(late: int) -> Any:
        row = number - number.min() - late
        points = [
            of["v"][row, body] + np.cross(of["w"][row, body], place - of[""][row, body])
            for body in (contacts[side].astype(int) for side in ("body_a", "body_b"))
        ]
        return np.linalg.norm(points[0] - points[1], axis=1)

    pair = list(zip(contacts["contactor_a"], contacts["contactor_b"], number, strict=True))
    overlap = np.maximum(-contacts["gap_m"], 0.0)
    deepest: dict[tuple[float, float, int], float] = {}
    for key, depth in zip(pair, overlap, strict=True):
        deepest[key] = max(depth, deepest.get(key, 0.0))
    before = np.array([deepest.get((a, b, k - 1), 0.0) for a, b, k in pair])
    return overlap - before, step * np.maximum(speed(0), speed(1))


def test_overlap_grows_by_the_way_of_a_step_and_is_recovered() -> None:
    """The half bars at the top, whose mass is next to nothing, whip around in their disks at up to 42 m/s."""
    model = wall(**SMALL | {"duration": 0.8})
    result = model.experiment(POINT | {"speed": 20.0}).run_in(record=Record(bodies_every=1, contacts_every=1))[1]
    growth, way = growth_and_way(result.contacts, result.bodies, SMALL["step"])
    seen = growth > 2e-4
    assert growth.max() > 1e-3, "nothing to recover"
    # The place of a contact moves in a step, and with it the speed that is read there.
    assert (growth <= 1.2 * way)[seen].all()
    # Overlap of 0.1 mm is left alone, and what slides around a hole takes some steps to come back.
    assert result.overlap_left_m < 5e-4 < 0.2 * result.deepest_overlap_m
    assert result.gain_steps == 0 and result.account_j["contact_gain_j"] == 0.0


def test_wall_of_the_paper_stands_upright_after_520_kj() -> None:
    """Points of a line end up together, most steps are solved; without connectors the course that is hit is pierced."""
    coarse = {"duration": 0.6, "step": 5e-4, "projectile_on_ground": False}
    held = run(wall(**coarse), speed=20.0)
    assert abs(math.degrees(held.values["tilt_impact"])) < 3.0
    assert held.values["unmet_steps"] <= 0.01 * held.values["steps"]
    pierced = run(wall(**coarse, connectors=False), speed=20.0).tables["blocks"]
    row = {number: pierced["ux_m"][pierced["row"] == number].max() for number in (1, 2, 3)}
    assert row[3] > 2.0 and row[1] < 0.2


@pytest.mark.parametrize("layout", ["trapezoidal", "zig-zag", "straight"])
def test_energy_account_closes(layout: str) -> None:
    model = wall(**SMALL, layout=layout, impact="fremond")
    done = run(model)
    assert done.curves is not None
    brought = 0.5 * 2600.0 * 15.0**2
    assert abs(done.curves["closing_error"]).max() < 1e-9 * brought
    lost = sum(value for name, value in done.values.items() if name.startswith(("impact_", "friction_")))
    assert lost == pytest.approx(done.curves["impact_dissipation"][-1] + done.curves["friction_dissipation"][-1])
    assert done.values["gain_steps"] == 0


def test_connectors_hold_the_wall_together() -> None:
    """Blocks in the rows that are hit part from those above and below unless bars hold them."""
    spread = {}
    for connectors in (True, False):
        curves = run(wall(**SMALL, connectors=connectors)).curves
        assert curves is not None
        points = [curves[f"{name}_ux"][-1] for name in ("top", "b", "base")]
        spread[connectors] = max(points) - min(points)
    assert spread[True] < 0.5 * spread[False]


def test_same_bits_again() -> None:
    model = wall(**SMALL)
    first, second = run(model), run(model)
    assert first.values == second.values
    state, _ = model.settled(POINT | {"speed": 15.0})
    third = model.run_from([POINT | {"speed": 15.0}], [0], [state])[0]
    assert isinstance(third, Done) and third.values == first.values


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"axes": 7}, "axes"),
        ({"bar_diameter": 0.2}, "bar_diameter"),
        ({"block_length": 0.5}, "block_length"),
        ({"step": 0.0}, "step"),
        ({"layout": "wavy"}, "layout"),
    ],
)
def test_walls_that_cannot_be_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        wall(**settings)


@pytest.mark.parametrize(("name", "value"), [("d_z", 0.5), ("v_p", 7.1)])
def test_connectors_that_hold_nothing_fail_the_run(name: str, value: float) -> None:
    failed = wall(**SMALL).run([POINT | {"speed": 15.0, name: value}], [0])[0]
    assert not isinstance(failed, Done) and f"{name} = {value} m: must be" in failed.reason


def test_a_finer_wall_keeps_its_map_of_blocks():
    model = wall(rows=1, axes=4, duration=0.01)
    point = POINT | {"speed": 5.0}
    finer, same = model.refined(point, 2, 10.0)
    assert (finer.numerics(same).step, finer.numerics(same).tolerance) == (1.25e-4, pytest.approx(1e-5))
    (coarse,), (fine,) = model.run([point], [0]), finer.run([same], [0])
    assert fine.values["steps"] == 2 * coarse.values["steps"]
    assert len(fine.tables["blocks"]["ux_m"]) == len(coarse.tables["blocks"]["ux_m"])
