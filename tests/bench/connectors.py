"""The rockfall wall with connectors: all its steps, and the first ones side by side with Siconos; one thread, CPU time.

Both follow the parts of Gupta et al. (2023) at the mean values of its Table 4: zig-zag of 29.5 degrees, 20 m/s, steps
of 0.25 ms, two disks a hole. Disks are rings here and four keepers there, the projectile is a cube there. As many steps
as Siconos does in PERCUSS_SICONOS_S seconds (30 by default), less its first, in which it builds everything; no such
lines where it is not installed.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.bench.measure import Line

from percuss.models.model import configure
from percuss.scene import Record, Result

STEPS, TOLERANCE = 4000, 1e-4
WALL = {"layout": "zig-zag", "angle": math.radians(29.5), "disks": "faces", "tolerance": TOLERANCE}


def run(steps: int) -> tuple[float, Result]:
    """CPU seconds of the first steps from rest, and what they gave."""
    model = configure("rockfall-wall", WALL, {})
    point = {name: entry.default for name, entry in model.inputs.items()}
    experiment = model.experiment(point)  # type: ignore[attr-defined]
    world = experiment.scene.world(replace(experiment.settings, threads=1))
    world.start_from(experiment.settled()[0])
    start = time.process_time()
    result = world.run(steps * experiment.settings.dt_s, Record(energy_every=0))
    return time.process_time() - start, result


def bench() -> list[Line]:
    """Steps above 1e-4 here, in per cent; and the time of a step here over there."""
    whole_s, whole = run(STEPS)
    sweeps = np.asarray(whole.steps["iterations"])
    factors = int(np.sum(whole.steps["factorisations"]))
    return [
        Line(
            f"wall with connectors, {STEPS} steps, unmet [%]",
            f"{whole_s:.2f} s, {sweeps.mean():.0f} sweeps ({np.median(sweeps):.0f} median), {factors} factorisations",
            100.0 * whole.unmet_steps / STEPS,
            1.0,
        ),
        *beside_siconos(),
    ]


def beside_siconos() -> list[Line]:
    """The first steps in both; nothing where Siconos is not installed."""
    script = str(Path(__file__).parent / "siconos_walls.py")
    call = [os.environ.get("PERCUSS_SICONOS_PYTHON", "/usr/bin/python3"), script, "connectors", str(STEPS)]
    limit = os.environ.get("PERCUSS_SICONOS_S", "30")
    try:
        done = subprocess.run(
            [*call, limit], env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
        )
    except OSError:
        return []
    if done.returncode:
        return []
    peer = json.loads(done.stdout.splitlines()[-1])
    ours, result = run(peer["steps"])
    contacts, sweeps = (float(np.mean(result.steps[key])) for key in ("contacts", "iterations"))
    steps = peer["steps"]
    return [
        Line(
            f"wall with connectors, {steps} steps, over Siconos",
            f"{ours / steps * 1e3:.2f} / {peer['cpu_s'] / steps * 1e3:.0f} ms a step",
            ours / peer["cpu_s"],
            0.04,
        ),
        Line(
            "  steps above 1e-4 [%]",
            f"{contacts:.0f} / {peer['contacts']:.0f} contacts, {sweeps:.0f} / {peer['sweeps']:.0f} sweeps",
            100.0 * result.unmet_steps / steps,
            1.0,
        ),
        Line("  the same in Siconos, its own norm [%]", "", 100.0 * peer["unmet"] / steps, 100.0),
    ]
