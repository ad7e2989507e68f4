"""What [validation] of a study says: which data, what is measured, what may drift.

[validation]                                   # shared by every model under test ...
file = "observations/low.csv"
time = "t_s"
inputs = [{ to = "1", column = "force_n", unit = "N" }]
observed = [{ quantity = "u1", column = "u1_m", unit = "m", noise_std = "3.2 mm" }]

[validation.linear]                            # ... and what is the model's own; none for one model only
values = { cubic_1 = 0 }
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from percuss.errors import InputError
from percuss.models.oscillators.system import Oscillators
from percuss.settings import KeyPath, Note, Noted, Setting, check_table, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.faults import dotted
from percuss.study.priors.prior import Prior, PriorError
from percuss.study.priors.registry import read_prior
from percuss.study.study import Study, checked_value
from percuss.units import parse_quantity, parse_unit, quantity_unit, same_dimension
from percuss.validation.drift_filter import DRIFT, START_STD
from percuss.validation.following import BASE, SENSED

LADDER = (1e-5, 1e-4, 1e-3)
SECTION = "validation"
# Keys of a channel's noise, and what they are in where the channel is in a unit.
NOISE = {"noise_std": "{}", "noise_variance": "({})^2"}
# What stands before the name of a measured quantity in the name of its noise variance.
VARIANCE = "variance_"

KEYS = {
    setting.name: setting
    for setting in (
        Setting("file", "file", doc="data: CSV or Parquet, in the study's folder"),
        Setting("time", "text", doc="column of the time"),
        Setting("time_unit", "text", doc="unit of the column of the time; default: that of its header, else s"),
        Setting("step", "number", unit="s", low=0, doc="interval of the samples, if no column holds the time"),
        Setting("inputs", "list", [], doc="tables: to, column, unit, factor"),
        Setting("observed", "list", required=True, doc="tables: quantity, column, unit, noise_std or noise_variance"),
        Setting("case", "text", doc="which case of the study"),
        Setting("values", "table", {}, doc="values of inputs of the model"),
        Setting("track", "list", doc="what may drift; default: every parameter that `values` does not fix"),
        Setting("drift", "number", DRIFT, low=0, doc="coefficient of variation of a step"),
        Setting("ladder", "list", list(LADDER), doc="drifts to compare"),
        Setting(
            "settle", "number", unit="s", low=0, doc="parameter paths are judged after this time; default: a tenth"
        ),
        Setting(
            "training", "number", unit="s", low=0, doc="part of the record for the constant calibration; default: half"
        ),
        Setting("gaps", "text", "refuse", choices=("refuse", "skip")),
        Setting("substeps", "integer", 1, low=1, high=10_000),
        Setting("use_first", "boolean", False, doc="assimilate sample 0 as well"),
        Setting(
            "displacement_std", "number", START_STD, unit="m", low=0, doc="standard deviation of the state at sample 0"
        ),
        Setting(
            "velocity_std", "number", START_STD, unit="m/s", low=0, doc="standard deviation of the state at sample 0"
        ),
        Setting("priors", "table", {}, doc="priors of tracked parameters, and variance_NAME of a measured quantity"),
        Setting("extrapolate", "file", doc="data of stronger excitation, to be predicted by the calibrated model"),
        Setting("traditional", "boolean", True, doc="calibrate with constant parameters as well"),
    )
}
INPUT = {
    "to": Setting("to", "text", required=True, doc="a mass (force) or `base` (acceleration)"),
    "column": Setting("column", "text", required=True),
    "unit": Setting("unit", "text"),
    "factor": Setting("factor", "number", 1.0, doc="factor by which the column is multiplied"),
}
OBSERVED = {
    "quantity": Setting("quantity", "text", required=True, doc="u, v or a and the name of a mass"),
    "column": Setting("column", "text", doc="default: the quantity"),
    "unit": Setting("unit", "text"),
    "noise_std": Setting("noise_std", "text"),
    "noise_variance": Setting("noise_variance", "text"),
}


@dataclass(frozen=True)
class Column:
    """A column of the data: what it stands for, the unit it is like, the one the study says (None: that of its header,
    else `like`), and (of a channel) the variance of its noise in SI.
    """

    name: str
    column: str
    like: str
    unit: str | None = None
    factor: float = 1.0
    variance: float = 0.0


@dataclass(frozen=True)
class Validating:
    """One model under test, as its table says; SI. `settle_s` and `training_s` None: a tenth and half the record."""

    name: str
    file: str | None
    time: str | None
    time_unit: str | None
    step_s: float | None
    inputs: tuple[Column, ...]
    observed: tuple[Column, ...]
    case: str
    values: Mapping[str, Any]
    track: tuple[str, ...]
    drift: float
    ladder: tuple[float, ...]
    settle_s: float | None
    training_s: float | None
    gaps: str
    substeps: int
    use_first: bool
    state_std: tuple[float, float]
    priors: Mapping[str, Prior]
    variance_priors: Mapping[str, Prior]
    extrapolate: str | None
    traditional: bool


def models_of(study: Study) -> list[str | None]:
    """Names of the models under test; None stands for the only one where none has a name."""
    return list(models_in(study.sections.get(SECTION))) or [None]


def models_in(section: object) -> dict[str, dict[str, Any]]:
    """Tables of models under test: those whose names are no keys of the section."""
    tables = section.items() if isinstance(section, dict) else ()
    return {key: table for key, table in tables if key not in KEYS and isinstance(table, dict)}


def read_validation(study: Study, name: str | None, flags: Mapping[str, Any] | None = None) -> Validating:
    """Read [validation] of a study; raise InputError naming the key. `flags` stand above what it says."""
    section = study.sections.get(SECTION)
    if not isinstance(section, dict):
        raise InputError(f"study {study.name}: has no [{SECTION}]", hint="docs/validation.md says what it holds")
    models = models_in(section)
    if name is None and len(models) > 1:
        raise InputError(f"study {study.name}: --model must name one of {', '.join(models)}")
    if name is not None and name not in models:
        raise InputError(f"--model {name}: {did_you_mean(name, models)}")

    def refuse(path: KeyPath, message: str) -> None:
        raise InputError(f"study {study.name}: [{SECTION}] `{dotted(path[1:])}`: {message}")

    settings = Reader(study, section, name or next(iter(models), None), refuse, flags).read()
    assert settings is not None
    return settings


class Reader:
    """Reads what the section says of one model: its own keys above the shared ones, flags above both.

    Each fault is noted at the key that is to blame.
    """

    def __init__(
        self,
        study: Study,
        section: Mapping[str, Any],
        name: str | None,
        note: Note,
        flags: Mapping[str, Any] | None = None,
    ) -> None:
        models = models_in(section)
        shared = {key: value for key, value in section.items() if key not in models}
        self.study, self.name, self.note = study, name, note
        self.own = models[name] if name else {}
        self.table = shared | self.own | {key: value for key, value in (flags or {}).items() if value is not None}
        for key in ("values", "priors"):
            if isinstance(shared.get(key), dict) and isinstance(self.own.get(key), dict):
                self.table[key] = shared[key] | self.own[key]

    def fault(self, message: str, *keys: str | int) -> None:
        """Note a fault at a key, in the model's own table if it stands there."""
        inside: Any = self.own
        own = self.name is not None and keys[0] in inside
        if own and len(keys) > 1 and isinstance(inside[keys[0]], dict):
            own = keys[1] in inside[keys[0]]
        self.note((SECTION, *([str(self.name)] if own else []), *keys), message)

    def clean(self, schema: Mapping[str, Setting], table: object, *place: str | int) -> dict[str, Any] | None:
        """A table by its schema; None after a fault."""
        if not isinstance(table, dict):
            self.fault(wrong_type(table, "a table"), *place)
            return None
        noted = Noted(lambda path, message: self.fault(message, *place, *path))
        checked = check_table(schema, table, (), noted)
        return None if noted.faults else checked

    def read(self) -> Validating | None:
        """All that is said of the model, or None after faults."""
        noted = Noted(self.note)
        self.note = noted
        checked = self.clean(KEYS, self.table)
        if checked is None:
            return None
        try:
            case = self.study.case_name(checked.get("case"))
        except InputError as fault:
            self.fault(str(fault), "case")
            return None
        values = self.values(checked["values"])
        observed = tuple(filter(None, (self.channel(entry, i) for i, entry in enumerate(checked["observed"]))))
        inputs = tuple(filter(None, (self.input(entry, i) for i, entry in enumerate(checked["inputs"]))))
        if not checked["observed"]:
            self.fault("nothing is measured", "observed")
        track = checked.get("track")
        names = tuple(track) if track else tuple(name for name in self.study.parameters if name not in values)
        if not all(isinstance(name, str) for name in names):
            self.fault("must be a list of names", "track")
            names = ()
        elif not names:
            self.fault("nothing may drift: the study has no parameters, and none is named", "track")
        if checked.get("step") == 0:
            self.fault("must be above 0", "step")
        if "time" not in checked and "step" not in checked:
            self.fault("missing: the column of the time, or `step`, the interval of the samples", "time")
        time_unit = self.unit(checked["time_unit"], "s", "time_unit") if "time_unit" in checked else None
        ladder = [self.ladder(value, i) for i, value in enumerate(checked["ladder"])]
        priors, variances = self.priors(checked["priors"], names, observed)
        if noted.faults:
            return None
        return Validating(
            name=self.name or self.study.name,
            file=checked.get("file"),
            time=checked.get("time"),
            time_unit=time_unit,
            step_s=checked.get("step"),
            inputs=inputs,
            observed=observed,
            case=case,
            values=values,
            track=names,
            drift=checked["drift"],
            ladder=tuple(sorted({*ladder, checked["drift"]})),
            settle_s=checked.get("settle"),
            training_s=checked.get("training"),
            gaps=checked["gaps"],
            substeps=checked["substeps"],
            use_first=checked["use_first"],
            state_std=(checked["displacement_std"], checked["velocity_std"]),
            priors=priors,
            variance_priors=variances,
            extrapolate=checked.get("extrapolate"),
            traditional=checked["traditional"],
        )

    def values(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Values of inputs of the model, in SI."""
        inputs = self.study.model().inputs
        by_name = {}
        for name, value in table.items():
            if name not in inputs:
                self.fault(f"the model has no such input; {did_you_mean(name, inputs)}", "values", name)
                continue
            unit = self.study.parameters[name].unit if name in self.study.parameters else None
            try:
                by_name[name] = checked_value(inputs[name], value, unit)
            except InputError as fault:
                self.fault(str(fault), "values", name)
        return by_name

    def ladder(self, value: object, i: int) -> float:
        try:
            number = parse_quantity(value, "1")  # type: ignore[arg-type]
            if number < 0:
                raise InputError(f"{value} must not be negative")
            return number
        except InputError as fault:
            self.fault(str(fault), "ladder", i)
            return 0.0

    def unit(self, unit: str, like: str, *keys: str | int) -> str:
        try:
            parse_unit(unit)
            if not same_dimension(unit, like):
                raise InputError(f"{unit} is no unit like {like}")
        except InputError as fault:
            self.fault(str(fault), *keys)
            return like
        return unit

    def mass(self, name: str, label: str, *keys: str | int) -> None:
        """Note a mass that the model does not have."""
        model = self.study.model()
        if isinstance(model, Oscillators) and name not in model.names:
            self.fault(f"{label}: no such mass; {did_you_mean(name, model.names)}", *keys)

    def input(self, entry: object, i: int) -> Column | None:
        table = self.clean(INPUT, entry, "inputs", i)
        if table is None:
            return None
        if table["to"] != BASE:
            self.mass(table["to"], f"input to `{table['to']}`", "inputs", i, "to")
        si = "m/s^2" if table["to"] == BASE else "N"
        unit = self.unit(table["unit"], si, "inputs", i, "unit") if "unit" in table else None
        return Column(table["to"], table["column"], si, unit, table["factor"])

    def channel(self, entry: object, i: int) -> Column | None:
        # bare numbers are in the channel's unit, so that they are read as texts are
        if isinstance(entry, dict):
            entry = {key: str(value) if key in NOISE else value for key, value in entry.items()}
        table = self.clean(OBSERVED, entry, "observed", i)
        if table is None:
            return None
        quantity = table["quantity"]
        if quantity[:1] not in SENSED:
            self.fault(f"{quantity}: must be u, v or a and the name of a mass", "observed", i, "quantity")
            return None
        self.mass(quantity[1:], f"observed quantity `{quantity}`", "observed", i, "quantity")
        si = SENSED[quantity[0]][1]
        unit = self.unit(table.get("unit", si), si, "observed", i, "unit")
        noises = [key for key in NOISE if key in table]
        if len(noises) != 1:
            self.fault(f"{quantity} needs noise_std or noise_variance, one of them", "observed", i)
            return None
        (key,) = noises
        try:
            noise = parse_quantity(table[key], NOISE[key].format(unit))
            variance = noise * noise if key == "noise_std" else noise
            if not (noise > 0 and 0 < variance < math.inf):
                raise InputError(f"{table[key]} must be above 0, and neither tiny nor huge beyond all numbers")
        except InputError as fault:
            self.fault(str(fault), "observed", i, key)
            return None
        own_unit = unit if "unit" in table else None
        return Column(quantity, table.get("column", quantity), si, own_unit, variance=variance)

    def prior_unit(self, key: str) -> str:
        """The unit of bare numbers of a prior: of an input, or of the variance of a measured quantity."""
        inputs, values = self.study.model().inputs, self.table.get("values", {})
        if key not in inputs:
            return f"({SENSED[key.removeprefix(VARIANCE)[0]][1]})^2"
        unit = self.study.parameters[key].unit if key in self.study.parameters else str(inputs[key].unit)
        if inputs[key].other_units and isinstance(values.get(key), str):
            # a value with its unit says which dimension the law takes
            unit = quantity_unit(values[key], unit)
        return unit

    def priors(
        self,
        tables: Mapping[str, Any],
        names: Sequence[str],
        observed: Sequence[Column],
    ) -> tuple[dict[str, Prior], dict[str, Prior]]:
        """Priors of tracked parameters (those of the study unless others are given) and of noise variances."""
        inputs = self.study.model().inputs
        variances = {channel.name: f"{VARIANCE}{channel.name}" for channel in observed}
        by_name: dict[str, Prior] = {}
        for key, table in tables.items():
            if key not in (*inputs, *variances.values()):
                self.fault(f"no such parameter; {did_you_mean(key, (*names, *variances.values()))}", "priors", key)
                continue
            if not isinstance(table, dict):
                self.fault('must be a table, as { kind = "normal", mean = 10, std = 3 }', "priors", key)
                continue
            try:
                by_name[key] = read_prior(table, self.prior_unit(key))
            except PriorError as faults:
                for field, message in faults.faults:
                    self.fault(message, "priors", key, *([field] if field else []))
        for name in names:
            if name not in by_name:
                if name in self.study.parameters:
                    by_name[name] = self.study.parameters[name].prior
                elif name not in tables:
                    self.fault(f"`{name}` is tracked and has no prior, here or in [parameters]", "priors")
        for channel in observed:
            # exponential, wide enough for a model that is far off
            wide = {"kind": "gamma", "shape": 1.0, "scale": 1000.0 * channel.variance}
            by_name.setdefault(variances[channel.name], read_prior(wide, "1"))
        of_noise = {name: by_name[key] for name, key in variances.items()}
        return {name: by_name[name] for name in names if name in by_name}, of_noise
