"""Intervals of a surrogate's indices that are meant to hold those of the model.

With the model f, its surrogate s and e = f - s, and for a parameter i

    s_i = E[s | x_i],   t_i = s - E[s | all but x_i],   all with the mean taken off,

the partial variances of the model are, without approximation,

    var E[f | x_i]                 = var s_i + 2 E[s_i e] + a share of E[e^2]      first order
    var f - var E[f | all but x_i] = var t_i + 2 E[t_i e] + a share of E[e^2]      total
    var f                          = var s   + 2 E[s e]   + E[e^2]

where the shares lie between 0 and 1. The first term is what the surrogate says. The second, by which an overfitted
surrogate is too sure of itself, is estimated as in cross-fitted one-step estimators (Chernozhukov et al., 2018): over
the points of the design, each with the surrogate of the folds it is not in, and that surrogate's miss there; its
scatter is that of resampled points. The third is not known: the interval reaches from the share 0 to the share 1, so
that a surrogate that misses a tenth of the variance has intervals at least a tenth wide. Two surrogates have a say, the
one of all points and the mean of those of the folds; the interval holds what either gives, and the estimate itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from percuss.sensitivity.indices import Array, Measure, bare
from percuss.sensitivity.subsets import conditioned
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.model import Model
from percuss.surrogates.surrogate import Surrogate

RESAMPLES = 1000
# The variance of a model is not less than this part of that of its runs, however the resampled points fall.
LEAST_VARIANCE = 0.25
# Points over which a surrogate without closed forms is averaged.
AVERAGED = 32


@dataclass(frozen=True)
class Effects:
    """At each of n points: by measure the part of the prediction that belongs to each parameter (n, d), and all of
    it (n,), the mean taken off."""

    parts: Mapping[str, Array]
    whole: Array


@dataclass(frozen=True)
class Shares:
    """What a surrogate says: partial variances (d,) by measure, and the variance."""

    parts: Mapping[str, Array]
    variance: float


@dataclass(frozen=True)
class Missed:
    """Of every point of the design: effects as its fold's surrogate has them, and what that surrogate misses."""

    effects: Effects
    miss: Array
    variance: float


EffectsOf = Callable[[Model, Array], Effects]


def missed(surrogate: Surrogate, number: int, effects: EffectsOf) -> Missed | None:
    """For one column; None where the surrogate has no folds."""
    if not surrogate.folds:
        return None
    points, miss, folds = surrogate.nested(number)
    n, d = points.shape
    parts: dict[str, Array] = {}
    whole = np.zeros(n)
    for fold in range(len(surrogate.folds)):
        inside = folds == fold
        fold_effects = effects(fold_model(surrogate, fold, number), points[inside])
        whole[inside] = fold_effects.whole
        for measure, values in fold_effects.parts.items():
            parts.setdefault(measure, np.zeros((n, d)))[inside] = values
    return Missed(Effects(parts, whole), miss, surrogate.columns[number].variance)


def fold_model(surrogate: Surrogate, fold: int, number: int) -> Model:
    """The model of one column that was fitted without a fold."""
    part = next(part for part in surrogate.folds[fold] if number in part.columns)
    return part.model.take([part.columns.index(number)])


def widened(
    measures: Mapping[str, Measure], by: Missed, shares: list[Shares], level: float, seed: int
) -> dict[str, Measure]:
    """Measures with intervals for what the surrogate misses; those they have already (of sampling) are added to them.

    `said` are the shares of the surrogates that have a say.
    """
    n = len(by.miss)
    drawn = np.random.default_rng([seed, n, 31]).multinomial(n, np.full(n, 1.0 / n), RESAMPLES) / n
    square = drawn @ by.miss**2
    along = drawn @ (by.effects.whole * by.miss)
    ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    widened_measures = dict(measures)
    for measure, effects in by.effects.parts.items():
        values, low, high = measures[measure]
        turned = drawn @ (effects * by.miss[:, None])
        least, most = np.array(values, float), np.array(values, float)
        for one in shares:
            variance = np.maximum(one.variance + 2.0 * along + square, LEAST_VARIANCE * by.variance)[:, None]
            part = one.parts[measure] + 2.0 * turned
            least = np.minimum(least, np.quantile(part / variance, ends[0], axis=0))
            most = np.maximum(most, np.quantile((part + square[:, None]) / variance, ends[1], axis=0))
        # An index lies between 0 and 1, whatever resampling makes of it; an estimate by sampling need not.
        least = np.minimum(np.clip(least, 0.0, 1.0) - np.nan_to_num(values - low), values)
        most = np.maximum(np.clip(most, 0.0, 1.0) + np.nan_to_num(high - values), values)
        widened_measures[measure] = Measure(np.asarray(values, float), least, most)
    return widened_measures


def expansion_effects(model: Model, points: Array) -> Effects:
    """Of the only output of an expansion: sums over the terms that have a parameter, alone or at all."""
    assert isinstance(model, Expansions)
    terms = model.bases[0].predict(points) * model.coefficients[0]
    support = model.terms[0] > 0
    count = support.sum(axis=1)
    weights = {"first": support & (count == 1)[:, None], "total": support}
    weights["shapley"] = support / np.maximum(count, 1)[:, None]
    return Effects({name: terms @ weight.astype(float) for name, weight in weights.items()}, terms @ (count > 0))


def sampled_effects(model: Model, points: Array, drawn: Array, factor: Array | None = None) -> Effects:
    """Of the only output of any model, by averages over points `drawn` from the prior, in canonical variables.

    `factor` is that of canonical variables which were made independent (`Canonical.factor`).
    """
    n, d = points.shape
    lower = np.eye(d) if factor is None else factor
    correlation = lower @ lower.T

    def averaged(dependent: Array) -> Array:
        """Mean over what was drawn, at points (n, drawn, d) that are not made independent yet."""
        flat = dependent.reshape(-1, d)
        canonical = flat if factor is None else np.linalg.solve(factor, flat.T).T
        return np.asarray(_mean(model, canonical).reshape(n, -1).mean(axis=1))

    mean = float(_mean(model, drawn).mean())
    at = _mean(model, points)
    known = np.repeat((points @ lower.T)[:, None], len(drawn), axis=1)
    others = np.repeat((drawn @ lower.T)[None], n, axis=0)
    first, total = np.empty((n, d)), np.empty((n, d))
    for k in range(d):
        rest = [j for j in range(d) if j != k]
        first[:, k] = averaged(conditioned(known, others, [k], correlation)) - mean
        total[:, k] = at - averaged(conditioned(known, others, rest, correlation))
    return Effects({"first": first, "total": total}, at - mean)


def _mean(model: Model, points: Array) -> Array:
    blocks = [model.mean(points[i : i + 2048])[:, 0] for i in range(0, len(points), 2048)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def unknown(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """Measures without intervals: those of sampling alone would be taken for all that is not known."""
    return {name: bare(measure.values) for name, measure in measures.items()}
