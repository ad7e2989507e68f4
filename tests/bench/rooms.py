"""Which files of percuss a call passes through: those with a function that was entered.

    python -m tests.bench.rooms design studies/ishigami --n 8

prints them, after what the call itself prints. Class bodies and imports do not count.
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


def entered(words: list[str]) -> set[str]:
    """Run a command in this process; the files whose functions it entered."""
    files: set[str] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code, caller = frame.f_code, frame.f_back
        function = code.co_flags & inspect.CO_OPTIMIZED and caller and caller.f_code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and function and code.co_filename.startswith(ROOT):
            files.add(code.co_filename.removeprefix(ROOT)[1:])

    from percuss.cli.app import app

    threading.setprofile(watch)
    sys.setprofile(watch)
    with contextlib.suppress(SystemExit):
        app(words, prog_name="percuss")
    sys.setprofile(None)
    return files


if __name__ == "__main__":
    print("\n".join(sorted(entered(sys.argv[1:]))))
