"""Reads the tables of [model] and gathers every fault in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from percuss.models.model import Input
from percuss.models.oscillators.inputs import Element
from percuss.models.oscillators.seismic import SPECTRA, STOREY, Seismic, Storey
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
        read = [self.one(table, _with_variants(schema, table), key) for table in settings[key]]
        if key == "masses" and not read:
            self.faults.append((key, "there must be at least one"))
        return [table for table in read if table]

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
        made = []
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
            law = "" if shared else str(table.get("law", ""))
            made.append(Element(name, self.nodes(table["between"], masses, key), own, law))
        if any(element.name for element in made):
            self.names([element.name for element in made], key)
        return tuple(made)

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

    def seismic(self, settings: Mapping[str, Any], masses: Sequence[str], *, sampled: bool) -> Seismic:
        """Storeys, spectra and measures of the motion."""
        tables = self.tables(settings, "storeys", STOREY) if "storeys" in settings else []
        self.names([str(table["name"]) for table in tables], "storeys")
        self.names(list(dict.fromkeys(str(t["building"]) for t in tables if "building" in t)), "storeys")
        storeys = tuple(
            Storey(
                str(table["name"]),
                self.nodes(table["between"], masses, "storeys"),
                table["height"],
                str(table.get("building", "")),
            )
            for table in tables
        )
        spectra = self.one(settings["spectra"], SPECTRA, "spectra") if "spectra" in settings else None
        if spectra:
            if not spectra["shortest"] < spectra["longest"]:
                self.faults.append(("spectra", "`shortest` must lie below `longest`"))
            for name in spectra["floors"]:
                if name not in masses:
                    self.faults.append(("spectra", f"floor {name!r}: no such mass; {did_you_mean(name, masses)}"))
        for key in ("spectra", "base_measures"):
            if settings.get(key) and not sampled:
                self.faults.append((key, "needs a base motion with samples: a record, a synthetic one or a pulse"))
        return Seismic(storeys, spectra, bool(settings.get("base_measures")))


def _with_variants(schema: Mapping[str, Setting], table: object) -> Mapping[str, Setting]:
    """What a table may hold, with what the values of its keys add to that."""
    if not isinstance(table, dict):
        return schema
    allowed = dict(schema)
    for setting in schema.values():
        allowed |= setting.variants.get(str(table.get(setting.name)), {})
    return allowed
