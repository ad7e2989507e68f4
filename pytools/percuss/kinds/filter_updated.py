"""Weights of an ensemble by observations, and the parameters they identify."""

from __future__ import annotations

from dataclasses import dataclass, field

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.trusted import SINCE_TRUST, Result
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What was observed: from which file, in how many steps, which variables."""

    file: str
    sha256: str
    steps: Count
    variables: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Covariance:
    """The error of the observations: how it was said, and the factor of every standard deviation."""

    mode: str
    scale: float
    stds: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Identified:
    """One parameter under the last weights."""

    mean: float
    std: float
    q05: float
    q50: float
    q95: float
    most_probable: float


@dataclass(frozen=True, kw_only=True)
class MostProbable:
    """The sample of most weight."""

    design: str
    sample: Count
    weight: float


@dataclass(frozen=True, kw_only=True)
class FilterUpdated(Result):
    """Estimates are in `identified` where enough samples carry weight, else that is None."""

    names: tuple[str, ...]
    cases: tuple[str, ...]
    observed: Observed
    covariance: Covariance
    identified: dict[str, Identified] | None
    ess_target: float | None = None
    samples: Count = 0
    left_out: Count = 0
    effective: float = 0.0
    log_evidence: float | None = None
    probabilities: dict[str, float] = field(default_factory=dict)
    most_probable: MostProbable | None = None


def summary(body: FilterUpdated) -> str:
    """In a few words."""
    samples, steps = counted(body.samples, "sample"), counted(body.observed.steps, "step")
    return f"{samples} worth {body.effective:.3g}, {steps} of {body.observed.file}"


KIND = Kind(
    "filter.updated",
    FilterUpdated,
    "weights of an ensemble by observations, and the parameters they identify",
    needs={
        "study": ("study.registered",),
        "design": ("design.created",),
        "campaign": ("campaign.completed",),
    },
    tables={
        "weights": Table("a sample at a step", {"step": "1", "design": "", "sample": "1", "weight": "1"}),
        "steps": Table(
            "a step: what the weights are worth, and estimates as `mean:NAME`",
            {"step": "1", "effective": "1", "log_evidence": "1"},
        ),
        "observations": Table("an observed value", {"step": "1", "case": "", "variable": "", "place": "", "value": ""}),
        "covariance": Table(
            "a pair of variables at a step", {"step": "1", "first": "", "second": "", "value": ""}, always=False
        ),
        "mixture": Table("a component of the mixture fitted to the weights", always=False),
        "correlations": Table("a parameter and an output", {"case": "", "parameter": "", "output": ""}, always=False),
        "densities": Table("a value of a parameter", {"parameter": "", "value": "", "density": ""}, always=False),
        "pairs": Table(
            "a pair of values of two parameters",
            {"first": "", "second": "", "x": "", "y": "", "density": ""},
            always=False,
        ),
    },
    summary=summary,
    version=2,
    upcasters=SINCE_TRUST,
    repeat="percuss.work.repeat_filter:repeat_filter",
    made_by="filter",
    asked=("cases", "covariance", "ess_target"),
)
