"""Bonds: faces of bodies that hold together until they break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bond:
    """Glue between two `bodies`, or between every two bodies with contactors of two `groups` that touch at the start.

    It bears tension up to `tension_pa`, shear up to `shear_pa`, both in a straight line between, and more shear under
    pressure. With fracture energies it opens and slides under a strength that falls in proportion, and is broken when
    `tension_j_per_m2` or `shear_j_per_m2` have been spent; without, it breaks as soon as it moves. Damage stays. Faces
    are divided into points, more with the square of `refinement`.
    """

    name: str
    tension_pa: float
    shear_pa: float
    bodies: tuple[str, str] | None = None
    groups: tuple[str, str] | None = None
    tension_j_per_m2: float = 0.0
    shear_j_per_m2: float = 0.0
    refinement: int = 1

    def description(self, bodies: Mapping[str, int], groups: Mapping[str, int]) -> dict[str, Any]:
        """The bond as the core takes it."""
        return vars(self) | {
            "bodies": self.bodies and [bodies[name] for name in self.bodies],
            "groups": self.groups and tuple(groups[name] for name in self.groups),
        }


@dataclass(frozen=True)
class BondState:
    """What is left of a bond: its area, the area of broken points, the mean damage of its area, from 0 to 1."""

    area_m2: float
    broken_m2: float
    damage: float
