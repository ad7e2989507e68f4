"""Check and convert a model's settings, all faults in one go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from percuss.errors import InputError
from percuss.models.model import Setting
from percuss.spelling import did_you_mean, shown
from percuss.units import parse_quantity


class SettingsError(InputError):
    """Settings a model cannot take: `faults` holds every key with its message."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        self.faults = faults
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"model setting `{faults[0][0]}`: {faults[0][1]}{more}")


_TYPES: dict[str, tuple[type, str]] = {
    "text": (str, "a text"),
    "texts": (list, "a list of texts"),
    "boolean": (bool, "true or false"),
    "file": (str, "the path of a file in the study's folder"),
    "files": (list, "a list of paths of files in the study's folder"),
    "list": (list, "a list"),
    "table": (dict, "a table"),
}


def clean_settings(schema: Mapping[str, Setting], given: Mapping[str, object]) -> dict[str, object]:
    """Return the settings with defaults filled in and quantities in SI; raise SettingsError with all faults.

    Cleaning is idempotent: what it returns, given again, comes back the same.
    """
    faults: list[tuple[str, str]] = []
    cleaned: dict[str, object] = {}
    for name in given:
        if name not in schema:
            faults.append((name, f"unknown setting; {did_you_mean(name, schema)}"))
    for name, setting in schema.items():
        if name not in given:
            if setting.required:
                faults.append((name, f"missing; {setting.doc}" if setting.doc else "missing"))
            elif setting.default is not None:
                cleaned[name] = setting.default
            continue
        try:
            cleaned[name] = clean_setting(setting, given[name])
        except InputError as fault:
            faults.append((name, str(fault)))
    if faults:
        raise SettingsError(faults)
    return cleaned


def clean_setting(setting: Setting, value: object) -> object:
    """Check one setting's type, bounds and choices; quantities come back in SI."""
    if setting.form in ("numbers", "rows"):
        if not isinstance(value, list) or (setting.form == "numbers" and setting.length not in (0, len(value))):
            wanted = "numbers" if setting.form == "numbers" else "lists of numbers"
            raise InputError(f"{shown(value)} is not a list of {setting.length or ''} {wanted}".replace("  ", " "))
        inner = replace(setting, form="number" if setting.form == "numbers" else "numbers")
        return [clean_setting(inner, item) for item in value]
    if setting.form in ("number", "integer"):
        number: float | int
        if setting.form == "integer":
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"{shown(value)} is no whole number")
            number = value
        elif setting.expression and isinstance(value, str) and "$" in value:
            return value
        else:
            number = parse_quantity(value, setting.unit)  # type: ignore[arg-type]
        if not setting.low <= number <= setting.high:
            raise InputError(
                f"{value} is outside [{setting.low:g}, {setting.high:g}] {setting.unit}".removesuffix(" 1")
            )
        return number
    kind, words = _TYPES[setting.form]
    if not isinstance(value, kind):
        raise InputError(f"{shown(value)} is not {words}")
    if setting.form in ("files", "texts") and not all(isinstance(item, str) for item in value):  # type: ignore[attr-defined]
        raise InputError(f"{shown(value)} is not {words}")
    if setting.choices and value not in setting.choices:
        raise InputError(f"{shown(value)} is not known; {did_you_mean(str(value), setting.choices)}")
    return value
