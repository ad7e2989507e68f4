"""Read the tables of a study file into a Study, collecting every fault on the way.

Each `_read_*` function takes its raw table, notes faults with the path of the key to blame, and returns
what it could make of the rest, so that one pass finds everything that can be found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from percuss.errors import InputError
from percuss.models.model import MODELS, Driven, Foreseen, Input, Model, Value, model_module
from percuss.settings import (
    KeyPath,
    Note,
    Setting,
    SettingsError,
    check_table,
    clean_settings,
    files_inside,
    only_known,
    table_of,
)
from percuss.spelling import did_you_mean
from percuss.study.output import OUTPUT, read_outputs, scalar_outputs
from percuss.study.priors.prior import Prior, PriorError
from percuss.study.priors.registry import read_priors, suffixes
from percuss.study.sections import all_sections, file_keys, resolved_sections
from percuss.study.study import BASE_CASE, Parameter, Study, checked_value
from percuss.study.tables import display_unit, named_tables, plain_data, subtable

ReadFile = Callable[[str, int], bytes]

MAX_ATTACHED_BYTES = 256 * 1024**2

ABOUT = table_of(
    Setting("title", "text", "", doc="title in one line"),
    Setting("source", "text", "", doc="where its data and values come from"),
    Setting("notes", "text", "", doc="anything else a reader should know"),
)
PARAMETER = table_of(
    Setting("unit", "any", doc="unit of bare numbers, and for display; default: that of the model"),
    Setting("prior", "any", doc="its distribution: kind and the fields of the kind"),
    Setting("doc", "text", "", doc="description in one line"),
)
# The key of a case that lists parameters, and what no input can be called therefore.
HOLD = "hold"
# What a study may hold beside its sections.
TABLES = ("study", "model", "parameters", "cases", "outputs")


def read_study(name: str, raw: Mapping[str, Any], note: Note, read_file: ReadFile) -> Study | None:
    """Make a study of parsed TOML; None when a fault was noted that leaves nothing to make it of.

    `note(path, message)` records a fault; `read_file(relpath, limit)` returns the bytes of an attached
    file, at most `limit` of them.
    """
    if not plain_data(raw, note):
        return None
    only_known(raw, (*TABLES, *all_sections()), (), note)
    about = check_table(ABOUT, subtable(raw, "study", note), ("study",), note)
    tables, cases, outputs = (subtable(raw, key, note) for key in ("parameters", "cases", "outputs"))
    parameters = {name + end for name in tables for end in suffixes(_prior_table(tables[name]))}
    files = _Files(read_file, note)
    sections = _read_sections(raw, files, note)
    kind, settings, fixed, model = _read_model(raw, files, note)
    checked = _read_parameters(tables, model, note)
    if model is None:
        # What can be said without knowing the model's inputs and quantities.
        for _ in named_tables(cases, "cases", note):
            pass
        for key, table in named_tables(outputs, "outputs", note):
            only_known(table, OUTPUT, ("outputs", key), note)
        return None
    fixed_values = _read_values(fixed, model, ("model",), note)
    for key in fixed_values:
        if key in parameters:
            note(("model", key), f"`{key}` is a parameter as well: fix it or give it a prior")
    read_cases = _read_cases(cases, raw["model"], parameters, checked, model, note)
    _complete(model, {*fixed, *parameters}, fixed_values, cases, note)
    asked_outputs = read_outputs(outputs, model, note) if "outputs" in raw else scalar_outputs(model)
    for key in asked_outputs:
        if key in parameters:
            note(("outputs", key), "a parameter has the same name: rename the output")
    if not asked_outputs and not outputs:
        note((), f"model {kind} gives curves only: [outputs] must reduce one to a number")
    study = Study(
        name=name,
        **about,
        model_kind=kind,
        settings=settings,
        fixed=fixed_values,
        parameters=checked,
        cases=read_cases,
        outputs=asked_outputs,
        sections=sections,
        files=files.bytes,
    )
    return replace(study, sections=resolved_sections(study, note)) if sections else study


class _Files:
    """The attached files of one study, each read once."""

    def __init__(self, read_file: ReadFile, note: Note) -> None:
        self.read_file, self.note = read_file, note
        self.bytes: dict[str, bytes] = {}

    def attach(self, text: str, path: KeyPath) -> str:
        """Read the file a key names and return its path in normal form."""
        try:
            relative = attached_path(text)
            if relative not in self.bytes:
                left = MAX_ATTACHED_BYTES - sum(map(len, self.bytes.values()))
                self.bytes[relative] = self.read_file(relative, left)
        except InputError as fault:
            self.note(path, str(fault))
            return text
        return relative


def _read_model(
    raw: Mapping[str, Any], files: _Files, note: Note
) -> tuple[str, dict[str, object], dict[str, Any], Model | None]:
    """Split [model] into settings and fixed inputs, and configure the model when the settings allow it."""
    if "model" not in raw:
        note((), "[model] is missing: it names the model's kind and settings")
        return "", {}, {}, None
    table = subtable(raw, "model", note)
    kind = table.get("kind")
    if not isinstance(kind, str):
        note(("model", "kind"), f"missing or no text: one of {', '.join(MODELS)}")
        return "", {}, {}, None
    try:
        module = model_module(kind)
    except InputError as fault:
        note(("model", "kind"), str(fault))
        return kind, {}, {}, None
    schema = module.settings(table)
    written = {key: value for key, value in table.items() if key in schema}
    fixed = {key: value for key, value in table.items() if key not in schema and key != "kind"}
    try:
        settings = clean_settings(schema, written)
        _attach_files(schema, settings, files)
        missing = [path for path in _file_names(schema, settings) if path not in files.bytes]
        model = None if missing else module.configure(settings, files.bytes)
    except SettingsError as faults:
        for key, message in faults.faults:
            note(("model", key), message)
        return kind, {}, fixed, None
    except InputError as fault:
        note(("model",), str(fault))
        return kind, {}, fixed, None
    if isinstance(model, Driven):
        for words in model.short_records():
            note(("model", "duration"), words)
    if isinstance(model, Foreseen):
        for key, words in model.never_runs():
            note(("model", key), words)
    if model is not None:
        for key in fixed:
            if key not in model.inputs:
                near = did_you_mean(key, [*schema, *model.inputs])
                note(("model", key), f"neither a setting nor an input of model {kind}; {near}")
    return kind, settings, fixed, model


def _file_names(schema: Mapping[str, Setting], settings: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for name, setting in schema.items():
        if name in settings and setting.form in ("file", "files"):
            names.extend([settings[name]] if setting.form == "file" else settings[name])
        elif name in settings and setting.files:
            names.extend(files_inside(settings[name], setting.files))
    return names


def _attach_files(schema: Mapping[str, Setting], settings: dict[str, Any], files: _Files) -> None:
    for name, setting in schema.items():
        if name in settings and setting.form == "file":
            settings[name] = files.attach(settings[name], ("model", name))
        elif name in settings and setting.form == "files":
            settings[name] = [files.attach(item, ("model", name, i)) for i, item in enumerate(settings[name])]
        elif name in settings and setting.files:
            settings[name] = _attached_inside(settings[name], ("model", name), files, setting.files)


def _attached_inside(value: Any, path: KeyPath, files: _Files, keys: tuple[str, ...]) -> Any:
    """The same lists and tables, with the files named under some keys attached."""
    if isinstance(value, list):
        return [_attached_inside(item, (*path, i), files, keys) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return {
        key: files.attach(item, (*path, key))
        if key in keys and isinstance(item, str)
        else _attached_inside(item, (*path, key), files, keys)
        for key, item in value.items()
    }


def _read_values(table: Mapping[str, Any], model: Model, path: KeyPath, note: Note) -> dict[str, Value]:
    """Read values of inputs; names the model does not have were noted by the caller."""
    values: dict[str, Value] = {}
    for key, value in table.items():
        if key in model.inputs:
            try:
                values[key] = checked_value(model.inputs[key], value)
            except InputError as fault:
                note((*path, key), str(fault))
    return values


def _read_parameters(tables: Mapping[str, Any], model: Model | None, note: Note) -> dict[str, Parameter]:
    """Read priors and units; against the model's inputs where the model is known."""
    parameters = {}
    for name, table in named_tables(tables, "parameters", note):
        path: KeyPath = ("parameters", name)
        doc = check_table(PARAMETER, table, path, note)["doc"]
        prior_table = _prior_table(table)
        ends = suffixes(prior_table)
        taking = {end: model.inputs.get(name + end) if model else None for end in ends}
        if model:
            for end in (end for end in ends if taking[end] is None):
                which = f" `{name}{end}`" if end else ""
                note(path, f"model {model.kind} has no such input{which}; {did_you_mean(name + end, model.inputs)}")
        first = next((item for item in taking.values() if item), None)
        if first and first.unit is None:
            note(path, f"is a choice ({first.allowed()}) and takes no prior: set it in [model] or [cases]")
            continue
        unit = display_unit(table, first.unit if first else None, path, note, first.other_units if first else ())
        if prior_table is None:
            note((*path, "prior"), 'missing or no table, as in prior = { kind = "uniform", low = 0, high = 1 }')
            continue
        if unit is None:
            if any(isinstance(value, str) for key, value in prior_table.items() if key != "kind"):
                continue  # quantities with units, of a dimension nobody knows
            unit = "1"
        for end, prior in _read_priors(prior_table, unit, taking, (*path, "prior"), note).items():
            parameters[name + end] = Parameter(name + end, unit, prior, doc)
    return parameters


def _prior_table(table: object) -> dict[str, Any] | None:
    prior = table.get("prior") if isinstance(table, dict) else None
    return prior if isinstance(prior, dict) else None


def _read_priors(
    table: Mapping[str, Any], unit: str, taking: Mapping[str, Input | None], path: KeyPath, note: Note
) -> dict[str, Prior]:
    try:
        priors = read_priors(table, unit)
    except PriorError as faults:
        for field, message in faults.faults:
            note((*path, field) if field else path, message)
        return {}
    for end, prior in priors.items():
        low, high = prior.support()
        taken = taking[end]
        if taken and (low < taken.low or high > taken.high):
            span = f"[{low:g}, {high:g}]" if math.isfinite(low) and math.isfinite(high) else f"({low:g}, {high:g})"
            cut = "; a truncated-normal takes low and high" if prior.kind == "normal" else ""
            note(path, f"reaches over {span} (SI) where the model takes {taken.allowed()}{cut}")
    return priors


def _no_input(key: str, model: Model, table: Mapping[str, Any]) -> str:
    """Why a case cannot set this: it is a setting, or nothing at all."""
    settings = model_module(model.kind).settings(table)
    if key not in settings:
        return f"model {model.kind} has no such input; {did_you_mean(key, model.inputs)}"
    several = settings.get(f"{key}s")
    hint = f"; set `{several.name}` there instead: {several.doc}" if several else ""
    return f"a setting of [model], the same in all cases{hint}"


def _read_cases(
    tables: Mapping[str, Any],
    model_table: Mapping[str, Any],
    names: Iterable[str],
    parameters: Mapping[str, Parameter],
    model: Model,
    note: Note,
) -> dict[str, dict[str, Value]]:
    if not tables:
        return {BASE_CASE: {}}
    cases = {}
    for name, table in named_tables(tables, "cases", note):
        values = {key: value for key, value in table.items() if key != HOLD}
        for key in values:
            if key not in model.inputs:
                note(("cases", name, key), _no_input(key, model, model_table))
            elif key in names:
                note(("cases", name, key), f"`{key}` is a parameter: its values come from the design")
        held = _read_held(table, parameters, names, ("cases", name, HOLD), note)
        cases[name] = _read_values(values, model, ("cases", name), note) | held
    return cases


def _read_held(
    table: Mapping[str, Any], parameters: Mapping[str, Parameter], names: Iterable[str], path: KeyPath, note: Note
) -> dict[str, Value]:
    """The parameters that a case holds, each at the mean of its prior; `names` has those with faults, too."""
    patterns = table.get(HOLD, [])
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
        note(path, 'must be a list of parameters, as in hold = ["mass", "centre_*"]')
        return {}
    held: dict[str, Value] = {}
    for pattern in patterns:
        matching = [p for p in parameters.values() if fnmatchcase(p.name, pattern) or p.source == pattern]
        if not matching and not any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}_") for name in names):
            note(path, f"no parameter `{pattern}`; {did_you_mean(pattern, parameters)}")
        held |= {p.name: p.prior.mean() for p in matching}
    return held


def _complete(model: Model, valued: set[str], fixed: Mapping[str, Value], cases: Mapping[str, Any], note: Note) -> None:
    """Check that every input gets a value in every case that takes one, and none where it means nothing."""
    common = {name: needed.default for name, needed in model.inputs.items()} | dict(fixed)
    values = {case: common | table for case, table in cases.items() if isinstance(table, dict)}
    for name, needed in model.inputs.items():
        taking = [case for case, inputs in values.items() if needed.taken(inputs)]
        for case in values:
            if case not in taking and name in cases[case]:
                note(("cases", case, name), f"`{name}` means nothing with {needed.idle_words()}: leave it out")
        taken = taking if cases else needed.taken(common)
        if (name in valued or needed.default is not None) and not taken:
            where: KeyPath = (
                ("model", name) if name in fixed else ("parameters", name) if name in valued else ("model",)
            )
            note(where, f"`{name}` means nothing with {needed.idle_words()}: leave it out")
        if needed.default is not None or name in valued:
            continue
        lacking = [case for case in taking if name not in cases[case]]
        if not cases and taken:
            note(
                ("model",),
                f"input `{name}` has no value: fix it here, or give it a [parameters.{name}] prior",
            )
        for case in lacking:
            note(
                ("cases", case),
                f"input `{name}` has no value: set it here, in [model] or in [parameters.{name}]",
            )


def _read_sections(raw: Mapping[str, Any], files: _Files, note: Note) -> dict[str, object]:
    """The tables that other parts of percuss read, as written, with the files they name attached."""
    return {
        name: _attached(subtable(raw, name, note), (name,), files, *file_keys(name))
        for name in all_sections()
        if name in raw
    }


def _attached(
    table: Mapping[str, Any], path: KeyPath, files: _Files, keys: tuple[str, ...], tables: tuple[str, ...]
) -> dict[str, Any]:
    """Copy a section with the path of every key that names a file in normal form: at the top, one table down, or in one
    of the `tables` of tables.
    """
    copy: dict[str, Any] = {}
    for key, value in table.items():
        if key in keys and isinstance(value, str):
            copy[key] = files.attach(value, (*path, key))
        elif isinstance(value, dict) and (len(path) == 1 or path[1:] in {(name,) for name in tables}):
            copy[key] = _attached(value, (*path, key), files, keys, tables)
        else:
            copy[key] = value
    return copy


def attached_path(text: str) -> str:
    """Return the normal form of a path inside a study's folder; raise InputError when it leads elsewhere."""
    path = PurePosixPath(text)
    if not text.strip() or not text.isprintable():
        raise InputError(f"{text[:40]!r} is no path of a file")
    if path.is_absolute() or Path(text).is_absolute() or ".." in path.parts or not path.parts:
        raise InputError(f"`{text}` must be a path inside the study's folder, without `..`")
    return str(path)
