"""How exact a run of the wall is: step, tolerance, layout, reading of the disks, and chaos. Prints a CSV, a line a run.

python studies/rockfall-wall/convergence.py [step] [tolerance] [chaos] [layout] [disks] > expected/convergence.csv

All runs are at the set "all" of Gupta et al. (2023), Table 5. Displacements in cm, at the instants of the study.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from percuss.models.model import Done, configure

POINT = {"d_z": 0.068, "v_p": 0.071, "mu_cc": 0.316, "mu_cs": 0.307, "e": 0.222, "impact_y": 0.0, "impact_z": 1.7}
SPEEDS = {"e520": 20.0, "e1020": 28.0}
INIT_S = {"top": 0.1, "base": 0.1, "c": 0.25, "d": 0.25}
OUTPUTS = [f"{point}_{instant}" for point in INIT_S for instant in ("init", "max", "rest")]
QUARTER = 0.7853981633974483


def variants(group: str) -> Iterator[tuple[str, dict[str, Any], float]]:
    """What is changed: its name, settings, and by how much the speed is off."""
    if group == "step":
        yield from ((f"{1e3 * step:g} ms", {"step": step}, 0.0) for step in (5e-4, 2.5e-4, 1.25e-4))
    elif group == "tolerance":
        yield from ((f"{tolerance:g}", {"tolerance": tolerance}, 0.0) for tolerance in (1e-3, 1e-4, 1e-5, 1e-6))
    elif group == "chaos":
        yield from ((f"speed + {k}e-9", {}, 1e-9 * k) for k in range(1, 9))
    elif group == "disks":
        yield from ((name, {"disks": name}, 0.0) for name in ("faces-and-ends", "faces"))
    elif group == "connectors":
        yield "none", {"connectors": False}, 0.0
    elif group == "duration":
        yield "2 s", {"duration": 2.0}, 0.0
    else:
        for layout, angle in (
            ("trapezoidal", QUARTER),
            ("trapezoidal-symmetric", QUARTER),
            ("trapezoidal-symmetric", -QUARTER),
            ("zig-zag", QUARTER),
            ("zig-zag", 0.5 * QUARTER),
            ("straight", 0.0),
        ):
            yield f"{layout} {np.degrees(angle):g} deg", {"layout": layout, "angle": angle}, 0.0


def displacements_cm(done: Done) -> list[float]:
    """The twelve outputs of the study."""
    curves = done.curves or {}
    found = []
    for point, init_s in INIT_S.items():
        moved = 100.0 * curves[f"{point}_ux"]
        found += [float(np.interp(init_s, curves["t"], moved)), float(moved.max()), float(moved[-1])]
    return found


def main(groups: list[str]) -> None:
    print("group,variant,case,cpu_s,unmet_steps,worst_residual,deepest_overlap_mm,tilt_impact_deg," + ",".join(OUTPUTS))
    for group in groups:
        for name, settings, more in variants(group):
            model = configure("rockfall-wall", settings, {})
            for case, speed in SPEEDS.items():
                begun = time.thread_time()
                done = model.run([POINT | {"speed": speed + more}], [0])[0]
                cpu_s = time.thread_time() - begun
                if not isinstance(done, Done):
                    raise SystemExit(f"{group} {name} {case}: {done.reason}")
                v = done.values
                facts = f"{cpu_s:.2f},{v['unmet_steps']:g},{v['worst_residual']:.2g},{1e3 * v['deepest_overlap']:.2f}"
                tilt = f"{np.degrees(v['tilt_impact']):.2f}"
                moved = ",".join(f"{x:.2f}" for x in displacements_cm(done))
                print(f"{group},{name},{case},{facts},{tilt},{moved}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["step", "tolerance", "chaos", "layout", "disks", "connectors", "duration"])
