"""What holds for any prior and any chains."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.inference import diagnostics
from percuss.inference.pareto import smooth
from percuss.inference.transform import Transform
from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json

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
