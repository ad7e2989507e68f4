"""The errors of the surrogates of a calibration, as its likelihood takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.surrogates.common_error import Tails, alignment, correlation, standard_residuals, tails
from percuss.surrogates.surrogate import Surrogate


@dataclass(frozen=True, eq=False)
class _Own:
    """Of one surrogate: how its errors go together, and of the outputs used residuals and slopes at its points."""

    names: tuple[str, ...]
    together: Floats
    mixture: Tails
    points: Floats
    used: list[int]
    residuals: Floats
    slopes: Floats


def common_errors(parts: Sequence[tuple[Surrogate, Iterable[int]]]) -> list[CommonError]:
    """How errors of the outputs of each surrogate go together, with the tails and the alignment of the columns used.

    Surrogates of the same points, one for each case for instance, pull on the parameters together: they are aligned as
    one.
    """
    every = [_own(surrogate, used) for surrogate, used in parts]
    errors = []
    for one in every:
        aligned = _aligned([other for other in every if np.array_equal(one.points, other.points)])
        errors.append(CommonError(one.together, aligned * one.mixture.scales, one.mixture.shares, one.names))
    return errors


def _own(surrogate: Surrogate, used: Iterable[int]) -> _Own:
    residuals = standard_residuals(surrogate.tables["residuals"], len(surrogate.columns))
    together, shrunk = correlation(residuals.standard)
    varying = [j for j in sorted(set(used)) if residuals.size[j] > 0]
    points, slopes = surrogate.slopes_at(residuals.points)
    return _Own(
        tuple(f"{output}_{case}" for case, output in surrogate.outputs),
        together,
        tails(residuals.standard, varying, shrunk, together),
        points,
        varying,
        residuals.standard[:, varying],
        slopes[:, varying] / residuals.size[varying, None],
    )


def _aligned(parts: Sequence[_Own]) -> float:
    from scipy.linalg import block_diag

    together = block_diag(*(one.together[np.ix_(one.used, one.used)] for one in parts))
    return alignment(
        np.concatenate([one.residuals for one in parts], axis=1),
        np.concatenate([one.slopes for one in parts], axis=1),
        together,
        parts[0].points.var(axis=0),
    )
