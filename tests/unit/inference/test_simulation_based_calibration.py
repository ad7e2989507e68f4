"""Simulation-based calibration (Talts et al., 2018): parameters drawn from the prior rank uniformly in posteriors of
data drawn with them. Holds only when prior, likelihood, transform and sampler all are right together.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss._core import chaos_fit
from percuss.inference.compiled import compiled_target
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

DRAWS, BINS = 99, 5
PRIORS: dict[str, Prior] = {"a": Uniform({"low": 0.0, "high": 2.0}), "b": Normal({"mean": 0.0, "std": 1.0})}


def forward(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = x[:, :1], x[:, 1:2]
    return a + b * np.array([0.0, 1, 2, 3]) + 0.3 * a * b, np.full(4, 0.05)


def surrogate() -> Surrogate:
    """The same forward model as an expansion: a polynomial, which a fit of second degree gives back."""
    canonical = Canonical.of(list(PRIORS.values()))
    x = np.random.default_rng(0).uniform([0, -2], [2, 2], (40, 2))
    core, _ = chaos_fit(canonical.families, canonical.points(x), forward(x)[0], degrees=[2], q=[1.0], method="ordinary")
    nothing = cast(Any, None)
    part = LoadedPart("chaos", (0, 1, 2, 3), Expansions(core))
    return Surrogate(nothing, nothing, ("a", "b"), (), canonical, (part,), {})


@pytest.mark.parametrize(("kernel", "repeats"), [("numpy", 30), ("compiled", 100)])
def test_ranks_are_uniform(kernel: str, repeats: int) -> None:
    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.2}))

    def likelihood(observed: NDArray[Any]) -> Likelihood:
        groups = (Group("g", observed, np.arange(4), Gaussian(noise)),)
        return Likelihood(("a", "b"), {"model": forward}, groups)

    generator = np.random.default_rng(1)
    blank = likelihood(np.zeros(4))
    target = blank.posterior(PRIORS)
    surrogates = {"model": surrogate()} if kernel == "compiled" else {}
    truths = target.transform.values(target.draw_prior(repeats, generator))
    data = blank.draw(truths, generator)["g"]
    ranks = np.empty((repeats, 3), int)
    for i in range(repeats):
        posterior, why_not = compiled_target(likelihood(data[i]), PRIORS, surrogates)
        assert (why_not is None) == (kernel == "compiled")
        sample = sample_posterior(
            posterior,
            seed=i,
            settings={"chains": 16},
            stopping=Stopping(r_hat=1.1, ess=150),
        )
        assert sample.converged
        flat = sample.flat()
        draws = flat[np.linspace(0, len(flat) - 1, DRAWS).astype(int)]
        ranks[i] = np.sum(draws < truths[i], axis=0)
    for j in range(3):
        counts = np.bincount(ranks[:, j] * BINS // (DRAWS + 1), minlength=BINS)
        expected = repeats / BINS
        # 18.5 is passed by chance once in a thousand times (chi-square of four degrees of freedom).
        assert np.sum((counts - expected) ** 2 / expected) < 18.5, counts
