"""Terms of expansions that say little about runs they have not seen, made smaller.

Least squares on a few hundred points keeps terms that were fitted to nothing. Their error is small beside that of the
output, and of a parameter that matters little they are most of what the surrogate knows: a posterior takes them for
knowledge.

The terms of an output are grouped by which parameters they hold, and each group is multiplied by a number between 0 and
1: those with which the models of the folds say best what was left out of them, by least squares (stacking: Wolpert,
1992; Breiman, 1995 and 1996). What is said of the error stays honest: a fold has the numbers found without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.assessment import Errors
from percuss.surrogates.chaos import Expansions, expansion_of
from percuss.surrogates.model import Array
from percuss.surrogates.surrogate import LoadedPart, Surrogate

# Relative errors below this are left alone: no data see them.
LEAST_ERROR = 1e-3
# By so many standard errors nested squares must become smaller, or the terms stay as they are.
CERTAIN = 1.5

Terms = tuple[NDArray[np.uint8], Array]


class _Shrunk(NamedTuple):
    """One output: terms of the surrogate and of each fold, and nested predictions."""

    terms: Terms
    folds: list[Terms]
    nested: Array


def shrunk(surrogate: Surrogate, columns: Iterable[int]) -> Surrogate:
    """The surrogate with some columns shrunk, where they are expansions, there are folds, and it is worth the while."""
    if not surrogate.folds:
        return surrogate
    looked_at = set(columns)
    parts, fold_parts = list(surrogate.parts), [list(fold) for fold in surrogate.folds]
    errors: dict[int, Errors] = {}
    nested = surrogate.tables["residuals"]
    for place, part in enumerate(surrogate.parts):
        folds = [fold[place].model for fold in surrogate.folds]
        if not isinstance(part.model, Expansions) or not all(isinstance(model, Expansions) for model in folds):
            continue
        outputs = {}
        for number, column in enumerate(part.columns):
            if column in looked_at and surrogate.columns[column].errors.nested is not None:
                one = _shrink(surrogate, column, part.model, folds, number)  # type: ignore[arg-type]
                if one:
                    outputs[number] = one
        if not outputs:
            continue
        parts[place] = _with(part, {number: one.terms for number, one in outputs.items()})
        for fold, fitted in enumerate(fold_parts):
            fitted[place] = _with(fitted[place], {number: one.folds[fold] for number, one in outputs.items()})
        whole = parts[place].model
        assert isinstance(whole, Expansions)
        distances = np.mean([whole.distance(f[place].model) for f in fold_parts], axis=0)  # type: ignore[arg-type]
        for number, one in outputs.items():
            column = part.columns[number]
            own = surrogate.columns[column]
            rows = nested["column"] == column
            values = nested.filter(rows)["value"].to_numpy()
            nested = nested.with_columns(nested=nested["nested"].scatter(rows.arg_true(), one.nested))
            errors[column] = replace(
                own.errors,
                nested=float(np.mean((values - one.nested) ** 2) / own.variance),
                elsewhere=float(distances[number] / own.variance),
            )
    made = tuple(
        replace(column, errors=errors[j]) if j in errors else column for j, column in enumerate(surrogate.columns)
    )
    changed = replace(surrogate, columns=made, parts=tuple(parts), tables={**surrogate.tables, "residuals": nested})
    # Of the folds there is no table any more: they are known.
    changed.__dict__["folds"] = tuple(tuple(fold) for fold in fold_parts)
    return changed


def _shrink(
    surrogate: Surrogate, column: int, model: Expansions, folds: Sequence[Expansions], number: int
) -> _Shrunk | None:
    points, missed, places = surrogate.nested(column)
    if (surrogate.columns[column].errors.nested or 0.0) < LEAST_ERROR:
        return None
    kinds = sorted({key for one in (model, *folds) for key in _keys(one.terms[number]) if any(key)})
    held = np.zeros((len(points), len(kinds)))
    constant = np.zeros(len(points))
    for fold, one in enumerate(folds):
        inside = places == fold
        terms = one.bases[number].predict(points[inside]) * one.coefficients[number]
        for term, key in enumerate(_keys(one.terms[number])):
            if any(key):
                held[inside, kinds.index(key)] += terms[:, term]
            else:
                constant[inside] += terms[:, term]
    about = missed + held.sum(axis=1)
    nested = constant.copy()
    scaled = []
    for fold, one in enumerate(folds):
        inside = places == fold
        factors = _factors(held[~inside], about[~inside])
        nested[inside] += held[inside] @ factors
        scaled.append(_scaled(one, number, kinds, factors))
    values = constant + about
    gained = missed**2 - (values - nested) ** 2
    if np.mean(gained) < CERTAIN * np.std(gained) / np.sqrt(len(gained)):
        return None
    return _Shrunk(_scaled(model, number, kinds, _factors(held, about)), scaled, nested)


def _keys(terms: NDArray[np.uint8]) -> list[tuple[bool, ...]]:
    """Which parameters each term holds."""
    return [tuple(bool(degree) for degree in row) for row in terms]


def _factors(held: Array, about: Array) -> Array:
    """Numbers between 0 and 1 by which parts (n, k) say best what there is; 0 for what no fold has."""
    from scipy.optimize import lsq_linear

    there = held.any(axis=0)
    factors = np.zeros(held.shape[1])
    if there.any():
        factors[there] = lsq_linear(held[:, there], about, (0.0, 1.0), method="bvls").x
    return factors


def _scaled(model: Expansions, number: int, kinds: Sequence[tuple[bool, ...]], factors: Array) -> Terms:
    by_kind = dict(zip(kinds, factors, strict=True))
    terms = model.terms[number]
    return terms, model.coefficients[number] * np.array([by_kind.get(key, 1.0) for key in _keys(terms)])


def _with(part: LoadedPart, outputs: dict[int, Terms]) -> LoadedPart:
    """A part with other terms of some of its outputs."""
    model = part.model
    assert isinstance(model, Expansions)
    every = [outputs.get(j, (model.terms[j], model.coefficients[j])) for j in range(model.core.outputs)]
    return replace(part, model=Expansions(expansion_of(model.core.families, every), model.notes))
