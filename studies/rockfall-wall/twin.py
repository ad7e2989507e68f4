"""Make the twin observations of a rockfall study: what the simulator gives at known parameters, with noise added.

python studies/rockfall-wall/twin.py studies/rockfall-wall > studies/rockfall-wall/observations/twin.csv

The parameters are those of `[observations] twin` in the study, the noise is Gaussian, 2 cm, from numpy's generator with
seed 20231, in the order of the lines. Outputs are named POINT_INSTANT.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np

NOISE_CM = 2.0
SEED = 20231
AXIS = {"top": "impact", "base": "impact", "c": "distant", "d": "distant"}


def main(folder: Path) -> None:
    study = tomllib.loads((folder / "study.toml").read_text())
    given = [f"--set={name}={value}" for name, value in study["observations"]["twin"].items()]
    noise = np.random.default_rng(SEED)
    print("case,output,value [cm],point,axis,std [cm]")
    with tempfile.TemporaryDirectory() as ledger:
        for case in study.get("cases", {"base": {}}):
            call = ["percuss", "simulate", str(folder), "--case", case, "--ledger", ledger, "--json", *given]
            outputs = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["outputs"]
            for name, value in outputs.items():
                point = name.split("_")[0]
                if point in AXIS:
                    seen = 100.0 * value + noise.normal(0.0, NOISE_CM)
                    print(f"{case},{name},{seen:.2f},{point},{AXIS[point]},{NOISE_CM:g}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
