"""Read the files of a study, and nothing else.

A study may come from a stranger. A path it names must stay inside its folder once links are followed, be a
regular file (a pipe would hang, /dev/zero would never end) and be small enough to hold in memory; the size is
checked on the open file, before reading.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from percuss.errors import InputError

STUDY_FILE = "study.toml"
MAX_STUDY_BYTES = 1_000_000
MAX_ATTACHED_BYTES = 256 * 1024**2


def attached_path(text: str) -> str:
    """Return the normal form of a path inside a study's folder; raise InputError when it leads elsewhere."""
    path = PurePosixPath(text)
    if not text.strip() or not text.isprintable():
        raise InputError(f"{text[:40]!r} is no path of a file")
    if path.is_absolute() or Path(text).is_absolute() or ".." in path.parts or not path.parts:
        raise InputError(f"`{text}` must be a path inside the study's folder, without `..`")
    return str(path)


def read_inside(folder: Path, relative: str, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes that lies inside `folder`, links followed."""
    try:
        root = folder.resolve(strict=True)
        target = (root / relative).resolve(strict=True)
    except FileNotFoundError:
        raise InputError(f"`{relative}` does not exist in {folder}") from None
    except (OSError, RuntimeError) as fault:
        raise InputError(f"`{relative}` cannot be read: {getattr(fault, 'strerror', None) or fault}") from None
    if not target.is_relative_to(root):
        raise InputError(f"`{relative}` is a link out of the study's folder")
    return read_regular(target, relative, limit)


def read_regular(target: Path, shown: str, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes; `shown` is its name in messages."""
    # O_NOFOLLOW closes the gap between a check of the path and here; O_NONBLOCK lets a pipe be refused.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(target, flags), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InputError(f"`{shown}` is not a regular file")
            if facts.st_size > limit:
                raise InputError(f"`{shown}` has {facts.st_size} bytes: more than the {limit} allowed")
            data = file.read(limit + 1)
    except OSError as fault:
        raise InputError(f"`{shown}` cannot be read: {fault.strerror}") from None
    if len(data) > limit:
        raise InputError(f"`{shown}` grew beyond the {limit} bytes allowed while being read")
    return data
