"""delta of pairs of normals, whose exact value is known, against the estimator as published: root mean square errors.

The published one (Plischke, Borgonovo and Smith, 2013, as SALib has it): Silverman's kernel on the outputs themselves,
the bias taken off as 2 d - mean d*. Correlations 0, 0.3, 0.6, 0.9 together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde, norm
from tests.bench.measure import Line

from percuss.sensitivity.moment_independent import moment_independent_indices, published_class_count

RUNS, SAMPLES, RESAMPLES = 512, 6, 10
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
Floats = NDArray[np.float64]


def exact(correlation: float) -> float:
    """Half the mean area between the density and that with the other known."""
    y = np.linspace(-8, 8, 4001)
    x = norm.ppf((np.arange(200) + 0.5) / 200)
    apart = np.abs(norm.pdf(y)[:, None] - norm.pdf(y[:, None], correlation * x, np.sqrt(1 - correlation**2)))
    return float(0.5 * apart.sum(axis=0).mean() * (y[1] - y[0]))


def published(x: Floats, y: Floats, seed: int) -> float:
    """The estimator of the paper."""

    def once(rows: NDArray[np.intp]) -> float:
        grid = np.linspace(y.min(), y.max(), 100)
        whole = gaussian_kde(y[rows], "silverman")(grid)
        parts = np.array_split(rows[np.argsort(x[rows], kind="stable")], published_class_count(len(y)))
        areas = [np.trapezoid(np.abs(gaussian_kde(y[part], "silverman")(grid) - whole), grid) for part in parts]
        return sum(len(part) * area for part, area in zip(parts, areas, strict=True)) / (2 * len(y))

    rng = np.random.default_rng(seed)
    again = [once(rng.integers(0, len(y), len(y))) for _ in range(RESAMPLES)]
    return 2 * once(np.arange(len(y))) - float(np.mean(again))


def bench() -> list[Line]:
    """Both on the same samples."""
    misses = []
    for correlation in CORRELATIONS:
        truth = exact(correlation)
        for seed in range(SAMPLES):
            x = np.random.default_rng([seed, RUNS]).standard_normal((RUNS, 2))
            y = correlation * x[:, 0] + np.sqrt(1 - correlation**2) * x[:, 1]
            (found,) = moment_independent_indices(x[:, :1], y[:, None], [("base", "y")], 0.95, seed)
            ours = float(found.measures["delta"].values[0])
            misses.append([ours - truth, published(x[:, 0], y, seed) - truth])
    own, theirs = np.sqrt(np.mean(np.square(misses), axis=0))
    return [Line("delta, 512 runs, to the published estimator", f"rms {own:.3f} / {theirs:.3f}", own / theirs, 1.0)]
