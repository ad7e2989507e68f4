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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from percuss.errors import InputError
from percuss.models.model import Setting
from percuss.models.settings import SettingsError, clean_settings
from percuss.spelling import did_you_mean
from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import read_prior
from percuss.study.study import Study
from percuss.units import parse_quantity, parse_unit, quantity_unit, same_dimension
from percuss.validation.drift_filter import DRIFT, START_STD
from percuss.validation.following import BASE, SENSED

LADDER = (1e-5, 1e-4, 1e-3)
SECTION = "validation"

KEYS = {
    setting.name: setting
    for setting in (
        Setting("file", "text", doc="data: CSV or Parquet, in the study's folder"),
        Setting("time", "text", doc="column of the time"),
        Setting("time_unit", "text", "s"),
        Setting("step", "number", unit="s", low=0, doc="interval of the samples, where no column holds the time"),
        Setting("inputs", "list", [], doc="tables: to, column, unit, factor"),
        Setting("observed", "list", required=True, doc="tables: quantity, column, unit, noise_std or noise_variance"),
        Setting("case", "text", doc="which case of the study"),
        Setting("values", "table", {}, doc="values of inputs of the model"),
        Setting("track", "list", doc="what may drift; default: every parameter that `values` does not fix"),
        Setting("drift", "number", DRIFT, low=0, doc="coefficient of variation of a step"),
        Setting("ladder", "list", list(LADDER), doc="drifts to compare"),
        Setting("settle", "number", unit="s", low=0, doc="paths are judged after this time; default: a tenth"),
        Setting("training", "number", unit="s", low=0, doc="what the constant calibration sees; default: half"),
        Setting("gaps", "text", "refuse", choices=("refuse", "skip")),
        Setting("substeps", "integer", 1, low=1, high=10_000),
        Setting("use_first", "boolean", False, doc="take in sample 0 as well"),
        Setting("displacement_std", "number", START_STD, unit="m", low=0, doc="of the state at sample 0"),
        Setting("velocity_std", "number", START_STD, unit="m/s", low=0, doc="of the state at sample 0"),
        Setting("priors", "table", {}, doc="of tracked parameters, and variance_NAME of a measured quantity"),
        Setting("extrapolate", "file", doc="data of stronger excitation, to see what the calibrated model makes of it"),
        Setting("traditional", "boolean", True, doc="calibrate with constant parameters as well"),
    )
}
INPUT = {
    "to": Setting("to", "text", required=True, doc="a mass (force) or `base` (acceleration)"),
    "column": Setting("column", "text", required=True),
    "unit": Setting("unit", "text"),
    "factor": Setting("factor", "number", 1.0, doc="the column is multiplied by it"),
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
    """A column of the data: what it stands for, its unit, and (of a channel) the variance of its noise in SI."""

    name: str
    column: str
    unit: str
    factor: float = 1.0
    variance: float = 0.0


@dataclass(frozen=True)
class Validating:
    """One model under test, as its table says; SI. `settle_s` and `training_s` None: a tenth and half the record."""

    name: str
    file: str | None
    time: str | None
    time_unit: str
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
    section = study.sections.get(SECTION)
    tables = section.items() if isinstance(section, dict) else ()
    return [key for key, table in tables if key not in KEYS and isinstance(table, dict)] or [None]


def read_validation(study: Study, name: str | None, flags: Mapping[str, Any] | None = None) -> Validating:
    """Read [validation] of a study; raise InputError naming the key. `flags` stand above what it says."""
    section = study.sections.get(SECTION)
    if not isinstance(section, dict):
        raise InputError(f"study {study.name}: has no [{SECTION}]", hint="docs/validation.md says what it holds")
    models = {key: table for key, table in section.items() if key not in KEYS and isinstance(table, dict)}
    shared = {key: value for key, value in section.items() if key not in models}
    if name is None and len(models) > 1:
        raise InputError(f"study {study.name}: --model must name one of {', '.join(models)}")
    if name is not None and name not in models:
        raise InputError(f"--model {name}: {did_you_mean(name, models)}")
    own = models[name] if name else next(iter(models.values()), {})
    label = name or next(iter(models), study.name)
    where = f"{SECTION}.{label}" if models else SECTION
    table = shared | own | {key: value for key, value in (flags or {}).items() if value is not None}
    for key in ("values", "priors"):
        if isinstance(shared.get(key), dict) and isinstance(own.get(key), dict):
            table[key] = shared[key] | own[key]
    return _Reader(study, where).read(label, table)


class _Reader:
    """Reads one table; every message begins with its place."""

    def __init__(self, study: Study, where: str) -> None:
        self.study, self.where = study, where

    def fault(self, key: str, message: str) -> InputError:
        return InputError(f"study {self.study.name}: [{self.where}] `{key}`: {message}")

    def clean(self, key: str, schema: Mapping[str, Setting], table: object) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self.fault(key, "must be a table")
        try:
            return clean_settings(schema, table)
        except SettingsError as fault:
            inner, message = fault.faults[0]
            raise self.fault(f"{key}.{inner}" if key else inner, message) from None

    def read(self, label: str, table: Mapping[str, Any]) -> Validating:
        given = self.clean("", KEYS, table)
        case = self.study.case_name(given.get("case"))
        values = given["values"]
        track = given.get("track")
        names = tuple(track) if track else tuple(name for name in self.study.parameters if name not in values)
        if not all(isinstance(name, str) for name in names):
            raise self.fault("track", "must be a list of names")
        if given.get("step") == 0:
            raise self.fault("step", "must be above 0")
        if not names:
            raise self.fault("track", "nothing may drift: the study has no parameters, and none is named")
        observed = tuple(self.channel(entry) for entry in given["observed"])
        if not observed:
            raise self.fault("observed", "nothing is measured")
        priors, variances = self.priors(given["priors"], values, names, observed)
        if "time" not in given and "step" not in given:
            raise self.fault("time", "missing: the column of the time, or `step`, the interval of the samples")
        ladder = tuple(self.number("ladder", value) for value in given["ladder"])
        return Validating(
            name=label,
            file=given.get("file"),
            time=given.get("time"),
            time_unit=self.unit("time_unit", given["time_unit"], "s"),
            step_s=given.get("step"),
            inputs=tuple(self.input(entry) for entry in given["inputs"]),
            observed=observed,
            case=case,
            values=values,
            track=names,
            drift=given["drift"],
            ladder=tuple(sorted({*ladder, given["drift"]})),
            settle_s=given.get("settle"),
            training_s=given.get("training"),
            gaps=given["gaps"],
            substeps=given["substeps"],
            use_first=given["use_first"],
            state_std=(given["displacement_std"], given["velocity_std"]),
            priors=priors,
            variance_priors=variances,
            extrapolate=given.get("extrapolate"),
            traditional=given["traditional"],
        )

    def number(self, key: str, value: object) -> float:
        try:
            number = parse_quantity(value, "1")  # type: ignore[arg-type]
        except InputError as fault:
            raise self.fault(key, str(fault)) from None
        if number < 0:
            raise self.fault(key, f"{value} must not be negative")
        return number

    def unit(self, key: str, unit: str, like: str) -> str:
        try:
            parse_unit(unit)
        except InputError as fault:
            raise self.fault(key, str(fault)) from None
        if not same_dimension(unit, like):
            raise self.fault(key, f"{unit} is no unit like {like}")
        return unit

    def input(self, entry: object) -> Column:
        table = self.clean("inputs", INPUT, entry)
        si = "m/s^2" if table["to"] == BASE else "N"
        unit = self.unit("inputs.unit", table.get("unit", si), si)
        return Column(table["to"], table["column"], unit, table["factor"])

    def channel(self, entry: object) -> Column:
        # bare numbers are in the channel's unit, so that they are read as texts are
        if isinstance(entry, dict):
            keys = ("noise_std", "noise_variance")
            entry = {key: str(value) if key in keys else value for key, value in entry.items()}
        table = self.clean("observed", OBSERVED, entry)
        quantity = table["quantity"]
        if quantity[:1] not in SENSED:
            raise self.fault("observed.quantity", f"{quantity}: must be u, v or a and the name of a mass")
        si = SENSED[quantity[0]][1]
        unit = self.unit("observed.unit", table.get("unit", si), si)
        given = [key for key in ("noise_std", "noise_variance") if key in table]
        if len(given) != 1:
            raise self.fault(f"observed.{quantity}", "needs noise_std or noise_variance, one of them")
        try:
            if given[0] == "noise_std":
                variance = parse_quantity(table["noise_std"], unit) ** 2
            else:
                variance = parse_quantity(table["noise_variance"], f"({unit})^2")
        except InputError as fault:
            raise self.fault(f"observed.{given[0]}", str(fault)) from None
        if not variance > 0:
            raise self.fault(f"observed.{given[0]}", "must be above 0")
        return Column(quantity, table.get("column", quantity), unit, variance=variance)

    def priors(
        self,
        tables: Mapping[str, Any],
        values: Mapping[str, Any],
        names: Sequence[str],
        observed: Sequence[Column],
    ) -> tuple[dict[str, Prior], dict[str, Prior]]:
        """Priors of tracked parameters (those of the study unless others are given) and of noise variances."""
        inputs = self.study.model().inputs
        squares = {f"variance_{channel.name}": f"({SENSED[channel.name[0]][1]})^2" for channel in observed}
        found: dict[str, Prior] = {}
        for key, table in tables.items():
            if key not in (*inputs, *squares):
                raise self.fault("priors", f"`{key}`: {did_you_mean(key, (*names, *squares))}")
            unit = squares.get(key)
            if key in inputs:
                unit = self.study.parameters[key].unit if key in self.study.parameters else str(inputs[key].unit)
                if inputs[key].other_units and isinstance(values.get(key), str):
                    # a value with its unit says which dimension the law takes
                    unit = quantity_unit(values[key], unit)
            if not isinstance(table, dict):
                raise self.fault(f"priors.{key}", 'must be a table, as { kind = "normal", mean = 10, std = 3 }')
            try:
                found[key] = read_prior(table, str(unit))
            except InputError as fault:
                raise self.fault(f"priors.{key}", str(fault)) from None
        for name in names:
            if name not in found:
                if name not in self.study.parameters:
                    raise self.fault("priors", f"`{name}` is tracked and has no prior, here or in [parameters]")
                found[name] = self.study.parameters[name].prior
        for channel in observed:
            key = f"variance_{channel.name}"
            if key not in found:
                # exponential, wide enough for a model that is far off
                found[key] = read_prior({"kind": "gamma", "shape": 1.0, "scale": 1000.0 * channel.variance}, "1")
        variances = {channel.name: found[f"variance_{channel.name}"] for channel in observed}
        return {name: found[name] for name in names}, variances
