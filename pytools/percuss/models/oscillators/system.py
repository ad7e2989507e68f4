"""A configured system: points in, runs of the core, curves and numbers out."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from percuss import _core
from percuss.errors import InputError
from percuss.models.ground.record import RecordFacts
from percuss.models.model import Done, Failed, Input, Numerics, Outcome, Quantity, Value
from percuss.models.oscillators.base import Base
from percuss.models.oscillators.base_reader import read_base
from percuss.models.oscillators.inputs import (
    CONTACT_INPUTS,
    DAMPER_INPUTS,
    LAWS,
    RIGID,
    SPRING_INPUTS,
    STIFFNESS_UNITS,
    Element,
    mass_inputs,
    numerical_inputs,
)
from percuss.models.oscillators.quantities import SEPARATION_RULES, of_contact, quantities_of
from percuss.models.oscillators.reader import Reader
from percuss.models.oscillators.seismic import Seismic
from percuss.models.oscillators.separation import (
    Mode,
    correlation,
    first_modes,
    separation_abs,
    separation_cqc,
    separation_srss,
)
from percuss.models.oscillators.springs import (
    EXPONENT,
    SLACK_LAWS,
    YieldingSpring,
    law_inputs,
    spring_curves,
    spring_quantities,
    spring_values,
)
from percuss.models.oscillators.tables import CONTACT, DAMPER, MASS, SENSOR, SPRING
from percuss.models.seeds import Seed
from percuss.settings import SettingsError
from percuss.units import parse_quantity

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.film import Film


@dataclass(frozen=True)
class Oscillators:
    """A configured system; every number that can vary is in `inputs`."""

    duration_s: float
    sampling_s: float
    names: tuple[str, ...]
    springs: tuple[Element, ...]
    dampers: tuple[Element, ...]
    contacts: tuple[Element, ...]
    rayleigh: tuple[float, float]
    base: Base
    sensor: Mapping[str, float] | None
    inputs: Mapping[str, Input]
    quantities: Mapping[str, Quantity]
    seismic: Seismic
    yielding: tuple[YieldingSpring, ...] = ()
    kind: str = "oscillators"
    batch: int = 64

    def random_variables(self) -> int:
        """Those of the ground motion."""
        return self.base.random_variables(self.duration_s)

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[Seed]) -> list[Outcome]:
        """Simulate each point; all of them in one call of the core, which uses every core."""
        outcomes: list[Outcome | None] = []
        systems = []
        for point, seed in zip(points, seeds, strict=True):
            try:
                systems.append(self._system(point, seed))
                outcomes.append(None)
            except InputError as fault:
                outcomes.append(Failed(str(fault)))
        runs = iter(_core.simulate_oscillators(systems))
        ready = iter(systems)
        return [
            outcome or self._outcome(point, next(ready), next(runs))
            for point, outcome in zip(points, outcomes, strict=True)
        ]

    def numerics(self, point: Mapping[str, Value]) -> Numerics:
        """The step; located events need none, and only the sampling of the curves can be finer."""
        if point["integrator"] == "event":
            return Numerics(self.sampling_s, name="sampling", note="of the curves; events are located and take no step")
        return Numerics(float(point["step"]))

    def refined(self, point: Mapping[str, Value], finer: int, tighter: float) -> tuple[Self, dict[str, Value]]:
        """The same system with finer steps and curves."""
        return replace(self, sampling_s=self.sampling_s / finer), {**point, "step": float(point["step"]) / finer}

    def records(self) -> list[RecordFacts]:
        """Every record of the base motion, as it was recorded."""
        return [record.facts(run_s=self.duration_s) for record in self.base.records.values()]

    def short_records(self) -> list[str]:
        """A sentence for each record that ends before the run, unless the base is to be at rest then."""
        records = () if self.base.rests else self.base.records.values()
        return [words for record in records if (words := record.too_short(self.duration_s))]

    def record_of(self, point: Mapping[str, Value]) -> RecordFacts | None:
        """The record that moves the base in a run, scaled."""
        record = self.base.record_of(point)
        return record.facts(self.base.scale_of(point), self.duration_s) if record else None

    def film(
        self, point: Mapping[str, Value], seed: Seed, start: bytes | None, interval_s: float | None
    ) -> tuple[Film, Outcome]:
        """The run as storeys that sway."""
        from percuss.models.oscillators.film import Structure, oscillator_film

        outcome = self.run([point], [seed])[0]
        if isinstance(outcome, Failed):
            raise InputError(f"the run has no film: {outcome.reason}")
        gaps = tuple(self._number(contact, "gap", point) for contact in self.contacts)
        structure = Structure(self.names, self.springs, self.contacts, gaps)
        return oscillator_film(structure, outcome, interval_s), outcome

    def _number(self, element: Element, key: str, point: Mapping[str, Any]) -> float:
        return float(point[element.inputs[key]])

    def _system(self, point: Mapping[str, Any], seed: Seed) -> dict[str, Any]:
        """The system of one run, as the core takes it."""
        masses = [float(point[f"mass_{name}"]) for name in self.names]
        springs, spring_laws, dampers = [], [], []
        yielding = iter(self.yielding)
        for spring in self.springs:
            spring_laws.append((spring.law, next(yielding).numbers(point)) if spring.law else None)
            stiffness = self._number(spring, "stiffness", point)
            springs.append((*spring.nodes, stiffness, self._number(spring, "cubic", point)))
            ratio = self._number(spring, "damping_ratio", point)
            if ratio:
                dampers.append((*spring.nodes, 2 * ratio * math.sqrt(stiffness * masses[spring.nodes[1]])))
        exponents = [1.0] * len(dampers)
        for damper in self.dampers:
            dampers.append((*damper.nodes, self._number(damper, "coefficient", point)))
            exponents.append(self._number(damper, "exponent", point) if "exponent" in damper.inputs else 1.0)
        return {
            "masses_kg": masses,
            "springs": springs,
            "spring_laws": spring_laws,
            "dampers": dampers,
            "damper_exponents": exponents,
            "rayleigh": self.rayleigh,
            "contacts": [self._contact(contact, point) for contact in self.contacts],
            "displacement_m": [float(point[f"displacement_{name}"]) for name in self.names],
            "velocity_m_s": [float(point[f"velocity_{name}"]) for name in self.names],
            "base": self.base.motion(point, seed, self.duration_s),
            "duration_s": self.duration_s,
            "sampling_s": self.sampling_s,
            "integrator": str(point["integrator"]),
            "step_s": float(point["step"]),
        }

    def _contact(self, contact: Element, point: Mapping[str, Any]) -> tuple[int, int, float, str, str, float, float]:
        law = str(point[contact.inputs["law"]])
        stiffness = math.nan
        if law != RIGID:
            unit = STIFFNESS_UNITS[0] if LAWS[law].exponent == 1.0 else STIFFNESS_UNITS[1]
            name = contact.inputs["stiffness"]
            try:
                stiffness = _stiffness(str(point[name]), unit)
            except InputError:
                raise InputError(f"`{name}` = {point[name]}: the law {law} takes a stiffness in {unit}") from None
        return (
            *contact.nodes,
            self._number(contact, "gap", point),
            law,
            str(point[contact.inputs["damping"]]),
            self._number(contact, "restitution", point),
            stiffness,
        )

    def _outcome(self, point: Mapping[str, Any], system: Mapping[str, Any], run: dict[str, Any] | str) -> Outcome:
        if isinstance(run, str):
            return Failed(run)
        curves: dict[str, ndarray] = {"t": run["times_s"]}
        for letter, key in (("u", "displacement_m"), ("a", "acceleration_m_s2")):
            curves |= {f"{letter}{name}": column for name, column in zip(self.names, run[key], strict=True)}
        curves |= {of_contact("force", c): column for c, column in zip(self.contacts, run["force_n"], strict=True)}
        curves |= {f"v{name}": column for name, column in zip(self.names, run["velocity_m_s"], strict=True)}
        curves |= {of_contact("gap", c): column for c, column in zip(self.contacts, run["gap_m"], strict=True)}
        if self.sensor:
            curves |= {f"read_a{name}": self._read(curves[f"a{name}"]) for name in self.names}
        curves |= spring_curves(self.yielding, self.names, curves, run)
        account = run["energy_j"].items()
        values = {f"energy_{name}": number for name, number in account if self.yielding or name != "hysteretic"}
        values |= spring_values(self.yielding, point, run)
        for i, name in enumerate(self.names):
            values[f"peak_u{name}"] = run["peak_displacement_m"][i]
            values[f"peak_v{name}"] = run["peak_velocity_m_s"][i]
            values[f"peak_a{name}"] = run["peak_acceleration_m_s2"][i]
        modes = self._modes(system) if self.contacts else ()
        impacts = run["impacts"]
        values["impacts"] = float(len(impacts["t_s"]))
        values["grazing_impacts"] = float(impacts["grazing"].sum())
        for i, contact in enumerate(self.contacts):
            values[of_contact("peak_force", contact)] = run["peak_force_n"][i]
            values[of_contact("smallest_gap", contact)] = run["smallest_gap_m"][i]
            values[of_contact("contact_loss", contact)] = run["contact_energy_j"][i]
            values[of_contact("closing", contact)] = system["contacts"][i][2] - run["smallest_gap_m"][i]
            values |= _separations(contact, modes, run["peak_displacement_m"])
        values |= self.seismic.values(system["base"], self.names, curves)
        curves |= self.seismic.curves(system["base"], curves)
        return Done(values, curves, {"impacts": impacts})

    def _modes(self, system: Mapping[str, Any]) -> tuple[Mode | None, ...]:
        """The first mode of the structure of every mass."""
        springs = zip(self.springs, system["springs"], strict=True)
        holding = tuple(numbers for spring, numbers in springs if spring.law not in SLACK_LAWS)
        return first_modes(tuple(system["masses_kg"]), holding, tuple(system["dampers"]), self.rayleigh)

    def _read(self, acceleration: ndarray) -> ndarray:
        """What the accelerometer makes of it: its range clips, its resolution rounds."""
        import numpy as np

        assert self.sensor is not None
        clipped = np.clip(acceleration, -self.sensor["range"], self.sensor["range"])
        resolution = self.sensor["resolution"]
        return np.asarray(np.round(clipped / resolution) * resolution if resolution else clipped)


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> Oscillators:
    """Build the system; raise SettingsError with every fault of its tables."""
    reader = Reader()
    masses = reader.tables(settings, "masses", MASS)
    names = tuple(str(mass["name"]) for mass in masses)
    reader.names(names, "masses")
    inputs: dict[str, Input] = {}
    for mass in masses:
        inputs |= mass_inputs(mass)
    springs = reader.elements(settings, "springs", SPRING, names, inputs, SPRING_INPUTS, more=law_inputs)
    yielding = tuple(YieldingSpring(s.name, s.law, s.nodes, s.inputs) for s in springs if s.law)
    for spring in yielding:
        name = spring.inputs["stiffness"]
        inputs[name] = replace(inputs[name], low_open=True)
    dampers = reader.elements(settings, "dampers", DAMPER, names, inputs, DAMPER_INPUTS, more=_damper_inputs)
    contacts = reader.elements(settings, "contacts", CONTACT, names, inputs, CONTACT_INPUTS, shared=True)
    _spare_rigid_laws(contacts, inputs)
    base = read_base(reader, settings, files, inputs)
    seismic = reader.seismic(settings, names, sampled=base.sampled)
    sensor = reader.one(settings["sensor"], SENSOR, "sensor") if "sensor" in settings else None
    if settings["sampling"] <= 0 or settings["duration"] <= 0:
        reader.faults.append(("duration", "duration and sampling must be positive"))
    elif settings["duration"] / settings["sampling"] > _core.MOST_SAMPLES:
        most = f"at most {_core.MOST_SAMPLES:g} samples are kept of {settings['duration']:g} s"
        reader.faults.append(("sampling", f"{settings['sampling']:g} s is too short: {most}"))
    if reader.faults:
        raise SettingsError(reader.faults)
    inputs |= numerical_inputs()
    return Oscillators(
        settings["duration"],
        settings["sampling"],
        names,
        springs,
        dampers,
        contacts,
        (settings["rayleigh_mass"], settings["rayleigh_stiffness"]),
        base,
        sensor,
        inputs,
        quantities_of(names, contacts, sensor is not None) | seismic.quantities() | spring_quantities(yielding),
        seismic,
        yielding,
    )


def _separations(contact: Element, modes: Sequence[Mode | None], peaks_m: Sequence[float]) -> dict[str, float]:
    """What the separation rules ask for, from the peaks of a run."""
    if -1 in contact.nodes:
        return {}
    left, right = (peaks_m[node] for node in contact.nodes)
    first, second = (modes[node] for node in contact.nodes)
    rho = correlation(first, second) if first and second else 0.0
    separations = (separation_abs(left, right), separation_srss(left, right), separation_cqc(left, right, rho))
    return {of_contact(f"separation_{rule}", contact): s for rule, s in zip(SEPARATION_RULES, separations, strict=True)}


@functools.lru_cache(maxsize=64)
def _stiffness(text: str, unit: str) -> float:
    """The number a stiffness with its unit says; kept, since most runs have the same."""
    return parse_quantity(text, unit)


def _damper_inputs(table: Mapping[str, Any]) -> dict[str, Input]:
    return {"exponent": EXPONENT} if "exponent" in table else {}


def _spare_rigid_laws(contacts: Sequence[Element], inputs: dict[str, Input]) -> None:
    """A stiffness is asked for unless all contacts that take it are rigid."""
    for name in dict.fromkeys(contact.inputs["stiffness"] for contact in contacts):
        laws = dict.fromkeys(c.inputs["law"] for c in contacts if c.inputs["stiffness"] == name)
        inputs[name] = replace(inputs[name], unless=tuple((law, RIGID) for law in laws))
