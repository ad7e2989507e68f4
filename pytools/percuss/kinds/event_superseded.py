"""An event is not to be used any more, and which one stands for it."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class EventSuperseded(Body):
    """Which event, by which other one if there is one, and why."""

    old: str = ""
    new: str | None = None
    reason: str = ""


KIND = Kind(
    "event.superseded",
    EventSuperseded,
    "an event is no longer to be used, and which one replaces it",
    needs={"old": ()},
    summary=lambda body: body.reason[:60],
    made_by="supersede",
)
