"""One run at finer steps and a tighter tolerance, and which outputs may be quoted."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count, Value
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import Result
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class PlanFacts:
    """How many levels, each finer by which factor; by which factor the tolerance is tightened at the last."""

    levels: Count
    refine: Count
    tighten: float


@dataclass(frozen=True, kw_only=True)
class NumericsFacts:
    """What a run of the study is computed with."""

    step: float
    tolerance: float | None
    name: str
    unit: str
    note: str


@dataclass(frozen=True, kw_only=True)
class OutputFacts:
    """An output at the finest step, its error there and at the study's own step, and whether it may be quoted."""

    name: str
    value: float
    change: float
    order: float | None
    error: float
    by_tolerance: float
    off: float
    tolerance: float
    digits: int | None
    enough: int | None
    quote: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ConvergenceChecked(Result):
    """Which run, how it was refined, and what became of each output."""

    case: str
    point: dict[str, Value]
    plan: PlanFacts
    numerics: NumericsFacts
    outputs: tuple[OutputFacts, ...]


def summary(body: ConvergenceChecked) -> str:
    """In a few words."""
    judged = [item.quote for item in body.outputs if item.quote != "diagnostic"]
    return f"case {body.case}, {judged.count('yes')} of {counted(len(judged), 'output')} may be quoted"


KIND = Kind(
    "convergence.checked",
    ConvergenceChecked,
    "one run at finer steps and a tighter tolerance, and which outputs may be quoted",
    needs={"study": ("study.registered",)},
    tables={
        "convergence": Table(
            "an output at a level", {"output": "", "level": "1", "step": "", "tolerance": "1", "value": ""}
        )
    },
    summary=summary,
    repeat="percuss.work.converge:repeat_convergence",
    made_by="converge",
    asked=("case", "point", "plan"),
)
