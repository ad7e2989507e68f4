"""Posteriors whose mean, variance and log evidence are known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Sample
from percuss.inference.target import Target
from percuss.study.priors.normal import Normal
from percuss.study.priors.uniform import Uniform


@dataclass(frozen=True)
class ClosedForm:
    """A target with the truth about it."""

    target: Target
    mean: NDArray[Any]
    variance: NDArray[Any]
    log_evidence: float


def uniform(low: float, high: float) -> Uniform:
    return Uniform({"low": low, "high": high})


def normal(mean: float, std: float) -> Normal:
    return Normal({"mean": mean, "std": std})


def linear_gaussian_likelihood() -> tuple[Likelihood, dict[str, Normal], NDArray[Any]]:
    """y = A x + noise for six data and three parameters; the design matrix comes along."""
    design = np.array([[1, 0, 0.5], [1, 1, 0], [1, 2, -0.5], [1, 3, 0.25], [0, 1, 1], [1, -1, 2.0]])
    observed = np.array([1.2, 2.9, 5.1, 6.8, 2.4, 1.1])
    likelihood = Likelihood(
        ("a", "b", "c"),
        {"model": lambda x: (np.einsum("ij,nj->ni", design, x), np.full(6, 0.04))},
        (
            Group("first", observed[:4], np.arange(4), Gaussian(0.3), measurement_std=0.1),
            Group("second", observed[4:], np.array([4, 5]), Gaussian(0.5)),
        ),
    )
    priors = {"a": normal(0, 2), "b": normal(1, 1), "c": normal(0.5, 3)}
    return likelihood, priors, design


def linear_gaussian() -> ClosedForm:
    likelihood, priors, design = linear_gaussian_likelihood()
    observed = np.concatenate([group.observed for group in likelihood.groups])
    noise = np.diag([0.04 + 0.09 + 0.01] * 4 + [0.04 + 0.25] * 2)
    center, spread = np.array([0, 1, 0.5]), np.diag([4.0, 1.0, 9.0])
    precision = np.linalg.inv(spread) + design.T @ np.linalg.inv(noise) @ design
    covariance = np.linalg.inv(precision)
    mean = covariance @ (np.linalg.inv(spread) @ center + design.T @ np.linalg.inv(noise) @ observed)
    marginal = noise + design @ spread @ design.T
    away = observed - design @ center
    log_evidence = -0.5 * (away @ np.linalg.solve(marginal, away) + np.linalg.slogdet(2 * math.pi * marginal)[1])
    return ClosedForm(likelihood.posterior(priors), mean, np.diag(covariance), float(log_evidence))


def truncated_gaussian() -> ClosedForm:
    """Three Gaussians cut by the unit box: centre inside, on a bound, outside."""
    center, std = np.array([0.4, 0.0, 1.2]), np.array([0.1, 0.2, 0.3])

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        z = (x - center) / std
        return np.sum(-0.5 * z * z - np.log(std * math.sqrt(2 * math.pi)), axis=1)

    def phi(z: NDArray[Any]) -> NDArray[Any]:
        return np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)

    a, b = (0 - center) / std, (1 - center) / std
    mass = np.array([0.5 * (math.erf(v / 2**0.5) - math.erf(u / 2**0.5)) for u, v in zip(a, b, strict=True)])
    shift = (phi(a) - phi(b)) / mass
    variance = std**2 * (1 + (a * phi(a) - b * phi(b)) / mass - shift**2)
    target = Target(("x", "y", "z"), (uniform(0, 1),) * 3, log_likelihood)
    return ClosedForm(target, center + std * shift, variance, float(np.sum(np.log(mass))))


def banana(bend: float = 1.0) -> ClosedForm:
    """x ~ N(0, 1), y | x ~ N(bend (x^2 - 1), 1/2^2), in a box that cuts nothing."""

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        across = (x[:, 1] - bend * (x[:, 0] ** 2 - 1)) / 0.5
        return -0.5 * (x[:, 0] ** 2 + across**2) - math.log(2 * math.pi * 0.5)

    target = Target(("x", "y"), (uniform(-8, 8), uniform(-10, 70)), log_likelihood)
    return ClosedForm(target, np.zeros(2), np.array([1, 0.25 + 2 * bend**2]), -math.log(16 * 80))


def rosenbrock(valley: float = 5.0) -> ClosedForm:
    """exp(-((1 - x)^2 + valley (y - x^2)^2) / 2): x ~ N(1, 1), y | x ~ N(x^2, 1 / valley), in a wide box."""

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        return -0.5 * ((1 - x[:, 0]) ** 2 + valley * (x[:, 1] - x[:, 0] ** 2) ** 2)

    target = Target(("x", "y"), (uniform(-7, 9), uniform(-10, 90)), log_likelihood)
    evidence = math.log(2 * math.pi / math.sqrt(valley)) - math.log(16 * 100)
    return ClosedForm(target, np.array([1, 2.0]), np.array([1, 1 / valley + 6.0]), evidence)


def two_modes() -> ClosedForm:
    """0.7 N(-4, 1/2^2) + 0.3 N(4, 1/2^2) in both of two parameters, 16 standard deviations apart."""

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        left, right = (np.sum(((x - c) / 0.5) ** 2, axis=1) for c in (-4, 4))
        mixed = np.logaddexp(math.log(0.7) - 0.5 * left, math.log(0.3) - 0.5 * right)
        return np.asarray(mixed - math.log(2 * math.pi * 0.25))

    target = Target(("x", "y"), (uniform(-10, 10),) * 2, log_likelihood)
    return ClosedForm(target, np.full(2, -1.6), np.full(2, 0.25 + 16 - 1.6**2), -math.log(400))


CLOSED_FORMS = {
    "linear-gaussian": linear_gaussian,
    "truncated-gaussian": truncated_gaussian,
    "banana": banana,
    "rosenbrock": rosenbrock,
    "two-modes": two_modes,
}


@pytest.fixture
def closed_form() -> Callable[..., ClosedForm]:
    """Build a target by name, with the truth about it."""
    return lambda name, **settings: CLOSED_FORMS[name](**settings)


@pytest.fixture
def linear_likelihood() -> tuple[Likelihood, dict[str, Normal], NDArray[Any]]:
    """The likelihood of the linear-Gaussian target, its priors and its design matrix."""
    return linear_gaussian_likelihood()


@pytest.fixture(scope="session")
def linear_sample() -> Sample:
    """A converged sample of the linear-Gaussian target, for those who only read it."""
    return sample_posterior(linear_gaussian().target, seed=1)
