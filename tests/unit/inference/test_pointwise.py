"""How much of the distribution of a datum lies below it: its slope is the density, whatever the distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.inference.common_error import CommonError
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.likelihood import Group, Likelihood

Floats = NDArray[np.float64]
SLOPES = np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0]])
X = np.array([[0.1, 0.2], [-0.5, 0.3], [1.0, -1.0]])
TIMES = np.array([0.0, 0.1, 0.35])
CORRELATION = np.array([[1, 0.6, 0.2], [0.6, 1, -0.1], [0.2, -0.1, 1]])
TAILED = CommonError(CORRELATION, np.array([1.0, 9.0]), np.array([0.8, 0.2]), ("p", "q", "r"))
GROUP = Group("data", np.array([0.3, -0.4, 0.9]), np.arange(3), Gaussian(0.3), measurement_std=0.1)
KINDS = {
    "gaussian": GROUP,
    "student-t": replace(GROUP, discrepancy=StudentT(0.3, 3.0)),
    "exponential": replace(GROUP, discrepancy=Correlated(0.3, TIMES, 0.2)),
    "matern": replace(GROUP, discrepancy=Correlated(0.3, TIMES, 0.2, "matern-3/2")),
}
SHARED = {"shared, gaussian": KINDS["gaussian"], "shared, exponential": KINDS["exponential"]}


def forward(x: Floats) -> tuple[Floats, Floats]:
    return x @ SLOPES.T, np.array([0.09, 0.04, 0.16])


def likelihood(kind: str, observed: Floats) -> Likelihood:
    group = replace((KINDS | SHARED)[kind], observed=observed)
    errors = {"model": TAILED} if kind in SHARED else {}
    return Likelihood(("a", "b"), {"model": forward}, (group,), errors)


@pytest.mark.parametrize("kind", [*KINDS, *SHARED])
def test_the_slope_of_what_lies_below_is_the_density(kind: str) -> None:
    step = 1e-4
    for i in range(3):
        moved = [GROUP.observed + way * step * np.eye(3)[i] for way in (-1, 0, 1)]
        before, here, after = (likelihood(kind, observed).each(X) for observed in moved)
        slope = (after.below[:, i] - before.below[:, i]) / (2 * step)
        np.testing.assert_allclose(slope, np.exp(here.log_density[:, i]), rtol=1e-5)


@pytest.mark.parametrize("kind", [*KINDS, *SHARED])
def test_nothing_lies_below_what_is_far_below(kind: str) -> None:
    for far, share in ((-1e5, 0.0), (1e5, 1.0)):
        below = likelihood(kind, GROUP.observed + far * np.array([1.0, 0.0, 0.0])).each(X).below
        np.testing.assert_allclose(below[:, 0], share, atol=1e-9)
