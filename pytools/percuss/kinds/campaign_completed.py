"""Every run of a design is in: the list of its batches, and the digest of all outputs."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class CampaignCompleted(Body):
    """How many runs finished and failed; `content` is the digest of the table of all of them."""

    completed: Count
    failed: Count
    content: str


KIND = Kind(
    "campaign.completed",
    CampaignCompleted,
    "a design whose runs are complete: the list of its batches",
    needs={
        "study": ("study.registered",),
        "design": ("design.created",),
        "runs": ("runs.completed", "runs.failed"),
    },
    summary=lambda body: f"{counted(body.completed, 'run')}, {body.failed} failed",
    made_by="run",
    load="percuss.execution.results:load_campaign",
)
