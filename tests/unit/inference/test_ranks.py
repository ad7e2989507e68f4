"""The test of uniform ranks: exact where it can be counted, as often wrong as it says, and able to see."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from percuss.inference.ranks import envelope, ranks_of, uniformity


def test_ranks_count_the_draws_below() -> None:
    draws = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    assert ranks_of(np.array([2.5, 5.5]), draws).tolist() == [2, 1]
    assert ranks_of(np.array([0.0, 8.0]), draws).tolist() == [0, 3]


@pytest.mark.parametrize("ranks", [(0, 0, 0, 0), (0, 1, 2, 2), (1, 1, 0, 2)])
def test_the_p_value_is_that_of_all_outcomes_counted(ranks: tuple[int, ...]) -> None:
    """Four ranks among two draws have 81 outcomes, all as likely: how many stray as far can be counted."""

    def least(outcome: tuple[int, ...]) -> float:
        below = [sum(rank <= k for rank in outcome) for k in (0, 1)]
        return min(2 * min(binom.cdf(r, 4, (k + 1) / 3), binom.sf(r - 1, 4, (k + 1) / 3)) for k, r in enumerate(below))

    outcomes = list(product(range(3), repeat=4))
    as_far = sum(least(outcome) <= least(ranks) * (1 + 1e-12) for outcome in outcomes)
    assert uniformity(np.array(ranks), 2) == pytest.approx(as_far / len(outcomes))


def test_uniform_ranks_fail_as_often_as_is_said() -> None:
    generator = np.random.default_rng(1)
    p = np.array([uniformity(generator.integers(0, 20, 30), 19) for _ in range(150)])
    # Standard errors of the shares are 0.018 and 0.041. P-values of counts are never too small.
    assert np.mean(p <= 0.05) <= 0.05 + 4 * 0.018
    assert abs(np.mean(p <= 0.5) - 0.5) <= 4 * 0.041 + 0.05


def test_the_envelope_holds_uniform_ranks_as_often_as_it_says() -> None:
    band = envelope(50, 19, 0.95)
    ranks = np.random.default_rng(2).integers(0, 20, (2000, 50))
    below = np.stack([np.cumsum(np.bincount(row, minlength=20))[:-1] for row in ranks])
    inside = np.mean(((below >= band.low) & (below <= band.high)).all(axis=1))
    assert 0.935 <= inside <= 0.985


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_posteriors_too_wide_or_too_narrow_are_seen(scale: float) -> None:
    generator = np.random.default_rng(3)
    truths, draws = scale * generator.standard_normal((100, 1)), generator.standard_normal((100, 99))
    assert uniformity(np.sum(draws < truths, axis=1), 99) < 1e-3


def test_a_shift_of_half_a_deviation_is_seen() -> None:
    generator = np.random.default_rng(4)
    truths, draws = 0.5 + generator.standard_normal((100, 1)), generator.standard_normal((100, 99))
    assert uniformity(np.sum(draws < truths, axis=1), 99) < 0.01
