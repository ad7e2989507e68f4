"""Samples of a curve, read out of the scores of its modes: a linear map of the outputs of a forward model.

    y_i = m(t_i) + sum_k s_k f_k(t_i),    t_i = (place_i - delay) / (1 + drift)

with straight lines between the places of the modes' axis. Delay and drift are those of the clock the places were taken
by, known or inferred with the parameters. Samples that a clock moves off the axis are held against its end. Errors of
the scores are small, and what an inferred clock does to them is left out: they are spread by its median.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Unknown, Unknowns, at


class Between(NamedTuple):
    """Where places lie on the axis: the sample before each, and the share of the next one; (m,) or (n, m)."""

    before: NDArray[np.intp]
    share: Floats

    def of(self, values: Floats) -> Floats:
        """Values (..., t) of the axis at places (m,): (..., m)."""
        low = values[..., self.before]
        return np.asarray(low + self.share * (values[..., self.before + 1] - low))

    def of_each(self, curves: Floats) -> Floats:
        """Curves (n, t), each at its own places: (n, m)."""
        low = np.take_along_axis(curves, self.before, 1)
        return np.asarray(low + self.share * (np.take_along_axis(curves, self.before + 1, 1) - low))


@dataclass(frozen=True, eq=False)
class Reading:
    """Places (m,) at which a curve was seen; `mean` (t,), `modes` (k, t) and `rest` (t,), the variance that the modes
    leave out, over `axis` (t,).
    """

    axis: Floats
    mean: Floats
    modes: Floats
    rest: Floats
    places: Floats
    delay: float | Unknown = 0.0
    drift: float | Unknown = 0.0

    def unknowns(self) -> list[Unknown]:
        """List what is inferred of the clock."""
        return [value for value in (self.delay, self.drift) if isinstance(value, Unknown)]

    def instants(self, unknowns: Unknowns) -> Floats:
        """The places on the model's own clock: (m,) or (n, m)."""
        return np.asarray((self.places - at(self.delay, unknowns)) / (1 + at(self.drift, unknowns)))

    def read(self, scores: Floats, unknowns: Unknowns) -> Floats:
        """Samples (n, m) of the curves of scores (n, k)."""
        if not self.unknowns():
            return np.asarray(self._seen_mean + scores @ self._seen_modes)
        return self._between(self.instants(unknowns)).of_each(self.mean + scores @ self.modes)

    def spread(self, scores: Floats) -> Floats:
        """What errors of scores (n, k) make of the samples: (n, m)."""
        return np.asarray(scores @ self.loadings)

    @property
    def loadings(self) -> Floats:
        """The modes at the samples: (k, m)."""
        return self._seen_modes

    @cached_property
    def rest_variance(self) -> Floats:
        """Variance (m,) of what the modes leave out, by the clock as it is written."""
        return np.interp(self.places, self.axis, self.rest)

    @cached_property
    def _known(self) -> Between:
        return self._between(self.instants({u.name: np.array([u.prior.ppf(0.5)]) for u in self.unknowns()}).ravel())

    @cached_property
    def _seen_mean(self) -> Floats:
        return self._known.of(self.mean)

    @cached_property
    def _seen_modes(self) -> Floats:
        return self._known.of(self.modes)

    def _between(self, instants: Floats) -> Between:
        """Where instants lie on the axis: found by dividing where its steps are equal."""
        instants = np.clip(instants, self.axis[0], self.axis[-1])
        step = (self.axis[-1] - self.axis[0]) / (len(self.axis) - 1)
        if np.allclose(np.diff(self.axis), step, rtol=1e-6, atol=0):
            before = ((instants - self.axis[0]) * (1 / step)).astype(np.intp)
        else:
            before = np.searchsorted(self.axis, instants, side="right") - 1
        before = np.minimum(before, len(self.axis) - 2)
        share = (instants - self.axis[before]) / self._steps[before]
        return Between(before, share)

    @cached_property
    def _steps(self) -> Floats:
        return np.diff(self.axis)
