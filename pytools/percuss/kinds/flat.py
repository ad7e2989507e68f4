"""Nested plain data by dotted keys: for showing them, and for comparing two of them value by value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# What the tables of a list are told apart by, where each has another one.
NAMES = ("name", "gate", "role", "label", "output", "mass")


def flat(data: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Every value by its dotted key; the tables of a list go by their names, else by their places from 0.

    >>> flat({"a": {"b": 1}, "rows": [{"name": "x", "mean": 2.0}], "list": [1, 2]})
    {'a.b': 1, 'rows.x.mean': 2.0, 'list.0': 1, 'list.1': 2}
    """
    return dict(_flat(data, before))


def _flat(value: Any, before: str) -> Iterator[tuple[str, Any]]:
    name = name_key(value) if isinstance(value, list) else None
    items: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [
            (str(item[name]), {k: v for k, v in item.items() if k != name}) if name else (str(place), item)
            for place, item in enumerate(value)
        ]
    if not items:
        yield before, value
    for key, item in items:
        yield from _flat(item, f"{before}.{key}" if before else key)


def name_key(items: list[Any]) -> str | None:
    """The key by which the tables of a list are told apart; None where none does."""
    if not items or not all(isinstance(item, Mapping) for item in items):
        return None
    for name in NAMES:
        values = [str(item[name]) for item in items if item.get(name) not in (None, "")]
        if len(values) == len(items) == len(set(values)):
            return name
    return None
