"""Verdicts of fragilities: what a wrong curve must fail, and how often a right one does."""

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.fragility.compute import Request, fragility_of
from percuss.fragility.curves import Observed
from percuss.fragility.hazard import Hazard, power_law


def runs(count: int, seed: int, low: float = 0.5, high: float = 8.0, kink: bool = False) -> Observed:
    """Demand x over a lognormal capacity of median 2; `kink`: a third of all structures never shows damage."""
    generator = np.random.Generator(np.random.PCG64(seed))
    x = np.exp(generator.uniform(np.log(low), np.log(high), count))
    demand = x / (2.0 * np.exp(0.3 * generator.standard_normal(count)))
    if kink:
        demand = np.where(generator.uniform(size=count) < 1 / 3, 0.01, demand)
    return Observed(x, demand, np.arange(count))


LAW = power_law(1e-3, 6.0, 1e-4, 1.0)


def failed(observed: Observed, hazard: Hazard | None = None, **keys: object) -> set[str]:
    request = Request({"damage": 1.0}, draws=50, **keys)  # type: ignore[arg-type]
    return {verdict.gate for verdict in fragility_of(observed, request, hazard).verdicts if not verdict.passed}


def test_right_curves_pass_nearly_always() -> None:
    """The shape is tested at 1 %: of 30 right sets at most 3 fail, in 99.98 % of cases."""
    alarms = [failed(runs(200, seed)) for seed in range(30)]
    assert sum(bool(gates) for gates in alarms) <= 3


def test_a_curve_that_is_not_lognormal_is_caught() -> None:
    """A third that is never damaged: the curve ends at 2/3, and a lognormal one cannot."""
    assert sum("lognormal" in failed(runs(400, seed, kink=True)) for seed in range(10)) >= 8


def test_few_runs_of_either_kind_are_caught() -> None:
    observed = runs(200, 1)
    rows = np.concatenate([np.flatnonzero(observed.demand <= 1), np.flatnonzero(observed.demand > 1)[:4]])
    assert "exceedances" in failed(observed.take(rows))


def test_what_lies_outside_of_the_intensities_is_caught() -> None:
    assert "extrapolation" in failed(runs(400, 2, low=0.5, high=1.5), method="cloud")
    assert "extrapolation" not in failed(runs(400, 2))
    # Weak motions are so frequent that much of the annual rate comes from intensities below those that were run.
    assert "extrapolation" in failed(runs(400, 3, low=1.7), LAW)
    assert "extrapolation" not in failed(runs(400, 3), LAW)


def test_a_hazard_curve_that_does_not_reach_the_damage_is_caught() -> None:
    """The law of before between ends of its own: about a median of 2 it must begin below 0.8 and end beyond 2."""
    for low, high, caught in ((0.5, 5.0, False), (1.6, 5.0, True), (0.05, 0.9, True), (3.0, 9.0, True)):
        ends = np.geomspace(low, high, 5)
        assert ("extrapolation" in failed(runs(400, 3), Hazard(ends, 1e-3 * ends**-6))) is caught, low


def test_curves_that_cross_are_caught() -> None:
    generator = np.random.Generator(np.random.PCG64(5))
    x = np.exp(generator.uniform(np.log(0.3), np.log(10), 300))
    # A mild state with wide scatter and a severe one with little: they cross where runs were made.
    mild = x > 2.0 * np.exp(1.0 * generator.standard_normal(300))
    severe = x > 2.6 * np.exp(0.1 * generator.standard_normal(300))
    demand = np.where(severe, 2.5, np.where(mild, 1.5, 0.5))
    observed = Observed(x, demand, np.arange(300))
    request = Request({"mild": 1.0, "severe": 2.0}, common=False, draws=50)
    assert [v.gate for v in fragility_of(observed, request).verdicts if "cross" in v.sentence] == ["extrapolation"]
    together = Request({"mild": 1.0, "severe": 2.0}, draws=50)
    assert not [v for v in fragility_of(observed, together).verdicts if "cross" in v.sentence]


def test_requests_are_checked() -> None:
    for keys, words in (
        ({"states": {}}, "at least one"),
        ({"states": {"a": 2.0, "b": 1.0}}, "rise"),
        ({"states": {"a": 1.0}, "method": "x"}, "method x"),
        ({"states": {"a": 1.0}, "level": 0.0}, "level 0"),
        ({"states": {"a": 1.0}, "draws": 1}, "draws 1"),
    ):
        with pytest.raises(InputError, match=words):
            Request(**keys)  # type: ignore[arg-type]
    observed = Observed(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.arange(2))
    with pytest.raises(InputError, match="above 0"):
        fragility_of(observed, Request({"a": 1.5}))
