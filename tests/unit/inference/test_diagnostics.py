"""Diagnostics against closed forms, against themselves on broken chains, and against arviz-stats where it is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.inference import diagnostics
from percuss.inference.diagnostics import diagnose
from percuss.inference.samplers.sample import Stopping


def autoregressive(chains: int, draws: int, rho: float, seed: int = 0) -> NDArray[Any]:
    """x' = rho x + sqrt(1 - rho^2) e: stationary, variance one, autocorrelation time (1 + rho) / (1 - rho)."""
    generator = np.random.default_rng(seed)
    e = generator.standard_normal((chains, draws))
    x = e.copy()
    for i in range(1, draws):
        x[:, i] = rho * x[:, i - 1] + np.sqrt(1 - rho * rho) * e[:, i]
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_size_of_autoregressive_chains(rho: float) -> None:
    x = autoregressive(20, 5000, rho)
    expected = x.size * (1 - rho) / (1 + rho)
    # The estimate of an autocorrelation time from 1e5 draws scatters by a few per cent.
    assert diagnostics.ess_mean(x) == pytest.approx(expected, rel=0.1)
    assert diagnostics.ess_bulk(x) == pytest.approx(expected, rel=0.1)
    assert diagnostics.r_hat(x) < 1.01


def test_error_of_the_mean_is_the_scatter_of_means() -> None:
    means, errors = [], []
    for seed in range(200):
        x = autoregressive(4, 500, 0.8, seed)
        means.append(x.mean())
        errors.append(diagnostics.mcse_mean(x))
    assert np.median(errors) == pytest.approx(np.std(means), rel=0.15)


def test_error_of_a_quantile_is_the_scatter_of_quantiles() -> None:
    found = [
        (np.quantile(x, 0.9), diagnostics.mcse_quantile(x, 0.9))
        for x in (autoregressive(4, 500, 0.5, seed) for seed in range(200))
    ]
    values, errors = np.array(found).T
    assert np.median(errors) == pytest.approx(np.std(values), rel=0.15)


def test_a_chain_elsewhere_is_seen() -> None:
    x = autoregressive(8, 1000, 0.3)
    x[3] += 2.0
    assert diagnostics.r_hat(x) > 1.05


def test_a_chain_of_another_width_is_seen_by_folding() -> None:
    x = autoregressive(4, 1000, 0.3)
    x[0] *= 4.0
    assert diagnostics.r_hat(x) > 1.1


def test_a_late_chain_among_many_is_seen_by_the_plain_one_alone() -> None:
    x = autoregressive(300, 500, 0.3)
    x[0, :100] += 25.0
    assert diagnostics.r_hat(x) < 1.01 < 1.05 < diagnostics.r_hat_plain(x)
    reasons = Stopping().reasons(diagnose(x[:, :, None], autoregressive(300, 500, 0.0), ("a",)))
    # Beside it only the variance, which is that of the chain far out.
    assert reasons[0] == f"plain R-hat of a is {diagnostics.r_hat_plain(x):.3f}, not below 1.01"
    assert [reason.startswith("the standard deviation of a is known to") for reason in reasons] == [False, True]


def test_a_drift_common_to_all_chains_is_seen_by_splitting() -> None:
    x = autoregressive(4, 1000, 0.3) + np.linspace(0, 3, 1000)
    assert diagnostics.r_hat(x) > 1.2


@pytest.mark.parametrize(
    "x", [np.ones((4, 100)), np.full((4, 100), np.nan), np.ones((4, 2)), np.array([[0.0, np.inf] * 5] * 2)]
)
def test_unusable_draws_give_nan_and_never_pass(x: NDArray[Any]) -> None:
    found = diagnose(x[:, :, None], x, ("a",))
    assert np.isnan(found.r_hat).all()
    assert len(Stopping().reasons(found)) == 5


def test_stuck_chains_do_not_pass() -> None:
    x = np.repeat(np.arange(4.0)[:, None], 100, axis=1)
    assert Stopping().reasons(diagnose(x[:, :, None], x, ("a",)))


def test_reasons_name_the_worst() -> None:
    good, bad = autoregressive(4, 1000, 0.0), autoregressive(4, 1000, 0.0, 1)
    bad[0] += 1
    reasons = Stopping().reasons(diagnose(np.stack([good, bad], axis=2), good, ("fine", "poor")))
    assert any(reason.startswith("R-hat of poor is 1.") for reason in reasons)
    assert not Stopping().reasons(diagnose(good[:, :, None], good, ("fine",)))


@pytest.mark.parametrize("shape", [(4, 1000), (7, 501), (3, 5), (50, 40)])
@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.9])
@pytest.mark.parametrize("kind", ["plain", "heavy", "ties", "shifted"])
def test_same_as_arviz(shape: tuple[int, int], rho: float, kind: str) -> None:
    peer = pytest.importorskip("arviz_stats.base", reason="arviz-stats is not installed").array_stats
    x = autoregressive(*shape, rho)
    if kind == "heavy":
        x = np.exp(2 * x)
    elif kind == "ties":
        x = np.round(x)
    elif kind == "shifted":
        x = x + np.arange(shape[0])[:, None]
    pairs = [
        (diagnostics.r_hat(x), peer.rhat(x)),
        (diagnostics.ess_bulk(x), peer.ess(x, method="bulk")),
        (diagnostics.ess_tail(x), peer.ess(x, method="tail", prob=(0.05, 0.95))),
        (diagnostics.ess_mean(x), peer.ess(x, method="mean")),
        (diagnostics.mcse_mean(x), peer.mcse(x, method="mean")),
        (diagnostics.mcse_quantile(x, 0.1), peer.mcse(x, method="quantile", prob=0.1)),
    ]
    for ours, theirs in pairs:
        assert ours == pytest.approx(float(theirs), rel=1e-9, abs=1e-12)


def test_the_worst_figures_say_their_kind_and_quantity() -> None:
    """The larger of two kinds of R-hat is told, whichever it is; what is not known is worse than any number."""
    columns = {
        "r_hat": np.array([1.002, 1.001]),
        "r_hat_plain": np.array([1.0, 1.03]),
        "ess_bulk": np.array([900.0, 800.0]),
        "ess_tail": np.array([700.0, 950.0]),
    }
    words = diagnostics.worst_figures(["a", "log density"], columns)
    assert words == "largest R-hat 1.0300 (plain, of log density), least effective sample size 700 (tail, of a)"
    unknown = diagnostics.worst_figures(["a", "b"], {**columns, "r_hat": np.array([1.0, np.nan])})
    assert unknown.startswith("largest R-hat nan (rank, of b)")
