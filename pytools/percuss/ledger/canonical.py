"""Canonical bytes: how values become bytes before they are hashed. `docs/ledger-format.md` is the specification.

Two encodings, both unambiguous and easy to write in any language:

- `encode` for the fields of an event: null, integers, text and lists, each tagged and length-prefixed;
- `canonical_json` for the body of an event: sorted keys, no spaces, no NaN. The body is hashed as the text
  stored, so that a reader never has to print a floating-point number the way we do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "int | str | Sequence[Value] | None"


def encode(value: Value) -> bytes:
    """Encode nested lists of null, integers and text.

    >>> encode([None, 12, "ab"])
    b'l\\x03\\x00\\x00\\x00\\x00\\x00\\x00\\x00ni\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x0012s\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00ab'
    """
    parts: list[bytes] = []
    _encode_into(parts, value)
    return b"".join(parts)


def _encode_into(parts: list[bytes], value: Value) -> None:
    if value is None:
        parts.append(b"n")
    elif isinstance(value, str):
        data = value.encode()
        parts.append(b"s" + len(data).to_bytes(8, "little"))
        parts.append(data)
    elif isinstance(value, int):
        data = str(value).encode()
        parts.append(b"i" + len(data).to_bytes(8, "little"))
        parts.append(data)
    else:
        parts.append(b"l" + len(value).to_bytes(8, "little"))
        for item in value:
            _encode_into(parts, item)


def canonical_json(data: Mapping[str, object]) -> str:
    """Write JSON in the one form that is stored: sorted keys, no spaces, UTF-8, finite numbers only.

    >>> canonical_json({"b": 1.5, "a": ["x", None]})
    '{"a":["x",null],"b":1.5}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
