"""Sample points of a study's parameters, for some of its cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Body, Count, Value
from percuss.kinds.kind import PARAMETERS, Kind, Table
from percuss.spelling import counted

# The sampler of designs whose runs were made elsewhere.
IMPORTED = "imported"
# The sampler of designs whose points a result chose as it went, each call a design of its own.
DIRECT = "direct"


@dataclass(frozen=True, kw_only=True)
class DesignCreated(Body):
    """How the points were chosen; `fixed` are inputs held the same in every run, `curves` keeps histories."""

    sampler: str
    n: Count
    names: tuple[str, ...]
    cases: tuple[str, ...]
    fixed: dict[str, Value]
    skip: Count = 0
    options: dict[str, Any]
    curves: bool = False


KIND = Kind(
    "design.created",
    DesignCreated,
    "sample points of a study's parameters",
    needs={"study": ("study.registered",)},
    tables={
        "design": Table(
            "a sample: values of the parameters, and their quantiles as `unit:NAME`; where its motion is mixed from "
            "seeds, `mixture:seeds` and `mixture:weights`",
            {"sample": "1"},
            (PARAMETERS,),
        )
    },
    summary=lambda body: f"{body.sampler}, {counted(body.n, 'point')}",
    seeded=True,
    repeat="percuss.work.repeat_design:repeat_design",
    made_by="design",
    load="percuss.designs.design:load_design",
    asked=("sampler", "n", "skip", "options", "cases", "fixed", "curves"),
)
