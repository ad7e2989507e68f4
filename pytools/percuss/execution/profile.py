"""A profile says how to get workers from the queue of a cluster, in a small TOML file:

queue = "normal"
walltime = "02:00:00"           # of one job
cores = 16                      # of one job; one run at a time on each
memory = "32 GB"
jobs = 10                       # how many jobs
lifetime = "100 min"            # workers leave before the walltime ends ...
stagger = "10 min"              # ... and not all at once
account = "project"             # further keys, all optional
directives = ["--constraint=cpu"]
prologue = ["module load python"]
interface = "ib0"
python = "/path/on/the/nodes/python"
folder = "logs"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.units import parse_quantity

KEYS: dict[str, type] = {
    "queue": str,
    "walltime": str,
    "cores": int,
    "memory": str,
    "jobs": int,
    "lifetime": str,
    "stagger": str,
    "account": str,
    "directives": list,
    "prologue": list,
    "interface": str,
    "python": str,
    "folder": str,
}
NEEDED = ("walltime", "cores", "memory")
# What dask-jobqueue calls them.
_NAMES = {
    "queue": "queue",
    "walltime": "walltime",
    "cores": "cores",
    "memory": "memory",
    "account": "account",
    "directives": "job_extra_directives",
    "prologue": "job_script_prologue",
    "interface": "interface",
    "python": "python",
    "folder": "log_directory",
}


@dataclass(frozen=True)
class Profile:
    """A profile, checked."""

    path: Path
    table: Mapping[str, Any]

    @property
    def jobs(self) -> int:
        """How many jobs."""
        return int(self.table.get("jobs", 1))

    def job(self) -> dict[str, Any]:
        """What dask-jobqueue is to be given: a process a core, so that runs do not share an interpreter."""
        settings = {name: self.table[key] for key, name in _NAMES.items() if key in self.table}
        extra: list[str] = []
        for key, option in (("lifetime", "--lifetime"), ("stagger", "--lifetime-stagger")):
            if key in self.table:
                extra += [option, f"{parse_quantity(self.table[key], 's'):g}s"]
        return settings | {"processes": self.table["cores"], "worker_extra_args": extra}


def read_profile(path: Path) -> Profile:
    """Read and check a profile."""
    try:
        if path.stat().st_size > 65536:
            raise InputError(f"{path}: {path.stat().st_size} bytes, and at most 65536 are read")
        table: dict[str, Any] = tomllib.loads(path.read_text())
    except InputError:
        raise
    except (OSError, ValueError, RecursionError) as fault:
        raise InputError(f"{path}: is not readable TOML ({fault})") from fault
    for key, value in table.items():
        if key not in KEYS:
            raise InputError(f"{path}: unknown key `{key}`: {did_you_mean(key, KEYS)}")
        texts = not isinstance(value, list) or all(isinstance(item, str) for item in value)
        if not isinstance(value, KEYS[key]) or isinstance(value, bool) or not texts:
            words = {str: "a text", int: "a whole number", list: "a list of texts"}[KEYS[key]]
            raise InputError(f"{path}: {key} = {value!r} must be {words}")
        if KEYS[key] is int and not 1 <= table[key] <= 100_000:
            raise InputError(f"{path}: {key} = {value} must be from 1 to 100000")
        if key in ("lifetime", "stagger"):
            try:
                parse_quantity(table[key], "s")
            except InputError as fault:
                raise InputError(f"{path}: {key}: {fault}") from None
    for key in NEEDED:
        if key not in table:
            raise InputError(f"{path}: `{key}` is missing: a profile says at least {', '.join(NEEDED)}")
    return Profile(path, table)
