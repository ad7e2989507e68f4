"""The modes of a posterior: looked for over the whole prior before it is sampled, and held against the draws after.

R-hat compares chains with each other; a mode that no chain ever met it cannot see. So many points are drawn from the
prior, and climbs start from those that stand out among their neighbours (clustering before local search: Rinnooy Kan,
Timmer, 1987). Where climbs end on one hill only, nothing more is done. Several modes are weighed against each other by
importance sampling from a mixture of Student-t's, one a mode, fitted to it (adaptive importance sampling: Cappe et al.,
2008), and the draws of any sampler must fill each mode by what it weighs.

What the search can see: a mode whose basin, the part of the prior from which climbs lead to it, holds a share p of the
prior is without a start with probability (1 - p)^SCREENED.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.climbing import Climbs, climb, climb_on, curvature
from percuss.inference.diagnostics import ess_mean
from percuss.inference.mixture import Mixture, Weighed, weigh

if TYPE_CHECKING:
    from percuss.inference.target import Target

# Evaluations of a search at most, and as a part of those allowed in all; with fewer than FEWEST there is none.
MOST = 40_000
PART = 0.1
FEWEST = 2000
SCREENED = 8192
CLIMBS = 128
NEIGHBOURS = 8
# Evaluations of a climb for each parameter and besides: what most take.
STEPS = 15
# Draws from which climbs start when modes are held against draws.
FROM_DRAWS = 16
# Modes of less mass than this, against the heaviest, are left out: by Laplace, and once weighed.
NEGLIGIBLE = 1e-4
# Modes of less mass than this share need not be in the draws.
COUNTS = 0.01
# Chains need not jump for less.
WORTH = 1e-3
# A mode is empty with less than this part of the draws that it asks for.
EMPTY = 0.1
# By how much shares of draws and of mass may differ beyond their errors.
SLACK = 0.02
MOST_MODES = 12


@dataclass(frozen=True, eq=False)
class Modes:
    """Distinct local maxima in the unbounded space, the heaviest first: places (k, d), log density, Cholesky factors of
    the inverse Hessians (k, d, d), log masses by Laplace; points looked at, climbs made, evaluations in all. `weighed`
    where there are several.
    """

    at: Floats
    log_density: Floats
    factors: Floats
    log_mass: Floats
    screened: int
    climbed: int
    evaluations: int
    weighed: Weighed | None = None

    def __len__(self) -> int:
        return len(self.at)

    @property
    def several(self) -> Weighed | None:
        """The modes weighed, where more than one is worth to be sampled."""
        weighed = self.weighed
        return weighed if weighed and np.count_nonzero(weighed.shares > WORTH) > 1 else None


def search(target: Target, allowed: int, seed: int) -> Modes | None:
    """Look for modes over the whole prior; None where that would take too large a part of the evaluations allowed."""
    budget = min(MOST, int(PART * allowed))
    if budget < FEWEST:
        return None
    d = target.dimension
    # A key of its own: the sampler's numbers do not depend on whether there was a search.
    generator = np.random.default_rng((seed, 1))
    z = target.draw_prior(min(SCREENED, budget // 3), generator)
    f = target.log_density(z)
    climbs = max(min(CLIMBS, 2 * budget // (3 * STEPS * (d + 5))), 8)
    starts = outstanding(target, z, f, climbs)
    climbed = climb(target.log_density, z[starts], f[starts])
    none = Modes(np.empty((0, d)), np.empty(0), np.empty((0, d, d)), np.empty(0), len(z), len(starts), len(z))
    return _weighed(target, _joined(target, none, climbed), generator)


def outstanding(target: Target, z: Floats, log_density: Floats, n: int) -> NDArray[np.int64]:
    """At most n of the points: higher than all their neighbours in the prior's own measure; half of them the highest,
    half those that stand out most. A narrow mode is seen from few points, and none of them need be high.
    """
    from scipy.spatial import KDTree

    finite = np.flatnonzero(np.isfinite(log_density))
    if len(finite) <= n:
        return finite
    x = target.transform.values(z[finite])
    u = np.stack([prior.cdf(x[:, j]) for j, prior in enumerate(target.priors)], axis=1)
    near = KDTree(u).query(u, NEIGHBOURS + 1)[1][:, 1:]
    f = log_density[finite]
    around = f[near]
    out = f - np.max(around, axis=1)
    tops = np.flatnonzero(out > 0)
    prominence = out[tops] / (np.std(around[tops], axis=1) + 1e-300)
    high = tops[np.argsort(-f[tops], kind="stable")[: n // 2]]
    rest = tops[~np.isin(tops, high)]
    stands = rest[np.argsort(-prominence[~np.isin(tops, high)], kind="stable")[: n - len(high)]]
    return np.asarray(finite[np.concatenate([high, stands])])


def _joined(target: Target, known: Modes, climbed: Climbs) -> Modes:
    """The modes known and those at which climbs ended, each once, the heaviest first."""
    function = target.log_density
    at, top, factors, mass = (list(part) for part in (known.at, known.log_density, known.factors, known.log_mass))
    used = climbed.evaluations
    for i in np.argsort(-climbed.log_density, kind="stable"):
        end, f = climbed.ends[i], float(climbed.log_density[i])
        if not climbed.arrived[i] or not np.isfinite(f):
            continue
        away = np.array(
            [np.linalg.norm(np.linalg.solve(factor, end - a)) for a, factor in zip(at, factors, strict=True)]
        )
        if len(at) and np.any((away < 1.0) & (np.array(top) - f < 0.5 + away)):
            continue
        if len(at):
            nearest = at[int(np.argmin(away))]
            between = function(end + np.linspace(0.1, 0.9, 9)[:, None] * (nearest - end))
            used += 9
            # A ridge that leads up without a dip: a climb that lost its way on it, not a hill.
            if np.min(between) > f - 0.1:
                continue
        factor, cost = curvature(function, end, climbed.spread[i])
        used += cost
        log_mass = f + 0.5 * len(end) * math.log(2 * math.pi) + float(np.sum(np.log(np.diag(factor))))
        if mass and log_mass < max(mass) + math.log(NEGLIGIBLE):
            continue
        at.append(end)
        top.append(f)
        factors.append(factor)
        mass.append(log_mass)
    order = np.argsort(-np.array(mass), kind="stable")[:MOST_MODES] if mass else np.empty(0, np.int64)
    order = np.array([i for i in order if mass[i] > mass[order[0]] + math.log(NEGLIGIBLE)], np.int64)
    return Modes(
        np.array(at)[order] if at else known.at,
        np.array(top)[order],
        np.array(factors)[order] if at else known.factors,
        np.array(mass)[order],
        known.screened,
        known.climbed,
        known.evaluations + used,
    )


def _weighed(target: Target, modes: Modes, generator: np.random.Generator) -> Modes:
    if len(modes) < 2:
        return modes
    weighed = weigh(target, Mixture.equal(modes.at, modes.factors), generator)
    return replace(modes, evaluations=modes.evaluations + weighed.evaluations, weighed=weighed)


def begin(target: Target, modes: Modes | None, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Where n chains start, and the log density there: draws from the prior, or in the modes if several are known."""
    several = modes.several if modes else None
    return target.start(n, generator) if several is None else several.start(n, generator)


@dataclass(frozen=True, eq=False)
class Held:
    """Modes held against draws: places in SI (k, d), the share of the posterior by weighing with its error, the share
    of the draws; what speaks against the draws; points looked at, climbs made and evaluations of the search.
    """

    at: Floats
    shares: Floats
    errors: Floats
    drawn: Floats
    reasons: tuple[str, ...]
    screened: int
    climbed: int
    searched: int


def hold(target: Target, modes: Modes, draws: Floats, seed: int) -> Held:
    """Hold modes against unbounded draws (chains, draws, d), after climbs from some of these: they may have found more.

    A mode that counts must not be empty; and where weights can be trusted, the draws must fill each as it weighs,
    within four standard errors of both and SLACK.
    """
    chains, _, d = draws.shape
    generator = np.random.default_rng((seed, 2))
    starts = draws[np.linspace(0, chains - 1, min(FROM_DRAWS, chains)).astype(int), -1]
    joined = _joined(target, modes, climb(target.log_density, starts, target.log_density(starts)))
    if joined.at.shape != modes.at.shape or (joined.at != modes.at).any():
        modes = replace(_weighed(target, joined, generator), evaluations=modes.evaluations)
    at = target.transform.values(modes.at)
    figures = (modes.screened, modes.climbed, modes.evaluations)
    if modes.weighed is None:
        ones = np.ones(len(modes))
        return Held(at, ones, 0 * ones, ones, (), *figures)
    weighed = modes.weighed
    nearest = weighed.mixture.nearest(draws.reshape(-1, d)).reshape(draws.shape[:2])
    drawn = np.bincount(nearest.ravel(), minlength=len(modes)) / nearest.size
    reasons = []
    for k in np.flatnonzero(weighed.shares > COUNTS):
        share, error = float(weighed.shares[k]), float(weighed.errors[k])
        place = ", ".join(f"{name} = {value:.4g}" for name, value in zip(target.names, at[k], strict=True))
        inside = (nearest == k).astype(float)
        own = float(np.std(inside)) / math.sqrt(ess_mean(inside)) if 0 < drawn[k] < 1 else 0.0
        if drawn[k] < EMPTY * share and share > 2 * error:
            reasons.append(f"the draws miss a mode at {place} (SI), which holds about {100 * share:.0f} % of the mass")
        elif weighed.reliable and abs(drawn[k] - share) > SLACK + 4 * math.hypot(own, error):
            reasons.append(
                f"{100 * drawn[k]:.0f} % of the draws are in a mode at {place} (SI), "
                f"which holds about {100 * share:.0f} % of the mass"
            )
    # On a ridge that bends climbs stop on the way up. As parts of a mixture they serve; one hill is told once.
    hill, ends = _hills(target, modes)
    tops = np.flatnonzero(hill == np.arange(len(modes)))
    shares, draw_shares = (np.array([np.sum(part[hill == k]) for k in tops]) for part in (weighed.shares, drawn))
    errors = np.array([math.sqrt(np.sum(weighed.errors[hill == k] ** 2)) for k in tops])
    order = np.argsort(-shares, kind="stable")
    at = target.transform.values(ends[tops[order]])
    return Held(at, shares[order], errors[order], draw_shares[order], tuple(reasons), *figures)


def _hills(target: Target, modes: Modes) -> tuple[NDArray[np.int64], Floats]:
    """For each mode the one that stands for its hill, by climbs that go on from each; and where these end."""
    left, ends = 2 * MOST, []
    for at, f, factor in zip(modes.at, modes.log_density, modes.factors, strict=True):
        end, higher, spread, used = climb_on(
            target.log_density, at, float(f), np.einsum("ij,kj->ik", factor, factor), left
        )
        ends.append((end, higher, curvature(target.log_density, end, spread)[0]))
        left -= used
    hill = np.full(len(modes), -1)
    for k in np.argsort([-f for _, f, _ in ends], kind="stable"):
        end, f, _ = ends[k]
        same = [
            j
            for j in np.flatnonzero(hill == np.arange(len(modes)))
            if np.linalg.norm(np.linalg.solve(ends[j][2], end - ends[j][0])) < 1.0 and ends[j][1] - f < 0.5
        ]
        hill[k] = same[0] if same else k
    return hill, np.array([end for end, _, _ in ends])
