"""Runs that a surrogate has not seen, as twins: by how much its errors must grow for posteriors to hold the truth.

The covariance of the errors is a mean over the prior, and the errors at one point have to do with the surrogate there:
a term that was fitted to nothing is an error as well as a slope, and a posterior takes the slope for knowledge. Dealt
to the points at random the same errors do no such harm, and no mean over points can see it.

So the folds of the surrogate are calibrated. A run that was left out of a fold has known parameters; its outputs, with
noise as the data have it, are the data of a twin; the posterior is that of the model fitted without it. The covariance
grows by the factor under which the true parameters are likeliest given their data, that of the largest mean of
log p(truth | data), which is a proper score (Gneiting and Raftery, 2007): too sure and too vague both cost. Shares of
intervals that hold would do in principle, and say nothing where a parameter is not known at all. Few runs, or data that
are known worse than the surrogate, leave the growth open: before them its logarithm to base 2 is standard normal, none
below 0. No single run decides: a twentieth of the scores is left out at both ends. Where 90 % intervals of all
parameters together still hold too little, by more than two standard errors over the twins, it grows on, to twice that
at most: a score weighs the middle of posteriors, and what is promised are intervals.

Posteriors are weighted points: those of the prior, the same for all twins, and others from a Student-t fitted to what
these say, weighted by the density of both together (Veach and Guibas, 1995). All in the standard normals behind the
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.designs.sobol import scrambled_sobol
from percuss.inference.arrays import Floats
from percuss.study.joint import SMALLEST, Joint, normal_quantile
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.common_error import Tails
from percuss.trust import Verdict

GROWTHS = 2.0 ** (np.arange(10) / 3)
# Twins at most, points of the prior, points near each twin's posterior and degrees of freedom of these.
TWINS, PRIOR_POWER, NEAR, DEGREES = 256, 11, 512, 6
# The growth that the points near a posterior are drawn for, how much wider they are, and what weights that they are
# fitted to must be worth: flattened if they are not.
MIDDLE, WIDER, WORTH = 3, 1.5, 40
# Rounds of points near a posterior at most; what their weights are worth when they are enough, and at least for a twin
# to count; the share of the twins that must.
ROUNDS, ENOUGH, LEAST, MOST_LEFT = 6, 100, 20, 0.9
# The share of twins that is left out at both ends of the scores.
TRIMMED = 0.05
# Steps of the growth beyond the best score, at most: a factor of 2.
FURTHER = 3
# What the noise of an output has at least of the variance of its error.
LEAST_NOISE = 1e-6
# The intervals whose coverage is judged, and how many right calibrations fail.
MASS, FALSE_ALARMS = 0.9, 0.01


class Side(NamedTuple):
    """One surrogate and its outputs that have data: predictions (n, u) of the model without a fold at canonical points,
    values of all runs (points, u), covariance of the errors and its tails, variance of the noise of the data.
    """

    predict: Callable[[int, Floats], Floats]
    values: Floats
    covariance: Floats
    tails: Tails
    noise: Floats


class LeftOut(NamedTuple):
    """The growth, and how many of so many 90 % intervals of each parameter hold the truth with it."""

    growth: float
    held: NDArray[np.int64]
    twins: int


def left_out_verdict(left_out: LeftOut, names: Sequence[str], *, specimens: bool = False) -> Verdict:
    """Whether posteriors of left-out runs hold their truth as often as they claim, with the growth that was found.

    Of `specimens` each run is one, with the data of all cases: what several have in common is not tried.
    """
    from scipy.special import bdtr

    p_values = bdtr(left_out.held.astype(float), left_out.twins, MASS)
    bound = FALSE_ALARMS / len(names)
    worst = int(np.argmin(p_values))
    passed = bool(p_values[worst] >= bound)
    sentence = (
        f"{100 * MASS:g} % intervals of {names[worst]} {'contain' if passed else 'do NOT contain'} the truth as often "
        f"as they claim, at runs that the surrogate was not fitted to{', each as one specimen' if specimens else ''}: "
        f"{left_out.held[worst]} of {left_out.twins}, p-value {p_values[worst]:.2g}, and at least {bound:.2g} is "
        "asked for"
    )
    return Verdict("twins", passed, sentence, float(p_values[worst]), bound)


class _Whitened(NamedTuple):
    """An output side in which both covariances are diagonal: `turn` (u, u), and for every scale and growth the inverse
    variances (u, scales * growths) and the logs of share and density there.
    """

    turn: Floats
    inverse: Floats
    log: Floats


def left_out_twins(
    joint: Joint, canonical: Canonical, points: Floats, folds: NDArray[np.intp], sides: Sequence[Side]
) -> LeftOut | None:
    """Calibrate on runs at canonical `points` (n, d), each left out of its fold; None if posteriors are too sharp."""
    d = points.shape[1]
    generator = np.random.default_rng([len(points), d])
    unit = scrambled_sobol(d, 0, 2**PRIOR_POWER, np.random.default_rng(31))
    everywhere = np.asarray(normal_quantile(np.clip(unit, SMALLEST, 1 - 2.0**-53)), float)
    at = canonical.points(joint.values(everywhere))
    white = [_whitened(side) for side in sides]
    before = {
        int(fold): [side.predict(int(fold), at) @ own.turn for side, own in zip(sides, white, strict=True)]
        for fold in np.unique(folds)
    }
    chosen = np.unique(np.linspace(0, len(points) - 1, min(TWINS, len(points))).astype(int))
    scores, ranks = [], []
    for i in chosen:
        fold, truth = int(folds[i]), points[i : i + 1]
        data = [
            (side.values[i] + np.sqrt(side.noise) * generator.standard_normal(len(side.noise))) @ own.turn
            for side, own in zip(sides, white, strict=True)
        ]

        def log_likelihoods(x: Floats, fold: int = fold, data: Sequence[Floats] = data) -> Floats:
            outputs = [side.predict(fold, x) @ own.turn for side, own in zip(sides, white, strict=True)]
            return _log_likelihoods(data, outputs, white)

        of_prior = _log_likelihoods(data, before[fold], white)
        normals, places, log = everywhere, at, of_prior
        for _ in range(ROUNDS):
            near, student = _near(normals, log[:, MIDDLE], generator)
            normals = np.concatenate([everywhere, near])
            places = np.concatenate([at, canonical.points(joint.values(near))])
            normal = -0.5 * (np.sum(normals**2, axis=1) + d * np.log(2 * np.pi))
            parts = np.log([len(everywhere), len(near)]) - np.log(len(normals))
            log = np.concatenate([of_prior, log_likelihoods(places[len(at) :])])
            log += (normal - np.logaddexp(parts[0] + normal, parts[1] + student(normals)))[:, None]
            if _worth(log[:, MIDDLE]) >= ENOUGH:
                break
        if _worth(log[:, MIDDLE]) < LEAST:
            continue
        highest = np.max(log, axis=0)
        weights = np.exp(log - highest)
        scores.append(log_likelihoods(truth)[0] - highest - np.log(np.mean(weights, axis=0)))
        ranks.append((weights / weights.sum(axis=0)).T @ (places < truth))
    if len(ranks) < MOST_LEFT * len(chosen):
        return None
    fewer = round(TRIMMED * len(scores))
    score = np.sum(np.sort(scores, axis=0)[fewer : len(scores) - fewer], axis=0)
    best = int(np.argmax(score - 0.5 * np.log2(GROWTHS) ** 2))
    inside = np.abs(np.array(ranks) - 0.5) < MASS / 2
    of_twins = np.mean(inside, axis=2)
    short = np.mean(of_twins, axis=0) + 2 * np.std(of_twins, axis=0) / np.sqrt(len(of_twins)) < MASS
    last = min(best + FURTHER, len(GROWTHS) - 1)
    while best < last and short[best]:
        best += 1
    return LeftOut(float(GROWTHS[best]), np.sum(inside[:, best], axis=0), len(ranks))


def _whitened(side: Side) -> _Whitened:
    noise = np.sqrt(np.maximum(side.noise, LEAST_NOISE * np.diagonal(side.covariance)))
    values, axes = np.linalg.eigh(side.covariance / noise[:, None] / noise)
    scales = np.multiply.outer(side.tails.scales, GROWTHS).ravel()
    inverse = 1.0 / (1.0 + np.maximum(values, 0.0)[:, None] * scales)
    return _Whitened(
        axes / noise[:, None],
        inverse,
        np.repeat(np.log(side.tails.shares), len(GROWTHS)) + 0.5 * np.log(inverse).sum(0),
    )


def _log_likelihoods(data: Sequence[Floats], outputs: Sequence[Floats], white: Sequence[_Whitened]) -> Floats:
    """With every growth: (n, growths), up to what is the same for all points and growths."""
    total = np.zeros((len(outputs[0]), len(GROWTHS)))
    for own_data, own_outputs, own in zip(data, outputs, white, strict=True):
        log = own.log - 0.5 * (np.square(own_data - own_outputs) @ own.inverse)
        # Not by logaddexp, which takes five times as long.
        by_scale = log.reshape(len(log), -1, len(GROWTHS)).swapaxes(0, 1)
        highest = by_scale.max(axis=0)
        total += highest + np.log(sum(np.exp(one - highest) for one in by_scale))
    return total


def _worth(log_weights: Floats) -> float:
    """How many points weights are worth (Kish, 1965)."""
    weights = np.exp(log_weights - np.max(log_weights))
    return float(np.sum(weights) ** 2 / np.sum(weights**2))


def _near(
    points: Floats, log_weights: Floats, generator: np.random.Generator
) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Points (NEAR, d) where weighted ones lie, and the log density they are drawn from."""
    power = 1.0
    while _worth(power * log_weights) < WORTH:
        power *= 0.8
    weights = np.exp(power * (log_weights - np.max(log_weights)))
    weights /= weights.sum()
    d = points.shape[1]
    mean = weights @ points
    covariance = (points - mean).T @ ((points - mean) * weights[:, None])
    factor = np.linalg.cholesky(WIDER * covariance + 1e-12 * np.eye(d))
    radius = np.sqrt(generator.chisquare(DEGREES, NEAR) / DEGREES)
    drawn = mean + (generator.standard_normal((NEAR, d)) / radius[:, None]) @ factor.T

    def log_density(x: Floats) -> Floats:
        from math import lgamma, log, pi

        size = lgamma((DEGREES + d) / 2) - lgamma(DEGREES / 2) - 0.5 * d * log(DEGREES * pi)
        away = np.sum(np.linalg.solve(factor, (x - mean).T) ** 2, axis=0)
        shape = np.log(np.diagonal(factor)).sum()
        return np.asarray(size - shape - 0.5 * (DEGREES + d) * np.log1p(away / DEGREES))

    return drawn, log_density
