"""Predictions for a specimen that was not measured, against the simulator at specimens of the same population.

    python -m tests.bench.new_specimens toyoura-specimens|rockfall-walls LEDGER PREDICTION

The true population is that of the study's make_twin.py; specimens lie one spread from its median, to either side.
Printed is how many of their outputs are inside the bands of `OUTPUT@new`: at that distance less than half of them in
the inner one.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

import percuss
from percuss.units import to_si

STUDIES = Path(__file__).parents[2] / "studies"


def population(study: str) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Cases, and the parameters of new specimens (in the units of the study)."""
    place = importlib.util.spec_from_file_location("make_twin", STUDIES / study / "make_twin.py")
    assert place and place.loader
    twin = importlib.util.module_from_spec(place)
    place.loader.exec_module(twin)
    if study == "rockfall-walls":
        return twin.CASES, [{"v_p": f"{twin.play_cm(z)} cm", **twin.SHARED} for z in (-1.0, 1.0)]
    own = [
        {"young": f"{twin.young_gpa(a)} GPa", "friction_angle": f"{twin.angle_deg(b)} deg"}
        for a, b in itertools.product((-1.0, 1.0), repeat=2)
    ]
    return ("hm-0.5", "hm-2.0"), [one | {"rolling_friction": twin.ROLLING_FRICTION} for one in own]


def main(study: str, ledger: str, prediction: str) -> None:
    """Print how many outputs are inside."""
    bands = {
        (row["case"], row["output"]): row
        for row in percuss.open_ledger(ledger, progress=False)[prediction].table("outputs").to_dicts()
        if row["when"] == "posterior"
    }
    cases, specimens = population(study)
    inside = {"50 %": 0, "95 %": 0}
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = percuss.open_ledger(Path(folder) / "ledger", progress=False)
        for case, own in itertools.product(cases, specimens):
            run = runs.simulate(STUDIES / study, case, **own)
            for output, shown in run.outputs().items():
                value = to_si(shown, run.study.outputs[output].unit)
                band = bands.get((case, f"{output}@new"))
                if band:
                    count += 1
                    inside["50 %"] += band["q25"] <= value <= band["q75"]
                    inside["95 %"] += band["q025"] <= value <= band["q975"]
    print(f"{count} outputs of new specimens; in the bands: {inside}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
