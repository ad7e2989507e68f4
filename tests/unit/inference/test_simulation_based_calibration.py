"""Simulation-based calibration (Talts et al., 2018): parameters drawn from the prior rank uniformly in posteriors of
data drawn with them. Holds only when prior, likelihood, transform and sampler all are right together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.stopping import Stopping
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.uniform import Uniform

REPEATS, DRAWS, BINS = 30, 99, 5


def forward(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = x[:, :1], x[:, 1:2]
    return a + b * np.array([0.0, 1, 2, 3]) + 0.3 * a * b, np.full(4, 0.05)


def test_ranks_are_uniform() -> None:
    priors = {"a": Uniform({"low": 0.0, "high": 2.0}), "b": Normal({"mean": 0.0, "std": 1.0})}
    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.2}))

    def likelihood(observed: NDArray[Any]) -> Likelihood:
        groups = (Group("g", observed, np.arange(4), Gaussian(noise)),)
        return Likelihood(("a", "b"), {"model": forward}, groups)

    generator = np.random.default_rng(1)
    blank = likelihood(np.zeros(4))
    target = blank.posterior(priors)
    truths = target.transform.values(target.draw_prior(REPEATS, generator))
    data = blank.draw(truths, generator)["g"]
    ranks = np.empty((REPEATS, 3), int)
    for i in range(REPEATS):
        sample = sample_posterior(
            likelihood(data[i]).posterior(priors),
            seed=i,
            settings={"chains": 16},
            stopping=Stopping(r_hat=1.05, ess=200),
        )
        assert sample.converged
        flat = sample.flat()
        draws = flat[np.linspace(0, len(flat) - 1, DRAWS).astype(int)]
        ranks[i] = np.sum(draws < truths[i], axis=0)
    for j in range(3):
        counts = np.bincount(ranks[:, j] * BINS // (DRAWS + 1), minlength=BINS)
        expected = REPEATS / BINS
        # 18.5 is passed by chance once in a thousand times (chi-square of four degrees of freedom).
        assert np.sum((counts - expected) ** 2 / expected) < 18.5, counts
