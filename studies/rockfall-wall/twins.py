"""Recover many twins: runs of the campaign that the surrogate has not seen, with noise, calibrated one by one.

percuss surrogate CAMPAIGN --family chaos --held-out 0.12     # keeps some points back: these are the twins
python studies/rockfall-wall/twins.py LEDGER SURROGATE > studies/rockfall-wall/expected/twins.csv

A line a twin and parameter: the truth, mean and 90 % interval of the posterior, whether it holds the truth; and on each
line, of the whole twin, the root mean square of what is predicted less what the simulator gave, and what to expect of
it: the surrogate's own error. All 24 outputs, noise 2 cm.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from percuss.calibration.records import load_posterior
from percuss.execution.records import read_design, runs_table
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import fold
from percuss.surrogates.surrogate import load_surrogate

NOISE_M = 0.02
SEED = 20232
POINTS = ("top", "base", "c", "d")


def percuss(*words: str) -> str:
    """What the program prints."""
    return subprocess.run(["percuss", *words], check=False, capture_output=True, text=True).stdout.strip()


def main(folder: str, chosen: str, study: str, most: int) -> None:
    ledger = Ledger.open(Path(folder))
    state = fold(ledger.events())
    surrogate = load_surrogate(ledger, state, state.events[chosen])
    record = read_design(ledger, state, state.events[surrogate.event.input("design")])
    seen = set(surrogate.tables["residuals"]["sample"].to_list())
    runs = runs_table(ledger, state, record)
    columns = [(case, output) for case, output in surrogate.outputs if output.split("_")[0] in POINTS]
    numbers = [surrogate.column(*column) for column in columns]
    expected_cm = 100.0 * float(np.sqrt(np.mean([surrogate.columns[n].variance * surrogate.error[n] for n in numbers])))
    out = csv.writer(sys.stdout)
    out.writerow(["sample", "parameter", "truth", "mean", "low", "high", "held", "rmse_cm", "surrogate_error_cm"])
    for sample in [s for s in range(len(record.values)) if s not in seen][:most]:
        noise = np.random.default_rng((SEED, sample))
        rows = {row["case"]: row for row in runs.filter(runs["sample"] == sample).iter_rows(named=True)}
        true = np.array([rows[case][output] for case, output in columns])
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("case,output,value [m],std [m]\n")
            for (case, output), value in zip(columns, true, strict=True):
                file.write(f"{case},{output},{value + noise.normal(0.0, NOISE_M):.5f},{NOISE_M}\n")
            file.flush()
            data = percuss("observe", study, file.name, "--ledger", folder)
        found = percuss("calibrate", chosen, "--observations", data, "--block", "all", "--ledger", folder)
        if not found:
            print(f"sample {sample}: not converged", file=sys.stderr)
            continue
        state = fold(ledger.events())
        posterior = load_posterior(ledger, state, state.events[found])
        draws = posterior.flat()[:, : len(record.names)]
        predicted = surrogate.mean(draws[:: max(1, len(draws) // 2000)])[:, numbers].mean(axis=0)
        rmse_cm = 100.0 * float(np.sqrt(np.mean((predicted - true) ** 2)))
        for j, name in enumerate(record.names):
            low, high = np.quantile(draws[:, j], [0.05, 0.95])
            truth = float(record.values[sample, j])
            told = [f"{x:.5g}" for x in (truth, draws[:, j].mean(), low, high)]
            out.writerow([sample, name, *told, int(low <= truth <= high), f"{rmse_cm:.3f}", f"{expected_cm:.3f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "studies/rockfall-wall", int(sys.argv[3]) if len(sys.argv) > 3 else 40)
