"""Bodies, what they touch with, what moves them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from percuss.errors import InputError
from percuss.scene.shapes import Shape, Vector

ZERO: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Contactor:
    """A shape on a body, in the body's frame; its group decides, through the laws, what it can touch.

    A rotation is a vector: its direction the axis, its length the angle.
    """

    shape: Shape
    group: str
    position_m: Vector = ZERO
    rotation_rad: Vector = ZERO


@dataclass(frozen=True)
class SteadyMotion:
    """The same velocity all the time."""

    kind: ClassVar = "constant"
    velocity_m_per_s: Vector = ZERO
    angular_velocity_rad_per_s: Vector = ZERO


@dataclass(frozen=True)
class SineMotion:
    """The displacement amplitude * sin(2 pi f t + phase), relative to its value at t = 0."""

    kind: ClassVar = "harmonic"
    amplitude_m: Vector
    frequency_hz: float
    phase_rad: float = 0.0


@dataclass(frozen=True)
class SampledMotion:
    """Velocities and angular velocities (none: zero) at increasing times; linear between, constant outside."""

    kind: ClassVar = "sampled"
    times_s: Sequence[float]
    velocities_m_per_s: Sequence[Vector]
    angular_velocities_rad_per_s: Sequence[Vector] = ()


Motion = SteadyMotion | SineMotion | SampledMotion


@dataclass(frozen=True)
class Body:
    """A rigid body: exactly one of `mass_kg`, `density_kg_per_m3`, `motion` and `fixed` says what moves it.

    With `mass_kg` alone the contactors are filled evenly; with `inertia_kg_m2` (about the centre of mass, in the
    body's axes) and `centre_m` the mass properties are as given. `gyration_m2` says the same over the mass: the
    components xx, yy, zz, xy, xz, yz of Z = 1/m int x x' dm, from which J = m (tr(Z) I - Z) is that of a real body
    for any positive semidefinite Z. A motion is in world axes, and so are velocities; `velocity_m_per_s` is that of
    the centre of mass. Settling holds a body that has a velocity where it is.
    """

    name: str
    contactors: Sequence[Contactor] = ()
    mass_kg: float | None = None
    density_kg_per_m3: float | None = None
    inertia_kg_m2: Sequence[Vector] | None = None
    gyration_m2: Sequence[float] | None = None
    centre_m: Vector = ZERO
    motion: Motion | None = None
    fixed: bool = False
    position_m: Vector = ZERO
    rotation_rad: Vector = ZERO
    velocity_m_per_s: Vector = ZERO
    angular_velocity_rad_per_s: Vector = ZERO
    birth_s: float = 0.0
    removal_s: float = math.inf

    @property
    def dynamic(self) -> bool:
        """Whether forces move it."""
        return not self.fixed and self.motion is None

    def role(self) -> dict[str, Any]:
        """What moves it, as the core takes it; raises InputError unless one thing does."""
        roles = {
            "mass_kg": self.mass_kg is not None,
            "density_kg_per_m3": self.density_kg_per_m3 is not None,
            "motion": self.motion is not None,
            "fixed": self.fixed,
        }
        keys = [key for key, is_given in roles.items() if is_given]
        if len(keys) != 1:
            keys_text = " and ".join(keys) or "none"
            raise InputError(f"body {self.name} gives {keys_text} of {', '.join(roles)}: it must give exactly one")
        for key in ("velocity_m_per_s", "angular_velocity_rad_per_s"):
            if not self.dynamic and any(getattr(self, key)):
                raise InputError(
                    f"body {self.name} gives {keys[0]} and {key}: only a body that forces move starts with one"
                )
        if self.inertia_kg_m2 is None and self.gyration_m2 is None and any(self.centre_m):
            raise InputError(
                f"body {self.name} gives centre_m without inertia_kg_m2 or gyration_m2: it follows from the contactors"
            )
        if self.inertia_kg_m2 is not None or self.gyration_m2 is not None:
            key = "inertia_kg_m2" if self.inertia_kg_m2 is not None else "gyration_m2"
            if self.inertia_kg_m2 is not None and self.gyration_m2 is not None:
                raise InputError(f"body {self.name} gives inertia_kg_m2 and gyration_m2: it must give one of them")
            if self.mass_kg is None:
                raise InputError(f"body {self.name} gives {key} without mass_kg")
            inertia = self.inertia_kg_m2
            if self.gyration_m2 is not None:
                inertia = inertia_of(self.mass_kg, self.gyration_m2)
            return {"kind": "inertia", "mass_kg": self.mass_kg, "inertia_kg_m2": inertia, "centre_m": self.centre_m}
        if self.mass_kg is not None:
            return {"kind": "mass", "mass_kg": self.mass_kg}
        if self.density_kg_per_m3 is not None:
            return {"kind": "density", "density_kg_per_m3": self.density_kg_per_m3}
        if self.motion is not None:
            return {"kind": "moved", "motion": {"kind": self.motion.kind, **vars(self.motion)}}
        return {"kind": "fixed"}


def inertia_of(mass_kg: float, gyration_m2: Sequence[float]) -> tuple[Vector, Vector, Vector]:
    """Inertia about the centre of mass of a body whose Euler tensor is mass times gyration (xx, yy, zz, xy, xz, yz).

    >>> inertia_of(12.0, (1.0, 0.25, 0.0, 0.0, 0.0, 0.0))
    ((3.0, -0.0, -0.0), (-0.0, 12.0, -0.0), (-0.0, -0.0, 15.0))
    """
    xx, yy, zz, xy, xz, yz = (mass_kg * component for component in gyration_m2)
    return ((yy + zz, -xy, -xz), (-xy, xx + zz, -yz), (-xz, -yz, xx + yy))


@dataclass(frozen=True)
class Load:
    """A force at a point of a body and a torque, world axes, times a factor that is linear between instants."""

    body: str
    force_n: Vector = ZERO
    point_m: Vector = ZERO
    torque_n_m: Vector = ZERO
    times_s: Sequence[float] = ()
    factors: Sequence[float] = ()
