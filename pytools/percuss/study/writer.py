"""Write a resolved study as a study file: other words than its author's, and the same digest.

Quantities are written in SI with their unit, so that they are read as the same numbers whatever the unit of the
parameter is. Comments, the order of tables and the units an author wrote are not part of a resolved study; its file is
kept beside it where there was one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from percuss.study.priors.prior import Prior, Role
from percuss.study.priors.tensor import Component
from percuss.study.study import BASE_CASE, Parameter, Study
from percuss.units import dimension, parse_unit

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# A list or table that is longer in one line gets a line for each of its items.
LONG = 100


def study_text(study: Study) -> str:
    """The text of a study file that is read as this study, as far as a study file can say it."""
    tables: dict[str, Mapping[str, Any]] = {
        "study": {"title": study.title, "source": study.source, "notes": study.notes},
        "model": {"kind": study.model_kind, **study.settings, **study.fixed},
        **{f"parameters.{_key(name)}": table for name, table in _parameters(study)},
        **{f"cases.{_key(name)}": table for name, table in _cases(study)},
        **{f"outputs.{_key(name)}": _output(output.to_json()) for name, output in study.outputs.items()},
    }
    lines = [line for name, table in tables.items() for line in _table(name, table)]
    for name, section in study.sections.items():
        lines += _section(_key(name), section)
    return "\n".join(lines).lstrip("\n") + "\n"


def _parameters(study: Study) -> Iterator[tuple[str, dict[str, Any]]]:
    """The table of each parameter; the six components of a tensor have one."""
    written: set[str] = set()
    for parameter in study.parameters.values():
        if parameter.source not in written:
            written.add(parameter.source)
            prior = _tensor(parameter) if isinstance(parameter.prior, Component) else _prior(parameter)
            yield parameter.source, {"unit": parameter.unit, "prior": prior, "doc": parameter.doc}


def _prior(parameter: Parameter) -> dict[str, Any]:
    prior: Prior = parameter.prior
    fields = {name: _field(prior.roles[name], value, parameter.unit) for name, value in prior.fields.items()}
    return {"kind": prior.kind, **fields}


def _field(role: Role, value: float, unit: str) -> Any:
    if role == "value":
        return _quantity(value, unit)
    if role == "plain":
        return value
    # Reading adds the logarithm of the unit's scale: the number that gives the recorded one is this, or next to it.
    scale = parse_unit(unit).scale
    shift = math.log(scale.numerator) - math.log(scale.denominator)
    nearest = value - shift
    around = (nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, -math.inf))
    return next((number for number in around if number + shift == value), nearest)


def _tensor(parameter: Parameter) -> dict[str, Any]:
    assert isinstance(parameter.prior, Component)
    law = parameter.prior.law
    tensors = {name: [_quantity(item, parameter.unit) for item in value] for name, value in law.tensors.items()}
    return {"kind": law.kind, **tensors, **law.plain}


def _quantity(value: float, unit: str) -> Any:
    # A bare number would be in the unit of the parameter, which may be per cent.
    return value if unit == "1" else f"{value!r} {dimension(unit)}"


def _cases(study: Study) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, values in study.cases.items():
        held = [key for key in values if key in study.parameters]
        table = {key: value for key, value in values.items() if key not in study.parameters}
        if name != BASE_CASE or values or len(study.cases) > 1:
            yield name, table | ({"hold": held} if held else {})


def _output(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "name"}


def _section(path: str, section: Any) -> Iterator[str]:
    """A section, with a table for each of its tables of tables."""
    if not isinstance(section, Mapping):
        return
    inner = {key: value for key, value in section.items() if isinstance(value, Mapping) and value}
    yield from _table(path, {key: value for key, value in section.items() if key not in inner})
    for key, table in inner.items():
        yield from _table(f"{path}.{_key(key)}", table)


def _table(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"[{path}]")
    # TOML knows no null: what has no value is left out, as its author did.
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None and value != "")


def _value(value: Any, indent: str = "") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return repr(value)
    if isinstance(value, str):
        # JSON's text is TOML's but for the one control character that JSON lets through.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = [f"{_key(key)} = {_value(item)}" for key, item in value.items() if item is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    items = [_value(item, indent + "    ") for item in value]
    line = f"[{', '.join(items)}]"
    if len(line) <= LONG:
        return line
    inner = "".join(f"{indent}    {item},\n" for item in items)
    return f"[\n{inner}{indent}]"


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _value(name)
