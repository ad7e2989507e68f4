"""Surrogates of all outputs of a design's runs, with their errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from percuss.kinds.body import Count
from percuss.kinds.kind import PARAMETERS, Kind, Table
from percuss.kinds.trusted import SINCE_TRUST, Result
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Of a surrogate of whole curves: which quantity over which axis, and what its modes leave out, by case."""

    quantity: str
    axis: str
    modes: Count
    reconstruction_error: dict[str, float]
    held_out_error: dict[str, float] = field(default_factory=dict)

    def left_out(self) -> dict[str, float]:
        """What the modes leave out of the curves, by case: of other runs where there are such."""
        return self.reconstruction_error | self.held_out_error


@dataclass(frozen=True, kw_only=True)
class SurrogateFitted(Result):
    """What was fitted to what. `points` counts points, `failed` runs that failed, `duplicates` runs that repeat one."""

    names: tuple[str, ...]
    cases: tuple[str, ...]
    points: Count
    settings: dict[str, Any]
    outputs: Count = 0
    failed: Count = 0
    duplicates: Count = 0
    families: tuple[str, ...] = ()
    largest_error: float | None = None
    curves: Curves | None = None


TERMS = {"column": "1", "degrees": "", "coefficient": "1"}
KIND = Kind(
    "surrogate.fitted",
    SurrogateFitted,
    "surrogates of all outputs of a design's runs, with their errors",
    needs={
        "study": ("study.registered",),
        "design": ("design.created",),
        "campaign": ("campaign.completed",),
    },
    tables={
        "outputs": Table("an output of a case: family, errors over its variance, facts of the fit"),
        "points": Table("a point, in canonical variables", {"group": "1", "canonical": ""}),
        "residuals": Table("an output at a point: run, fitted, left out", {"column": "1", "design": "", "sample": "1"}),
        "terms": Table("a term of an expansion", TERMS, always=False),
        "fold_terms": Table("a term of the expansion without a fold", TERMS | {"fold": "1"}, always=False),
        "replicates": Table("an expansion of a resampled design", {"column": "1"}, always=False),
        "holes": Table(
            "a run that failed", {"case": "", "design": "", "sample": "1", "failed": ""}, (PARAMETERS,), always=False
        ),
        "modes": Table("a place on the axis of curves", {"case": "", "place": ""}, always=False),
    },
    summary=lambda body: (
        f"{', '.join(body.families)}: {counted(body.outputs, 'output')}, {counted(body.points, 'point')}"
    ),
    version=2,
    upcasters=SINCE_TRUST,
    made_by="surrogate",
    load="percuss.surrogates.surrogate:load_surrogate",
    repeat="percuss.work.surrogate:repeat_surrogate",
    asked=("settings",),
)
