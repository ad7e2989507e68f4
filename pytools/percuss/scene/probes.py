"""What is measured along the way, each a table of the result; rows every so many steps."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.scene.bodies import ZERO
from percuss.scene.shapes import Vector


@dataclass(frozen=True)
class PointProbe:
    """A point of a body, given in the body's frame: place, rotation of the body, velocity, acceleration.

    Columns `x_m` .., `qw` .., `vx_m_per_s` .., `wx_rad_per_s` .., `ax_m_per_s2` .., `alphax_rad_per_s2` ..; the
    nonsmooth stepper's accelerations are means over a step.
    """

    name: str
    body: str
    point_m: Vector = ZERO
    every: int = 1


@dataclass(frozen=True)
class BodyProbe:
    """All contacts of a body: mean force and torque about its centre of mass since the last row.

    Columns `fx_n` .., `tx_n_m` .., `contacts`.
    """

    name: str
    body: str
    every: int = 1


@dataclass(frozen=True)
class PairProbe:
    """All contacts between two groups: mean forces since the last row, energy lost since the start.

    Columns `contacts`, `normal_force_n`, `friction_force_n`, `impact_dissipation_j`, `friction_dissipation_j`.
    """

    name: str
    groups: tuple[str, str]
    every: int = 1


@dataclass(frozen=True)
class JointProbe:
    """A joint: its coordinates and their rates, and its reaction on the second body.

    Columns such as `angle_rad` and `angle_rate_rad_per_s`, `fx_n` .., `tx_n_m` .. about the point, world axes.
    """

    name: str
    joint: str
    every: int = 1


Probe = PointProbe | BodyProbe | PairProbe | JointProbe
