"""A profile says how to get workers from the queue of a cluster, in a small TOML file:

queue = "normal"
walltime = "02:00:00"           # of one job
cores = 16                      # cores of one job; one run at a time on each
memory = "32 GB"
jobs = 10                       # number of jobs
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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from percuss.errors import InputError
from percuss.settings import Setting, table_of
from percuss.study.tables import TomlFile

SCHEMA = table_of(
    Setting("queue", "text", doc="the queue, or partition"),
    Setting("walltime", "text", required=True, doc="wall time of one job, as the scheduler writes it"),
    Setting("cores", "integer", required=True, low=1, high=100_000, doc="cores of one job; one run at a time on each"),
    Setting("memory", "text", required=True, doc="memory of one job"),
    Setting("jobs", "integer", low=1, high=100_000, doc="number of jobs"),
    Setting("lifetime", "number", unit="s", low=0, doc="time after which a worker ends"),
    Setting("stagger", "number", unit="s", low=0, doc="time by which the ends of workers are staggered"),
    Setting("account", "text", doc="account to which the time is charged"),
    Setting("directives", "texts", doc="further lines for the scheduler"),
    Setting("prologue", "texts", doc="shell commands to run before a worker starts"),
    Setting("interface", "text", doc="network interface"),
    Setting("python", "text", doc="the interpreter on the nodes"),
    Setting("folder", "text", doc="folder for logs"),
)
LARGEST_BYTES = 65536
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
    """A profile, checked; times in s."""

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
                extra += [option, f"{self.table[key]:g}s"]
        return settings | {"processes": self.table["cores"], "worker_extra_args": extra}


def read_profile(path: Path) -> Profile:
    """Read and check a profile."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"{path}: {path.stat().st_size} bytes, and at most {LARGEST_BYTES} are read")
        data = path.read_bytes()
    except InputError:
        raise
    except OSError as fault:
        raise InputError(f"{path}: is not readable ({fault.strerror})") from None
    return Profile(path, TomlFile(str(path), data).check(SCHEMA))
