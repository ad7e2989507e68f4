"""What differs between two versions of a study, key by key, in SI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.spelling import shown
from percuss.study.sections import normal
from percuss.study.study import Study

# Differences named in one sentence, at most.
NAMED = 6
# Texts for people: they change no result.
WORDS = "doc"


def differences(old: Study, new: Study) -> list[str]:
    """Each key whose value is another one, as `observations.std 0.0003 m -> 0.0006 m`."""
    before, after = resolved_keys(old), resolved_keys(new)
    return [
        f"{key} {_value(before, key)} -> {_value(after, key)}"
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    ]


def differences_text(old: Study, new: Study) -> str:
    """The differences in a line; empty where there are none."""
    keys = differences(old, new)
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return ", ".join(keys[:NAMED]) + more


def resolved_keys(study: Study) -> dict[str, Any]:
    """Every value of a resolved study by its dotted key."""
    data = normal(study).resolved()
    values: dict[str, Any] = {}
    tables = {
        "model": {"kind": data["model"]["kind"], **data["model"]["settings"], **data["model"]["fixed"]},
        **{name: {item["name"]: item for item in data[name]} for name in ("parameters", "outputs")},
        "cases": {item["name"]: item["values"] for item in data["cases"]},
        **data["sections"],
    }
    _flatten(tables, "", values)
    return values | {f"file {path}": f"sha256 {digest[:12]}" for path, digest in data["files"].items()}


def _flatten(table: Mapping[str, Any], before: str, values: dict[str, Any]) -> None:
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            _flatten(value, f"{before}{key}.", values)
        elif key != WORDS:
            values[f"{before}{key}"] = value


def _value(keys: Mapping[str, Any], key: str) -> str:
    if key not in keys:
        return "nothing"
    value = keys[key]
    return value if isinstance(value, str) and len(value) <= 60 else shown(value)
