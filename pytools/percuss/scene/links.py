"""What joins two bodies, or a body and the world: joints, springs, bushings, actuators.

All have a frame on each of their two bodies. Either both frames are the same place at the start, given by `point_m`,
`axis` (its z) and `reference` (towards its x) in world axes; or each is given in the frame of its body, by `points_m`
and `axes`, and the scene is put together from there. One body alone is joined to the world.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from percuss import _core
from percuss.errors import InputError
from percuss.scene.bodies import ZERO, Body
from percuss.scene.rotation import facing, turn, turned_by
from percuss.scene.shapes import Vector
from percuss.spelling import did_you_mean

# Kinds of joints, each with the names of its coordinates.
JOINT_KINDS: dict[str, tuple[str, ...]] = {kind: tuple(names) for kind, names in _core.joint_kinds()}
UP: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class History:
    """Values at increasing times: motions are smooth between and at rest outside, all else linear and constant."""

    times_s: Sequence[float]
    values: Sequence[float]


# A formula in t, or values over time.
Signal = str | History


@dataclass(frozen=True)
class Imposed:
    """A coordinate with prescribed motion: its `position` (m or rad) or its `velocity` over time, SI.

    The coordinate may be left out if the joint has only one.
    """

    coordinate: str = ""
    position: Signal | None = None
    velocity: Signal | None = None


@dataclass(frozen=True)
class Limit:
    """Bounds of a coordinate (m or rad).

    The nonsmooth stepper stops it there with `restitution`; the smooth one by a spring of `stiffness` (N/m or N m/rad)
    and a damper that never pulls.
    """

    coordinate: str = ""
    low: float = -math.inf
    high: float = math.inf
    restitution: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class JointFriction:
    """Dry friction of a coordinate, up to `bound` (N or N m); for the smooth stepper bound * tanh(rate / slip_rate).

    For the nonsmooth stepper `per_reaction` times the reaction force of the joint adds to the bound: the coefficient of
    friction of a slide, or that times the radius of the pin (m).
    """

    coordinate: str = ""
    bound: float = 0.0
    per_reaction: float = 0.0
    slip_rate: float = 0.0


@dataclass(frozen=True)
class Link:
    """Two bodies, or one and the world, and where they are joined."""

    name: str
    bodies: Sequence[str] = ()
    point_m: Vector | None = field(default=None, kw_only=True)
    axis: Vector = field(default=UP, kw_only=True)
    reference: Vector | None = field(default=None, kw_only=True)
    points_m: Sequence[Vector] | None = field(default=None, kw_only=True)
    axes: Sequence[Vector] | None = field(default=None, kw_only=True)

    def sides(self, bodies: Mapping[str, Body]) -> list[dict[str, Any]]:
        """The two frames in the frames of the bodies, as the core takes them."""
        pair = self.pair()
        if self.points_m is not None:
            axes = self.axes or (self.axis, self.axis)
            places = zip(self.points_m, axes, strict=True)
            return [
                {"position_m": point, "rotation_rad": facing(axis, self.reference, f"{self.name}: axes")}
                for point, axis in places
            ]
        rotation = facing(self.axis, self.reference, f"{self.name}: axis")
        frames = []
        for name in pair:
            body = bodies[name] if name is not None else Body("world")
            back: Vector = (-body.rotation_rad[0], -body.rotation_rad[1], -body.rotation_rad[2])
            (x, y, z), (bx, by, bz) = self.point_m or ZERO, body.position_m
            frames.append(
                {"position_m": turn(back, (x - bx, y - by, z - bz)), "rotation_rad": turned_by(back, rotation)}
            )
        return frames

    def pair(self) -> tuple[str | None, str | None]:
        """Names of the two bodies; None for the world, which is the first."""
        if len(self.bodies) == 1:
            return None, self.bodies[0]
        first, second = self.bodies
        return first, second

    def faults(self, label: str) -> list[str]:
        """What is wrong with the places it is given."""
        start = f"{label} {self.name}"
        if len(self.bodies) not in (1, 2):
            return [f"{start} names {len(self.bodies)} bodies: one (and the world) or two are joined"]
        if (self.point_m is None) == (self.points_m is None):
            how_many = "neither" if self.point_m is None else "both"
            return [f"{start} gives {how_many} of point and points: give a place in the world, or one on each body"]
        for key, value in (("points", self.points_m), ("axes", self.axes)):
            if value is not None and len(value) != 2:
                return [f"{start} gives {len(value)} {key}: two are needed, one in the frame of each body"]
        if self.axes is not None and self.points_m is None:
            return [f"{start} gives axes without points: they are in the frames of the bodies, as points are"]
        try:
            for axis in self.axes or (self.axis,):
                facing(axis, self.reference, f"{start}: axis")
        except InputError as fault:
            return [str(fault)]
        return []


@dataclass(frozen=True)
class Joint(Link):
    """A joint between two bodies; `kind` is one of `JOINT_KINDS`.

    The axis is that of turning and sliding, or the normal of a planar joint; a universal joint turns about `reference`
    on its first body and about the axis on its second. Coordinates are zero while the two frames coincide. A distance
    joint keeps the two points at `length_m`, or at their distance at the start; with limits it is a tether.
    """

    kind: str = field(default="", kw_only=True)
    length_m: float | None = field(default=None, kw_only=True)
    imposed: Sequence[Imposed] = field(default=(), kw_only=True)
    limits: Sequence[Limit] = field(default=(), kw_only=True)
    friction: Sequence[JointFriction] = field(default=(), kw_only=True)

    def coordinate(self, name: str) -> str:
        """The coordinate with this name, or the only one; raises InputError if there is none."""
        return coordinate_of(self.kind, name, f"joint {self.name}")


@dataclass(frozen=True)
class OnCoordinate(Link):
    """A force on a coordinate: of a `joint`; with `about` the angle about the axis; else the distance of two points."""

    joint: str | None = field(default=None, kw_only=True)
    coordinate: str = field(default="", kw_only=True)
    about: bool = field(default=False, kw_only=True)

    def acts(self, joints: Mapping[str, Joint]) -> tuple[Link, str, str]:
        """Whose frames it acts between, and on which coordinate of which kind of joint."""
        if self.joint is not None:
            joint = joints[self.joint]
            return joint, joint.kind, joint.coordinate(self.coordinate)
        return (self, "revolute", "angle") if self.about else (self, "distance", "length")


@dataclass(frozen=True)
class Spring(OnCoordinate):
    """A spring and damper: stiffness (x - rest) + damping x' + preload against the coordinate x.

    N/m, N s/m, m and N on a line, N m/rad, N m s/rad, rad and N m about an axis. No `rest`: the value at the start.
    """

    stiffness: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    rest: float | None = field(default=None, kw_only=True)
    preload: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True)
class Actuator(OnCoordinate):
    """A force (N) or torque (N m) over time, positive where it makes the coordinate grow."""

    effort: Signal = field(default="0", kw_only=True)


@dataclass(frozen=True)
class Bushing(Link):
    """Springs and dampers along and about the axes of the first body's frame, with the force at rest on the second."""

    stiffness_n_per_m: Vector = field(default=ZERO, kw_only=True)
    rotational_stiffness_n_m_per_rad: Vector = field(default=ZERO, kw_only=True)
    damping_n_s_per_m: Vector = field(default=ZERO, kw_only=True)
    rotational_damping_n_m_s_per_rad: Vector = field(default=ZERO, kw_only=True)
    preload_n: Vector = field(default=ZERO, kw_only=True)
    preload_torque_n_m: Vector = field(default=ZERO, kw_only=True)


Element = Spring | Bushing | Actuator


def coordinate_of(kind: str, name: str, label: str) -> str:
    """The coordinate of a kind of joint meant by a name, or by none."""
    known = JOINT_KINDS[kind]
    if not name and len(known) == 1:
        return known[0]
    if name not in known:
        if not known:
            raise InputError(f"{label}: {kind} joints leave nothing free, there is no coordinate {name}")
        complaint = f"{kind} joints have no coordinate {name}" if name else f"which coordinate of a {kind} joint"
        raise InputError(f"{label}: {complaint}; {did_you_mean(name, known)}")
    return name


def is_angle(coordinate: str) -> bool:
    """Tell whether a coordinate is an angle rather than a length."""
    return "angle" in coordinate


def signal_description(signal: Signal) -> dict[str, Any]:
    """A signal as the core takes it."""
    if isinstance(signal, str):
        return {"formula": signal}
    return {"formula": None, "times_s": signal.times_s, "values": signal.values}


def joint_description(joint: Joint) -> dict[str, Any]:
    """What a joint is besides its bodies and frames, as the core takes it."""
    return {
        "name": joint.name,
        "kind": joint.kind,
        "length_m": joint.length_m,
        "imposed": [
            {"coordinate": joint.coordinate(i.coordinate), "velocity": i.velocity is not None}
            | signal_description(i.position if i.velocity is None else i.velocity)  # type: ignore[arg-type]
            for i in joint.imposed
        ],
        "limits": [vars(limit) | {"coordinate": joint.coordinate(limit.coordinate)} for limit in joint.limits],
        "friction": [vars(f) | {"coordinate": joint.coordinate(f.coordinate)} for f in joint.friction],
    }


def element_description(element: Element, joints: Mapping[str, Joint]) -> tuple[Link, dict[str, Any]]:
    """Between whose frames an element acts, and what it does, as the core takes it."""
    if isinstance(element, Bushing):
        return element, {
            "name": element.name,
            "kind": "bushing",
            "stiffness": (*element.stiffness_n_per_m, *element.rotational_stiffness_n_m_per_rad),
            "damping": (*element.damping_n_s_per_m, *element.rotational_damping_n_m_s_per_rad),
            "preload": (*element.preload_n, *element.preload_torque_n_m),
        }
    between, on, coordinate = element.acts(joints)
    common = {"name": element.name, "on": on, "coordinate": coordinate}
    if isinstance(element, Actuator):
        return between, common | {"kind": "actuator"} | signal_description(element.effort)
    numbers = {key: getattr(element, key) for key in ("stiffness", "damping", "rest", "preload")}
    return between, common | {"kind": "spring"} | numbers
