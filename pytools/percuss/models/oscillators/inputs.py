"""What varies from run to run: an input for every number of a mass, spring, damper and contact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from percuss import _core
from percuss.models.model import Input

STIFFNESS_UNITS = ("N/m", "N/m^1.5")
RIGID = "rigid"
INTEGRATORS = ("event", "central-difference", "newmark", "rk4", "moreau-jean")


@dataclass(frozen=True)
class LawFacts:
    """What the core says of an impact law."""

    summary: str
    source: str
    exponent: float
    smallest_restitution: float


LAWS: dict[str, LawFacts] = {law[0]: LawFacts(*law[1:]) for law in _core.impact_laws()}

SPRING_INPUTS = {
    "stiffness": Input("stiffness", "N/m", None, 0.0, doc="force over elongation of the spring"),
    "cubic": Input("cubic", "N/m^3", None, doc="cubic stiffness of the spring"),
    "damping_ratio": Input("damping_ratio", "1", None, 0.0, doc="of the second mass on this spring alone"),
}
DAMPER_INPUTS = {
    "coefficient": Input("coefficient", "N.s/m", None, 0.0, doc="force over rate of elongation of the damper")
}
CONTACT_INPUTS = {
    "gap": Input("gap", "m", None, doc="distance at zero displacements; negative: pressed together"),
    "law": Input("law", None, "kelvin-voigt", choices=tuple(LAWS), doc="impact law"),
    "restitution": Input(
        "restitution", "1", None, 0.0, 1.0, doc="rebound speed over approach speed of two free masses"
    ),
    "stiffness": Input(
        "stiffness",
        "N/m",
        None,
        0.0,
        low_open=True,
        doc="stiffness of the impact law, in the unit that the law requires",
        other_units=STIFFNESS_UNITS[1:],
    ),
    "damping": Input(
        "damping",
        None,
        "exact",
        choices=("exact", "nominal"),
        doc="exact gives the restitution asked for, nominal uses the published formula",
    ),
}


def mass_inputs(mass: Mapping[str, Any]) -> dict[str, Input]:
    name = mass["name"]
    inputs = (
        Input(f"mass_{name}", "kg", mass["mass"], 0.0, low_open=True, doc=f"of mass {name}"),
        Input(f"displacement_{name}", "m", mass["displacement"], doc=f"of mass {name} at the start"),
        Input(f"velocity_{name}", "m/s", mass["velocity"], doc=f"of mass {name} at the start"),
    )
    return {item.name: item for item in inputs}


def motion_inputs(records: tuple[str, ...] = ()) -> dict[str, Input]:
    """Inputs of a moving base: how strong it is, which of several records it follows, and its pulse."""
    which = "which of base_records, from 1; rounded down, so that a uniform prior from 1 to their number + 1 is fair"
    last = len(records) + 1 if records else math.inf
    return {
        item.name: item
        for item in (
            Input("intensity", "m/s^2", None, 0.0, doc="standard deviation of the base acceleration on the plateau"),
            Input("base_scale", "1", 1.0, doc="factor of the base acceleration"),
            Input("base_record", None, choices=records, doc="which of base_records"),
            Input("base_record_number", "1", None, 1.0, last, high_open=bool(records), doc=which),
            Input("base_pga", "m/s^2", None, 0.0, doc="PGA to which records are scaled"),
            Input("base_sa", "m/s^2", None, 0.0, doc="spectral acceleration to which records are scaled"),
            Input("pulse_velocity", "m/s", None, 0.0, doc="amplitude of the velocity pulse"),
            Input("pulse_period", "s", None, 0.01, 100.0, doc="period of the pulse"),
            Input("pulse_oscillations", "1", None, 1.0, 100.0, low_open=True, doc="number of its oscillations"),
            Input("pulse_phase", "rad", None, doc="phase of the pulse"),
            Input("pulse_time", "s", None, doc="when the envelope of the pulse peaks"),
        )
    }


def numerical_inputs() -> dict[str, Input]:
    """How a run is integrated."""
    how = "event locates every impact; the others have a fixed step"
    return {
        "integrator": Input("integrator", None, "event", choices=INTEGRATORS, doc=how),
        "step": Input("step", "s", 1e-3, 0.0, low_open=True, doc="time step of the integrators that have one"),
    }


@dataclass(frozen=True)
class Element:
    """A spring, damper or contact between two nodes, and the names of the inputs that hold its numbers.

    `law` is that of a spring, empty for a linear one; a contact's law is an input.
    """

    name: str
    nodes: tuple[int, int]
    inputs: Mapping[str, str]
    law: str = ""
