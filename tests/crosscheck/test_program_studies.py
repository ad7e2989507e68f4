"""Programs that are not ours, calibrated with the commands of any other study: OpenSeesPy and Siconos."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"


def _has(python: str, module: str) -> bool:
    path = shutil.which(python)
    return bool(path) and subprocess.run([path, "-c", f"import {module}"], capture_output=True).returncode == 0


def _calibrated(percuss, folder: Path, name: str, points: int) -> dict:
    shutil.copytree(STUDIES / name, folder / "studies" / name)
    campaign = percuss("run", percuss("design", name, "--n", points, "--skip", 1).id, "--allow-command", "--json")
    assert json.loads(campaign.out)["failed"] == 0, campaign.err
    surrogate = percuss("surrogate", "@last:campaign")
    assert surrogate.code == 0, surrogate.err
    posterior = percuss("calibrate", surrogate.id)
    assert posterior.code == 0, posterior.err
    assert percuss("audit", "--rerun", 1, "--allow-command").code == 0
    (row,) = json.loads(percuss("show", posterior.id, "--json").out)["body"]["summary"]["rows"]
    return row


def test_opensees_finds_the_restitution_of_the_experiment(percuss, folder) -> None:
    if not _has("python3", "openseespy.opensees"):
        pytest.skip("the python3 on the PATH has no openseespy")
    row = _calibrated(percuss, folder, "opensees-pounding", 8)
    # Our own model finds 0.527; the slope of the peak is about 16 mm, so that 0.3 mm are 0.02.
    assert row["mean"] == pytest.approx(0.527, abs=0.005)
    assert row["std"] == pytest.approx(0.02, rel=0.3)
    event = json.loads(percuss("show", "@last:runs", "--json").out)["body"]
    assert event["program"]["version"].startswith("OpenSees ")


def test_siconos_finds_the_friction_its_data_were_made_with(percuss, folder) -> None:
    if not _has("/usr/bin/python3", "siconos.kernel"):
        pytest.skip("/usr/bin/python3 has no siconos (Debian's package siconos)")
    row = _calibrated(percuss, folder, "siconos-scene", 8)
    # Data to the millimetre with 2 mm of noise: about 0.003 of friction from each case.
    assert row["mean"] == pytest.approx(0.3, abs=0.001)
    assert row["std"] < 0.002
