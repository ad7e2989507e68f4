"""The twin data of the studies are what their scripts make, to the digits written."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.mark.parametrize(
    ("study", "seed", "noise"), [("duffing-extrapolation", 3, 3e-3), ("two-storey", 7, 0.02), ("pounding-law", 5, 1e-4)]
)
def test_twins_are_reproducible(study: str, seed: int, noise: float, tmp_path: Path) -> None:
    runpy.run_path(str(STUDIES / study / "make_twin.py"))["main"](seed, tmp_path)
    for made in tmp_path.glob("*.csv"):
        kept = STUDIES / study / "observations" / made.name
        a, b = (pl.read_csv(path).to_numpy() for path in (made, kept))
        # digits beyond the noise may differ between machines
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3 * noise)
