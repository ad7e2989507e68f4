"""Where batches are run: one seam, `concurrent.futures.Executor`, and a table of what can stand behind it.

    threads              one batch a thread of this process; the core releases the interpreter while it computes
    processes            one batch a process of this machine: for models that hold the interpreter
    local-cluster        a dask cluster on this machine
    dask://HOST:PORT     a dask scheduler that is there already
    slurm, pbs           a dask cluster whose workers are jobs of a queue, as a profile says

An executor that loses a worker raises `WorkerLost` for the batch it had; the campaign runs that batch again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from percuss.errors import InputError
from percuss.execution.engine import Engine

THREADS = "threads"
ENGINES = (THREADS, "processes", "local-cluster", "dask://HOST:PORT", "slurm", "pbs")
QUEUES = ("slurm", "pbs")


@contextmanager
def open_engine(on: str, jobs: int, profile: Path | None = None) -> Iterator[Engine]:
    """Start what `--on` names, with so many workers where that is ours to say; end it with the block."""
    if profile and on not in QUEUES:
        raise InputError(f"--profile {profile}: goes with --on slurm or --on pbs")
    if on == THREADS:
        from percuss.execution.campaign import local_executor

        yield Engine(local_executor(jobs), lambda: jobs)
    elif on == "processes":
        from percuss.execution.processes import Processes

        yield Engine(Processes(jobs), lambda: jobs)
    elif on == "local-cluster":
        from percuss.execution.cluster import local_cluster

        with local_cluster(jobs) as engine:
            yield engine
    elif on.startswith("dask://"):
        from percuss.execution.cluster import remote_cluster

        with remote_cluster(on) as engine:
            yield engine
    elif on in QUEUES:
        from percuss.execution.cluster import queue_cluster
        from percuss.execution.profile import read_profile

        if profile is None:
            raise InputError(f"--on {on}: needs --profile FILE, which says queue, walltime, cores and memory")
        with queue_cluster(on, read_profile(profile)) as engine:
            yield engine
    else:
        raise InputError(f"--on {on}: must be one of {', '.join(ENGINES)}")
