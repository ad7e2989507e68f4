"""Rigid bodies from Python: closed forms, the same bits however a run is cut or threaded, clear refusals."""

from __future__ import annotations

import math
import signal
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.scene import (
    SHAPES,
    Body,
    BodyProbe,
    Box,
    Contactor,
    Cylinder,
    HalfSpace,
    HeightField,
    Law,
    Load,
    Mesh,
    PairProbe,
    PointProbe,
    Polyhedron,
    Record,
    Ring,
    SampledMotion,
    Scene,
    Settings,
    Settle,
    SineMotion,
    Sphere,
    SteadyMotion,
    grid,
    polar,
)

G = 9.80665
GROUND = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
CUBE = Box((1.0, 1.0, 1.0))


def cube(name="cube", **more):
    return Body(name, [Contactor(CUBE, "cube")], **{"mass_kg": 10.0, "position_m": (0.0, 0.0, 0.5)} | more)


def on_ground(*bodies, friction=0.5, restitution=0.0, **more):
    laws = [Law(("ground", "cube"), restitution, friction)]
    if len(bodies) > 1:
        laws.append(Law(("cube", "cube"), restitution, friction))
    return Scene([GROUND, *bodies], laws, **more)


def pile():
    """A wall that a cube hits: contacts come and go."""
    wall = grid(cube("wall", position_m=(0.0, 0.0, 0.5)), (1, 3, 3), (0.0, 1.01, 1.0), stagger_m=(0.0, 0.3, 0.0))
    ball = Body("ball", [Contactor(Sphere(0.4), "cube")], 30.0, position_m=(-2.0, 1.0, 1.6), velocity_m_per_s=(9, 0, 1))
    probes = [PointProbe("ball", "ball"), BodyProbe("hit", "ball"), PairProbe("wall", ("cube", "cube"))]
    return on_ground(*wall, ball, restitution=0.2, probes=probes)


def test_a_block_slides_as_far_as_friction_lets_it():
    scene = on_ground(cube(velocity_m_per_s=(3.0, 0.0, 0.0)), friction=0.3, probes=[PointProbe("p", "cube")])
    scene = replace(scene, bodies=[GROUND, replace(scene.bodies[1], contactors=[Contactor(Box((1, 1, 0.1)), "cube")])])
    scene = replace(scene, bodies=[GROUND, replace(scene.bodies[1], position_m=(0.0, 0.0, 0.05))])
    result = scene.run(1.5, Settings(1e-3, tolerance=1e-10))
    # First order in the step: the instant of rest falls within one.
    assert result.probes["p"]["x_m"][-1] == pytest.approx(3**2 / (2 * 0.3 * G), abs=1e-4)
    assert result.unmet_steps == 0
    work = result.pairs["ground", "cube"]
    assert work.friction_dissipation_j == pytest.approx(0.5 * 10 * 9, rel=1e-9)
    assert abs(result.account_j["closing_error_j"]) < 1e-10


def test_a_ball_bounces_with_its_restitution():
    ball = Body("ball", [Contactor(Sphere(0.1), "cube")], mass_kg=1.0, position_m=(0.0, 0.0, 1.1))
    scene = on_ground(ball, restitution=0.5, friction=0.0, probes=[PointProbe("ball", "ball")])
    z = scene.run(1.2, Settings(1e-4)).probes["ball"]["z_m"] - 0.1
    fall = math.sqrt(2 / G)
    t = 1e-4 * np.arange(len(z))
    top = z[(t > fall) & (t < 2 * fall)].max()
    assert top == pytest.approx(0.25, abs=2e-3)


def test_weight_is_carried_and_loads_do_work():
    scene = on_ground(cube(), probes=[BodyProbe("foot", "cube")], loads=[Load("cube", force_n=(0.0, 0.0, -50.0))])
    foot = scene.run(0.1, Settings(1e-3, tolerance=1e-10)).probes["foot"]
    np.testing.assert_allclose(foot["fz_n"][1:], 10 * G + 50, rtol=1e-9)
    pushed = on_ground(cube(), loads=[Load("cube", (100.0, 0.0, 0.0), times_s=[0.0, 1.0], factors=[1.0, 0.0])])
    account = pushed.run(0.2, Settings(1e-3)).account_j
    assert account["external_work_j"] > 0
    assert abs(account["closing_error_j"]) < 1e-9


@pytest.mark.parametrize(
    "motion",
    [
        SteadyMotion((1.0, 0.0, 0.0)),
        SampledMotion([0.0, 1.0], [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]),
        SineMotion((0.5 / math.sin(1.0), 0.0, 0.0), 1.0 / (2 * math.pi)),
    ],
    ids=["steady", "sampled", "sine"],
)
def test_a_moved_body_goes_where_it_is_told(motion):
    plate = Body("plate", [Contactor(Box((1, 1, 0.1)), "ground")], motion=motion, position_m=(0.0, 0.0, -0.05))
    # The cube rides along: friction enough, no slip.
    scene = Scene([plate, cube()], [Law(("ground", "cube"), 0.0, 2.0)], probes=[PointProbe("plate", "plate")])
    end = scene.run(1.0, Settings(1e-3)).probes["plate"]["x_m"][-1]
    expected = 0.5 if isinstance(motion, SineMotion) else 1.0
    # The trapezoidal rule is exact for straight velocities, of second order for the sine.
    assert end == pytest.approx(expected, abs=1e-6)


def test_bodies_come_and_go():
    late = cube("late", position_m=(5.0, 0.0, 0.5), birth_s=0.05, removal_s=0.08)
    result = on_ground(cube(), late).run(0.1, Settings(1e-2), Record(bodies_every=1))
    times = result.bodies["time_s"][result.bodies["body"] == 2]
    # At the end of each step it takes part in.
    np.testing.assert_allclose(times, [0.06, 0.07, 0.08], atol=1e-9)


def test_every_shape_stands_on_the_ground():
    hull = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.0, 0.3)]
    sizes = {
        "sphere": (0.2,),
        "box": ((0.2, 0.3, 0.4),),
        "cylinder": (0.2, 0.4),
        "capsule": (0.1, 0.3),
        "cone": (0.2, 0.4),
        "ellipsoid": ((0.1, 0.2, 0.15),),
        "ring": (0.1, 0.2, 0.1),
        "polyhedron": (hull,),
    }
    for kind, arguments in sizes.items():
        body = Body("body", [Contactor(SHAPES[kind](*arguments), "cube")], density_kg_per_m3=1000.0)
        world = on_ground(replace(body, position_m=(0.0, 0.0, 1.0))).world(Settings(1e-3))
        world.run(2.0)
        # An impact at 4.4 m/s leaves an overlap of up to half a step's way at each corner.
        assert -5e-3 <= world.position_m("body")[2] < 0.25, kind
        assert world.mass_kg("body") > 1.0
    assert set(SHAPES) == {*sizes, "half-space", "mesh", "height-field"}


def test_grounds_of_triangles():
    quad = [(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (5.0, 5.0, 0.0), (-5.0, 5.0, 0.0)]
    for shape, shift in [
        (Mesh(quad, [(0, 1, 2), (0, 2, 3)]), (0.0, 0.0, 0.0)),
        (HeightField((5.0, 5.0), [[0.0] * 3] * 3), (-5.0, -5.0, 0.0)),
    ]:
        ground = Body("ground", [Contactor(shape, "ground", shift)], fixed=True)
        ball = Body("ball", [Contactor(Sphere(0.2), "cube")], mass_kg=1.0, position_m=(1.0, 1.0, 0.5))
        world = Scene([ground, ball], [Law(("ground", "cube"))]).world(Settings(1e-3))
        world.run(1.0)
        assert world.position_m("ball")[2] == pytest.approx(0.2, abs=1e-3)


def test_a_pin_stays_in_its_ring():
    ring = Body("ring", [Contactor(Ring(0.077, 0.12, 0.05), "ring")], fixed=True)
    pin = Body("pin", [Contactor(Cylinder(0.06985, 0.8), "pin")], mass_kg=20.0, velocity_m_per_s=(1.0, 0.3, 0.0))
    scene = Scene([ring, pin], [Law(("ring", "pin"), 0.2, 0.3)], gravity_m_per_s2=(0.0, 0.0, 0.0))
    world = scene.world(Settings(1e-4))
    world.run(0.5)
    # 7.15 mm of play, and what an impact overlaps in half a step.
    assert np.hypot(*world.position_m("pin")[:2]) < 7.15e-3 + 1e-4


def tables_equal(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_a_run_that_is_cut_goes_on_to_the_same_bits():
    settings, record = Settings(1e-3), Record(bodies_every=1, contacts_every=1)
    whole = pile().run(0.4, settings, record)
    first = pile().world(settings)
    first.run(0.15)
    state = first.snapshot()
    other = pile().world(settings)
    other.restore(state)
    rest = other.run(0.25, record)
    assert other.time_s == pytest.approx(0.4)
    late = whole.bodies["time_s"] > 0.1501
    tables_equal(rest.bodies, {name: column[late] for name, column in whole.bodies.items()})
    late = whole.contacts["time_s"] > 0.1501
    tables_equal(rest.contacts, {name: column[late] for name, column in whole.contacts.items()})
    assert rest.account_j == whole.account_j
    assert rest.pairs == whole.pairs


def test_the_same_bits_at_any_number_of_threads():
    def one(_):
        return pile().run(0.3, Settings(1e-3), Record(bodies_every=10, contacts_every=10))

    alone = one(0)
    assert alone.contacts["time_s"].size > 100
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(one, range(4)):
            tables_equal(result.bodies, alone.bodies)
            tables_equal(result.contacts, alone.contacts)
            for name, table in alone.probes.items():
                tables_equal(result.probes[name], table)


def test_a_settled_state_serves_scenes_that_differ_in_what_is_thrown():
    lifted = cube(position_m=(0.0, 0.0, 0.52))
    thrown = cube("thrown", position_m=(-3.0, 0.0, 2.0), velocity_m_per_s=(4.0, 0.0, 0.0))
    scene = on_ground(lifted, thrown, restitution=0.3)
    settings = Settings(1e-3)
    world = scene.world(settings)
    state, how = world.settled()
    assert how.at_rest
    assert how.moved_m == pytest.approx(0.02, abs=1e-3)
    assert world.position_m("cube")[2] == 0.52, "settling leaves the world as it is"
    faster = replace(scene, bodies=[GROUND, lifted, replace(thrown, velocity_m_per_s=(8.0, 0.0, 0.0))])
    again = faster.world(settings)
    again.start_from(state)
    # It lands at 0.6 m/s and overlaps by at most half a step's way.
    assert again.position_m("cube")[2] == pytest.approx(0.5, abs=3e-4)
    np.testing.assert_array_equal(again.position_m("thrown"), (-3.0, 0.0, 2.0))
    np.testing.assert_array_equal(again.velocity_m_per_s("thrown"), (8.0, 0.0, 0.0))
    settled = faster.world(settings)
    assert settled.settle() == how
    assert settled.snapshot() == again.snapshot()


def test_a_settled_pile_stays_where_it_is():
    scene = replace(pile(), bodies=pile().bodies[:-1], probes=())
    world = scene.world(Settings(1e-3, tolerance=1e-9))
    assert world.settle(Settle(speed_m_per_s=1e-7)).at_rest
    before = world.core.poses()
    world.run(1.0)
    assert np.abs(world.core.poses() - before).max() < 1e-4


def test_velocities_can_be_set_and_are_booked():
    world = on_ground(cube()).world(Settings(1e-3))
    before = world.core.energy()["brought_in_j"]
    world.set_velocity("cube", (2.0, 0.0, 0.0))
    assert world.core.energy()["brought_in_j"] - before == pytest.approx(20.0)


def test_patterns():
    ring = polar(cube("stone", position_m=(2.0, 0.0, 0.5), velocity_m_per_s=(1.0, 0.0, 0.0)), 8, math.pi / 4)
    assert [round(math.hypot(*stone.position_m[:2]), 12) for stone in ring] == [2.0] * 8
    assert ring[2].rotation_rad == pytest.approx((0.0, 0.0, math.pi / 2))
    assert ring[2].velocity_m_per_s == pytest.approx((0.0, 1.0, 0.0), abs=1e-15)
    middle = grid(cube(), (3, 1, 1), (2.0, 0.0, 0.0), centred=True)
    assert [body.position_m[0] for body in middle] == [-2.0, 0.0, 2.0]
    assert [body.name for body in middle] == ["cube_1", "cube_2", "cube_3"]
    with pytest.raises(InputError, match="counts"):
        grid(cube(), (0, 1, 1), (1.0, 1.0, 1.0))


def test_an_arch_of_stones_turned_about_its_centre_stands():
    # Sixteen voussoirs of a semicircle, thickness a fifth of the radius: thick enough (Heyman: about 0.1075).
    count, radius, thick = 16, 1.0, 0.2
    angle = math.pi / count
    corners = [
        (r * math.cos(s * angle / 2), y, r * math.sin(s * angle / 2))
        for r in (radius - thick / 2, radius + thick / 2)
        for s in (-1, 1)
        for y in (-0.2, 0.2)
    ]
    stone = Body("stone", [Contactor(Polyhedron(corners), "cube")], density_kg_per_m3=2000.0)
    first = replace(stone, rotation_rad=(0.0, -angle / 2, 0.0))
    arch = polar(first, count, angle, axis=(0.0, -1.0, 0.0))
    world = on_ground(*arch, friction=0.7).world(Settings(1e-3, overlap_tolerance_m=1e-6))
    world.run(1.0)
    top = world.core.poses()[count // 2]
    assert np.abs(top[:3]).max() < 1e-3


def on_sheet(triangles):
    """A cube on a ground of two triangles."""
    vertices = ((-2.0, -2.0, 0.0), (2.0, -2.0, 0.0), (2.0, 2.0, 0.0), (-2.0, 2.0, 0.0))
    ground = Body("ground", [Contactor(Mesh(vertices, triangles), "ground")], fixed=True)
    return Scene([ground, cube()], [Law(("ground", "cube"), friction=0.5)])


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (Scene([]), "there are none"),
        (on_ground(cube(), cube()), "two bodies are called cube"),
        (on_ground(cube(), cube("other", position_m=(0.5, 0.0, 0.5))), "bodies cube and other overlap by 5e-1 m"),
        (on_ground(cube(mass_kg=0.0)), "body cube: mass is 0 kg"),
        (on_ground(cube(mass_kg=None)), "body cube gives none of mass_kg, density_kg_per_m3, motion, fixed"),
        (on_ground(cube(fixed=True)), "body cube gives mass_kg and fixed of"),
        (Scene([GROUND, cube()], []), "body ground has a half-space in group ground, which no law names"),
        (Scene([GROUND, cube()], [Law(("ground", "cub"))]), "which no law names"),
        (Scene([GROUND, cube()], [Law(("ground", "cube")), Law(("sky", "cube"))]), "no contactor is in group sky"),
        (Scene([GROUND, cube()], [Law(("ground", "cube")), Law(("cube", "ground"))]), "two laws are called"),
        (Scene([GROUND, cube()], [Law(("ground", "cube")), Law(("cube", "cube"))]), "never meet"),
        (on_ground(cube(), friction=-0.1), "friction = -0.1"),
        (on_ground(cube(), restitution=1.5), "restitution = 1.5"),
        (
            on_ground(cube(), probes=[PointProbe("p", "cub")]),
            "names body cub, which is not there; did you mean `cube`",
        ),
        (on_ground(cube(), probes=[PairProbe("p", ("cube", "cube"))]), "no law between groups cube and cube"),
        (on_ground(cube(), loads=[Load("ground", (1.0, 0.0, 0.0))]), "not dynamic"),
        (on_ground(cube(position_m=(math.nan, 0.0, 0.5))), "not finite"),
        (on_ground(replace(cube(), contactors=[Contactor(Sphere(-1.0), "cube")])), "body cube: sphere: radius_m = -1"),
        (on_ground(cube(inertia_kg_m2=[(9, 0, 0), (0, 1, 0), (0, 0, 1)])), "principal moments"),
        (on_ground(cube(inertia_kg_m2=[(1, 0.5, 0), (0, 1, 0), (0, 0, 1)])), "it must be symmetric"),
        (on_ground(cube(), friction=1e8), "law between ground and cube: friction = 1e+08, must be from 0 to 10000"),
        (on_sheet(((0, 2, 1), (0, 3, 2))), "body cube lies behind the mesh of body ground"),
        (on_sheet(((0, 1, 2), (0, 3, 2))), "triangles 0 and 1 face opposite sides"),
    ],
)
def test_a_scene_that_cannot_be_is_refused(scene, words):
    with pytest.raises(InputError) as fault:
        scene.world(Settings(1e-3))
    assert words in str(fault.value)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("dt_s", 0.0, "dt_s = 0"),
        ("theta", 0.3, "theta = 0.3"),
        ("solver", "newtonn", "newtonn"),
        ("tolerance", -1.0, "tolerance = -1"),
        ("tolerance", 1e300, "tolerance = 1e300, must be > 0 and at most 0.1"),
        ("max_iterations", -1, "max_iterations"),
    ],
)
def test_settings_are_checked(key, value, words):
    with pytest.raises(InputError, match=words):
        on_ground(cube()).world(replace(Settings(1e-3), **{key: value}))


def stack(heaviest_kg):
    """Two cubes of a metre, the heavy one above one of a kilogram."""
    bodies = [cube("light", mass_kg=1.0), cube("heavy", mass_kg=heaviest_kg, position_m=(0.0, 0.0, 1.5))]
    return Scene([GROUND, *bodies], [Law(("ground", "cube"), friction=0.5), Law(("cube", "cube"), friction=0.5)])


@pytest.mark.parametrize(("heaviest_kg", "words"), [(1e12, "sank into each other"), (1e11, "contacts made energy")])
def test_a_run_that_sinks_or_gains_energy_says_so(heaviest_kg, words):
    result = stack(heaviest_kg).run(1.0, Settings(1e-3, max_factorisations=50))
    assert any(words in fault for fault in result.faults()), result.faults()
    (note,) = result.notes()
    assert note.startswith(f"{result.unmet_steps} of 1000 steps missed the tolerance of the contact solver")


@pytest.mark.parametrize("heaviest_kg", [1.0, 1e6])
def test_a_run_that_stands_has_no_faults(heaviest_kg):
    result = stack(heaviest_kg).run(0.2, Settings(1e-3))
    assert result.faults() == result.notes() == []


def test_damaged_and_foreign_states_are_refused():
    world = on_ground(cube()).world(Settings(1e-3))
    state = world.snapshot()
    for bad in (b"", state[:-8], b"x" + state[1:]):
        with pytest.raises(InputError, match="snapshot"):
            world.restore(bad)
    with pytest.raises(InputError, match="bodies"):
        pile().world(Settings(1e-3)).restore(state)
    with pytest.raises(InputError, match="other contactors"):
        on_ground(replace(cube(), contactors=[Contactor(Sphere(0.5), "cube")])).world(Settings(1e-3)).restore(state)
    with pytest.raises(InputError, match="not finite"):
        world.restore(state.replace(struct.pack("<d", 0.5), struct.pack("<d", math.nan)))
    with pytest.raises(InputError, match="duration_s"):
        world.run(math.inf)


@pytest.mark.parametrize("work", [lambda w: w.run(1e6), lambda w: w.settled(Settle(0.0, max_steps=10**9))])
def test_ctrl_c_is_answered(work):
    # Nothing comes to rest below a speed of zero, and a million seconds are long.
    world = on_ground(cube()).world(Settings(1e-3))
    timer = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work(world)
    timer.join()
    assert world.time_s < 1e5
