"""The contract of a family of surrogates: fits, derivatives, leave-one-out, storage to the bit."""

from __future__ import annotations

import numpy as np

from percuss.surrogates.model import Data, Model, Settings, family_module
from percuss.surrogates.storage import points_table

# Of a smooth output, the most of the variance that may be missed at fresh points.
SMOOTH = 1e-2


def check_family(name: str) -> None:
    """Check a family on a smooth and on a kinked output of two variables."""
    module = family_module(name)
    rng = np.random.default_rng(11)
    points, fresh = rng.uniform(-1, 1, (60, 2)), rng.uniform(-1, 1, (50, 2))
    values, exact = _outputs(points), _outputs(fresh)
    data = Data([("legendre", []), ("legendre", [])], points, values)
    settings = Settings(family=name, degrees=tuple(range(1, 7)), search="early")
    model = module.fit(data, settings)
    mean = model.mean(fresh)
    assert mean.shape == exact.shape, f"mean of shape {mean.shape} at {exact.shape[0]} points of 2 outputs"
    missed = ((mean - exact) ** 2).mean(axis=0) / exact.var(axis=0)
    assert missed[0] < SMOOTH, f"misses {missed[0]:.2g} of the variance of exp(x) y"
    assert missed[1] < 0.5, f"misses {missed[1]:.2g} of the variance of a kinked output"
    left_out = model.loo_residuals(data)
    assert left_out.shape == values.shape, f"leave-one-out residuals of shape {left_out.shape}"
    assert (np.abs(left_out).mean(axis=0) >= np.abs(values - model.mean(points)).mean(axis=0) * 0.99).all(), (
        "leave-one-out residuals are smaller than those of the fit"
    )
    _check_gradient(model, fresh[:7])
    tables = model.tables([4, 7], 0) | {"points": points_table(0, points)}
    again = module.load(data.families, tables, [4, 7])
    np.testing.assert_array_equal(again.mean(fresh), mean, err_msg="stored and loaded it predicts other bits")
    np.testing.assert_array_equal(model.take([1]).mean(fresh)[:, 0], mean[:, 1], err_msg="take gives another output")
    np.testing.assert_array_equal(module.fit(data, settings).mean(fresh), mean, err_msg="fitted again it differs")
    assert len(model.facts()) == 2, "facts must tell of each output"
    closed = model.distance(model)
    if closed is not None:
        np.testing.assert_allclose(closed, 0, atol=1e-12, err_msg="a distance from itself")
    counts = np.ones((2, len(points)), dtype=np.intp)
    for output, replicates in enumerate(model.resampled(data, counts)):
        sizes = (replicates.coefficients.shape[1], replicates.weights.shape[1])
        assert model.replicate_sizes(output) == sizes, f"replicates of {sizes} numbers, not as many as it says"


def _outputs(points: np.ndarray) -> np.ndarray:
    x, y = points.T
    return np.column_stack([np.exp(x) * y, np.abs(x + 0.3 * y)])


def _check_gradient(model: Model, at: np.ndarray) -> None:
    mean, gradient = model.gradient(at)
    np.testing.assert_allclose(mean, model.mean(at), rtol=1e-9, atol=1e-10)
    for k in range(2):
        step = np.zeros(2)
        # A process with long lengths is a difference of large numbers: a step that is not too small.
        step[k] = 1e-4
        difference = (model.mean(at + step) - model.mean(at - step)) / 2e-4
        np.testing.assert_allclose(gradient[:, :, k], difference, rtol=1e-3, atol=1e-4, err_msg="gradient")
