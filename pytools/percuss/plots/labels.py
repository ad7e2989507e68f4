"""Names and units as a reader wants them: every number of the page is in the unit of the study, never bare SI."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from percuss.spelling import number_text
from percuss.study.study import Study
from percuss.units import from_si

SUPERSCRIPTS = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
LOGARITHMIC = ("log-uniform", "lognormal")


@dataclass(frozen=True)
class Scale:
    """A named number: its unit, and what SI values are to be multiplied by."""

    name: str
    unit: str
    factor: float
    logarithmic: bool = False

    def of(self, values: ArrayLike) -> NDArray[Any]:
        """SI values in this unit."""
        return np.asarray(values, float) * self.factor

    @property
    def label(self) -> str:
        """For an axis or the head of a column."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def with_unit(self, value: float) -> str:
        """One SI value with its unit, as in a sentence."""
        return f"{number_text(float(value) * self.factor)} {self.unit}".rstrip()


def scale(name: str, unit: str | None, logarithmic: bool = False) -> Scale:
    """A scale for a name and the unit of the study."""
    plain = unit or "1"
    return Scale(name, unit_text(plain), from_si(1.0, plain), logarithmic)


def unit_text(unit: str) -> str:
    """A unit as it is printed.

    >>> unit_text("m/s^2"), unit_text("N/mm^1.5"), unit_text("1")
    ('m/s²', 'N/mm¹·⁵', '')
    """
    if unit == "1":
        return ""
    head, *powers = unit.split("^")
    text = head
    for part in powers:
        digits = part[: len(part) - len(part.lstrip("0123456789.-"))]
        text += digits.translate(SUPERSCRIPTS) + part[len(digits) :]
    return text


def parameter_scale(study: Study, name: str) -> Scale:
    """Of a parameter."""
    parameter = study.parameters[name]
    return scale(name, parameter.unit, parameter.prior.kind in LOGARITHMIC)


def input_scale(study: Study, name: str) -> Scale:
    """Of an input of the model: in the unit of the study's parameter of that name, else in that of the model."""
    if name in study.parameters:
        return parameter_scale(study, name)
    inputs = study.model().inputs
    unit = inputs[name].unit if name in inputs else None
    return scale(name, unit if isinstance(unit, str) else None)


def input_text(study: Study, name: str, value: object) -> str | float:
    """A value of an input as a cell: a number in its unit, or what was said."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    shown = input_scale(study, name)
    return f"{number_text(value * shown.factor, 6)} {shown.unit}".rstrip()


def output_scale(study: Study, name: str) -> Scale:
    """Of an output or a curve; a score of a curve's modes has no unit."""
    known = name in study.outputs or name in study.model().quantities
    return scale(name, study.observable(name).unit if known else "1")


def instant_label(study: Study, name: str) -> str:
    """Of the places at which an output or a curve was measured: instants, or what else the curve's axis is."""
    quantities = study.model().quantities
    axis = quantities[study.observable(name).quantity].axis
    if axis is None or quantities[axis].unit == "s":
        return "instant [s]"
    unit = unit_text(quantities[axis].unit)
    return f"{axis} [{unit}]" if unit else axis


def quantity_scale(study: Study, name: str) -> Scale:
    """Of a quantity of the model, in the unit in which an output asks for it or for its peak, otherwise in SI."""
    quantities = study.model().quantities
    asked = [output.unit for output in study.outputs.values() if output.quantity == name]
    asked += [output.unit for output in study.outputs.values() if quantities[output.quantity].peak_of == name]
    return scale(name, asked[0] if asked else quantities[name].unit)


def alike(labelled: Iterable[tuple[str, str]]) -> list[tuple[list[str], str]]:
    """Texts that differ in their numbers alone are told once, by the first; with the labels of all, most first.

    >>> alike([("a", "leverage 0.99"), ("b", "constant"), ("c", "leverage 1.0")])
    [(['a', 'c'], 'leverage 0.99'), (['b'], 'constant')]
    """
    groups: dict[str, tuple[list[str], str]] = {}
    for label, text in labelled:
        groups.setdefault(re.sub(r"[-+]?\d[\d.e+-]*", "#", text), ([], text))[0].append(label)
    return sorted(groups.values(), key=lambda group: -len(group[0]))


def column_label(case: str, output: str, cases: int) -> str:
    """An output of a case; the case is named where there are several."""
    return f"{output} ({case})" if cases > 1 else output


def number_or_nan(value: float | None) -> float:
    """A number of an event, in which null stands for what is not one."""
    return float("nan") if value is None else value
