"""How the base moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.models.ground_motion import synthetic_motion
from percuss.models.ground_record import GroundRecord


@dataclass(frozen=True)
class Base:
    """How the base moves: not at all, as recorded, as a sum of sines, or as synthesised from the run's seed.

    With several records the input `base_record` says which.
    """

    records: Mapping[str, GroundRecord] = field(default_factory=dict)
    sines: tuple[Mapping[str, float], ...] = ()
    synthetic: Mapping[str, Any] | None = None

    def record_of(self, point: Mapping[str, Any]) -> GroundRecord | None:
        """The record of a point."""
        if not self.records:
            return None
        return self.records[str(point.get("base_record", next(iter(self.records))))]

    def motion(self, point: Mapping[str, Any], seed: int, duration_s: float) -> object:
        """Samples or sines, scaled as the point says; None for a base at rest."""
        scale = float(point.get("base_scale", 1.0))
        if record := self.record_of(point):
            return list(record.times_s), [scale * value for value in record.accelerations_m_s2]
        if self.sines:
            return [
                (scale * s["amplitude"], s["frequency"], s["phase"], s["start"], s.get("end", math.inf))
                for s in self.sines
            ]
        if self.synthetic:
            samples = synthetic_motion(self.synthetic, float(point["intensity"]), duration_s, seed)
            step = self.synthetic["step"]
            return [i * step for i in range(len(samples))], samples.tolist()
        return None
