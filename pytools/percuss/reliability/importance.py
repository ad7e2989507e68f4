"""Importance sampling about design points: a mixture of unit normals and of what lies beyond the planes there.

    p = mean of I(u) phi(u) / q(u),
    q = (1 - w) (c sum_k s_k phi(u - u_k) + (1 - c) phi(u) m(u) / sum_k Phi(-b_k)) + w phi(u) / (S(|u|) L)

with m(u) the number of design points beyond whose plane, a_k.u >= b_k, u lies. Draws of the second part have one
weight, whatever the number of variables, so that a plane needs few of them (after Hohenbichler and Rackwitz, 1988);
those of the normals are for what planes leave out.

Design points are searched for every element of a series from several starts (`starts`). A region that no design point
lies in is seen by the last part alone, draws all around: in any direction, with the logarithm of S(r), the probability
beyond a radius, even between 0 and -L. A region A that takes the share p_A / S of what lies beyond its radius is met by
one of these in p_A / (S L). So 3 L / share of them meet it in 19 of 20 cases: as many are drawn (`share`), whatever the
variance, before an estimate has converged, L reaching to where a tenth of what the planes have lies outside. In two
variables direction and depth are points of a scrambled Sobol sequence, each of which is a draw like any other but not
near to one there is already: 2 L / share of these miss discs, sectors and half-planes in 1.5 to 3.7 % of cases (13.5 %
if they were independent), and needles that are 27 times as long as wide in 3 to 12 %.

The mixture learns from its draws. A failing draw that carries `TIMES` what the mean one does stands where there is too
little of it: a normal is added there, the shares w_k become what each part is responsible for among the failing draws
(population Monte Carlo: Cappe, Douc, Guillin, Marin and Robert, 2008), and sampling begins again. Draws that a mixture
was learnt from are no part of the estimate: weighted by what they have led to, they would bias it (a twentieth in
twenty variables). So it learns `MOST_LESSONS` times at most, and not in many variables, where any draw is far from any
other. The interval has as many degrees of freedom as draws carry the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincc, gammainccinv, logsumexp, ndtr, ndtri

from percuss.designs.sobol import scrambled_sobol
from percuss.errors import InputError
from percuss.reliability.design_point import all_design_points
from percuss.reliability.estimate import (
    Array,
    Estimate,
    Samples,
    Settings,
    lognormal_interval,
    never_reached,
    next_block,
    too_wide,
)
from percuss.reliability.form import reason_of
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 10_000
OPTIONS = table_of(
    Setting("starts", "integer", 2, low=0, doc="searches beside that from the origin, for each element"),
    Setting("share", "number", 0.1, low=1e-4, high=1.0, doc="of what lies beyond its radius: a region that is met"),
)
# Draws about design points of the first block.
FIRST = 240
# Draws all around that meet a region in the mean, so that one in twenty meets none: exp(-3) where they are independent,
# fewer where they are spread evenly, which they are in so few variables.
MET, MET_EVENLY, EVENLY = 3.0, 2.0, 2
# L reaches to this share of what the planes have, and no farther than to this.
OUTER, OUTERMOST = 0.1, 1e-14
# A part of the mixture is never left out, however far its point.
LEAST_SHARE = 0.02
# A draw that carries this share of the estimate, and so many times what the mean one does (on a plane, where the
# mixture is right, none carries ten times as much), makes a part of its own, in so few variables, so often.
HEAVY, TIMES, FEW_VARIABLES, MOST_LESSONS = 0.02, 20, 10, 6
# Parts that one lesson adds at most.
MOST_ADDED = 20
# How many times the share of the heaviest draw the coefficient of variation is at least.
SHARES = 4.0
# Of the draws after the first block, those all around; and of the others, those from beyond the planes.
AROUND_SHARE = 0.2
PLANE_SHARE = 0.375
# A plane farther away is taken for one there: beyond it would lie nothing.
FARTHEST = 30.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Normals about `centres` (k, d) with `shares` of their part, and planes by unit vectors and distances."""

    centres: Array
    shares: Array
    alphas: Array
    betas: Array

    @property
    def depth(self) -> float:
        """L: the logarithm of the probability that lies within the outermost draws all around, to that outside."""
        return -math.log(min(max(OUTER * float(ndtr(-self.betas).sum()), OUTERMOST), OUTER))

    def needed(self, share: float) -> int:
        """Draws all around that meet a region of this share in 19 of 20 cases."""
        return math.ceil(self.met * self.depth / share)

    @property
    def met(self) -> float:
        """Draws in a region, in the mean, that make it one met in 19 of 20 cases."""
        return MET_EVENLY if self.centres.shape[1] <= EVENLY else MET

    def around(self, size: int, random: np.random.Generator) -> Array:
        """Points (size, d) in any direction."""
        d = self.centres.shape[1]
        if d <= EVENLY:
            turn, place = scrambled_sobol(2, 0, size, random).T
            u = np.column_stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)])
            u = u if d == 2 else np.where(turn < 0.5, 1.0, -1.0)[:, None]
        else:
            u = random.standard_normal((size, d))
            u, place = u / np.linalg.norm(u, axis=1)[:, None], random.random(size)
        return np.asarray(u * np.sqrt(2 * gammainccinv(d / 2, np.exp(-self.depth * place)))[:, None])

    def near(self, size: int, random: np.random.Generator) -> Array:
        """Points (size, d) about and beyond design points."""
        part = random.choice(len(self.centres), size, p=self.shares)
        u = random.standard_normal((size, self.centres.shape[1]))
        kind = random.random(size)
        tails = ndtr(-self.betas)
        plane = random.choice(len(tails), size, p=tails / tails.sum())
        depth = -ndtri(tails[plane] * (1 - random.random(size)))
        alpha = self.alphas[plane]
        beyond = u + (depth - np.einsum("ij,ij->i", u, alpha))[:, None] * alpha
        return np.where((kind < PLANE_SHARE)[:, None], beyond, u + self.centres[part])

    def log_weights(self, u: Array, share: float) -> Array:
        """log phi(u) / q(u) with a share of draws all around: phi(u - c) / phi(u) = exp(u.c - |c|^2 / 2)."""
        lift = u @ self.centres.T - 0.5 * np.einsum("ij,ij->i", self.centres, self.centres)
        normals = math.log((1 - share) * (1 - PLANE_SHARE)) + logsumexp(lift, axis=1, b=self.shares)
        beyond = (u @ self.alphas.T >= self.betas).sum(axis=1)
        planes = np.log((1 - share) * PLANE_SHARE * np.maximum(beyond, 1) / ndtr(-self.betas).sum())
        tail = np.maximum(gammaincc(u.shape[1] / 2, 0.5 * np.einsum("ij,ij->i", u, u)), 1e-300)
        within = tail >= math.exp(-self.depth)
        around = np.log(share / (tail * self.depth))
        parts = [normals, np.where(within, around, -np.inf), np.where(beyond > 0, planes, -np.inf)]
        return np.asarray(-logsumexp(parts, axis=0))


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
    share = settings.option(OPTIONS["share"])
    needed = mixture.needed(share)
    sampled, around = sample_mixture(limit, mixture, settings, random, needed)
    p, cv, n = sampled.weights[sampled.values <= 0].sum(), _cv(sampled), len(sampled.u)
    if p == 0:
        raise never_reached(n, settings.level)
    interval = lognormal_interval(float(p), cv, settings.level, dof=max(_carrying(sampled) - 1, 1.0))
    points = tuple(s.point for s in searches)
    reason = reason or too_wide(cv, settings.cv, n) or unseen(around, needed, share)
    missed = "smaller or much thinner" if limit.dimension <= EVENLY else "smaller"
    note = (
        f"of regions that no slope leads to, {around} draws all around meet one that takes a share of "
        f"{mixture.met * mixture.depth / around:.2g} of what lies beyond its radius in 19 of 20 cases, and may miss "
        f"{missed} ones; --method subset needs no slopes"
    )
    return Estimate(float(p), interval, cv, reason, sampled, points, facts={"draws_around": around}, notes=(note,))


def unseen(around: int, needed: int, share: float) -> str:
    """The reason why a region may be missing; empty: too few draws are no reason."""
    if around >= needed:
        return ""
    return (
        f"{around} draws were made all around, and {needed} are needed to meet a region that takes a share of "
        f"{share:g} of what lies beyond its radius"
    )


def sample_mixture(
    limit: Limit, mixture: Mixture, settings: Settings, random: np.random.Generator, needed: int
) -> tuple[Samples, int]:
    """Draws of the mixture with their weights over n, of the last one where it has learnt; and how many of all were
    all around.
    """
    lessons = MOST_LESSONS if limit.dimension <= FEW_VARIABLES else 0
    # What the budget does not suffice for is drawn in proportion.
    around = max(min(needed, settings.n * needed // (needed + FIRST)), 1)
    size = around + FIRST
    spent, total = 0, 0
    held, values, own = np.zeros((0, limit.dimension)), np.zeros(0), 0
    while True:
        size = min(size, settings.n - spent)
        around = min(around, size)
        u = np.concatenate([mixture.around(around, random), mixture.near(size - around, random)])
        held, values = np.concatenate([held, u]), np.concatenate([values, limit(u)])
        spent, total, own = spent + size, total + around, own + around
        # Draws of one mixture, whatever block they are of (deterministic mixture: Owen and Zhou, 2000).
        share = own / len(held)
        joined = Samples(held, values, np.exp(mixture.log_weights(held, share)) / len(held))
        cv = _cv(joined)
        if spent >= settings.n:
            return joined, total
        if lessons and _heaviest(joined.values, joined.weights) is not None:
            lessons -= 1
            mixture = _learnt(joined, mixture, share)
            size = len(held)
            held, values, own = np.zeros((0, limit.dimension)), np.zeros(0), 0
        elif cv <= settings.cv:
            return joined, total
        else:
            size = next_block(len(held), cv, settings.cv)
        around = math.ceil(AROUND_SHARE * size)


def _heaviest(values: Array, weights: Array) -> int | None:
    """The failing draw that carries the most, if that is too much."""
    failing = np.where(values <= 0, weights, 0.0)
    heaviest = int(np.argmax(failing))
    share = max(HEAVY, TIMES / max(int(np.count_nonzero(failing)), 1))
    return heaviest if failing[heaviest] > share * failing.sum() else None


def _learnt(samples: Samples, mixture: Mixture, share: float) -> Mixture:
    """Parts where single draws are heavy, until none is, and the shares all parts are responsible for."""
    for _ in range(MOST_ADDED):
        heaviest = _heaviest(samples.values, np.exp(mixture.log_weights(samples.u, share)))
        if heaviest is None:
            break
        centres = np.concatenate([mixture.centres, samples.u[heaviest][None]])
        mixture = replace(mixture, centres=centres, shares=_with_floor(np.append(mixture.shares, LEAST_SHARE)))
    failing = np.where(samples.values <= 0, samples.weights, 0.0)
    return replace(mixture, shares=_responsible(samples.u, mixture.centres, mixture.shares, failing))


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
