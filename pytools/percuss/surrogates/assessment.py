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
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.spelling import counted
from percuss.surrogates.model import Array, Data, FamilyModule, Model
from percuss.surrogates.settings import Settings

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


def elsewhere(model: Model, nested: Nested, probes: Array, values: Array) -> Array:
    """Mean square over the prior between a model and those of its folds, over the variance, output by output."""
    distance = np.mean([model.distance(other, probes) for other in nested.models], axis=0)
    spread = values.var(axis=0)
    varies = ~is_constant(values) & (spread > 0)
    return np.asarray(np.divide(distance, spread, out=np.zeros(spread.shape), where=varies))


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
