"""Make the twin observations: six walls, three hit at each energy, whose slings have plays of their own.

python studies/rockfall-walls/make_twin.py

The plays are drawn from a population as the calibration has it: normal numbers about the one behind the median. All
else is the same for all walls. Gaussian noise of 2 cm. Writes observations/walls.csv and, beside it, truth.csv.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

FOLDER = Path(__file__).parent
SEED = 11
# Median and spread of the population, the latter in standard deviations of the normal number behind the prior.
PLAY_CM, SPREAD, PRIOR_CM = 6.0, 0.5, (1.0, 10.0)
SHARED = {"d_z": "6.8 cm", "mu_cc": "0.316", "mu_cs": "0.307", "e": "0.222"}
CASES = ("e520", "e1020")
NOISE_CM = 2.0
AXIS = {"top": "impact", "base": "impact", "c": "distant", "d": "distant"}


def play_cm(z: float) -> float:
    """The play z spreads from the median, by a uniform prior."""
    low, high = PRIOR_CM
    behind = ndtri((PLAY_CM - low) / (high - low)) + SPREAD * z
    return float(low + (high - low) * ndtr(behind))


def main() -> None:
    generator = np.random.default_rng(SEED)
    rows, truths = [], []
    with tempfile.TemporaryDirectory() as ledger:
        for number, case in enumerate(CASES * 3):
            wall = "abcdef"[number]
            own = {"v_p": f"{play_cm(generator.standard_normal()):.3f} cm"} | SHARED
            given = [f"--set={name}={value}" for name, value in own.items()]
            call = ["percuss", "simulate", str(FOLDER), "--case", case, "--ledger", ledger, "--json", *given]
            outputs = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["outputs"]
            truths.append({"specimen": wall, "case": case, **own})
            for name, value in outputs.items():
                point = name.split("_")[0]
                if point in AXIS:
                    seen = 100.0 * value + generator.normal(0.0, NOISE_CM)
                    rows.append(
                        {"specimen": wall, "case": case, "output": name, "value [cm]": f"{seen:.2f}"}
                        | {"point": f"{point}-{wall}", "axis": AXIS[point], "std [cm]": f"{NOISE_CM:g}"}
                    )
    for name, table in (("walls.csv", rows), ("truth.csv", truths)):
        with (FOLDER / "observations" / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
