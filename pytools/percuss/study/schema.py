"""Read the tables of a study file into a Study, collecting every fault on the way.

Each `_read_*` function takes its raw table, notes faults with the path of the key to blame, and returns
what it could make of the rest, so that one pass finds everything that can be found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from percuss.errors import InputError
from percuss.models.model import Input, Model, Quantity, Setting, Value
from percuss.models.registry import MODELS, model_module
from percuss.models.settings import SettingsError, clean_settings
from percuss.spelling import did_you_mean, shown
from percuss.study.files import attached_path
from percuss.study.output import REDUCTIONS, Output
from percuss.study.priors.prior import Prior, PriorError
from percuss.study.priors.registry import read_prior
from percuss.study.study import BASE_CASE, Parameter, Study, checked_value
from percuss.study.toml_lines import Path
from percuss.units import dimension, parse_quantity, same_dimension

Note = Callable[[Path, str], None]
ReadFile = Callable[[str], bytes]

RAW_SECTIONS = ("observations", "calibration")
SECTIONS = ("study", "model", "parameters", "cases", "outputs", *RAW_SECTIONS)
MAX_DEPTH = 32
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def read_study(name: str, raw: Mapping[str, Any], note: Note, read_file: ReadFile) -> Study | None:
    """Make a study of parsed TOML; None when a fault was noted that leaves nothing to make it of.

    `note(path, message)` records a fault; `read_file(relpath)` returns the bytes of an attached file.
    """
    if not _plain(raw, note):
        return None
    _only(raw, SECTIONS, (), note)
    about = _table(raw, "study", note)
    _only(about, ("title", "source", "notes"), ("study",), note)
    texts = {key: _text(about, key, ("study",), note) for key in ("title", "source", "notes")}
    parameters, cases, outputs = (_table(raw, key, note) for key in ("parameters", "cases", "outputs"))
    files = _Files(read_file, note)
    sections = _read_sections(raw, files, note)
    if "model" not in raw:
        note((), "[model] is missing: it names the model's kind and settings")
        return None
    kind, settings, fixed, model = _read_model(_table(raw, "model", note), files, note)
    if model is None:
        return None
    checked = _read_parameters(parameters, model, note)
    fixed_values = _read_values(fixed, model, ("model",), note)
    for key in fixed_values:
        if key in parameters:
            note(("model", key), f"`{key}` is a parameter as well: fix it or give it a prior")
    found_cases = _read_cases(cases, parameters, model, note)
    _complete(model, {*fixed, *parameters}, cases, note)
    found_outputs = _read_outputs(outputs, model, note) if "outputs" in raw else _scalar_outputs(model)
    for key in found_outputs:
        if key in parameters:
            note(("outputs", key), "a parameter has the same name: rename the output")
    if not found_outputs and not outputs:
        note((), f"model {kind} gives curves only: [outputs] must reduce one to a number")
    return Study(
        name=name,
        title=texts["title"],
        source=texts["source"],
        notes=texts["notes"],
        model_kind=kind,
        settings=settings,
        fixed=fixed_values,
        parameters=checked,
        cases=found_cases,
        outputs=found_outputs,
        sections=sections,
        files=files.bytes,
    )


class _Files:
    """The attached files of one study, each read once."""

    def __init__(self, read_file: ReadFile, note: Note) -> None:
        self.read_file, self.note = read_file, note
        self.bytes: dict[str, bytes] = {}

    def attach(self, text: str, path: Path) -> str:
        """Read the file a key names and return its path in normal form."""
        try:
            relative = attached_path(text)
            if relative not in self.bytes:
                self.bytes[relative] = self.read_file(relative)
        except InputError as fault:
            self.note(path, str(fault))
            return text
        return relative


def _plain(raw: Mapping[str, Any], note: Note) -> bool:
    """Check that all is JSON data: no dates, no NaN or infinities, not nested beyond reason."""
    fine = True
    pending: list[tuple[Path, object]] = [((), raw)]
    while pending:
        path, value = pending.pop()
        if len(path) > MAX_DEPTH:
            note(path[:1], f"is nested more than {MAX_DEPTH} levels deep")
            return False
        children: Iterable[tuple[str | int, object]] = ()
        if isinstance(value, dict):
            children = value.items()
        elif isinstance(value, list):
            children = enumerate(value)
        elif isinstance(value, float) and not math.isfinite(value):
            note(path, f"{value} is not a finite number")
            fine = False
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63:
            note(path, "is a whole number beyond 64 bits")
            fine = False
        elif not isinstance(value, str | int | float):
            note(path, f"{value} is a date or time: write it as a text")
            fine = False
        pending.extend(((*path, key), child) for key, child in children)
    return fine


def _only(table: Mapping[str, Any], known: Iterable[str], path: Path, note: Note) -> None:
    known = tuple(known)
    for key in table:
        if key not in known:
            note((*path, key), f"unknown key; {did_you_mean(key, known)}")


def _table(raw: Mapping[str, Any], key: str, note: Note, path: Path = ()) -> dict[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, dict):
        note((*path, key), f"must be a table, not {_kind(value)}")
        return {}
    return value


def _text(table: Mapping[str, Any], key: str, path: Path, note: Note) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        note((*path, key), f"must be a text, not {_kind(value)}")
        return ""
    return value


def _kind(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _named(tables: Mapping[str, Any], section: str, note: Note) -> Iterable[tuple[str, dict[str, Any]]]:
    for name in tables:
        if not _NAME.fullmatch(name):
            note((section, name), "a name holds letters, digits, `_`, `-` and `.`, at most 64")
        else:
            table = tables[name]
            if isinstance(table, dict):
                yield name, table
            else:
                note((section, name), f"must be a table, not {_kind(table)}")


def _read_model(
    table: Mapping[str, Any], files: _Files, note: Note
) -> tuple[str, dict[str, object], dict[str, Any], Model | None]:
    """Split [model] into settings and fixed inputs, and configure the model when the settings allow it."""
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
    given = {key: value for key, value in table.items() if key in schema}
    fixed = {key: value for key, value in table.items() if key not in schema and key != "kind"}
    try:
        settings = clean_settings(schema, given)
        _attach_files(schema, settings, files)
        missing = [path for path in _file_names(schema, settings) if path not in files.bytes]
        model = None if missing else module.configure(settings, files.bytes)
    except SettingsError as faults:
        for key, message in faults.faults:
            note(("model", key), message)
        return kind, {}, fixed, None
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
    return names


def _attach_files(schema: Mapping[str, Setting], settings: dict[str, Any], files: _Files) -> None:
    for name, setting in schema.items():
        if name in settings and setting.form == "file":
            settings[name] = files.attach(settings[name], ("model", name))
        elif name in settings and setting.form == "files":
            settings[name] = [files.attach(item, ("model", name, i)) for i, item in enumerate(settings[name])]


def _read_values(table: Mapping[str, Any], model: Model, path: Path, note: Note) -> dict[str, Value]:
    """Read values of inputs; names the model does not have were noted by the caller."""
    values: dict[str, Value] = {}
    for key, value in table.items():
        if key in model.inputs:
            try:
                values[key] = checked_value(model.inputs[key], value)
            except InputError as fault:
                note((*path, key), str(fault))
    return values


def _read_parameters(tables: Mapping[str, Any], model: Model, note: Note) -> dict[str, Parameter]:
    parameters = {}
    for name, table in _named(tables, "parameters", note):
        path: Path = ("parameters", name)
        _only(table, ("unit", "prior", "doc"), path, note)
        doc = _text(table, "doc", path, note)
        given = model.inputs.get(name)
        if given is None:
            note(path, f"model {model.kind} has no such input; {did_you_mean(name, model.inputs)}")
            continue
        if given.unit is None:
            note(path, f"is a choice ({given.allowed()}) and takes no prior: set it in [model] or [cases]")
            continue
        unit = _unit(table, given.unit, path, note)
        if not isinstance(table.get("prior"), dict):
            note(
                (*path, "prior"), 'missing or no table, as in prior = { kind = "uniform", low = 0, high = 1 }'
            )
            continue
        prior = _read_prior(table["prior"], unit, given, (*path, "prior"), note)
        if prior is not None:
            parameters[name] = Parameter(name, unit, prior, doc)
    return parameters


def _unit(table: Mapping[str, Any], si: str, path: Path, note: Note) -> str:
    """Read a display unit of the dimension of `si`; fall back on `si` after noting a fault."""
    unit = table.get("unit", si)
    if not isinstance(unit, str):
        note((*path, "unit"), f"must be a text, not {_kind(unit)}")
        return si
    try:
        if same_dimension(unit, si):
            return unit
        note((*path, "unit"), f"{unit} ({dimension(unit)}) is not of the dimension of {si} ({dimension(si)})")
    except InputError as fault:
        note((*path, "unit"), str(fault))
    return si


def _read_prior(table: Mapping[str, Any], unit: str, given: Input, path: Path, note: Note) -> Prior | None:
    try:
        prior = read_prior(table, unit)
    except PriorError as faults:
        for field, message in faults.faults:
            note((*path, field) if field else path, message)
        return None
    low, high = prior.support()
    if low < given.low or high > given.high:
        span = (
            f"[{low:g}, {high:g}]" if math.isfinite(low) and math.isfinite(high) else f"({low:g}, {high:g})"
        )
        cut = "; a truncated-normal takes low and high" if prior.kind == "normal" else ""
        note(path, f"reaches over {span} (SI) where the model takes {given.allowed()}{cut}")
    return prior


def _read_cases(
    tables: Mapping[str, Any], parameters: Mapping[str, Any], model: Model, note: Note
) -> dict[str, dict[str, Value]]:
    if not tables:
        return {BASE_CASE: {}}
    cases = {}
    for name, table in _named(tables, "cases", note):
        for key in table:
            if key not in model.inputs:
                known = did_you_mean(key, model.inputs)
                note(("cases", name, key), f"model {model.kind} has no such input; {known}")
            elif key in parameters:
                note(("cases", name, key), f"`{key}` is a parameter: its values come from the design")
        cases[name] = _read_values(table, model, ("cases", name), note)
    return cases


def _complete(model: Model, given: set[str], cases: Mapping[str, Any], note: Note) -> None:
    """Check that every input gets a value in every case."""
    for name, needed in model.inputs.items():
        if needed.default is not None or name in given:
            continue
        lacking = [case for case, table in cases.items() if isinstance(table, dict) and name not in table]
        if not cases:
            note(
                ("model",),
                f"input `{name}` has no value: fix it here, or give it a [parameters.{name}] prior",
            )
        for case in lacking:
            note(
                ("cases", case),
                f"input `{name}` has no value: set it here, in [model] or in [parameters.{name}]",
            )


def _scalar_outputs(model: Model) -> dict[str, Output]:
    return {
        q.name: Output(q.name, q.name, q.unit, doc=q.doc) for q in model.quantities.values() if not q.curve
    }


def _read_outputs(tables: Mapping[str, Any], model: Model, note: Note) -> dict[str, Output]:
    outputs = {}
    for name, table in _named(tables, "outputs", note):
        path: Path = ("outputs", name)
        _only(table, ("quantity", "reduce", "at", "from", "to", "unit", "doc"), path, note)
        wanted = table.get("quantity", name)
        quantity = model.quantities.get(wanted) if isinstance(wanted, str) else None
        if quantity is None:
            near = did_you_mean(str(wanted), model.quantities)
            blamed = (*path, "quantity") if "quantity" in table else path
            note(blamed, f"model {model.kind} has no quantity {shown(wanted)}; {near}")
            continue
        unit = _unit(table, quantity.unit, path, note)
        reduce = _reduce(table, quantity, path, note)
        places = _places(table, quantity, model, path, note)
        start, stop = places.get("from"), places.get("to")
        if reduce == "at" and "at" not in table:
            note(path, 'reduce = "at" needs the place: at = ...')
        if reduce != "at" and "at" in table:
            note((*path, "at"), 'goes with reduce = "at"')
        if reduce == "at" and ("from" in table or "to" in table):
            note(path, 'reduce = "at" takes no window from/to')
        if start is not None and stop is not None and not start < stop:
            note((*path, "to"), "must lie beyond from")
        doc = _text(table, "doc", path, note)
        outputs[name] = Output(name, quantity.name, unit, reduce, places.get("at"), start, stop, doc)
    return outputs


def _reduce(table: Mapping[str, Any], quantity: Quantity, path: Path, note: Note) -> str | None:
    reduce = table.get("reduce")
    if not quantity.curve:
        for key in ("reduce", "at", "from", "to"):
            if key in table:
                note((*path, key), f"`{quantity.name}` is one number already")
        return None
    if reduce not in REDUCTIONS:
        what = "missing" if reduce is None else f"{shown(reduce)} is not known"
        blamed = path if reduce is None else (*path, "reduce")
        note(blamed, f"reduce: {what}: the curve `{quantity.name}` takes one of {', '.join(REDUCTIONS)}")
        return None
    return str(reduce)


def _places(
    table: Mapping[str, Any], quantity: Quantity, model: Model, path: Path, note: Note
) -> dict[str, float]:
    """Read the places on the curve's axis, in SI."""
    places: dict[str, float] = {}
    for key in ("at", "from", "to"):
        if key not in table or not quantity.curve:
            continue
        if quantity.axis is None:
            note((*path, key), f"`{quantity.name}` is an axis and has no places")
            continue
        try:
            places[key] = parse_quantity(table[key], model.quantities[quantity.axis].unit)
        except InputError as fault:
            note((*path, key), str(fault))
    return places


def _read_sections(raw: Mapping[str, Any], files: _Files, note: Note) -> dict[str, object]:
    """Keep the tables that later steps read, and attach the files that observations name."""
    sections: dict[str, object] = {key: _table(raw, key, note) for key in RAW_SECTIONS if key in raw}
    if "observations" in sections:
        sections["observations"] = _attached(_table(raw, "observations", note), ("observations",), files)
    for name, table in _table(raw, "calibration", note).items():
        if not isinstance(table, dict):
            note(("calibration", name), f"must be a table, not {_kind(table)}")
    return sections


def _attached(table: Mapping[str, Any], path: Path, files: _Files) -> dict[str, Any]:
    """Copy [observations] with the path of every `file` key, at the top or one table down, in normal form."""
    copy: dict[str, Any] = {}
    for key, value in table.items():
        if key == "file" and isinstance(value, str):
            copy[key] = files.attach(value, (*path, key))
        elif isinstance(value, dict) and len(path) == 1:
            copy[key] = _attached(value, (*path, key), files)
        else:
            copy[key] = value
    return copy
