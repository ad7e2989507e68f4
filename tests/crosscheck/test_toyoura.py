"""Measured triaxial curves of Toyoura sand and a packing of its authors, read in place from PERCUSS_TOYOURA."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from percuss import _core

# Read while tests are collected: they themselves run without the settings of whoever runs them.
FOLDER = Path(os.environ.get("PERCUSS_TOYOURA", ""))
CURVE, PACKING = FOLDER / "experiment" / "Test_0.2.data", FOLDER / "packings" / "PeriSp_1000_0.68.txt"

pytestmark = pytest.mark.skipif(
    not (CURVE.exists() and PACKING.exists()), reason="PERCUSS_TOYOURA names no folder with experiment and packings"
)

STUDY = """
[model]
kind = "grains"
grains = 200
law = "hertz-mindlin"
pressure = "0.2 MPa"
strain_step = 0.01
strain_end = 0.08
{settings}
[parameters.young]
unit = "GPa"
prior = {{ kind = "log-uniform", low = 0.1, high = 10 }}
[parameters.poisson]
prior = {{ kind = "uniform", low = 0, high = 0.5 }}
[parameters.rolling_stiffness]
prior = {{ kind = "uniform", low = 0, high = 1 }}
[parameters.rolling_friction]
prior = {{ kind = "uniform", low = 0, high = 1 }}
[parameters.friction_angle]
unit = "deg"
prior = {{ kind = "uniform", low = 10, high = 50 }}
"""


def _measured() -> np.ndarray:
    """Axial strain (%), stress ratio, volumetric strain (%) up to 8 %."""
    rows = [[float(word) for word in line.split()] for line in CURVE.read_text().splitlines()[1:] if line.strip()]
    table = np.array(rows)[:, [3, 4, 0]]
    return table[(table[:, 0] > 0) & (table[:, 0] <= 8)]


@pytest.mark.parametrize(
    ("law", "numbers", "moment_limit"),
    [
        ("hertz-mindlin", (4.123e9, 0.064, 0.148, 0.202, 30.387), "rolling"),
        ("classical-linear", (0.545e9, 0.080, 0.564, 0.194, 30.203), "separate"),
    ],
)
def test_the_papers_parameters_on_the_peers_packing(law, numbers, moment_limit) -> None:
    """With the peer's contacts, root mean squares of the order it reaches: 0.10 to 0.25, 0.06 to 0.14 % of volume."""
    lines = PACKING.read_text().splitlines()
    cell = [float(word) for word in lines[0].split()[1:4]]
    rows = np.array([[float(word) for word in line.split()[:4]] for line in lines[1:]])
    young, poisson, rolling_stiffness, rolling_friction, degrees = numbers
    spec = {
        "law": law,
        "young_pa": young,
        "poisson": poisson,
        "rolling_stiffness": rolling_stiffness,
        "rolling_friction": rolling_friction,
        "friction": math.tan(math.radians(degrees)),
        "moments": True,
        "moment_limit": moment_limit,
        "rescaled": False,
        "restitution": 1.0,
        "gravity_m_s2": 0.0,
        "density_kg_m3": 2650.0,
        "density_scaling": 1000.0,
        "pressure_pa": 2e5,
        "rate_per_s": 0.1,
        "damping": [0.2, 0.9],
        "unbalanced": 1e-3,
        "stress_tolerance": 1e-3,
        "most_steps": 40_000,
        "step_safety": 0.8,
        "test": "drained",
        "strains": [0.001 * k for k in range(1, 81)],
        "paths": [],
    }
    found = _core.grain_test((cell, rows[:, :3].tolist(), rows[:, 3].tolist(), False), spec)
    ratio = 2 * found["stress_zz"] / (found["stress_xx"] + found["stress_yy"])
    volume = 100 * (found["strain_x"] + found["strain_y"] + found["strain_z"])
    seen = _measured()
    at = 100 * found["strain_z"]
    # Chaos of one run moves both by some hundredths.
    assert np.sqrt(np.mean((np.interp(seen[:, 0], at, ratio) - seen[:, 1]) ** 2)) < 0.3
    assert np.sqrt(np.mean((np.interp(seen[:, 0], at, volume) - seen[:, 2]) ** 2)) < 0.2


def test_a_filter_on_the_measured_curve(percuss, make_study, folder) -> None:
    study = make_study("sand", text=STUDY)
    rows = "".join(f"{strain},{ratio},{volume}\n" for strain, ratio, volume in _measured())
    (folder / "seen.csv").write_text("axial_strain [%],stress_ratio,volumetric_strain [%]\n" + rows)
    design = percuss("design", study, "--sampler", "halton", "--n", 16, "--skip", 1, "--curves").id
    campaign = percuss("run", design).id
    said = percuss("filter", campaign, "--data", "seen.csv", "--covariance", "maximum", "--ess", 0.2, "--json")
    assert said.code == 0, said.err
    facts = json.loads(said.out)
    assert facts["effective"] == pytest.approx(0.2 * facts["samples"], rel=1e-6)
    assert 20 < math.degrees(facts["identified"]["friction_angle"]["mean"]) < 50
