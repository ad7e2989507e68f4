"""The estimate of reliability itself, from what it depends on alone: `percuss.work.reliability` appends it, `audit`
does it again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from percuss.errors import InputError
from percuss.inference.predictive import spread_draws
from percuss.kinds.reliability_estimated import (
    DesignFacts,
    DesignPointFacts,
    EpistemicFacts,
    ProbabilityFacts,
    ReliabilityEstimated,
    SlopeFacts,
)
from percuss.ledger.event import Event
from percuss.reliability.design_by_weights import design_by_weights
from percuss.reliability.design_value import Designed, design_value
from percuss.reliability.epistemic import Predictive, predictive
from percuss.reliability.estimate import (
    Array,
    Estimate,
    OneSidedError,
    Samples,
    Settings,
    normal_cdf,
    reliability_index,
)
from percuss.reliability.methods import estimate_anyway, estimate_by, method_module
from percuss.reliability.slopes import Slopes, slopes
from percuss.reliability.surrogate_error import estimate_with_error
from percuss.spelling import counted
from percuss.study.study import Study
from percuss.trust import Verdict
from percuss.work.limit_source import POSTERIOR, STUDY, Source

if TYPE_CHECKING:
    import polars as pl

# Samples that are kept: all, or of very many those nearest to the limit surface.
MOST_KEPT = 200_000
# A surrogate must tell the probability to this factor, up and down.
WIDEST = 3.0
DEFAULT_DRAWS = 200
DEFAULT_CV = 0.1


@dataclass(frozen=True)
class Request:
    """What is asked. `study`: by its simulator, or which limits go with an `event` (surrogate or posterior).

    `verify`: runs near the limit surface of a surrogate. `draws` of a posterior. `design` and `target`: search the
    value of a parameter that meets a probability. `mixes`: whether the method chooses what is random in runs beside
    their parameters, where the model lets it; only estimates made before that could be are repeated without.
    `by_moments`: of importance factors; only older estimates are repeated without.
    """

    study: Study | None = None
    event: Event | None = None
    limit: str | None = None
    method: str = "monte-carlo"
    n: int | None = None
    cv: float = DEFAULT_CV
    level: float = 0.95
    options: Mapping[str, float] = field(default_factory=dict)
    verify: int = 0
    draws: int | None = None
    design: str | None = None
    target: float | None = None
    seed: int = 0
    mixes: bool = True
    by_moments: bool = True


@dataclass(frozen=True, eq=False)
class Result:
    """An estimate before it is an event: its body, tables and own verdicts; verification starts from the estimate and
    its samples at parameters in SI.
    """

    body: ReliabilityEstimated
    tables: dict[str, pl.DataFrame]
    verdicts: tuple[Verdict, ...]
    estimate: Estimate | None = None
    theta: Array | None = None


def compute(source: Source, request: Request) -> Result:
    """The estimate, from what it depends on alone: `audit` does it again."""
    settings = Settings(
        request.n or method_module(request.method).DEFAULT_N, request.cv, request.level, request.seed, request.options
    )
    if request.design:
        return _designed(source, request, settings)
    if source.of == POSTERIOR:
        return _predictive(source, request, settings)
    if source.of == STUDY:
        limit = source.function.limit()
        estimate = estimate_by(request.method, limit, settings)
        facts = _probability(estimate.probability, estimate.interval, estimate.cv, estimate.interval, None)
        return _result(source, request, settings, estimate, facts, limit.runs, limit.failed)
    both = estimate_with_error(source.function.limit, request.method, settings)
    estimate = both.estimate
    facts = _probability(estimate.probability, both.interval, estimate.cv, estimate.interval, both.surrogate)
    return _result(source, request, settings, estimate, facts, len(estimate.samples.u), 0)


def _probability(
    probability: float,
    interval: tuple[float, float] | None,
    cv: float | None,
    sampling: tuple[float, float] | None,
    surrogate: tuple[float, float] | None,
) -> ProbabilityFacts:
    return ProbabilityFacts(
        probability=probability,
        index=finite(reliability_index(probability)),
        interval=interval,
        cv=None if cv is None else finite(cv),
        sampling=sampling,
        surrogate=surrogate,
    )


def finite(number: float) -> float | None:
    """The number; None where JSON has none for it."""
    return number if math.isfinite(number) else None


def _result(
    source: Source,
    request: Request,
    settings: Settings,
    estimate: Estimate,
    facts: ProbabilityFacts,
    evaluations: int,
    failed: int,
) -> Result:
    function = source.function
    theta = function.parameters(estimate.samples.u)
    points = tuple(
        DesignPointFacts(
            limit=function.leaf_names[point.element],
            index=point.beta,
            values=dict(zip(function.names, function.parameters(point.u[None])[0].tolist(), strict=True)),
            importance=dict(zip(function.names, (point.alpha**2).tolist(), strict=True)),
        )
        for point in estimate.design_points
    )
    body = body_of(source, request, settings, facts, evaluations, failed)
    body = replace(
        body,
        facts={key: value for key, value in estimate.facts.items() if math.isfinite(value)},
        design_points=points,
        slopes=tuple(
            _slope(name, item)
            for name, item in zip(
                function.names, slopes(estimate, function.joint, theta, by_moments=request.by_moments), strict=True
            )
        ),
        notes=estimate.notes,
    )
    verdicts = [_judged(facts, estimate.reason or _told_by_surrogate(facts), settings)]
    if failed:
        words = f"{failed} of {evaluations} runs failed and were counted as failures of the structure"
        verdicts.append(Verdict("runs", False, words, failed, 0))
    table = samples_table(function.names, theta, estimate.samples)
    return Result(body, {"samples": table}, tuple(verdicts), estimate, theta)


def _slope(name: str, item: Slopes) -> SlopeFacts:
    return SlopeFacts(
        parameter=name, importance=finite(item.importance), to_mean=finite(item.to_mean), to_std=finite(item.to_std)
    )


def body_of(
    source: Source, request: Request, settings: Settings, facts: ProbabilityFacts | None, evaluations: int, failed: int
) -> ReliabilityEstimated:
    """The body of an estimate; what only some estimates have is put in later."""
    return ReliabilityEstimated(
        limit=source.function.state.name,
        basis=source.of,
        method=request.method,
        n=settings.n,
        cv=settings.cv,
        level=settings.level,
        options=dict(settings.options),
        runs=source.runs,
        evaluations=evaluations,
        failed=failed,
        estimate=facts,
        verify=request.verify,
        noise=source.function.noise_variables,
        by_moments=request.by_moments,
        trust=(),
    )


def _judged(facts: ProbabilityFacts, reason: str, settings: Settings) -> Verdict:
    if reason:
        return Verdict(
            "probability", False, f"the probability of failure has not converged: {reason}", facts.cv, settings.cv
        )
    words = f"probability of failure {facts.probability:.3g}"
    if facts.interval:
        words += f", {100 * settings.level:g} % interval {facts.interval[0]:.3g} to {facts.interval[1]:.3g}"
    else:
        words += ", an approximation of unknown error: only its search is known to have converged"
    return Verdict("probability", True, words, facts.cv, settings.cv)


def _told_by_surrogate(facts: ProbabilityFacts) -> str:
    """Why a surrogate does not tell the probability; empty: it does."""
    if facts.surrogate is None:
        return ""
    low, high = facts.surrogate
    if low * WIDEST >= facts.probability and high <= WIDEST * facts.probability:
        return ""
    return f"by the surrogate's own error it may be anything from {low:.2g} to {high:.2g}"


def samples_table(names: tuple[str, ...], theta: Array, samples: Samples) -> pl.DataFrame:
    """The samples for replay; of very many those nearest to the limit surface."""
    import polars as pl

    rows = np.arange(len(theta))
    if len(rows) * len(names) > MOST_KEPT:
        nearest = np.argsort(np.abs(samples.values), kind="stable")[: max(MOST_KEPT // len(names), 1)]
        rows = np.sort(nearest)
    columns: dict[str, object] = {name: theta[rows, j] for j, name in enumerate(names)}
    return pl.DataFrame(columns | {"limit": samples.values[rows], "weight": samples.weights[rows]})


def _predictive(source: Source, request: Request, settings: Settings) -> Result:
    import polars as pl

    assert source.posterior is not None
    function, posterior = source.function, source.posterior
    aleatory = function.state.aleatory
    epistemic = tuple(name for name in function.names if name not in aleatory)
    count = request.draws or DEFAULT_DRAWS
    drawn = spread_draws(posterior.flat(), count)
    draws = drawn[:, [posterior.names.index(name) for name in epistemic]]
    after = predictive(function, draws, epistemic, request.method, settings, pool=request.verify > 0)
    facts = _probability(after.probability, after.interval, after.cv, after.interval, None)
    tail = (1 - settings.level) / 2
    low, middle, high = (float(q) for q in np.quantile(after.at_draws, [tail, 0.5, 1 - tail]))
    body = replace(
        body_of(source, request, settings, facts, after.evaluations, 0),
        draws=len(draws),
        epistemic=EpistemicFacts(
            draws=len(draws), parameters=epistemic, aleatory=aleatory, median=middle, interval=(low, high)
        ),
    )
    table = pl.DataFrame({name: draws[:, j] for j, name in enumerate(epistemic)} | {"probability": after.at_draws})
    tables = {"draws": table, "samples": _first_samples(source, after, epistemic, draws)}
    verdicts = (_judged(facts, after.reason, settings),)
    if after.pooled is None:
        return Result(body, tables, verdicts)
    # What the samples themselves say: a draw may have been judged by the surrogate's doubt instead.
    failing = float(after.pooled.weights[after.pooled.values <= 0].sum())
    pooled = Estimate(failing, after.interval, after.cv, after.reason, after.pooled)
    return Result(body, tables, verdicts, pooled, after.pooled.u)


def _first_samples(source: Source, after: Predictive, epistemic: tuple[str, ...], draws: Array) -> pl.DataFrame:
    """The samples at the first draw that has some."""
    function = source.function
    if len(epistemic) == len(function.names) or not len(after.samples.u):
        theta = after.samples.u if len(after.samples.u) else np.zeros((0, len(function.names)))
    else:
        theta = function.parameters(after.samples.u, dict(zip(epistemic, draws[0].tolist(), strict=True)))
    return samples_table(function.names, theta, after.samples)


def _designed(source: Source, request: Request, settings: Settings) -> Result:
    function, name = source.function, str(request.design)
    if name not in function.names:
        raise InputError(f"--design {name}: is no parameter: {', '.join(function.names)}")
    prior = source.study.parameters[name].prior
    shares = (0.0, 1.0)
    if not all(math.isfinite(float(prior.ppf(q))) for q in shares):
        shares = (0.001, 0.999)
    ends = (float(prior.ppf(shares[0])), float(prior.ppf(shares[1])))
    if source.direct is not None:
        return _designed_by_runs(source, request, settings, name, ends)

    def curve(value: float) -> tuple[float, tuple[float, float]]:
        try:
            both = estimate_with_error(
                lambda shift: function.limit(shift, {name: value}), request.method, settings, anyway=True
            )
        except OneSidedError as one_sided:
            return one_sided.probability, (one_sided.probability, one_sided.probability)
        return both.estimate.probability, both.interval or both.surrogate

    assert request.target is not None
    designed = design_value(curve, *ends, request.target)
    words = _met(name, designed, request.target, settings.level)
    body = body_of(source, request, settings, None, 0, 0)
    return _design_result(source, request, body, designed, ends, Verdict("probability", True, words))


def _met(name: str, designed: Designed, target: float, level: float) -> str:
    low, high = sorted(designed.interval)
    interval = f"{100 * level:g} % interval {low:.4g} to {high:.4g}"
    return f"{name} = {designed.value:.4g} ({interval}; SI) meets a probability of {target:g}"


def _designed_by_runs(
    source: Source, request: Request, settings: Settings, name: str, ends: tuple[float, float]
) -> Result:
    """On the simulator: an estimate with the input free, then few with it held."""
    function = source.function
    column = function.names.index(name)
    correlation = function.joint.correlation
    if correlation is not None and np.abs(np.delete(correlation[column], column)).max() > 0:
        raise InputError(
            f"--design {name}: is correlated with other parameters, and cannot be held by itself",
            hint="a surrogate takes it as if it were not",
        )
    prior = source.study.parameters[name].prior
    evaluations, failed = 0, 0

    def estimated(held: Mapping[str, float]) -> Estimate:
        nonlocal evaluations, failed
        limit = function.limit(held=held)
        try:
            return estimate_anyway(request.method, limit, settings)
        finally:
            evaluations, failed = evaluations + limit.runs, failed + limit.failed

    def value_of(z: float) -> float:
        return float(np.clip(prior.ppf(normal_cdf(z)), *ends))

    assert request.target is not None
    reach = tuple(float(ndtri(np.clip(prior.cdf(end), 1e-4, 1 - 1e-4))) for end in ends)
    by_runs = design_by_weights(
        estimated({}),
        column,
        lambda z: estimated({name: value_of(z)}),
        value_of,
        (reach[0], reach[1]),
        request.target,
    )
    p = by_runs.estimate.probability
    body = body_of(source, request, settings, None, evaluations, failed)
    words = (
        f"{_met(name, by_runs.designed, request.target, settings.level)}: "
        f"{counted(len(by_runs.designed.levels), 'estimate')} with it held, the last {p:.3g}"
    )
    verdict = Verdict("probability", True, words, by_runs.estimate.cv, settings.cv)
    return _design_result(source, request, body, by_runs.designed, ends, verdict)


def _design_result(
    source: Source,
    request: Request,
    body: ReliabilityEstimated,
    designed: Designed,
    ends: tuple[float, float],
    verdict: Verdict,
) -> Result:
    import polars as pl

    assert request.target is not None
    name = str(request.design)
    facts = DesignFacts(
        parameter=name,
        unit=source.study.parameters[name].unit,
        target=request.target,
        value=designed.value,
        interval=designed.interval,
        ends=ends,
    )
    names = source.function.names
    table = pl.DataFrame(designed.levels, schema=["value", "probability", "low", "high"], orient="row")
    empty = samples_table(names, np.zeros((0, len(names))), Samples(*(np.zeros(0),) * 3))
    return Result(replace(body, design=facts), {"samples": empty, "levels": table}, (verdict,))
