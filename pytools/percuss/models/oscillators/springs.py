"""Springs that yield, open or slide, and dampers of a power of the rate: tables, inputs and what a run says of them.

    springs = [{ name = "1", between = ["base", "A"], stiffness = "40 MN/m", law = "bilinear", yield_force = "300 kN" }]

A spring with a `law` takes the numbers of that law beside its stiffness, each an input like the others
(`yield_force_1`). Drift is the elongation: displacement of the second node less that of the first. Ductility is the
peak drift over the drift at yield; the damage index is `d/du + b E/(F_y du)` with the peak drift d, the ultimate drift
du, the hysteretic energy E and the factor b (Park and Ang, 1985).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from percuss import _core
from percuss.models.model import Input, Quantity
from percuss.settings import Setting, table_of

# Laws that act beyond a slack only: they do not hold a structure up.
SLACK_LAWS = ("gap", "hook")


@dataclass(frozen=True)
class SpringLawFacts:
    """What the core says of a law of springs, with the inputs it takes beside the stiffness."""

    summary: str
    source: str
    numbers: Mapping[str, Input]

    @property
    def yields(self) -> bool:
        """Whether it has a yield point."""
        return bool(self.numbers.keys() & {"yield_force", "friction", "strength"})


def _law(name: str, summary: str, source: str, numbers: Sequence[tuple[Any, ...]]) -> tuple[str, SpringLawFacts]:
    inputs = {
        number: Input(number, unit, default, low, high, low_open, high_open and math.isfinite(high), doc=doc)
        for number, unit, default, low, low_open, high, high_open, doc in numbers
    }
    return name, SpringLawFacts(summary, source, inputs)


SPRING_LAWS: dict[str, SpringLawFacts] = dict(_law(*law) for law in _core.spring_laws())

# What any spring with a law may say for the quantities alone.
DAMAGE_INPUTS = {
    "ultimate_drift": Input(
        "ultimate_drift", "m", None, 0.0, low_open=True, doc="drift at collapse, for the damage index"
    ),
    "damage_factor": Input("damage_factor", "1", 0.05, 0.0, doc="weight of the energy in the damage index"),
}
EXPONENT = Input(
    "exponent",
    "1",
    None,
    0.0,
    low_open=True,
    doc="of the rate: the force is coefficient x 1 m/s x (rate / 1 m/s)^exponent",
)


def _setting(item: Input, required: bool) -> Setting:
    return Setting(
        item.name,
        "number",
        item.default,
        required,
        item.unit or "1",
        item.low,
        item.high,
        doc=item.doc,
        low_open=item.low_open,
        high_open=item.high_open,
    )


# What else a spring may say, by its law.
LAW_TABLES: dict[str, dict[str, Setting]] = {
    name: table_of(
        *(_setting(item, item.default is None) for item in facts.numbers.values()),
        *(_setting(item, False) for item in DAMAGE_INPUTS.values() if facts.yields),
    )
    for name, facts in SPRING_LAWS.items()
}


def law_inputs(table: Mapping[str, Any]) -> dict[str, Input]:
    """The inputs that the law of a spring's table adds to it."""
    if "law" not in table:
        return {}
    damage = DAMAGE_INPUTS if "ultimate_drift" in table else {}
    return {**SPRING_LAWS[table["law"]].numbers, **damage}


@dataclass(frozen=True)
class YieldingSpring:
    """A spring with a law: its name, and the inputs of its numbers."""

    name: str
    law: str
    nodes: tuple[int, int]
    inputs: Mapping[str, str]

    def numbers(self, point: Mapping[str, Any]) -> list[float]:
        """The numbers of the law, in its order."""
        return [float(point[self.inputs[number]]) for number in SPRING_LAWS[self.law].numbers]

    def values(self, point: Mapping[str, Any], run: Mapping[str, Any], place: int) -> dict[str, float]:
        """What a run says of this spring, the one at `place` among those with a law."""
        peak_m, energy_j = float(run["peak_drift_m"][place]), float(run["hysteretic_energy_j"][place])
        values = {
            f"peak_drift_{self.name}": peak_m,
            f"residual_drift_{self.name}": float(run["residual_m"][place]),
            f"hysteretic_energy_{self.name}": energy_j,
        }
        if SPRING_LAWS[self.law].yields:
            stiffness = float(point[self.inputs["stiffness"]])
            yield_m, yield_n = _core.spring_yield(self.law, stiffness, self.numbers(point))
            values[f"ductility_{self.name}"] = peak_m / yield_m
            if "ultimate_drift" in self.inputs:
                ultimate_m = float(point[self.inputs["ultimate_drift"]])
                factor = float(point[self.inputs["damage_factor"]])
                values[f"damage_{self.name}"] = peak_m / ultimate_m + factor * energy_j / (yield_n * ultimate_m)
        return values


def spring_quantities(springs: Sequence[YieldingSpring]) -> dict[str, Quantity]:
    """Curves and numbers of springs with a law; none where there is none."""
    quantities = []
    for spring in springs:
        name = spring.name
        quantities += [
            Quantity(f"drift_{name}", "m", True, "elongation of the spring: second node less first", axis="t"),
            Quantity(f"spring_force_{name}", "N", True, "force of the spring, positive when it pulls", axis="t"),
            Quantity(f"peak_drift_{name}", "m", doc="largest drift"),
            Quantity(f"residual_drift_{name}", "m", doc="drift left if the spring were unloaded at the end"),
            Quantity(f"hysteretic_energy_{name}", "J", doc="energy lost by yielding or sliding"),
        ]
        if SPRING_LAWS[spring.law].yields:
            quantities.append(Quantity(f"ductility_{name}", doc="largest drift over the drift at yield"))
        if "ultimate_drift" in spring.inputs:
            quantities.append(Quantity(f"damage_{name}", doc="damage index of Park and Ang"))
    if springs:
        quantities.append(Quantity("peak_drift", "m", doc="largest drift of all springs with a law"))
        quantities.append(Quantity("energy_hysteretic", "J", doc="energy lost in all springs with a law"))
    return {item.name: item for item in quantities}


def spring_values(
    springs: Sequence[YieldingSpring], point: Mapping[str, Any], run: Mapping[str, Any]
) -> dict[str, float]:
    """What a run says of all springs with a law."""
    values: dict[str, float] = {}
    for place, spring in enumerate(springs):
        values |= spring.values(point, run, place)
    if springs:
        values["peak_drift"] = max(values[f"peak_drift_{spring.name}"] for spring in springs)
    return values


def spring_curves(
    springs: Sequence[YieldingSpring], names: Sequence[str], curves: Mapping[str, Any], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Drift and force of all springs with a law."""

    def displacement(node: int) -> Any:
        return curves[f"u{names[node]}"] if node >= 0 else 0.0

    curves_of_springs = {}
    for place, spring in enumerate(springs):
        first, second = spring.nodes
        curves_of_springs[f"drift_{spring.name}"] = displacement(second) - displacement(first)
        curves_of_springs[f"spring_force_{spring.name}"] = run["element_force_n"][place]
    return curves_of_springs
