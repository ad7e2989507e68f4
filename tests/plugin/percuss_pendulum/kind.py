"""The kind `period.timed`."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class PeriodTimed(Body):
    """A period and the error of the watch."""

    period_s: float
    tolerance_s: float


KIND = Kind(
    "period.timed",
    PeriodTimed,
    "a period was timed",
    needs={"study": ("study.registered",)},
    summary=lambda body: f"{body.period_s:.4g} s",
    made_by="time-pendulum",
)
