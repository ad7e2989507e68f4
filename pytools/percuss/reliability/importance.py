"""Importance sampling about design points: a mixture of unit normals and of what lies beyond the planes there.

    p = mean of I(u) phi(u) / q(u),
    q = (1 - w_0 - w_1) sum_k s_k phi(u - u_k) + w_0 phi(u / 2) / 2^d + w_1 phi(u) m(u) / sum_k Phi(-b_k)

with m(u) the number of design points beyond whose plane, a_k.u >= b_k, u lies. Draws of the last part have one weight,
whatever the number of variables, so that a plane needs few of them (after Hohenbichler and Rackwitz, 1988); those of
the normals are for what planes leave out.

Design points are searched for every element of a series from several starts (`starts`). A region that no design point
lies in is seen by the wide part of the mixture alone, a share w_0 of the draws: with few variables it may be found,
and is then learnt; with more than some thirty it is not, and subset simulation is the method to take.

The mixture learns from its draws. A failing draw that carries `TIMES` what the mean one does stands where there is too
little of it: a normal is added there, the shares w_k become what each part is responsible for among the failing draws
(population Monte Carlo: Cappe, Douc, Guillin, Marin and Robert, 2008), and sampling begins anew. Draws that a mixture
was learnt from are no part of the estimate: weighted by what they have led to, they would bias it (a twentieth in
twenty variables). So it learns `MOST_LESSONS` times at most, and not in many variables, where any draw is far from any
other. The interval has as many degrees of freedom as draws carry the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from percuss.errors import InputError
from percuss.reliability.design_point import all_design_points
from percuss.reliability.estimate import (
    Array,
    Estimate,
    Samples,
    Settings,
    lognormal_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.form import reason_of
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 10_000
OPTIONS = table_of(Setting("starts", "integer", 2, low=0, doc="searches beside that from the origin, for each element"))
NOTE = "a region that no slope leads to, and that no wide draw has met, is not in it; --method subset needs no slopes"
FIRST = 300
# A block is at least this part of what was drawn before.
GROWTH = 0.25
# A part of the mixture is never left out, however far its point.
LEAST_SHARE = 0.02
# A draw that carries this share of the estimate, and so many times what the mean one does (on a plane, where the
# mixture is right, none carries ten times as much), makes a part of its own, in so few variables, so often.
HEAVY, TIMES, FEW_VARIABLES, MOST_LESSONS = 0.02, 20, 10, 6
# Parts that one lesson adds at most.
MOST_ADDED = 20
# How many times the share of the heaviest draw the coefficient of variation is at least.
SHARES = 4.0
# Of the draws, those from a normal twice as wide about the origin, which are all that sees a region without a design
# point, and those from beyond the planes.
WIDE_SHARE, WIDE = 0.2, 2.0
PLANE_SHARE = 0.3
# A plane farther away is taken for one there: beyond it would lie nothing.
FARTHEST = 30.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Normals about `centres` (k, d) with `shares` of their part, and planes by unit vectors and distances."""

    centres: Array
    shares: Array
    alphas: Array
    betas: Array

    def drawn(self, size: int, random: np.random.Generator) -> Array:
        """Points (size, d)."""
        part = random.choice(len(self.centres), size, p=self.shares)
        u = random.standard_normal((size, self.centres.shape[1]))
        kind = random.random(size)
        tails = ndtr(-self.betas)
        plane = random.choice(len(tails), size, p=tails / tails.sum())
        depth = -ndtri(tails[plane] * (1 - random.random(size)))
        alpha = self.alphas[plane]
        beyond = u + (depth - np.einsum("ij,ij->i", u, alpha))[:, None] * alpha
        near = np.where((kind < WIDE_SHARE + PLANE_SHARE)[:, None], beyond, u + self.centres[part])
        return np.where((kind < WIDE_SHARE)[:, None], WIDE * u, near)

    def log_weights(self, u: Array) -> Array:
        """log phi(u) / q(u): phi(u - c) / phi(u) = exp(u.c - |c|^2 / 2)."""
        lift = u @ self.centres.T - 0.5 * np.einsum("ij,ij->i", self.centres, self.centres)
        near = math.log1p(-WIDE_SHARE - PLANE_SHARE) + logsumexp(lift, axis=1, b=self.shares)
        square = np.einsum("ij,ij->i", u, u)
        wide = math.log(WIDE_SHARE) - u.shape[1] * math.log(WIDE) + 0.5 * (1 - WIDE**-2) * square
        beyond = (u @ self.alphas.T >= self.betas).sum(axis=1)
        planes = np.log(PLANE_SHARE * np.maximum(beyond, 1) / ndtr(-self.betas).sum())
        return np.asarray(-logsumexp([near, wide, np.where(beyond > 0, planes, -np.inf)], axis=0))


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Search, then sample in blocks until the coefficient of variation is reached."""
    if limit.parallel:
        raise InputError("importance: takes limits and series of limits, not parallel systems", hint="--method subset")
    searches = all_design_points(limit, settings.option(OPTIONS["starts"]), settings.seed)
    reason = reason_of(searches)
    centres = np.array([s.point.u for s in searches])
    shares = np.maximum(ndtr(-np.linalg.norm(centres, axis=1)), 1e-300)
    random = np.random.Generator(np.random.PCG64((settings.seed, 2)))
    betas = np.minimum([s.point.beta for s in searches], FARTHEST)
    mixture = Mixture(centres, _with_floor(shares), np.array([s.point.alpha for s in searches]), betas)
    sampled = sample_mixture(limit, mixture, settings, random)
    p, cv, n = sampled.weights[sampled.values <= 0].sum(), _cv(sampled), len(sampled.u)
    if p == 0:
        raise never_reached(n, settings.level)
    interval = lognormal_interval(float(p), cv, settings.level, dof=max(_carrying(sampled) - 1, 1.0))
    points = tuple(s.point for s in searches)
    return Estimate(float(p), interval, cv, reason or too_wide(cv, settings.cv, n), sampled, points, notes=(NOTE,))


def sample_mixture(limit: Limit, mixture: Mixture, settings: Settings, random: np.random.Generator) -> Samples:
    """Draws of the mixture with their weights over n; of the last one, where it has learnt."""
    lessons = MOST_LESSONS if limit.dimension <= FEW_VARIABLES else 0
    spent, size = 0, FIRST
    joined = Samples(np.zeros((0, limit.dimension)), np.zeros(0), np.zeros(0))
    while True:
        u = mixture.drawn(min(size, settings.n - spent), random)
        values = limit(u)
        spent += len(u)
        joined = _joined(joined, Samples(u, values, np.exp(mixture.log_weights(u))))
        cv = _cv(joined)
        if spent >= settings.n:
            return joined
        if lessons and _heaviest(joined.values, joined.weights) is not None:
            lessons -= 1
            mixture = _learnt(joined, mixture)
            size = len(joined.u)
            joined = Samples(np.zeros((0, limit.dimension)), np.zeros(0), np.zeros(0))
        elif cv <= settings.cv:
            return joined
        else:
            size = _next_block(len(joined.u), cv, settings.cv)


def _joined(before: Samples, block: Samples) -> Samples:
    """Draws of one mixture; the weights of all are over their number."""
    n = len(before.u) + len(block.u)
    return Samples(
        np.concatenate([before.u, block.u]),
        np.concatenate([before.values, block.values]),
        np.concatenate([before.weights * (len(before.u) / n), block.weights / n]),
    )


def _heaviest(values: Array, weights: Array) -> int | None:
    """The failing draw that carries the most, if that is too much."""
    failing = np.where(values <= 0, weights, 0.0)
    heaviest = int(np.argmax(failing))
    share = max(HEAVY, TIMES / max(int(np.count_nonzero(failing)), 1))
    return heaviest if failing[heaviest] > share * failing.sum() else None


def _learnt(samples: Samples, mixture: Mixture) -> Mixture:
    """Parts where single draws are heavy, until none is, and the shares all parts are responsible for."""
    for _ in range(MOST_ADDED):
        heaviest = _heaviest(samples.values, np.exp(mixture.log_weights(samples.u)))
        if heaviest is None:
            break
        centres = np.concatenate([mixture.centres, samples.u[heaviest][None]])
        mixture = replace(mixture, centres=centres, shares=_with_floor(np.append(mixture.shares, LEAST_SHARE)))
    failing = np.where(samples.values <= 0, samples.weights, 0.0)
    return replace(mixture, shares=_responsible(samples.u, mixture.centres, mixture.shares, failing))


def _next_block(n: int, cv: float, asked: float) -> int:
    """Draws that are missing by what is known so far, at most as many again."""
    missing = n if math.isinf(cv) else math.ceil(n * (cv / asked) ** 2) - n
    return max(min(missing, n), math.ceil(GROWTH * n))


def _with_floor(shares: Array) -> Array:
    """Shares that sum to one, none of them below the least."""
    raised = np.maximum(shares / shares.sum(), LEAST_SHARE)
    return np.asarray(raised / raised.sum())


def _responsible(u: Array, centres: Array, shares: Array, failing: Array) -> Array:
    """What each part is responsible for, of the weight that fails."""
    own = failing > 0
    lift = np.log(shares) + u[own] @ centres.T - 0.5 * np.einsum("ij,ij->i", centres, centres)
    parts = np.exp(lift - logsumexp(lift, axis=1, keepdims=True))
    return _with_floor(failing[own] @ parts)


def _carrying(samples: Samples) -> float:
    """How many draws of equal weight would carry as much: (sum w)^2 / sum w^2 of what fails."""
    failing = np.where(samples.values <= 0, samples.weights, 0.0)
    return float(failing.sum() ** 2 / (failing @ failing))


def _cv(samples: Samples) -> float:
    """Coefficient of variation of the mean of the weights of what fails.

    Where the surface bends towards the origin few draws carry most of the weight, and the variance among those seen so
    far tells too little: as long as one draw carries a share, the estimate is no better than some of such shares.
    """
    n = len(samples.u)
    failing = np.where(samples.values <= 0, samples.weights * n, 0.0)
    mean = float(failing.mean())
    if not mean > 0 or n < 2:
        return math.inf
    spread = float(failing.std(ddof=1)) / mean / math.sqrt(n)
    return max(spread, SHARES * float(failing.max()) / (n * mean))
