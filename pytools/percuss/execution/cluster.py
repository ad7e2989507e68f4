"""Batches on a dask cluster: on this machine, at an address, or as jobs of a queue (extra `cluster`).

Workers get a batch and give a result; they write nothing. Every task first makes sure that the worker has the very
build of the core and reads the very study that the client has: workers come and go during a campaign, so looking at
those that are there at its start would not be enough.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from percuss.errors import InputError, PercussError
from percuss.execution.batch import WorkerLost
from percuss.execution.engine import Engine
from percuss.execution.profile import Profile
from percuss.ledger.event import Software
from percuss.study.study import Study

T = TypeVar("T")
PATIENCE_S = 10.0


class Work(Protocol):
    """What workers are given: a batch of runs, or a state of rest to be worked out."""

    @property
    def study(self) -> Study: ...


def run_checked(fn: Callable[[Any], T], work: Work, made: Software, study: str) -> T:
    """On the worker: refuse to run with another build or another study than the client's."""
    import socket

    from percuss.maker import software

    here = software()
    if here != made:
        raise InputError(
            f"worker {socket.gethostname()}: has percuss {here.version} ({here.commit}, {here.core}), "
            f"and this is percuss {made.version} ({made.commit}, {made.core})",
            hint="install the same percuss on the workers as here",
        )
    if work.study.digest != study:
        raise InputError(f"worker {socket.gethostname()}: reads study {work.study.name} differently than this percuss")
    return fn(work)


class DaskExecutor(Executor):
    """A dask client as an executor of `Work`. Losses and the end of the scheduler come as what they are."""

    def __init__(self, client: Any) -> None:
        from percuss.maker import software

        self._client = client
        self._address = client.scheduler.address
        self._made = software()
        self._futures: dict[Future[Any], Any] = {}
        self._asked, self._threads = -1e9, 1

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have some worker do it."""
        (work,) = args
        with self._present():
            remote = self._client.submit(run_checked, fn, work, self._made, work.study.digest, pure=False)
        promise: Future[T] = Future()
        promise.set_running_or_notify_cancel()
        self._futures[promise] = remote
        remote.add_done_callback(lambda finished: self._settle(promise, finished))
        return promise

    def _settle(self, promise: Future[Any], remote: Any) -> None:
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        self._futures.pop(promise, None)
        try:
            # "lost": the worker that had the result is gone; "cancelled", all of them: the scheduler is.
            if remote.status == "lost":
                raise WorkerLost("its result was lost with the worker that had it")
            if remote.status == "cancelled":
                raise self._gone()
            promise.set_result(remote.result())
        except (KilledWorker, CommClosedError) as fault:
            promise.set_exception(WorkerLost(str(fault)))
        except ImportError as fault:
            promise.set_exception(InputError(f"a dask worker cannot load percuss ({fault})"))
        except BaseException as fault:
            promise.set_exception(fault)

    def workers(self) -> int:
        """How many batches the workers that are there just now run at a time; asked every other second at most."""
        if time.monotonic() - self._asked > 2:
            with self._present():
                self._threads = max(1, sum(self._client.nthreads().values()))
            self._asked = time.monotonic()
        return self._threads

    @contextmanager
    def _present(self) -> Iterator[None]:
        try:
            yield
        except (OSError, RuntimeError, CancelledError) as fault:
            raise self._gone() from fault

    def _gone(self) -> PercussError:
        return PercussError(
            f"the dask scheduler at {self._address} went away; what was finished is kept",
            hint="give the same command again when it is back",
        )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of what is under way."""
        if cancel_futures:
            remotes, self._futures = list(self._futures.values()), {}
            with suppress(OSError, RuntimeError, CancelledError):
                self._client.cancel(remotes)


@contextmanager
def local_cluster(jobs: int) -> Iterator[Engine]:
    """A cluster of so many one-thread workers on this machine."""
    distributed = _distributed()
    quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    try:
        cluster = distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, **quiet)
    except (OSError, RuntimeError, ValueError, CancelledError) as fault:
        raise _not_started(fault) from fault
    with cluster, _engine(cluster) as engine:
        yield engine


def _not_started(fault: BaseException) -> InputError:
    message = str(fault).splitlines()[0][:200] if str(fault) else type(fault).__name__
    return InputError(
        f"--on local-cluster: it did not start, as a worker was lost on the way ({message}); nothing was run",
        hint="give the same command again, or use --on processes",
    )


@contextmanager
def remote_cluster(on: str) -> Iterator[Engine]:
    """The scheduler at dask://HOST:PORT."""
    _distributed()
    with _engine(on.replace("dask://", "tcp://", 1)) as engine:
        yield engine


@contextmanager
def queue_cluster(kind: str, profile: Profile) -> Iterator[Engine]:
    """Workers as jobs of SLURM or PBS; the jobs end with the block."""
    _distributed()
    try:
        import dask_jobqueue
    except ImportError:
        raise _missing("dask-jobqueue") from None
    submit = {"slurm": "sbatch", "pbs": "qsub"}[kind]
    if shutil.which(submit) is None:
        raise InputError(
            f"--on {kind}: there is no program {submit} here, with which jobs are submitted",
            hint="give the command on a machine that may submit jobs, or use --on processes",
        )
    make = {"slurm": dask_jobqueue.SLURMCluster, "pbs": dask_jobqueue.PBSCluster}[kind]
    try:
        cluster = make(**profile.job(), scheduler_options={"dashboard_address": None}, silence_logs=logging.CRITICAL)
    except (ValueError, TypeError, OSError) as fault:
        raise InputError(f"--on {kind}: the queue cannot be used as {profile.path} says ({fault})") from fault
    with cluster:
        cluster.scale(jobs=profile.jobs)
        with _engine(cluster) as engine:
            yield engine


@contextmanager
def _engine(cluster: Any) -> Iterator[Engine]:
    from distributed import Client

    # Dask tells of every lost worker and closed connection; the campaign counts them and says so in one line.
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(cluster, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, RuntimeError, CancelledError) as fault:
        raise PercussError(f"{cluster}: no dask scheduler answers there ({fault})") from fault
    with client:
        executor = DaskExecutor(client)
        yield Engine(executor, executor.workers)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise _missing("dask.distributed") from None
    return distributed


def _missing(subject: str) -> InputError:
    return InputError(f"{subject}: is not installed", hint="pip install 'percuss[cluster]'")
