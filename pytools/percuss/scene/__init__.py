"""Rigid bodies that touch, hit and rub: describe a scene, run it, read what came out. SI throughout.

    A block slides to rest on the ground: v^2 / (2 mu g).

    >>> from percuss.scene import Body, Box, Contactor, HalfSpace, Law, PointProbe, Scene, Settings
    >>> ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    >>> block = Body("block", [Contactor(Box((0.4, 0.4, 0.2)), "block")], mass_kg=10.0,
    ...              position_m=(0, 0, 0.1), velocity_m_per_s=(3, 0, 0))
    >>> scene = Scene([ground, block], [Law(("ground", "block"), friction=0.3)], probes=[PointProbe("block", "block")])
    >>> result = scene.run(1.5, Settings(dt_s=1e-3))
    >>> round(float(result.probes["block"]["x_m"][-1]), 3), round(3**2 / (2 * 0.3 * 9.80665), 3)
    (1.53, 1.53)
    >>> result.unmet_steps
    0

`Scene.world` gives the scene in motion, to settle it, to stop and go on to the same bits, or to change velocities:

    >>> world = scene.world(Settings(dt_s=1e-3))
    >>> first = world.run(0.5)
    >>> state = world.snapshot()
    >>> there = world.run(0.5).probes["block"]["x_m"][-1]
    >>> world.restore(state)
    >>> bool(world.run(0.5).probes["block"]["x_m"][-1] == there)
    True
"""

from __future__ import annotations

from percuss.scene.bodies import Body, Contactor, Load, Motion, SampledMotion, SineMotion, SteadyMotion
from percuss.scene.bonds import Bond, BondState
from percuss.scene.checkpoint import Checkpoint
from percuss.scene.cutting import cut, shatter
from percuss.scene.description import Law
from percuss.scene.links import (
    JOINT_KINDS,
    Actuator,
    Bushing,
    Element,
    History,
    Imposed,
    Joint,
    JointFriction,
    Limit,
    Spring,
)
from percuss.scene.patterns import grid, polar
from percuss.scene.probes import BodyProbe, JointProbe, PairProbe, PointProbe, Probe
from percuss.scene.scene import Scene
from percuss.scene.shapes import (
    SHAPES,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Polyhedron,
    Ring,
    Shape,
    Sphere,
)
from percuss.scene.world import Assembled, PairWork, Record, Result, Settings, Settle, Settled, World

__all__ = [
    "JOINT_KINDS",
    "SHAPES",
    "Actuator",
    "Assembled",
    "Body",
    "BodyProbe",
    "Bond",
    "BondState",
    "Box",
    "Bushing",
    "Capsule",
    "Checkpoint",
    "Cone",
    "Contactor",
    "Cylinder",
    "Element",
    "Ellipsoid",
    "HalfSpace",
    "HeightField",
    "History",
    "Imposed",
    "Joint",
    "JointFriction",
    "JointProbe",
    "Law",
    "Limit",
    "Load",
    "Mesh",
    "Motion",
    "PairProbe",
    "PairWork",
    "PointProbe",
    "Polyhedron",
    "Probe",
    "Record",
    "Result",
    "Ring",
    "SampledMotion",
    "Scene",
    "Settings",
    "Settle",
    "Settled",
    "Shape",
    "SineMotion",
    "Sphere",
    "Spring",
    "SteadyMotion",
    "World",
    "cut",
    "grid",
    "polar",
    "shatter",
]
