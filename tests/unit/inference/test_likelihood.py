"""Likelihoods against densities of scipy.stats, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from percuss.errors import InputError
from percuss.inference.discrepancies.correlated import KERNELS, Correlated
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.registry import DISCREPANCIES, discrepancy_class
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.likelihood import Group, Likelihood
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.normal import Normal
from percuss.study.priors.uniform import Uniform

TIMES = np.array([0.0, 0.1, 0.35, 0.4, 1.0])
OBSERVED = np.array([0.2, -0.4, 1.1, 0.7, 0.0])
SLOPES = np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0], [0.3, 0.3], [2.0, -0.5]])
X = np.array([[0.1, 0.2], [-0.5, 0.3], [1.0, -1.0]])


def forward(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.einsum("ij,nj->ni", SLOPES, x), np.full(5, 0.01)


def varying(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    mean, _ = forward(x)
    return mean, 0.01 + 0.1 * np.abs(mean)


def group(discrepancy: Discrepancy, **settings: Any) -> Group:
    return Group("g", OBSERVED, np.arange(5), discrepancy, **settings)


def likelihood(discrepancy: Discrepancy, model: Any = forward, **settings: Any) -> Likelihood:
    return Likelihood(("a", "b"), {"model": model}, (group(discrepancy, **settings),))


def std_prior() -> LogUniform:
    return LogUniform({"low": 0.01, "high": 10.0})


@pytest.mark.parametrize("model", [forward, varying])
def test_gaussian(model: Any) -> None:
    found = likelihood(Gaussian(0.3), model, measurement_std=np.full(5, 0.2))
    mean, variance = model(X)
    total = variance + 0.09 + 0.04
    each = stats.norm.logpdf(OBSERVED, mean, np.sqrt(total))
    np.testing.assert_allclose(found(X), each.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.pointwise(X), each, rtol=1e-12)


def test_student_t() -> None:
    found = likelihood(StudentT(0.3, 3.0))
    each = stats.t.logpdf(OBSERVED, 3.0, forward(X)[0], np.sqrt(0.09 + 0.01))
    np.testing.assert_allclose(found.pointwise(X), each, rtol=1e-12)
    np.testing.assert_allclose(found(X), each.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("inferred", [False, True])
@pytest.mark.parametrize("model", [forward, varying])
def test_correlated(kernel: str, inferred: bool, model: Any) -> None:
    std: Any = Unknown("std", std_prior()) if inferred else 0.3
    length: Any = Unknown("length", std_prior()) if inferred else 0.5
    found = likelihood(Correlated(std, TIMES, length, kernel), model)
    x = np.hstack([X, [[0.3, 0.5], [0.6, 0.1], [0.2, 2.0]]]) if inferred else X
    mean, variance = model(X)
    variance = np.broadcast_to(variance, mean.shape)
    for i, row in enumerate(x):
        s, ell = (row[2], row[3]) if inferred else (0.3, 0.5)
        h = np.abs(TIMES[:, None] - TIMES) / ell
        sigma = s * s * KERNELS[kernel](h) + np.diag(variance[i])
        whole = stats.multivariate_normal.logpdf(OBSERVED, mean[i], sigma)
        assert found(x)[i] == pytest.approx(whole, rel=1e-10)
        # Density of one entry given the others = density of all / density of the others.
        for j in range(5):
            others = np.delete(np.arange(5), j)
            rest = stats.multivariate_normal.logpdf(OBSERVED[others], mean[i][others], sigma[np.ix_(others, others)])
            assert found.pointwise(x)[i, j] == pytest.approx(whole - rest, rel=1e-8, abs=1e-9)


def test_matern_kernels_are_smooth_relatives_of_the_exponential() -> None:
    for kernel in KERNELS.values():
        assert kernel(np.zeros(1))[0] == 1.0
        assert (np.diff(kernel(np.linspace(0, 5, 50))) < 0).all()


def test_unknown_std_is_a_column_and_may_be_shared() -> None:
    shared = Unknown("noise", std_prior())
    groups = (
        Group("one", OBSERVED[:2], np.array([0, 1]), Gaussian(shared)),
        Group("two", OBSERVED[2:], np.array([2, 3, 4]), Gaussian(shared)),
    )
    found = Likelihood(("a", "b"), {"model": forward}, groups)
    assert list(found.unknowns) == ["noise"]
    x = np.hstack([X, [[0.1], [0.5], [2.0]]])
    expected = stats.norm.logpdf(OBSERVED, forward(X)[0], np.sqrt(x[:, 2:] ** 2 + 0.01)).sum(axis=1)
    np.testing.assert_allclose(found(x), expected, rtol=1e-12)
    target = found.posterior({"a": Normal({"mean": 0, "std": 1}), "b": Normal({"mean": 0, "std": 1})})
    assert target.names == ("a", "b", "noise")


def test_groups_multiply_over_forward_models() -> None:
    """Eq. C.10: two tests, two forward models, one set of parameters; a model is run once for all its groups."""
    calls = []

    def other(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        calls.append(len(x))
        return x[:, :1] * x[:, 1:] + np.array([0.0, 1.0]), np.zeros(2)

    groups = (
        group(Gaussian(0.3)),
        Group("p", np.array([0.4]), np.array([1]), Gaussian(0.2), forward="other"),
        Group("q", np.array([0.1, 0.2]), np.array([0, 0]), StudentT(0.2), forward="other"),
    )
    found = Likelihood(("a", "b"), {"model": forward, "other": other}, groups)
    parts = likelihood(Gaussian(0.3))(X)
    product = X[:, 0] * X[:, 1]
    parts = parts + stats.norm.logpdf(0.4, product + 1, 0.2)
    parts = parts + stats.t.logpdf([[0.1, 0.2]], 4.0, product[:, None], 0.2).sum(axis=1)
    np.testing.assert_allclose(found(X), parts, rtol=1e-12)
    assert calls == [3]


def test_entries_hold_all_a_compiled_kernel_needs() -> None:
    noise = Unknown("noise", std_prior())
    groups = (
        Group("one", OBSERVED[:2], np.array([3, 1]), Gaussian(noise), measurement_std=0.1),
        Group("two", OBSERVED[2:], np.array([1, 0, 0]), Gaussian(0.3), forward="other"),
    )
    found = Likelihood(("a", "b"), {"model": forward, "other": varying}, groups)
    x = np.hstack([X, [[0.1], [0.5], [2.0]]])
    e = found.entries()
    assert e is not None
    models = [forward(X), varying(X)]
    total = np.zeros(3)
    for i in range(5):
        mean, own = models[e.forward[i]]
        variance = e.variance[i] + np.broadcast_to(own, mean.shape)[:, e.column[i]]
        variance = variance + (x[:, e.unknown[i]] ** 2 if e.unknown[i] >= 0 else 0)
        total += stats.norm.logpdf(e.observed[i], mean[:, e.column[i]], np.sqrt(variance))
    np.testing.assert_allclose(found(x), total, rtol=1e-12)
    assert likelihood(StudentT(0.3)).entries() is None


@pytest.mark.parametrize(
    ("discrepancy", "factor"),
    [(Gaussian(0.3), 1.0), (StudentT(0.3, 8.0), 8 / 6), (Correlated(0.3, TIMES, 0.5), 1.0)],
)
def test_drawn_data_scatter_as_the_density_says(discrepancy: Discrepancy, factor: float) -> None:
    found = likelihood(discrepancy)
    x = np.repeat(X[:1], 40_000, axis=0)
    drawn = found.draw(x, np.random.default_rng(1))["g"]
    # Standard errors: 0.3 / 200 of a mean, about 1 % of a variance (kurtosis 4.5 for t with eight degrees).
    np.testing.assert_allclose(drawn.mean(axis=0), forward(X)[0][0], atol=4 * 0.4 / 200)
    np.testing.assert_allclose(drawn.var(axis=0), 0.1 * factor, rtol=0.05)
    if isinstance(discrepancy, Correlated):
        away = drawn - drawn.mean(axis=0)
        expected = 0.09 * np.exp(-0.1 / 0.5)
        assert np.mean(away[:, 0] * away[:, 1]) == pytest.approx(expected, rel=0.05)


def test_repeated_data_name_the_same_output() -> None:
    two = Group("g", np.array([0.2, 0.3]), np.array([0, 0]), Gaussian(0.5))
    found = Likelihood(("a", "b"), {"model": forward}, (two,))
    each = stats.norm.logpdf([[0.2, 0.3]], forward(X)[0][:, :1], np.sqrt(0.25 + 0.01))
    np.testing.assert_allclose(found(X), each.sum(axis=1), rtol=1e-12)


def test_registry_knows_every_kind() -> None:
    for kind in DISCREPANCIES:
        assert issubclass(discrepancy_class(kind), Discrepancy)
    with pytest.raises(InputError, match="did you mean `gaussian`"):
        discrepancy_class("gausian")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(-0.1), "std = -0.1 is outside .*of at least 0"),
        (lambda: Gaussian(float("nan")), "std = nan"),
        (lambda: StudentT(0.1, 0.0), "degrees_of_freedom = 0.0 is outside .*above 0"),
        (lambda: Correlated(0.0, TIMES, 0.5), "std = 0.0 is outside .*above 0"),
        (lambda: Correlated(0.1, TIMES, -1.0), "length = -1.0"),
        (lambda: Correlated(0.1, TIMES, 1.0, "matern-7/2"), "kernel = 'matern-7/2' is not known; did you mean"),
        (lambda: Gaussian(Unknown("s", Normal({"mean": 0, "std": 1}))), "`s` cannot be below 0"),
        (lambda: group(Gaussian(np.full(4, 0.1))), "5 observed values have 4 std"),
        (lambda: group(Correlated(0.1, TIMES[:3], 1.0)), "5 observed values have 3 places"),
        (lambda: group(Gaussian(0.1), measurement_std=-1.0), "measurement_std"),
        (lambda: Group("g", np.array([np.nan]), np.array([0]), Gaussian(1.0)), "observed value 0 is .*nan"),
        (lambda: Group("g", np.array([1.0]), np.array([0, 1]), Gaussian(1.0)), "1 observed values have 2 outputs"),
        (lambda: Group("g", np.array([1.0]), np.array([-1]), Gaussian(1.0)), "column numbers from 0"),
        (lambda: Likelihood(("a",), {}, ()), "at least one data group"),
        (lambda: Likelihood(("a",), {"modle": forward}, (group(Gaussian(1.0)),)), "no forward model `model`"),
        (
            lambda: Likelihood(("a",), {"model": forward}, (group(Gaussian(1.0)), group(Gaussian(1.0)))),
            "two data groups have the name `g`",
        ),
        (
            lambda: likelihood(Gaussian(Unknown("a", std_prior()))),
            "unknown `a` has the name of a parameter",
        ),
        (lambda: likelihood(Gaussian(0.1)).posterior({"a": std_prior()}), "no prior for `b`"),
        (lambda: likelihood(Gaussian(0.0), lambda x: (forward(x)[0], np.zeros(5)))(X), "no variance at all"),
        (lambda: likelihood(Gaussian(0.1), lambda x: (forward(x)[0], np.full(5, -1.0)))(X), "negative variance"),
        (lambda: likelihood(Gaussian(0.1), lambda x: (x, np.zeros(2)))(X), "has 2 outputs, none of number 4"),
        (lambda: likelihood(Gaussian(0.1), lambda x: (x, np.zeros(3)))(X), r"variances \(3,\) for 3 points"),
        (
            lambda: likelihood(Correlated(0.1, np.zeros(5), 1.0), lambda x: (forward(x)[0], np.zeros(5)))(X),
            "not positive definite",
        ),
    ],
)
def test_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_same_unknown_with_another_prior_is_refused() -> None:
    other = Uniform({"low": 0.0, "high": 1.0})
    groups = (
        Group("one", OBSERVED[:1], np.array([0]), Gaussian(Unknown("s", std_prior()))),
        Group("two", OBSERVED[1:2], np.array([1]), Gaussian(Unknown("s", other))),
    )
    with pytest.raises(InputError, match="`s` has another prior"):
        Likelihood(("a", "b"), {"model": forward}, groups)
