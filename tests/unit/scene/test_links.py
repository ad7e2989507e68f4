"""Joints and elements from Python and from study files: docs/joints.md runs, mechanisms move, faults are named."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.models.model import configure
from percuss.models.scene.link_tables import ACTUATOR, BUSHING, JOINT, SPRING
from percuss.scene import (
    JOINT_KINDS,
    Actuator,
    Body,
    Bushing,
    History,
    Imposed,
    Joint,
    JointProbe,
    Limit,
    PointProbe,
    Scene,
    Settings,
    SineMotion,
    Spring,
)
from percuss.scene.rotation import facing, turn
from percuss.settings import SettingsError
from percuss.study.load import check_study, load_study

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "joints.md").read_text()
(STUDY,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
(PROGRAM,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SMOOTH = Settings(dt_s=1e-3, stepper="smooth")
ROUND = [(0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]


def test_the_study_loads_and_runs(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    assert check_study(tmp_path) == []
    study = load_study(tmp_path)
    (done,) = study.model().run([study.point("one", {})], [0])
    curves = done.curves
    # The crank's formula, and the piston where the crank and the rod put it.
    t = curves["t"]
    angle = 10 * (t - np.sin(2 * np.pi * t) / (2 * np.pi))
    assert np.abs(curves["drive_angle"] - angle).max() < 1e-11
    piston = 0.1 * np.cos(angle) + np.sqrt(0.35**2 - (0.1 * np.sin(angle)) ** 2)
    assert np.abs(curves["piston_x"] - piston).max() < 1e-9
    assert np.abs(curves["closing_error"]).max() < 1e-3 * curves["kinetic_energy"].max()
    assert done.values["worst_drift"] < 1e-12


def test_the_program_runs():
    exec(compile(PROGRAM, "docs/joints.md", "exec"), {})


def test_tables_are_complete():
    known = set(re.findall(r"`([a-z_-]+)`", TEXT)) | {"name", "about"}
    for schema in (JOINT, BUSHING, SPRING, ACTUATOR):
        assert schema.keys() <= known, schema.keys() - known
    assert JOINT_KINDS.keys() <= known
    assert {name for names in JOINT_KINDS.values() for name in names} <= known


def five_bodies(**changes):
    """The system of tests/golden/multibody as a table of [model]."""
    golden = ROOT / "tests" / "golden" / "multibody"
    p = json.loads((golden / "fivebody_parameters.json").read_text()) | changes
    a, b, c = p["box5"]
    moments = [p["m5"] / 12 * x for x in (b * b + c * c, a * a + c * c, a * a + b * b)]
    inertia = p.get("inertia5", [[moments[i] * (i == j) for j in range(3)] for i in range(3)])
    bodies, joints, bushings = [], [], []
    for number, x, lift in ((1, -p["x_leg"], "1"), (2, p["x_leg"], "2")):
        for name, m, h, z in (("foot", p["m12"], p["h12"], p["z1"]), ("leg", p["m34"], p["h34"], p["z3"])):
            across = m * (3 * p["r"] ** 2 + h**2) / 12
            tensor = [[across, 0, 0], [0, across, 0], [0, 0, m * p["r"] ** 2 / 2]]
            bodies.append({"name": f"{name}_{number}", "mass": m, "centre": [x, 0, z], "inertia": tensor})
        start, period = p["t0" + lift], p["T" + lift]
        pulse = (
            f"{p['A' + lift]} * sin(pi * (t - {start}) / {period})^4 * step(t - {start}) * step({start + period} - t)"
        )
        place = {"name": f"lift_{number}", "bodies": [f"foot_{number}"], "point": [x, 0, 0]}
        if number == 1:
            joints.append(place | {"kind": "prismatic", "imposed": [{"position": pulse}]})
        else:
            imposed = [{"coordinate": "slide_x", "position": pulse}, {"coordinate": "angle", "position": 0}]
            plane = {"kind": "planar", "axis": [0, 1, 0], "reference": [0, 0, 1]}
            joints.append(place | plane | {"imposed": imposed})
        hinge = {"kind": "revolute", "bodies": [f"leg_{number}", "table"], "axis": [0, 1, 0]}
        joints.append({"name": f"hinge_{number}", "point": [x, 0, p["z_rev"]]} | hinge)
        bushings.append(
            {
                "name": f"mount_{number}",
                "bodies": [f"foot_{number}", f"leg_{number}"],
                "point": [x, 0, p["z_spring"]],
                "stiffness": p["kt"],
                "rotational_stiffness": p["kr"],
                "damping": p["ct"],
                "rotational_damping": p["cr"],
            }
        )
    bodies.append({"name": "table", "mass": p["m5"], "centre": p["com5"], "inertia": inertia})
    return {
        "duration": 0.03,
        "step": 1e-4,
        "stepper": "smooth",
        "gravity": [0, 0, -p["g"]],
        "bodies": bodies,
        "joints": joints,
        "bushings": bushings,
        "probes": [{"name": "seen", "body": "table", "point": p["pobs"]}],
    }


@pytest.mark.parametrize("case", ["nominal", "perturbed"])
def test_five_bodies_from_a_study_file(case):
    golden = ROOT / "tests" / "golden" / "multibody"
    changes = json.loads((golden / "fivebody_perturbed.json").read_text()) if case == "perturbed" else {}
    (done,) = configure("scene", five_bodies(**changes), {}).run([{}], [0])
    reference = np.genfromtxt(golden / f"fivebody_{case}.csv", delimiter=",", skip_header=1)
    for column, quantity in enumerate(("ax", "ay", "az", "alphax", "alphay", "alphaz"), 1):
        error = np.abs(done.curves[f"seen_{quantity}"] - reference[:, column]).max()
        assert error < 5e-4, (quantity, error)


def test_masses_centres_and_inertias_are_inputs():
    table = five_bodies()
    table["bodies"][-1] |= {
        "mass": "$mass",
        "centre": ["$x", 0, 0.55],
        "inertia": [["$ixx", 0, 0], [0, "$iyy", 0], [0, 0, 1.9333333333333333]],
    }
    table["bushings"][0]["stiffness"] = ["$k", "$k", "1 MN/m"]
    table["joints"][0]["imposed"] = [{"position": "$lift * sin(pi * t / 0.012)^4 * step(0.012 - t)"}]
    model = configure("scene", table, {})
    units = {name: item.unit for name, item in model.inputs.items()}
    assert units == {"mass": "kg", "x": "m", "ixx": "kg*m^2", "iyy": "kg*m^2", "k": "N/m", "lift": "1"}
    point = {"mass": 20.0, "x": 0.0, "ixx": 0.2833333333333333, "iyy": 1.6833333333333333, "k": 4e5, "lift": 0.004}
    named, plain = model.run([point], [0])[0], configure("scene", five_bodies(), {}).run([{}], [0])[0]
    assert np.abs(named.curves["seen_az"] - plain.curves["seen_az"]).max() < 1e-9
    (moved,) = model.run([point | {"x": 0.1}], [0])
    assert np.abs(moved.curves["seen_az"] - plain.curves["seen_az"]).max() > 1.0
    (failed,) = model.run([point | {"ixx": -1.0}], [0])
    assert "principal moments" in failed.reason


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("joints", 0, "kind"), "hinge", "hinge"),
        (("joints", 0, "bodies"), ["crnk"], "did you mean"),
        (("joints", 0, "bodies"), [], "names 0 bodies"),
        (("joints", 0, "axis"), [0, 0, 0], "has no direction"),
        (("joints", 0, "imposed", 0), {"position": "2 * x"}, "expected t, pi"),
        (("joints", 0, "imposed", 0), {"coordinate": "slide", "position": 0}, "no coordinate slide"),
        (("joints", 0, "imposed", 0), {}, "0 of position and velocity"),
        (("joints", 0, "points"), [[0, 0, 0], [0, 0, 0]], "gives both of point and points"),
        (("joints", 3, "limits", 0, "low"), "-20 deg", "deg"),
        (("joints", 1, "friction", 0, "bound"), "3 N", "N*m"),
        (("springs", 0, "stiffness"), "2 N*m/rad", "N/m"),
        (("actuators", 0, "joint"), "giude", "did you mean"),
        (("actuators", 0, "efforts"), None, "neither a formula nor times"),
        (("stepper",), "smoth", "did you mean"),
        (("probes", 1, "joint"), "mian", "did you mean"),
    ],
)
def test_faults_are_named(path, value, words):
    place = table = tomllib.loads(STUDY)["model"]
    del table["kind"]
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(SettingsError) as fault:
        configure("scene", table, {})
    assert words in str(fault.value)


def test_signals_of_both_kinds_drive_alike():
    times = np.linspace(0.0, 1.0, 201)
    formula = "0.1 * (1 - cos(2 * pi * t))"
    table = History(times, 0.1 * (1 - np.cos(2 * np.pi * times)))
    places = []
    for signal in (formula, table):
        guide = Joint("guide", ["car"], kind="prismatic", point_m=(0, 0, 0), imposed=[Imposed(position=signal)])
        scene = Scene(
            [Body("car", mass_kg=1.0, inertia_kg_m2=ROUND)], joints=[guide], probes=[JointProbe("g", "guide")]
        )
        places.append(scene.run(1.0, SMOOTH).probes["g"])
    assert np.abs(places[0]["slide_m"] - places[1]["slide_m"]).max() < 1e-7
    # It carries the weight of the car and what its acceleration takes.
    force = 9.80665 + 0.4 * np.pi**2 * np.cos(2 * np.pi * times[::200])
    assert np.abs(places[0]["fz_n"][::1000] - force).max() < 1e-9


def test_springs_on_joints_about_axes_and_bushings():
    wheel = Body("wheel", mass_kg=1.0, inertia_kg_m2=ROUND, angular_velocity_rad_per_s=(0, 0, 1))
    pin = Joint("pin", ["wheel"], kind="revolute", point_m=(0, 0, 0))
    springs = [
        Spring("on", joint="pin", stiffness=2.5),
        Spring("about", ["wheel"], about=True, point_m=(0, 0, 0), stiffness=2.5),
        Bushing("all", ["wheel"], point_m=(0, 0, 0), rotational_stiffness_n_m_per_rad=(0, 0, 2.5)),
    ]
    for spring in springs:
        scene = Scene([wheel], joints=[pin], elements=[spring], probes=[JointProbe("pin", "pin")])
        angle = scene.run(1.0, SMOOTH).probes["pin"]["angle_rad"][-1]
        assert abs(angle - math.sin(5.0) / 5.0) < 1e-9
    motor = Actuator("motor", joint="pin", effort="0.3")
    scene = Scene([wheel], joints=[pin], elements=[motor], probes=[JointProbe("pin", "pin")])
    assert abs(scene.run(1.0, SMOOTH).probes["pin"]["angle_rad"][-1] - 2.5) < 1e-9


def test_a_moved_body_carries_what_is_joined_to_it():
    base = Body("base", motion=SineMotion((0.02, 0, 0), 3.0))
    load = Body("load", mass_kg=2.0, inertia_kg_m2=ROUND, position_m=(0, 0, 1))
    weld = Joint("weld", ["base", "load"], kind="fixed", point_m=(0, 0, 0))
    scene = Scene([base, load], joints=[weld], probes=[PointProbe("load", "load"), JointProbe("weld", "weld")])
    result = scene.run(1.1, SMOOTH)
    rate = 6 * np.pi
    seen, t = result.probes["load"], result.probes["load"]["time_s"]
    assert np.abs(seen["x_m"] - 0.02 * np.sin(rate * t)).max() < 1e-11
    assert np.abs(seen["ax_m_per_s2"] + 0.02 * rate**2 * np.sin(rate * t)).max() < 1e-10
    assert np.abs(result.probes["weld"]["fz_n"] - 2 * 9.80665).max() < 1e-10
    # What the base gives is what the load's speed has lost since the start.
    work = (0.02 * rate) ** 2 * (np.cos(rate * 1.1) ** 2 - 1)
    assert abs(result.account_j["motion_work_j"] - work) < 1e-9


def test_hard_limits_need_the_other_stepper():
    limits = [Limit(low=-0.1, high=0.1)]
    pin = Joint("pin", ["wheel"], kind="revolute", point_m=(0, 0, 0), limits=limits)
    scene = Scene([Body("wheel", mass_kg=1.0, inertia_kg_m2=ROUND)], joints=[pin])
    with pytest.raises(InputError, match="give the limit a stiffness or use the nonsmooth stepper"):
        scene.world(SMOOTH)


def test_frames_face_as_asked():
    rng = np.random.default_rng(3)
    axes = [*rng.normal(size=(20, 3)), (0.0, 0.0, -2.0), (0.0, 0.0, 1.0)]
    for axis in axes:
        reference = rng.normal(size=3)
        rotation = facing(tuple(axis), tuple(reference), "axis")
        z, x = (np.array(turn(rotation, unit)) for unit in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
        assert np.allclose(z, np.array(axis) / np.linalg.norm(axis), atol=1e-14)
        assert abs(np.dot(np.cross(x, reference), z)) < 1e-12 * np.linalg.norm(reference)
        assert np.dot(x, reference) > 0
    with pytest.raises(InputError, match="no reference"):
        facing((0.0, 0.0, 1.0), (0.0, 0.0, 3.0), "axis")


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 2, 3)])
@pytest.mark.parametrize("settings", [SMOOTH, Settings(1e-3)], ids=["smooth", "nonsmooth"])
def test_a_bushing_turned_by_exactly_half_a_turn_pulls_back(axis, settings):
    half = tuple(math.pi * np.array(axis) / np.linalg.norm(axis))
    bodies = [Body("base", fixed=True), Body("wheel", mass_kg=1.0, inertia_kg_m2=ROUND, rotation_rad=half)]
    mount = Bushing(
        "mount",
        ["base", "wheel"],
        points_m=[(0, 0, 0), (0, 0, 0)],
        stiffness_n_per_m=(1, 1, 1),
        rotational_stiffness_n_m_per_rad=(1, 1, 1),
    )
    seen = Scene(bodies, elements=[mount], gravity_m_per_s2=(0, 0, 0), probes=[PointProbe("wheel", "wheel")])
    columns = seen.run(0.1, settings).probes["wheel"]
    assert all(np.isfinite(column).all() for column in columns.values())
    assert np.linalg.norm([columns[f"w{k}_rad_per_s"][-1] for k in "xyz"]) > 1


@pytest.mark.parametrize("settings", [SMOOTH, Settings(1e-3)], ids=["smooth", "nonsmooth"])
def test_reactions_go_on_after_a_state_is_restored(settings):
    def pendulum():
        bodies = [Body("base", fixed=True), Body("load", mass_kg=2.0, inertia_kg_m2=ROUND, position_m=(0.3, 0, 0))]
        pin = Joint("pin", ["base", "load"], kind="revolute", point_m=(0, 0, 0), axis=(0, 1, 0))
        return Scene(bodies, joints=[pin], probes=[JointProbe("pin", "pin")])

    whole = pendulum().run(0.4, settings).probes["pin"]
    first, second = pendulum().world(settings), pendulum().world(settings)
    first.run(0.15)
    second.restore(first.snapshot())
    rest = second.run(0.25).probes["pin"]
    for name, column in rest.items():
        np.testing.assert_array_equal(column, whole[name][-len(column) :], err_msg=name)
    assert np.abs(rest["fz_n"]).min() > 1
