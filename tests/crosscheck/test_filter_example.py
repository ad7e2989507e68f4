"""The example of the first filter program, read in place from the folder named by PERCUSS_TOYOURA.

100 samples, 100 steps, 3 observables, 5 parameters, covariance 0.1 I. Weights are printed with 17 digits, identified
parameters with 7: 1e-6 relative.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from percuss.filtering.identified import means
from percuss.filtering.weights import filter_weights, misfits

# Read while tests are collected: they themselves run without the settings of whoever runs them.
FOLDER = Path(os.environ.get("PERCUSS_TOYOURA", "")) / "filter_v0.1_example"

pytestmark = pytest.mark.skipif(
    not (FOLDER / "weight.txt").exists(), reason="PERCUSS_TOYOURA names no folder with filter_v0.1_example"
)


def test_weights_and_identified_parameters() -> None:
    lines = (FOLDER / "MCS.dat").read_text().splitlines()
    rows = [[float(word) for word in line.split()] for line in lines if len(line.split()) == 3]
    predicted = np.array(rows).reshape(100, 100, 3)
    observed = np.loadtxt(FOLDER / "obsdata.dat")
    root = np.linalg.cholesky(np.loadtxt(FOLDER / "co-variance_matrix.txt"))
    found = filter_weights(misfits(observed, list(predicted.transpose(1, 0, 2)), [root] * 100), np.zeros(100))
    np.testing.assert_allclose(found.weights.T, np.loadtxt(FOLDER / "weight.txt"), rtol=0, atol=1e-12)
    identified = means(found.weights, np.loadtxt(FOLDER / "particle.txt"))
    np.testing.assert_allclose(identified, np.loadtxt(FOLDER / "IP.txt"), rtol=1e-6)
