"""Sobol designs and responses against stored closed-form tables (provenance in README.md beside them)."""

from pathlib import Path

import numpy as np
import pytest

from percuss.designs.registry import make_design
from percuss.study.load import load_study

HERE = Path(__file__).parent
STUDIES = HERE.parents[2] / "studies"


@pytest.mark.parametrize("name", ["ishigami", "gfunction"])
def test_design_and_responses_reproduce_the_table(name):
    table = np.loadtxt(HERE / f"{name}.csv", delimiter=",", skiprows=1)
    study = load_study(STUDIES / name)
    d = len(study.parameters)
    design = make_design(study, "sobol", 300, seed=0, skip=1)
    np.testing.assert_array_equal(design.unit, table[:, :d])
    np.testing.assert_array_equal(design.values, table[:, d : 2 * d])

    points = [study.point(None, dict(zip(design.names, row, strict=True))) for row in design.values.tolist()]
    outcomes = study.model().run(points, [0] * 300)
    y = [study.evaluate(outcome.values, outcome.curves)["y"] for outcome in outcomes]
    # The table was made with array routines, whose sine and powers differ in the last bit or two.
    np.testing.assert_allclose(y, table[:, -1], rtol=4e-16, atol=4e-15)
