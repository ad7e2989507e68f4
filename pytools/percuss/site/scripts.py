"""Data for scripts: a call with JSON inside, loaded by a script element, from a file as well as from a server."""

from __future__ import annotations

import json
import math
from typing import Any


def call(function: str, data: Any) -> str:
    """`percuss.FUNCTION(DATA)`. What a stranger wrote is a string in JSON, and can end no script."""
    text = json.dumps(_plain(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return f"percuss.{function}({text.replace('<', chr(92) + 'u003c')});\n"


def rounded(value: float, digits: int = 6) -> float | None:
    """A number with as many digits as a picture can show; None for what is none."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    """JSON has no infinities: null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
