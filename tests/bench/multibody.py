"""Five bodies on shaken feet: time of a simulated second, of 500 realisations, and of Exudyn and MuJoCo beside it.

The peers run only where they are installed, and take the lifts as their users give them: Exudyn by functions of time,
MuJoCo by a loop over its steps; there the second foot is welded, softly, to what lifts it. Times are of CPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tests.bench.measure import Line, best
from tests.unit.scene.test_links import five_bodies

from percuss.models.model import configure
from percuss.scene import Record

STEPS, DT_S = 300, 1e-4
# Seconds of CPU for a simulated second, and for 500 realisations on two cores.
ALLOWED_S, ALLOWED_500_S = 0.1, 2.0
FASTER = 5.0


def bench() -> list[Line]:
    """Ours against its bounds and against the peers."""
    table = five_bodies()
    table["bodies"][-1]["mass"] = "$mass"
    model = configure("scene", table, {})
    experiment = model.experiment({"mass": 20.0})  # type: ignore[attr-defined]
    world = experiment.scene.world(experiment.settings)
    start = world.snapshot()

    def ours() -> None:
        world.restore(start)
        world.run(STEPS * DT_S, Record(energy_every=0, steps_every=0))

    peers = {name: made for name, make in (("Exudyn", _exudyn), ("MuJoCo", _mujoco)) if (made := make()) is not None}
    core, run, *others = best(
        15, ours, lambda: model.run([{"mass": 20.0}], [0]), *peers.values(), clock=time.process_time
    )
    second = core / (STEPS * DT_S)
    realisations = 500 * run / 2
    return [
        Line(
            f"five bodies, a simulated second at .1 ms by {experiment.settings.method}",
            f"{second:.3f} s",
            second / ALLOWED_S,
            1.0,
        ),
        Line("500 realisations on two cores", f"{realisations:.2f} s", realisations / ALLOWED_500_S, 1.0),
        *(
            Line(f"five bodies against {name}", f"{theirs / (STEPS * DT_S):.2f} s", core / theirs, 1.0 / FASTER)
            for name, theirs in zip(peers, others, strict=True)
        ),
    ]


def _lift(t: float, start: float) -> tuple[float, float]:
    """The pulse of a foot, and its rate."""
    s = math.pi * (t - start) / 0.012
    if not 0.0 <= s <= math.pi:
        return 0.0, 0.0
    return 0.004 * math.sin(s) ** 4, 0.016 * math.sin(s) ** 3 * math.cos(s) * math.pi / 0.012


def _exudyn() -> Callable[[], object] | None:
    try:
        import exudyn
        from exudyn.utilities import RigidBodyInertia
    except ImportError:
        return None
    import warnings

    import numpy as np

    def cylinder(mass: float, height: float) -> np.ndarray:
        across = mass * (3 * 0.05**2 + height**2) / 12
        return np.diag([across, across, mass * 0.05**2 / 2])

    system = exudyn.SystemContainer().AddSystem()
    ground = system.CreateGround()

    def body(mass: float, inertia: np.ndarray, place: list[float]) -> object:
        own = RigidBodyInertia(mass=mass, inertiaTensor=inertia)
        return system.CreateRigidBody(referencePosition=place, inertia=own, gravity=[0, 0, -9.81])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = body(20.0, np.diag([0.283333, 1.683333, 1.933333]), [0, 0, 0.55])
        for x, held in ((-0.4, [1] * 6), (0.4, [0, 1, 1, 1, 1, 1])):
            foot = body(2.0, cylinder(2.0, 0.2), [x, 0, 0.1])
            leg = body(3.0, cylinder(3.0, 0.25), [x, 0, 0.35])
            system.CreateGenericJoint(
                bodyNumbers=[ground, foot], position=[x, 0, 0.1], constrainedAxes=held, useGlobalFrame=True
            )
            system.CreateRevoluteJoint(
                bodyNumbers=[leg, table], position=[x, 0, 0.5], axis=[0, 1, 0], useGlobalFrame=True
            )
            system.CreateRigidBodySpringDamper(
                bodyNumbers=[foot, leg],
                localPosition0=[0, 0, 0.125],
                localPosition1=[0, 0, -0.125],
                stiffness=np.diag([4e5, 4e5, 1e6, 4e3, 4e3, 4e3]),
                damping=np.diag([200, 200, 500, 4, 4, 4]),
            )
        driven = [
            item
            for item in range(system.systemData.NumberOfObjects())
            if system.GetObject(item)["objectType"] == "JointGeneric"
        ]
        for item, start in zip(driven, (0.0, 0.006), strict=True):

            def place(_: object, t: float, *__: object, start: float = start) -> list[float]:
                return [0.0, 0.0, _lift(t, start)[0], 0.0, 0.0, 0.0]

            def rate(_: object, t: float, *__: object, start: float = start) -> list[float]:
                return [0.0, 0.0, _lift(t, start)[1], 0.0, 0.0, 0.0]

            system.SetObjectParameter(item, "offsetUserFunction", place)
            system.SetObjectParameter(item, "offsetUserFunction_t", rate)
        system.Assemble()
        settings = exudyn.SimulationSettings()
        settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.endTime = STEPS * DT_S
    settings.timeIntegration.newton.useModifiedNewton = True
    return lambda: system.SolveDynamic(settings)


_BUSHING = """
<joint type="slide" axis="1 0 0" stiffness="4e5" damping="200"/>
<joint type="slide" axis="0 1 0" stiffness="4e5" damping="200"/>
<joint type="slide" axis="0 0 1" stiffness="1e6" damping="500"/>
<joint type="ball" stiffness="4e3" damping="4"/>
"""
_BODIES = f"""
<mujoco><option timestep="{DT_S}" gravity="0 0 -9.81" integrator="RK4"/>
<worldbody>
 <body name="base" mocap="true" pos="0.4 0 0.1"/>
 <body pos="-0.4 0 0.1"><joint name="lift" type="slide" axis="0 0 1"/>
 <inertial pos="0 0 0" mass="2" diaginertia="0.0079 0.0079 0.0025"/>
 <body pos="0 0 0.125">{_BUSHING}
  <inertial pos="0 0 0.125" mass="3" diaginertia="0.0175 0.0175 0.00375"/>
  <body pos="0 0 0.275"><joint type="hinge" axis="0 1 0"/>
   <inertial pos="0.4 0 0.05" mass="20" diaginertia="0.28333 1.68333 1.93333"/>
   <body pos="0.8 0 0"><joint type="hinge" axis="0 1 0"/>
    <inertial pos="0 0 -0.15" mass="3" diaginertia="0.0175 0.0175 0.00375"/>
    <body name="foot" pos="0 0 -0.275">{_BUSHING}
     <inertial pos="0 0 -0.125" mass="2" diaginertia="0.0079 0.0079 0.0025"/>
 </body></body></body></body></body>
</worldbody>
<equality><weld body1="foot" body2="base"/><joint joint1="lift"/></equality>
</mujoco>
"""


def _mujoco() -> Callable[[], object] | None:
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_string(_BODIES)
    data = mujoco.MjData(model)

    def run() -> None:
        mujoco.mj_resetData(model, data)
        for _ in range(STEPS):
            data.mocap_pos[0, 2] = 0.1 + _lift(data.time, 0.006)[0]
            model.eq_data[1, 0] = _lift(data.time, 0.0)[0]
            mujoco.mj_step(model, data)

    return run
