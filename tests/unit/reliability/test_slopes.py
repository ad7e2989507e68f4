"""Importance factors without a design point, by the samples that fail."""

import numpy as np
import pytest

from percuss.reliability.estimate import Settings
from percuss.reliability.limit import Limit
from percuss.reliability.methods import method_module
from percuss.reliability.slopes import slopes
from percuss.study.joint import Joint
from percuss.study.priors.registry import read_prior

STANDARD = Joint(tuple(read_prior({"kind": "normal", "mean": 0, "std": 1}, "1") for _ in range(3)))


def importances(limit: Limit, n: int = 40_000) -> list[float]:
    done = method_module("monte-carlo").estimate(limit, Settings(n, cv=1e-3, seed=4))
    return [row.importance for row in slopes(done, STANDARD, STANDARD.values(done.samples.u))]


@pytest.mark.parametrize("beta", [-2.0, -0.34, 0.0, 0.2, 2.5])
def test_a_plane_has_its_direction_cosines_at_any_probability(beta: float) -> None:
    """Also where most samples fail: failing makes the variable that decides narrower then."""
    alpha = np.array([0.8, 0.6, 0.0])
    np.testing.assert_allclose(importances(Limit.of(3, lambda u: beta - u @ alpha)), alpha**2, atol=0.05)


def test_branches_on_either_side_count_by_the_variance() -> None:
    both = Limit.of(3, lambda u: 2.0 - np.abs(u[:, 1]))
    assert importances(both)[1] > 0.97
