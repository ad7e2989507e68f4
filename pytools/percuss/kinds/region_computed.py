"""Where the time histories of a design's runs lie, and how well the runs tell."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import SINCE_TRUST, Result


@dataclass(frozen=True, kw_only=True)
class Share:
    """Of the variance of a curve over its axis, what one source has of it by itself and in all."""

    first: float
    total: float


@dataclass(frozen=True, kw_only=True)
class CurveFacts:
    """One curve of one case: runs, factor that widens the pointwise region to hold whole histories, norm."""

    case: str
    curve: str
    runs: Count
    factor: float
    norm: float
    error: float
    split: dict[str, Share] | None = None


@dataclass(frozen=True, kw_only=True)
class RegionComputed(Result):
    """Which curves of which cases over which axis; `sources` are those the variance was split by."""

    curves: tuple[str, ...]
    cases: tuple[str, ...]
    level: float = 0.9
    axis: str
    facts: tuple[CurveFacts, ...]
    sources: tuple[str, ...]


PLACE = {"case": "", "curve": "", "axis": ""}
KIND = Kind(
    "region.computed",
    RegionComputed,
    "confidence regions of the time histories of a design's runs, and their convergence",
    needs={
        "study": ("study.registered",),
        "design": ("design.created",),
        "campaign": ("campaign.completed",),
    },
    tables={
        "region": Table("a place on the axis of a curve", PLACE),
        "convergence": Table("the norm over the first so many runs", {"case": "", "curve": "", "runs": "1"}),
        "split": Table("a source at a place of a curve", PLACE | {"parameter": ""}, always=False),
    },
    summary=lambda body: ", ".join(body.curves),
    version=2,
    upcasters=SINCE_TRUST,
    repeat="percuss.work.region:repeat_region",
    made_by="region",
    asked=("curves", "cases", "level"),
)
