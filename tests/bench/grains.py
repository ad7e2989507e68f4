"""Grains: a step per real contact, by itself, with more grains, and against YADE; a whole test; cores; memory."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.ledger import MAKER
from tests.bench.measure import Line
from tests.bench.toyoura import packing, spec

from percuss import _core
from percuss.designs.design import append_design, draft_design
from percuss.designs.registry import make_design
from percuss.execution.campaign import run_campaign
from percuss.execution.engines import THREADS, open_engine
from percuss.ledger.ledger import Ledger
from percuss.session import Session
from percuss.study.load import load_study

HERE = Path(__file__).parent
MEGABYTE = 1 << 20
SPEC = spec()
CAMPAIGN = """
[model]
kind = "grains"
grains = 300
law = "classical-linear"
pressure = "200 kPa"
poisson = 0.08
rolling_stiffness = 0.5
rolling_friction = 0.2
strain_step = 0.005
strain_end = 0.05
[parameters.young]
unit = "GPa"
prior = { kind = "log-uniform", low = 0.3, high = 1 }
[parameters.friction_angle]
unit = "deg"
prior = { kind = "uniform", low = 20, high = 35 }
"""


def contact_step_ns(grains: int, repeats: int) -> float:
    """Least CPU time of a step, per contact: of a test with increments, less one that ends before them."""
    times = [math.inf, math.inf]
    steps = 1.0
    for _ in range(repeats):
        for k, strains in enumerate(([], [0.002, 0.004])):
            start = time.process_time()
            found = _core.grain_test(packing(grains), SPEC | {"strains": strains})
            times[k] = min(times[k], time.process_time() - start)
            steps = found["contact_steps"]
    return 1e9 * (times[1] - times[0]) / steps


def yade_ns(grains: int) -> float | None:
    """The same of YADE; None where there is none."""
    program = shutil.which("yade")
    if program is None:
        return None
    cell, centres, radii, _ = packing(grains)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packing.txt"
        rows = [" ".join(map(repr, [*centre, radius])) for centre, radius in zip(centres, radii, strict=True)]
        path.write_text("\n".join([" ".join(map(repr, cell)), *rows]) + "\n")
        said = subprocess.run(
            [program, "-x", "-n", "-j1", str(HERE / "yade_steps.py"), str(path)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            timeout=300,
        )
    line = next(line for line in said.stdout.splitlines() if line.startswith('{"ns"'))
    return float(json.loads(line)["ns"])


def peak_mb(grains: int) -> float:
    """Most memory of a process while it makes a packing and tests it, beyond what it holds with everything imported.

    Linux keeps the peak; writing 5 to clear_refs sets it back to what is held, so that imports do not hide it.
    """
    script = (
        "from pathlib import Path; from tests.bench import grains as g\n"
        "def held(key):\n"
        "    lines = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024\n"
        "Path('/proc/self/clear_refs').write_text('5'); before = held('VmRSS')\n"
        f"g._core.grain_test(g.packing({grains}), g.SPEC | {{'strains': [0.001]}})\n"
        "print(held('VmHWM') - before)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(said.stdout) / MEGABYTE


def cores_used(runs: int, cores: int) -> float:
    """The share of all cores that a campaign computes on, its packing made before."""
    share = 0.0
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "study.toml"
        path.write_text(CAMPAIGN)
        study = load_study(path)
        session = Session(Ledger.open(Path(folder) / "ledger", MAKER, create=True))
        for count in (1, runs):
            drafted = draft_design(session, make_design(study, "sobol", count, 0), cases=["base"], fixed={})
            design = append_design(session, drafted)
            start, cpu = time.perf_counter(), time.process_time()
            with open_engine(THREADS, cores) as engine:
                run_campaign(session, design, engine.executor, workers=engine.workers)
            share = (time.process_time() - cpu) / (time.perf_counter() - start) / cores
    return share


def bench() -> list[Line]:
    """All of it."""
    small = contact_step_ns(1000, 5)
    large = contact_step_ns(5000, 2)
    start = time.process_time()
    _core.grain_test(packing(1000), SPEC)
    whole = time.process_time() - start
    cores = os.cpu_count() or 1
    used = cores_used(16 * cores, cores)
    memory = peak_mb(5000)
    lines = [
        Line("a contact and step of 1000 grains, of 100 ns", f"{small:.1f} ns", small / 100, 1),
        Line("the same of 5000 grains", f"{large:.1f} ns", large / small, 1.5),
        Line("a triaxial test of 1000 grains to 8 %, of 12 s", f"{whole:.1f} s", whole / 12, 1),
        Line("cores of a campaign, 90 % over what is used", f"{100 * used:.0f} %", 0.9 / used, 1),
        Line("memory of 5000 grains, of 50 MB", f"{memory:.0f} MB", memory / 50, 1),
    ]
    if (peer := yade_ns(1000)) is not None:
        lines.append(Line("against YADE, 1000 grains", f"{small:.1f} / {peer:.0f} ns", small / peer, 0.25))
    return lines
