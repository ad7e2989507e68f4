"""A regression study gave what it should."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One value: what it should be, what it is (a word where that is no number), and whether that holds."""

    case: str
    output: str
    statistic: str
    expected: float | str
    found: float | str
    tolerance: float
    holds: bool
    because: str


@dataclass(frozen=True, kw_only=True)
class CheckPassed(Body):
    """The name of the check, and every value compared."""

    name: str
    compared: Count
    moved: Count
    values: tuple[Compared, ...]


def summary(body: CheckPassed) -> str:
    """In a few words."""
    return f"{body.name}: {counted(body.compared, 'value')}, {body.moved} moved"


KIND = Kind(
    "check.passed",
    CheckPassed,
    "a regression study gave the expected values",
    needs={"study": ("study.registered",)},
    summary=summary,
    made_by="check",
    repeat="percuss.work.repeat_check:repeat_check",
    asked=("name",),
)
