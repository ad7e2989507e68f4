"""Sensitivity indices, from a surrogate or straight from runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import SINCE_TRUST, Result


@dataclass(frozen=True, kw_only=True)
class IndicesComputed(Result):
    """Which parameters, by which methods, intervals of which `level`; `left_out` has outputs nothing is said of."""

    names: tuple[str, ...]
    methods: tuple[str, ...]
    level: float = 0.95
    n: Count | None = None
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


KIND = Kind(
    "indices.computed",
    IndicesComputed,
    "sensitivity indices, from a surrogate or straight from runs",
    needs={"study": ("study.registered",)},
    tables={
        "indices": Table(
            "a measure of a parameter for an output, with its interval",
            dict.fromkeys(("case", "output", "method", "measure", "parameter"), "")
            | dict.fromkeys(("value", "low", "high"), "1"),
        ),
        "second": Table(
            "a pair of parameters", {"case": "", "output": "", "first": "", "second": "", "value": "1"}, always=False
        ),
        "groups": Table("a group of parameters", {"case": "", "output": "", "group": ""}, always=False),
        "over_time": Table("a parameter at a place of a curve", {"case": "", "parameter": ""}, always=False),
    },
    summary=lambda body: ", ".join(body.methods),
    version=2,
    upcasters=SINCE_TRUST,
    repeat="percuss.work.sensitivity:repeat_indices",
    made_by="sensitivity",
    asked=("methods", "level", "n", "groups"),
)
