"""A system ready to be followed through data: what is tracked, what is measured, what drives it.

The one place where names of a study meet the arrays of the core. SI throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from percuss import _core
from percuss.errors import InputError
from percuss.models.oscillators.system import Oscillators
from percuss.models.oscillators.tracking import Traceable, base_samples, trace
from percuss.spelling import did_you_mean
from percuss.study.study import Study

T = TypeVar("T")
Floats = NDArray[np.float64]
BASE = "base"
SENSED = {"u": ("displacement", "m"), "v": ("velocity", "m/s"), "a": ("acceleration", "m/s^2")}


@dataclass(frozen=True, eq=False)
class Following:
    """See the module. `inputs` maps `base` to its acceleration (m/s^2), a mass to the force on it (N)."""

    traceable: Traceable
    masses: tuple[str, ...]
    tracked: tuple[str, ...]
    quantities: tuple[str, ...]
    step_s: float
    substeps: int
    inputs: Mapping[str, Floats]

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the entries of the state."""
        moving = (f"{letter}{mass}" for letter in "uv" for mass in self.masses)
        return (*moving, *self.tracked)

    @property
    def start(self) -> Floats:
        """Displacements and velocities at sample 0."""
        system = self.traceable.system
        return np.array([*system["displacement_m"], *system["velocity_m_s"]])

    def spec(self) -> dict[str, Any]:
        """As the core takes it."""
        forces = [(self.masses.index(name), values) for name, values in self.inputs.items() if name != BASE]
        return {
            "step_s": self.step_s,
            "substeps": self.substeps,
            "base_m_s2": self.inputs.get(BASE),
            "forces_n": forces,
            "sensors": [(SENSED[name[0]][0], self.masses.index(name[1:])) for name in self.quantities],
            "tracked": self.traceable.tracked,
            "ratios": self.traceable.ratios,
        }

    def cut(self, start: int, stop: int) -> Following:
        """Inputs of some samples only."""
        return replace(self, inputs={name: values[start:stop] for name, values in self.inputs.items()})

    def respond(self, parameters: Floats, samples: int) -> Floats:
        """Readings with constant parameters (n, tracked): (n, samples, channels)."""
        start = self.start.tolist()
        return as_input_error(
            lambda: _core.respond_oscillators(self.traceable.system, self.spec(), start, parameters, samples)
        )

    def misfit(self, parameters: Floats, data: Floats) -> Floats:
        """Sums of squared differences from data (samples, channels): (n, channels)."""
        start = self.start.tolist()
        return as_input_error(
            lambda: _core.misfit_oscillators(self.traceable.system, self.spec(), start, parameters, data)
        )


def follow(
    study: Study,
    *,
    case: str | None = None,
    values: Mapping[str, Any] | None = None,
    track: Sequence[str],
    quantities: Sequence[str],
    times_s: Floats,
    inputs: Mapping[str, Floats] | None = None,
    substeps: int = 1,
) -> Following:
    """Make a study's system ready; its own base motion drives it unless the inputs hold another."""
    model = study.model()
    if not isinstance(model, Oscillators):
        raise InputError(f"study {study.name}: a {model.kind} model has no state to follow; oscillators have")
    if len(set(track)) != len(track):
        raise InputError(f"track: {', '.join(track)} names a parameter twice")
    if substeps < 1:
        raise InputError(f"substeps = {substeps}: must be at least 1")
    chosen = dict(values or {})
    for name, parameter in study.parameters.items():
        if name not in chosen:
            chosen[name] = float(parameter.prior.mean())
    point = study.point(case, chosen)
    for name in quantities:
        known = [f"{letter}{mass}" for letter in SENSED for mass in model.names]
        if name not in known:
            raise InputError(f"observed quantity `{name}`: {did_you_mean(name, known)}")
    driven = dict(inputs or {})
    for name in driven:
        if name not in (BASE, *model.names):
            raise InputError(f"input to `{name}`: {did_you_mean(name, [BASE, *model.names])}")
    if BASE not in driven and (base := base_samples(model, point, times_s)) is not None:
        driven[BASE] = base
    step_s = float((times_s[-1] - times_s[0]) / (len(times_s) - 1))
    return Following(trace(model, point, track), model.names, tuple(track), tuple(quantities), step_s, substeps, driven)


def as_input_error(call: Callable[[], T]) -> T:
    """What the core says against its input, as an error of ours."""
    try:
        return call()
    except ValueError as fault:
        raise InputError(str(fault)) from None
