"""A synthetic ledger of many runs in sealed segments: what grows with it, and what must not.

`python -m tests.bench scale` takes 10^6 runs in events of 1000; PERCUSS_BENCH_RUNS and PERCUSS_BENCH_PER_EVENT take
others. Each size is measured in a process of its own, so that its peak memory is its own. The table of docs/scale.md
comes from here. Times are those of the processor: a machine that is busy, or waits for its disk, gives the same.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.ledger import MAKER
from tests.bench.measure import Line, best

RUNS = int(os.environ.get("PERCUSS_BENCH_RUNS", "1000000"))
PER_EVENT = int(os.environ.get("PERCUSS_BENCH_PER_EVENT", "1000"))
EVENTS_PER_COMMIT = 5
# Of what takes milliseconds the least of so many counts.
REPEATS = 5
COMMITS_PER_SEGMENT = 10
STUDY = """
[model]
kind = "benchmark"
function = "ishigami"
x2 = 0
x3 = 0
[parameters]
x1.prior = { kind = "uniform", low = -3, high = 3 }
"""


def measure(runs: int, folder: Path) -> dict[str, float]:
    """Append, seal, read and close a campaign of so many runs; processor time of each, and peak memory in bytes."""
    from percuss.designs.design import append_design, draft_design
    from percuss.designs.registry import make_design
    from percuss.execution.batch import Result, split
    from percuss.execution.campaign import close_campaign
    from percuss.execution.queue import missing_batches
    from percuss.execution.records import draft_result
    from percuss.ledger.event import Draft
    from percuss.ledger.ledger import Ledger
    from percuss.ledger.seal import seal_stream
    from percuss.session import Session
    from percuss.study.load import load_study

    (folder / "study.toml").write_text(STUDY)
    study = load_study(folder / "study.toml")
    session = Session(Ledger.open(folder / "ledger", MAKER, create=True))
    book = session.ledger
    drafted = draft_design(session, make_design(study, "monte-carlo", runs, 0), cases=["base"], fixed={})
    design = append_design(session, drafted)
    facts: dict[str, float] = {}
    outputs = [math.sin(x) for x in design.values[:, 0].tolist()]
    sealing_s, drafts, commits = 0.0, [], 0
    begin = time.process_time()
    for samples in split(runs, PER_EVENT):
        result = Result("base", list(samples), [{"y": outputs[i]} for i in samples])
        drafts += draft_result(book, design, result)
        if len(drafts) < EVENTS_PER_COMMIT and samples[-1] < runs - 1:
            continue
        book.append(drafts)
        drafts, commits = [], commits + 1
        if commits % COMMITS_PER_SEGMENT == 0:
            start = time.process_time()
            seal_stream(book, "main")
            sealing_s += time.process_time() - start
    facts["append_s"] = time.process_time() - begin - sealing_s
    facts["seal_s"] = sealing_s

    def fresh() -> Session:
        return Session(Ledger.open(folder / "ledger", MAKER))

    (facts["fold_s"],) = best(REPEATS, lambda: fresh().state, clock=time.process_time)
    state = fresh().state
    assert missing_batches(state, design) == {}
    (facts["missing_s"],) = best(REPEATS, lambda: missing_batches(state, design), clock=time.process_time)
    start = time.process_time()
    about = close_campaign(fresh(), design)
    facts["close_s"] = time.process_time() - start

    def note() -> None:
        fresh().ledger.append([Draft("note.added", {"text": "x"}, None, [("about", about)])])

    (facts["note_s"],) = best(REPEATS, note, clock=time.process_time)
    facts["peak"] = _peak()
    files = [path.stat().st_size for path in (folder / "ledger").rglob("*.*") if path.is_file()]
    facts["files"], facts["bytes"] = len(files), sum(files)
    return facts


def audited(folder: Path) -> dict[str, float]:
    """Audit it with one run made again; processor time, and peak memory in bytes."""
    from percuss.ledger.ledger import Ledger
    from percuss.session import Session
    from percuss.work.audit import audit

    assert audit(Session(Ledger.open(folder / "ledger", MAKER)), rerun=1).holds
    return {"audit_s": time.process_time(), "audit_peak": _peak()}


def _peak() -> float:
    """Of this program alone: what getrusage tells includes the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def measured(runs: int) -> dict[str, float]:
    """`measure` and `audited`, each in a process of its own."""
    facts: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=".") as folder:
        place = f"pathlib.Path({folder!r})"
        for call in (f"measure({runs}, {place})", f"audited({place})"):
            code = f"import json, pathlib, tests.bench.scale as scale; print(json.dumps(scale.{call}))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            facts |= json.loads(done.stdout)
    return facts


def bench() -> list[Line]:
    """Ten times the runs: ten times the time where every run is touched, the same where it should not matter."""
    base, small, large = measured(PER_EVENT), measured(RUNS // 10), measured(RUNS)

    def line(what: str, key: str, limit: float, unit: float = 1.0, sign: str = "s", less: float = 0.0) -> Line:
        one, ten = small[key] - less, large[key] - less
        return Line(
            f"{RUNS:.0e} runs against a tenth: {what}",
            f"{ten / unit:.3g} {sign} / {one / unit:.3g} {sign}",
            ten / one,
            limit,
        )

    return [
        line("appending", "append_s", 12),
        line("sealing", "seal_s", 12),
        line("reading and folding", "fold_s", 12),
        line("finding what is missing", "missing_s", 14),
        line("closing", "close_s", 12),
        # What percuss itself takes is there for one event already.
        line("peak memory above the base", "peak", 12, 1e6, "MB", base["peak"]),
        line("an audit with one run made again, processor time", "audit_s", 12),
        # Flat but for what an event takes by itself, and its body, which is kept packed.
        line("an audit with one run made again, peak memory", "audit_peak", 1.15, 1e6, "MB"),
        line("one more commit", "note_s", 3, 1e-3, "ms"),
        line("bytes on disk", "bytes", 10.5, 1e6, "MB"),
    ]
