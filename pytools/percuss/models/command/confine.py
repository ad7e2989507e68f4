"""Keep a program to its scratch folder. This file is a program of its own, which becomes the one to be run.

    python -I -S confine.py ORDER PROGRAM ARGUMENT...

Where the kernel lets a user make namespaces (Linux 5.12), the program sees every file system read-only but for its
folders, so that it can change neither content nor mode, time, owner or attributes of anything else; it sees no
processes but its own, can start only so many, and has no network unless that is asked for. Besides, and where there
are no namespaces, Landlock (Linux 5.13) keeps it from writing elsewhere. Reading is left as it is.
`percuss.models.command.held` finds out by trying what holds on a machine. Nothing of percuss is imported here: each
run starts this again.

The numbers are those of the kernel's headers and are the same on every architecture.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _MOUNT_SETATTR = 444, 445, 446, 442
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES, _DROP_CAPABILITY = 38, 24
# Rights to change files and folders, by the version of Landlock that brought them; before 3 it knows no truncation.
_WRITE_FILE = 1 << 1
_CHANGES = {1: _WRITE_FILE | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: 1 << 14}
_TCP = 0b11
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_IPC, _NEW_NETWORK = 1 << 28, 1 << 17, 1 << 29, 1 << 27, 1 << 30
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_NO_SUID_DEVICES_PROGRAMS = 2 | 4 | 8
_HERE, _ALL_BELOW, _READ_ONLY = -100, 0x8000, 1
# Numbers of processes that the kernel keeps free when it has counted to the largest and begins again.
_RESERVED_NUMBERS = 300


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


@cache
def interface() -> int:
    """Version of Landlock in the kernel; 0 where there is none."""
    try:
        return max(_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)), 0)
    except (OSError, AttributeError):
        return 0


def main(order: Mapping[str, Any], argv: Sequence[str]) -> None:
    """Confine this process, and run the program as its child; how it ended goes to the file `report`."""
    report: int = order["report"]
    try:
        if order["namespaces"]:
            _enter_namespaces(order["folders"], order["network"])
    except OSError as fault:
        _leave(report, {"errno": fault.errno, "what": "confined"})
    if first := os.fork():
        # The first process of the new namespace: when it ends, the kernel ends all that are in it.
        os.waitpid(first, 0)
        os._exit(0)
    _be_first(order, argv, report)


def _be_first(order: Mapping[str, Any], argv: Sequence[str], report: int) -> None:
    import resource

    if order["namespaces"]:
        # In a namespace of its own a user's processes are counted there alone (Linux 5.14).
        with contextlib.suppress(OSError, ValueError):  # a lower limit stands already
            resource.setrlimit(resource.RLIMIT_NPROC, (order["most_processes"],) * 2)
        with contextlib.suppress(OSError):  # of a /proc that hides parts of itself no other can be made
            _mount("proc", "/proc", "proc", _NO_SUID_DEVICES_PROGRAMS)
            _limit_numbers(order["most_processes"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"],) * 2)
    program = os.fork()
    if not program:
        try:
            _restrict(order["folders"], network=order["network"] or order["namespaces"])
            os.chdir(order["folder"])
            os.set_inheritable(report, False)
            os.execvpe(argv[0], list(argv), order["environment"])
        except OSError as fault:
            _leave(report, {"errno": fault.errno, "what": "started"})
    while True:
        pid, status = os.wait()
        if pid == program:
            _leave(report, {"code": os.waitstatus_to_exitcode(status)})


def _limit_numbers(most: int) -> None:
    """Leave no numbers for more processes and threads, which holds for root as well, whom no limit of users stops.

    A namespace has a largest number of its own (Linux 6.14); until numbers are used again, 300 more may start.
    """
    with contextlib.suppress(OSError):
        handle = os.open("/proc/sys/kernel/pid_max", os.O_WRONLY)
        try:
            os.write(handle, str(most + _RESERVED_NUMBERS).encode())
        finally:
            os.close(handle)
    _set_mount("/proc", 0, added=_READ_ONLY)


def _leave(report: int, facts: Mapping[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(facts).encode() + b"\n")
    os._exit(0)


def _enter_namespaces(folders: Sequence[str], network: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    kinds = _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | (0 if network else _NEW_NETWORK)
    _checked(_libc().unshare(kinds))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        handle = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(handle, text.encode())
        os.close(handle)
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    there = [folder for folder in folders if os.access(folder, os.F_OK)]
    for folder in there:
        _mount(folder, folder, None, _BIND | _RECURSIVE)
    _set_mount("/", _ALL_BELOW, added=_READ_ONLY)
    for folder in there:
        _set_mount(folder, 0, removed=_READ_ONLY)
    if not network:
        _raise_loopback()


def _raise_loopback() -> None:
    """A network without anybody else in it: parts of a program may still talk to each other."""
    import fcntl
    import socket
    import struct

    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))


def _mount(source: str, target: str, kind: str | None, flags: int) -> None:
    names = (source.encode(), target.encode(), kind.encode() if kind else None)
    _checked(_libc().mount(*names, ctypes.c_ulong(flags), None))


def _set_mount(path: str, flags: int, *, added: int = 0, removed: int = 0) -> None:
    facts = (ctypes.c_uint64 * 4)(added, removed, 0, 0)
    _call(
        _MOUNT_SETATTR,
        ctypes.c_int(_HERE),
        path.encode(),
        ctypes.c_uint(flags),
        ctypes.byref(facts),
        ctypes.c_size_t(32),
    )


def _restrict(folders: Sequence[str], *, network: bool) -> None:
    """From here on this process, and what it starts, can write into these folders only, and gains no rights."""
    for capability in range(64):
        _libc().prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    _checked(_libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    version = interface()
    if not version:
        return
    changes = sum(rights for since, rights in _CHANGES.items() if since <= version)
    # Files; TCP; abstract sockets and signals to others: a field more with each of these versions.
    handled = (ctypes.c_uint64 * 3)(changes, 0 if network else _TCP, 0b11)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call(_CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path, rights in [*((folder, changes) for folder in folders), *((name, _WRITE_FILE) for name in _DEVICES)]:
            with contextlib.suppress(FileNotFoundError):
                _allow(rules, path, rights)
        _call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(rights, handle)
        _call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(handle)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *args: Any) -> int:
    return _checked(int(_libc().syscall(ctypes.c_long(number), *args)))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
