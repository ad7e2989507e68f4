"""`[calibration.NAME]` of a study, checked to the end: samplers, discrepancies, and the data each block takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

import numpy as np

from percuss.calibration.groups import (
    DEFAULT_KIND,
    exact_data,
    make_groups,
    name_specimens,
    read_fields,
    spread_prior,
)
from percuss.calibration.observations import attached, bound, refuse, study_plan
from percuss.calibration.records import DRAW_COLUMNS
from percuss.errors import InputError
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown
from percuss.inference.discrepancies.model_error import INSTANT
from percuss.inference.discrepancies.registry import discrepancy_class
from percuss.inference.likelihood import Likelihood
from percuss.inference.samplers.registry import DEFAULT, sampler_settings
from percuss.settings import KeyPath, Note, check_table
from percuss.spelling import did_you_mean, shown
from percuss.study.calibration import BLOCK, Block, DataGroup, read_block, read_calibration
from percuss.study.priors.inferred import inferred_in_si
from percuss.study.study import Study

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
    try:
        check_table(sampler_settings(sampler), block.settings, (*path, "settings"), note)
    except InputError as fault:
        note((*path, "sampler"), str(fault))


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
        """Note every fault; and the table with quantities in SI where the group's outputs agree on the unit."""
        discrepancy = self.group.discrepancy
        try:
            kind = discrepancy_class(discrepancy.get("kind", DEFAULT_KIND))
        except InputError as fault:
            self.note((*self.path, "kind"), str(fault))
            return dict(discrepancy)
        if "over" in kind.settings and "over" in discrepancy:
            self.check_control(discrepancy["over"])
        units = {"output": self.output_units(), "axis": self.axis_units()}
        # A number is right if it is so for one kind of outputs that the group takes.
        attempts = [
            self.faults(kind, dict(zip(units, pair, strict=True))) for pair in product(units["output"], units["axis"])
        ]
        for path, message in min(attempts, key=len, default=[]):
            self.note(path, message)
        if not attempts or min(map(len, attempts)):
            return dict(discrepancy)
        of_all = {whose: several[0] if len(several) == 1 else None for whose, several in units.items()}
        return {
            key: inferred_in_si(value, of_all.get(kind.settings[key].unit_of, "1"))
            if key in kind.settings and kind.settings[key].numeric
            else value
            for key, value in discrepancy.items()
        }

    def faults(self, kind: type[Discrepancy], units: Mapping[str, str]) -> list[tuple[KeyPath, str]]:
        """What is wrong with the fields if the outputs, and their axis, are in these units."""
        faults: list[tuple[KeyPath, str]] = []

        def note(path: KeyPath, message: str) -> None:
            name = self.group.discrepancy.get("kind", DEFAULT_KIND)
            faults.append((path, message.replace("unknown key;", f"a {name} discrepancy has no such field;", 1)))

        made = read_fields(kind, self.group.discrepancy, units, self.group.name, self.path, note)
        for key, value in made.items():
            if isinstance(value, Unknown) and value.name in (*self.study.parameters, *DRAW_COLUMNS):
                note((*self.path, key, "name"), f"{shown(value.name)} must name nothing else of the posterior")
        if not faults:
            places = {} if kind.independent else {"places": np.zeros(1)}
            _attempt(self.path, note, kind, **made, **places)
        return faults

    def check_control(self, name: Any) -> None:
        """Note a control variable that is neither the instant nor a number that every case has."""
        study = self.study
        held = [{**study.fixed, **values} for values in study.cases.values()]
        numbers = [key for key in held[0] if all(isinstance(values.get(key), int | float) for values in held)]
        if not isinstance(name, str) or name not in (INSTANT, *numbers):
            near = did_you_mean(str(name), [INSTANT, *numbers])
            self.note((*self.path, "over"), f"{shown(name)} is no number that all cases have: {near}")

    def output_units(self) -> list[str]:
        """The units that a bare number may be in, one for each kind of output that the group takes."""
        return list(dict.fromkeys(output.unit for output in self.outputs))

    def axis_units(self) -> list[str]:
        """Likewise of places along the axis, or of the control variable that takes its place."""
        over = self.group.discrepancy.get("over", INSTANT)
        if over != INSTANT:
            known = self.study.model().inputs.get(over) if isinstance(over, str) else None
            return [known.unit or "1"] if known else []
        quantities = self.study.model().quantities
        axes = [quantities[output.quantity].axis for output in self.outputs]
        return list(dict.fromkeys(quantities[axis].unit if axis else "s" for axis in axes))
