"""Two fidelities against one at the same cost: errors on held-out runs of the high level.

    python -m tests.bench.two_levels [PAIR ...]

A pair is a study and the same study made cheaper; where the study has its runs in a file (`expected/`), those are the
high level: the first of them fitted to, the last held out. Errors are mean squares over the variance, on runs that no
surrogate has seen: the geometric mean over the outputs (but those that watch over the solver), of a single level with
as many high runs, of a single level with as many more as the low runs cost, and of two levels. `taken`: outputs for
which the low level was taken, by nested error alone. The ratio of costs is measured where it is not given: CPU seconds
of the runs. Of runs in a file they are those that the study's README gives.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import percuss
from percuss.surrogates.model import Settings
from percuss.work.surrogate import fit_surrogates

STUDIES = Path(__file__).parents[2] / "studies"


@dataclass(frozen=True)
class Pair:
    """A study, what makes it cheaper, runs of either level; what a high run costs in low ones, None: measured.

    `case`: one of the study's, else all. `raised`: what the high level changes in the study. `file`: high runs that are
    there, and CPU seconds of each.
    """

    study: str
    changes: tuple[tuple[str, str], ...]
    low: int
    high: tuple[int, ...]
    held_out: int
    degrees: int
    ratio: float | None
    what: str
    case: str = ""
    raised: tuple[tuple[str, str], ...] = ()
    file: tuple[str, float] | None = None


STEP = 'step = "0.25 ms"'
# Runs in a file.
FILED = 300
WALL = ("expected/runs-e1020.csv", 5.0)
PAIRS = {
    "ishigami": Pair(
        "ishigami",
        (("\na = 7", "\na = 5"), ("\nb = 0.1", "\nb = 0.08")),
        240,
        (24, 48),
        200,
        14,
        10.0,
        "factors off by a fifth",
    ),
    "pounding": Pair(
        "pounding-twin",
        (('stiffness = "2000 N/mm"', 'stiffness = "100 N/mm"'),),
        160,
        (16, 32),
        100,
        8,
        10.0,
        "contact 20 times as soft",
    ),
    "walls": Pair(
        "rockfall-wall",
        ((STEP, 'step = "0.5 ms"\naxes = 8\nrows = 3\ndistance = "1.6 m"\nimpact_z = "1.3 m"'),),
        160,
        (20, 40, 80),
        120,
        6,
        None,
        "the small wall of rockfall-coarse",
        "e1020",
        file=WALL,
    ),
    "steps": Pair(
        "rockfall-wall",
        ((STEP, 'step = "1 ms"'),),
        80,
        (20, 40, 80),
        120,
        6,
        None,
        "steps of 1 ms instead of 0.25",
        "e1020",
        file=WALL,
    ),
    "grains": Pair(
        "toyoura-specimens",
        (),
        60,
        (12, 24),
        24,
        6,
        None,
        "500 grains instead of 1000",
        "hm-0.2",
        (("grains = 500\ncell = [0.0397, 0.0397, 0.0794]", "grains = 1000"),),
    ),
}


def _campaign(ledger: Any, study: Path, case: str, n: int, skip: int) -> tuple[Any, float]:
    """Runs, and CPU seconds of each, without what all start from."""
    cases = (case,) if case else ()
    ledger.run(ledger.design(study, n=1, skip=skip + n, cases=cases))
    began = _spent()
    campaign = ledger.run(ledger.design(study, n=n, skip=skip, cases=cases))
    return campaign, (_spent() - began) / n


def _taken_in(ledger: Any, study: Path, pair: Pair, first: int, last: int) -> Any:
    """Runs `first` to `last` of a file that is there."""
    assert pair.file
    header, *lines = (study / pair.file[0]).read_text().splitlines()
    part = study / f"runs-{first}-{last}.csv"
    part.write_text("\n".join([header, *lines[first:last]]) + "\n")
    return ledger.import_runs(study, part, case=pair.case)


def _spent() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    return time.process_time() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _errors(ledger: Any, campaign: Any, held_out: Any, low: Any, settings: Settings) -> tuple[float, int, int]:
    """Geometric mean of the held-out errors, how many outputs took the low level, and of how many."""
    fitted = fit_surrogates(
        ledger.session, campaign.event, settings, held_out.event, low.event if low else None
    ).fitted.columns
    varying = [column for column in fitted if column.errors.held_out and not column.facts.get("constant")]
    logs = [np.log(column.errors.held_out) for column in varying]
    taken = sum(column.facts.get("method") == "two-level" for column in varying)
    return float(np.exp(np.mean(logs))), taken, len(varying)


def rows(pair: Pair) -> list[tuple[str, ...]]:
    """A row for each number of high runs."""
    table = []
    with tempfile.TemporaryDirectory() as folder:
        studies = []
        for level in ("high", "low"):
            study = Path(shutil.copytree(STUDIES / pair.study, Path(folder) / level))
            text = (study / "study.toml").read_text().split("[observations]")[0].split("[outputs.unmet_steps]")[0]
            for old, new in pair.changes if level == "low" else pair.raised:
                assert old in text, old
                text = text.replace(old, new)
            (study / "study.toml").write_text(text)
            studies.append(study)
        ledger = percuss.open_ledger(Path(folder) / "ledger")
        settings = Settings(family="chaos", degrees=tuple(range(1, pair.degrees + 1)), search="early", bootstrap=0)
        cheap, own = _campaign(ledger, studies[1], pair.case, pair.low, 1)
        low = fit_surrogates(ledger.session, cheap.event, settings)

        def high(n: int, first: int, skip: int) -> tuple[Any, float]:
            """N runs: of a file from `first` on, else so many points into the design."""
            if pair.file:
                return _taken_in(ledger, studies[0], pair, first, first + n), pair.file[1]
            return _campaign(ledger, studies[0], pair.case, n, skip)

        held_out, cost = high(pair.held_out, FILED - pair.held_out, 4096)
        ratio = pair.ratio or cost / own
        for n in pair.high:
            few, _ = high(n, 0, 1024)
            more = n + round(pair.low / ratio)
            as_many, _ = high(more, 0, 1024)
            alone, _, _ = _errors(ledger, few, held_out, None, settings)
            dearer, _, _ = _errors(ledger, as_many, held_out, None, settings)
            joined, taken, count = _errors(ledger, few, held_out, low, settings)
            errors = (f"{alone:.2g}", f"{more}: {dearer:.2g}", f"{joined:.2g}", f"{joined / dearer:.2g}")
            runs = (f"{pair.study}, {pair.what}", f"{ratio:.1f}", f"{n} + {pair.low}")
            table.append((*runs, *errors, f"{taken} of {count}"))
    return table


def main(names: list[str]) -> None:
    """Print the table."""
    heads = ("pair", "ratio", "high + low", "high alone", "same cost", "two levels", "over same cost", "taken")
    print("\t".join(heads))
    for name in names or PAIRS:
        for row in rows(PAIRS[name]):
            print("\t".join(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
