"""Two frames that pound, in OpenSeesPy: reads given.json, writes response.csv (time in s, gap and displacements in m).

The contact is OpenSees' ViscoelasticGap, a spring and a dashpot beyond a gap. It keeps its tension at the end of an
impact, so that the damping ratio for a coefficient of restitution e is exactly -ln e / sqrt(pi^2 + ln^2 e).
"""

import csv
import json
import math
import sys
from pathlib import Path

import openseespy.opensees as ops

STEP_S = 2e-5
SAMPLED_S = 1e-3
GAP_M = 0.023
FRAMES = ((6.0239, 287.91, 0.006, -0.040), (4.9871, 330.278, 0.0046, 0.0))  # kg, N/m, damping ratio, released at m


def main() -> int:
    given = json.loads(Path("given.json").read_text())
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    for i, (mass, stiffness, ratio, _) in enumerate(FRAMES, start=1):
        ops.node(i, 0.0)
        ops.fix(i, 1)
        ops.node(10 + i, 0.0)
        ops.mass(10 + i, mass)
        ops.uniaxialMaterial("Elastic", i, stiffness, 2 * ratio * math.sqrt(stiffness * mass))
        ops.element("zeroLength", i, i, 10 + i, "-mat", i, "-dir", 1)
    stiffness, log_e = given["stiffness_n_per_m"], math.log(given["restitution"])
    reduced = FRAMES[0][0] * FRAMES[1][0] / (FRAMES[0][0] + FRAMES[1][0])
    damping = -2 * log_e / math.hypot(math.pi, log_e) * math.sqrt(stiffness * reduced)
    ops.uniaxialMaterial("ViscoelasticGap", 9, stiffness, damping, -GAP_M)
    ops.element("zeroLength", 9, 11, 12, "-mat", 9, "-dir", 1)
    # After the elements: one of zero length takes the displacements it is made with for its unstrained state.
    for i, (*_, start) in enumerate(FRAMES, start=1):
        ops.setNodeDisp(10 + i, 1, start, "-commit")
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("FullGeneral")
    ops.test("NormDispIncr", 1e-12, 50)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    every, count = round(SAMPLED_S / STEP_S), round(given["duration_s"] / SAMPLED_S)
    with Path("response.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("t", "gap", "u1", "u2"))
        for k in range(count + 1):
            if k and ops.analyze(every, STEP_S):
                print(f"no convergence before {k * SAMPLED_S} s", file=sys.stderr)
                return 1
            u1, u2 = ops.nodeDisp(11, 1), ops.nodeDisp(12, 1)
            table.writerow((k * SAMPLED_S, GAP_M + u2 - u1, u1, u2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
