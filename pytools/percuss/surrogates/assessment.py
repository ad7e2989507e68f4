"""Errors told straight: every error is a mean square over the variance of the output.

loo            leave-one-out with terms and hyperparameters kept: optimistic, since they were chosen with all points
loo_corrected  the same times N/(N-P) (1 + tr((Psi'Psi)^-1)) (Chapelle, Vapnik and Bengio, 2002); expansions only
nested         k folds, the whole selection repeated without the fold
elsewhere      over the prior, the models of the folds against the surrogate
held_out       at points kept back, or of another campaign of the same study

The nested error is a mean over the points of the design. In the tails of an unbounded prior, and in corners, there may
be none, and polynomials run away there: few draws of the prior then carry nearly all of the mean square. Models that
were fitted to parts of the design run away differently, and their distance from the surrogate over the whole prior
tells. Where the design has points everywhere it is of the size of the nested error or less (0.2 to 1.8 of it on a dozen
functions): the larger of the two is the figure to trust. What happens on a part of the prior that no run has reached,
without a sign of it outside, as behind a kink, neither can see. A part of 3 / n of the prior is met by none of n points
in one of twenty designs (the rule of three: Hanley and Lippman-Hand, 1983); a surrogate that is off by a hundredth of
the output's standard deviation there has an error of 3e-4 / n. Smaller ones are warned of: n points cannot vouch for
them.

Does a surrogate tell more about an output than the mean of its runs does?

One whose error is the whole variance knows nothing. Above half of it (WORTHLESS) more of what it says is wrong than
right: no conclusion is drawn from such an output, and it is named. Of curves the whole curve counts, not the modes:
late modes are small, hard to follow and of little consequence. An output that is the same in every run has no variance
to miss, and passes. Where no point was kept from the fit (`--folds 0`) the leave-one-out error is judged: too small as
it is, it fails only what has no skill for certain, and the outputs are warned of.

Local prediction bands from resampled designs, for any family.

A band is  mean(x) +- k s(x)  with  s(x)^2 = v(x) + f:

- v(x) is the variance of the predictions at x by surrogates of designs drawn with replacement, terms and
  hyperparameters kept (Marelli and Sudret, 2018): wide where the design says little.
- Resampling sees neither what the selection missed nor what no term can follow. The floor f makes up for it: it is
  what the nested mean square has above the mean of v, where v at a training point is taken over the designs in
  which that point was not drawn.
- k is the quantile of |y_i - nested prediction_i| / s(x_i) over the training points, with the finite-sample level
  (1 + 1/n) of conformal prediction (Lei et al., 2018): the level that is asked for is met on average, whatever the
  distribution of the errors is.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.kinds.surrogate_fitted import Curves
from percuss.spelling import counted
from percuss.surrogates.model import Array, Data, FamilyModule, Model, Replicates, Settings
from percuss.trust import Trust, Verdict, failures

# Two estimates of one error disagree when one is this many times the other; below NOTHING both are rounding.
DISAGREE = 3.0
NOTHING = 1e-10
NEAR_ONE = 0.99
# The error of a surrogate off by a hundredth of the standard deviation where no point may be, times the points.
UNSEEN = 3e-4


@dataclass(frozen=True)
class Errors:
    """Errors of one output, relative to its variance; None where they were not asked for or do not exist."""

    loo: float
    loo_corrected: float | None
    nested: float | None
    held_out: float | None = None
    elsewhere: float | None = None

    @property
    def known(self) -> bool:
        """Whether the error was found at points that had no say in the fit: leave-one-out is no such error."""
        return self.held_out is not None or self.nested is not None

    @property
    def trusted(self) -> float:
        """The most honest of them: held out, the larger of nested and elsewhere, corrected, plain."""
        nested = None if self.nested is None else max(self.nested, self.elsewhere or 0.0)
        return next(e for e in (self.held_out, nested, self.loo_corrected, self.loo) if e is not None)


@dataclass
class Folds:
    """A design dealt into folds, with the data outside each: kept, so that families share what they compute."""

    places: NDArray[np.intp]
    outside: list[Data] = field(default_factory=list)

    @classmethod
    def of(cls, data: Data, count: int, seed: int) -> Folds:
        """Deal the points out in an order that depends on seed and number of points alone."""
        n = len(data.points)
        if count > n:
            raise InputError(f"--folds {count}: there are only {n} distinct points")
        order = np.random.default_rng([seed, n, 5]).permutation(n)
        places = np.empty(n, dtype=np.intp)
        places[order] = np.arange(n) % count
        return cls(places, [data.rows(np.flatnonzero(places != fold)) for fold in range(count)])


@dataclass(frozen=True)
class Nested:
    """For each fold the model whose terms and hyperparameters were found without it, and its predictions there."""

    models: tuple[Model, ...]
    predicted: Array

    def take(self, columns: list[int]) -> Nested:
        """Only these outputs."""
        return Nested(tuple(model.take(columns) for model in self.models), self.predicted[:, columns])


def fit_nested(module: FamilyModule, data: Data, folds: Folds, settings: Settings, near: Model) -> Nested:
    """Fit without each fold in turn."""
    models: list[Model] = []
    predicted = np.empty_like(data.values)
    pool = ThreadPoolExecutor(min(len(folds.outside), os.cpu_count() or 1))
    try:
        for fold, model in enumerate(pool.map(lambda outside: module.fit(outside, settings, near), folds.outside)):
            inside = folds.places == fold
            predicted[inside] = model.mean(data.points[inside])
            models.append(model)
    finally:
        # After Ctrl-C nobody waits for folds that are still being fitted.
        pool.shutdown(wait=False, cancel_futures=True)
    return Nested(tuple(models), predicted)


def probed_means(model: Model, nested: Nested, probes: Array) -> Array:
    """Means (1 + folds, points, m) at points of the prior: of a model, and of those of its folds."""
    return np.stack([one.mean(probes) for one in (model, *nested.models)])


def apart(model: Model, nested: Nested, probed: Array, values: Array) -> Array:
    """Mean squares (folds, m) over the prior between a model and those of its folds, over the variance of the output:
    in closed form, or from their means at points of the prior, the model's own first.
    """
    closed = [model.distance(other) for other in nested.models]
    squares = [
        np.square(probed[0] - other).mean(axis=0) if c is None else c
        for c, other in zip(closed, probed[1:], strict=True)
    ]
    spread = np.broadcast_to(values.var(axis=0), (len(squares), values.shape[1]))
    varies = ~is_constant(values) & (spread > 0)
    return np.asarray(np.divide(np.stack(squares), spread, out=np.zeros(spread.shape), where=varies))


def relative(residuals: Array, values: Array) -> Array:
    """Mean square over variance, output by output; 0 for an output that is constant but for rounding."""
    spread = values.var(axis=0)
    varies = ~is_constant(values) & (spread > 0)
    return np.asarray(np.divide((residuals**2).mean(axis=0), spread, out=np.zeros(spread.shape), where=varies))


def is_constant(values: Array) -> NDArray[np.bool_]:
    """Outputs whose spread is rounding."""
    return np.asarray(np.ptp(values, axis=0) <= 1e-12 * np.abs(values).max(axis=0))


def warnings_of(facts: dict[str, Any], errors: Errors, points: int) -> list[str]:
    """What a person must know before trusting a surrogate."""
    warnings = []
    if facts.get("constant"):
        return ["the output is the same in every run: a constant, without sensitivity"]
    claimed = errors.loo_corrected if errors.loo_corrected is not None else errors.loo
    for name, other in (("nested", errors.nested), ("held-out", errors.held_out)):
        if other is not None and max(other, claimed) > NOTHING:
            ratio = other / max(claimed, 1e-300)
            if ratio > DISAGREE:
                warnings.append(f"{name} error {other:.2g} is {ratio:.2g} times the leave-one-out error {claimed:.2g}")
            elif ratio < 1 / DISAGREE:
                warnings.append(
                    f"leave-one-out error {claimed:.2g} is {1 / ratio:.2g} times the {name} error {other:.2g}"
                )
    leverage = facts.get("leverage")
    if leverage is not None and leverage > NEAR_ONE:
        warnings.append(
            f"a training point has leverage {leverage:.4f}: the surrogate passes through it whatever its value"
        )
    terms = facts.get("terms")
    if terms is not None and terms > 0.5 * points:
        warnings.append(f"{counted(terms, 'term')} from {counted(points, 'point')}")
    if errors.known and errors.held_out is None and errors.trusted < UNSEEN / points:
        warnings.append(
            f"error {errors.trusted:.2g} is less than {points} points can vouch for: a hundredth of the standard "
            f"deviation on a part of the prior that none has reached would be {UNSEEN / points:.1g}"
        )
    if not errors.known:
        warnings.append(
            f"no point was kept from the fit: its error is not known, and not less than {errors.trusted:.2g}"
        )
    return warnings


def condensed(warnings: Sequence[tuple[str, str]], outputs: int) -> list[str]:
    """Sentences of (output, warning): one for all outputs that are warned of the same thing, with the first as example.

    >>> condensed([("u1", "33 terms from 64 points"), ("u2", "44 terms from 64 points")], 8)
    ['2 of 8 outputs, as u1: 33 terms from 64 points']
    """
    alike: dict[str, list[tuple[str, str]]] = {}
    for output, warning in warnings:
        alike.setdefault(re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", warning), []).append((output, warning))
    return [
        f"{output}: {warning}" if len(group) == 1 else f"{len(group)} of {outputs} outputs, as {output}: {warning}"
        for group in alike.values()
        for output, warning in group[:1]
    ]


def held_out_rows(count: int, fraction: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to fit and rows to keep back."""
    kept = round(count * fraction)
    if not 0 < fraction < 1 or kept < 1 or count - kept < 4:
        raise InputError(
            f"--held-out {fraction}: keeps {kept} of {counted(count, 'point')} back, and 4 are needed for the fit"
        )
    order = np.random.default_rng([seed, count, 7]).permutation(count)
    return np.sort(order[kept:]), np.sort(order[:kept])


def mean_square(predicted: Array, values: Array, spread: Array) -> Array:
    """Held-out errors: over the variance of the held-out values, or of the training where there are only a few."""
    own = values.var(axis=0) if len(values) >= 30 else spread
    return np.asarray(np.divide(((predicted - values) ** 2).mean(axis=0), own, out=np.zeros(own.shape), where=own > 0))


@dataclass(frozen=True)
class Band:
    """What a band of one output needs beside its surrogate: replicates, floor, and of every training point the
    residual y_i - nested prediction_i and its scale s(x_i)."""

    replicates: Replicates
    floor: float
    residuals: Array
    scale: Array

    def factor(self, level: float) -> float:
        """k for a level: infinite when there are too few points to promise it."""
        scores = np.sort(np.abs(self.residuals) / self.scale)
        rank = math.ceil((len(scores) + 1) * level)
        return float(scores[rank - 1]) if rank <= len(scores) else math.inf

    def spread(self, model: Model, output: int, points: Array) -> Array:
        """s(x)^2 at canonical points."""
        return np.asarray(model.replicate_means(points, output, self.replicates).var(axis=0, ddof=1) + self.floor)

    def width(self, model: Model, output: int, points: Array, level: float) -> Array:
        """Half widths at canonical points."""
        return self.factor(level) * np.sqrt(self.spread(model, output, points))


def draw_counts(points: int, replicates: int, seed: int) -> NDArray[np.intp]:
    """How often each point is drawn in each resampled design: depends on seed, number of points and replicate alone."""
    counts = np.zeros((replicates, points), dtype=np.intp)
    for b in range(replicates):
        drawn = np.random.default_rng([seed, points, 11, b]).integers(0, points, points)
        counts[b] = np.bincount(drawn, minlength=points)
    return counts


def make_bands(model: Model, data: Data, counts: NDArray[np.intp], nested: Array) -> list[Band]:
    """Bands of all outputs of a model; `nested` are the predictions of the training points out of their folds."""
    bands = []
    for j, replicates in enumerate(model.resampled(data, counts)):
        predicted = model.replicate_means(data.points, j, replicates)
        outside = np.where(counts == 0, predicted, np.nan)
        seen = (counts == 0).sum(axis=0)
        # A point that was drawn nearly always takes the typical variance.
        spread = np.full(len(data.points), np.nan)
        often = seen >= 3
        spread[often] = np.nanvar(outside[:, often], axis=0, ddof=1)
        spread[~often] = np.median(spread[often]) if often.any() else predicted.var(axis=0)[~often]
        residuals = data.values[:, j] - nested[:, j]
        square = float((residuals**2).mean())
        # Replicates that run wild outside their points must not set the floor: the median stands for the mean.
        floor = max(square - float(np.median(spread)), 0.1 * square)
        bands.append(Band(replicates, floor, residuals, np.sqrt(spread + floor + 1e-300)))
    return bands


class Judged(Protocol):
    """An output or mode of a surrogate, as far as its errors are concerned."""

    @property
    def case(self) -> str: ...
    @property
    def output(self) -> str: ...
    @property
    def variance(self) -> float: ...
    @property
    def errors(self) -> Errors: ...


# Mean square error over variance, from which on an output is worthless.
WORTHLESS = 0.5


def skill(columns: Sequence[Judged], curves: Curves | None = None) -> Trust:
    """A failed verdict for every worthless output or curve; a passed one where there is none."""
    if curves:
        errors = [
            (f"{curves.quantity}, {case}", error, tuple(_name(c) for c in columns if c.case == case))
            for case, error, _ in whole_curve_errors(columns, curves)
        ]
    else:
        errors = [(f"{c.output}, {c.case}", c.errors.trusted, (_name(c),)) for c in columns]
    failed = [
        Verdict(
            "skill",
            False,
            f"{label}: the surrogate misses {error:.2g} of the variance, and up to {WORTHLESS:g} is tolerated "
            "(the mean of the runs would miss 1)",
            error,
            WORTHLESS,
            about,
        )
        for label, error, about in errors
        if not error <= WORTHLESS  # NaN is no skill either
    ]
    if failed:
        return tuple(failed)
    worst = max(error for _, error, _ in errors)
    sentence = f"the surrogate misses at most {worst:.2g} of the variance of an output"
    return (Verdict("skill", True, sentence, worst, WORTHLESS),)


def left_out(trust: Iterable[Verdict]) -> frozenset[str]:
    """`case/output` of what has no skill and was not accepted."""
    return frozenset(name for v in failures(trust) if v.gate == "skill" and v.stops for name in v.about)


def _name(column: Judged) -> str:
    return f"{column.case}/{column.output}"


def whole_curve_errors(columns: Sequence[Judged], curves: Curves) -> list[tuple[str, float, float]]:
    """For each case the error of whole curves over their variance, and the part of it that the modes leave out."""
    errors = []
    for case, left in curves.left_out().items():
        own = [column for column in columns if column.case == case]
        variance = sum(column.variance for column in own)
        wrong = sum(column.errors.trusted * column.variance for column in own)
        errors.append((case, (1.0 - left) * wrong / variance + left if variance > 0 else 0.0, left))
    return errors
