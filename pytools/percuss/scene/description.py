"""What a scene consists of, and how the core is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from percuss.errors import InputError
from percuss.scene.bodies import Body, Load
from percuss.scene.bonds import Bond
from percuss.scene.links import Element, Joint, Link, element_description, joint_description
from percuss.scene.probes import JointProbe, PairProbe, PointProbe, Probe
from percuss.scene.shapes import Vector


@dataclass(frozen=True)
class Law:
    """Contact law between two groups of contactors; groups without a law pass through each other.

    Newton's law can create energy if there is both friction and restitution; Fremond's never does. Couples up
    to `rolling_m` and `twisting_m` times the normal force brake rolling and spinning.
    """

    groups: tuple[str, str]
    restitution: float = 0.0
    friction: float = 0.0
    impact: str = "newton"
    rolling_m: float = 0.0
    twisting_m: float = 0.0


@dataclass(frozen=True)
class SceneDescription:
    """Everything a simulation starts from, as data. Names are unique; groups are known by name."""

    bodies: Sequence[Body]
    laws: Sequence[Law] = ()
    loads: Sequence[Load] = ()
    probes: Sequence[Probe] = ()
    gravity_m_per_s2: Vector = (0.0, 0.0, -9.80665)
    joints: Sequence[Joint] = ()
    elements: Sequence[Element] = ()
    bonds: Sequence[Bond] = ()

    @cached_property
    def groups(self) -> dict[str, int]:
        """Number of each group, in the order of first use."""
        names = [contactor.group for body in self.bodies for contactor in body.contactors]
        return {name: number for number, name in enumerate(dict.fromkeys(names))}

    @cached_property
    def body_index(self) -> Mapping[str, int]:
        """Index of each body."""
        return {body.name: index for index, body in enumerate(self.bodies)}

    @cached_property
    def joint_index(self) -> Mapping[str, int]:
        """Index of each joint."""
        return {joint.name: index for index, joint in enumerate(self.joints)}

    def law_between(self, groups: Sequence[str]) -> int:
        """Index of the law between two groups."""
        for index, law in enumerate(self.laws):
            if sorted(law.groups) == sorted(groups):
                return index
        raise InputError(f"no law between groups {groups[0]} and {groups[1]}")

    def description(self) -> dict[str, Any]:
        """The scene as the core takes it."""
        joints = {joint.name: joint for joint in self.joints}
        elements = [element_description(element, joints) for element in self.elements]
        return {
            "bodies": [
                {
                    "name": body.name,
                    "role": body.role(),
                    "contactors": [
                        {
                            "shape": {"kind": c.shape.kind, **vars(c.shape)},
                            "group": self.groups[c.group],
                            "position_m": c.position_m,
                            "rotation_rad": c.rotation_rad,
                        }
                        for c in body.contactors
                    ],
                    "position_m": body.position_m,
                    "rotation_rad": body.rotation_rad,
                    "velocity_m_per_s": body.velocity_m_per_s,
                    "angular_velocity_rad_per_s": body.angular_velocity_rad_per_s,
                    "birth_s": body.birth_s,
                    "removal_s": body.removal_s,
                }
                for body in self.bodies
            ],
            "laws": [{**vars(law), "groups": tuple(self.groups[name] for name in law.groups)} for law in self.laws],
            "joints": [joint_description(joint) | self._sides(joint) for joint in self.joints],
            "elements": [described | self._sides(link) for link, described in elements],
            "bonds": [bond.description(self.body_index, self.groups) for bond in self.bonds],
            "loads": [{**vars(load), "body": self.body_index[load.body]} for load in self.loads],
            "probes": [self._probe(probe) for probe in self.probes],
            "gravity_m_per_s2": self.gravity_m_per_s2,
        }

    @cached_property
    def _by_name(self) -> dict[str, Body]:
        return {name: self.bodies[index] for name, index in self.body_index.items()}

    def _sides(self, link: Link) -> dict[str, Any]:
        pair = [None if name is None else self.body_index[name] for name in link.pair()]
        return {"bodies": pair, "frames": link.sides(self._by_name)}

    def _probe(self, probe: Probe) -> dict[str, Any]:
        common = {"name": probe.name, "every": probe.every}
        if isinstance(probe, PairProbe):
            return common | {"kind": "law-contacts", "law": self.law_between(probe.groups)}
        if isinstance(probe, JointProbe):
            return common | {"kind": "joint", "joint": self.joint_index[probe.joint]}
        body = self.body_index[probe.body]
        if isinstance(probe, PointProbe):
            return common | {"kind": "point", "body": body, "point_m": probe.point_m}
        return common | {"kind": "body-contacts", "body": body}
