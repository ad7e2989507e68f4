"""How the base moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from percuss.models.ground.compatible import compatible_motion
from percuss.models.ground.kanai_tajimi import random_variables, synthetic_motion
from percuss.models.ground.pulse import pulse_acceleration, pulse_times
from percuss.models.ground.record import GroundRecord
from percuss.models.ground.spectrum import response_spectrum
from percuss.models.ground.target import Target
from percuss.models.seeds import Seed

if TYPE_CHECKING:
    from numpy import ndarray

PGA, SA = "pga", "sa"


@dataclass(frozen=True)
class Scaling:
    """The measure to which records are scaled; its value is an input."""

    measure: str
    period_s: float = 0.0
    damping: float = 0.05

    @property
    def input(self) -> str:
        """Name of the input."""
        return f"base_{self.measure}"

    def of(self, record: GroundRecord) -> float:
        """The measure of a record as it was recorded, m/s^2."""
        if self.measure == PGA:
            return max(abs(value) for value in record.accelerations_m_s2)
        spectrum = response_spectrum(record.times_s, record.accelerations_m_s2, [self.period_s], self.damping)
        return float(spectrum.sa_m_s2[0])


@dataclass(frozen=True)
class Base:
    """How the base moves: not at all, as recorded, as a sum of sines, or as synthesised from the run's seed; with or
    without a pulse on top of it.

    With several records the input `base_record` or `base_record_number` says which. `rests`: records may end before the
    run. `measures` holds what `scaling` measures of each record.
    """

    records: Mapping[str, GroundRecord] = field(default_factory=dict)
    rests: bool = False
    sines: tuple[Mapping[str, float], ...] = ()
    synthetic: Mapping[str, Any] | None = None
    compatible: Mapping[str, Any] | None = None
    target: Target | None = None
    pulse: bool = False
    scaling: Scaling | None = None
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def sampled(self) -> bool:
        """Whether the motion is given by samples."""
        return bool(self.records or self.synthetic or self.compatible or self.pulse)

    def random_variables(self, duration_s: float) -> int:
        """Standard normal variables that the motion is made from."""
        settings = self.synthetic or self.compatible
        return random_variables(settings, duration_s) if settings else 0

    def record_of(self, point: Mapping[str, Any]) -> GroundRecord | None:
        """The record of a point."""
        if not self.records:
            return None
        if "base_record_number" in point:
            return list(self.records.values())[int(point["base_record_number"]) - 1]
        return self.records[str(point.get("base_record", next(iter(self.records))))]

    def scale_of(self, point: Mapping[str, Any]) -> float:
        """The factor of the acceleration at a point."""
        if self.scaling and (record := self.record_of(point)):
            return float(point[self.scaling.input]) / self.measures[record.name]
        return float(point.get("base_scale", 1.0))

    def motion(self, point: Mapping[str, Any], seed: Seed, duration_s: float) -> object:
        """Samples or sines, scaled as the point says; None for a base at rest."""
        if self.sines:
            scale = self.scale_of(point)
            return [
                (scale * s["amplitude"], s["frequency"], s["phase"], s["start"], s.get("end", math.inf))
                for s in self.sines
            ]
        samples = self._samples(point, seed, duration_s)
        if self.pulse:
            samples = self._with_pulse(samples, point)
        return None if samples is None else (samples[0].tolist(), samples[1].tolist())

    def _samples(self, point: Mapping[str, Any], seed: Seed, duration_s: float) -> tuple[ndarray, ndarray] | None:
        import numpy as np

        if record := self.record_of(point):
            return np.array(record.times_s), self.scale_of(point) * np.array(record.accelerations_m_s2)
        if self.synthetic:
            values = synthetic_motion(self.synthetic, float(point["intensity"]), duration_s, seed)
            return np.arange(len(values)) * self.synthetic["step"], values
        if self.compatible and self.target:
            values = self.scale_of(point) * compatible_motion(self.target, self.compatible, duration_s, seed)
            return np.arange(len(values)) * self.compatible["step"], values
        return None

    def _with_pulse(self, samples: tuple[ndarray, ndarray] | None, point: Mapping[str, Any]) -> tuple[ndarray, ndarray]:
        """The sum of a motion and the pulse, at the instants of both."""
        import numpy as np

        times = pulse_times(point)
        if samples is None:
            return times, pulse_acceleration(times, point)
        both = np.union1d(samples[0], times)
        other = np.interp(both, *samples, left=0.0, right=0.0)
        return both, other + pulse_acceleration(both, point)
