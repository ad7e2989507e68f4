"""Recover many twins: the last runs of the campaign, which the surrogates have not seen, with noise, one by one.

python studies/rockfall-wall/twins.py > studies/rockfall-wall/expected/twins.csv

A line a twin and parameter, in SI: truth, mean and 90 % interval of the posterior, whether it holds the truth; and of
the whole twin the root mean square of predicted less true outputs, beside the surrogates' own error. All 24 outputs.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from percuss.calibration.records import load_posterior
from percuss.ledger.ledger import Ledger
from percuss.session import Session
from percuss.surrogates.surrogate import Surrogate, load_surrogate

FOLDER = Path(__file__).parent
CASES = ("e520", "e1020")
OUTPUTS = [f"{point}_{instant}" for point in ("top", "base", "c", "d") for instant in ("init", "max", "rest")]
PARAMETERS = {"d_z [cm]": 0.01, "v_p [cm]": 0.01, "mu_cc": 1.0, "mu_cs": 1.0, "e": 1.0}
NOISE_CM = 2.0
SEED = 20232


def percuss(ledger: Path, *words: str) -> str:
    """The id that the program prints; empty if it refuses, as it does where chains do not converge."""
    done = subprocess.run(["percuss", *words, "--ledger", str(ledger)], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def unseen(
    count: int, place: Path, fold: int = 0
) -> tuple[dict[str, pl.DataFrame], Session, list[str], list[Surrogate], list[list[int]]]:
    """By case `count` runs, the last of all, or as many before them in another fold; a session of the ledger and ids of
    surrogates fitted without these, the surrogates, and where they hold the 12 outputs."""
    ledger, fitted, runs = place / "ledger", [], {}
    for case in CASES:
        every = pl.read_csv(FOLDER / "expected" / f"runs-{case}.csv")
        first = len(every) - (fold + 1) * count
        runs[case] = every.slice(first, count)
        file = place / f"{case}.csv"
        pl.concat([every.head(first), every.slice(first + count)]).write_csv(file)
        seen = percuss(ledger, "import", str(file), "--study", str(FOLDER), "--case", case)
        fitted.append(percuss(ledger, "surrogate", seen, "--family", "chaos", "--search", "early"))
    session = Session(Ledger.open(ledger))
    surrogates = [load_surrogate(session, session.event(event)) for event in fitted]
    kept = [[s.column(case, name) for name in OUTPUTS] for s, case in zip(surrogates, CASES, strict=True)]
    return runs, session, fitted, surrogates, kept


def main(count: int, place: Path) -> None:
    runs, session, fitted, surrogates, kept = unseen(count, place)
    ledger = place / "ledger"
    errors = [s.columns[n].variance * s.error[n] for s, own in zip(surrogates, kept, strict=True) for n in own]
    out = csv.writer(sys.stdout)
    out.writerow(["twin", "parameter", "truth", "mean", "low", "high", "held", "rmse_cm", "surrogate_error_cm"])
    for twin in range(count):
        noise = np.random.default_rng((SEED, twin))
        true = [[runs[case][f"{name} [cm]"][twin] for name in OUTPUTS] for case in CASES]
        lines = ["case,output,value [cm],std [cm]"]
        for case, values in zip(CASES, true, strict=True):
            for name, value in zip(OUTPUTS, values, strict=True):
                lines.append(f"{case},{name},{value + noise.normal(0.0, NOISE_CM):.3f},{NOISE_CM}")
        (place / "data.csv").write_text("\n".join(lines) + "\n")
        data = percuss(ledger, "observe", str(FOLDER), str(place / "data.csv"))
        found = percuss(ledger, "calibrate", *fitted, "--observations", data, "--block", "all")
        if not found:
            print(f"twin {twin}: not converged", file=sys.stderr)
            continue
        session.refresh()
        draws = load_posterior(session, session.event(found)).flat()[:, : len(PARAMETERS)]
        few = draws[:: max(1, len(draws) // 2000)]
        said = [100.0 * s.mean(few)[:, own].mean(axis=0) for s, own in zip(surrogates, kept, strict=True)]
        rmse = float(np.sqrt(np.mean((np.array(said) - np.array(true)) ** 2)))
        whole = [f"{rmse:.3f}", f"{100.0 * np.sqrt(np.mean(errors)):.3f}"]
        for j, (name, factor) in enumerate(PARAMETERS.items()):
            low, high = np.quantile(draws[:, j], [0.05, 0.95])
            truth = factor * runs["e520"][name][twin]
            told = [f"{x:.5g}" for x in (truth, draws[:, j].mean(), low, high)]
            out.writerow([twin, name.split(" ")[0], *told, int(low <= truth <= high), *whole])
        sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, Path(folder))
