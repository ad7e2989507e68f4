"""What a study's outputs are before and after the data, and whether the simulator agrees."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Count
from percuss.kinds.kind import Kind, Table
from percuss.kinds.observations_imported import COLUMNS
from percuss.kinds.trusted import SINCE_TRUST, Result


@dataclass(frozen=True, kw_only=True)
class Score:
    """Errors over the data of one axis, by which prediction, and the share of the data inside each band, by mass."""

    axis: str
    unit: str
    entries: Count
    rmse: dict[str, float | None]
    rmse_percent: dict[str, float | None]
    coverage: dict[str, float]
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class VerifiedOutput:
    """An output at the posterior: error of the surrogate beside what the likelihood allows; what data could tell."""

    case: str
    output: str
    observed: bool
    rms_error: float | None
    surrogate_std: float | None
    allowed_std: float | None
    ratio: float | None
    could_tell: float | None = None
    tells: float | None = None


@dataclass(frozen=True, kw_only=True)
class VerificationFacts:
    """Runs of the simulator at the posterior, and what they say of the surrogate."""

    design: str
    runs: Count
    failed: Count
    tolerance: float
    passed: bool
    worst: float | None
    outputs: tuple[VerifiedOutput, ...]
    kept: float | None = None
    enrichment: str | None = None


@dataclass(frozen=True, kw_only=True)
class PredictionMade(Result):
    """Predictions are in tables; `verification` is None where none was asked for."""

    draws: Count
    scores: tuple[Score, ...]
    verification: VerificationFacts | None
    notes: tuple[str, ...] = ()


def summary(body: PredictionMade) -> str:
    """In a few words."""
    return f"{body.draws} draws" + (", verified" if body.verification else "")


BANDS = dict.fromkeys(("mean", "q025", "q25", "q50", "q75", "q975"), "")
KIND = Kind(
    "prediction.made",
    PredictionMade,
    "predictions of a study's outputs from prior and posterior, and whether the simulator agrees",
    needs={"study": ("study.registered",), "posterior": ("posterior.sampled",)},
    tables={
        "outputs": Table("an output, before or after the data", {"case": "", "output": "", "when": ""} | BANDS),
        "data": Table("a datum, before or after the data", COLUMNS | {"group": "", "when": ""} | BANDS),
        "verification": Table(
            "an output of a run of the simulator", {"sample": "1", "label": "", "case": "", "output": ""}, always=False
        ),
        "curves": Table(
            "a place of a curve, before or after the data", {"case": "", "quantity": "", "place": ""}, always=False
        ),
    },
    summary=summary,
    version=2,
    upcasters=SINCE_TRUST,
    made_by="predict",
    load="percuss.calibration.records:load_prediction",
    repeat="percuss.work.predict:repeat_prediction",
    asked=("draws",),
)
