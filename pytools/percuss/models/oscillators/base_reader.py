"""Reads how the base moves, and adds the inputs that go with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from percuss.errors import InputError
from percuss.models.ground.compatible import COMPATIBLE
from percuss.models.ground.kanai_tajimi import SYNTHETIC
from percuss.models.ground.pulse import PULSE
from percuss.models.ground.record import GroundRecord, read_record
from percuss.models.ground.target import Target, read_target
from percuss.models.model import Input
from percuss.models.oscillators.base import SA, Base, Scaling
from percuss.models.oscillators.inputs import motion_inputs
from percuss.models.oscillators.reader import Reader
from percuss.models.oscillators.tables import HARMONIC, SCALING

WAYS = ("base_record", "base_records", "base_harmonics", "base_synthetic", "base_compatible")
# What goes with records alone.
OF_RECORDS = ("base_scaling", "base_record_by", "base_record_end")


def read_base(
    reader: Reader, settings: Mapping[str, Any], files: Mapping[str, bytes], inputs: dict[str, Input]
) -> Base:
    """Motion of the base; adds its inputs, and what is wrong to the faults of the reader."""
    faults = reader.faults
    ways = [key for key in WAYS if settings.get(key)]
    if len(ways) > 1:
        faults.append((ways[1], f"the base moves by {ways[0]} already: give one of them"))
    if settings.get("base_records") == []:
        faults.append(("base_records", "names no file"))
    way = ways[0] if ways else ""
    for key in OF_RECORDS:
        needed = "base_records" if key == "base_record_by" else "base_record"
        if key in settings and not way.startswith(needed):
            faults.append((key, f"goes with {needed}, which the study does not have"))
    pulse = _pulse(reader, settings, inputs)
    if pulse and way == "base_harmonics":
        faults.append(("base_pulse", "goes with records and synthetic motions, not with base_harmonics"))
    known = motion_inputs()
    if way == "base_synthetic":
        inputs["intensity"] = known["intensity"]
        return Base(synthetic=reader.one(settings[way], SYNTHETIC, way), pulse=pulse)
    if way == "base_harmonics":
        inputs["base_scale"] = known["base_scale"]
        return Base(sines=tuple(reader.tables(settings, way, HARMONIC)))
    if way == "base_compatible":
        inputs["base_scale"] = known["base_scale"]
        table = reader.one(settings[way], COMPATIBLE, way)
        target = _target(reader, table, files) if table else None
        return Base(compatible=table, target=target, pulse=pulse)
    return _recorded(reader, way, settings, files, inputs, pulse) if way else Base(pulse=pulse)


def _recorded(
    reader: Reader,
    way: str,
    settings: Mapping[str, Any],
    files: Mapping[str, bytes],
    inputs: dict[str, Input],
    pulse: bool,
) -> Base:
    names = settings.get("base_records") or [settings["base_record"]]
    known = motion_inputs(tuple(names))
    if way == "base_records":
        which = "base_record_number" if settings.get("base_record_by") == "number" else "base_record"
        inputs[which] = known[which]
    records: dict[str, GroundRecord] = {}
    for name in names:
        try:
            records[name] = read_record(name, files[name], settings.get("base_record_unit"))
        except InputError as fault:
            reader.faults.append((way, f"{name}: {fault}"))
    scaling = _scaling(reader, settings)
    factor = scaling.input if scaling else "base_scale"
    inputs[factor] = known[factor]
    measures = {name: scaling.of(record) for name, record in records.items()} if scaling else {}
    for name, value in measures.items():
        if value == 0:
            reader.faults.append(("base_scaling", f"{name}: a record of zeros cannot be scaled"))
    rests = settings.get("base_record_end") == "rest"
    return Base(records=records, rests=rests, pulse=pulse, scaling=scaling, measures=measures)


def _scaling(reader: Reader, settings: Mapping[str, Any]) -> Scaling | None:
    if "base_scaling" not in settings:
        return None
    table = reader.one(settings["base_scaling"], SCALING, "base_scaling")
    if not table:
        return None
    if (table["measure"] == SA) != ("period" in table):
        word = "needs the period" if table["measure"] == SA else "takes no period"
        reader.faults.append(("base_scaling", f'measure = "{table["measure"]}" {word}'))
        return None
    return Scaling(table["measure"], table.get("period", 0.0), table["damping"])


def _target(reader: Reader, table: Mapping[str, Any], files: Mapping[str, bytes]) -> Target | None:
    if not table["shortest"] < table["longest"]:
        reader.faults.append(("base_compatible", "`shortest` must lie below `longest`"))
    try:
        return read_target(table, files)
    except InputError as fault:
        reader.faults.append(("base_compatible", str(fault)))
        return None


def _pulse(reader: Reader, settings: Mapping[str, Any], inputs: dict[str, Input]) -> bool:
    """Whether there is a pulse; adds its inputs, each with the number of the table."""
    if "base_pulse" not in settings:
        return False
    table = reader.one(settings["base_pulse"], PULSE, "base_pulse")
    if table:
        table.setdefault("time", 0.5 * table["oscillations"] * table["period"])
        known = motion_inputs()
        inputs |= {f"pulse_{key}": replace(known[f"pulse_{key}"], default=float(table[key])) for key in PULSE}
    return bool(table)
