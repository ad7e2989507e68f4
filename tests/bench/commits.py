"""Many small commits, as a year of work leaves them: what `log` and `audit` take of time and memory.

`python -m tests.bench.commits FOLDER N` writes a ledger of N commits with a payload each; with `loose` it is left as
one that was never sealed. `python -m tests.bench commits` measures 20 000, sealed as writers do it by themselves, and a
fifth of that never sealed, against what reading and hashing these files takes by itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.ledger import MAKER
from tests.bench.measure import Line
from tests.drafts import study_draft
from tests.machines import Quick

COMMITS = int(os.environ.get("PERCUSS_BENCH_COMMITS", "20000"))


def fill(root: Path, commits: int, *, loose: bool = False) -> float:
    """Write a ledger of so many commits, a payload each; seconds. The disk is not waited for."""
    import polars as pl

    from percuss.ledger import files, ledger
    from percuss.ledger.event import Draft

    files.system = Quick()
    if loose:
        ledger.LOOSE_BEFORE_SEALING = commits + 1
    book = ledger.Ledger.open(root, MAKER, create=True)
    about = book.append([study_draft(notes="x")])[0]
    start = time.perf_counter()
    for i in range(commits):
        table = pl.DataFrame({"sample": [i], "y": [i / 7]})
        draft = Draft("note.added", {"text": f"note {i}"}, None, [("about", about)], [book.put_table("runs", table)])
        book.append([draft])
    return time.perf_counter() - start


def measured(*command: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time and peak memory in MB of a program."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


READING = """
import hashlib, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.parquet")):
    hashlib.sha256(path.read_bytes()).hexdigest()
"""


def bench() -> list[Line]:
    """Twenty thousand commits: `log` in 2 s and 200 MB, `audit` in 60 s; loose ones against reading their files."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        root, loose = Path(folder) / "ledger", Path(folder) / "loose" / "ledger"
        fill(root, COMMITS)
        log_s, _, log_mb = measured("-m", "percuss", "log", "--ledger", str(root))
        audit_s, _, audit_mb = measured("-m", "percuss", "audit", "--ledger", str(root))
        fill(loose, COMMITS // 5, loose=True)
        _, reading_s, _ = measured("-c", READING, str(loose / "streams"))
        _, first_s, first_mb = measured("-m", "percuss", "log", "--ledger", str(loose))
        _, second_s, _ = measured("-m", "percuss", "log", "--ledger", str(loose))
    what, fewer = f"{COMMITS} commits", f"{COMMITS // 5} loose commits"
    return [
        Line(f"{what}: first log, against 2 s", f"{log_s:.2f} s", log_s / 2, 1),
        Line(f"{what}: first log, against 200 MB", f"{log_mb:.0f} MB", log_mb / 200, 1),
        Line(f"{what}: audit, against 60 s", f"{audit_s:.1f} s, {audit_mb:.0f} MB", audit_s / 60, 1),
        Line(
            f"{fewer}: processor time of the first log, against reading and hashing the files",
            f"{first_s:.2f} s, {first_mb:.0f} MB",
            first_s / reading_s,
            10,
        ),
        Line(f"{fewer}: the second log, against the first", f"{second_s:.2f} s", second_s / first_s, 1),
    ]


if __name__ == "__main__":
    print(f"{fill(Path(sys.argv[1]), int(sys.argv[2]), loose='loose' in sys.argv):.1f} s")
