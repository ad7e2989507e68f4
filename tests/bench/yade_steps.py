"""Cost of a step of YADE on a packing, for a measurement side by side with `tests/bench/grains.py`.

    OMP_NUM_THREADS=1 yade -x -n -j1 tests/bench/yade_steps.py PACKING

PACKING has the edges of the cell in its first line, then x, y, z and radius of every grain. Hertz-Mindlin with moments
and the numbers of Cheng et al. (2018), Table 5: isotropic compression to 0.2 MPa, then slow shear, the least of several
repeats. Prints one line of JSON. The names O, FrictMat, ... are those that YADE puts into a script.
"""
# ruff: noqa: F821, PTH123
# mypy: ignore-errors

import json
import math
import sys
import time

PRESSURE, REPEATS, STEPS = 0.2e6, 6, 200


def measure(packing: str) -> None:
    with open(packing) as file:
        edges = [float(word) for word in file.readline().split()]
        rows = [[float(word) for word in line.split()] for line in file]
    O.periodic = True
    O.cell.hSize = Matrix3(edges[0], 0, 0, 0, edges[1], 0, 0, 0, edges[2])
    sand = FrictMat(young=4.123e9, poisson=0.064, frictionAngle=math.radians(30.387), density=2650e3)
    O.materials.append(sand)
    for x, y, z, radius in rows:
        O.bodies.append(sphere((x, y, z), radius, material=sand))
    O.engines = [
        ForceResetter(),
        # The distance at which its neighbour list costs least here.
        InsertionSortCollider([Bo1_Sphere_Aabb()], verletDist=-0.3),
        InteractionLoop(
            [Ig2_Sphere_Sphere_ScGeom()],
            [Ip2_FrictMat_FrictMat_MindlinPhys(krot=0.148, ktwist=0.148, eta=0.202)],
            [Law2_ScGeom_MindlinPhys_Mindlin(includeMoment=True)],
        ),
        GlobalStiffnessTimeStepper(timestepSafetyCoefficient=0.5, timeStepUpdateInterval=25),
        PeriTriaxController(
            label="triax", dynCell=True, stressMask=7, goal=(-PRESSURE,) * 3, maxStrainRate=(1, 1, 1), doneHook="pass"
        ),
        NewtonIntegrator(damping=0.9, label="newton"),
    ]
    O.dt = 0.1 * PWaveTimeStep()
    for _ in range(60):
        O.run(100, True)
        if max(abs(s + PRESSURE) for s in triax.stress) < 1e-3 * PRESSURE and unbalancedForce() < 1e-3:
            break
    newton.damping = 0.2
    triax.stressMask = 3
    triax.maxStrainRate = (1, 1, 0.1)
    triax.goal = Vector3(-PRESSURE, -PRESSURE, -0.5)
    best = math.inf
    for _ in range(REPEATS):
        start = time.process_time()
        O.run(STEPS, True)
        best = min(best, (time.process_time() - start) / STEPS / O.interactions.countReal())
    print(json.dumps({"ns": 1e9 * best}), flush=True)


if __name__ == "__main__":
    measure(sys.argv[-1])
