"""Calibrations of twin data: whether truths lie in their posteriors as often as these claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import Result
from percuss.spelling import counted

Maker = Literal["surrogate", "simulator"]


@dataclass(frozen=True, kw_only=True)
class TwinCoverage:
    """How many truths lie `inside` the central interval of that mass, and the 95 % interval of their share."""

    mass: float
    inside: Count
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class RankFacts:
    """A quantity: how likely uniform ranks stray at least as far, and how often intervals held the truth."""

    name: str
    p_value: float
    coverage: tuple[TwinCoverage, ...]


@dataclass(frozen=True, kw_only=True)
class TwinsChecked(Result):
    """What was asked for (`twins`, data made by `made_by`, errors `noise` times as large as the likelihood says), how
    many twins were `ranked` among `draws`, and what came of each quantity.
    """

    block: str
    calibration: dict[str, Any]
    twins: Count
    made_by: Maker
    noise: float
    draws: Count
    sampler: str
    settings: dict[str, int | float]
    stopping: dict[str, int | float]
    unconverged: Count
    failed: Count
    ranked: Count
    evaluations: Count
    false_alarms: float
    quantities: tuple[RankFacts, ...]
    notes: tuple[str, ...] = ()


def summary(body: TwinsChecked) -> str:
    """In a few words."""
    least = min((item.p_value for item in body.quantities), default=None)
    found = "" if least is None else f", least p-value {least:.2g}"
    return f"{body.block}: {counted(body.ranked, 'twin')} by {body.made_by}{found}"


KIND = Kind(
    "twins.checked",
    TwinsChecked,
    "calibrations of twin data: whether posteriors contain the truth as often as they claim",
    needs={
        "study": ("study.registered",),
        "observations": ("observations.imported",),
        "surrogate": ("surrogate.fitted",),
    },
    tables={
        "ranks": Table(
            "a quantity of a twin; no rank where its posterior did not converge",
            {"twin": "1", "quantity": "", "truth": "", "rank": "1"},
        )
    },
    summary=summary,
    seeded=True,
    repeat="percuss.work.trust:repeat_twins",
    made_by="trust",
    asked=("block", "twins", "made_by", "noise"),
)
