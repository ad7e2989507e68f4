"""Expansions and their indices under changes that must not matter."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss import _core


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.permutations(range(3)))
def test_order_of_parameters_does_not_matter(seed: int, order: list[int]) -> None:
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (50, 3))
    values = (np.sin(2.0 * points[:, 0]) + points[:, 1] * np.abs(points[:, 2]))[:, None]
    families: list[tuple[str, list[float]]] = [("legendre", [])] * 3
    one, _ = _core.chaos_fit(families, points, values, degrees=[1, 2, 3, 4], method="least-angle")
    two, _ = _core.chaos_fit(families, points[:, order].copy(), values, degrees=[1, 2, 3, 4], method="least-angle")
    np.testing.assert_allclose(two.predict(points[:, order].copy()), one.predict(points), atol=1e-8)
    np.testing.assert_allclose(two.sobol()["total"][0], one.sobol()["total"][0][order], atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-6, 1e6))
def test_indices_are_shares_and_free_of_units(seed: int, scale: float) -> None:
    points = np.random.default_rng(seed).normal(size=(60, 2))
    values = (np.tanh(points[:, 0]) + 0.3 * points[:, 1] ** 2)[:, None]
    families: list[tuple[str, list[float]]] = [("hermite", [])] * 2
    one = _core.chaos_fit(families, points, values, degrees=[1, 2, 3, 4])[0].sobol()
    two = _core.chaos_fit(families, points, scale * values, degrees=[1, 2, 3, 4])[0].sobol()
    np.testing.assert_allclose(two["total"], one["total"], atol=1e-7)
    assert np.all(one["first"] >= 0.0)
    assert np.all(one["first"] <= one["total"] + 1e-12)
    assert one["first"].sum() <= 1.0 + 1e-12 <= one["total"].sum() + 2e-12
    assert one["shapley"].sum() == 1.0 or abs(one["shapley"].sum() - 1.0) < 1e-12
