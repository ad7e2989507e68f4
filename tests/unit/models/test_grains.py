"""The model kind grains: shared packings, exact strains, the same bits, what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.ledger.ledger import Ledger
from percuss.models.model import Done
from percuss.models.registry import configure

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


def test_constant_volume() -> None:
    (done,) = configure("grains", SMALL | {"test": "undrained"}, {}).run([POINT], [0])
    assert isinstance(done, Done)
    assert done.curves is not None
    assert np.ptp(done.curves["void_ratio"]) < 1e-12


def test_settings_that_cannot_be() -> None:
    for wrong, words in (
        ({"cell": [1, 2]}, "cell"),
        ({"strain_step": 0.1}, "strain_step"),
        ({"test": "biaxial"}, "biaxial"),
        ({"grains": 3}, "grains"),
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
    truth = book.table(runs[0], "curves").filter(sample=2) if runs[0].data["samples"][-1] >= 2 else None
    truth = truth if truth is not None else book.table(runs[1], "curves").filter(sample=2)
    seen = truth.select("axial_strain", "stress_ratio", "volumetric_strain")[1:]
    seen.write_csv(folder / "seen.csv")
    said = percuss("filter", campaign, "--data", "seen.csv", "--covariance", "maximum", "--scale", 0.01, "--json")
    facts = json.loads(said.out)
    assert facts["most_probable"]["sample"] == 2
    correlations = book.table(Ledger.open(folder / "ledger").event(facts["id"]), "correlations")
    assert {"peak_friction_angle", "young_bulk", "poisson_bulk"} <= set(correlations["output"])
    assert percuss("audit", "--rerun", 1).code == 0
