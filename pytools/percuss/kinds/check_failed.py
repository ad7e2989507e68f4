"""A regression study moved, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.check_passed import CheckPassed, summary
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class CheckFailed(CheckPassed):
    """As a check that passed, with values that do not hold."""


KIND = Kind(
    "check.failed",
    CheckFailed,
    "a regression study did not give the expected values, and by how much",
    needs={"study": ("study.registered",)},
    summary=summary,
    made_by="check",
    repeat="percuss.work.repeat_check:repeat_check",
    asked=("name",),
)
