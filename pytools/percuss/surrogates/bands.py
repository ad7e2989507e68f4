"""Local prediction bands from resampled designs, for any family.

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.model import Array, Data, Model, Replicates


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
