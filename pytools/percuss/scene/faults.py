"""What can be wrong with a scene before a number is computed: names, groups, laws, joints. The core checks the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from percuss import _core
from percuss.errors import InputError
from percuss.scene.links import JOINT_KINDS, Actuator, Bushing, Element, Joint, Link, Signal
from percuss.scene.probes import JointProbe, PairProbe
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    from percuss.scene.description import SceneDescription

# What the core can tell apart.
MOST_GROUPS = 1024

# The largest coefficients of a law.
COEFFICIENTS = {
    "restitution": 1.0,
    "friction": _core.MOST_FRICTION,
    "rolling_m": _core.MOST_ROLLING_M,
    "twisting_m": _core.MOST_ROLLING_M,
}

Fault = tuple[str, str]


def faults_of(scene: SceneDescription) -> list[Fault]:
    """Every fault: where, and in one sentence what."""
    return [*_bodies(scene), *_laws(scene), *_links(scene), *_bonds(scene), *_loads_and_probes(scene)]


def _twice(where: str, label: str, names: Sequence[str]) -> Iterator[Fault]:
    for name in (name for name, count in Counter(names).items() if count > 1):
        yield where, f"two {label} are called {name}: give them names that differ"


def _bodies(scene: SceneDescription) -> Iterator[Fault]:
    if not scene.bodies:
        yield "bodies", "there are none: a scene needs at least one"
    names = [body.name for body in scene.bodies]
    if len(set(names)) < len(names):
        yield from _twice("bodies", "bodies", names)
    for body in scene.bodies:
        try:
            body.role()
        except InputError as fault:
            yield "bodies", str(fault)
    if len(scene.groups) > MOST_GROUPS:
        yield "bodies", f"there are {len(scene.groups)} groups, at most {MOST_GROUPS} are allowed"


def _laws(scene: SceneDescription) -> Iterator[Fault]:
    named = {name for law in scene.laws for name in law.groups}
    # Without any law a scene of joints is free of contact: its contactors are for masses and pictures.
    for body in scene.bodies if scene.laws or not scene.joints else ():
        for contactor in body.contactors:
            if contactor.group not in named:
                yield (
                    "laws",
                    f"body {body.name} has a {contactor.shape.kind} in group {contactor.group}, which no law names: "
                    "add a law or leave the contactor out",
                )
                named.add(contactor.group)
    carriers: dict[str, set[int]] = {name: set() for name in scene.groups}
    for index, body in enumerate(scene.bodies):
        for contactor in body.contactors:
            carriers[contactor.group].add(index)
    pairs = [" and ".join(sorted(law.groups)) for law in scene.laws]
    yield from _twice("laws", "laws", pairs)
    for law in scene.laws:
        between = f"law between {law.groups[0]} and {law.groups[1]}"
        for key, most in COEFFICIENTS.items():
            value = getattr(law, key)
            if not 0.0 <= value <= most:
                yield "laws", f"{between}: {key} = {value:g}, must be from 0 to {most:g}"
        strange = [name for name in dict.fromkeys(law.groups) if name not in carriers]
        for name in strange:
            yield "laws", f"{between}: no contactor is in group {name}; {did_you_mean(name, carriers)}"
        if not strange and not _can_meet(scene, carriers[law.groups[0]], carriers[law.groups[1]]):
            yield "laws", f"{between}: their contactors never meet, being all on fixed bodies or on one body"


def _can_meet(scene: SceneDescription, first: set[int], second: set[int]) -> bool:
    if len(first | second) < 2:
        return False
    return any(not scene.bodies[index].fixed for index in first | second)


def _links(scene: SceneDescription) -> Iterator[Fault]:
    joints = {joint.name: joint for joint in scene.joints}
    yield from _twice("joints", "joints", [joint.name for joint in scene.joints])
    for joint in scene.joints:
        yield from (("joints", fault) for fault in (*_places(scene, joint, "joint"), *_joint(joint)))
    for element in scene.elements:
        yield from ((_list_of(element), fault) for fault in _element(scene, element, joints))


def _list_of(element: Element) -> str:
    return f"{type(element).__name__.lower()}s"


def _places(scene: SceneDescription, link: Link, label: str) -> Iterator[str]:
    yield from link.faults(label)
    for name in link.bodies:
        if name not in scene.body_index:
            yield f"{label} {link.name} names body {name}, which is not there; {did_you_mean(name, scene.body_index)}"


def _joint(joint: Joint) -> Iterator[str]:
    label = f"joint {joint.name}"
    if joint.kind not in JOINT_KINDS:
        hint = did_you_mean(joint.kind, JOINT_KINDS)
        yield f"{label} is of kind {joint.kind or '(none)'}, which is not known; {hint}"
        return
    named = [*(i.coordinate for i in joint.imposed), *(i.coordinate for i in joint.limits)]
    for name in (*named, *(i.coordinate for i in joint.friction)):
        try:
            joint.coordinate(name)
        except InputError as fault:
            yield str(fault)
    for imposed in joint.imposed:
        signals = [signal for signal in (imposed.position, imposed.velocity) if signal is not None]
        if len(signals) != 1:
            yield f"{label} imposes {len(signals)} of position and velocity: give one"
        for signal in signals:
            yield from _signal(signal, label)


def _element(scene: SceneDescription, element: Element, joints: dict[str, Joint]) -> Iterator[str]:
    label = type(element).__name__.lower()
    if isinstance(element, Bushing) or element.joint is None:
        yield from _places(scene, element, label)
        return
    if element.joint not in joints:
        yield f"{label} {element.name} names joint {element.joint}; {did_you_mean(element.joint, joints)}"
    elif joints[element.joint].kind in JOINT_KINDS:
        try:
            element.acts(joints)
        except InputError as fault:
            yield f"{label} {element.name}: {fault}"
    if isinstance(element, Actuator):
        yield from _signal(element.effort, f"{label} {element.name}")


def _signal(signal: Signal, label: str) -> Iterator[str]:
    if isinstance(signal, str):
        try:
            _core.formula_values(signal, [])
        except ValueError as fault:
            yield f"{label}: {fault}"


def _bonds(scene: SceneDescription) -> Iterator[Fault]:
    yield from _twice("bonds", "bonds", [bond.name for bond in scene.bonds])
    for bond in scene.bonds:
        label = f"bond {bond.name}"
        if (bond.bodies is None) == (bond.groups is None):
            how_many = "neither" if bond.bodies is None else "both"
            yield "bonds", f"{label} gives {how_many} of bodies and groups: give one"
            continue
        known = scene.body_index if bond.bodies is not None else scene.groups
        kind = "body" if bond.bodies is not None else "group"
        for name in bond.bodies or bond.groups or ():
            if name not in known:
                yield "bonds", f"{label} names {kind} {name}, which is not there; {did_you_mean(name, known)}"
        if bond.bodies is not None and len(set(bond.bodies)) == 1:
            yield "bonds", f"{label} names body {bond.bodies[0]} twice: it needs two bodies"
        for key, value in (("tension", bond.tension_pa), ("shear", bond.shear_pa)):
            if not 0.0 < value < math.inf:
                yield "bonds", f"{label}: {key} = {value:g} Pa, must be finite and above 0"
        energies = (bond.tension_j_per_m2, bond.shear_j_per_m2)
        if not all(0.0 <= value < math.inf for value in energies) or (energies[0] > 0.0) != (energies[1] > 0.0):
            yield (
                "bonds",
                f"{label}: tension_energy = {energies[0]:g} J/m^2 and shear_energy = {energies[1]:g} J/m^2, must be "
                "finite and above 0, or both 0 or left out",
            )


def _loads_and_probes(scene: SceneDescription) -> Iterator[Fault]:
    yield from _twice("probes", "probes", [probe.name for probe in scene.probes])
    references = [("loads", "a load", load.body) for load in scene.loads]
    references += [
        ("probes", f"probe {p.name}", p.body) for p in scene.probes if not isinstance(p, PairProbe | JointProbe)
    ]
    for where, label, name in references:
        if name not in scene.body_index:
            yield where, f"{label} names body {name}, which is not there; {did_you_mean(name, scene.body_index)}"
    for probe in scene.probes:
        if isinstance(probe, JointProbe) and probe.joint not in scene.joint_index:
            yield (
                "probes",
                f"probe {probe.name} names joint {probe.joint}; {did_you_mean(probe.joint, scene.joint_index)}",
            )
        if isinstance(probe, PairProbe):
            try:
                scene.law_between(probe.groups)
            except InputError as fault:
                yield "probes", f"probe {probe.name}: {fault}"
