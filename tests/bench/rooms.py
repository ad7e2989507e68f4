"""Which files of percuss a call passes through: those with a function that was entered.

    python -m tests.bench.rooms
    python -m tests.bench.rooms design studies/ishigami --n 8

The first prints what docs/architecture.md says of the calls of a small study, each in a process of its own; the second
the files that one call enters, in their order, after what the call itself prints. What is done while a module is loaded
does not count.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path
from types import FrameType

import percuss

ROOT = str(Path(percuss.__file__).parent)
STUDY = Path(__file__).parents[2] / "studies" / "linear-gaussian"
# What each call is given after its verb; {0} is the id that the call before it printed.
CALLS = {
    "design": f"{STUDY} --n 32 --skip 1",
    "run": "{0}",
    "surrogate": "{0}",
    "calibrate": "{0} --block exact",
    "report": "{0} --to report.html",
    "audit": "",
}
MARK = "rooms:"


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
            files[code.co_filename.removeprefix(ROOT)[1:].removesuffix(".py")] = None

    from percuss.cli.app import app

    threading.setprofile(watch)
    sys.setprofile(watch)
    with contextlib.suppress(SystemExit):
        app(words, prog_name="percuss")
    sys.setprofile(None)
    return list(files)


def walk() -> dict[str, list[str]]:
    """The rooms of each call of a small study, one after the other in a ledger of their own."""
    rooms: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        event = ""
        for verb, rest in CALLS.items():
            call = [sys.executable, "-m", "tests.bench.rooms", verb, *rest.format(event).split()]
            here = os.environ | {"PERCUSS_LEDGER": f"{folder}/ledger", "PYTHONPATH": str(Path(__file__).parents[2])}
            told = subprocess.run(call, cwd=folder, env=here, check=True, capture_output=True, text=True).stdout
            said, _, files = told.partition(MARK)
            event = said.split()[0] if said.split() else event
            rooms[verb] = files.split()
    return rooms


def listed(rooms: dict[str, list[str]]) -> str:
    """The list in docs/architecture.md: of each call, the rooms that no call above it has entered."""
    known: set[str] = set()
    lines = []
    for verb, files in rooms.items():
        new = [f"`{file}`" for file in files if file not in known]
        lines.append(f"- `{verb}`{', beside those' if known else ''}: {', '.join(new)}.")
        known.update(files)
    return "\n".join(textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(MARK, *entered(sys.argv[1:]), sep="\n")
    else:
        walked = walk()
        print(*(f"{verb} {len(files)}" for verb, files in walked.items()), sep=", ")
        print(listed(walked))
