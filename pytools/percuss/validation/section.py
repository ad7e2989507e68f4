"""`[validation]` of a study, checked to the end: every model under test, what it can follow, and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Noted, clean_setting
from percuss.spelling import did_you_mean
from percuss.study.priors.registry import prior_in_si
from percuss.study.study import Study
from percuss.units import parse_quantity, si_quantity
from percuss.validation.following import SENSED, follow
from percuss.validation.settings import KEYS, NOISE, SECTION, Reader, Validating, models_in, models_of, read_validation

SCHEMA = KEYS


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check every model under test; quantities come back in SI."""
    noted = Noted(note)
    models = models_in(table)
    for name in models or [None]:
        before = noted.faults
        settings = Reader(study, table, name, noted).read()
        if settings:
            _check_followed(study, settings, (SECTION, name) if name else (SECTION,), noted)
        elif name and noted.faults > before and (near := did_you_mean(name, KEYS)).startswith("did you mean"):
            note((SECTION, name), f"is taken for a model under test; {near}")
    if noted.faults:
        return dict(table)
    readers = {name: Reader(study, table, name, noted) for name in models or [None]}
    shared = _in_si({key: value for key, value in table.items() if key not in models}, list(readers.values()))
    return {key: _in_si(value, [readers[key]]) if key in models else shared[key] for key, value in table.items()}


def _check_followed(study: Study, asked: Validating, path: KeyPath, note: Note) -> None:
    """Note what the model cannot follow: quantities, inputs, parameters."""
    means = {name: prior.mean() for name, prior in asked.priors.items()}
    try:
        follow(
            study,
            case=asked.case,
            values=means | dict(asked.values),
            track=asked.track,
            quantities=[column.name for column in asked.observed],
            times_s=np.array([0.0, 1e-3]),
            inputs={column.name: np.zeros(2) for column in asked.inputs},
            substeps=asked.substeps,
        )
    except InputError as fault:
        note(path, str(fault))


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the data that models under test are held against."""
    from percuss.validation.compute import first_judged, training_samples
    from percuss.validation.record import read_record

    for name in models_of(study):
        asked = read_validation(study, name)
        for key, file in (("file", asked.file), ("extrapolate", asked.extrapolate)):
            if file is None:
                continue
            try:
                record = read_record(study.files[file], file, asked)
                if key == "file":
                    first_judged(record, asked, file)
                    if asked.traditional:
                        training_samples(record, asked)
            except InputError as fault:
                note((SECTION, key), str(fault))


def _in_si(table: Mapping[str, Any], readers: Sequence[Reader]) -> dict[str, Any]:
    """A table without faults, of the section or of a model, with quantities in SI; `readers` are of all it is for."""
    si = dict(table)
    for key, value in table.items():
        if KEYS[key].form == "number":
            si[key] = clean_setting(KEYS[key], value)
        elif key == "values":
            si[key] = readers[0].values(value)
        elif key == "ladder":
            si[key] = [parse_quantity(item, "1") for item in value]
        elif key == "observed":
            si[key] = [_noise_in_si(entry) for entry in value]
        elif key == "priors":
            units = {name: {reader.prior_unit(name) for reader in readers} for name in value}
            si[key] = {
                name: prior_in_si(item, units[name].pop() if len(units[name]) == 1 else None)
                for name, item in value.items()
            }
    return si


def _noise_in_si(entry: Mapping[str, Any]) -> dict[str, Any]:
    unit = entry.get("unit", SENSED[entry["quantity"][0]][1])
    return {key: si_quantity(value, NOISE[key].format(unit)) if key in NOISE else value for key, value in entry.items()}
