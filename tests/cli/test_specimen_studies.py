"""Six specimens of one sand, from the runs that the study keeps: a population is found, one set for all is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

STUDY = Path(__file__).parents[2] / "studies" / "toyoura-specimens"
TRUTH = {"young": 6e9, "rolling_friction": 0.5, "friction_angle": 0.43633, "spread_young": 0.3}


@pytest.fixture
def surrogates(percuss: Any) -> list[str]:
    made = []
    for case in ("hm-0.2", "hm-0.5", "hm-1.0", "hm-2.0"):
        runs = percuss("import", "runs", STUDY / "expected" / f"runs-{case}.csv", "--study", STUDY, "--case", case).id
        made.append(percuss("surrogate", runs, "--family", "chaos", "--search", "early", "--bootstrap", 0).id)
    return made


def test_specimens_of_a_population_and_of_none(percuss: Any, surrogates: list[str]) -> None:
    """Few evaluations, by which nothing converges; the study's README has the figures of a converged posterior."""
    few = ("--evaluations", 150_000, "--accept", "convergence")
    said = percuss("calibrate", *surrogates, "--block", "specimens", *few, "--json")
    assert said.code == 0, said.err
    posterior = json.loads(said.out)
    rows = {row["name"]: row for row in posterior["summary"]["rows"]}
    for name, truth in TRUTH.items():
        low, high = rows[name]["interval"]
        assert low < truth < high, name
    # The softest specimens are below the middle, the stiffest above it.
    assert max(rows[f"young@{one}"]["mean"] for one in "cd") < -0.5 < 0.3 < rows["young@b"]["mean"]
    prediction = percuss("predict", posterior["id"], "--accept", "convergence").id
    percuss("export", "csv", prediction, "--table", "outputs", "--to", "outputs.csv")
    outputs = pl.read_csv("outputs.csv").filter(pl.col("when") == "posterior", pl.col("case") == "hm-2.0")
    high, low = (next(name for name in outputs.columns if name.startswith(q)) for q in ("q975", "q025"))
    widths = {row["output"]: row[high] - row[low] for row in outputs.to_dicts()}
    assert widths["stress_ratio_2@new"] > 2 * widths["stress_ratio_2@a"]
    # Runs that the surrogates were not fitted to are asked too, each as one specimen; those of three pressures share
    # their points.
    asked = [verdict for verdict in posterior["trust"] if verdict["gate"] == "twins"]
    assert len(asked) == 2 and all("each as one specimen" in verdict["sentence"] for verdict in asked)
    # Taken for one and the same, they are refused.
    alike = percuss("calibrate", *surrogates, "--block", "alike")
    assert alike.code == 1 and "does not explain the data" in alike.err


def test_twins_of_one_test_hold_the_truth_as_often_as_they_claim(percuss: Any, surrogates: list[str]) -> None:
    """The quick form of percuss trust on a study of grains, as `tests/unit/work/test_trust.py` has it of others."""
    said = percuss("trust", surrogates[0], "--block", "first", "--twins", 20, "--quick", "--json")
    assert said.code == 0, said.err
    (verdict,) = [verdict for verdict in json.loads(said.out)["trust"] if verdict["gate"] == "twins"]
    assert verdict["passed"]
    # Data that scatter four times as much as the likelihood says are found by as few twins.
    assert percuss("trust", surrogates[0], "--block", "first", "--twins", 20, "--quick", "--noise", 4).code == 1
