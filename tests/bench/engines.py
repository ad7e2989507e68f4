"""Engines: what dask costs against threads, for long runs and for short ones."""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from tests.bench.ledger import MAKER
from tests.bench.measure import Line

from percuss.designs.design import append_design, draft_design
from percuss.designs.registry import make_design
from percuss.execution.campaign import run_campaign
from percuss.execution.engines import Engine, open_engine
from percuss.ledger.ledger import Ledger
from percuss.session import Session
from percuss.study.load import load_study

STUDY = """
[model]
kind = "benchmark"
function = "ishigami"
delay = "{delay}"
batch = {batch}
[parameters]
x1.prior = {{ kind = "uniform", low = -3, high = 3 }}
x2.prior = {{ kind = "uniform", low = -3, high = 3 }}
x3.prior = {{ kind = "uniform", low = -3, high = 3 }}
"""
WORKERS = 4


class _Kept:
    """An engine that serves several campaigns, as a cluster does: the start of its workers is not what is measured."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.submit = engine.executor.submit

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stay."""


def _campaign_s(engine: Engine, delay: str, batch: int, runs: int) -> float:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY.format(delay=delay, batch=batch))
        study = load_study(path)
        session = Session(Ledger.open(Path(folder) / "ledger", MAKER, create=True))
        drafted = draft_design(session, make_design(study, "sobol", runs, 0), cases=["base"], fixed={})
        design = append_design(session, drafted)
        start = time.perf_counter()
        done = run_campaign(session, design, _Kept(engine), workers=engine.workers)  # type: ignore[arg-type]
        assert (done.done, done.lost) == (runs, 0)
        return time.perf_counter() - start


def against_threads(what: str, limit: float, delay: str, batch: int, runs: int, repeats: int) -> Line:
    """The same campaign on a local dask cluster and on as many threads, in turn."""
    with open_engine("threads", WORKERS) as threads, open_engine("local-cluster", WORKERS) as dask:
        _campaign_s(dask, "0 s", 1, 4 * WORKERS)  # every worker has loaded percuss
        times = [
            (_campaign_s(dask, delay, batch, runs), _campaign_s(threads, delay, batch, runs)) for _ in range(repeats)
        ]
        threads.executor.shutdown()
    ours, bare = (min(column) for column in zip(*times, strict=True))
    return Line(what, f"{ours:.3f} s / {bare:.3f} s", ours / bare, limit)


def bench() -> list[Line]:
    """All of them; none without dask."""
    if not find_spec("distributed"):
        print("engines: dask.distributed is not installed (extra `cluster`)")
        return []
    return [
        against_threads("dask, 16 runs of 1 s, against threads", 1.05, "1 s", 1, 4 * WORKERS, 2),
        # A rate of 80 % is a time of 125 %.
        against_threads("dask, 10 000 runs of 1 ms, against threads", 1.25, "1 ms", 64, 10_000, 2),
    ]
