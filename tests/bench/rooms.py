"""Which files of percuss a call passes through: those with a function that was entered.

    python -m tests.bench.rooms design studies/ishigami --n 8

prints them in the order in which they are entered, after what the call itself prints. What is done while a module is
loaded does not count.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from pathlib import Path
from types import FrameType

import percuss

ROOT = str(Path(percuss.__file__).parent)


def _is_called(frame: FrameType) -> bool:
    """Whether a function runs because it was called, and not because a module that is being loaded fills its tables."""
    at: FrameType | None = frame
    while at is not None and at.f_code.co_name != "entered":
        if not at.f_code.co_flags & inspect.CO_OPTIMIZED:
            return False
        at = at.f_back
    return True


def entered(words: list[str]) -> list[str]:
    """Run a command in this process; the files whose functions it entered, in order."""
    files: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and _is_called(frame):
            files[code.co_filename.removeprefix(ROOT)[1:]] = None

    from percuss.cli.app import app

    threading.setprofile(watch)
    sys.setprofile(watch)
    with contextlib.suppress(SystemExit):
        app(words, prog_name="percuss")
    sys.setprofile(None)
    return list(files)


if __name__ == "__main__":
    print("\n".join(entered(sys.argv[1:])))
