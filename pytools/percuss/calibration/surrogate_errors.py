"""The errors of the surrogates of a calibration, as its likelihood takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from percuss.calibration.left_out_twins import GROWTHS, LeftOut, Side, left_out_twins
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.study.joint import Joint
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.common_error import Tails, alignment, correlation, standard_residuals, tails
from percuss.surrogates.surrogate import LoadedPart, Surrogate

# Fewer runs than this are too few twins to find a growth by.
LEAST_TWINS = 30
# Errors with less than this share of the variance of the noise, however much they grow, move no interval.
MATTERS = 0.01


@dataclass(frozen=True, eq=False)
class _Own:
    """Of one surrogate: how its errors go together, and of the outputs used residuals and slopes at its points."""

    surrogate: Surrogate
    names: tuple[str, ...]
    together: Floats
    mixture: Tails
    points: Floats
    used: list[int]
    residuals: Floats
    slopes: Floats
    noise: Mapping[int, float]


@dataclass(frozen=True, eq=False)
class CommonErrors:
    """The error of each surrogate, by how much its variance grew, and what left-out runs say of it: nothing where they
    could not be asked.
    """

    errors: list[CommonError]
    growths: tuple[float, ...]
    left_out: tuple[LeftOut, ...]


def common_errors(
    parts: Sequence[tuple[Surrogate, Iterable[int] | Mapping[int, float]]],
    *,
    ask: bool = True,
    growths: Sequence[float] | None = None,
) -> CommonErrors:
    """How errors of the outputs of each surrogate go together, with the tails and the growth of the columns used: their
    numbers, where it is known with the variance to which the data know each.

    Surrogates of the same points, one for each case for instance, pull on the parameters together: they grow as one.
    `ask`: left-out runs. `growths` that were found before are taken as they are.
    """
    every = [_own(surrogate, used) for surrogate, used in parts]
    errors: list[CommonError] = []
    asked: list[LeftOut] = []
    grown: dict[int, float] = dict(enumerate(growths)) if growths is not None else {}
    for number, one in enumerate(every):
        if number not in grown:
            same = [i for i, other in enumerate(every) if np.array_equal(one.points, other.points)]
            left_out = _left_out([every[i] for i in same]) if ask else None
            asked += [left_out] if left_out else []
            growth = left_out.growth if left_out else _aligned([every[i] for i in same])
            grown |= dict.fromkeys(same, growth)
        errors.append(CommonError(one.together, grown[number] * one.mixture.scales, one.mixture.shares, one.names))
    return CommonErrors(errors, tuple(grown[number] for number in range(len(every))), tuple(asked))


def _own(surrogate: Surrogate, used: Iterable[int] | Mapping[int, float]) -> _Own:
    residuals = standard_residuals(surrogate.tables["residuals"], len(surrogate.columns))
    together, shrunk = correlation(residuals.standard)
    varying = [j for j in sorted(set(used)) if residuals.size[j] > 0]
    points, slopes = surrogate.slopes_at(residuals.points)
    return _Own(
        surrogate,
        tuple(f"{output}_{case}" for case, output in surrogate.outputs),
        together,
        tails(residuals.standard, varying, shrunk, together),
        points,
        varying,
        residuals.standard[:, varying],
        slopes[:, varying] / residuals.size[varying, None],
        used if isinstance(used, Mapping) else {},
    )


def _left_out(parts: Sequence[_Own]) -> LeftOut | None:
    """Twins of the folds of expansions; None where there are no folds, too few runs, data of another kind, or errors
    far below the noise of the data: intervals then hold what they hold whatever these are.
    """
    sides, folds = [], list[NDArray[np.intp]]()
    for one in parts:
        surrogate, used = one.surrogate, one.used
        groups = {surrogate.columns[j].group for j in used}
        if not used:
            continue
        if not surrogate.folds or len(groups) != 1 or not set(used) <= set(one.noise):
            return None
        models = [next((p for p in fold if set(used) <= set(p.columns)), None) for fold in surrogate.folds]
        expansions = [model for model in models if model and isinstance(model.model, Expansions)]
        if len(expansions) < len(models):
            return None
        nested = [surrogate.nested(j) for j in used]
        points, _, own_folds = nested[0]
        if len(points) < LEAST_TWINS or not np.array_equal(points, parts[0].points):
            return None
        folds.append(own_folds)
        values = np.stack([missed for _, missed, _ in nested], axis=1)
        for fold in np.unique(own_folds):
            inside = own_folds == fold
            values[inside] += _outputs(expansions[fold], used, points[inside])
        std = np.sqrt([surrogate.columns[j].errors.trusted * surrogate.columns[j].variance for j in used])
        sides.append(
            Side(
                partial(_without_fold, tuple(expansions), tuple(used)),
                values,
                std[:, None] * one.together[np.ix_(used, used)] * std,
                one.mixture,
                np.array([one.noise[j] for j in used]),
            )
        )
    if not sides or any(not np.array_equal(folds[0], other) for other in folds):
        return None
    if all(np.all(np.diagonal(side.covariance) * GROWTHS[-1] < MATTERS * side.noise) for side in sides):
        return None
    surrogate = parts[0].surrogate
    return left_out_twins(Joint.of(surrogate.study), surrogate.canonical, parts[0].points, folds[0], sides)


def _without_fold(models: Sequence[LoadedPart], used: Sequence[int], fold: int, points: Floats) -> Floats:
    return _outputs(models[fold], used, points)


def _outputs(part: LoadedPart, used: Sequence[int], points: Floats) -> Floats:
    return part.model.mean(points)[:, [part.columns.index(j) for j in used]]


def _aligned(parts: Sequence[_Own]) -> float:
    from scipy.linalg import block_diag

    together = block_diag(*(one.together[np.ix_(one.used, one.used)] for one in parts))
    return alignment(
        np.concatenate([one.residuals for one in parts], axis=1),
        np.concatenate([one.slopes for one in parts], axis=1),
        together,
        parts[0].points.var(axis=0),
    )
