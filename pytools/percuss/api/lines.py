"""Progress as plain lines: for notebooks and logs, without a code that a terminal would have to understand."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from percuss.session import Advance

# How often a long job tells how far it has come, in seconds.
EVERY_S = 5.0


class Lines:
    """Speaks in lines: words at once, progress every few seconds."""

    def __init__(self, write: Callable[[str], None] | None = None, every_s: float = EVERY_S) -> None:
        self.write = write or _print
        self.every_s = every_s

    def say(self, text: str) -> None:
        """Words for a person."""
        self.write(text)

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Advance]:
        """How far a long job has come; a job that is done before the first line is due says nothing."""
        started = last_print = time.monotonic()
        steps = 0

        def advance(count: int, note: str) -> None:
            nonlocal steps, last_print
            steps += count
            now = time.monotonic()
            if now - last_print < self.every_s or not steps:
                return
            last_print = now
            how_far = f"{steps}"
            if total:
                left_s = (now - started) / steps * (total - steps)
                how_far = f"{steps} of {total}, about {_span(left_s)} left"
            self.write(f"{label}: {how_far}{f', {note}' if note else ''}")

        yield advance


def _print(text: str) -> None:
    print(text, file=sys.stderr)


def _span(seconds: float) -> str:
    """A span of time for people.

    >>> _span(40), _span(600)
    ('40 s', '10 min')
    """
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.2g} min"
