"""Runs of a batch that failed, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds import runs_completed
from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class RunsFailed(Body):
    """Which samples failed, and why, by the number of the sample."""

    case: str
    samples: tuple[Count, ...]
    reasons: dict[str, str]
    program: dict[str, Any] | None = None


KIND = Kind(
    "runs.failed",
    RunsFailed,
    "runs of a batch that failed, each with its reason",
    needs={"study": ("study.registered",), "design": ("design.created",)},
    tables={"printed": runs_completed.TABLES["printed"]},
    summary=lambda body: f"case {body.case}, {len(body.samples)} failed",
    made_by="run",
    repeat="percuss.work.repeat:repeat_run",
    parts=lambda body: len(body.samples),
    unrepeatable="percuss.work.repeat:why_not",
    asked=("case", "samples", "program"),
    batch="run",
)
