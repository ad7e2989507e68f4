"""Which of several tests is expected to tell most, for its cost."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import Result


@dataclass(frozen=True, kw_only=True)
class MeasurementFacts:
    """An output of a case, measured so often; `std` as it was asked for, in SI, None: that of the data."""

    case: str
    output: str
    repeats: Count
    std: float | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateFacts:
    """A test, as it was asked for."""

    name: str
    measurements: tuple[MeasurementFacts, ...]
    cost: float


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A measurement of a candidate of which nothing can be foreseen, and why."""

    candidate: str
    measurement: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class TriedFacts:
    """A quantity over the twins of the advised test: the mean contraction that was foreseen for their data, the one
    that was achieved, and the standard error of the difference.
    """

    quantity: str
    foreseen: float
    achieved: float
    error: float


@dataclass(frozen=True, kw_only=True)
class AdviceComputed(Result):
    """`advised` of all `candidates` tells most `about` the quantities for its cost.

    Estimated from `outer` and `inner` draws of the posterior. Of `twins` of the advised test `converged` were
    calibrated on again, for `tried`.
    """

    about: tuple[str, ...]
    candidates: tuple[CandidateFacts, ...]
    advised: str
    outer: Count
    inner: Count
    twins: Count = 0
    converged: Count = 0
    tried: tuple[TriedFacts, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


def summary(body: AdviceComputed) -> str:
    """In a few words."""
    return f"{body.advised}, of {len(body.candidates)}, about {', '.join(body.about)}"


KIND = Kind(
    "advice.computed",
    AdviceComputed,
    "which of several tests is expected to give most information for its cost",
    needs={"study": ("study.registered",), "posterior": ("posterior.sampled",)},
    tables={
        "candidates": Table(
            "a candidate, the best first: expected information gain in nats with its Monte Carlo error, the same for "
            "its cost, the closed form of Gaussian quantities, what bias correction and smoothing moved, and "
            "how many draws carry a density at least",
            {
                "candidate": "",
                "cost": "1",
                "gain": "1",
                "gain_error": "1",
                "per_cost": "1",
                "per_cost_error": "1",
                "gaussian": "1",
                "correction": "1",
                "smoothing": "1",
                "effective": "1",
            },
        ),
        "contractions": Table(
            "a quantity and a candidate: 1 - expected variance over that there is now, with its Monte Carlo error",
            {"candidate": "", "quantity": "", "contraction": "1", "error": "1"},
        ),
        "twins": Table(
            "a quantity of a twin of the advised test: variances, over that there is now, foreseen for its data and "
            "achieved; none where its posterior did not converge",
            {"twin": "1", "quantity": "", "foreseen": "1", "achieved": "1"},
            always=False,
        ),
    },
    summary=summary,
    seeded=True,
    made_by="advise",
    repeat="percuss.work.advise:repeat_advice",
    asked=("about", "candidates", "outer", "inner", "twins"),
)
