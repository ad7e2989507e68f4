"""Numbers out of text, many at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from percuss.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]


def text_of(data: bytes) -> str:
    """The text of a file; raises InputError for bytes that are none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None


def floats(words: Sequence[str] | Sequence[bytes], label: str) -> Array:
    """Words as numbers; raises InputError naming the first that is none."""
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        for word in words:
            shown = word.decode(errors="replace") if isinstance(word, bytes) else word
            if not re.fullmatch(
                r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|\s*[-+]?(nan|inf(inity)?)\s*", shown, re.I
            ):
                raise InputError(f"{label}: `{shown[:40]}` is no number") from None
        raise InputError(f"{label}: not numbers") from None


def fans(polygons: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Polygons cut into triangles, from the first corner of each."""
    return [(p[0], p[k], p[k + 1]) for p in polygons for k in range(1, len(p) - 1)]
