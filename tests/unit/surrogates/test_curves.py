"""Modes of curves: orthonormal whatever the sampling, as many as are needed, reconstruction."""

import numpy as np

from percuss.surrogates.curves import _needed, _weights, decompose

RNG = np.random.default_rng(5)
# Crowded at the beginning: modes must not follow the sampling.
AXIS = np.linspace(0, 1, 60) ** 2
SCORES = RNG.standard_normal((40, 3)) * [3.0, 1.0, 0.3]
SHAPES = np.array([np.sin(np.pi * AXIS), np.cos(2 * np.pi * AXIS), AXIS**3])
CURVES = 5 + SCORES @ SHAPES


def test_modes_are_orthonormal_under_the_trapezoidal_rule():
    modes, scores = decompose(AXIS, CURVES, 3)
    gram = (modes.modes * _weights(AXIS)) @ modes.modes.T
    np.testing.assert_allclose(gram, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)


def test_three_shapes_need_three_modes_and_come_back():
    needed, left = _needed(CURVES, _weights(AXIS))
    assert needed == 3
    assert left[2] < 1e-12
    assert left[0] > left[1] > 1e-3
    modes, scores = decompose(AXIS, CURVES, needed)
    np.testing.assert_allclose(modes.curves(scores), CURVES, atol=1e-11)
    assert modes.rest.max() < 1e-22


def test_the_sign_of_a_mode_is_fixed():
    first, _ = decompose(AXIS, CURVES, 3)
    turned, _ = decompose(AXIS, 10 - CURVES, 3)
    np.testing.assert_allclose(turned.modes, first.modes, atol=1e-10)


def test_curves_that_do_not_vary_have_one_mode():
    assert _needed(np.ones((10, 60)), _weights(AXIS))[0] == 1
