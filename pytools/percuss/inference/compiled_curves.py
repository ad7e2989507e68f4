"""Samples of curves for the core: few numbers that hold all that the samples say of the scores.

Samples y = m + L's + r, r ~ N(0, D), of a curve whose clock and errors are known have, with P = L D^-1 L' = V E V' and
b = L D^-1 (y - m), the density

    log N(y; m + L's, D) = c + log N(t; E^(1/2) V's, I),    t = E^(-1/2) V'b

for every s: t is sufficient (Fisher, 1922), as long as there are modes that the samples see, however many samples there
are. Errors of the scores become errors of E^(1/2) V's. Scores are expansions, and so are their sums: the core samples
them as outputs with a unit error each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import LOG_2PI, NormalResiduals
from percuss.inference.likelihood import Entries, Group
from percuss.surrogates.chaos import Expansions, expansion_of

# Directions of which the samples know less than this, beside the one they know best, are rounding.
SEEN = 1e-13


@dataclass(frozen=True, eq=False)
class CurveEntries:
    """Numbers `observed` (r,) with a unit error each, of `mixing` (r, k) times the scores `columns` (k,) of the forward
    model; `constant` is what the log density of the samples has besides.
    """

    columns: NDArray[np.int64]
    mixing: Floats
    observed: Floats
    constant: float

    def entries(self, forward: int) -> Entries:
        """The numbers as data of outputs of a forward model of that number."""
        size = len(self.observed)
        number, column, none = np.full(size, forward), np.arange(size), np.full(size, -1)
        return Entries(number, column, self.observed, np.ones(size), none)

    def covariance(self, of_scores: Floats) -> Floats:
        """What a covariance (k, k) of the scores is to the numbers."""
        return np.asarray(self.mixing @ of_scores @ self.mixing.T)

    def expansions(self, scores: Expansions) -> Expansions:
        """The numbers as expansions, out of those of the scores."""
        every = np.concatenate(scores.terms)
        terms, numbers = np.unique(every, axis=0, return_inverse=True)
        sizes = [len(own) for own in scores.terms]
        coefficients = np.zeros((len(sizes), len(terms)))
        coefficients[np.repeat(np.arange(len(sizes)), sizes), numbers.reshape(-1)] = np.concatenate(scores.coefficients)
        mixed = self.mixing @ coefficients
        return Expansions(expansion_of(scores.core.families, [(terms, own) for own in mixed]))


def curve_entries(groups: Sequence[Group], variances: Sequence[Floats]) -> CurveEntries | None:
    """The samples of one forward model; None where a clock or a number of an error is inferred, errors are not normal,
    or the variance (m,) known of the samples varies from point to point.
    """
    columns = np.unique(np.concatenate([group.outputs for group in groups])).astype(np.int64)
    information, pull = np.zeros((len(columns), len(columns))), np.zeros(len(columns))
    square, log_det, size = 0.0, 0.0, 0
    for group, variance in zip(groups, variances, strict=True):
        if not isinstance(group.discrepancy, NormalResiduals) or group.unknowns() or variance.ndim == 2:
            return None
        assert group.reading is not None
        loadings = group.reading.loadings
        start = group.observed - group.reading.read(np.zeros((1, len(loadings))), {})
        white, own_log_det = group.discrepancy.whiten(np.concatenate([loadings, start])[None], variance, {})
        modes, left = white[0, :-1], white[0, -1]
        places = np.searchsorted(columns, group.outputs)
        information[np.ix_(places, places)] += modes @ modes.T
        pull[places] += modes @ left
        square += float(left @ left)
        log_det += float(own_log_det[0])
        size += len(group.observed)
    values, vectors = np.linalg.eigh(information)
    seen = values > SEEN * values[-1]
    roots = np.sqrt(values[seen])
    observed = vectors[:, seen].T @ pull / roots
    rest = (size - len(observed)) * LOG_2PI + log_det + square - float(observed @ observed)
    return CurveEntries(columns, roots[:, None] * vectors[:, seen].T, observed, -0.5 * rest)
