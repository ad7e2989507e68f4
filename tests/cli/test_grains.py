"""Grains at the command line: Ctrl-C while a packing is made and while a test runs."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from percuss.ledger.ledger import Ledger

# Large enough that neither the packing nor a run can end before it is interrupted.
STUDY = """
[model]
kind = "grains"
grains = {settings}
law = "hertz-mindlin"
pressure = "0.2 MPa"
poisson = 0.1
rolling_stiffness = 0.1
rolling_friction = 0.2
strain_step = 0.0005
strain_end = 0.4
[parameters.young]
unit = "GPa"
prior = {{ kind = "uniform", low = 50, high = 60 }}
[parameters.friction_angle]
unit = "deg"
prior = {{ kind = "uniform", low = 20, high = 35 }}
"""


def _kinds(folder: Path) -> list[str]:
    return [event.kind for event in Ledger.open(folder / "ledger").events()]


@pytest.mark.parametrize(("grains", "settled"), [(20_000, 0), (200, 1)], ids=["packing", "test"])
def test_ctrl_c_ends_a_campaign(percuss, make_study, spawn, wait_for_work, folder, grains, settled) -> None:
    study = make_study("sand", str(grains), text=STUDY)
    design = percuss("design", study, "--sampler", "halton", "--n", 2).id
    process = spawn("run", design)
    wait_for_work(process.pid)
    # A slow machine may still be at the packing then.
    give_up = time.monotonic() + 60
    while settled and "scene.settled" not in _kinds(folder) and time.monotonic() < give_up:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    # Runs under way have five seconds of grace; the rest is for a busy machine.
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "2 left" in err
    kinds = _kinds(folder)
    assert kinds.count("scene.settled") == settled
    assert "runs.completed" not in kinds
    assert percuss("audit").code == 0


def test_ctrl_c_ends_a_simulation(make_study, spawn, wait_for_work) -> None:
    study = make_study("sand", "20000", text=STUDY)
    process = spawn("simulate", study)
    wait_for_work(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
