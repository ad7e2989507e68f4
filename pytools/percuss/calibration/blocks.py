"""`[calibration.NAME]` of a study, checked to the end: samplers, discrepancies, and the data each block takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from percuss.calibration.groups import (
    DEFAULT_KIND,
    exact_data,
    known_fields,
    make_groups,
    name_specimens,
    read_unknown,
    spread_prior,
)
from percuss.calibration.observations import attached, bound, refuse, study_plan
from percuss.calibration.records import DRAW_COLUMNS
from percuss.errors import InputError
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown
from percuss.inference.discrepancies.model_error import INSTANT
from percuss.inference.discrepancies.registry import discrepancy_class
from percuss.inference.likelihood import Likelihood
from percuss.inference.samplers.registry import DEFAULT, clean_setting, sampler_settings
from percuss.inference.samplers.sample import Stopping
from percuss.settings import KeyPath, Note, Noted, kind_of
from percuss.spelling import did_you_mean, shown
from percuss.study.calibration import BLOCK, Block, DataGroup, read_block, read_calibration
from percuss.study.priors.prior import PriorError
from percuss.study.priors.registry import prior_in_si
from percuss.study.study import Study
from percuss.units import parse_quantity, si_quantity

SCHEMA = BLOCK
DEFAULT_BLOCK = "default"
# What all data of a study are held against where no forward model is known yet.
ANY = "any"


def find_block(study: Study, name: str | None) -> Block:
    """The block of that name; without one the only one there is, or one that takes all that was observed."""
    tables: Any = study.sections.get("calibration", {})
    if name is None and len(tables) > 1:
        raise InputError(f"study {study.name} has several calibrations: --block one of {', '.join(tables)}")
    if name is not None and name not in tables:
        raise InputError(f"--block {name}: study {study.name} has no such calibration: {did_you_mean(name, tables)}")
    chosen = name or next(iter(tables), DEFAULT_BLOCK)
    return block_of(study, chosen, tables.get(chosen, {}))


def block_of(study: Study, name: str, table: Mapping[str, Any]) -> Block:
    """A block from the table that describes it."""
    return read_block(name, table, _known(study), refuse)


def _known(study: Study) -> dict[str, tuple[str, ...]]:
    return {"outputs": observables(study), "cases": tuple(study.cases), "parameters": tuple(study.parameters)}


def study_blocks(study: Study) -> list[Block]:
    """Every block of a study."""
    tables: Any = study.sections.get("calibration", {})
    return [block_of(study, name, table) for name, table in tables.items()]


def observables(study: Study) -> tuple[str, ...]:
    """What data of a study may belong to: its outputs, and curves that channels of loggers are bound to."""
    section: Any = study.sections.get("observations", {})
    tables = section.get("histories", {}) if isinstance(section, Mapping) else {}
    bound_curves = [
        curve
        for table in (tables.values() if isinstance(tables, Mapping) else ())
        if isinstance(table, Mapping) and isinstance(table.get("channels"), Mapping)
        for curve in table["channels"]
        if curve in study.model().quantities
    ]
    return tuple(dict.fromkeys([*study.outputs, *bound_curves]))


def resolve(study: Study, tables: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check every block; quantities come back in SI."""
    blocks = read_calibration(tables, _known(study), note)
    return {**tables, **{name: _resolved(study, block, ("calibration", name), note) for name, block in blocks.items()}}


def check_data(study: Study, note: Note) -> None:
    """Note which blocks the study's own observations do not fit."""
    try:
        own = own_observations(study)
    except InputError:
        return  # said of [observations]
    if own is None:
        return
    for block in study_blocks(study):
        try:
            check_block(study, block, *own)
        except InputError as fault:
            note(("calibration", block.name), str(fault).removeprefix(f"calibration {block.name}").lstrip(",: "))


def own_observations(study: Study) -> tuple[Any, str] | None:
    """The observations in the files a study names, as a table, and the names of the files; None without such."""
    sources = attached(study, study_plan(study))
    if not sources:
        return None
    return bound(study, sources)[0], ", ".join(source.file for source, _ in sources)


def check_block(study: Study, block: Block, observations: Any, where: str) -> None:
    """Refuse a block that these observations, a table from `where`, do not fit or give no error to."""
    grouped = make_groups(study, block, observations, lambda case, output: (ANY, 0))
    names = [group.forward for group in grouped.groups]
    name_specimens(study, block, grouped.data.to_dicts())
    Likelihood(tuple(study.parameters), dict.fromkeys(names, lambda theta: (theta, theta)), grouped.groups)
    exact_data(block, grouped.groups, grouped.data, where)


def missing_errors(study: Study, observations: Any, where: str) -> list[InputError | None]:
    """For each block of a study that takes these observations: why it refuses them for want of an error, if it does."""
    errors: list[InputError | None] = []
    for block in study_blocks(study):
        try:
            grouped = make_groups(study, block, observations, lambda case, output: (ANY, 0))
        except InputError:
            continue  # not for these observations
        try:
            exact_data(block, grouped.groups, grouped.data, where)
            errors.append(None)
        except InputError as fault:
            errors.append(fault)
    return errors


def _resolved(study: Study, block: Block, path: KeyPath, note: Note) -> dict[str, Any]:
    _check_sampler(block, path, note)
    if block.specimens:
        _attempt((*path, "specimens", "spread"), note, spread_prior, block.specimens)
    for key, value in block.stopping.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            _attempt((*path, key), note, Stopping, **{key: value})
    table = dict(block.raw)
    if isinstance(table.get("groups"), dict) and table["groups"]:
        inner = {group.name: group for group in block.groups}
        table["groups"] = {
            name: _group(study, inner[name], raw, (*path, "groups", name), note) if name in inner else raw
            for name, raw in table["groups"].items()
        }
        return table
    return _group(study, block.groups[0], table, path, note)


def _check_sampler(block: Block, path: KeyPath, note: Note) -> None:
    sampler = block.sampler or DEFAULT
    noted = Noted(note)
    _attempt((*path, "sampler"), noted, sampler_settings, sampler)
    for key, value in block.settings.items() if not noted.faults else ():
        _attempt((*path, "settings", key), note, clean_setting, sampler, key, value)


def _attempt(path: KeyPath, note: Note, read: Callable[..., object], *arguments: object, **named: object) -> None:
    try:
        read(*arguments, **named)
    except InputError as fault:
        note(path, str(fault))


def _group(study: Study, group: DataGroup, table: Mapping[str, Any], path: KeyPath, note: Note) -> dict[str, Any]:
    if not isinstance(table.get("discrepancy"), Mapping):
        return dict(table)
    return {**table, "discrepancy": _Fields(study, group, (*path, "discrepancy"), note).resolved()}


class _Fields:
    """The fields of a group's discrepancy, as far as they can be checked without its data."""

    def __init__(self, study: Study, group: DataGroup, path: KeyPath, note: Note) -> None:
        self.study, self.group, self.path, self.note = study, group, path, note
        outputs = group.outputs
        self.outputs = [
            output
            for output in map(study.observable, observables(study))
            if outputs is None or any(fnmatchcase(output.name, one) for one in outputs)
        ]

    def resolved(self) -> dict[str, Any]:
        """Note every fault; and the table with quantities in SI."""
        discrepancy = self.group.discrepancy
        name = discrepancy.get("kind", DEFAULT_KIND)
        try:
            if not isinstance(name, str):
                raise InputError(f"must be a text, not {kind_of(name)}")
            kind = discrepancy_class(name)
        except InputError as fault:
            self.note((*self.path, "kind"), str(fault))
            return dict(discrepancy)
        known = known_fields(kind)
        in_si = dict(discrepancy)
        for key, value in discrepancy.items():
            if key == "kind":
                continue
            if key not in known:
                self.note((*self.path, key), f"a {name} discrepancy has no `{key}`; {did_you_mean(key, known)}")
            else:
                in_si[key] = self.field(kind, key, value)
        if "std" not in discrepancy:
            _attempt(self.path, self.note, _trial, kind, "std", 0.0)
        for item in fields(kind):
            if item.default is MISSING and item.name in known and item.name not in (*discrepancy, "std"):
                self.note(self.path, f"a {name} discrepancy needs a {item.name}")
        return in_si

    def field(self, kind: type[Discrepancy], key: str, value: Any) -> Any:
        """One field: noted if it is right for none of the group's outputs; in SI where they agree on the unit."""
        if key in kind.flags:
            if not isinstance(value, bool):
                self.note((*self.path, key), f"must be true or false, not {kind_of(value)}")
            return value
        if key == "over":
            self.check_control(value)
            return value
        if key in kind.texts:
            if isinstance(value, str):
                _attempt((*self.path, key), self.note, _trial, kind, key, value)
            else:
                self.note((*self.path, key), f"must be a text, not {kind_of(value)}")
            return value
        units = self.units(key)
        noted: list[tuple[KeyPath, str]] = []
        for unit in units:
            before = len(noted)
            self.read(kind, key, value, unit, lambda path, message: noted.append((path, message)))
            if len(noted) == before:
                unit_of_all = units[0] if len(units) == 1 else None
                if not isinstance(value, Mapping):
                    return si_quantity(value, unit_of_all)
                return {**value, "prior": prior_in_si(value["prior"], unit_of_all)}
        for path, message in noted[:1]:
            self.note(path, message)
        return value

    def check_control(self, name: Any) -> None:
        """Note a control variable that is neither the instant nor a number that every case has."""
        study = self.study
        held = [{**study.fixed, **values} for values in study.cases.values()]
        numbers = [key for key in held[0] if all(isinstance(values.get(key), int | float) for values in held)]
        if not isinstance(name, str) or name not in (INSTANT, *numbers):
            near = did_you_mean(str(name), [INSTANT, *numbers])
            self.note((*self.path, "over"), f"{shown(name)} is no number that all cases have: {near}")

    def read(self, kind: type[Discrepancy], key: str, value: Any, unit: str, note: Note) -> None:
        path = (*self.path, key)
        try:
            if not isinstance(value, Mapping):
                _trial(kind, key, parse_quantity(value, unit))
                return
            unknown = read_unknown(key, value, unit, self.group.name)
            _trial(kind, key, unknown)
            if not isinstance(value.get("name", ""), str) or unknown.name in (*self.study.parameters, *DRAW_COLUMNS):
                note((*path, "name"), f"{shown(unknown.name)} must be a text that names nothing else of the posterior")
        except PriorError as faults:
            for field, message in faults.faults:
                note((*path, "prior", field) if field else (*path, "prior"), message)
        except InputError as fault:
            note(path, str(fault))

    def units(self, key: str) -> list[str]:
        """The units that a bare number may be in, one for each kind of output that the group takes."""
        if key == "std":
            return list(dict.fromkeys(output.unit for output in self.outputs))
        if key != "length":
            return ["1"]
        over = self.group.discrepancy.get("over", INSTANT)
        if over != INSTANT:
            known = self.study.model().inputs.get(over)
            return [known.unit or "1"] if known else []
        quantities = self.study.model().quantities
        axes = [quantities[output.quantity].axis for output in self.outputs]
        return list(dict.fromkeys(quantities[axis].unit if axis else "s" for axis in axes))


def _trial(kind: type[Discrepancy], key: str, value: float | str | Unknown) -> None:
    """Refuse what a discrepancy refuses of one of its fields."""
    needed: dict[str, Any] = {item.name: 1.0 for item in fields(kind) if item.default is MISSING}
    if "places" in needed:
        needed["places"] = np.zeros(1)
    kind(**{**needed, key: value})
