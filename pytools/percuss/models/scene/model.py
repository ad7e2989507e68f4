"""The model `scene`: its inputs are the `$names` of the study file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.errors import InputError
from percuss.ledger.canonical import canonical_json
from percuss.models.model import Value
from percuss.models.scene.experiment import Experiment, SceneModel
from percuss.models.scene.quantities import quantities_of
from percuss.models.scene.reader import Kept, Reader
from percuss.models.scene.tables import settings as schema_of
from percuss.scene import Settings
from percuss.settings import SettingsError

# Settings of the stepper, by their names here and there.
_STEPPER = {
    "step": "dt_s",
    "stepper": "stepper",
    "method": "method",
    "accuracy": "accuracy",
    "theta": "theta",
    "solver": "solver",
    "tolerance": "tolerance",
    "max_iterations": "max_iterations",
    "max_factorisations": "max_factorisations",
    "contact_tolerance": "contact_tolerance_m",
    "look_ahead": "look_ahead_m",
    "overlap_tolerance": "overlap_tolerance_m",
    "stabilise": "stabilise",
    "sleep_speed": "sleep_speed_m_per_s",
    "sleep_steps": "sleep_steps",
    "threads": "threads",
}

# What the core can count; no run gets there.
MOST_STEPS = 2**53
# Runs in an event of scenes without contacts, which take milliseconds each.
SMOOTH_BATCH = 50


@dataclass(frozen=True)
class FileScene(SceneModel):
    """A scene as a study file describes it."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    kept: Kept = field(default_factory=dict, compare=False, repr=False)

    def never_runs(self) -> list[tuple[str, str]]:
        step, sampling = self.settings["step"], self.settings.get("sampling")
        if not isinstance(step, float) or not isinstance(sampling, float):
            return []
        fault = _uneven(sampling, step)
        return [("sampling", f"{sampling:g} s {fault}")] if fault else []

    def described(self, point: Mapping[str, Value]) -> Experiment:
        """The scene with the values of a point."""
        reader = Reader(point, self.kept)
        experiment = _experiment(self.settings, reader)
        if reader.faults:
            raise InputError(reader.faults[0][1])
        return experiment


def _experiment(settings: Mapping[str, Any], reader: Reader) -> Experiment:
    schema = schema_of(settings)
    numbers = {
        key: reader.resolved(settings[key], schema[key], key)
        for key in ("duration", "sampling", *_STEPPER)
        if key in settings
    }
    stepper = Settings(**{name: numbers[key] for key, name in _STEPPER.items() if key in numbers})
    sampling = numbers.get("sampling", stepper.dt_s)
    every = round(min(sampling / stepper.dt_s, MOST_STEPS)) if stepper.dt_s > 0 else 0
    if reader.point is not None and (fault := _uneven(sampling, stepper.dt_s)):
        raise InputError(f"sampling = {sampling:g} s: {fault}")
    settle = reader.settle(settings["settle"]) if "settle" in settings else None
    return Experiment(reader.scene(settings), stepper, numbers["duration"], max(every, 1), settle)


def _uneven(sampling_s: float, step_s: float) -> str:
    """What is wrong with the interval of the curves; empty if nothing is."""
    every = round(min(sampling_s / step_s, MOST_STEPS)) if step_s > 0 else 0
    # To six digits: a step given in decimals need not divide its multiple exactly.
    if every >= 1 and abs(every * step_s - sampling_s) <= 1e-6 * sampling_s:
        return ""
    return f"must be a whole number of steps of {step_s:g} s"


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> FileScene:
    """Find the inputs of the scene; raise SettingsError with every fault that shows without their values."""
    reader = Reader(files=files)
    experiment = _experiment(settings, reader)
    if reader.faults:
        raise SettingsError(reader.faults)
    if faults := experiment.scene.faults():
        raise SettingsError(faults)
    if not _shapes_vary(settings):
        try:
            experiment.scene.world(experiment.settings)
        except InputError as fault:
            raise SettingsError([("bodies", str(fault))]) from None
    try:
        quantities = quantities_of(experiment.scene, hits=experiment.hits)
    except InputError as fault:
        raise SettingsError([("probes", str(fault))]) from None
    batch = SMOOTH_BATCH if settings.get("stepper") == "smooth" else SceneModel.batch
    return FileScene(reader.inputs.by_name, quantities, batch=batch, settings=settings, kept=reader.surfaces())


def _shapes_vary(settings: Mapping[str, Any]) -> bool:
    """Whether the place, form, weight or hold of a body depends on an input."""
    moving = ("velocity", "angular_velocity", "motion")
    bodies = [{key: value for key, value in body.items() if key not in moving} for body in settings["bodies"]]
    links = [settings.get(key) for key in ("joints", "springs", "bushings", "actuators", "bonds")]
    return "$" in canonical_json({"bodies": bodies, "links": links, "overlap": settings["overlap_tolerance"]})
