"""Reads the tables of [model] and gathers every fault in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from percuss.errors import InputError
from percuss.models.ground_motion import SYNTHETIC
from percuss.models.ground_record import GroundRecord, read_record
from percuss.models.model import Input
from percuss.models.oscillators.base import Base
from percuss.models.oscillators.inputs import Element, motion_inputs
from percuss.models.oscillators.tables import HARMONIC
from percuss.settings import Setting, SettingsError, clean_settings
from percuss.spelling import did_you_mean

BASE = "base"


class Reader:
    """What was read so far has its faults in `faults`."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []

    def one(self, table: object, schema: Mapping[str, Setting], where: str) -> dict[str, Any]:
        """One table, checked; empty after a fault."""
        if not isinstance(table, dict):
            self.faults.append((where, "must be a table"))
            return {}
        try:
            return clean_settings(schema, table)
        except SettingsError as fault:
            self.faults += [(where, f"`{key}`: {message}") for key, message in fault.faults]
            return {}

    def tables(self, settings: Mapping[str, Any], key: str, schema: Mapping[str, Setting]) -> list[dict[str, Any]]:
        """A list of tables."""
        found = [self.one(table, _with_variants(schema, table), key) for table in settings[key]]
        if key == "masses" and not found:
            self.faults.append((key, "there must be at least one"))
        return [table for table in found if table]

    def names(self, names: Sequence[str], key: str) -> None:
        """Names become parts of the names of inputs and curves."""
        for i, name in enumerate(names):
            if not name.replace("_", "").isalnum() or not name.isascii() or name == BASE:
                self.faults.append((key, f"name {name!r}: letters, digits and '_' only, and not {BASE!r}"))
            if name in names[:i]:
                self.faults.append((key, f"name {name!r}: is there twice"))

    def elements(
        self,
        settings: Mapping[str, Any],
        key: str,
        schema: Mapping[str, Setting],
        masses: Sequence[str],
        inputs: dict[str, Input],
        kinds: Mapping[str, Input],
        *,
        shared: bool = False,
        more: Callable[[Mapping[str, Any]], Mapping[str, Input]] = lambda _: {},
    ) -> tuple[Element, ...]:
        """Springs, dampers or contacts; adds their inputs. Shared ones may leave a number to the input for all; `more`
        says what a table takes beside the others by what it holds.
        """
        tables = self.tables(settings, key, schema)
        found = []
        single = shared and len(tables) == 1 and "name" not in tables[0]
        for i, table in enumerate(tables, start=1):
            name = "" if single else str(table.get("name", i))
            own: dict[str, str] = {}
            for kind, pattern in {**kinds, **more(table)}.items():
                if shared and kind not in table:
                    own[kind] = kind
                    inputs.setdefault(kind, pattern)
                    continue
                own[kind] = f"{kind}_{name}" if name else kind
                if own[kind] in inputs and not (shared and single):
                    self.faults.append((key, f"input `{own[kind]}` is there twice: give names that differ"))
                inputs[own[kind]] = replace(pattern, name=own[kind], default=table[kind])
            nodes = self.nodes(table["between"], masses, key)
            law = "" if shared else str(table.get("law", ""))
            found.append(Element(name, nodes, own, law, table.get("height")))
        if any(element.name for element in found):
            self.names([element.name for element in found], key)
        return tuple(found)

    def nodes(self, between: Sequence[object], masses: Sequence[str], key: str) -> tuple[int, int]:
        """Indices of two nodes; -1 is the base."""
        known = [BASE, *masses]
        for name in between:
            if name not in known:
                self.faults.append((key, f"between {name!r}: no such mass; {did_you_mean(str(name), known)}"))
        if len(between) != 2 or between[0] == between[1]:
            self.faults.append((key, f"between {list(between)}: must be two different nodes"))
        if self.faults:
            return 0, 0
        first, second = (known.index(str(name)) - 1 for name in between)
        return first, second

    def base(self, settings: Mapping[str, Any], files: Mapping[str, bytes], inputs: dict[str, Input]) -> Base:
        """Motion of the base; adds its input."""
        given = [
            key for key in ("base_record", "base_records", "base_harmonics", "base_synthetic") if settings.get(key)
        ]
        if len(given) > 1:
            self.faults.append((given[1], f"the base moves by {given[0]} already: give one of them"))
        if settings.get("base_records") == []:
            self.faults.append(("base_records", "names no file"))
        if not given:
            return Base()
        if given[0] == "base_synthetic":
            inputs["intensity"] = motion_inputs()["intensity"]
            return Base(synthetic=self.one(settings["base_synthetic"], SYNTHETIC, "base_synthetic"))
        inputs["base_scale"] = motion_inputs()["base_scale"]
        if given[0] == "base_harmonics":
            return Base(sines=tuple(self.tables(settings, "base_harmonics", HARMONIC)))
        names = settings.get("base_records") or [settings["base_record"]]
        if "base_records" in settings:
            inputs["base_record"] = motion_inputs(tuple(names))["base_record"]
        records: dict[str, GroundRecord] = {}
        for name in names:
            try:
                records[name] = read_record(name, files[name], settings.get("base_record_unit"))
            except InputError as fault:
                self.faults.append((given[0], f"{name}: {fault}"))
        return Base(records=records)


def _with_variants(schema: Mapping[str, Setting], table: object) -> Mapping[str, Setting]:
    """What a table may hold, with what the values of its keys add to that."""
    if not isinstance(table, dict):
        return schema
    found = dict(schema)
    for setting in schema.values():
        found |= setting.variants.get(str(table.get(setting.name)), {})
    return found
