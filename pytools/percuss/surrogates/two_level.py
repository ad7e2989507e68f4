"""Two fidelities: an expansion of cheap runs, scaled, and an expansion of what it misses of the costly ones.

    y_high(x) = rho y_low(x) + d(x)       (Kennedy and O'Hagan, 2000, Eq. 1)

with sparse expansions instead of processes (Ng and Eldred, 2012; Palar, Tsuchiya and Parks, 2016). The low level is a
surrogate of its own, of as many cheap runs as there are. rho is found by least squares, d is fitted to what is left
(the recursive form of Le Gratiet and Garnier, 2014: the levels are fitted one after the other). A sum of expansions is
an expansion: it is stored, evaluated, differentiated and sampled as any other.

Its nested error is that at runs of the high level. Where a point of the high level is among those of the low level, the
low level is taken as it is without that point's fold: at a new point no cheap run has been made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.study.joint import normal_correlation
from percuss.study.study import Study
from percuss.surrogates import chaos
from percuss.surrogates.assessment import Nested
from percuss.surrogates.model import Array, Data, Families, Model, Replicates, Settings
from percuss.surrogates.surrogate import Surrogate

if TYPE_CHECKING:
    import polars as pl

# What the fit is called beside families.
TWO_LEVEL = "two-level"
# Terms and coefficients of one output; None where the low level does not have it.
Terms = tuple[NDArray[np.uint8], Array]


@dataclass(frozen=True, eq=False)
class Low:
    """The low level of some outputs: terms of each, as fitted to all its runs and without each fold; `points` (n, d) of
    its runs and the fold of each; `elsewhere`, the mean square by which it may be off over the prior, output by output.
    """

    families: Families
    terms: tuple[Terms | None, ...]
    folds: tuple[tuple[Terms | None, ...], ...]
    points: tuple[Array, ...]
    places: tuple[NDArray[np.intp], ...]
    elsewhere: Array

    @classmethod
    def of(cls, surrogate: Surrogate, pairs: Sequence[tuple[str, str]]) -> Low:
        """The low level of (case, output), from a stored surrogate."""
        numbers = [_number(surrogate, case, output) for case, output in pairs]
        whole = _terms_of(surrogate.tables["terms"], numbers)
        table = surrogate.tables["fold_terms"]
        count = 1 + int(table["fold"].max())  # type: ignore[arg-type]
        folds = tuple(_terms_of(table.filter(fold=fold), numbers) for fold in range(count))
        points, places, far = [], [], []
        for number in numbers:
            if number is None:
                points.append(np.empty((0, len(surrogate.names))))
                places.append(np.empty(0, np.intp))
                far.append(0.0)
                continue
            column = surrogate.columns[number]
            own, _, places_of = surrogate.nested(number)
            points.append(own)
            places.append(places_of)
            far.append((column.errors.elsewhere or 0.0) * column.variance)
        families = surrogate.canonical.families
        return cls(families, whole, folds, tuple(points), tuple(places), np.array(far))

    def mean(self, points: Array) -> Array:
        """Predictions (n, m) of all its runs; 0 where there is none."""
        return self._mean(self.terms, points)

    def unseen(self, points: Array) -> Array:
        """Predictions (n, m) by expansions that have not seen the points."""
        predicted = self.mean(points)
        for number, terms in enumerate(self.folds):
            without = self._mean(terms, points)
            for j, (own, places) in enumerate(zip(self.points, self.places, strict=True)):
                seen = _among(points, own[places == number])
                predicted[seen, j] = without[seen, j]
        return predicted

    def _mean(self, terms: Sequence[Terms | None], points: Array) -> Array:
        known = [j for j, own in enumerate(terms) if own is not None]
        predicted = np.zeros((len(points), len(terms)))
        if known:
            listed = [own for own in terms if own is not None]
            predicted[:, known] = chaos.expansion_of(self.families, listed).predict(points)
        return predicted


def _number(surrogate: Surrogate, case: str, output: str) -> int | None:
    """The column of an output: of the same case, or of the only one of the low level."""
    cases = {column.case for column in surrogate.columns}
    pair = (case if case in cases or len(cases) > 1 else next(iter(cases)), output)
    return surrogate.outputs.index(pair) if pair in surrogate.outputs else None


def _terms_of(table: pl.DataFrame, numbers: Sequence[int | None]) -> tuple[Terms | None, ...]:
    return tuple(None if number is None else chaos.read_terms(table, number) for number in numbers)


def _among(points: Array, own: Array) -> NDArray[np.bool_]:
    """Which points are among others, to rounding."""
    if not len(own):
        return np.zeros(len(points), bool)
    apart = np.abs(points[:, None] - own[None]).max(axis=2).min(axis=1)
    return np.asarray(apart <= 1e-9)


def check_low(surrogate: Surrogate, study: Study, outputs: Sequence[tuple[str, str]]) -> None:
    """Refuse a low level of other parameters or priors, of another family, or without any of the outputs."""
    whose = f"--low {surrogate.event.id}"
    if surrogate.has_curves:
        raise InputError(f"{whose}: is of whole curves, and outputs are joined")
    names = tuple(study.parameters)
    if surrogate.names != names:
        raise InputError(f"{whose}: has the parameters {', '.join(surrogate.names)}, and not {', '.join(names)}")
    low = surrogate.study
    other = [name for name in names if low.parameters[name].prior.to_json() != study.parameters[name].prior.to_json()]
    if other or not np.array_equal(normal_correlation(low), normal_correlation(study)):  # type: ignore[arg-type]
        which = ", ".join(other) or "what is correlated"
        raise InputError(f"{whose}: {which} has another prior there, and both levels need the same")
    if strange := sorted({column.family for column in surrogate.columns} - {"chaos"}):
        raise InputError(
            f"{whose}: is of the family {', '.join(strange)}, and the low level must be chaos",
            hint="percuss surrogate --family chaos",
        )
    if "fold_terms" not in surrogate.tables:
        raise InputError(
            f"{whose}: was fitted without folds, so its error at new points is not known",
            hint="percuss surrogate with --folds 5",
        )
    if all(_number(surrogate, case, output) is None for case, output in outputs):
        raise InputError(f"{whose}: has none of the outputs {', '.join(dict.fromkeys(name for _, name in outputs))}")


@dataclass(frozen=True)
class Corrected(chaos.Expansions):
    """The sum of a scaled low level and the expansion of what it misses. For each output: rho, the number of each term
    of the difference among all terms, and the predictions of the low level at the points it was fitted to.
    """

    difference: chaos.Expansions | None = None
    rho: Array = field(default_factory=lambda: np.empty(0))
    low: Array = field(default_factory=lambda: np.empty((0, 0)))

    def loo_residuals(self, data: Data) -> Array:
        assert self.difference is not None
        residuals = np.empty_like(data.values)
        for j, basis in enumerate(self.difference.bases):
            # rho is fitted too: the low level is one more column, unless the terms make it up.
            columns = np.column_stack([basis.predict(data.points), self.low[:, j]])
            left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
            left = left[:, sizes > 1e-10 * sizes[0]]
            leverage = np.einsum("ij,ij->i", left, left)
            y = data.values[:, j]
            residuals[:, j] = (y - left @ (left.T @ y)) / np.maximum(1.0 - leverage, 1e-12)
        return residuals

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        assert self.difference is not None
        left = Data(data.families, data.points, data.values - self.rho * self.low)
        replicates = []
        for j, own in enumerate(self.difference.resampled(left, counts)):
            places = _places(self.difference.terms[j], self.terms[j])
            fixed = self.coefficients[j].copy()
            fixed[places] -= self.difference.coefficients[j]
            coefficients = np.tile(fixed, (len(counts), 1))
            coefficients[:, places] += own.coefficients
            replicates.append(Replicates(coefficients, np.empty((len(counts), 0))))
        return replicates

    def take(self, columns: Sequence[int]) -> Model:
        chosen = list(columns)
        plain = super().take(chosen)
        assert isinstance(plain, chaos.Expansions) and self.difference is not None
        difference = self.difference.take(chosen)
        assert isinstance(difference, chaos.Expansions)
        return Corrected(plain.core, plain.notes, difference, self.rho[chosen], self.low[:, chosen])


def _places(some: NDArray[np.uint8], every: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The number of each of some terms among all of them."""
    number = {row.tobytes(): i for i, row in enumerate(every)}
    return np.array([number[row.tobytes()] for row in some], np.intp)


@dataclass(frozen=True, eq=False)
class TwoLevel:
    """What fits the high level on a low one, as a family is fitted."""

    own: Low

    def fit(self, data: Data, settings: Settings, near: Model | None = None) -> Corrected:
        """Fit every output: rho first, then what is left."""
        low = self.own.mean(data.points)
        away, y = low - low.mean(axis=0), data.values - data.values.mean(axis=0)
        size = np.square(away).sum(axis=0)
        varies = size > 1e-24 * np.square(low).sum(axis=0)
        rho = np.divide((away * y).sum(axis=0), size, out=np.zeros(len(size)), where=varies)
        left = np.ascontiguousarray(data.values - rho * low)
        difference = chaos.fit(Data(data.families, data.points, left), settings)
        joined = [
            _sum(own, float(r), terms, coefficients)
            for own, r, terms, coefficients in zip(
                self.own.terms, rho, difference.terms, difference.coefficients, strict=True
            )
        ]
        spread = data.values.var(axis=0)
        notes = []
        for j, note in enumerate(difference.notes):
            share = float(left[:, j].var() / spread[j]) if spread[j] > 0 else 0.0
            notes.append(
                {
                    **note,
                    "constant": False,
                    "method": TWO_LEVEL,
                    "terms": int(note["terms"]),
                    "loo_corrected": float(note["loo_corrected"]) * share,
                    "rho": float(rho[j]),
                    "correlation": float(np.sqrt(max(1.0 - share, 0.0))),
                }
            )
        core = chaos.expansion_of(data.families, joined)
        return Corrected(core, tuple(notes), difference, rho, low)

    def load(self, families: Families, tables: Mapping[str, Any], columns: Sequence[int]) -> Model:
        """Stored as any expansion."""
        return chaos.load(families, tables, columns)

    def unseen(self, nested: Nested, places: NDArray[np.intp], points: Array) -> Nested:
        """Nested predictions with a low level that has not seen the points either."""
        change = self.own.unseen(points) - self.own.mean(points)
        rho = np.stack([model.rho for model in nested.models if isinstance(model, Corrected)])
        return Nested(nested.models, nested.predicted + rho[places] * change)

    def elsewhere(self, model: Model, values: Array) -> Array:
        """What the low level may be off by over the prior, over the variance of the high one."""
        assert isinstance(model, Corrected)
        spread = values.var(axis=0)
        far = np.square(model.rho) * self.own.elsewhere
        return np.asarray(np.divide(far, spread, out=np.zeros(len(spread)), where=spread > 0))


def _sum(low: Terms | None, rho: float, terms: NDArray[np.uint8], coefficients: Array) -> Terms:
    """rho times the low level plus the difference, as one list of terms, the constant first."""
    if low is None:
        return terms, coefficients
    both, numbers = np.unique(np.concatenate([terms, low[0]]), axis=0, return_inverse=True)
    values = np.concatenate([coefficients, rho * low[1]])
    return both, np.bincount(numbers.reshape(-1), values, len(both))
