"""How far the long runs of this process have come: models tell their share, whoever shows progress looks or listens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_shares: dict[int, float] = {}
_listeners: list[Callable[[float], None]] = []


@contextmanager
def telling() -> Iterator[Callable[[float], None]]:
    """For a model, around one run: yields what it calls with the share that is done, of its thread."""
    me = threading.get_ident()

    def tell(share: float) -> None:
        _shares[me] = share
        for listener in _listeners:
            listener(share)

    try:
        yield tell
    finally:
        _shares.pop(me, None)


@contextmanager
def listening(listener: Callable[[float], None]) -> Iterator[None]:
    """Call `listener` with every share that is told, in the thread of the run."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def note() -> str:
    """What is under way, in a few words; empty if nothing tells.

    >>> with telling() as tell:
    ...     tell(0.25)
    ...     note()
    'under way: 25 %'
    """
    shares = sorted(_shares.copy().values(), reverse=True)
    return "under way: " + ", ".join(f"{100 * share:.0f} %" for share in shares) if shares else ""
