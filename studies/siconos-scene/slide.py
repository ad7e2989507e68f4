"""A block slides to rest on a plane, in Siconos: reads given.json, writes result.json (metres, seconds).

Siconos writes its scene to a file and says much on stdout; both stay in the scratch folder and in the event.
"""

import json
from pathlib import Path

import siconos.kernel as kernel
import siconos.numerics as numerics
from siconos.io.mechanics_run import MechanicsHdf5Runner
from siconos.mechanics.collision.tools import Contactor

STEP_S = 1e-3
HEIGHT_M = 0.4


def main() -> None:
    given = json.loads(Path("given.json").read_text())
    with MechanicsHdf5Runner(io_filename="scene.hdf5") as scene:
        scene.add_primitive_shape("block", "Box", (1.0, 1.0, HEIGHT_M))
        scene.add_primitive_shape("plane", "Box", (40.0, 40.0, 1.0))
        scene.add_Newton_impact_friction_nsl("contact", mu=given["friction"], e=0.0)
        velocity = [given["speed_m_per_s"], 0, 0, 0, 0, 0]
        at = [0, 0, HEIGHT_M / 2]
        scene.add_object("block", [Contactor("block")], translation=at, velocity=velocity, mass=1000.0)
        scene.add_object("plane", [Contactor("plane")], translation=[0, 0, -0.5])
    options = kernel.solver_options_create(numerics.SICONOS_FRICTION_3D_NSGS)
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 1000
    options.dparam[numerics.SICONOS_DPARAM_TOL] = 1e-8
    places = []
    # The state is taken at the end of every step: what Siconos writes to its own file has single precision.
    with MechanicsHdf5Runner(mode="r+", io_filename="scene.hdf5") as scene:
        scene.run(
            h=STEP_S,
            t0=0,
            T=given["duration_s"],
            theta=0.50001,
            Newton_max_iter=1,
            solver_options=options,
            verbose=False,
            verbose_progress=False,
            output_frequency=10**9,
            end_run_iteration_hook=lambda io: places.append(float(io._io.positions(io._nsds)[0][1])),
        )
    Path("result.json").write_text(json.dumps({"travel": places[-1], "steps": len(places)}))


if __name__ == "__main__":
    main()
