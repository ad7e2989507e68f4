"""How errors of a surrogate go together, from residuals of known make."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from percuss.surrogates.common_error import alignment, correlation, standard_residuals, tails

TRUE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])


def residuals(n: int, scale: float = 1.0, share: float = 0.0, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal((n, 3)) @ np.linalg.cholesky(TRUE).T
    found = normal * np.where(generator.random((n, 1)) < share, np.sqrt(scale), 1.0)
    return np.asarray(found / np.sqrt(np.mean(found**2, axis=0)))


def test_correlation_is_found_and_shrunk_where_points_are_few() -> None:
    many, little = correlation(residuals(2000))
    np.testing.assert_allclose(many, TRUE, atol=0.05)
    few, much = correlation(residuals(12))
    assert little < 0.02 < much < 1
    assert abs(few[0, 1]) < abs(np.corrcoef(residuals(12).T)[0, 1])
    assert np.linalg.eigvalsh(few)[0] > 0


def test_more_outputs_than_points_leave_a_covariance() -> None:
    found, shrunk = correlation(np.random.default_rng(1).standard_normal((8, 20)))
    assert np.linalg.eigvalsh(found)[0] > 0 and 0 < shrunk <= 1


def test_near_gaussian_residuals_have_one_scale_and_wild_ones_several() -> None:
    calm = residuals(500)
    together, shrunk = correlation(calm)
    assert tails(calm, [0, 1, 2], shrunk, together).shares[0] > 0.97
    wild = residuals(500, 25.0, 0.05)
    together, shrunk = correlation(wild)
    found = tails(wild, [0, 1, 2], shrunk, together)
    assert found.scales[0] == 1 and found.scales[-1] >= 4
    assert found.shares.sum() == pytest.approx(1) and 0.01 < 1 - found.shares[0] < 0.1


def test_residuals_stand_by_point_with_nothing_where_a_run_failed() -> None:
    table = pl.DataFrame(
        {
            "column": [0, 0, 0, 1, 1],
            "design": ["d"] * 5,
            "sample": [0, 1, 2, 0, 2],
            "value": [1.0, 2.0, 3.0, 5.0, 5.0],
            "nested": [0.0, 2.0, 5.0, 5.0, 5.0],
            "left_out": [0.0] * 5,
        }
    )
    read = standard_residuals(table, 2)
    assert read.points["sample"].to_list() == [0, 1, 2]
    np.testing.assert_allclose(read.size, [np.sqrt(5 / 3), 0.0])
    np.testing.assert_allclose(read.standard[:, 0], np.array([1.0, 0.0, -2.0]) / np.sqrt(5 / 3))
    np.testing.assert_array_equal(read.standard[:, 1], 0.0)
    together, shrunk = correlation(read.standard)
    np.testing.assert_array_equal(together, np.eye(2))
    assert tails(read.standard, [1], shrunk, together).scales.tolist() == [1.0]


def directions(points: int, outputs: int) -> np.ndarray:
    """Slopes (points, outputs, 1) of one parameter, of any direction, that data tell much of."""
    drawn = np.random.default_rng(5).standard_normal((points, outputs, 1))
    return 1e4 * drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.mark.parametrize("outputs", [2, 3, 8])
def test_errors_along_their_own_slopes_count_as_many_times_as_there_are_outputs(outputs: int) -> None:
    """An error along the slope is all taken for the parameter; of one from elsewhere 1 / outputs of its square is."""
    slopes = directions(20_000, outputs)
    along = 1e-4 * slopes[:, :, 0] * np.sqrt(outputs) * np.random.default_rng(6).standard_normal((20_000, 1))
    assert alignment(along, slopes, np.eye(outputs), np.ones(1)) == pytest.approx(outputs, rel=0.03)


def test_errors_of_any_direction_are_not_aligned_and_those_across_never_count_less() -> None:
    slopes = directions(20_000, 3)
    anyhow = np.random.default_rng(7).standard_normal((20_000, 3))
    assert alignment(anyhow, slopes, np.eye(3), np.ones(1)) == pytest.approx(1.0, abs=0.03)
    across = np.cross(slopes[:, :, 0], anyhow)
    assert alignment(across, slopes, np.eye(3), np.ones(1)) == 1.0


def test_no_errors_no_alignment() -> None:
    assert alignment(np.zeros((5, 2)), directions(5, 2), np.eye(2), np.ones(1)) == 1.0
    assert alignment(np.zeros((5, 0)), np.zeros((5, 0, 1)), np.eye(0), np.ones(1)) == 1.0
