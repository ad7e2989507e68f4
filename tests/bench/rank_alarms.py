"""How often `percuss trust` refuses a right calibration: twins of the study linear-gaussian, posteriors in closed form.

python -m tests.bench.rank_alarms [SEEDS]

Truths and data are those that the command draws; draws come from the exact posterior, so that what is left is the test.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from percuss.calibration.rank_check import FALSE_ALARMS
from percuss.calibration.twins import QUICK_DRAWS, draw_twins
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.ranks import uniformity
from percuss.study.priors.normal import Normal

TWINS = 100
MATRIX, OFFSET = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), np.array([0.0, 1.0, 0.0])
STD = np.array([0.1, 0.2, 0.1])
PRIORS = {"x1": Normal({"mean": 1.0, "std": 2.0}), "x2": Normal({"mean": 0.0, "std": 1.0})}


def forward(x: Floats) -> tuple[Floats, Floats]:
    return np.einsum("ij,...j->...i", MATRIX, x) + OFFSET, np.zeros(3)


def least_p_value(seed: int) -> float:
    """Of two parameters and the log-likelihood, as the command judges them."""
    group = Group("all", np.zeros(3), np.arange(3), Gaussian(0.0), measurement_std=STD)
    likelihood = Likelihood(tuple(PRIORS), {"model": forward}, (group,))
    problem = SimpleNamespace(likelihood=likelihood, target=likelihood.posterior(PRIORS))
    twins = draw_twins(cast(Any, problem), TWINS, seed)
    observed = twins.data["all"]
    weights = MATRIX / STD[:, None] ** 2
    covariance = np.linalg.inv(MATRIX.T @ weights + np.diag([0.25, 1.0]))
    mean = ((observed - OFFSET) @ weights + np.array([0.25, 0.0])) @ covariance
    normal = np.random.default_rng([seed, 9]).standard_normal((TWINS, QUICK_DRAWS, 2))
    draws = mean[:, None] + normal @ np.linalg.cholesky(covariance).T
    truths = twins.truths[:, None]

    def with_fit(x: Floats) -> Floats:
        misfit = np.sum(((forward(x)[0] - observed[:, None]) / STD) ** 2, axis=2)
        return np.concatenate([x, -0.5 * misfit[:, :, None]], axis=2)

    ranks = np.sum(with_fit(draws) < with_fit(truths), axis=1)
    return min(uniformity(ranks[:, j], QUICK_DRAWS) for j in range(3))


def main() -> None:
    """Print the share of alarms."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    alarms = sum(least_p_value(seed) < FALSE_ALARMS / 3 for seed in range(seeds))
    error = np.sqrt(FALSE_ALARMS * (1 - FALSE_ALARMS) / seeds)
    print(f"{alarms} of {seeds} right calibrations refused: {100 * alarms / seeds:.2f} ± {100 * error:.2f} %")


if __name__ == "__main__":
    main()
