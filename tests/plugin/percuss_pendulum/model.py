"""The kind `pendulum`: the period of a pendulum at any amplitude, by the arithmetic-geometric mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from percuss.models.model import Done, Failed, Input, Outcome, Quantity, Value
from percuss.settings import Setting

INPUTS = {
    item.name: item
    for item in (
        Input("length", "m", low=0.0, low_open=True, doc="of the rod"),
        Input("angle", "rad", 0.1, low=0.0, high=3.2, doc="amplitude of the swing"),
    )
}
QUANTITIES = {"period": Quantity("period", "s", doc="time of one full swing")}


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What a study says of it."""
    gravity = Setting("gravity", "number", 9.81, unit="m/s^2", low=0.0, low_open=True, doc="acceleration of gravity")
    return {"gravity": gravity}


def configure(settings: Mapping[str, object], files: Mapping[str, bytes]) -> Pendulum:
    """The model."""
    return Pendulum(float(settings["gravity"]))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pendulum:
    """A point mass on a rod."""

    gravity_m_s2: float
    kind = "pendulum"
    batch = 256
    inputs = INPUTS
    quantities = QUANTITIES

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """T = 2 pi sqrt(l / g) / agm(1, cos(angle / 2))."""
        return [self._run(float(point["length"]), float(point["angle"])) for point in points]

    def _run(self, length_m: float, angle: float) -> Outcome:
        a, b = 1.0, math.cos(angle / 2)
        if b <= 0:
            return Failed(f"no swing: an amplitude of {angle!r} is upside down")
        while abs(a - b) > 1e-15:
            a, b = (a + b) / 2, math.sqrt(a * b)
        return Done({"period": 2 * math.pi * math.sqrt(length_m / self.gravity_m_s2) / a})
