"""Calibrations held against each other."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.posterior_sampled import LooFacts
from percuss.kinds.trusted import SINCE_TRUST, Result
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class ChosenEvidence:
    """The evidence that was compared, and how it was had."""

    method: str
    log_evidence: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class ComparedFacts:
    """One of the calibrations."""

    id: str
    study: str
    block: str
    sampler: str
    converged: bool
    loo: LooFacts | None
    entries: Count
    evidence: ChosenEvidence | None


@dataclass(frozen=True, kw_only=True)
class BayesFactor:
    """The logarithm of a Bayes factor: positive speaks for the first."""

    first: str
    second: str
    log: float
    error: float | None
    words: str


@dataclass(frozen=True, kw_only=True)
class LooDifference:
    """By how much the first predicts data better that were left out."""

    first: str
    second: str
    difference: float
    error: float


@dataclass(frozen=True, kw_only=True)
class ComparisonMade(Result):
    """Factors and differences are there only for calibrations on the same data."""

    same_data: bool
    posteriors: tuple[ComparedFacts, ...]
    bayes_factors: tuple[BayesFactor, ...] = ()
    loo_differences: tuple[LooDifference, ...] = ()
    notes: tuple[str, ...] = ()


def _summary(body: ComparisonMade) -> str:
    """By name, where they have names of their own."""
    names = [item.block for item in body.posteriors]
    return " and ".join(names) if len(set(names)) == len(names) else counted(len(names), "posterior")


ROWS = dict.fromkeys(("posterior", "block", "parameter", "unit"), "")
KIND = Kind(
    "comparison.made",
    ComparisonMade,
    "a comparison of calibrations",
    needs={"posterior": ("posterior.sampled", "validation.computed")},
    tables={"posteriors": Table("a parameter of a posterior", ROWS)},
    summary=_summary,
    version=2,
    upcasters=SINCE_TRUST,
    repeat="percuss.work.compare:repeat_comparison",
    made_by="compare",
    load="percuss.calibration.records:load_comparison",
)
