"""Whether parameters that should be constant drift through data, and what that says of extrapolation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from percuss.kinds.body import Count, Value
from percuss.kinds.kind import Kind, Table
from percuss.kinds.posterior_sampled import EvidenceFacts
from percuss.kinds.trusted import SINCE_TRUST, Result


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """The record that was followed."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ObservedChannel:
    """A quantity that was measured, and the variance of its noise."""

    quantity: str
    noise_variance: float


@dataclass(frozen=True, kw_only=True)
class PathFacts:
    """The path of a parameter: its spread beside the filter's own, and how far it wanders."""

    name: str
    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    own_std: float | None
    wander: float | None
    slope_per_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class ChannelFacts:
    """What the innovations of a channel say of the model."""

    name: str
    used: Count
    surprise: float | None
    surprise_z: float | None = None
    trend_z: float | None = None
    period_probability: float | None = None
    period_s: float | None = None
    memory_probability: float | None = None


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A drift of the ladder: likelihood of the data, and how far each parameter wanders."""

    drift: float
    log_likelihood: float | None
    wander: dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class ConstantRow:
    """A parameter of the constant calibration."""

    name: str
    mode: float | None
    mean: float | None
    std: float | None
    low: float | None
    median: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class ConstantCalibration:
    """The calibration with constant parameters beside it."""

    samples: Count
    log_posterior: float | None
    parameters: tuple[ConstantRow, ...]
    evidence: dict[str, EvidenceFacts]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PredictionScore:
    """How the constant calibration predicts a part of the data."""

    part: str
    quantity: str
    rmse: float | None
    rmse_relative: float | None
    within_three_std: float | None


@dataclass(frozen=True, kw_only=True)
class ValidationComputed(Result):
    """What was let drift, how it was followed, what came out, and the verdict on extrapolation with its reasons.

    `asked` is what was asked for beside the study, None where that was not recorded.
    """

    model: str
    tracked: tuple[str, ...]
    verdict: str
    reasons: tuple[str, ...]
    parameters: tuple[PathFacts, ...]
    samples: Count
    case: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    observed: tuple[ObservedChannel, ...] = ()
    start: dict[str, tuple[float, ...]] = field(default_factory=dict)
    step_s: float | None = None
    settled_from_s: float | None = None
    substeps: Count = 1
    drift: float | None = None
    gaps: str = ""
    used: Count = 0
    skipped: Count = 0
    log_likelihood: float | None = None
    innovations: tuple[ChannelFacts, ...] = ()
    ladder: tuple[Rung, ...] = ()
    gain: float | None = None
    thresholds: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    calibration: ConstantCalibration | None = None
    predictions: tuple[PredictionScore, ...] = ()
    data: DataFile | None = None
    asked: dict[str, Any] | None = None


def spoken(verdict: str) -> str:
    """A verdict in words that stand alone: "no evidence against" lacks what it is about."""
    return f"{verdict} extrapolation" if verdict.endswith("against") else verdict


KIND = Kind(
    "validation.computed",
    ValidationComputed,
    "whether parameters that should be constant drift through the data, and whether the model may be extrapolated",
    needs={"study": ("study.registered",)},
    tables={
        "record": Table("an instant of the record", {"t": "s"}),
        "course": Table("an instant: states with their standard deviations, innovations", {"t": "s"}),
        "ladder": Table("a parameter at a drift of the ladder", {"drift": "1", "log_likelihood": "1", "name": ""}),
        "ladder_courses": Table("an instant at a drift of the ladder", {"t": "s", "drift": "1"}),
        "innovations": Table("a channel at a drift of the ladder", {"drift": "1", "name": ""}),
        "predictions": Table("an instant of a prediction", {"t": "s", "part": "", "quantity": ""}, always=False),
        "draws": Table("a draw of the constant calibration", always=False),
    },
    summary=lambda body: f"{body.model}: {spoken(body.verdict)}",
    version=2,
    upcasters=SINCE_TRUST,
    made_by="validate",
    load="percuss.validation.storage:load_validation",
    repeat="percuss.work.repeat_validation:repeat_validation",
    asked=("model", "tracked", "case", "values", "start", "thresholds", "asked"),
)
