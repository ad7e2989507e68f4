"""`[correlations]`: Nataf against closed forms, faults, and what the parts of percuss make of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import percuss
from percuss.errors import InputError
from percuss.study.faults import StudyError
from percuss.study.joint import Joint, nataf
from percuss.study.load import study_of_tables
from percuss.study.priors.registry import read_prior
from percuss.study.sections import normal
from percuss.surrogates.canonical import Canonical

PRIORS: dict[str, dict[str, Any]] = {
    "a": {"kind": "lognormal", "mean": 2, "std": 1},
    "b": {"kind": "uniform", "low": 0, "high": 1},
    "c": {"kind": "normal", "mean": -1, "std": 3},
}


def study(pairs: list[tuple[str, str, float]], of: str = "values", **more: Any) -> Any:
    listed = [{"between": [a, b], "correlation": r} for a, b, r in pairs]
    tables = {
        "model": {
            "kind": "benchmark",
            "function": "linear-gaussian",
            "inputs": ["a", "b", "c"],
            "outputs": ["y"],
            "matrix": [[1, 1, 1]],
        },
        "parameters": {name: {"prior": prior} for name, prior in PRIORS.items()},
        "correlations": {"of": of, "pairs": listed},
    }
    return study_of_tables("three", tables | more)


def test_nataf_of_closed_forms() -> None:
    """Two lognormals: log(1 + r s1 s2) / (sigma1 sigma2); a uniform with a normal: r sqrt(pi / 3) (Liu, 1986)."""
    wide = read_prior({"kind": "lognormal", "mean": 1, "std": 0.5}, "1")
    sigma2 = math.log1p(0.25)
    assert nataf(wide, wide, 0.4) == pytest.approx(math.log1p(0.4 * 0.25) / sigma2, rel=1e-9)
    flat = read_prior({"kind": "uniform", "low": 3, "high": 5}, "1")
    gauss = read_prior({"kind": "normal", "mean": 1, "std": 2}, "1")
    assert nataf(flat, gauss, 0.6) == pytest.approx(0.6 * math.sqrt(math.pi / 3), rel=2e-3)
    assert nataf(gauss, gauss, -0.7) == pytest.approx(-0.7, rel=1e-9)
    with pytest.raises(InputError, match="out of reach"):
        nataf(wide, wide, -0.9)


def test_designs_have_the_correlations_asked_for() -> None:
    from percuss.designs.registry import make_design

    three = study([("a", "b", 0.5), ("b", "c", -0.4)])
    values = make_design(three, "sobol", 1 << 14, 0, 1).values
    found = np.corrcoef(values.T)
    np.testing.assert_allclose([found[0, 1], found[1, 2], found[0, 2]], [0.5, -0.4, 0.0], atol=0.01)
    for j, prior in enumerate(PRIORS.values()):
        assert stats.kstest(read_prior(prior, "1").cdf(values[:, j]), "uniform").statistic < 0.01
    ranks = make_design(study([("a", "c", 0.5)], of="ranks"), "sobol", 1 << 14, 0, 1).values
    assert stats.spearmanr(ranks[:, 0], ranks[:, 2]).statistic == pytest.approx(0.5, abs=0.01)
    plain = make_design(study([]), "sobol", 64, 0, 1).values
    np.testing.assert_array_equal(ranks[:64, 1], plain[:, 1])  # who is independent is untouched, to the bit
    for sampler in ("saltelli", "morris", "grid"):
        with pytest.raises(InputError, match="takes independent parameters, and a, b are correlated"):
            make_design(study([("a", "b", 0.5)]), sampler, 4, 0)


def test_there_and_back() -> None:
    joint = Joint.of(study([("a", "b", 0.5), ("b", "c", -0.4)]))
    u = np.random.default_rng(0).standard_normal((500, 3))
    np.testing.assert_allclose(joint.points(joint.values(u)), u, atol=1e-9)
    unit = np.random.default_rng(1).random((500, 3))
    np.testing.assert_allclose(joint.to_unit(joint.from_unit(unit)), unit, atol=1e-9)


def test_the_density_of_two_normals_is_that_of_scipy() -> None:
    three = study([("a", "c", 0.6)], of="normals")
    joint = Joint.of(three)
    theta = joint.values(np.random.default_rng(2).standard_normal((50, 3)))
    log = sum(p.logpdf(theta[:, j]) for j, p in enumerate(joint.priors)) + joint.log_copula(theta)
    mu, sigma = joint.priors[0].log_parameters()  # type: ignore[attr-defined]
    both = np.column_stack([(np.log(theta[:, 0]) - mu) / sigma, (theta[:, 2] + 1) / 3])
    exact = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]]).logpdf(both)
    np.testing.assert_allclose(log, exact - np.log(sigma * theta[:, 0]) - np.log(3.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("a", "b", 0.9), ("b", "c", 0.9), ("a", "c", -0.5)], "not positive definite"),
        ([("a", "b", 1.0)], "correlations.pairs.*correlation: 1.0 must lie between -1 and 1"),
        ([("a", "d", 0.1)], "no parameter `d`"),
        ([("a", "a", 0.1)], "takes two different parameters"),
        ([("a", "b", 0.1), ("b", "a", 0.2)], "b and a stand there twice"),
        ([("a", "b", -0.99)], "a and b: a correlation of -0.99 is out of reach"),
    ],
)
def test_faults(pairs: list[tuple[str, str, float]], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        study(pairs)


def test_what_is_resolved_resolves_to_itself() -> None:
    three = study([("a", "b", 0.5)])
    assert normal(three).digest == three.digest


def test_canonical_variables_are_independent_and_gradients_go_back() -> None:
    three = study([("a", "b", 0.5), ("b", "c", -0.4)])
    canonical = Canonical.of_study(three)
    theta = Joint.of(three).values(np.random.default_rng(3).standard_normal((20_000, 3)))
    points = canonical.points(theta)
    np.testing.assert_allclose(np.cov(points.T), np.eye(3), atol=0.03)
    at, step = theta[:5], 1e-6
    jacobian = np.stack(
        [(canonical.points(at + step * e) - canonical.points(at - step * e)) / (2 * step) for e in np.eye(3)], axis=2
    )
    np.testing.assert_allclose(
        canonical.to_parameters(np.tile(np.eye(3), (5, 1, 1)), at), jacobian, rtol=1e-4, atol=1e-6
    )


def test_surrogate_sensitivity_and_reliability_under_dependence(tmp_path: Any) -> None:
    """c' = c + b of two correlated normals: variance 1 + 1 + 2 r."""
    gauss = {"kind": "normal", "mean": 0, "std": 1}
    r, limit = 0.6, {"high": {"quantity": "y", "threshold": 2 * math.sqrt(3.2)}}
    tables = {
        "parameters": {name: {"prior": gauss} for name in ("a", "b")},
        "model": {
            "kind": "benchmark",
            "function": "linear-gaussian",
            "inputs": ["a", "b"],
            "outputs": ["y"],
            "matrix": [[1, 1]],
        },
        "limits": limit,
    }
    two = study([("a", "b", r)], **tables)
    ledger = percuss.open_ledger(tmp_path / "ledger", progress=False, jobs=1)
    campaign = ledger.run(ledger.design(two, 60, skip=1))
    surrogate = ledger.surrogate(campaign, family="chaos", folds=2, bootstrap=0)
    result = ledger.reliability(surrogate, method="importance", cv=0.05)
    assert result.event.content.estimate.probability == pytest.approx(stats.norm.sf(2.0), rel=0.15)
    computed = ledger.sensitivity(surrogate, groups={"both": ("a", "b")})
    # y = a + b: either tells (1 + r)^2 of 2 + 2 r, and leaves 1 - r^2 of it once the other is known.
    table = computed.table("indices").filter(pl.col("parameter") == "a")
    shares = dict(zip(table["measure"], table["value"], strict=True))
    assert shares["first"] == pytest.approx((1 + r) / 2, abs=0.01)
    assert shares["total"] == pytest.approx((1 - r) / 2, abs=0.01)
    assert shares["shapley"] == pytest.approx(0.5, abs=0.01)
    assert computed.table("groups")["closed"].to_list() == pytest.approx([1.0], abs=1e-6)
    assert "Shapley effects share it out" in " ".join(computed.event.content.notes)
    for method in ("expansion", "morris"):
        with pytest.raises(InputError, match=f"method {method}: takes independent parameters"):
            ledger.sensitivity(surrogate, method=method)
    assert "a, b are correlated" in " ".join(ledger.sensitivity(campaign).event.content.notes)


@pytest.mark.filterwarnings("ignore::percuss.NotTrusted")
def test_a_posterior_with_a_correlated_prior(tmp_path: Any) -> None:
    """y = a is measured; b is known by its correlation with a alone: its mean is r times that of a."""
    gauss = {"kind": "normal", "mean": 0, "std": 1}
    tables = {
        "parameters": {name: {"prior": gauss} for name in ("a", "b")},
        "model": {
            "kind": "benchmark",
            "function": "linear-gaussian",
            "inputs": ["a", "b"],
            "outputs": ["y", "z"],
            "matrix": [[1, 0], [1, 1]],
        },
        "calibration": {"all": {"outputs": ["y"]}},
    }
    two = study([("a", "b", 0.8)], **tables)
    ledger = percuss.open_ledger(tmp_path / "ledger", progress=False, jobs=1)
    surrogate = ledger.surrogate(ledger.run(ledger.design(two, 40, skip=1)), family="chaos", folds=2, bootstrap=0)
    data = tmp_path / "y.csv"
    data.write_text("output,value,std\ny,1.0,0.5\n")
    posterior = ledger.calibrate(surrogate, observations=ledger.observe(two, data), evaluations=40_000)
    draws = ledger.session.load(posterior.event).flat()
    np.testing.assert_allclose(draws.mean(axis=0), [0.8, 0.64], atol=0.12)
    np.testing.assert_allclose(draws.std(axis=0), [math.sqrt(0.2), math.sqrt(1 - 0.64 * 0.8)], atol=0.1)
    assert posterior.event.content.not_compiled == "parameters are correlated"
