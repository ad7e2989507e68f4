"""The model `scene`: inputs from `$names`, expressions, quantities, settled states, and every fault in one sentence."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.models.model import Done, Failed, Settles, configure
from percuss.models.scene.expressions import evaluate, inputs_in
from percuss.models.scene.quantities import quantities_of
from percuss.models.scene.tables import BODY, CONTACTOR, LAW, LOAD, PROBE, SHAPES
from percuss.scene import SHAPES as SHAPE_CLASSES
from percuss.scene import Body, Contactor, Law, Load, Scene, Sphere
from percuss.settings import SettingsError
from percuss.study.load import load_study

G = 9.80665
SLIDING = {
    "duration": "1.2 s",
    "step": "1 ms",
    "sampling": "10 ms",
    "tolerance": 1e-9,
    "bodies": [
        {"name": "ground", "fixed": True, "contactors": [{"shape": "half-space", "group": "ground"}]},
        {
            "name": "block",
            "mass": "10 kg",
            "position": [0, 0, "10 cm + $height"],
            "velocity": ["$speed", 0, "-1 * $fall"],
            "contactors": [{"shape": "box", "size": ["0.4 m", 0.4, "20 cm"], "group": "block"}],
        },
    ],
    "laws": [{"groups": ["ground", "block"], "friction": "$mu", "restitution": "$e"}],
    "probes": [
        {"name": "block", "body": "block"},
        {"name": "sole", "between": ["ground", "block"]},
        {"name": "weight", "contacts_of": "block"},
    ],
}
POINT = {"height": 0.0, "speed": 3.0, "fall": 0.0, "mu": 0.3, "e": 0.0}


def changed(**paths):
    """The sliding block with values put at paths such as `bodies__1__mass`; None takes a key away."""
    table = copy.deepcopy(SLIDING)
    for path, value in paths.items():
        *way, last = (int(key) if key.isdigit() else key for key in path.split("__"))
        place = table
        for key in way:
            place = place[key]
        if value is None:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return table


def test_names_become_inputs_with_the_unit_and_bounds_of_their_place():
    inputs = configure("scene", SLIDING, {}).inputs
    assert {name: i.unit for name, i in inputs.items()} == {
        "height": "m",
        "speed": "m/s",
        "fall": "m/s",
        "mu": "1",
        "e": "1",
    }
    assert (inputs["mu"].low, inputs["e"].high) == (0.0, 1.0)
    assert inputs["height"].low == -np.inf, "a sum does not bound its terms"
    assert inputs["mu"].doc == "of laws[0].friction"


def test_a_run_gives_curves_and_numbers():
    model = configure("scene", SLIDING, {})
    (done,) = model.run([POINT], [0])
    assert isinstance(done, Done)
    assert set(done.values) | set(done.curves) == set(model.quantities)
    curves = done.curves
    assert len(curves["t"]) == 121
    assert curves["block_ux"][-1] == pytest.approx(9 / (0.6 * G), abs=1e-4)
    assert curves["block_turn"].max() < 1e-6
    assert curves["sole_normal_force"][5] == pytest.approx(10 * G, rel=1e-6)
    assert curves["weight_fz"][5] == pytest.approx(10 * G, rel=1e-6)
    assert curves["weight_fx"][5] == pytest.approx(-3 * G, rel=1e-6)
    assert done.values["friction_ground_block"] == pytest.approx(45, rel=1e-6)
    assert np.abs(curves["closing_error"]).max() < 1e-9
    assert done.values["unmet_steps"] == 0
    for name in done.curves:
        assert model.quantities[name].axis == ("t" if name != "t" else None)


@pytest.mark.parametrize("sampling", ["1 ms", "10 ms", "100 ms"])
def test_impulses_are_what_momentum_asks_for_at_any_sampling(sampling):
    model = configure("scene", changed(sampling=sampling), {})
    (done,) = model.run([POINT | {"height": 0.2, "e": 0.4}], [0])
    curves = done.curves
    speed = np.hypot(curves["block_vx"], curves["block_vy"])
    np.testing.assert_allclose(
        curves["weight_impulse_z"], 10 * (curves["block_vz"] - curves["block_vz"][0] + G * curves["t"]), atol=1e-9
    )
    np.testing.assert_allclose(curves["weight_impulse_x"], 10 * (speed - speed[0]), atol=1e-6)
    np.testing.assert_allclose(curves["sole_normal_impulse"], curves["weight_impulse_z"], atol=1e-9)
    assert curves["sole_friction_impulse"][-1] > 30, "a sum of magnitudes: corners push against each other, too"


def test_only_forces_and_accelerations_where_bodies_hit_have_no_limit():
    quantities = configure("scene", SLIDING, {}).quantities
    without = {name for name, quantity in quantities.items() if quantity.no_limit}
    ends = ["f", "t"]
    assert without == {
        *(f"weight_{end}{axis}" for end in ends for axis in "xyz"),
        *(f"block_{end}{axis}" for end in ("a", "alpha") for axis in "xyz"),
        "sole_normal_force",
        "sole_friction_force",
    }
    assert {name for name, quantity in quantities.items() if quantity.means} == {
        name for name in without if not name.startswith("block_")
    }


def test_a_finer_run_has_as_many_times_the_steps_and_samples():
    model = configure("scene", SLIDING, {})
    finer, point = model.refined(POINT, 4, 10.0)
    before, after = model.numerics(POINT), finer.numerics(point)
    assert (after.step, after.tolerance) == (before.step / 4, before.tolerance / 10)
    (coarse,), (fine,) = model.run([POINT], [0]), finer.run([point], [0])
    assert fine.values["steps"] == 4 * coarse.values["steps"]
    np.testing.assert_allclose(fine.curves["t"][::4], coarse.curves["t"], rtol=1e-12)
    assert finer.refined(point, 2, 1.0)[0].numerics(point).step == before.step / 8


def test_turning_is_measured_from_the_start():
    table = changed(
        bodies__1__velocity=None,
        bodies__1__angular_velocity=[0, 0, "0.5 rad/s"],
        bodies__1__rotation=[0, 0, "10 deg"],
        laws__0__friction=0,
        laws__0__restitution=0,
    )
    (done,) = configure("scene", table, {}).run([{"height": 0.0}], [0])
    np.testing.assert_allclose(done.curves["block_turn"], 0.5 * done.curves["t"], atol=1e-9)


def test_an_input_may_stand_anywhere():
    table = changed(step="$step", sampling="$step * 10", bodies__1__mass="$mass", gravity=[0, 0, "-1 * $g"])
    model = configure("scene", table, {})
    assert {name: model.inputs[name].unit for name in ("step", "mass", "g")} == {
        "step": "s",
        "mass": "kg",
        "g": "m/s^2",
    }
    (one,) = model.run([POINT | {"step": 2e-3, "mass": 7.0, "g": 1.0}], [0])
    assert one.curves["weight_fz"][-1] == pytest.approx(7.0, rel=1e-6)
    assert len(one.curves["t"]) == 61


def test_values_that_make_no_scene_fail_with_a_reason():
    model = configure("scene", SLIDING, {})
    reasons = [
        (POINT | {"height": -0.05}, "bodies ground and block overlap by 5e-2 m"),
        (POINT | {"mu": -0.1}, "`laws[0].friction`: $mu = -0.1 is outside [0, inf]"),
        (POINT | {"e": 1.2}, "`laws[0].restitution`: $e = 1.2 is outside [0, 1]"),
    ]
    for (_, words), outcome in zip(reasons, model.run([point for point, _ in reasons], [0] * 3), strict=True):
        assert isinstance(outcome, Failed)
        assert words in outcome.reason
    unsampled = configure("scene", changed(sampling="2.5 ms"), {}).run([POINT], [0])
    assert "must be a whole number of steps" in unsampled[0].reason


def test_a_study_file_whose_every_run_would_fail_has_a_fault(tmp_path):
    """It had none, and every run failed. Studies that a ledger holds are read all the same."""
    text = (Path(__file__).parents[3] / "studies" / "sliding-block" / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace('step = "1 ms"', 'step = "200 ms"'))
    with pytest.raises(InputError, match=r"model.sampling: 0.01 s must be a whole number of steps of 0.2 s"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        (changed(bodies=[]), "bodies", "there are none"),
        (changed(bodies__1__mas=3), "bodies", "`bodies[1].mas`: unknown setting; did you mean `mass`?"),
        (changed(bodies__1__name=None), "bodies", "`bodies[1].name`: missing"),
        (changed(bodies__1__name="a b"), "bodies", "letters, digits"),
        (changed(bodies__1__mass="10 m"), "bodies", "`bodies[1].mass`: `10 m` is in m"),
        (changed(bodies__1__mass="-1 kg"), "bodies", "outside [0, inf] kg"),
        (changed(bodies__1__mass="0 kg", bodies__1__position=[0, 0, 0.1]), "bodies", "body block: mass is 0 kg"),
        (changed(bodies__1__mass=None), "bodies", "must give exactly one"),
        (changed(bodies__1__centre=[0.1, 0, 0]), "bodies", "body block gives centre_m without inertia_kg_m2"),
        (changed(bodies__0__velocity=[1, 0, 0]), "bodies", "gives fixed and velocity_m_per_s: only a body that forces"),
        (changed(bodies__1__position=[0, 0]), "bodies", "`bodies[1].position`: [0, 0] is not a list of 3 numbers"),
        (changed(bodies__1__position=[0, 0, "0.05 m"]), "bodies", "overlap by"),
        (changed(bodies__1="block"), "bodies", "`bodies[1]`: 'block' is no table"),
        (
            changed(bodies__1__contactors__0__shape="cube"),
            "bodies",
            "contactors[0].shape`: 'cube' is not known",
        ),
        (changed(bodies__1__contactors__0__shape=None), "bodies", "shape`: missing"),
        (changed(bodies__1__contactors__0__radius=1), "bodies", "`bodies[1].contactors[0].radius`: unknown setting"),
        (changed(bodies__1__contactors__0__size=None), "bodies", "`bodies[1].contactors[0].size`: missing"),
        (changed(bodies__1__contactors__0__group="blok"), "laws", "in group blok, which no law names"),
        (changed(bodies__1__motion={"kind": "circle"}), "bodies", "`bodies[1].motion.kind`: 'circle' is not known"),
        (changed(bodies__1__repeat={"pattern": "grid", "counts": [9999] * 3, "pitch": [1, 1, 1]}), "bodies", "at most"),
        (changed(bodies__1__repeat={"pattern": "grid", "counts": [2, 0, 1], "pitch": [1, 1, 1]}), "bodies", "counts"),
        (changed(bodies__1__repeat={"pattern": "spiral"}), "bodies", "'spiral' is not known"),
        (changed(laws=[]), "laws", "which no law names"),
        (changed(laws__0__groups=["ground"]), "laws", "is not a list of two groups"),
        (changed(laws__0__impact="netwon"), "laws", "did you mean `newton`?"),
        (changed(laws__0__restitution="150 %"), "laws", "outside [0, 1]"),
        (changed(laws__0__friction=1e8), "laws", "between ground and block: friction = 1e+08, must be from 0 to 10000"),
        (changed(tolerance=1e300), "tolerance", "outside [0, 0.1]"),
        (
            changed(
                bodies__1__inertia=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]],
                bodies__1__position=[0, 0, 0.1],
            ),
            "bodies",
            "body block: inertia has 0.5 in row 1, column 2 and 0 across the diagonal",
        ),
        (
            changed(
                bodies__1__position=[0, 0, 0.1],
                bodies__0__contactors__0={
                    "shape": "mesh",
                    "group": "ground",
                    "vertices": [[-9, -9, 0], [9, -9, 0], [0, 9, 0]],
                    "triangles": [[0, 2, 1]],
                },
            ),
            "bodies",
            "body block lies behind the mesh of body ground",
        ),
        (changed(laws__1={"groups": ["ground", "rock"]}), "laws", "no contactor is in group rock"),
        (changed(laws__1={"groups": ["block", "block"]}), "laws", "never meet"),
        (changed(probes__0__body="blok"), "probes", "did you mean `block`?"),
        (changed(probes__0__between=["a", "b"]), "probes", "measures body and between"),
        (changed(probes__1__name="block"), "probes", "two probes are called block"),
        (changed(loads=[{"body": "blok", "force": [1, 0, 0]}]), "loads", "a load names body blok"),
        (changed(laws__0__friction="$mu + $speed"), "laws", "`$speed` is in 1 here and in m/s elsewhere"),
        (changed(laws__0__friction="$mu+1"), "laws", "sums with spaces"),
        (changed(laws__0__friction="$mu / 0"), "laws", "divides by zero"),
        (changed(duration=None), "duration", "missing"),
        (changed(solver="nsgss"), "solver", "did you mean `nsgs`?"),
        (changed(settle={"damp": 1}), "settle", "`settle.damp`: unknown"),
    ],
)
def test_faults_name_key_and_value(table, key, words):
    with pytest.raises(SettingsError) as fault:
        configure("scene", table, {})
    assert any(k == key and words in message for k, message in fault.value.faults), fault.value.faults


def heavy_on_light(heavy_kg, tolerance=1e-6):
    table = changed(
        duration="1 s",
        tolerance=tolerance,
        max_factorisations=50,
        bodies__1__position=[0, 0, 0.1],
        bodies__1__velocity=[0, 0, 0],
        bodies__1__mass="1 kg",
        laws__0__friction=0.5,
        laws__0__restitution=0,
        laws__1={"groups": ["block", "block"], "friction": 0.5},
    )
    table["bodies"].append(table["bodies"][1] | {"name": "heavy", "mass": heavy_kg, "position": [0, 0, 0.3]})
    return configure("scene", table, {})


def test_a_run_that_sinks_is_a_failed_run_and_unmet_steps_are_noted():
    (sunk,) = heavy_on_light(1e12).run([{}], [0])
    assert isinstance(sunk, Failed)
    assert "sank into each other" in sunk.reason
    (stands,) = heavy_on_light(1e3).run([{}], [0])
    assert isinstance(stands, Done)
    assert not stands.printed
    (strained,) = heavy_on_light(1e8).run([{}], [0])
    assert isinstance(strained, Done)
    assert "steps missed the tolerance of the contact solver" in strained.printed["notes"]


def test_a_tolerance_may_be_an_input():
    model = configure("scene", changed(tolerance="$tolerance"), {})
    assert model.inputs["tolerance"].high == 0.1
    (loose,) = model.run([POINT | {"tolerance": 0.5}], [0])
    assert "$tolerance = 0.5 is outside [0, 0.1]" in loose.reason


def test_several_faults_at_once():
    with pytest.raises(SettingsError) as fault:
        configure("scene", changed(bodies__1__mass="10 m", laws__0__friction="x"), {})
    assert len(fault.value.faults) == 2


def test_quantities_have_names_of_their_own():
    bodies = [Body(name, [Contactor(Sphere(1.0), name)], mass_kg=1.0) for name in ("a", "b_c", "a_b", "c")]
    with pytest.raises(InputError, match="two quantities are called impact_a_b_c"):
        quantities_of(Scene(bodies, [Law(("a", "b_c")), Law(("a_b", "c"))]))


def test_settled_states_are_shared_by_what_they_depend_on():
    model = configure("scene", changed(settle={"damping": "2 %"}), {})
    assert isinstance(model, Settles)
    key = model.settling_key(POINT)
    assert model.settling_key(POINT | {"e": 0.5}) == key
    assert model.settling_key(POINT | {"speed": 1.0}) == key
    assert model.settling_key(POINT | {"mu": 0.4}) != key
    assert model.settling_key(POINT | {"height": 0.01}) != key
    assert model.settling_key(POINT | {"speed": 0.0}) != key, "a block that is not thrown settles"
    assert configure("scene", SLIDING, {}).settling_key(POINT) is None
    assert model.settling_key(POINT | {"mu": -1.0}) is None


def test_a_run_is_the_same_from_a_state_of_rest_that_was_kept():
    table = changed(bodies__1__velocity=None, settle={})
    model = configure("scene", table, {})
    point = {"height": 1e-3, "mu": 0.3, "e": 0.2}
    state, facts = model.settled(point)
    assert facts["moved_m"] == pytest.approx(1e-3, rel=0.1)
    (here,), (kept,) = model.run([point], [0]), model.run_from([point], [0], [state])
    assert here.values == kept.values
    for name in here.curves:
        np.testing.assert_array_equal(here.curves[name], kept.curves[name])


def test_a_scene_that_never_rests_fails():
    # A ball on a plane that tilts gravity away rolls for ever.
    table = changed(
        bodies__1__velocity=None,
        bodies__1__contactors__0={"shape": "sphere", "radius": "10 cm", "group": "block"},
        gravity=["1 m/s^2", 0, "-1 g0"],
        settle={"max_steps": 50},
    )
    (outcome,) = configure("scene", table, {}).run([POINT], [0])
    assert "does not come to rest: after 50 steps" in outcome.reason


def test_every_shape_and_key_of_the_library_can_be_written():
    from percuss.models.scene.reader import SUFFIX

    assert SHAPES.keys() == SHAPE_CLASSES.keys()

    def names(schema):
        return {key + SUFFIX[setting.unit] for key, setting in schema.items()}

    def attributes(kind):
        return {item.name for item in dataclasses.fields(kind)}

    for kind, schema in SHAPES.items():
        assert names(schema) == attributes(SHAPE_CLASSES[kind]), kind
    assert names(BODY) - {"repeat", "cut"} == attributes(Body)
    assert names(CONTACTOR) | {"shape"} == attributes(Contactor)
    assert names(LAW) == attributes(Law)
    assert names(LOAD) == attributes(Load)
    assert {"name", "body", "point"} <= PROBE.keys()


def test_patterns_loads_and_motions_reach_the_core():
    table = changed(
        bodies__1__repeat={"pattern": "grid", "counts": [2, 1, 1], "pitch": ["1 m", 0, 0]},
        bodies__2={
            "name": "plate",
            "motion": {"kind": "sine", "amplitude": [0, 0, "1 mm"], "frequency": "5 Hz"},
            "position": [9, 9, 9],
            "contactors": [{"shape": "sphere", "radius": 1, "group": "block"}],
        },
        bodies__3={
            "name": "pillar",
            "density": 2000,
            "position": [0, -5, 0.5],
            "contactors": [{"shape": "cylinder", "radius": 0.2, "height": 1, "group": "block"}],
            "repeat": {"pattern": "polar", "count": 3, "angle": "20 deg"},
        },
        laws__1={"groups": ["block", "block"], "impact": "fremond"},
        loads=[{"body": "block_2", "force": [0, "10 N", 0], "times": [0, "1 s"], "factors": [1, 0]}],
        probes__0__body="block_2",
        probes__2__contacts_of="pillar_3",
    )
    (done,) = configure("scene", table, {}).run([POINT | {"mu": 0.0, "speed": 0.0}], [0])
    # 10 N falling to zero over a second on 10 kg without friction.
    assert done.curves["block_uy"][100] == pytest.approx(1 / 2 - 1 / 6, rel=1e-3)
    assert done.curves["weight_fz"][-1] == pytest.approx(2000 * np.pi * 0.04 * G, rel=1e-5)
    assert done.curves["motion_work"][-1] == 0.0


numbers = st.floats(-1e6, 1e6, allow_nan=False)
factors = st.floats(0, 1e3, allow_nan=False)


@given(st.lists(st.tuples(st.sampled_from("+-"), factors, st.sampled_from("abc")), min_size=1, max_size=5), numbers)
def test_expressions_are_sums(terms, a):
    values = {"a": a, "b": 2.0, "c": -0.25}
    text = " ".join(f"{sign} {factor!r} * ${name}" for sign, factor, name in terms).removeprefix("+ ")
    text = text if text[0] != "-" else "0 m " + text
    expected = sum((-1 if sign == "-" else 1) * factor * values[name] for sign, factor, name in terms)
    assert evaluate(text, "m", values.__getitem__) == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert inputs_in(text) == [name for _, _, name in terms]


@given(st.text("$ab1+-*/ .em()", max_size=30))
def test_any_text_is_a_number_or_refused(text):
    with contextlib.suppress(InputError):
        assert isinstance(evaluate(text, "m", lambda name: 1.0), float)
