"""Which numbers of a system an input stands for: what a filter needs to let that input drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.models.oscillators.system import Oscillators
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy import ndarray

Number = tuple[str, int]
Ratio = tuple[int, int, int, float, int | None]


@dataclass(frozen=True)
class Traceable:
    """A system at a point, as the core takes it; the numbers behind each tracked input, and the dampers that are ratios
    (damper, spring, mass, ratio, which tracked input it is if any).
    """

    system: dict[str, Any]
    tracked: list[list[Number]]
    ratios: list[Ratio]


def trace(model: Oscillators, point: Mapping[str, Any], names: Sequence[str]) -> Traceable:
    """Find what each name stands for; raise InputError for one that is no number of a mass or an element."""
    system = model._system(point, 0)
    numbers: dict[str, list[Number]] = {f"mass_{name}": [("mass", i)] for i, name in enumerate(model.names)}
    ratios: list[Ratio] = []
    for i, spring in enumerate(model.springs):
        if not spring.law:
            numbers[spring.inputs["stiffness"]] = [("spring", i)]
        numbers[spring.inputs["cubic"]] = [("cubic", i)]
        name = spring.inputs["damping_ratio"]
        numbers[name] = []
        value = float(point[name])
        if value and spring.law:
            raise InputError(f"`{name}`: a spring with a law has no damping ratio in a filter; give a damper")
        if value:
            ratios.append((len(ratios), i, spring.nodes[1], value, names.index(name) if name in names else None))
        elif name in names:
            raise InputError(f"`{name}` = 0: a damping ratio must be above 0 to be tracked")
    for i, damper in enumerate(model.dampers, start=len(ratios)):
        if "exponent" not in damper.inputs:
            numbers[damper.inputs["coefficient"]] = [("damper", i)]
    for i, contact in enumerate(model.contacts):
        for key, kind in (("gap", "gap"), ("restitution", "restitution"), ("stiffness", "contact-stiffness")):
            numbers.setdefault(contact.inputs[key], []).append((kind, i))
    for name in names:
        if name not in numbers:
            raise InputError(f"`{name}` cannot be tracked: {did_you_mean(name, numbers)}")
    return Traceable(system, [numbers[name] for name in names], ratios)


def base_samples(model: Oscillators, point: Mapping[str, Any], times_s: ndarray) -> ndarray | None:
    """Acceleration of the model's own base at these times, m/s^2; None for a base at rest."""
    import numpy as np

    if model.base.synthetic:
        raise InputError("base_synthetic: such a motion differs from run to run: give the measured one as an input")
    motion: Any = model.base.motion(point, 0, model.duration_s)
    if motion is None:
        return None
    if isinstance(motion, tuple):
        return np.asarray(np.interp(times_s, motion[0], motion[1], left=0.0, right=0.0))
    total = np.zeros(len(times_s))
    for amplitude, frequency, phase, start, end in motion:
        wave = amplitude * np.sin(2 * np.pi * frequency * (times_s - start) + phase)
        total += np.where((times_s >= start) & (times_s < end), wave, 0.0)
    return total
