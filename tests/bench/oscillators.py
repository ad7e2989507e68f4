"""The two frames: fixed steps against OpenSeesPy where it is installed, and many cases at once."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
from tests.bench.measure import Line, best

from percuss import _core
from percuss.study.load import load_study

STEPS = 12_000
STUDY = Path(__file__).parents[2] / "studies" / "pounding-frames"


def bench() -> list[Line]:
    """Both."""
    return [*against_opensees(), *many_cases()]


def against_opensees() -> list[Line]:
    """12 s of the Kelvin-Voigt case at 1 ms by central differences, nothing recorded on the way, on both sides."""
    study = load_study(STUDY)
    values = {"integrator": "central-difference", "step": 1e-3, "damping": "nominal"}
    point = study.point("kv", values)
    system = study.model()._system(point, 0) | {"sampling_s": 12.0}  # type: ignore[attr-defined]
    try:
        import openseespy.opensees as ops
    except (ImportError, RuntimeError):
        ours = best(20, lambda: _core.simulate_oscillators([system]))[0]
        print(f"OpenSeesPy is not installed: no ratio; ours {ours / STEPS * 1e9:.1f} ns a step")
        return []
    ours, theirs = best(5, lambda: _core.simulate_oscillators([system]), lambda: _opensees(ops, system))
    figure = f"{ours / STEPS * 1e9:.0f} ns / {theirs / STEPS * 1e9:.0f} ns"
    return [Line("a step of two frames, against OpenSeesPy", figure, ours / theirs, 1 / 300)]


def _opensees(ops: object, system: dict[str, object]) -> None:
    """The same frames in OpenSees: zero-length springs, dashpots, and a visco-elastic gap (which keeps tension)."""
    o = ops
    masses, springs = system["masses_kg"], system["springs"]
    o.wipe()
    o.model("basic", "-ndm", 1, "-ndf", 1)
    for i, (mass, spring, damper) in enumerate(zip(masses, springs, system["dampers"], strict=True), start=1):
        o.node(i, 0.0)
        o.node(10 + i, 0.0)
        o.fix(10 + i, 1)
        o.mass(i, mass)
        o.uniaxialMaterial("Elastic", i, spring[2], damper[2])
        o.element("zeroLength", i, 10 + i, i, "-mat", i, "-dir", 1, "-doRayleigh", 0)
    reduced = masses[0] * masses[1] / (masses[0] + masses[1])
    contact = system["contacts"][0]
    ratio = -math.log(0.5) / math.hypot(math.pi, math.log(0.5))
    damping = 2 * ratio * math.sqrt(contact[6] * reduced)
    o.uniaxialMaterial("ViscoelasticGap", 3, contact[6], damping, -contact[2])
    o.element("zeroLength", 3, 1, 2, "-mat", 3, "-dir", 1)
    o.setNodeDisp(1, 1, -0.04, "-commit")
    o.constraints("Plain")
    o.numberer("Plain")
    o.system("BandGen")
    o.test("NormUnbalance", 1e-8, 20, 0)
    o.algorithm("Linear")
    o.integrator("CentralDifference")
    o.analysis("Transient")
    if o.analyze(STEPS, 1e-3):
        raise RuntimeError("OpenSees stopped")


def many_cases() -> list[Line]:
    """Random cases of 12 s in one call: processor time over wall time says how many cores were busy."""
    import os

    study = load_study(STUDY)
    model = study.model()
    random = np.random.Generator(np.random.PCG64(1))
    points = [
        study.point("kv", {"restitution": e, "gap": g}) for e, g in random.uniform((0.2, 0.01), (0.9, 0.03), (1000, 2))
    ]
    systems = [model._system(point, 0) | {"sampling_s": 1.0} for point in points]  # type: ignore[attr-defined]
    wall, cpu = time.perf_counter(), time.process_time()
    _core.simulate_oscillators(systems)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    cores = os.cpu_count() or 1
    figure = f"{wall * 10:.1f} s for 10000, {cpu / wall:.2f} cores"
    return [Line("random cases of 12 s, idle share of the cores", figure, 1 - cpu / wall / cores, 0.15)]
