"""A study, resolved: every value in SI, every name checked against the model.

`Study.resolved` gives it as plain JSON data and `Study.from_resolved` takes it back exactly; the digest is
the SHA-256 of that data in canonical JSON (sorted keys, no spaces, UTF-8, shortest floats), file contents
included by their own SHA-256. Parameters, cases and outputs are lists there: their order is meaning
(columns of a design).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.ledger.canonical import canonical_json, sha256_hex
from percuss.models.model import Driven, Input, Model, Runner, Value, configure
from percuss.spelling import did_you_mean, shown
from percuss.study.output import FOLLOWS_EXTREMES, Output
from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json
from percuss.study.priors.tensor import Component
from percuss.units import parse_quantity, quantity_unit, same_dimension

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from percuss.models.ground.record import RecordFacts

FORMAT = 1
BASE_CASE = "base"


@dataclass(frozen=True)
class Parameter:
    """An uncertain input: its prior in SI, and the unit people write and read it in."""

    name: str
    unit: str
    prior: Prior
    doc: str = ""

    @property
    def source(self) -> str:
        """Where its uncertainty comes from: the tensor it is a component of, or itself."""
        return self.name.removesuffix(self.prior.suffix) if isinstance(self.prior, Component) else self.name


@dataclass(frozen=True)
class Study:
    """A checked study. Build it with `load_study` or `Study.from_resolved`."""

    name: str
    title: str
    source: str
    model_kind: str
    settings: dict[str, object]
    fixed: dict[str, Value]
    parameters: dict[str, Parameter]
    cases: dict[str, dict[str, Value]]
    outputs: dict[str, Output]
    notes: str = ""
    sections: dict[str, object] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    # The study file it was loaded from, to be kept beside what it says; empty where there was none.
    text: bytes = field(default=b"", repr=False, compare=False)
    # Not part of what a study is: whether the user of this call lets its model run programs.
    commands_allowed: bool = field(default=False, compare=False)

    def model(self) -> Model:
        """Return the configured model, built once."""
        return self._model

    @cached_property
    def _model(self) -> Model:
        model = configure(self.model_kind, self.settings, self.files)
        return model.allowed() if self.commands_allowed and isinstance(model, Runner) else model

    def calls(self) -> list[str]:
        """What the model would execute outside of percuss, a line each; nothing for models of our own."""
        model = self.model()
        return model.calls() if isinstance(model, Runner) else []

    def records(self) -> list[RecordFacts]:
        """Facts of the recorded motions that drive the model, as they were recorded."""
        model = self.model()
        return model.records() if isinstance(model, Driven) else []

    def allow_commands(self) -> Study:
        """The same study, with the consent of the user to run what `calls` shows."""
        return replace(self, commands_allowed=True)

    def __getstate__(self) -> dict[str, object]:
        # What is cached is built again where the study goes.
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical JSON of `resolved()`."""
        return sha256_hex(canonical_json(self.resolved()).encode())

    def resolved(self) -> dict[str, Any]:
        """Return the study as plain JSON data, in SI; files appear by their SHA-256."""
        return {
            "format": FORMAT,
            "study": {"name": self.name, "title": self.title, "source": self.source, "notes": self.notes},
            "model": {"kind": self.model_kind, "settings": self.settings, "fixed": self.fixed},
            "parameters": [
                {"name": p.name, "unit": p.unit, "prior": p.prior.to_json(), "doc": p.doc}
                for p in self.parameters.values()
            ],
            "cases": [{"name": name, "values": values} for name, values in self.cases.items()],
            "outputs": [output.to_json() for output in self.outputs.values()],
            "sections": self.sections,
            "files": {path: sha256_hex(data) for path, data in sorted(self.files.items())},
        }

    @classmethod
    def from_resolved(cls, data: Mapping[str, Any], files: Mapping[str, bytes]) -> Study:
        """Build the study that `resolved()` described; `files` holds every file it names, byte for byte."""
        try:
            if data["format"] != FORMAT:
                raise InputError(f"resolved study has format {data['format']!r}; this percuss reads {FORMAT}")
            about, model = data["study"], data["model"]
            for path, digest in data["files"].items():
                if path not in files:
                    raise InputError(f"resolved study `{about['name']}` needs the file `{path}`")
                if sha256_hex(files[path]) != digest:
                    raise InputError(f"file `{path}` is not the one study `{about['name']}` was resolved with")
            return cls(
                name=about["name"],
                title=about["title"],
                source=about["source"],
                notes=about["notes"],
                model_kind=model["kind"],
                settings=dict(model["settings"]),
                fixed=dict(model["fixed"]),
                parameters={
                    p["name"]: Parameter(p["name"], p["unit"], prior_from_json(p["prior"]), p["doc"])
                    for p in data["parameters"]
                },
                cases={case["name"]: dict(case["values"]) for case in data["cases"]},
                outputs={output["name"]: Output.from_json(output) for output in data["outputs"]},
                sections=dict(data["sections"]),
                files={path: files[path] for path in data["files"]},
            )
        except (KeyError, TypeError, AttributeError) as fault:
            raise InputError(f"resolved study is malformed: {type(fault).__name__} {fault}") from None

    def point(self, case: str | None, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return every input of one run: model defaults < fixed values < the case < `values`. A parameter that the
        case holds stays there, whatever `values` say.

        Numbers are in SI. Text for a numeric input is read as a person writes it: with a unit, or a bare
        number in the parameter's unit. Case None means the only case. Raises InputError for any name, value
        or gap.
        """
        inputs = self.model().inputs
        merged: dict[str, Value] = {name: i.default for name, i in inputs.items() if i.default is not None}
        merged.update(self.fixed)
        held = self.cases[self.case_name(case)]
        merged.update(held)
        for name, value in values.items():
            if name not in inputs:
                raise InputError(f"model {self.model_kind} has no input `{name}`: {did_you_mean(name, inputs)}")
            if name in self.parameters and name in held:
                continue
            unit = self.parameters[name].unit if name in self.parameters else None
            merged[name] = checked_value(inputs[name], value, unit)
        for name in values:
            if name not in self.parameters and not inputs[name].taken(merged):
                raise InputError(f"`{name}` = {values[name]}: means nothing with {inputs[name].idle_words()}")
        missing = [name for name, needed in inputs.items() if name not in merged and needed.taken(merged)]
        if missing:
            raise InputError(
                f"no value for {', '.join(f'`{name}`' for name in missing)} of study {self.name}",
                hint="give one value for each, or take them from a design",
            )
        return merged

    def case_name(self, case: str | None) -> str:
        """The case of that name; None stands for the only one there is."""
        if case is None and len(self.cases) == 1:
            return next(iter(self.cases))
        if case is None:
            raise InputError(f"study {self.name} has several cases: name one of {', '.join(self.cases)}")
        if case not in self.cases:
            raise InputError(f"study {self.name} has no case `{case}`: {did_you_mean(case, self.cases)}")
        return case

    def evaluate(self, values: Mapping[str, float], curves: Mapping[str, NDArray[Any]] | None) -> dict[str, float]:
        """Reduce the quantities of one finished run to the study's outputs, in SI.

        Raises InputError when an output cannot be had or is not finite: to a campaign, a failed run.
        """
        quantities = self.model().quantities
        return {
            output.name: output.evaluate(
                values, curves, quantities[output.quantity].axis, means=quantities[output.quantity].means
            )
            for output in self.outputs.values()
        }

    def observable(self, name: str) -> Output:
        """What a measured value belongs to: an output, or a curve of the model in the unit an output asks for."""
        if name in self.outputs:
            return self.outputs[name]
        unit = self.model().quantities[name].unit
        asked = [output.unit for output in self.outputs.values() if output.quantity == name]
        return Output(name, name, asked[0] if asked else unit)

    def without_limit(self) -> dict[str, str]:
        """The outputs that have no limit as the step of the model goes to zero, each with the reason."""
        quantities = {}
        for output in self.outputs.values():
            quantity = self.model().quantities[output.quantity]
            if quantity.no_limit and output.reduce in FOLLOWS_EXTREMES and not (output.window and quantity.means):
                quantities[output.name] = quantity.no_limit
        return quantities


def checked_value(input_: Input, value: object, unit: str | None = None) -> Value:
    """Check a value for an input; text for a number is a quantity, bare in `unit` or the input's own."""
    if input_.unit is None:
        if value not in input_.choices:
            raise InputError(f"`{input_.name}` = {shown(value)}: {did_you_mean(str(value), input_.choices)}")
        return str(value)
    if input_.other_units:
        return _with_dimension(input_, value, unit or input_.unit)
    if isinstance(value, str):
        try:
            number = parse_quantity(value, unit or input_.unit)
        except InputError as fault:
            raise InputError(f"`{input_.name}`: {fault}", hint=fault.hint) from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) <= sys.float_info.max else math.inf
    else:
        raise InputError(f"`{input_.name}` = {shown(value)} is no number")
    if not input_.admits(number):
        raise InputError(f"`{input_.name}` = {value} is outside {input_.allowed()}")
    return number


def _with_dimension(input_: Input, value: object, unit: str) -> str:
    units = (str(input_.unit), *input_.other_units)
    if isinstance(value, str):
        fitting = next((u for u in units if same_dimension(quantity_unit(value, unit), u)), None)
        if fitting is None:
            raise InputError(f"`{input_.name}` = {value}: must be a quantity in {' or '.join(units)}")
        number = parse_quantity(value, unit if same_dimension(unit, fitting) else fitting)
    else:
        fitting = next(u for u in units if same_dimension(unit, u))
        number = parse_quantity(value, fitting)  # type: ignore[arg-type]
    if not input_.admits(number):
        raise InputError(f"`{input_.name}` = {value} is outside {input_.allowed()}")
    return f"{number!r} {fitting}"
