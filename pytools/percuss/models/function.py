"""A function of Python as a model: defined by a program or a notebook, and known by its source.

The study holds name, source and digest of the function and all that is known of its inputs and outputs, so that it can
be read anywhere; it can be run where the very same function is defined (`percuss.model`). Nothing is ever compiled or
executed from what a ledger holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from percuss.errors import InputError
from percuss.ledger.canonical import sha256_hex
from percuss.models.model import Done, Failed, Input, Outcome, Quantity, Reference, Value
from percuss.plugins import UnknownNameError
from percuss.settings import Setting, SettingsError
from percuss.units import parse_unit

KIND = "function"
INPUT_KEYS = ("unit", "doc", "low", "high", "default")
OUTPUT_KEYS = ("unit", "doc")


@dataclass(frozen=True)
class Function:
    """A function that was made a model: what it is called, how it reads, and what goes in and comes out."""

    name: str
    call: Callable[..., Any]
    source: str
    inputs: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Mapping[str, Any]]

    def settings(self) -> dict[str, Any]:
        """The table `[model]` of a study that runs it."""
        return {
            "kind": KIND,
            "name": self.name,
            "source": self.source,
            "inputs": {name: dict(item) for name, item in self.inputs.items()},
            "outputs": {name: dict(item) for name, item in self.outputs.items()},
        }


# Functions that are defined in this process, by name.
FUNCTIONS: dict[str, Function] = {}


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What a study says of the function; `percuss.model` writes it."""
    listed = (
        Setting("name", "text", required=True, doc="what the function is called"),
        Setting("source", "text", required=True, doc="its source, which says which function it is"),
        Setting("inputs", "table", required=True, doc="inputs by name: unit, doc, low, high, default; SI"),
        Setting("outputs", "table", required=True, doc="outputs by name: unit, doc; SI"),
    )
    return {setting.name: setting for setting in listed}


def reference() -> Reference:
    """What is positive is for the function to say."""
    return Reference(
        conventions=("Inputs and outputs are those of the function, in SI; `percuss.model` describes them.",)
    )


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> FunctionModel:
    """The model of a function, whether or not it is defined here."""
    inputs = {name: _input(name, item) for name, item in settings["inputs"].items()}
    outputs = {name: _output(name, item) for name, item in settings["outputs"].items()}
    return FunctionModel(settings["name"], settings["source"], inputs, outputs)


@dataclass(frozen=True)
class FunctionModel:
    """A function as a model. It is called run by run, in the process that defined it."""

    name: str
    source: str
    inputs: Mapping[str, Input]
    quantities: Mapping[str, Quantity]

    kind = KIND
    batch = 64

    @cached_property
    def _call(self) -> Callable[..., Any]:
        known = FUNCTIONS.get(self.name)
        if known is None:
            raise UnknownNameError(
                f"function {self.name}: is not defined here, so that it cannot be run",
                hint="define it with @percuss.model in this process; its source is in the study",
            )
        if known.source != self.source:
            digests = " and ".join(sha256_hex(text.encode())[:12] for text in (self.source, known.source))
            raise InputError(f"function {self.name}: is another one here than that of the study (source {digests})")
        return known.call

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """Call the function at each point; what it raises is the reason of a failed run."""
        call = self._call
        return [self._outcome(call, point) for point in points]

    def _outcome(self, call: Callable[..., Any], point: Mapping[str, Value]) -> Outcome:
        try:
            returned = call(**{name: point[name] for name in self.inputs})
        except Exception as fault:  # whatever the function of a user raises
            return Failed(f"{type(fault).__name__}: {fault}")
        if not isinstance(returned, Mapping) or set(returned) != set(self.quantities):
            expected = ", ".join(self.quantities)
            return Failed(f"wrong result: a mapping with {expected} is to be returned, not {str(returned)[:80]}")
        try:
            values = {name: float(returned[name]) for name in self.quantities}
        except (TypeError, ValueError) as fault:
            return Failed(f"wrong result: {fault}")
        wrong = next((name for name, value in values.items() if not math.isfinite(value)), None)
        return Done(values) if wrong is None else Failed(f"not finite: {wrong} is {values[wrong]}")


def _input(name: str, item: object) -> Input:
    table = _table("inputs", name, item, INPUT_KEYS)
    default = float(table["default"]) if "default" in table else None
    low, high = float(table.get("low", -math.inf)), float(table.get("high", math.inf))
    doc = table.get("doc", "an input of the function")
    return Input(name, _unit("inputs", name, table), default, low, high, doc=doc)


def _output(name: str, item: object) -> Quantity:
    table = _table("outputs", name, item, OUTPUT_KEYS)
    return Quantity(name, _unit("outputs", name, table), doc=table.get("doc", "an output of the function"))


def _table(key: str, name: str, item: object, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(item, Mapping) or not set(item) <= set(known):
        raise SettingsError([(key, f"{name}: takes {', '.join(known)}")])
    for number in ("low", "high", "default"):
        if number in item and (isinstance(item[number], bool) or not isinstance(item[number], int | float)):
            raise SettingsError([(key, f"{name}: {number} must be a number")])
    return item


def _unit(key: str, name: str, table: Mapping[str, Any]) -> str:
    unit = str(table.get("unit", "1"))
    try:
        if parse_unit(unit).scale != 1:
            raise InputError(f"{unit} is no SI unit")
    except InputError as fault:
        raise SettingsError([(key, f"{name}: {fault}")]) from None
    return unit
