"""The reference of a model kind, from its own tables: settings, inputs, quantities, curves and sign conventions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from percuss.models.model import MODELS, Input, Quantity, Reference, model_module
from percuss.settings import Setting


@dataclass(frozen=True)
class SettingLine:
    """A setting and where it stands, as `masses[].mass`; `when` names the choice it goes with."""

    key: str
    setting: Setting
    when: str = ""

    def default(self) -> str:
        """What it is if nobody says."""
        if self.setting.required:
            return "required"
        value = self.setting.default
        if isinstance(value, float):
            return f"{value:g}"
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    def unit(self) -> str:
        """The SI unit of its numbers; empty for what is no number."""
        return self.setting.unit if self.setting.numeric else ""

    def doc(self) -> str:
        """What it is, and with what it goes."""
        return f"{self.setting.doc} ({self.when})" if self.when else self.setting.doc


def setting_lines(schema: Mapping[str, Setting], where: str = "", when: str = "") -> list[SettingLine]:
    """Settings of a table and of the tables in it, in the order of the tables."""
    lines: list[SettingLine] = []
    for name, setting in schema.items():
        key = f"{where}{name}"
        lines.append(SettingLine(key, setting, when))
        # Named tables have a name of the study's own between, those of a list a number.
        inner = f"{key}[]." if setting.form == "list" else f"{key}."
        lines += setting_lines(setting.of, inner, when)
        for choice, more in setting.variants.items():
            lines += setting_lines(more, where, f'{name} = "{choice}"')
    return lines


@dataclass(frozen=True)
class KindReference:
    """All that can be said of a kind without a study."""

    kind: str
    summary: str
    settings: Mapping[str, Setting]
    general: Reference

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "kind": self.kind,
            "summary": self.summary,
            "settings": [_setting_json(setting) for setting in self.settings.values()],
            "inputs": [input_json(item) for item in self.general.inputs],
            "quantities": [quantity_json(item) for item in self.general.quantities if not item.curve],
            "curves": [quantity_json(item) for item in self.general.quantities if item.curve],
            "conventions": list(self.general.conventions),
        }


def kind_reference(kind: str) -> KindReference:
    """The reference of a kind in `MODELS`; raise InputError when there is no such kind."""
    module = model_module(kind)
    general: Reference = getattr(module, "reference", Reference)()
    return KindReference(kind, MODELS[kind].summary, module.settings({}), general)


def input_json(item: Input) -> dict[str, Any]:
    """An input as plain data."""
    return {
        "name": item.name,
        "unit": item.unit,
        "other_units": list(item.other_units),
        "default": item.default,
        **_bounds(item.low, item.high),
        "choices": list(item.choices),
        "doc": item.doc,
    }


def quantity_json(item: Quantity) -> dict[str, Any]:
    """A quantity or curve as plain data."""
    known = {"name": item.name, "unit": item.unit, "doc": item.says(), "diagnostic": item.diagnostic}
    return known | ({"axis": item.axis, "means": item.means} if item.curve else {})


def _setting_json(setting: Setting) -> dict[str, Any]:
    known: dict[str, Any] = {
        "name": setting.name,
        "form": setting.form,
        "unit": setting.unit if setting.numeric else None,
        "default": setting.default,
        "required": setting.required,
        **_bounds(setting.low, setting.high),
        "choices": list(setting.choices),
        "expression": setting.expression,
        "doc": setting.doc,
    }
    if setting.of:
        known["of"] = [_setting_json(inner) for inner in setting.of.values()]
    if setting.variants:
        known["variants"] = {
            choice: [_setting_json(inner) for inner in more.values()] for choice, more in setting.variants.items()
        }
    return known


def _bounds(low: float, high: float) -> dict[str, float | None]:
    return {"low": low if math.isfinite(low) else None, "high": high if math.isfinite(high) else None}
