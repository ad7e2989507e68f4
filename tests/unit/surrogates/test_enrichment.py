"""Enrichment: far from what is there, more where the error is, never where runs fail."""

import numpy as np

from percuss.surrogates.enrichment import choose

RNG = np.random.default_rng(2)
KNOWN = RNG.random((30, 2))
CANDIDATES = RNG.random((2000, 2))


def test_without_errors_points_fill_space():
    chosen = CANDIDATES[choose(KNOWN, CANDIDATES, np.ones(2000), 12)]
    together = np.concatenate([KNOWN, chosen])
    away = np.linalg.norm(together[:, None] - together[None], axis=2)[30:]
    away[away == 0] = np.inf
    # No two new points, nor a new and an old one, nearer than a grid of 42 points would have them by half.
    assert away.min() > 0.5 / np.sqrt(42)


def test_points_follow_the_error_after_the_first_quarter():
    error = np.where(CANDIDATES[:, 0] > 0.8, 10.0, 1.0)
    chosen = CANDIDATES[choose(KNOWN, CANDIDATES, error, 40)]
    assert (chosen[10:, 0] > 0.8).mean() > 0.6
    assert (chosen[:10, 0] > 0.8).mean() < 0.6


def test_places_where_runs_failed_are_left_out():
    lost = KNOWN[:, 1] > 0.7
    chosen = CANDIDATES[choose(KNOWN, CANDIDATES, np.ones(2000), 20, lost)]
    nearest = np.linalg.norm(chosen[:, None] - KNOWN[None], axis=2).argmin(axis=1)
    assert not lost[nearest].any()
