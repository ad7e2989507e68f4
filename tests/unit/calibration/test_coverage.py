"""Whether a surrogate was fitted where the posterior lies: hulls of designs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from percuss.calibration.fit import coverage, coverage_verdict, hull_distances
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.uniform import Uniform


def test_distance_from_a_hull() -> None:
    square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    at = np.array([[0.5, 0.5], [0, 0], [1.5, 0.5], [2, 2]])
    np.testing.assert_allclose(hull_distances(square, at), [0, 0, 0.5, np.sqrt(2)], atol=1e-5)


@pytest.mark.parametrize("d", [2, 5, 8])
def test_designs_over_the_prior_pass_wherever_the_posterior_is(d: int) -> None:
    """In many dimensions most of the prior is outside any hull, and in corners all of it: no alarm for that."""
    priors = [Uniform({"low": 0.0, "high": 1.0})] * d
    rng = np.random.default_rng(d)
    points = qmc.Sobol(d, rng=1).random(256)
    for place in (np.full(d, 0.5), np.full(d, 0.03), rng.random(d)):
        draws = np.clip(place + 0.02 * rng.standard_normal((100, d)), 0.001, 0.999)
        assert coverage_verdict(coverage(priors, points, draws), "s").passed


def test_points_along_a_line_do_not_cover_the_rest() -> None:
    """Each parameter alone is covered from end to end; together they are not."""
    priors = [Uniform({"low": 0.0, "high": 1.0}), LogUniform({"low": 1.0, "high": 100.0})]
    rng = np.random.default_rng(0)
    t = rng.random(100)
    points = np.stack([t, 100 ** np.clip(t + 0.05 * rng.standard_normal(100), 0, 1)], axis=1)
    beside = np.stack([rng.uniform(0.7, 0.9, 100), 100 ** rng.uniform(0.1, 0.3, 100)], axis=1)
    found = coverage(priors, points, beside)
    assert found.outside == 1
    assert not coverage_verdict(found, "s").passed
    along = coverage(priors, points, points[:50])
    assert along.beyond == 0
