"""A calibration: draws of the parameters given observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from percuss.kinds.body import Count
from percuss.kinds.kind import PARAMETERS, Kind, Table, Upcaster
from percuss.kinds.observations_imported import COLUMNS
from percuss.kinds.trusted import SINCE_TRUST, Result


@dataclass(frozen=True, kw_only=True)
class ParameterFacts:
    """One of the inferred: the unit it is shown in, its prior, and whether it is `of` the model or the discrepancy."""

    name: str
    unit: str
    prior: dict[str, Any]
    of: str = "model"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One parameter in SI; errors are those of Monte Carlo, `contraction` 1 - posterior over prior variance."""

    name: str
    mean: float | None
    std: float | None
    median: float | None
    mode: float | None
    interval: tuple[float | None, float | None]
    contraction: float | None
    mean_error: float | None = None
    std_error: float | None = None
    median_error: float | None = None
    interval_error: tuple[float | None, float | None] | None = None
    densest: tuple[float | None, float | None] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Point estimates and intervals of probability `mass`."""

    mass: float
    rows: tuple[Row, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    mode_log_posterior: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EvidenceFacts:
    """The logarithm of the evidence by one method; what speaks against it is in `notes`."""

    log_evidence: float | None
    error: float | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LooFacts:
    """Leave-one-out: expected log predictive density."""

    elpd: float | None
    elpd_error: float | None
    effective_parameters: float | None
    reliable: bool
    pareto_k: float | None


@dataclass(frozen=True, kw_only=True)
class ModeFacts:
    """A mode: its share of the posterior with its error, and the share of the draws."""

    at: tuple[float | None, ...]
    share: float | None
    error: float | None
    drawn: float | None


@dataclass(frozen=True, kw_only=True)
class ModesFacts:
    """The search for modes over the prior."""

    screened: Count
    climbs: Count
    evaluations: Count
    found: tuple[ModeFacts, ...]


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """A group of data that share a discrepancy."""

    name: str
    discrepancy: str
    entries: Count
    cases: tuple[str, ...]
    outputs: tuple[str, ...]
    unknowns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BandFacts:
    """How many data lie in their bands of probability `mass`; `error` is the binomial one of the share."""

    mass: float
    inside: Count
    error: float


@dataclass(frozen=True, kw_only=True)
class FitOf:
    """How some data fit: posterior predictive p-value and bands."""

    entries: Count
    p_value: float
    p_error: float
    bands: tuple[BandFacts, ...]
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class PriorDistance:
    """How far a parameter went from its prior, in its standard deviations; the prior's probability of as much."""

    name: str
    deviations: float
    tail: float


@dataclass(frozen=True, kw_only=True)
class FitFacts:
    """Whether the model explains the data."""

    all: FitOf
    groups: tuple[FitOf, ...]
    prior_distances: tuple[PriorDistance, ...]
    false_alarms: float


@dataclass(frozen=True, kw_only=True)
class CoverageFacts:
    """Shares of the draws outside the hull of the design, and much farther out than any design leaves."""

    outside: float
    beyond: float


@dataclass(frozen=True, kw_only=True)
class RoughOutput:
    """Standard deviations of an output in SI: its `roughness`, and what of its smooth part is not known."""

    case: str
    output: str
    unit: str
    roughness: float
    unlearnt: float


@dataclass(frozen=True, kw_only=True)
class LearntUnknown:
    """What is not known of the smooth part, in the mean and the standard deviation of an unknown: in standard
    deviations of the posterior.
    """

    name: str
    mean_error: float
    std_error: float


@dataclass(frozen=True, kw_only=True)
class RoughnessFacts:
    """Roughness of a simulator's outputs that counts as an error of them, as it was when sampling began.

    `correlation` is that of the roughness between the outputs; `length` that of the smooth part in standard deviations
    of the `fitted` runs. New runs at draws of the posterior scattered more than claimed by `excess` of the whole
    error's variance.
    """

    outputs: tuple[RoughOutput, ...]
    correlation: tuple[tuple[float, ...], ...]
    unknowns: tuple[LearntUnknown, ...]
    runs: Count
    fitted: Count
    length: float
    new_runs: Count
    failed: Count
    excess: float | None
    excess_error: float | None


@dataclass(frozen=True, kw_only=True)
class PosteriorSampled(Result):
    """Draws are in a table; `summary`, `evidence`, `loo` and `fit` are there only where convergence allows them.

    `growths`: by how much the variance of the error of each surrogate grew, after runs it was not shown; None where
    these were not asked, as before there was this field. `roughness`: None where it does not count as an error.
    """

    names: tuple[str, ...]
    parameters: tuple[ParameterFacts, ...]
    block: str
    calibration: dict[str, Any]
    sampler: str
    settings: dict[str, int | float]
    stopping: dict[str, int | float]
    converged: bool
    direct: bool
    reasons: tuple[str, ...]
    summary: Summary | None
    evidence: dict[str, EvidenceFacts]
    twin: dict[str, float] | None
    not_compiled: str | None = None
    chains: Count = 0
    draws: Count = 0
    evaluations: Count = 0
    acceptance: tuple[float | None, float | None] = (None, None)
    modes: ModesFacts | None = None
    loo: LooFacts | None = None
    groups: tuple[GroupFacts, ...] = ()
    fit: FitFacts | None = None
    coverage: tuple[CoverageFacts, ...] = ()
    growths: tuple[float, ...] | None = None
    roughness: RoughnessFacts | None = None
    notes: tuple[str, ...] = ()


def _error_of_each_datum(body: dict[str, Any]) -> dict[str, Any]:
    """Of a time when the error of a surrogate was taken for a new one of each datum: that is now a name."""
    block = body.get("calibration")
    if not isinstance(block, dict) or block.get("surrogate_error", True) is not True:
        return body
    return body | {"calibration": block | {"surrogate_error": "per-datum"}}


UPCASTERS: dict[int, Upcaster] = SINCE_TRUST | {2: _error_of_each_datum}


def summary(body: PosteriorSampled) -> str:
    """In a few words."""
    return f"{body.block}: {body.sampler}, {'converged' if body.converged else 'NOT CONVERGED'}"


KIND = Kind(
    "posterior.sampled",
    PosteriorSampled,
    "a calibration: draws of the parameters given observations",
    needs={"study": ("study.registered",), "observations": ("observations.imported",)},
    one_of={"surrogate": ("surrogate.fitted",), "runs": ("runs.completed", "runs.failed")},
    tables={
        "draws": Table("a draw", {"chain": "1", "draw": "1", "log_likelihood": "1", "log_prior": "1"}, (PARAMETERS,)),
        "diagnostics": Table(
            "a parameter, or the log posterior", {"quantity": "", "r_hat": "1", "ess_bulk": "1", "ess_tail": "1"}
        ),
        "data": Table(
            "a datum, its group and its leave-one-out",
            COLUMNS | {"group": "", "loo": "1", "loo_pit": "1", "pareto_k": "1"},
        ),
    },
    summary=summary,
    version=3,
    upcasters=UPCASTERS,
    seeded=True,
    made_by="calibrate",
    load="percuss.calibration.records:load_posterior",
    repeat="percuss.work.repeat_posterior:repeat_posterior",
    asked=("block", "calibration", "direct", "sampler", "settings", "stopping"),
)
