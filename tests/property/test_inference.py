"""What holds for any prior and any chains."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss._core import ChaosExpansion
from percuss.inference import diagnostics
from percuss.inference.compiled import compile_posterior
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.loo import smooth
from percuss.inference.target import Transform
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

numbers = st.floats(-1e3, 1e3)
widths = st.floats(1e-3, 1e3)


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    low, width, share = draw(numbers), draw(widths), draw(st.floats(0.05, 0.95))
    fields = draw(
        st.sampled_from(
            [
                {"kind": "uniform", "low": low, "high": low + width},
                {"kind": "normal", "mean": low, "std": width},
                {"kind": "lognormal", "mean": width, "std": width * share},
                {"kind": "gamma", "mean": width, "std": width * share},
                {"kind": "truncated-normal", "mean": low, "std": width, "low": low - width * share},
                {"kind": "truncated-normal", "mean": low, "std": width, "high": low + width * share},
                {"kind": "log-uniform", "low": width, "high": width * (1 + 10 * share)},
                {"kind": "beta", "alpha": 0.5 + 3 * share, "beta": 1.0, "low": low, "high": low + width},
            ]
        )
    )
    return prior_from_json(fields)


@given(st.lists(priors(), min_size=1, max_size=5), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_draws_from_priors_go_to_the_unbounded_space_and_back(found: list[Prior], seed: int) -> None:
    u = np.random.default_rng(seed).uniform(0.001, 0.999, (20, len(found)))
    x = np.stack([prior.ppf(u[:, j]) for j, prior in enumerate(found)], axis=1)
    transform = Transform.of(found)
    back = transform.values(transform.unbounded(x))
    # In units of the parameter's own scale, and of the size of its values, which bounds what x can resolve.
    scale = transform.scale + np.abs(x).max(axis=0)
    assert np.max(np.abs(back - x) / scale) < 1e-12
    assert np.isfinite(transform.log_jacobian(transform.unbounded(x))).all()


@given(st.integers(2, 6), st.integers(4, 60), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_rank_diagnostics_do_not_see_increasing_transforms(chains: int, draws: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((chains, draws))
    bent = np.exp(x)
    assert diagnostics.ess_bulk(x) == diagnostics.ess_bulk(bent)
    assert diagnostics.ess_bulk(x) > 0


@given(st.integers(10, 500), st.floats(0.0, 30.0), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_smoothed_weights_sum_to_one_and_keep_their_order(n: int, spread: float, seed: int) -> None:
    raw = spread * np.random.default_rng(seed).standard_normal(n)
    smoothed, _ = smooth(raw)
    assert np.exp(smoothed).sum() == np.float64(1.0) or abs(np.exp(smoothed).sum() - 1) < 1e-12
    order = np.argsort(raw, kind="stable")
    assert (np.diff(smoothed[order]) >= -1e-9).all()


@given(st.lists(priors(), min_size=1, max_size=4), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_compiled_density_is_the_plain_one(found: list[Prior], seed: int) -> None:
    """Any priors, an inferred std, an expansion of third degree in variables of its own priors."""
    generator = np.random.default_rng(seed)
    names = tuple(f"x{j}" for j in range(len(found)))
    canonical = Canonical.of([Uniform({"low": -1e3, "high": 1e3})] * len(found))
    terms = np.unique(generator.integers(0, 2, (12, len(found))), axis=0).astype(np.uint8)
    count = len(terms)
    core = ChaosExpansion(
        canonical.families,
        terms,
        np.arange(4) * count,
        np.tile(np.arange(count, dtype=np.uint32), 3),
        generator.standard_normal(3 * count),
    )
    nothing = cast(Any, None)
    part = LoadedPart("chaos", (0, 1, 2), Expansions(core))
    surrogate = Surrogate(nothing, nothing, names, (), canonical, (part,), {})
    noise = Unknown("noise", Gamma({"shape": 2.0, "scale": 0.5}))
    groups = (
        Group("known", generator.standard_normal(3), np.array([0, 2, 2]), Gaussian(0.3)),
        Group("inferred", generator.standard_normal(2), np.array([1, 0]), Gaussian(noise)),
    )
    likelihood = Likelihood(names, {"model": lambda x: (surrogate.mean(x), np.full(3, 0.1))}, groups)
    plain = likelihood.posterior(dict(zip(names, found, strict=True)))
    z = np.concatenate([plain.draw_prior(20, generator), 10 * generator.standard_normal((13, plain.dimension))])
    compiled = compile_posterior(likelihood, plain, {"model": surrogate})
    expected, density = plain.log_density(z), compiled.log_density(z)
    assert (np.isfinite(expected) == np.isfinite(density)).all()
    known = np.isfinite(expected)
    # A sum of terms that may cancel: measured by the largest of them, the likelihood or the prior.
    size = 1 + np.abs(np.stack(plain.log_parts(z))[:, known]).max(axis=0)
    assert np.max(np.abs(density[known] - expected[known]) / size, initial=0.0) < 1e-12
