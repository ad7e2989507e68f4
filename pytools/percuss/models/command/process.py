"""One call of a program: bounded in time and in what it prints, and with all its children gone at the end."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CONFINE = Path(__file__).with_name("confine.py")
# Of each stream the beginning and the end are kept, this much of each.
KEPT_BYTES = 32 * 1024
_CHUNK = 65536
_POLL_S = 0.05
_groups: set[int] = set()


@dataclass(frozen=True)
class Ended:
    """How a program ended: why it counts as failed (None: it does not), and what it printed, cut to a size."""

    reason: str | None
    stdout: str
    stderr: str


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self.head, self.tail, self.count = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = KEPT_BYTES - len(self.head)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-KEPT_BYTES:]

    def text(self) -> str:
        left_out = self.count - len(self.head) - len(self.tail)
        middle = f"\n[... {left_out} bytes left out ...]\n".encode() if left_out else b""
        return (bytes(self.head) + middle + bytes(self.tail)).decode(errors="replace")


def run_program(
    argv: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    timeout_s: float,
    most_printed: int,
    largest_file: int,
    most_processes: int,
    writable: Sequence[str] = (),
    good_codes: Sequence[int] = (0,),
    network: bool = False,
    namespaces: bool = False,
) -> Ended:
    """Run a program to its end, or end it. Raises OSError if it cannot be started.

    It is kept from changing anything outside of its folder and those in `writable`, by all that the kernel has:
    `namespaces` where they can be had (`percuss.models.command.held`).
    """
    ours, theirs = os.pipe()
    try:
        order = {
            "report": theirs,
            "namespaces": namespaces,
            "network": network,
            "folder": str(folder),
            "folders": [str(folder), *writable],
            "largest_file": largest_file,
            "most_processes": most_processes,
            "environment": dict(environment),
        }
        # With an environment of its own: what a study sets must not reach the part that confines it.
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CONFINE), json.dumps(order), *argv],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=[theirs],
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    assert process.stdout
    assert process.stderr
    _groups.add(process.pid)
    kept = {"stdout": _Kept(), "stderr": _Kept()}
    try:
        reason = _listen(process, kept, time.monotonic() + timeout_s, most_printed)
    finally:
        # The leader has not been waited for yet, so that its number still names this group and no other.
        _kill(process.pid)
        process.wait()
        _groups.discard(process.pid)
        process.stdout.close()
        process.stderr.close()
        code = _reported(ours)
    if reason is None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        reason = f"killed by {name}"
        if -code == signal.SIGXFSZ:
            reason = f"wrote too large a file: more than {largest_file} bytes"
    elif reason is None and code not in good_codes:
        reason = f"exit code {code}"
    elif reason == "timed out":
        reason = f"timed out: {timeout_s:g} s were not enough"
    return Ended(reason, kept["stdout"].text(), kept["stderr"].text())


def _reported(handle: int) -> int:
    """How the program ended, as the part that confined it says; OSError if it was not started."""
    os.set_blocking(handle, False)
    try:
        lines = os.read(handle, 4096).splitlines()
    except BlockingIOError:
        lines = []
    finally:
        os.close(handle)
    facts = json.loads(lines[0]) if lines else {"code": -signal.SIGKILL}
    if "errno" in facts:
        raise OSError(facts["errno"], os.strerror(facts["errno"]))
    return int(facts["code"])


def _listen(
    process: subprocess.Popen[bytes], kept: Mapping[str, _Kept], deadline: float, most_printed: int
) -> str | None:
    """Take in what is printed until the program is over; why it must be ended before that, if it must."""
    with selectors.DefaultSelector() as selector:
        for name in ("stdout", "stderr"):
            pipe = getattr(process, name)
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, name)
        while True:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return "timed out"
            # With both pipes closed this waits all the same, for a moment, as nothing is left to wake it.
            ready = selector.select(min(left_s, _POLL_S if selector.get_map() else _POLL_S / 10))
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                kept[key.data].add(data)
                if kept[key.data].count > most_printed:
                    return f"printed too much: more than {most_printed} bytes on {key.data}"
            # Children that it left behind may hold the pipes open for ever: once it is over and they are silent, go.
            if not ready and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return None


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def kill_running() -> None:
    """End every program that is running, when this process is about to go without waiting for its threads."""
    for group in list(_groups):
        _kill(group)
