"""`[filter]` of a study: the observations by which `percuss filter` weights its runs, and how large their error is.

What a command says takes the place of what the study says; a covariance, scale or share that a command gives takes that
of the whole error, so that half of one is never mixed with half of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.errors import InputError
from percuss.filtering.covariance import LARGEST, MODES, SMALLEST, ObservationError
from percuss.filtering.observations import Observations, observations_in
from percuss.measured import parse_measured
from percuss.settings import KeyPath, Note, Noted, Setting, check_table, clean_setting, table_of
from percuss.spelling import did_you_mean
from percuss.study.study import Study
from percuss.units import parse_quantity, si_quantity

SECTION = "filter"
SCHEMA = table_of(
    Setting("file", "file", doc="observations, CSV or Parquet, one row per step"),
    Setting("case", "text", doc="which case was observed, or which rows of the file to use"),
    Setting("covariance", "text", choices=MODES, doc="constant, relative, or relative to the maximum"),
    Setting("noise", "table", doc="for constant: standard deviation of each variable"),
    Setting("scale", "bare", low=SMALLEST, high=LARGEST, doc="factor of every standard deviation"),
    Setting(
        "ess", "bare", low=0, high=1, low_open=True, high_open=True, doc="effective share the scale is searched for"
    ),
)
ERROR = ("covariance", "noise", "scale", "ess")


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check the section; standard deviations of outputs and quantities come back in SI."""
    noted = Noted(note)
    checked = check_table(SCHEMA, table, (SECTION,), noted)
    if "case" in checked and checked["case"] not in study.cases:
        noted((SECTION, "case"), f"{checked['case']!r}: {did_you_mean(checked['case'], study.cases)}")
    if not noted.faults:
        for key, message in _conflicts(checked, ""):
            noted((SECTION, key), message)
    units = _known_units(study)
    for name, value in checked.get("noise", {}).items():
        try:
            # A variable that only the file names has its unit from there.
            checked["noise"] = {**checked["noise"], name: si_quantity(value, units.get(name))}
        except InputError as fault:
            noted((SECTION, "noise", name), str(fault))
    return dict(table) if noted.faults else checked


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the observations, or with their error."""
    table = filter_settings(study)
    if "file" not in table:
        return
    path: KeyPath = (SECTION, "file")
    try:
        observations = study_observations(study, table)
        path = (SECTION, "noise")
        observation_error(study, observations, table)
    except InputError as fault:
        note(path, str(fault))


def filter_settings(study: Study, written: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the study says, with what a command has `written` in its place."""
    own: Any = study.sections.get(SECTION, {})
    spoken = {key: value for key, value in (written or {}).items() if value is not None and value != {}}
    kept = own if not any(key in spoken for key in ERROR) else {k: v for k, v in own.items() if k not in ERROR}
    return {**kept, **spoken}


def study_observations(study: Study, table: Mapping[str, Any]) -> Observations:
    """The observations of the file that the study names."""
    return observations_in(parse_measured(table["file"], study.files[table["file"]]), study, table.get("case"))


def observation_error(
    study: Study, observations: Observations, table: Mapping[str, Any], before: str = ""
) -> ObservationError:
    """The error that a table describes; `before` is what stands before a key where it was written, as `--`."""
    for key in ("covariance", "scale", "ess"):
        if key in table:
            try:
                clean_setting(SCHEMA[key], table[key])
            except InputError as fault:
                raise InputError(f"{before}{key}: {fault}") from None
    for key, message in _conflicts(table, before):
        raise InputError(f"{before}{key}: {message}")
    mode = table.get("covariance", MODES[0])
    units = observed_units(study, observations)
    stds = dict(observations.stds) if mode == "constant" else {}
    for name, value in table.get("noise", {}).items():
        if name not in units:
            raise InputError(f"{before}noise {name}: is not observed; {did_you_mean(name, units)}")
        stds[name] = parse_quantity(value, units[name])
    return ObservationError(mode, table.get("scale", 1.0), stds)


def observed_units(study: Study, observations: Observations) -> dict[str, str]:
    """The unit of every observed variable."""
    units = _known_units(study)
    pairs = (pair for step in observations.steps for pair in zip(step.variables, step.names, strict=True))
    return {variable: units[name] for variable, name in pairs}


def _known_units(study: Study) -> dict[str, str]:
    quantities = {name: item.unit for name, item in study.model().quantities.items()}
    return quantities | {name: item.unit for name, item in study.outputs.items()}


def _conflicts(table: Mapping[str, Any], before: str) -> list[tuple[str, str]]:
    """Keys that do not go together."""
    mode = table.get("covariance", MODES[0])
    faults = []
    if "scale" in table and "ess" in table:
        faults.append(("scale", f"gives the scale, and {before}ess searches it; give one"))
    if mode != "constant" and not ("scale" in table or "ess" in table):
        faults.append(("covariance", f"{mode} needs {before}scale SCALE, or {before}ess SHARE to search it"))
    if mode != "constant" and table.get("noise"):
        faults.append(("noise", f"goes with {before}covariance constant, not with {mode}"))
    return faults
