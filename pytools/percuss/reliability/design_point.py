"""The point of a limit surface nearest to the origin: iHLRF with a line search (Zhang and Der Kiureghian, 1995).

    d = (grad g . u - g) / |grad g|^2 grad g - u,   u <- u + s d
    merit  m(u) = |u|^2 / 2 + c |g(u)|,   c > |u| / |grad g|,   s by Armijo's rule

Gradients are forward differences of step `STEP`: d evaluations, wrong by half a step over the radius of curvature,
which is below what convergence asks for. Converged when |g| is small beside g at the start and u is parallel to the
gradient.
No point farther than `REACH` is looked at: where the limit is nearly flat the next point would lie anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo
from percuss.reliability.estimate import Array, DesignPoint, MediansFailError
from percuss.reliability.limit import Limit

STEP = 1e-3
MOST_STEPS = 100
ON_SURFACE = 1e-4
PARALLEL = 1e-3
# Two design points are the same where they lie nearer than this.
APART = 0.1
# Phi(-beta) of a design point this much farther than another is a hundredth of it, or less.
FARTHER = 2.0
START_AT = 3.0
REACH = 9.0
# A start needs no search of its own where the plane at the point found tells its value, to this share of that at the
# origin.
EXPLAINED = 0.05


@dataclass(frozen=True, eq=False)
class Search:
    """Where a search ended, whether it converged, and the points it has seen with their values; `slope` is |grad g|."""

    point: DesignPoint
    converged: bool
    steps: int
    slope: float
    u: Array
    values: Array


def search(limit: Limit, element: int = 0, start: Array | None = None) -> Search:
    """Search the design point of one element from a start, by default the origin."""
    d = limit.dimension
    u = np.zeros(d) if start is None else np.asarray(start, float)
    seen_u: list[Array] = []
    seen_g: list[Array] = []

    def values(points: Array) -> Array:
        columns = limit.finite(points)
        seen_u.append(points)
        seen_g.append(np.asarray(limit.combine(columns)))
        return columns[:, element]

    g, gradient = _with_gradient(values, u)
    scale = abs(g) or 1.0
    if not gradient.any():
        raise _flat()
    converged, steps, penalty = False, 0, 0.0
    while not converged and steps < MOST_STEPS:
        steps += 1
        size = float(np.linalg.norm(gradient))
        aim = (gradient @ u - g) / size**2 * gradient
        direction = aim * min(1.0, REACH / max(float(np.linalg.norm(aim)), 1e-300)) - u
        penalty = max(penalty, 2 * float(np.linalg.norm(u)) / size, 1e-3 / size)
        if abs(g) > ON_SURFACE * scale:
            # The step must be one downhill of the merit, whatever the value is (eq. 20 of the source).
            penalty = max(penalty, float(np.linalg.norm(u + direction)) ** 2 / abs(g))
        slope = float(u @ direction) + penalty * np.sign(g) * float(gradient @ direction)
        merit = 0.5 * float(u @ u) + penalty * abs(g)
        step = 1.0
        for _ in range(12):
            trial = u + step * direction
            value = float(values(trial[None])[0])
            if 0.5 * float(trial @ trial) + penalty * abs(value) <= merit + 1e-4 * step * slope:
                break
            step /= 2
        u = trial
        g, gradient = _with_gradient(values, u, value)
        if not gradient.any():
            break
        alpha = -gradient / np.linalg.norm(gradient)
        off = float(np.linalg.norm(u - (alpha @ u) * alpha))
        if abs(g) <= ON_SURFACE * scale and off <= PARALLEL * max(1.0, float(np.linalg.norm(u))):
            converged = True
    norm = float(np.linalg.norm(gradient)) or 1.0
    alpha = -gradient / norm
    beta = float(alpha @ u)
    point = DesignPoint(u, beta, alpha, element)
    return Search(point, converged, steps, norm, np.concatenate(seen_u), np.concatenate(seen_g))


def _with_gradient(values: Callable[[Array], Array], u: Array, known: float | None = None) -> tuple[float, Array]:
    d = len(u)
    around = values(np.concatenate([u + STEP * np.eye(d), *([u[None]] if known is None else [])]))
    value = float(around[-1]) if known is None else known
    return value, (around[:d] - value) / STEP


def elements_of(limit: Limit) -> range:
    """How many elements there are: one evaluation at the origin tells; refused if it fails already."""
    columns = limit.finite(np.zeros((1, limit.dimension)))
    if limit.combine(columns)[0] <= 0:
        raise MediansFailError
    return range(columns.shape[1])


def all_design_points(limit: Limit, starts: int, seed: int) -> list[Search]:
    """Design points of every element, from the origin, from `starts` more points and from the mirror of the nearest.

    A start whose value the plane at a point found tells already is left out: on a plane one search is enough. Points
    nearer than `APART` to another, and those so much farther than the nearest of all that nothing comes of them, are
    left out too.
    """
    random = np.random.Generator(np.random.PCG64((seed, 1)))
    searches: list[Search] = []
    for element in elements_of(limit):
        candidates = _from(limit, element, np.zeros(limit.dimension))
        for _ in range(starts):
            direction = random.standard_normal(limit.dimension)
            start = direction * START_AT / np.linalg.norm(direction)
            candidates += [] if _explained(limit, element, start, candidates) else _from(limit, element, start)
        if not candidates:
            raise _flat()
        # A limit on both sides is the commonest second design point.
        mirror = -min(candidates, key=_distance).point.u
        if starts and not _explained(limit, element, mirror, candidates):
            candidates += _from(limit, element, mirror)
        searches += [c for c in candidates if c.converged] or candidates[:1]
    searches.sort(key=_distance)
    kept: list[Search] = []
    for candidate in searches:
        apart = all(np.linalg.norm(candidate.point.u - other.point.u) > APART for other in kept)
        if apart and (not kept or _distance(candidate) <= _distance(kept[0]) + FARTHER):
            kept.append(candidate)
    return kept


def _explained(limit: Limit, element: int, start: Array, searches: list[Search]) -> bool:
    """Whether the plane at one of the points found tells the value at a start; one evaluation, if there is a plane."""
    planes = [(done.slope * done.point.beta, done.slope * done.point.alpha) for done in searches if done.converged]
    if not planes:
        return False
    value = float(limit.finite(start[None])[0, element])
    return any(abs(value - (height - normal @ start)) <= EXPLAINED * abs(height) for height, normal in planes)


def _flat() -> AnswerIsNo:
    return AnswerIsNo(
        "the limit does not change where its design point is searched from: there is no way to it",
        hint="--method subset needs no slopes",
    )


def _distance(done: Search) -> float:
    return float(np.linalg.norm(done.point.u)) if done.converged else np.inf


def _from(limit: Limit, element: int, start: Array) -> list[Search]:
    """One more search; nothing where the limit is flat at its start."""
    try:
        return [search(limit, element, start)]
    except AnswerIsNo:
        return []
