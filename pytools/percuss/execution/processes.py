"""One batch a process, each process replaced when it is lost.

A pool of the standard library is broken as a whole by one lost process. Here every slot is a pool of one, so that a
crash costs the batch that was running in it and nothing else.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

from percuss.execution.batch import WorkerLost

P = ParamSpec("P")
T = TypeVar("T")


class Processes(ThreadPoolExecutor):
    """An executor of so many processes: a thread waits for each, and queueing and cancelling are those of threads."""

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="process")
        self._free: SimpleQueue[ProcessPoolExecutor | None] = SimpleQueue()
        for _ in range(count):
            self._free.put(None)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a call done in a process; raises WorkerLost there if the process is lost."""
        return super().submit(self._in_process, fn, *args, **kwargs)

    def _in_process(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        pool = self._free.get()
        try:
            # Spawned, not forked: the parent has threads, and a forked child may wait for a lock one of them holds.
            pool = pool or ProcessPoolExecutor(1, get_context("spawn"), _begin)
            return pool.submit(fn, *args, **kwargs).result()
        except BrokenProcessPool as fault:
            pool = None
            raise WorkerLost(str(fault)) from fault
        finally:
            self._free.put(pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes that have nothing to do; the others end with this program."""
        super().shutdown(wait, cancel_futures=cancel_futures)
        while True:
            try:
                pool = self._free.get_nowait()
            except Empty:
                return
            if pool:
                pool.shutdown(wait)


def _begin() -> None:
    """In a new process: Ctrl-C is for the parent to answer, and nobody outlives a parent that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
