"""Settings: what a key of a table may hold, said once; checking, SI, defaults and the reference of models follow.

A table is described by its settings. `check_table` holds what was written against them and notes every fault at its
key, so that one pass finds all there are; `clean_settings` does the same for whoever wants an exception. A key whose
value only its owner can judge has the form `any`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from percuss.errors import InputError
from percuss.spelling import did_you_mean, shown

# The place of a key in nested tables and lists.
KeyPath = tuple[str | int, ...]
# Records a fault: the place to blame, and a sentence.
Note = Callable[[KeyPath, str], None]

Form = Literal[
    "text", "texts", "boolean", "integer", "number", "bare", "numbers", "rows", "file", "files", "list", "table", "any"
]  # fmt: skip
_WORDS: dict[str, str] = {
    "text": "a text",
    "texts": "a list of texts",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "bare": "a number",
    "numbers": "a list of numbers",
    "rows": "a list of lists of numbers",
    "file": "a path inside the study's folder",
    "files": "a list of paths inside the study's folder",
    "list": "a list",
    "table": "a table",
    "any": "a value",
}
_TYPES: dict[str, type] = {"text": str, "boolean": bool, "file": str, "table": dict}
_LISTS = ("texts", "files", "list")
# Forms beside which a text of `choices` may stand.
_WITH_WORDS = ("integer", "boolean")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class Setting:
    """One key of a table, of the type `form` names.

    A `number` is a quantity in the SI unit `unit`, `numbers` are a list of such (of `length` if not 0), `rows` a list
    of those; a `bare` number has no unit to write. A `file` is a path inside the study's folder whose bytes reach the
    reader under that path. With `expression` a number may instead be text that names inputs (`"2 * $gap"`), left to
    the reader. A number whose unit only its reader knows says whose unit it is (`unit_of`), for `in_units` to put in. A
    whole number, or true and false, may have `choices` beside it, as texts. No default: must be given if `required`,
    else it may be missing.

    `files` are the keys inside a list or table that name files, like a `file`.
    What a `table`, or each table of a `list`, may hold is in `of`; what else a table may hold by the value of this key
    is in `variants` (`shape = "box"` takes a `size`). Such tables are checked by their reader; a table that may stand
    where a number does (`std = { prior = ... }`) is checked with it.
    """

    name: str
    form: Form
    default: object = None
    required: bool = False
    unit: str = "1"
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    doc: str = ""
    expression: bool = False
    length: int = 0
    low_open: bool = False
    high_open: bool = False
    files: tuple[str, ...] = ()
    of: Mapping[str, Setting] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    unit_of: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.form in ("integer", "number", "bare", "numbers", "rows")

    def admits(self, number: float) -> bool:
        """Whether a number lies within the bounds."""
        above = number > self.low if self.low_open else number >= self.low
        below = number < self.high if self.high_open else number <= self.high
        return above and below

    def bounds(self) -> str:
        """Spell the bounds, as `[0, 1] m`."""
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"{left}{self.low:g}, {self.high:g}{right} {self.unit}".removesuffix(" 1")

    def allowed_type(self) -> str:
        """Spell the type alone, and the texts that may stand in its place."""
        words = [f'"{choice}"' for choice in self.choices] if self.form in _WITH_WORDS else []
        return " or ".join([_WORDS[self.form], *words])

    def allowed(self) -> str:
        """Spell what may stand there: choices, bounds, or the type."""
        if self.choices and self.form not in _WITH_WORDS:
            return "one of " + ", ".join(self.choices)
        if not self.numeric:
            return self.allowed_type()
        words = _WORDS[self.form]
        if self.length:
            words = words.replace("numbers", f"{self.length} numbers")
        return words + _span(self) + self.allowed_type().removeprefix(_WORDS[self.form])


def _span(setting: Setting) -> str:
    """Bounds in words, for those that are bounds at all."""
    low, high = (end if math.isfinite(end) else None for end in (setting.low, setting.high))
    if low is None and high is None:
        return ""
    if high is None:
        return f" above {low:g}" if setting.low_open else f" of at least {low:g}"
    if low is None:
        return f" below {high:g}" if setting.high_open else f" of at most {high:g}"
    if setting.low_open or setting.high_open:
        if setting.low_open and setting.high_open:
            return f" between {low:g} and {high:g}"
        return f" above {low:g}, at most {high:g}" if setting.low_open else f" of at least {low:g}, below {high:g}"
    return f" from {low:g} to {high:g}"


class SettingsError(InputError):
    """Settings a model cannot take: `faults` holds every key with its message."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        self.faults = faults
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(f"model setting `{faults[0][0]}`: {faults[0][1]}{more}")


class Noted:
    """Notes faults where they belong, and knows how many there were."""

    def __init__(self, note: Note) -> None:
        self.note, self.faults = note, 0

    def __call__(self, path: KeyPath, message: str) -> None:
        self.faults += 1
        self.note(path, message)


def files_inside(value: object, keys: Collection[str]) -> list[str]:
    """The files named under some keys of nested lists and tables."""
    if isinstance(value, list):
        return [name for item in value for name in files_inside(item, keys)]
    if not isinstance(value, dict):
        return []
    own = [item for key, item in value.items() if key in keys and isinstance(item, str)]
    return own + [name for item in value.values() for name in files_inside(item, keys)]


def table_of(*settings: Setting) -> dict[str, Setting]:
    """A table by the names of its settings."""
    return {setting.name: setting for setting in settings}


def kind_of(value: object) -> str:
    """Name the TOML type of a value."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def wrong_type(value: object, expected: str) -> str:
    """Say that a value is not of the type wanted, as `a table`."""
    return f"{shown(value)} is not {expected}: must be {expected}, not {kind_of(value)}"


def only_known(table: Mapping[str, Any], known: Collection[str], path: KeyPath, note: Note) -> None:
    """Note every key that is not among the known ones."""
    for key in table:
        if key not in known:
            note((*path, key), f"unknown key; {did_you_mean(key, known)}")


def check_table(schema: Mapping[str, Setting], table: Mapping[str, Any], path: KeyPath, note: Note) -> dict[str, Any]:
    """What a table says, quantities in SI and defaults filled in, without the keys whose faults were noted."""
    only_known(table, schema, path, note)
    checked: dict[str, Any] = {}
    for name, setting in schema.items():
        if name in table and setting.numeric and setting.of and isinstance(table[name], dict):
            checked[name] = check_table(setting.of, table[name], (*path, name), note)
        elif name in table:
            try:
                checked[name] = clean_setting(setting, table[name])
            except InputError as fault:
                note((*path, name), str(fault))
                if setting.default is not None:
                    checked[name] = setting.default
        elif setting.required:
            note((*path, name), f"missing; {setting.doc}" if setting.doc else "missing")
        elif setting.default is not None:
            checked[name] = setting.default
    return checked


def in_units(schema: Mapping[str, Setting], units: Mapping[str, str]) -> dict[str, Setting]:
    """The same settings, each number in the unit of what it belongs to: `units` by what `unit_of` names."""
    return {
        name: replace(setting, unit=units[setting.unit_of]) if setting.unit_of in units else setting
        for name, setting in schema.items()
    }


def clean_options(
    owner: str, schema: Mapping[str, Setting], options: Mapping[str, Any], word: str = "option"
) -> dict[str, Any]:
    """The options of `owner`, as `a grid design`, that were asked for; texts are read as a command line gives them."""
    cleaned: dict[str, Any] = {}
    for name, value in options.items():
        if name not in schema:
            near = did_you_mean(name, schema) if schema else "it takes none"
            raise InputError(f"{owner} has no {word} `{name}`: {near}")
        setting = schema[name]
        try:
            cleaned[name] = clean_setting(setting, from_text(setting, value))
        except InputError as fault:
            words = f": {fault}" if setting.choices else f" is {shown(value)}: it takes {setting.allowed()}"
            raise InputError(f"{word} `{name}` of {owner}{words}") from None
    return cleaned


def from_text(setting: Setting, value: Any) -> Any:
    """What a text of a command line or the environment stands for; whatever is no such text comes back as it is."""
    if setting.form == "boolean" and isinstance(value, str):
        return _TRUTH.get(value.lower(), value)
    if setting.form not in ("integer", "bare") or isinstance(value, bool):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    exact = isinstance(value, str) and value.strip().lstrip("+-").isdecimal()
    return int(value) if exact and setting.form == "integer" else number


def clean_settings(schema: Mapping[str, Setting], table: Mapping[str, object]) -> dict[str, Any]:
    """Return the settings with defaults filled in and quantities in SI; raise SettingsError with all faults.

    Cleaning is idempotent: what it returns, given again, comes back the same.
    """
    faults: list[tuple[str, str]] = []

    def note(path: KeyPath, message: str) -> None:
        faults.append((str(path[0]), message.replace("unknown key;", "unknown setting;", 1)))

    checked = check_table(schema, table, (), note)
    if faults:
        raise SettingsError(faults)
    return checked


def clean_setting(setting: Setting, value: Any) -> Any:
    """Check one setting's type, bounds and choices; quantities come back in SI."""
    if setting.form == "any":
        return value
    if setting.form in _WITH_WORDS and isinstance(value, str) and value in setting.choices:
        return value
    if setting.form in ("numbers", "rows"):
        return _clean_numbers(setting, value)
    if setting.numeric:
        return _clean_number(setting, value)
    if setting.form in _LISTS:
        texts = setting.form == "list" or (isinstance(value, list) and all(isinstance(item, str) for item in value))
        if not isinstance(value, list) or not texts:
            raise InputError(f"{shown(value)} is not {_WORDS[setting.form]}")
    elif not isinstance(value, _TYPES[setting.form]):
        raise InputError(_wrong(setting, value))
    if setting.choices and setting.form not in _WITH_WORDS and value not in setting.choices:
        raise InputError(f"{shown(value)} is not known; {did_you_mean(str(value), setting.choices)}")
    return value


def _wrong(setting: Setting, value: object) -> str:
    if setting.choices and setting.form in _WITH_WORDS:
        return f"{shown(value)} is not {setting.allowed_type()}"
    return wrong_type(value, "a text" if setting.form == "file" else _WORDS[setting.form])


def _clean_numbers(setting: Setting, value: Any) -> list[Any]:
    single = setting.form == "numbers"
    if not isinstance(value, list) or (single and setting.length not in (0, len(value))):
        expected = "numbers" if single else "lists of numbers"
        raise InputError(f"{shown(value)} is not a list of {setting.length or ''} {expected}".replace("  ", " "))
    inner = replace(setting, form="number" if single else "numbers")
    return [clean_setting(inner, item) for item in value]


def _clean_number(setting: Setting, value: Any) -> float | int | str:
    number: float | int
    if setting.expression and isinstance(value, str) and "$" in value:
        return value
    if setting.form == "number":
        # Here: the units need not be loaded for tables without quantities.
        from percuss.units import parse_quantity

        number = parse_quantity(value, setting.unit)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(_wrong(setting, value))
    elif setting.form == "integer" and value != (math.isfinite(value) and int(value)):
        raise InputError(f"{shown(value)} is no whole number")
    elif setting.form == "integer":
        number = int(value)
    else:
        number = value
    if not setting.admits(number):
        if setting.low_open and setting.high_open:
            raise InputError(f"{value} must lie{_span(setting)}")
        raise InputError(f"{value} is outside {setting.bounds()}")
    if math.isinf(number):
        raise InputError(f"{value} is not a finite number")
    return number
