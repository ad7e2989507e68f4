"""Three yielding buildings in a row: a step against OpenSeesPy (same model), and runs with their own motions."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from tests.bench.measure import Line, best

from percuss import _core
from percuss.models.model import configure

STUDY = Path(__file__).parents[2] / "studies" / "pounding-row" / "study.toml"
STEP_S = 5e-3
DURATION_S = 25.0
GAP_M = 0.06
CONTACT = 2e9
# Yield drift and hardening of every storey.
YIELD_M, HARDENING = 5e-3, 0.02
RUNS = 200
RUNS_AT_ONCE = 32


def bench() -> list[Line]:
    """Loops, steps, runs."""
    return [*loops_against_opensees(), *against_opensees(), *many_motions()]


def loops_against_opensees() -> list[Line]:
    """Static cycles of growing and shrinking size; the Bouc-Wen spring of OpenSees is of first order in the path."""
    try:
        import openseespy.opensees as ops
    except (ImportError, RuntimeError):
        return []
    k, force, b = 1000.0, 10.0, 0.05
    beta = 0.5 / 0.01
    peers = {
        "bilinear": ([force, b], ("Steel01", force, k, b), 1e-12),
        "menegotto-pinto": ([force, b, 20.0, 18.5, 0.15], ("Steel02", force, k, b, 20.0, 0.925, 0.15), 1e-12),
        "gap": ([0.01], ("ElasticPPGap", k, -1e9, -0.01), 1e-12),
        "bouc-wen": (
            [force, b, 1.0, 0.5, 0.5, 0.01, 0.02],
            ("BoucWen", b, k, 1.0, beta, beta, 1.0, 0.0, 0.01 / (force * 0.01), 0.02 / (force * 0.01), 1e-10, 100),
            1e-2,
        ),
    }
    sizes = (0.008, 0.03, 0.05, 0.02, 0.06)
    path = np.concatenate([size * np.sin(np.linspace(0, 2 * np.pi, 2001))[1:] for size in sizes])
    lines = []
    for law, (numbers, (material, *arguments), limit) in peers.items():
        ops.wipe()
        ops.model("basic", "-ndm", 1, "-ndf", 1)
        ops.uniaxialMaterial(material, 1, *arguments)
        ops.testUniaxialMaterial(1)
        theirs = []
        for elongation in path.tolist():
            ops.setStrain(elongation)
            theirs.append(ops.getStress())
        ours = np.array(_core.spring_cycle(law, k, numbers, path.tolist()))
        off = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        lines.append(Line(f"loops of {law}, off {material} by", f"{off:.1e}", off, limit))
    return lines


def model() -> Any:
    """The row with storeys that yield and elastic contacts."""
    table = tomllib.loads(STUDY.read_text())["model"]
    table.pop("kind")
    stiffness = {"A": 420e6, "B": 340e6, "C": 300e6}
    for spring in table["springs"]:
        force = YIELD_M * stiffness[spring["name"][0]]
        spring |= {"law": "bilinear", "yield_force": force, "hardening": HARDENING}
    fixed = {"law", "restitution", "stiffness"}
    settings = {key: value for key, value in table.items() if key not in fixed}
    return configure("oscillators", settings, {})


def systems(count: int) -> list[dict[str, Any]]:
    """Runs with a motion of their own, nothing sampled on the way."""
    row = model()
    point = {name: item.default for name, item in row.inputs.items()}
    point |= {"law": "linear", "restitution": 1.0, "stiffness": f"{CONTACT} N/m", "gap": GAP_M, "intensity": 1.5}
    point |= {"integrator": "newmark", "step": STEP_S}
    return [row._system(point, seed) | {"sampling_s": DURATION_S} for seed in range(count)]


def against_opensees() -> list[Line]:
    """25 s at 5 ms by average acceleration with Newton's method on both sides: processor time a run, ours of
    several runs in one call, and the same displacements.
    """
    several = systems(RUNS_AT_ONCE)
    system = several[0]
    steps = round(DURATION_S / STEP_S)
    try:
        import openseespy.opensees as ops
    except (ImportError, RuntimeError):
        (ours,) = best(5, lambda: _core.simulate_oscillators(several), clock=time.process_time)
        ours /= RUNS_AT_ONCE
        print(f"OpenSeesPy is not installed: no ratio; ours {ours / steps * 1e9:.0f} ns a step of 15 yielding storeys")
        return []
    ours, theirs = best(
        3,
        lambda: _core.simulate_oscillators(several),
        lambda: _opensees(ops, system, steps),
        clock=time.process_time,
    )
    ours /= RUNS_AT_ONCE
    (run,) = _core.simulate_oscillators([system])
    assert not isinstance(run, str), run
    last = np.array([column[-1] for column in run["displacement_m"]])
    peers = np.array([ops.nodeDisp(i + 1, 1) for i in range(15)])
    off = float(np.abs(last - peers).max() / np.abs(peers).max())
    figure = f"{ours / steps * 1e9:.0f} ns / {theirs / steps * 1e9:.0f} ns"
    return [
        Line("a step of three yielding buildings, against OpenSeesPy", figure, ours / theirs, 1 / 100),
        Line("their last displacements, off by", f"{off:.1e}", off, 1e-6),
    ]


def many_motions() -> list[Line]:
    """What 100 000 runs take on two cores, motions made and all, from the wall time of a few hundred."""
    import os

    row = model()
    point = {name: item.default for name, item in row.inputs.items()}
    point |= {"law": "linear", "restitution": 1.0, "stiffness": f"{CONTACT} N/m", "gap": GAP_M, "intensity": 1.5}
    point |= {"integrator": "newmark", "step": STEP_S}
    started = time.perf_counter(), time.process_time()
    outcomes = row.run([point] * RUNS, list(range(RUNS)))
    wall, processor = (
        now - then for now, then in zip((time.perf_counter(), time.process_time()), started, strict=True)
    )
    assert len(outcomes) == RUNS
    minutes = processor / RUNS * 1e5 / 60 / 2
    figure = f"{minutes:.1f} min of two cores; wall here {wall / RUNS * 1e5 / 60:.1f} min on {os.cpu_count()}"
    return [Line("100 000 runs of three yielding buildings, share of 10 min", figure, minutes / 10, 1.0)]


def _opensees(ops: Any, system: dict[str, Any], steps: int) -> None:
    """The same row in OpenSees: Steel01 storeys, elastic gaps, initial-stiffness Rayleigh damping."""
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    ops.node(0, 0.0)
    ops.fix(0, 1)
    for i, mass in enumerate(system["masses_kg"]):
        ops.node(i + 1, 0.0, "-mass", mass)
    tag = 0
    for (first, second, stiffness, _), (_, numbers) in zip(system["springs"], system["spring_laws"], strict=True):
        tag += 1
        ops.uniaxialMaterial("Steel01", tag, numbers[0], stiffness, numbers[1])
        ops.element("zeroLength", tag, first + 1, second + 1, "-mat", tag, "-dir", 1, "-doRayleigh", 1)
    for left, right, gap, *_ in system["contacts"]:
        tag += 1
        ops.uniaxialMaterial("ElasticPPGap", tag, CONTACT, -1e15, -gap)
        ops.element("zeroLength", tag, left + 1, right + 1, "-mat", tag, "-dir", 1)
    ops.rayleigh(system["rayleigh"][0], 0.0, system["rayleigh"][1], 0.0)
    times, values = system["base"]
    ops.timeSeries("Path", 1, "-dt", times[1] - times[0], "-values", *values)
    ops.pattern("UniformExcitation", 1, 1, "-accel", 1)
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("BandSPD")
    ops.test("NormUnbalance", 1e-3, 50)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    if ops.analyze(steps, STEP_S):
        raise RuntimeError("OpenSees stopped")
