"""A dask cluster on this machine, in a process of its own: `cluster_host.py WORKERS`.

Tells the address of its scheduler on stdout; for each line on stdin kills one worker, chosen by the number in that
line, and tells its process id. Nannies start workers again. Ends with its stdin.
"""

from __future__ import annotations

import os
import signal
import sys
import time


def main(count: int) -> None:
    import dask.config
    from distributed import LocalCluster
    from distributed.utils import get_mp_context

    # Workers are forks of a process that has everything loaded: twenty that are killed are twenty that start again.
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    context = get_mp_context()
    context.set_forkserver_preload(["distributed", "percuss.execution.cluster", "percuss.models.benchmark"])

    with LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None, silence_logs=60) as cluster:
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            living: list[int] = []
            while not living:
                nannies = list(cluster.workers.values())
                living = [nanny.pid for nanny in nannies if nanny.pid and nanny.is_alive()]
                time.sleep(0.01)
            chosen = living[int(line) % len(living)]
            os.kill(chosen, signal.SIGKILL)
            print(chosen, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
