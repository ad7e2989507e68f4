"""The model kind grains: shared packings, exact strains, the same bits, what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.ledger.ledger import Ledger
from percuss.models.model import Done, Refines, configure

POINT = {
    "law": "hertz-mindlin",
    "young": 4.123e9,
    "poisson": 0.064,
    "rolling_stiffness": 0.148,
    "rolling_friction": 0.202,
    "friction_angle": math.radians(30.387),
    "pressure": 2e5,
}
SMALL = {"grains": 150, "strain_step": 0.005, "strain_end": 0.01}
STUDY = """
[model]
kind = "grains"
grains = 150
strain_step = 0.005
strain_end = 0.01
law = "classical-linear"
pressure = "200 kPa"
poisson = 0.08
rolling_stiffness = 0.5
rolling_friction = 0.2
{settings}
[parameters.young]
unit = "GPa"
prior = {{ kind = "log-uniform", low = 0.3, high = 1 }}
[parameters.friction_angle]
unit = "deg"
prior = {{ kind = "uniform", low = 20, high = 35 }}
"""


def test_a_run_is_the_same_with_and_without_a_packing_given() -> None:
    model = configure("grains", SMALL, {})
    state, facts = model.settled(POINT)  # type: ignore[attr-defined]
    assert facts["void_ratio"] == pytest.approx(0.68, abs=0.002)
    (one,) = model.run_from([POINT], [0], [state])  # type: ignore[attr-defined]
    (two,) = model.run([POINT], [1])
    assert isinstance(one, Done)
    assert isinstance(two, Done)
    assert one.values == two.values
    assert one.curves is not None
    assert two.curves is not None
    assert all(np.array_equal(one.curves[name], two.curves[name]) for name in one.curves)
    assert one.curves["axial_strain"] == pytest.approx([0, 0.005, 0.01], abs=1e-12)
    assert one.values["rest_share"] == 1
    # Shear springs of Hertz-Mindlin change their stiffness under load, which the account does not follow.
    assert one.values["energy_closing_error"] < 0.05
    volume = one.curves["volumetric_strain"]
    assert volume == pytest.approx(one.curves["axial_strain"] + 2 * one.curves["radial_strain"], abs=1e-12)


def _curves(**settings: object) -> dict[str, np.ndarray]:
    (done,) = configure("grains", SMALL | settings, {}).run([POINT], [0])
    assert isinstance(done, Done), done
    assert done.curves is not None
    return done.curves


def test_constant_volume() -> None:
    assert np.ptp(_curves(test="undrained")["void_ratio"]) < 1e-12


def test_no_radial_strain() -> None:
    found = _curves(test="oedometric")
    assert np.abs(found["radial_strain"]).max() < 1e-12
    assert (np.diff(found["stress_zz"]) > 0).all()


def test_the_same_strain_along_all_axes() -> None:
    found = _curves(test="isotropic", strain_step=0.001, strain_end=0.002)
    assert found["radial_strain"] == pytest.approx(found["axial_strain"], abs=1e-12)
    assert found["mean_stress"][-1] > 2.2e5


def test_a_path_reaches_its_states() -> None:
    """Up and down: pressed on all sides, sheared at constant mean stress by hand, then strained back."""
    path = [
        {"stress_x": "0.3 MPa", "stress_y": "0.3 MPa", "stress_z": "0.3 MPa", "increments": 2},
        {"stress_x": "0.25 MPa", "stress_y": "0.25 MPa", "stress_z": "0.4 MPa"},
        {"strain_x": 0, "strain_y": 0, "strain_z": "0.5 %"},
    ]
    found = _curves(test="path", path=path)
    # Strains are exact, stresses reached within the tolerance of the servo.
    for axis, wanted in (("xx", [2e5, 2.5e5, 3e5, 2.5e5]), ("zz", [2e5, 2.5e5, 3e5, 4e5])):
        assert found[f"stress_{axis}"][:4] == pytest.approx(wanted, rel=2e-3)
    assert found["axial_strain"][-1] == pytest.approx(0.005, abs=1e-12)
    assert found["radial_strain"][-1] == pytest.approx(0, abs=1e-12)
    assert found["at_rest"].all()


def test_walls() -> None:
    found = _curves(boundary="walls", grains=300, void_ratio=0.9)
    assert found["stress_xx"] == pytest.approx(2e5, rel=0.02)
    assert found["stress_ratio"][-1] > 1.3


def test_a_run_that_does_not_come_to_rest_says_so() -> None:
    (done,) = configure("grains", SMALL | {"most_steps": 30}, {}).run([POINT], [0])
    assert isinstance(done, Done)
    assert done.values["rest_share"] < 1
    assert done.curves is not None
    assert done.curves["at_rest"][0] == 1
    assert not done.curves["at_rest"][1:].any()


def test_settings_that_cannot_be() -> None:
    for wrong, words in (
        ({"cell": [1, 2]}, "cell"),
        ({"strain_step": 0.1}, "strain_step"),
        ({"test": "biaxial"}, "biaxial"),
        ({"grains": 3}, "grains"),
        ({"gravity": 9.81}, "walls"),
        ({"moment_limit": "none"}, "moment_limit"),
        ({"test": "path"}, "path"),
        ({"path": [{"strain_x": 0, "strain_y": 0, "strain_z": 0.1}]}, "path"),
        ({"test": "path", "path": [{"strain_x": 0, "strain_y": 0}]}, "row 1.*stress_z or strain_z"),
        ({"test": "path", "path": [{"strain_x": 0, "strain_y": 0, "stress_z": "1 m"}]}, "stress_z"),
        ({"test": "path", "path": [{"strain_x": 0, "strain_y": 0, "stress_z": -1}]}, "be positive"),
        ({"test": "path", "path": [{"shear": 0}]}, "shear"),
        ({"test": "path", "path": [3]}, "table"),
    ):
        with pytest.raises(InputError, match=words):
            configure("grains", SMALL | wrong, {})


def test_one_packing_for_a_campaign_and_a_filter_on_its_curves(percuss, make_study, folder) -> None:
    study = make_study("sand", text=STUDY)
    design = percuss("design", study, "--sampler", "halton", "--n", 6, "--skip", 1, "--curves").id
    campaign = percuss("run", design).id
    book = Ledger.open(folder / "ledger")
    settled = [event for event in book.events() if event.kind == "scene.settled"]
    runs = [event for event in book.events() if event.kind == "runs.completed"]
    assert len(settled) == 1
    assert all(event.input("settled") == settled[0].id for event in runs)
    truth = next(book.table(event, "curves") for event in runs if event.data["samples"] == [2])
    seen = truth.select("axial_strain", "stress_ratio", "volumetric_strain")[1:]
    seen.write_csv(folder / "seen.csv")
    said = percuss("filter", campaign, "--data", "seen.csv", "--covariance", "maximum", "--scale", 0.01, "--json")
    facts = json.loads(said.out)
    assert facts["most_probable"]["sample"] == 2
    correlations = book.table(Ledger.open(folder / "ledger").event(facts["id"]), "correlations")
    assert {"peak_friction_angle", "young_bulk", "poisson_bulk"} <= set(correlations["output"])
    assert percuss("audit", "--rerun", 1).code == 0


def test_a_finer_test_takes_more_steps_and_ends_nearer_to_rest() -> None:
    model = configure("grains", SMALL, {})
    assert isinstance(model, Refines)
    finer, point = model.refined(POINT, 2, 10.0)
    assert isinstance(finer, Refines)
    before, after = model.numerics(POINT), finer.numerics(point)
    assert (before.step, before.tolerance, after.step, after.tolerance) == (0.8, 1e-3, 0.4, 1e-4)
    assert finer.settling_key(point) == model.settling_key(POINT)  # type: ignore[attr-defined]
    (coarse,), (fine,) = model.run([POINT], [0]), finer.run([point], [0])
    assert isinstance(coarse, Done)
    assert isinstance(fine, Done)
    assert fine.values["steps"] > 2 * coarse.values["steps"]
