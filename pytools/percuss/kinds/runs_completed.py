"""Outputs of a batch of runs of one case of a design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import OUTPUTS, QUANTITIES, Kind, Table
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class RunsCompleted(Body):
    """Which samples; `program` says what was executed, for models that run one."""

    case: str
    samples: tuple[Count, ...]
    program: dict[str, Any] | None = None


TABLES = {
    "runs": Table("a run", {"sample": "1"}, (OUTPUTS,)),
    "curves": Table("an instant of a run", {"sample": "1"}, (QUANTITIES,), always=False),
    "printed": Table("a text that a run printed", {"sample": "1", "stream": "", "text": ""}, always=False),
}

KIND = Kind(
    "runs.completed",
    RunsCompleted,
    "outputs of a batch of runs of one case of a design",
    needs={"study": ("study.registered",), "design": ("design.created",)},
    tables=TABLES,
    summary=lambda body: f"case {body.case}, {counted(len(body.samples), 'run')}",
    made_by="run",
    repeat="percuss.work.repeat:repeat_run",
    parts=lambda body: len(body.samples),
    unrepeatable="percuss.work.repeat:why_not",
    asked=("case", "samples", "program"),
    batch="run",
)
