"""Recover many twins: the last runs of the campaign, which the surrogates have not seen, with noise, one by one.

python studies/rockfall-wall/twins.py > studies/rockfall-wall/expected/twins.csv

One line per twin and parameter, in SI: truth, mean and 90 % interval of the posterior, whether it holds the truth; and
of the whole twin the root mean square of predicted less true outputs, beside the surrogates' own error. All 24 outputs.
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

# By case.
Runs = dict[str, pl.DataFrame]


def percuss(ledger: Path, *words: str) -> str:
    """The id that the program prints; empty if it refuses, as it does where chains do not converge."""
    done = subprocess.run(["percuss", *words, "--ledger", str(ledger)], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def left_out(count: int, fold: int = 0) -> tuple[Runs, Runs]:
    """All runs of the campaign but `count`, and these: the last of all, or as many before them in another fold."""
    seen, twins = {}, {}
    for case in CASES:
        every = campaign(case)
        first = len(every) - (fold + 1) * count
        seen[case] = pl.concat([every.head(first), every.slice(first + count)])
        twins[case] = every.slice(first, count)
    return seen, twins


def fresh() -> tuple[Runs, Runs]:
    """The whole campaign, and runs at points drawn at random from the prior, on which nothing was ever chosen."""
    return {case: campaign(case) for case in CASES}, {case: table(f"fresh-{case}") for case in CASES}


def campaign(case: str) -> pl.DataFrame:
    return table(f"runs-{case}")


def table(name: str) -> pl.DataFrame:
    return pl.read_csv(FOLDER / "expected" / f"{name}.csv")


def fitted(seen: Runs, place: Path) -> tuple[Session, list[str], list[Surrogate], list[list[int]]]:
    """Session of a ledger with surrogates of these runs, their ids, themselves, and where they hold the 12 outputs."""
    ledger, ids = place / "ledger", []
    for case in CASES:
        file = place / f"{case}.csv"
        seen[case].write_csv(file)
        taken = percuss(ledger, "import", str(file), "--study", str(FOLDER), "--case", case)
        ids.append(percuss(ledger, "surrogate", taken, "--family", "chaos", "--search", "early"))
    session = Session(Ledger.open(ledger))
    surrogates = [load_surrogate(session, session.event(event)) for event in ids]
    kept = [[s.column(case, name) for name in OUTPUTS] for s, case in zip(surrogates, CASES, strict=True)]
    return session, ids, surrogates, kept


def main(count: int, place: Path) -> None:
    seen, runs = left_out(count)
    session, ids, surrogates, kept = fitted(seen, place)
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
        found = percuss(ledger, "calibrate", *ids, "--observations", data, "--block", "all")
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
