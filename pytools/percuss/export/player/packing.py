"""Numbers of a page: one zlib stream in base64, a head of JSON and then the arrays it names.

What changes little from frame to frame is kept in 16 bits as differences to the frame before, zigzag, the high bytes
of an array before its low bytes: of bodies that rest next to nothing is left after compression.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TYPES = ("<f4", "<u4", "<u2", "|i1")
LEVELS = 65535


class Packing:
    """Arrays by name, each with its type, count and place."""

    def __init__(self) -> None:
        self._head: dict[str, list[Any]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, values: Any, kind: str) -> str:
        """Keep an array as it is; returns its name."""
        import numpy as np

        assert kind in TYPES
        array = np.ascontiguousarray(values, dtype=kind)
        return self._keep(name, kind[1:], array.size, 0, array.tobytes())

    def add_differences(self, name: str, levels: NDArray[np.int64]) -> str:
        """Keep rows of levels from 0 to 65535 as differences along each row."""
        import numpy as np

        assert levels.ndim == 2
        steps = np.diff(levels, axis=1, prepend=0).astype(np.int64)
        # Of a difference modulo 2^16 the one nearer to zero.
        steps = (steps + 32768) % 65536 - 32768
        coded = ((steps << 1) ^ (steps >> 15)).astype("<u2")
        planes = (coded >> 8).astype("u1").tobytes() + (coded & 255).astype("u1").tobytes()
        return self._keep(name, "d2", levels.shape[1], levels.shape[0], planes)

    def _keep(self, name: str, kind: str, count: int, rows: int, data: bytes) -> str:
        self._head[name] = [kind, self._size, count, rows]
        self._parts.append(data)
        self._size += len(data)
        return name

    def text(self, head: dict[str, Any]) -> str:
        """Everything, ready to stand in a page."""
        words = json.dumps({**head, "arrays": self._head}, allow_nan=False, separators=(",", ":")).encode()
        whole = len(words).to_bytes(4, "little") + words + b"".join(self._parts)
        return base64.b64encode(zlib.compress(whole, 9)).decode()
