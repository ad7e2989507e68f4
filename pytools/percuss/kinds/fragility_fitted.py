"""Probability of damage against intensity, from the runs of a design."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import Result


@dataclass(frozen=True, kw_only=True)
class StateFacts:
    """A damage state: threshold, runs that exceed it, lognormal curve; intervals by the bootstrap and by Bayes.

    `rate` is the mean annual rate, where there is a hazard.
    """

    name: str
    threshold: float
    exceeding: Count
    median: float
    dispersion: float
    median_bootstrap: tuple[float, float]
    median_bayes: tuple[float, float]
    dispersion_bootstrap: tuple[float, float]
    dispersion_bayes: tuple[float, float]
    rate: float | None = None
    rate_bootstrap: tuple[float, float] | None = None
    rate_bayes: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class FragilityFitted(Result):
    """Which output against which intensity, SI, in which cases; `motion` tells runs apart that share a motion.

    `hazard` are pairs of intensity and annual rate; `collapsed` are failed runs counted as collapses.
    """

    intensity: str
    output: str
    cases: tuple[str, ...]
    motion: str
    method: str
    dispersion: str
    level: float
    draws: Count
    runs: Count
    collapsed: Count
    lowest: float
    highest: float
    states: tuple[StateFacts, ...]
    hazard: tuple[tuple[float, float], ...] = ()


KIND = Kind(
    "fragility.fitted",
    FragilityFitted,
    "probability of damage against intensity, from the runs of a design",
    needs={
        "study": ("study.registered",),
        "design": ("design.created",),
        "campaign": ("campaign.completed",),
    },
    tables={
        "curves": Table(
            "a state at an intensity, with its band",
            {"state": "", "intensity": ""}
            | dict.fromkeys(
                ("probability", "bootstrap_low", "bootstrap_high", "bayes_low", "bayes_high"),
                "1",
            ),
        ),
        "points": Table("runs at or about an intensity", {"state": "", "intensity": "", "runs": "1", "exceeding": "1"}),
    },
    summary=lambda body: f"{body.output} against {body.intensity}: {', '.join(s.name for s in body.states)}",
    made_by="fragility",
    repeat="percuss.work.fragility:repeat_fragility",
    asked=("intensity", "output", "cases", "motion", "method", "dispersion", "level", "draws", "hazard"),
)
