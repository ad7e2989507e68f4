"""What a method is asked for, and what it gives: probability, interval, cost, and whether it has converged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from percuss.errors import AnswerIsNo
from percuss.settings import Setting, clean_setting

Array = NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """`n`: most evaluations, or those of a step, as the method says. `cv`: the coefficient of variation that is asked
    for. `level`: of the interval. `options`: what only this method takes.
    """

    n: int
    cv: float = 0.1
    level: float = 0.95
    seed: int = 0
    options: Mapping[str, float] = field(default_factory=dict)

    def option(self, setting: Setting) -> Any:
        """What was asked for, or the default."""
        return clean_setting(setting, self.options.get(setting.name, setting.default))


@dataclass(frozen=True, eq=False)
class Samples:
    """Points (n, d), limit function (n,) and weights (n,): the probability is the sum of weights where it is <= 0.

    `weights` are NaN where an estimate is no such sum.
    """

    u: Array
    values: Array
    weights: Array


@dataclass(frozen=True, eq=False)
class DesignPoint:
    """The point of an element's limit surface nearest to the origin, with its index and direction."""

    u: Array
    beta: float
    alpha: Array
    element: int = 0


@dataclass(frozen=True, eq=False)
class Estimate:
    """A probability of failure. `interval` is None where the method is an approximation without a known error.

    `reason` says why it has not converged; empty: it has.
    """

    probability: float
    interval: tuple[float, float] | None
    cv: float | None
    reason: str
    samples: Samples
    design_points: tuple[DesignPoint, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reason


def reliability_index(probability: float) -> float:
    """beta = -Phi^-1(p)."""
    return -float(ndtri(probability))


def binomial_interval(failures: int, n: int, level: float) -> tuple[float, float]:
    """Jeffreys' interval of a share; its coverage is near the level for rare failures (Brown, Cai, DasGupta, 2001)."""
    a, b, tail = failures + 0.5, n - failures + 0.5, (1 - level) / 2
    low = float(betaincinv(a, b, tail)) if failures else 0.0
    high = float(betaincinv(a, b, 1 - tail)) if failures < n else 1.0
    return low, high


def lognormal_interval(probability: float, cv: float, level: float, dof: float = math.inf) -> tuple[float, float]:
    """Interval of an estimate that is a product or a sum of weights: its logarithm is near to normal."""
    tail = 0.5 + level / 2
    factor = float(ndtri(tail)) if math.isinf(dof) else float(stdtrit(dof, tail))
    half = math.exp(min(factor * math.sqrt(math.log1p(cv * cv)), 700.0))
    return probability / half, min(probability * half, 1.0)


def too_wide(cv: float, asked: float, n: int) -> str:
    """The reason why an estimate is not good enough; empty: it is."""
    if cv <= asked:
        return ""
    return f"the coefficient of variation is {cv:.2g} after {n} evaluations, {asked:g} is asked for"


# A block is at least this part of what was drawn before.
GROWTH = 0.25


def next_block(n: int, cv: float, asked: float) -> int:
    """Draws that are missing by what is known so far, at most as many again.

    Few looks: who looks after every draw stops where the spread has come out small, and says too little of it.
    """
    missing = n if math.isinf(cv) else math.ceil(n * (cv / asked) ** 2) - n
    return max(min(missing, n), math.ceil(GROWTH * n))


class OneSidedError(AnswerIsNo):
    """Nothing failed, or everything: `probability` is 0 or 1 as far as can be told."""

    def __init__(self, message: str, probability: float, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.probability = probability


class TooFewError(AnswerIsNo):
    """More evaluations are needed for any estimate than are allowed."""


class MediansFailError(AnswerIsNo):
    """A method that starts from the medians of the parameters, and these fail already."""

    def __init__(self) -> None:
        super().__init__(
            "the medians of the parameters fail already: there is no safe point to search from",
            hint="--method monte-carlo",
        )


def never_reached(n: int, level: float, independent: int | None = None) -> OneSidedError:
    """No evaluation failed: no estimate, and a bound where some number of draws are independent ones of the whole."""
    bound = ""
    if independent is not None:
        bound = f": its probability is below {-math.log(1 - level) / independent:.2g} at the level {level:g}"
    return OneSidedError(
        f"the limit was never reached in {n} evaluations{bound}",
        0.0,
        "more evaluations (--n), or --method subset for what is rare; is the threshold in the right unit?",
    )


def always_reached(n: int) -> OneSidedError:
    """All evaluations failed."""
    return OneSidedError(
        f"all of {n} evaluations fail: the limit lies on the wrong side of what the study does",
        1.0,
        'is `fails` the right way round ("above" or "below"), and the threshold in the right unit?',
    )


def normal_cdf(x: float) -> float:
    """Phi."""
    return float(ndtr(x))
