"""Make the twin observations: six specimens of one sand, two at each of three pressures, with noise added.

python studies/toyoura-specimens/make_twin.py

Each specimen has a modulus and a friction angle of its own, drawn from a population as the calibration has it: normal
numbers about those behind the medians. All share rolling friction and packing. Writes observations/specimens.csv and,
beside it, truth.csv; seed 7 of numpy's generator.
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
SEED = 7
# Median and spread of the population, the latter in standard deviations of the normal number behind the prior.
YOUNG_GPA, YOUNG_SPREAD, YOUNG_PRIOR = 6.0, 0.3, (1.0, 30.0)
ANGLE_DEG, ANGLE_SPREAD, ANGLE_PRIOR = 25.0, 0.25, (15.0, 40.0)
ROLLING_FRICTION = 0.5
PRESSURES_MPA = (0.2, 0.5, 1.0)
# Standard deviations of the noise: of the ratio, and of the volume in % for each % of axial strain.
RATIO, VOLUME = 0.05, 0.03


def young_gpa(z: float) -> float:
    """The modulus z spreads from the median, by a log-uniform prior."""
    low, high = np.log(YOUNG_PRIOR)
    behind = ndtri((np.log(YOUNG_GPA) - low) / (high - low)) + YOUNG_SPREAD * z
    return float(np.exp(low + (high - low) * ndtr(behind)))


def angle_deg(z: float) -> float:
    """The friction angle, by a uniform one."""
    low, high = ANGLE_PRIOR
    behind = ndtri((ANGLE_DEG - low) / (high - low)) + ANGLE_SPREAD * z
    return float(low + (high - low) * ndtr(behind))


def main() -> None:
    generator = np.random.default_rng(SEED)
    rows, truths = [], []
    with tempfile.TemporaryDirectory() as ledger:
        for number, pressure in enumerate(PRESSURES_MPA * 2):
            specimen, case = "abcdef"[number], f"hm-{pressure}"
            own = {
                "young": f"{young_gpa(generator.standard_normal()):.3f} GPa",
                "friction_angle": f"{angle_deg(generator.standard_normal()):.3f} deg",
                "rolling_friction": str(ROLLING_FRICTION),
            }
            given = [f"--set={name}={value}" for name, value in own.items()]
            call = ["percuss", "simulate", str(FOLDER), "--case", case, "--ledger", ledger, "--json", *given]
            outputs = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["outputs"]
            truths.append({"specimen": specimen, "case": case, **own})
            for name, value in outputs.items():
                strain = int(name.rsplit("_", 1)[1])
                ratio = name.startswith("stress_ratio")
                unit, std = ("1", RATIO) if ratio else ("%", VOLUME * strain)
                seen = (1.0 if ratio else 100.0) * value + generator.normal(0.0, std)
                rows.append(
                    {"specimen": specimen, "case": case, "output": name, "value": f"{seen:.3f}", "unit": unit}
                    | {"std": f"{std:g}", "point": specimen, "instant": f"{strain / 100:g}"}
                )
    for name, table in (("specimens.csv", rows), ("truth.csv", truths)):
        with (FOLDER / "observations" / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, table[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
