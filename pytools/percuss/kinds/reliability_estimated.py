"""The probability that a limit of a study is exceeded."""

from __future__ import annotations

from dataclasses import dataclass, field

from percuss.kinds.body import Count
from percuss.kinds.kind import PARAMETERS, Kind, Table
from percuss.kinds.trusted import Result


@dataclass(frozen=True, kw_only=True)
class ProbabilityFacts:
    """A probability of failure with its reliability index and interval, None where its error is not known.

    `sampling` and `surrogate` are the intervals of either error alone, None where there is no such.
    """

    probability: float
    index: float | None
    interval: tuple[float, float] | None
    cv: float | None
    sampling: tuple[float, float] | None = None
    surrogate: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class DesignPointFacts:
    """A design point: of which limit, its index, the parameters there in SI, and importance factors (sum 1)."""

    limit: str
    index: float
    values: dict[str, float]
    importance: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class SlopeFacts:
    """How the probability changes with a prior: importance factor, and derivatives to its mean and std, in SI."""

    parameter: str
    importance: float | None
    to_mean: float | None
    to_std: float | None


@dataclass(frozen=True, kw_only=True)
class LimitVerification:
    """Runs of the simulator near the limit surface: wrong verdicts of the surrogate, and the estimate put right.

    `correction` has the ends of what was added to the estimate, without the error of sampling.
    """

    runs: Count
    failed: Count
    wrong: Count
    expected_wrong: float
    probability: float
    index: float | None
    interval: tuple[float, float]
    correction: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class EpistemicFacts:
    """Over `draws` of the posterior: the spread of the probability given the parameters that data can tell."""

    draws: Count
    parameters: tuple[str, ...]
    aleatory: tuple[str, ...]
    median: float
    interval: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class DesignFacts:
    """The value of an input, in SI, at which the target probability is met, with its interval; `ends` of the search."""

    parameter: str
    unit: str
    target: float
    value: float
    interval: tuple[float, float]
    ends: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ReliabilityEstimated(Result):
    """`estimate` is None where it has not converged and that was not accepted.

    `basis`: study, surrogate or posterior. `runs` of the simulator and `evaluations` of the limit function, which are
    the same where there is no surrogate. `noise`: standard normal variables of what is random in a run beside its
    parameters, where the method was free to choose them; 0: every run drew its own from its place in its design.
    """

    limit: str
    basis: str
    method: str
    n: Count
    cv: float
    level: float
    options: dict[str, float]
    runs: Count
    evaluations: Count
    failed: Count
    estimate: ProbabilityFacts | None
    facts: dict[str, float] = field(default_factory=dict)
    design_points: tuple[DesignPointFacts, ...] = ()
    slopes: tuple[SlopeFacts, ...] = ()
    verification: LimitVerification | None = None
    verify: Count = 0
    draws: Count = 0
    epistemic: EpistemicFacts | None = None
    design: DesignFacts | None = None
    notes: tuple[str, ...] = ()
    noise: Count = 0
    # Importance factors without a design point count what failure moves; older ones count squares alone.
    by_moments: bool = False


def summary(body: ReliabilityEstimated) -> str:
    """In a few words."""
    if body.design:
        return f"{body.limit}: {body.design.parameter} for {body.design.target:.3g}"
    told = f"{body.estimate.probability:.3g}" if body.estimate else "not converged"
    return f"{body.limit} by {body.method}: {told}"


KIND = Kind(
    "reliability.estimated",
    ReliabilityEstimated,
    "the probability that a limit of a study is exceeded",
    needs={"study": ("study.registered",)},
    tables={
        "samples": Table(
            "a point of the estimate: its limit function, zero or below where it fails, and its weight",
            {"limit": "1", "weight": "1"},
            more=(PARAMETERS,),
        ),
        "draws": Table("a draw of the posterior", {"probability": "1"}, more=(PARAMETERS,), always=False),
        "levels": Table("a value of the designed input", {"value": "", "probability": "1"}, always=False),
    },
    summary=summary,
    seeded=True,
    made_by="reliability",
    repeat="percuss.work.reliability:repeat_reliability",
)
