"""How much a test that was not made yet is expected to tell, beside the posterior there is.

The expected information gain (Lindley, 1956) about quantities q, in nats, and the expected contraction of each,

    U = E[log p(y | q) - log p(y)],    1 - E[var(q | y)] / var(q)

over draws of the posterior and data y of the test about them. p(y) is a mean over other draws: a nested estimator
(Ryan, 2003; Huan and Marzouk, 2013), whose bias falls with the number M of the inner draws as 1 / M (Rainforth et al.,
2018).
Half of them have twice the bias: 2 U_M - (U_a + U_b) / 2 of both halves is free of that term (the antithetic
difference of Goda, Hironaka and Iwamoto, 2020). Variances given y are of the inner draws weighted by p(y | draw), and
their bias is taken out the same way.

Where q are all unknowns, p(y | q) is that of the draw. Else it is a mean over the inner draws near q, their entries
moved to q by a local linear regression on q (as Beaumont, Zhang and Balding, 2002, move parameters): exact where the
entries are linear in Gaussian unknowns. With twice as many neighbours the gain changes by what this smoothing does.

Errors of Monte Carlo count the outer draws, and the inner ones, which all outer draws share, by their influence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.outlook import Outlook

# Fewer draws than this on either side tell nothing.
LEAST = 100
# Outer draws whose densities at all inner ones are held at once.
BLOCK = 128
# The part of the outer draws that may have fewer effective inner draws than is told.
FEWEST = 0.05
# Neighbours that a local regression on so many quantities and a constant needs, for each.
FOR_EACH = 50


@dataclass(frozen=True, eq=False)
class Draws:
    """Quantities (n, q) at the draws of a posterior, split into `outer`, about which data are drawn, and `inner`, which
    densities are means over. `complete`: a draw is known where its quantities are.
    """

    quantities: Floats
    outer: NDArray[np.int64]
    inner: NDArray[np.int64]
    complete: bool

    def __post_init__(self) -> None:
        if min(len(self.outer), len(self.inner)) < LEAST:
            raise InputError(f"{len(self.outer)} outer and {len(self.inner)} inner draws: at least {LEAST} are needed")

    @classmethod
    def split(cls, quantities: Floats, outer: int, seed: int, *, complete: bool) -> Draws:
        """So many outer draws, chosen at random; the others are inner."""
        order = np.random.default_rng([seed, 0]).permutation(len(quantities))
        return cls(quantities, order[:outer], order[outer:], complete)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over the outer draws, of `terms` (outer,); `influence` (inner,) is what each inner draw does to it."""

    terms: Floats
    influence: Floats

    @property
    def value(self) -> float:
        """The estimate."""
        return float(np.mean(self.terms))

    @property
    def error(self) -> float:
        """Its Monte Carlo standard error."""
        parts = [np.var(values, ddof=1) / len(values) for values in (self.terms, self.influence)]
        return math.sqrt(float(sum(parts)))

    def less(self, other: Estimate, own: float = 1.0, others: float = 1.0) -> Estimate:
        """The difference own * this - others * other, of the same draws."""
        return Estimate(own * self.terms - others * other.terms, own * self.influence - others * other.influence)


@dataclass(frozen=True, eq=False)
class Gain:
    """What a test is expected to tell: `gain` in nats; the contraction of each quantity; the gain of Gaussian
    quantities and entries with the same covariances, in closed form; by how much the `correction` moved the gain, and
    what the smoothing moves (0 where there is none). `effective`: inner draws that carry a density, at the 5 % of the
    outer draws where they are fewest.
    """

    gain: Estimate
    contractions: tuple[Estimate, ...]
    gaussian: float
    correction: float
    smoothing: float
    effective: float


def expected_gain(outlook: Outlook, draws: Draws, seed: int) -> Gain:
    """The gain of a test with this outlook at the draws; the same seed gives tests of one size the same noise."""
    data = outlook.draw(draws.outer, np.random.default_rng([seed, 1]))
    evidence = _evidence(outlook, draws, data)
    contractions = tuple(_contraction(evidence, draws, j) for j in range(draws.quantities.shape[1]))
    gaussian = gaussian_gain(outlook, draws)
    if draws.complete:
        own = outlook.log_density(data[:, None], draws.outer[:, None])[:, 0]
        gain = Estimate(own - evidence.log_density, -evidence.influence)
        correction = float(np.mean(evidence.raw - evidence.log_density))
        return Gain(gain, contractions, gaussian, correction, 0.0, float(np.quantile(evidence.effective, FEWEST)))
    near, far = (_conditional(outlook, draws, data, factor) for factor in (1, 2))
    gain = Estimate(near.log_density - evidence.log_density, near.influence - evidence.influence)
    correction = float(np.mean(near.log_density - near.raw) - np.mean(evidence.log_density - evidence.raw))
    smoothing = float(np.mean(near.log_density - far.log_density))
    effective = float(np.quantile(np.minimum(near.effective, evidence.effective), FEWEST))
    return Gain(gain, contractions, gaussian, correction, smoothing, effective)


def gaussian_gain(outlook: Outlook, draws: Draws) -> float:
    """1/2 log(det cov(y) / det cov(y | q)): exact where quantities and entries are Gaussian together."""
    centre = outlook.centre - outlook.centre.mean(axis=0)
    spread = np.atleast_2d(np.cov(centre.T)) + outlook.spread
    remaining = outlook.spread
    if not draws.complete:
        across = np.linalg.lstsq(_white(draws.quantities), centre, rcond=None)[0]
        left = centre - _white(draws.quantities) @ across
        remaining = np.atleast_2d(np.cov(left.T)) + outlook.spread
    return 0.5 * float(np.linalg.slogdet(spread)[1] - np.linalg.slogdet(remaining)[1])


def weighted_variances(outlook: Outlook, draws: Draws, data: Floats) -> Floats:
    """The variance of every quantity (n, q) given each row of data (n, k), by the inner draws."""
    return _evidence(outlook, draws, data).variances


@dataclass(frozen=True, eq=False)
class _Density:
    """Log density (n,) of data of which the bias is taken out, `raw` before that; how many inner draws carry it, and
    their influence.
    """

    log_density: Floats
    raw: Floats
    effective: Floats
    influence: Floats


@dataclass(frozen=True, eq=False)
class _Evidence(_Density):
    """p(y), and given y: variances (n, q) of the quantities, their influence (inner, q)."""

    variances: Floats
    of_variances: Floats


def _evidence(outlook: Outlook, draws: Draws, data: Floats) -> _Evidence:
    """p(y) as a mean over the inner draws, and the variances of the quantities by the same weights."""
    count = len(draws.inner)
    q = draws.quantities[draws.inner]
    middle, size = q.mean(axis=0), q.std(axis=0)
    q = (q - middle) / np.where(size > 0, size, 1.0)
    even = np.arange(count) % 2 == 0
    # Products with these give, for all inner draws and for both halves of them: sums, first and second moments.
    moments = np.concatenate([np.ones((count, 1)), q, q * q], axis=1)
    halves = [moments * part[:, None] for part in (even, ~even)]
    logs, raws, variances, effective = [], [], [], []
    influence = np.zeros(count)
    of_variances = np.zeros((count, q.shape[1]))
    for i in range(0, len(data), BLOCK):
        log = outlook.log_density(data[i : i + BLOCK, None], draws.inner)
        top = log.max(axis=1)
        weights = np.exp(log - top[:, None])
        whole = _moments(weights @ moments, count)
        parts = [_moments(weights @ half, int(part.sum())) for half, part in zip(halves, (even, ~even), strict=True)]
        raws.append(top + whole[0])
        # A half without any draw near the data has no density to speak of: the correction is as large as that says.
        logs.append(top + 2 * whole[0] - 0.5 * (parts[0][0] + parts[1][0]))
        variances.append(2 * whole[2] - 0.5 * (parts[0][2] + parts[1][2]))
        weights /= weights.sum(axis=1)[:, None]
        effective.append(1 / np.square(weights).sum(axis=1))
        influence += count * weights.sum(axis=0)
        mean, variance = whole[1], whole[2]
        shifted = weights.T @ mean, weights.T @ (mean * mean - variance)
        of_variances += count * (q * q * weights.sum(axis=0)[:, None] - 2 * q * shifted[0] + shifted[1])
    back = size * size
    return _Evidence(
        np.concatenate(logs),
        np.concatenate(raws),
        np.concatenate(effective),
        influence / len(data),
        np.concatenate(variances) * back,
        of_variances / len(data) * back,
    )


# Log density of data that no inner draw comes near: so far below the others that no average hides it.
NOWHERE = -700.0


def _moments(sums: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Log of the mean weight, weighted means and variances, out of sums (n, 1 + 2 q)."""
    size = (sums.shape[1] - 1) // 2
    total = np.maximum(sums[:, :1], math.exp(NOWHERE))
    mean, square = sums[:, 1 : 1 + size] / total, sums[:, 1 + size :] / total
    return np.log(total[:, 0] / count), mean, square - mean * mean


def _contraction(evidence: _Evidence, draws: Draws, j: int) -> Estimate:
    q = draws.quantities[draws.inner, j]
    away = (q - q.mean()) ** 2
    variance = float(np.mean(away))
    if variance == 0:
        return Estimate(np.zeros(len(evidence.variances)), np.zeros(len(q)))
    left = evidence.variances[:, j] / variance
    influence = -(evidence.of_variances[:, j] - np.mean(left) * away) / variance
    return Estimate(1 - left, influence)


def _conditional(outlook: Outlook, draws: Draws, data: Floats, factor: int) -> _Density:
    """p(y | q) at the outer draws, by inner draws near q: `factor` times as many as the rate of local linear
    regression asks for, M^(4 / (4 + dimension of q)).
    """
    white = _white(draws.quantities)
    dimension, count = white.shape[1], len(draws.inner)
    neighbours = max(count ** (4 / (4 + dimension)), FOR_EACH * (dimension + 1))
    near = min(count, factor * math.ceil(neighbours))
    centre = outlook.centre[draws.inner]
    logs, raws, effective = [], [], []
    influence = np.zeros(count)
    for i in range(0, len(data), BLOCK):
        at = white[draws.outer[i : i + BLOCK]]
        gap = np.square(at[:, None] - white[draws.inner][None]).sum(axis=2)
        rows = np.argpartition(gap, near - 1, axis=1)[:, :near]
        rows.sort(axis=1)
        distance = np.take_along_axis(gap, rows, axis=1)
        # Epanechnikov; the widest is a little beyond the farthest, so that this counts too.
        kernel = 1 - distance / (1.0001 * distance.max(axis=1, keepdims=True) + 1e-300)
        back = at[:, None] - white[draws.inner[rows]]
        moved = _moved(back, kernel, centre[rows])
        log = outlook.log_density(data[i : i + BLOCK, None] - moved, draws.inner[rows])
        top = log.max(axis=1)
        density = kernel * np.exp(log - top[:, None])
        even = np.arange(near) % 2 == 0
        raw = top + np.log(density.sum(axis=1) / kernel.sum(axis=1))
        halves = [
            top + np.log(np.maximum(density[:, part].sum(axis=1), math.exp(NOWHERE)) / kernel[:, part].sum(axis=1))
            for part in (even, ~even)
        ]
        raws.append(raw)
        logs.append(2 * raw - 0.5 * (halves[0] + halves[1]))
        density /= density.sum(axis=1)[:, None]
        effective.append(1 / np.square(density).sum(axis=1))
        own = density - kernel / kernel.sum(axis=1)[:, None]
        np.add.at(influence, rows.ravel(), count * own.ravel())
    return _Density(np.concatenate(logs), np.concatenate(raws), np.concatenate(effective), influence / len(data))


def _moved(back: Floats, kernel: Floats, centre: Floats) -> Floats:
    """What a weighted linear regression of `centre` (n, p, k) on -`back` (n, p, d) adds to go `back`: (n, p, k)."""
    ones = np.ones((*back.shape[:2], 1))
    design = np.concatenate([ones, -back], axis=2)
    weighted = design * kernel[:, :, None]
    square = np.swapaxes(weighted, 1, 2) @ design
    # Quantities that tell each other leave directions without draws: nothing is moved along these.
    slopes = np.linalg.pinv(square, rcond=1e-10, hermitian=True) @ (np.swapaxes(weighted, 1, 2) @ centre)
    return np.asarray(back @ slopes[:, 1:])


def _white(quantities: Floats) -> Floats:
    """Quantities (n, q) turned and scaled to unit covariance; directions without any spread left out."""
    away = quantities - quantities.mean(axis=0)
    size = away.std(axis=0)
    away = away[:, size > 0] / size[size > 0]
    if not away.shape[1]:
        return np.zeros((len(quantities), 1))
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(away.T)))
    kept = values > 1e-10 * values.max()
    return np.asarray(away @ vectors[:, kept] / np.sqrt(values[kept]))
