"""What can be wrong with a scene before a number is computed: names, groups, laws. The core checks the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from percuss.errors import InputError
from percuss.scene.probes import PairProbe
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    from percuss.scene.scene import Scene

# What the core can tell apart.
MOST_GROUPS = 1024

Fault = tuple[str, str]


def faults_of(scene: Scene) -> list[Fault]:
    """Every fault: where, and in one sentence what."""
    return [*_bodies(scene), *_laws(scene), *_loads_and_probes(scene)]


def _twice(where: str, what: str, names: Sequence[str]) -> Iterator[Fault]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield where, f"two {what} are called {name}: give them names that differ"


def _bodies(scene: Scene) -> Iterator[Fault]:
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


def _laws(scene: Scene) -> Iterator[Fault]:
    named = {name for law in scene.laws for name in law.groups}
    for body in scene.bodies:
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
        strange = [name for name in dict.fromkeys(law.groups) if name not in carriers]
        for name in strange:
            yield "laws", f"{between}: no contactor is in group {name}; {did_you_mean(name, carriers)}"
        if not strange and not _can_meet(scene, carriers[law.groups[0]], carriers[law.groups[1]]):
            yield "laws", f"{between}: their contactors never meet, being all on fixed bodies or on one body"


def _can_meet(scene: Scene, first: set[int], second: set[int]) -> bool:
    if len(first | second) < 2:
        return False
    return any(not scene.bodies[index].fixed for index in first | second)


def _loads_and_probes(scene: Scene) -> Iterator[Fault]:
    yield from _twice("probes", "probes", [probe.name for probe in scene.probes])
    wanted = [("loads", "a load", load.body) for load in scene.loads]
    wanted += [("probes", f"probe {p.name}", p.body) for p in scene.probes if not isinstance(p, PairProbe)]
    for where, what, name in wanted:
        if name not in scene.body_index:
            yield where, f"{what} names body {name}, which is not there; {did_you_mean(name, scene.body_index)}"
    for probe in scene.probes:
        if isinstance(probe, PairProbe):
            try:
                scene.law_between(probe.groups)
            except InputError as fault:
                yield "probes", f"probe {probe.name}: {fault}"
