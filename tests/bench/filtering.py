"""The filter's arithmetic on 500 samples, 60 steps and 3 observed variables, against the same with a library's
triangular solver called step by step and Gaussian by Gaussian, and its ranks. Loading the library, a second by
itself, is not counted.
"""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import rankdata
from tests.bench.measure import Line, best

from percuss.filtering import identified, proposal, weights
from percuss.filtering.covariance import scale_for

SAMPLES, STEPS = 500, 60


def one_by_one(roots: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`weights.solve_lower` by a call for each system."""
    if roots.ndim == 2:
        return solve_triangular(roots, right, lower=True)
    return np.array([solve_triangular(a, b, lower=True) for a, b in zip(roots, right, strict=True)])


def ranked(columns: np.ndarray) -> np.ndarray:
    """`identified._ranks` by a library."""
    return rankdata(columns, axis=0)


def work() -> np.ndarray:
    """Weights at a searched scale, the mixture of the next ensemble, correlations with all outputs."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((SAMPLES, 3))
    outputs = z @ rng.standard_normal((3, 3 * STEPS))
    predicted = list(outputs.reshape(SAMPLES, STEPS, 3).transpose(1, 0, 2))
    misfit = weights.misfits([np.full(3, 0.3)] * STEPS, predicted, [np.eye(3)] * STEPS)
    start = np.zeros(SAMPLES)
    filtered = weights.filter_weights(misfit, start, scale_for(misfit, start, 0.2))
    mixture = proposal.fit_mixture(z, filtered.weights[-1], 0)
    plain, ranks = identified.correlations(z, outputs)
    return np.concatenate([filtered.weights[-1], mixture.means.ravel(), plain.ravel(), ranks.ravel()])


def plainly() -> np.ndarray:
    """The same through the library."""
    with (
        patch.object(weights, "solve_lower", one_by_one),
        patch.object(proposal, "solve_lower", one_by_one),
        patch.object(identified, "_ranks", ranked),
    ):
        return work()


def bench() -> list[Line]:
    np.testing.assert_allclose(work(), plainly(), rtol=0, atol=1e-12)
    ours, plain = best(3, work, plainly, clock=time.process_time)
    return [Line("filter, 500 x 60 x 3, to a library's solver", f"{ours * 1e3:.0f} ms of processor", ours / plain, 1.0)]
