"""What a command understood of the values it was given: each with its unit, in one line on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from percuss.cli.output import plain, say
from percuss.models.model import Value
from percuss.units import dimension, from_si, parse_unit, quantity_unit

if TYPE_CHECKING:
    from percuss.study.study import Study


def unit_of(study: Study, name: str) -> str | None:
    """The unit in which a study writes an input; None for a choice."""
    return study.parameters[name].unit if name in study.parameters else study.model().inputs[name].unit


def tell_values(texts: Mapping[str, str], understood: Mapping[str, Value], units: Mapping[str, str | None]) -> None:
    """Echo values by name: `given` as they were written, `understood` in SI, `units` as the study writes them.

    A bare number where the study does not write SI is told in a note: the same number means another thing elsewhere.
    """
    if texts:
        say(plain(", ".join(f"{name} = {_spoken(understood[name], units[name])}" for name in texts)))
    for name, text in texts.items():
        unit = units[name]
        if unit is not None and parse_unit(unit).scale != 1 and quantity_unit(text, "") == "":
            way = f'"{text} {unit}" says it'
            say(plain(f"note: {name}={text} is a bare number, taken in {unit}, the unit of this study; {way}"))


def tell_columns(units: Mapping[str, tuple[str, bool]]) -> None:
    """Echo how the columns of a table were read: unit, and whether the header said it."""
    say(plain("read " + ", ".join(_column(name, unit) for name, (unit, _) in units.items())))
    bare = [name for name, (unit, in_header) in units.items() if not in_header and parse_unit(unit).scale != 1]
    if bare:
        first = f"{bare[0]} [{units[bare[0]][0]}]"
        say(plain(f"note: no unit in the header of {_listed(bare)}: taken in that of the study; `{first}` says it"))


def tell_measured(study: Study, names: Sequence[str], values: Sequence[float]) -> None:
    """Echo measured values of outputs or quantities, in SI: the range of each, in the unit of the study."""
    values_of: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        values_of.setdefault(name, []).append(value)
    parts = []
    for name, numbers in values_of.items():
        unit = study.outputs[name].unit if name in study.outputs else study.model().quantities[name].unit
        low, high = (f"{from_si(end, unit):.6g}" for end in (min(numbers), max(numbers)))
        parts.append(f"{name} = {low if low == high else f'{low} to {high}'}" + ("" if unit == "1" else f" {unit}"))
    say(plain(", ".join(parts)))


def _column(name: str, unit: str) -> str:
    return name if dimension(unit) == "1" and parse_unit(unit).scale == 1 else f"{name} in {unit}"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _spoken(value: Value, unit: str | None) -> str:
    """A value in SI as a person writes it."""
    if unit is None or isinstance(value, str):
        number, _, rest = str(value).partition(" ")
        # An input of several dimensions carries its SI unit with it.
        return f"{float(number):.10g} {rest}" if unit is not None and rest else str(value)
    return f"{from_si(value, unit):.10g}" + ("" if unit == "1" else f" {unit}")
