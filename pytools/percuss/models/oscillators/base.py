"""How the base moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from percuss.models.ground_motion import synthetic_motion


@dataclass(frozen=True)
class Base:
    """How the base moves: not at all, as recorded, as a sum of sines, or as synthesised from the run's seed."""

    record: tuple[list[float], list[float]] | None = None
    sines: tuple[Mapping[str, float], ...] = ()
    synthetic: Mapping[str, Any] | None = None

    def motion(self, point: Mapping[str, Any], seed: int, duration_s: float) -> object:
        """Samples or sines, scaled as the point says; None for a base at rest."""
        scale = float(point.get("base_scale", 1.0))
        if self.record:
            return self.record[0], [scale * value for value in self.record[1]]
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
