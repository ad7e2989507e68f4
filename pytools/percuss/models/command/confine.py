"""Keep a program from writing outside of its scratch folder, where the kernel can (Linux 5.13 and later, Landlock).

The restriction is put on a thread, for good, and is inherited by what the thread starts; so a program is started by a
thread of its own, which ends at once. Reading, executing and the network are left as they are. The numbers are those of
linux/landlock.h and are the same on every architecture.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
# Rights to change files and folders, by the version of the interface that brought them.
_WRITE_FILE = 1 << 1
_CHANGES = {1: _WRITE_FILE | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: 1 << 14}
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


@cache
def interface() -> int:
    """Version of the kernel's interface; 0 where there is none."""
    try:
        return max(_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)), 0)
    except (OSError, AttributeError):
        return 0


def confine_this_thread(folders: Sequence[str]) -> None:
    """From here on this thread, and what it starts, can write into these folders only; no effect without a kernel."""
    version = interface()
    if not version:
        return
    changes = sum(rights for since, rights in _CHANGES.items() if since <= version)
    handled = ctypes.c_uint64(changes)
    rules = _call(_CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    try:
        for path, rights in [*((folder, changes) for folder in folders), *((name, _WRITE_FILE) for name in _DEVICES)]:
            with contextlib.suppress(FileNotFoundError):
                _allow(rules, path, rights)
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
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


def _call(number: int, *args: Any) -> int:
    result = int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *args))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
