"""Advice against what came of it: foreseen and achieved contraction of the advised test on twins.

    python -m tests.bench.advise [TWINS]

For each study and quantity the best candidate is tried on twins of the posterior: data of the test are drawn, and all
data calibrated on again. Foreseen is the mean over the posterior, and that for the data of the very same twins; the
ratio is achieved over foreseen for these.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import percuss
from percuss.kinds.advice_computed import AdviceComputed

STUDIES = Path(__file__).parents[2] / "studies"
# Study, runs, block, quantities.
JOBS: tuple[tuple[str, int, str, tuple[tuple[str, ...], ...]], ...] = (
    ("linear-gaussian", 16, "exact", ((), ("x1",))),
    ("pounding-twin", 64, "all", ((), ("gap",), ("release-50mm/u2_800ms",))),
    ("pounding-twin", 64, "energy", (("restitution",),)),
)


def rows(twins: int) -> Iterator[tuple[str, str, str, float, float, float, float]]:
    """Study, what about, candidate, foreseen, foreseen for the twins' data, achieved, CPU seconds."""
    for name, n, block, quantities in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            study = shutil.copytree(STUDIES / name, Path(folder) / name)
            ledger = percuss.open_ledger(Path(folder) / "ledger")
            campaign = ledger.run(ledger.design(study, n=n, skip=1))
            posterior = ledger.calibrate(ledger.surrogate(campaign), block=block)
            for about in quantities:
                began = time.process_time()
                advice = ledger.advise(posterior, about=about, twins=twins)
                cpu = time.process_time() - began
                body = AdviceComputed.of(advice.event)
                own = ledger.session.table(advice.event, "contractions").filter(candidate=body.advised)
                count = len(body.tried)
                foreseen = sum(own["contraction"]) / count
                same = sum(item.foreseen for item in body.tried) / count
                achieved = sum(item.achieved for item in body.tried) / count
                yield f"{name} {block}", ", ".join(about) or "all", body.advised, foreseen, same, achieved, cpu


def main(twins: int) -> None:
    """Print the table, and the mean of the ratios."""
    heads = ("foreseen", "for the twins", "achieved", "ratio", "CPU s")
    print(f"{'study':24} {'about':24} {'test':24} " + " ".join(f"{head:>14}" for head in heads))
    ratios = []
    for study, about, test, foreseen, same, achieved, cpu in rows(twins):
        ratios.append(achieved / same)
        numbers = " ".join(f"{value:14.3f}" for value in (foreseen, same, achieved, ratios[-1], cpu))
        print(f"{study:24} {about:24} {test:24} {numbers}", flush=True)
    print(f"achieved over foreseen in the mean: {sum(ratios) / len(ratios):.3f} (goal: 0.9 to 1.1)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
