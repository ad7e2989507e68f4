"""Was the surrogate fitted where the posterior lies? Draws against the hull of the points it was fitted to.

Everything is measured in quantiles of the prior, so that the whole prior is the unit cube. In more than a few
dimensions much of the cube lies outside the hull of any design that can be afforded: 44 % of it for 300 points of five
parameters, 90 % for eight. That is no fault of a design, so distances from the hull are held against those from the
hulls of designs of as many points that are spread over the whole prior.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from percuss.inference.arrays import Floats
from percuss.kinds.posterior_sampled import CoverageFacts
from percuss.study.priors.prior import Prior
from percuss.trust import Verdict

# Draws that are looked at, and designs they are held against.
DRAWS = 200
DESIGNS = 4
# So much farther from the hull than from that of a design over the whole prior, in quantiles of the prior.
FARTHER = 0.1
# The share of draws that may lie there.
MOST = 0.05


def coverage(priors: Sequence[Prior], points: Floats, draws: Floats) -> CoverageFacts:
    """Where draws (n, d) lie, as seen from the points (m, d) of a design."""
    from scipy.stats import qmc

    cube = np.stack([prior.cdf(points[:, j]) for j, prior in enumerate(priors)], axis=1)
    at = np.stack([prior.cdf(draws[:, j]) for j, prior in enumerate(priors)], axis=1)
    own = distances(np.unique(cube, axis=0), at)
    # Latin hypercubes: designs of any number of points.
    others = [distances(qmc.LatinHypercube(len(priors), rng=seed).random(len(cube)), at) for seed in range(DESIGNS)]
    beyond = own > np.max(others, axis=0) + FARTHER
    return CoverageFacts(outside=float(np.mean(own > 1e-6)), beyond=float(np.mean(beyond)))


def distances(points: Floats, at: Floats) -> Floats:
    """Distance of each row of `at` from the convex hull of the points: least squares over convex combinations."""
    from scipy.optimize import nnls

    # The last row makes the weights sum to one: heavy, so that it is met to the last digits that matter here.
    heavy = 1e3
    matrix = np.vstack([points.T, np.full(len(points), heavy)])
    return np.array([nnls(matrix, np.append(row, heavy))[1] for row in at])


def coverage_verdict(covered: CoverageFacts, surrogate: str) -> Verdict:
    """Whether a surrogate was fitted where the posterior lies."""
    sentence = (
        f"{100 * covered.beyond:.0f} % of the posterior lies far outside the points that surrogate {surrogate} was "
        f"fitted to, and up to {100 * MOST:.0f} % is tolerated"
    )
    return Verdict("coverage", covered.beyond <= MOST, sentence, covered.beyond, MOST)
