"""Many climbs at once to the local maxima of a log density: quasi-Newton steps (Broyden, Fletcher, Goldfarb, Shanno,
1970) with differences for derivatives. All points that all climbs ask for go into one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from percuss.inference.arrays import Floats

# Lengths of a quasi-Newton step that are tried together; the best is taken.
LENGTHS = np.array([1.0, 2.5, 0.4, 0.1, 0.01])
FARTHEST_STEP = 2.0
FIRST_STEP = 0.3
# Differences go over this part of the width that a climb believes its hill to have, and never below what can be told.
PART = 1e-3
FINEST = 1e-9
# A climb has arrived when a Newton step promises no more than this of the log density.
ARRIVED = 1e-4
MOST_STEPS = 60


class Climbs(NamedTuple):
    """Where climbs ended (n, d), log density there, inverse Hessians (n, d, d), which arrived, evaluations made."""

    ends: Floats
    log_density: Floats
    spread: Floats
    arrived: np.ndarray
    evaluations: int


def climb(function: Callable[[Floats], Floats], starts: Floats, log_density: Floats) -> Climbs:
    """Climb from all starts (n, d), of known log density (n,), until each has arrived or gets no higher."""
    n, d = starts.shape
    x, f = starts.copy(), log_density.copy()
    g = np.zeros((n, d))
    spread = np.tile(np.eye(d), (n, 1, 1))
    fresh = np.ones(n, bool)
    arrived = np.zeros(n, bool)
    used = 0
    going = np.flatnonzero(np.isfinite(f))
    g[going] = _gradient(function, x[going], f[going], spread[going])
    used += len(going) * d
    for _ in range(MOST_STEPS):
        if not len(going):
            break
        slope = np.sqrt(np.sum(g[going] ** 2, axis=1))
        # A climb that knows no curvature goes a fixed length along the slope.
        unknown = going[fresh[going]]
        spread[unknown] = (FIRST_STEP / np.maximum(slope[fresh[going]], 1e-12))[:, None, None] * np.eye(d)
        step = np.einsum("nij,nj->ni", spread[going], g[going])
        step *= np.minimum(1.0, FARTHEST_STEP / np.maximum(np.max(np.abs(step), axis=1), 1e-300))[:, None]
        tried = x[going][:, None] + LENGTHS[None, :, None] * step[:, None]
        values = function(tried.reshape(-1, d)).reshape(len(going), -1)
        used += values.size
        best = np.argmax(values, axis=1)
        rows = np.arange(len(going))
        gain = values[rows, best] - f[going]
        up = gain > 0
        moved = going[up]
        change = tried[rows, best][up] - x[moved]
        x[moved], f[moved] = tried[rows, best][up], values[rows, best][up]
        old = g[moved].copy()
        g[moved] = _gradient(function, x[moved], f[moved], spread[moved])
        used += len(moved) * d
        spread[moved] = _updated(spread[moved], change, old - g[moved], fresh[moved])
        # No higher along this direction: forget the curvature once; the second time it is the top, or a wall.
        stuck = going[~up]
        ended = fresh[stuck] | (np.einsum("ni,nij,nj->n", g[stuck], spread[stuck], g[stuck]) < ARRIVED)
        arrived[stuck] = ended
        fresh[moved] = False
        fresh[stuck] = True
        promised = 0.5 * np.einsum("ni,nij,nj->n", g[moved], spread[moved], g[moved])
        top = (promised < ARRIVED) & (gain[up] < ARRIVED)
        arrived[moved] = top
        going = np.sort(np.concatenate([moved[~top], stuck[~ended]]))
    return Climbs(x, f, spread, arrived, used)


def climb_on(
    function: Callable[[Floats], Floats], end: Floats, log_density: float, spread: Floats, most: int
) -> tuple[Floats, float, Floats, int]:
    """Go on from where a climb ended: the end, log density, inverse Hessian and evaluations made, some `most` at most.

    On a narrow ridge that bends a climb may find no higher point and stop half way up. In coordinates in which the hill
    is round where it stands, it sees along the ridge; these are taken anew until it gets no higher.
    """
    used = 0
    while used < most:
        factor, cost = curvature(function, end, spread)

        def around(w: Floats, at: Floats = end, factor: Floats = factor) -> Floats:
            return function(at + np.einsum("ij,nj->ni", factor, w))

        again = climb(around, np.zeros((1, len(end))), np.array([log_density]))
        used += cost + again.evaluations
        gain = float(again.log_density[0]) - log_density
        spread = np.einsum("ij,kj->ik", factor, factor)
        if not gain > ARRIVED:
            break
        end, log_density = end + factor @ again.ends[0], float(again.log_density[0])
    return end, log_density, spread, used


def _gradient(function: Callable[[Floats], Floats], x: Floats, f: Floats, spread: Floats) -> Floats:
    """Differences from known values (n,), over a small part of the width in each direction."""
    n, d = x.shape
    if not n:
        return x
    h = PART * np.sqrt(np.clip(np.diagonal(spread, axis1=1, axis2=2), 0.0, 1.0))
    h = np.maximum(h, np.maximum(FINEST, 64.0 * np.spacing(np.abs(x))))
    points = x[:, None] + h[:, :, None] * np.eye(d)
    values = function(points.reshape(-1, d)).reshape(n, d)
    slope = (values - f[:, None]) / h
    return np.where(np.isfinite(slope), slope, 0.0)


def _updated(spread: Floats, s: Floats, y: Floats, fresh: np.ndarray) -> Floats:
    """Inverse Hessian after step s along which the gradient fell by y; as it was where the hill bends upwards."""
    d = s.shape[1]
    sy = np.sum(s * y, axis=1)
    yy = np.sum(y * y, axis=1)
    bends = sy > 1e-10 * np.sqrt(np.sum(s * s, axis=1) * yy)
    # The first curvature that is seen stands for that in all directions.
    scaled = np.where(
        (fresh & bends)[:, None, None], (sy / np.where(yy > 0, yy, 1.0))[:, None, None] * np.eye(d), spread
    )
    rho = np.where(bends, 1.0 / np.where(bends, sy, 1.0), 0.0)
    left = np.eye(d) - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = np.einsum("nij,njk,nlk->nil", left, scaled, left) + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.where(bends[:, None, None], new, spread)


def curvature(function: Callable[[Floats], Floats], at: Floats, spread: Floats) -> tuple[Floats, int]:
    """Cholesky factor of the inverse Hessian at a maximum, with the evaluations made; `spread` is a guess of it.

    Where differences show no maximum (a kink, a plateau) the guess is what there is.
    """
    guess = np.asarray(np.linalg.cholesky(spread + np.diag(1e-12 * np.diagonal(spread) + 1e-300)))
    d = len(at)
    cost = 4 * d * (d + 1)
    with np.errstate(invalid="ignore"):
        hessian = second_differences(lambda w: -function(at + np.einsum("ij,nj->ni", guess, w)), np.zeros(d), 0.05)
    try:
        if not np.isfinite(hessian).all():
            return guess, cost
        inverse = np.linalg.inv(np.linalg.cholesky(hessian))
        # einsum, not matmul: the bits do not depend on the threads of a BLAS.
        covariance = np.einsum("ij,kj,kl,ml->im", guess, inverse, inverse, guess)
        return np.asarray(np.linalg.cholesky(0.5 * (covariance + covariance.T))), cost
    except np.linalg.LinAlgError:
        return guess, cost


def second_differences(function: Callable[[Floats], Floats], at: Floats, step: float) -> Floats:
    """Second derivatives by central differences of two step sizes, extrapolated; all points in one call."""
    d = len(at)
    eye = np.eye(d)
    rows, columns = np.triu_indices(d)
    offsets = [a * eye[rows] + b * eye[columns] for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    sizes = (2 * step, step)
    points = np.concatenate([at + h * offset for h in sizes for offset in offsets])
    values = function(points).reshape(len(sizes), 4, len(rows))
    coarse, fine = ((v[0] - v[1] - v[2] + v[3]) / (4 * h * h) for h, v in zip(sizes, values, strict=True))
    hessian = np.empty((d, d))
    hessian[rows, columns] = hessian[columns, rows] = (4.0 * fine - coarse) / 3.0
    return hessian
