"""What a program is held to on this machine: found out by trying, once, with a program that tries to get out."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from percuss.models.command.confine import interface
from percuss.models.command.process import run_program

_TIMEOUT_S = 20.0
# Each of these is tried on a file outside of the scratch folder; what does not fail is not held back.
_TRIES = """
import _thread, json, os, socket, sys
path, parent, service = sys.argv[1:4]
def held(act):
    try:
        act()
    except OSError:
        return True
    return False
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect(("192.0.2.1", 9))
def connect():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        tcp.setblocking(False)
        try:
            tcp.connect(("192.0.2.1", 9))
        except BlockingIOError:
            pass
def ask():
    with socket.socket(socket.AF_UNIX) as local:
        local.connect(service)
def multiply():
    for _ in range(400):
        try:
            _thread.start_new_thread(wait.acquire, ())
        except RuntimeError as fault:
            raise OSError from fault
wait = _thread.allocate_lock()
wait.acquire()
found = {
    "write": held(lambda: open(path, "a").close()),
    "truncate": held(lambda: os.truncate(path, 0)),
    "mode": held(lambda: os.chmod(path, 0o600)),
    "times": held(lambda: os.utime(path)),
    "attributes": held(lambda: os.setxattr(path, "user.percuss", b"")),
    "udp": held(send),
    "tcp": held(connect),
    "services": held(ask),
    "environ": held(lambda: open(f"/proc/{parent}/environ").read()),
    "processes": held(lambda: os.kill(int(parent), 0)),
    "multiply": held(multiply),
}
print(json.dumps(found), flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Held:
    """For each thing that a program could try, whether it is kept from it here; and by what."""

    namespaces: bool
    landlock: int
    tries: dict[str, bool]

    def words(self) -> dict[str, str]:
        """Exactly what holds, in words."""
        means = [
            *(["namespaces"] if self.namespaces else []),
            *([f"Landlock {self.landlock}"] if self.landlock else []),
        ]
        outside = {
            "contents": ("write",),
            "truncation": ("truncate",),
            "mode, times and attributes": ("mode", "times", "attributes"),
        }
        return {
            "by": " and ".join(means) or "nothing",
            "held": self._list(outside, True),
            "not held": self._list(outside, False),
        }

    def _list(self, outside: dict[str, tuple[str, ...]], held: bool) -> str:
        files = [name for name, keys in outside.items() if all(self._is(key) for key in keys) == held]
        kinds = [f"{', '.join(files)} of files outside of the scratch folder"] if files else []
        others = {
            "the network (unless asked for)": self._is("udp") and self._is("tcp"),
            "services with a socket in a folder (containers, D-Bus, agents)": self._is("services"),
            "the environment of percuss": self._is("environ"),
            "signals to other processes": self._is("processes"),
            "processes without end": self._is("multiply"),
        }
        kinds += [name for name, is_held in others.items() if is_held == held]
        if not held:
            kinds.append("reading files")
        return "; ".join(kinds) or "nothing"

    def _is(self, key: str) -> bool:
        return self.tries.get(key, False)


@cache
def held() -> Held:
    """Try it out: with namespaces, and without where they cannot be had."""
    for namespaces in (True, False):
        held_now = _tried(namespaces)
        if held_now is not None:
            return Held(namespaces, interface(), held_now)
    return Held(False, 0, {})


def _tried(namespaces: bool) -> dict[str, bool] | None:
    with tempfile.TemporaryDirectory(prefix="percuss-held-", ignore_cleanup_errors=True) as name:
        scratch, outside = Path(name) / "scratch", Path(name) / "outside"
        scratch.mkdir()
        outside.write_bytes(b"x")
        service, listens = socket.socket(socket.AF_UNIX), False
        with contextlib.suppress(OSError):  # a name that is too long for a socket
            service.bind(f"{name}/service")
            service.listen()
            listens = True
        call = [sys.executable, "-I", "-S", "-c", _TRIES, str(outside), str(os.getpid()), f"{name}/service"]
        limits = {"timeout_s": _TIMEOUT_S, "most_printed": 10_000, "largest_file": 10_000, "most_processes": 10}
        try:
            ended = run_program(call, scratch, {}, namespaces=namespaces, **limits)  # type: ignore[arg-type]
        except OSError:
            return None
        finally:
            service.close()
        try:
            tries = {str(key): value is True for key, value in json.loads(ended.stdout).items()}
        except (ValueError, AttributeError):
            return None
        return tries if listens else tries | {"services": False}
