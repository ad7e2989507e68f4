"""What any system takes and gives, with a mass, spring, damper and contact of no name of their own."""

from __future__ import annotations

from dataclasses import replace

from percuss.models.model import Input, Reference
from percuss.models.oscillators.inputs import (
    CONTACT_INPUTS,
    DAMPER_INPUTS,
    SPRING_INPUTS,
    Element,
    mass_inputs,
    motion_inputs,
    numerical_inputs,
)
from percuss.models.oscillators.quantities import quantities_of
from percuss.models.oscillators.seismic import Seismic, Storey
from percuss.models.oscillators.springs import (
    DAMAGE_INPUTS,
    EXPONENT,
    SPRING_LAWS,
    YieldingSpring,
    spring_quantities,
)

CONVENTIONS = (
    "All masses move along one line; displacements and velocities are relative to the base, accelerations absolute.",
    "The first mass of a contact is the left one: it meets the second by moving in the positive direction.",
    "The input gap is the distance at zero displacements; the curve is gap + u_second - u_first, negative in overlap.",
    "A contact force is positive when it pushes the masses apart.",
    "Drift is the elongation of a spring, u_second - u_first; the force of a spring is positive when it pulls.",
    "With a single contact that has no name, its inputs and quantities carry none either.",
    "Inputs of contacts without <contact> hold for every contact that does not have its own.",
)


def reference() -> Reference:
    """Inputs, quantities and signs."""
    inputs = list(mass_inputs({"name": "<mass>", "mass": None, "displacement": 0.0, "velocity": 0.0}).values())
    inputs += [_of(item, "<spring>") for item in SPRING_INPUTS.values()]
    inputs += [_of(item, "<spring>") for item in (*_law_inputs(), *DAMAGE_INPUTS.values())]
    inputs += [_of(item, "<damper>") for item in (*DAMPER_INPUTS.values(), EXPONENT)]
    inputs += [*CONTACT_INPUTS.values(), *(_of(item, "<contact>") for item in CONTACT_INPUTS.values())]
    inputs += [*motion_inputs().values(), *numerical_inputs().values()]
    contact = Element("<contact>", (0, 1), {})
    quantities = quantities_of(("<mass>",), (contact,), True)
    storey = Storey("<storey>", (0, 1), 1.0, "<building>")
    quantities |= Seismic((storey,), {"floors": ["<mass>"]}, True).quantities()
    spring = YieldingSpring("<spring>", "bilinear", (-1, 0), dict.fromkeys(DAMAGE_INPUTS, ""))
    quantities |= spring_quantities((spring,))
    return Reference(tuple(inputs), tuple(quantities.values()), CONVENTIONS)


def _law_inputs() -> list[Input]:
    """The numbers that laws of springs take, each with the laws that take it."""
    takers: dict[str, list[str]] = {}
    numbers: dict[str, Input] = {}
    for law, facts in SPRING_LAWS.items():
        for name, item in facts.numbers.items():
            takers.setdefault(name, []).append(law)
            numbers.setdefault(name, item)
    return [replace(item, doc=f"{item.doc} ({', '.join(takers[name])})") for name, item in numbers.items()]


def _of(item: Input, name: str) -> Input:
    return replace(item, name=f"{item.name}_{name}")
