"""delta against closed forms, a published value, and what defines it."""

import numpy as np
import pytest
from scipy.stats import norm

from percuss.errors import InputError
from percuss.sensitivity.indices import over_cases
from percuss.sensitivity.moment_independent import class_count, moment_independent_indices

NAMES = [("base", "y")]


def of(x, y, seed=0):
    (found,) = moment_independent_indices(x, y[:, None], NAMES, 0.95, seed)
    return found.measures["delta"]


def bivariate(correlation):
    """delta of one of two standard normals for the other: half the mean area between their densities."""
    y = np.linspace(-8, 8, 4001)
    x = norm.ppf((np.arange(200) + 0.5) / 200)
    rest = np.sqrt(1 - correlation**2)
    apart = np.abs(norm.pdf(y)[:, None] - norm.pdf(y[:, None], correlation * x, rest))
    return 0.5 * apart.sum(axis=0).mean() * (y[1] - y[0])


def test_linear_gaussian():
    """y = sum of a_i x_i with normal x: a_i over the norm of a is the correlation."""
    a = np.array([0.9, 0.4, 0.17, 0.0])
    exact = np.array([bivariate(c) for c in a / np.linalg.norm(a)])
    errors = []
    for n in (256, 2048):
        x = np.random.default_rng(n).standard_normal((n, 4))
        found = of(x, x @ a)
        errors.append(np.abs(found.values - exact).max())
        assert ((found.low <= found.values) & (found.values <= found.high)).all()
        assert found.low.min() >= 0 and found.high.max() <= 1
        assert found.low[3] == 0  # nothing to say of what does nothing
    # Bias by classes and smoothing, and the noise of such samples; it falls with their number.
    assert errors[0] < 0.09 and errors[1] < 0.045


def test_ishigami_as_a_peer_has_it():
    """0.210, 0.358, 0.155: the values that SALib tests its own delta with."""
    x = np.random.default_rng(1).uniform(-np.pi, np.pi, (3000, 3))
    y = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    found = of(x, y)
    np.testing.assert_allclose(found.values, [0.210, 0.358, 0.155], atol=0.025)
    # Its variance does not know x3 alone (first order 0), its distribution does.
    assert found.low[2] > 0.1


@pytest.mark.parametrize("correlation", [0.1, 0.3, 0.6, 0.9])
def test_intervals_hold_the_delta_of_two_normals(correlation):
    """95 % intervals of 20 samples of 256 runs: fewer than 16 would come by chance once in 400."""
    held = 0
    for seed in range(20):
        x = np.random.default_rng([seed, 41]).standard_normal((256, 2))
        found = of(x[:, :1], correlation * x[:, 0] + np.sqrt(1 - correlation**2) * x[:, 1], seed)
        held += int(found.low[0] <= bivariate(correlation) <= found.high[0])
    assert held >= 16


def test_a_parameter_that_goes_up_and_down_is_not_overlooked():
    """Ishigami's x2, on which the output depends most, has four periods: few classes would each see one of them."""
    for seed in range(4):
        x = np.random.default_rng([seed, 43]).uniform(-np.pi, np.pi, (192, 3))
        found = of(x, np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]), seed)
        assert np.argmax(found.values) == 1 and found.values[1] > 0.2


def test_any_monotonic_function_of_the_output_has_the_same_delta():
    x = np.random.default_rng(2).standard_normal((300, 2))
    y = x[:, 0] + 0.5 * x[:, 1]
    assert np.array_equal(of(x, y).values, of(x, np.exp(3 * y)).values)


def test_parameters_that_tell_nothing_have_nearly_none():
    """Without the correction the mean would be 0.05 and more."""
    draws = [np.random.default_rng(s).random((256, 2)) for s in range(12)]
    found = [of(x[:, :1], x[:, 1]) for x in draws]
    assert np.mean([m.values[0] for m in found]) < 0.03
    # Intervals of 95 %: more than two of twelve would be rare.
    assert sum(m.low[0] > 0 for m in found) <= 2


def test_few_runs_are_refused_and_constants_have_no_delta():
    with pytest.raises(InputError, match="15 finished runs are too few for delta, at least 16"):
        of(np.zeros((15, 1)), np.arange(15.0))
    assert np.isnan(of(np.random.default_rng(0).random((40, 2)), np.ones(40)).values).all()


def test_distances_are_not_added_up_over_cases():
    x = np.random.default_rng(3).random((64, 1))
    both = [moment_independent_indices(x, x, [(case, "y")], 0.9, 0)[0] for case in ("a", "b")]
    assert over_cases(both) == []


def test_classes_grow_with_the_runs():
    counts = [class_count(n) for n in (16, 100, 1000, 10_000, 10**6)]
    assert counts == sorted(counts)
    assert counts[0] >= 2
    assert counts[-1] == 48
