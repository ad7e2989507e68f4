"""One update of a filter: weights at every step, what they say and whether it may be said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.execution.results import Campaign
from percuss.filtering import identified
from percuss.filtering.covariance import ObservationError, roots, scale_for
from percuss.filtering.ensemble import MIXTURE, Ensemble, make_ensemble, read_mixture
from percuss.filtering.observations import Observations
from percuss.filtering.proposal import Mixture, fit_mixture, tempered
from percuss.filtering.weights import Filtered, filter_weights, misfits
from percuss.kinds.filter_updated import Covariance, FilterUpdated, Identified, MostProbable, Observed
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.spelling import counted
from percuss.study.joint import Joint
from percuss.study.priors.tensor import refuse_tensors
from percuss.trust import Verdict

if TYPE_CHECKING:
    import polars as pl

    from percuss.designs.design import Design

Array = NDArray[Any]

SAMPLER = "mixture"
SHARES = (0.05, 0.5, 0.95)
GRID, PAIR_GRID = 101, 33
# Fewer effective samples than this, or than so many for each parameter, and no estimate is given (docs/trust.md).
LEAST_EFFECTIVE, LEAST_EACH = 10, 2
# Least probability of a squared misfit as large as that of the best sample, if its model and the errors are right.
LEAST_P = 0.02


@dataclass(frozen=True, eq=False)
class Updated:
    """What an update gives: `error` has the scale that was used, given or searched."""

    campaign: Campaign
    observations: Observations
    error: ObservationError
    ensemble: Ensemble
    filtered: Filtered
    mixture: Mixture
    probabilities: dict[str, float]

    @property
    def last(self) -> Array:
        """Weights after the last step."""
        return np.asarray(self.filtered.weights[-1])

    def verdict(self) -> Verdict:
        """Whether enough of the ensemble carries weight."""
        effective, samples = float(self.filtered.effective[-1]), len(self.last)
        needed = max(LEAST_EFFECTIVE, LEAST_EACH * len(self.campaign.names))
        sentence = f"{samples} samples are worth {effective:.3g}"
        if effective < needed:
            runs = math.ceil(samples * needed / effective)
            sentence += f", and estimates need {needed}: at least {runs} such samples, or fewer from design --propose"
        return Verdict("effective-sample", effective >= needed, sentence, effective, needed)

    def fit(self) -> Verdict:
        """Whether the best sample explains the data, with errors as large as they were said to be."""
        from scipy.special import gammaincc

        count, least = self.filtered.count, self.filtered.least
        p_value = float(gammaincc(count / 2, least / 2))
        does = "explains" if p_value >= LEAST_P else "does not explain"
        sentence = (
            f"the best sample {does} the data: its squared misfit is {least:.3g} variances "
            f"for {counted(count, 'value')}, "
            f"p-value {p_value:.2g}, and at least {LEAST_P:g} is asked for"
        )
        return Verdict("fit", p_value >= LEAST_P, sentence, p_value, LEAST_P)


def update(
    session: Session,
    campaign: Campaign,
    observations: Observations,
    error: ObservationError,
    share: float | None,
    against: Sequence[Event],
    seed: int,
) -> Updated:
    """Filter an ensemble; with `share` the scale of the error is searched for that effective sample size."""
    ensemble = make_ensemble(session, campaign, observations)
    observed = [step.values for step in observations.steps]
    factors = roots(error, [step.variables for step in observations.steps], observed)
    misfit = misfits(observed, ensemble.predicted, factors)
    scale = error.scale if share is None else scale_for(misfit, ensemble.log_start, share)
    filtered = filter_weights(misfit, ensemble.log_start, scale)
    mixture = fit_mixture(ensemble.z, tempered(filtered.log_last, ensemble.z.shape[1]), seed)
    updated = Updated(campaign, observations, replace(error, scale=scale), ensemble, filtered, mixture, {})
    return replace(updated, probabilities=_probabilities(updated, against))


def _probabilities(updated: Updated, against: Sequence[Event]) -> dict[str, float]:
    """Posterior probabilities of models that were equally probable before: this one ("this") and others by their id."""
    if not against:
        return {}
    logs = {"this": float(updated.filtered.log_evidence[-1])}
    for event in against:
        if event.kind != "filter.updated":
            raise InputError(f"--against {event.id}: is of the kind {event.kind}, not filter.updated")
        other = FilterUpdated.of(event)
        for label, theirs, ours in (
            ("observed", other.observed, observed_facts(updated)),
            ("covariance", other.covariance, covariance_facts(updated)),
        ):
            if theirs != ours:
                raise InputError(
                    f"--against {event.id}: has other {label}: {theirs} and not {ours}, and evidence is comparable on "
                    f"the same data with the same error only"
                )
        if other.log_evidence is None:
            raise InputError(f"--against {event.id}: its evidence is zero")
        logs[event.id] = other.log_evidence
    top = max(logs.values())
    if not math.isfinite(top):
        raise InputError("--against: the evidence of every model is zero")
    total = sum(math.exp(log - top) for log in logs.values())
    return {name: math.exp(log - top) / total for name, log in logs.items()}


def observed_facts(updated: Updated) -> Observed:
    """What was observed."""
    steps = updated.observations.steps
    names = dict.fromkeys(name for step in steps for name in step.variables)
    return Observed(
        file=updated.observations.file, sha256=updated.observations.sha256, steps=len(steps), variables=tuple(names)
    )


def covariance_facts(updated: Updated) -> Covariance:
    """The error of the observations, as it was used."""
    return Covariance(mode=updated.error.mode, scale=updated.error.scale, stds=dict(updated.error.stds))


def summary(updated: Updated, *, may_estimate: bool, share: float | None = None) -> FilterUpdated:
    """What a person wants to know, as the body of the event; estimates only if `may_estimate`."""
    theta, last = updated.ensemble.theta, updated.last
    best = int(last.argmax())
    design, sample = updated.campaign.places[int(updated.ensemble.rows[best])]
    mean = identified.means(last[None], theta)[0]
    std = np.sqrt(np.diag(identified.covariances(last[None], theta)[0]))
    evidence = float(updated.filtered.log_evidence[-1])
    estimates: dict[str, Identified] = {}
    for k, name in enumerate(updated.campaign.names):
        low, middle, high = identified.quantiles(last, theta[:, k], np.array(SHARES))
        estimates[name] = Identified(
            mean=float(mean[k]),
            std=float(std[k]),
            q05=float(low),
            q50=float(middle),
            q95=float(high),
            most_probable=float(theta[best, k]),
        )
    return FilterUpdated(
        names=updated.campaign.names,
        cases=tuple(sorted({step.case for step in updated.observations.steps})),
        observed=observed_facts(updated),
        covariance=covariance_facts(updated),
        identified=estimates if may_estimate else None,
        ess_target=share,
        samples=len(last),
        left_out=updated.ensemble.left_out,
        effective=float(updated.filtered.effective[-1]),
        log_evidence=evidence if math.isfinite(evidence) else None,
        probabilities=updated.probabilities if may_estimate else {},
        most_probable=MostProbable(design=updated.campaign.designs[design].id, sample=sample, weight=float(last[best])),
        trust=(),
    )


def steps_table(updated: Updated, *, may_estimate: bool = True) -> pl.DataFrame:
    """A row for each step: what the weights are worth and, if `may_estimate`, the estimates."""
    import polars as pl

    theta, weights = updated.ensemble.theta, updated.filtered.weights
    steps: dict[str, Any] = {
        "step": np.arange(1, len(weights) + 1),
        "effective": updated.filtered.effective,
        "log_evidence": [x if math.isfinite(x) else None for x in updated.filtered.log_evidence.tolist()],
    }
    if may_estimate:
        steps |= evolution(weights, updated.campaign.names, theta)
    return pl.DataFrame(steps)


def evolution(weights: Array, names: Sequence[str], theta: Array) -> dict[str, Array]:
    """Mean, standard deviation and quantiles of every parameter under each row of weights, by `what:parameter`."""
    mean, covariance = identified.means(weights, theta), identified.covariances(weights, theta)
    courses: dict[str, Array] = {}
    for k, name in enumerate(names):
        spread = np.array([identified.quantiles(w, theta[:, k], np.array(SHARES)) for w in weights])
        courses |= {f"mean:{name}": mean[:, k], f"std:{name}": np.sqrt(covariance[:, k, k])}
        courses |= {f"q{round(100 * share):02d}:{name}": spread[:, i] for i, share in enumerate(SHARES)}
    return courses


def tables(updated: Updated, *, may_estimate: bool = True) -> dict[str, pl.DataFrame]:
    """What an update gives, as the event keeps it; estimates only if `may_estimate`."""
    import polars as pl

    weights = updated.filtered.weights
    count, size = weights.shape
    places = [updated.campaign.places[int(row)] for row in updated.ensemble.rows]
    by_role = {
        "observations": updated.observations.table(),
        "steps": steps_table(updated, may_estimate=may_estimate),
        "weights": pl.DataFrame(
            {
                "step": np.repeat(np.arange(1, count + 1), size),
                "design": np.tile([design for design, _ in places], count),
                "sample": np.tile([sample for _, sample in places], count),
                "weight": weights.ravel(),
            }
        ),
        "correlations": _correlations(updated),
        MIXTURE: _mixture_table(updated.mixture),
    }
    if may_estimate:
        by_role |= {"covariance": _covariances(updated), "densities": _densities(updated)}
        if len(updated.campaign.names) > 1:
            by_role["pairs"] = _pairs(updated)
    return by_role


def _covariances(updated: Updated) -> pl.DataFrame:
    import polars as pl

    names = updated.campaign.names
    values = identified.covariances(updated.filtered.weights, updated.ensemble.theta)
    rows = [
        (t + 1, a, b, float(values[t, i, j]))
        for t in range(len(values))
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    ]
    return pl.DataFrame(rows, ["step", "first", "second", "value"], orient="row")


def _densities(updated: Updated) -> pl.DataFrame:
    import polars as pl

    parts = []
    for k, name in enumerate(updated.campaign.names):
        prior = updated.campaign.study.parameters[name].prior
        grid = identified.grid_of(prior, GRID)
        values = identified.density(updated.last, updated.ensemble.theta[:, k], prior, grid)
        parts.append(pl.DataFrame({"parameter": [name] * GRID, "value": grid, "density": values}))
    return pl.concat(parts)


def _pairs(updated: Updated) -> pl.DataFrame:
    import polars as pl

    names, theta = updated.campaign.names, updated.ensemble.theta
    grids = [identified.grid_of(updated.campaign.study.parameters[name].prior, PAIR_GRID) for name in names]
    parts = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            values = identified.pair_density(updated.last, theta[:, [i, j]], (grids[i], grids[j]))
            first, second = np.meshgrid(grids[i], grids[j], indexing="ij")
            columns = {"x": first.ravel(), "y": second.ravel(), "density": values.ravel()}
            labels = [pl.lit(names[i]).alias("first"), pl.lit(names[j]).alias("second")]
            parts.append(pl.DataFrame(columns).select(*labels, pl.all()))
    return pl.concat(parts)


def _correlations(updated: Updated) -> pl.DataFrame:
    """Of every parameter with every output, over the finished runs of each observed case, whatever their weights."""
    import polars as pl

    rows = []
    campaign = updated.campaign
    for runs in campaign.cases:
        if runs.case not in {step.case for step in updated.observations.steps}:
            continue
        plain, ranked = identified.correlations(campaign.theta[runs.rows], runs.values)
        for k, name in enumerate(campaign.names):
            for j, output in enumerate(campaign.outputs):
                rows.append((runs.case, name, output, float(plain[k, j]), float(ranked[k, j])))
    return pl.DataFrame(rows, ["case", "parameter", "output", "correlation", "rank_correlation"], orient="row")


def _mixture_table(mixture: Mixture) -> pl.DataFrame:
    import polars as pl

    k, d = mixture.means.shape
    columns = {"share": mixture.shares}
    columns |= {f"mean{i}": mixture.means[:, i] for i in range(d)}
    flat = mixture.covariances.reshape(k, d * d)
    return pl.DataFrame(columns | {f"covariance{i}": flat[:, i] for i in range(d * d)})


def propose(session: Session, campaign: Campaign, event: Event, count: int, seed: int) -> Design:
    """A design of `count` points through the mixture that a filter event holds."""
    from scipy.special import ndtr

    from percuss.designs.design import Design

    mixture = read_mixture(session, event, len(campaign.names))
    # Another seed for every further ensemble, so that it is not the same sequence again.
    unit = ndtr(mixture.points(count, int(np.random.SeedSequence([seed, len(campaign.theta)]).generate_state(1)[0])))
    priors = [campaign.study.parameters[name].prior for name in campaign.names]
    refuse_tensors(priors, "design --propose")
    values = Joint.of(campaign.study).from_unit(unit)
    return Design(campaign.study, SAMPLER, seed, 0, {"filter": event.id}, campaign.names, unit, values)
