"""Second-order reliability method: curvatures at the design point correct the probability.

    Breitung (1984)  p = Phi(-b) prod_i (1 + b k_i)^-1/2
    Tvedt (1990)     p = Phi(-b) - (sum of three terms, below), better for small b

The curvatures k_i are the eigenvalues of the Hessian over |grad g|, turned so that the last axis is the normal: central
differences, 2 (d - 1)^2 evaluations or so. Tvedt's value is given, Breitung's beside it among the facts. Like FORM an
approximation without a known error.
"""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.reliability.estimate import Array, DesignPoint, Estimate, Samples, Settings, normal_cdf
from percuss.reliability.form import design_searches, path_of, reason_of
from percuss.reliability.limit import Limit
from percuss.settings import Setting

DEFAULT_N = 10_000
OPTIONS: dict[str, Setting] = {}
STEP = 0.05
MOST_DIMENSIONS = 100
NOTE = "a second-order approximation: its error is not known; --method importance has an interval"


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """FORM, then curvatures."""
    if limit.dimension > MOST_DIMENSIONS:
        raise InputError(f"sorm: {limit.dimension} variables, at most {MOST_DIMENSIONS}", hint="--method subset")
    searches = design_searches(limit)
    if len(searches) > 1:
        raise InputError("sorm: takes a single limit, not a system", hint="--method form or importance")
    point = searches[0].point
    path = path_of(searches)
    reason = reason_of(searches)
    curvatures = np.zeros(0)
    if not reason and limit.dimension > 1:
        curvatures, u, g = principal_curvatures(limit, point)
        path = Samples(
            np.concatenate([path.u, u]), np.concatenate([path.values, g]), np.full(len(path.u) + len(u), np.nan)
        )
    first = normal_cdf(-point.beta)
    second, third = breitung(point.beta, curvatures), tvedt(point.beta, curvatures)
    if not (0 < second < 1 and 0 < third < 1):
        reason = reason or "the surface curves about the origin as strongly as the sphere: second order does not do"
    facts = {"beta": point.beta, "form": first, "breitung": second, "tvedt": third}
    return Estimate(third, None, None, reason, path, (point,), facts, notes=(NOTE,))


def breitung(beta: float, curvatures: Array) -> float:
    """The asymptotic form; NaN where 1 + beta k is not positive."""
    bent = 1 + beta * curvatures
    return normal_cdf(-beta) / float(np.sqrt(bent.prod())) if (bent > 0).all() else float("nan")


def tvedt(beta: float, curvatures: Array) -> float:
    """The three-term form of Tvedt (1990), eq. 10; NaN where a root is not real."""
    if not (1 + (beta + 1) * curvatures > 0).all() or not (1 + beta * curvatures > 0).all():
        return float("nan")
    density = float(np.exp(-0.5 * beta * beta) / np.sqrt(2 * np.pi))
    tail = normal_cdf(-beta)
    at = 1 / np.sqrt((1 + beta * curvatures).prod())
    beyond = 1 / np.sqrt((1 + (beta + 1) * curvatures).prod())
    aside = float((1 / np.sqrt((1 + (beta + 1j) * curvatures).prod())).real)
    first = tail * at
    second = (beta * tail - density) * (at - beyond)
    third = (beta + 1) * (beta * tail - density) * (at - aside)
    return float(first + second + third)


def principal_curvatures(limit: Limit, point: DesignPoint) -> tuple[Array, Array, Array]:
    """Curvatures (d - 1,) of the limit surface at a design point, with the points evaluated for them.

    Positive where the surface bends away from the origin.
    """
    d = limit.dimension
    # An orthonormal basis whose last vector is the normal: QR of the normal and the axes.
    basis = np.linalg.qr(np.column_stack([point.alpha, np.eye(d)[:, : d - 1] + 1e-3]))[0]
    across = basis[:, 1:]
    points = [point.u, point.u + STEP * point.alpha, point.u - STEP * point.alpha]
    pairs = [(i, j) for i in range(d - 1) for j in range(i, d - 1)]
    for i, j in pairs:
        for a, b in ((1, 1), (-1, -1)) if i == j else ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            points.append(
                point.u + STEP * ((a + b) / 2 if i == j else a) * across[:, i] + (i != j) * STEP * b * across[:, j]
            )
    u = np.array(points)
    g = limit.finite(u)[:, point.element]
    slope = abs(float(g[1] - g[2])) / (2 * STEP)
    hessian = np.empty((d - 1, d - 1))
    at = 3
    for i, j in pairs:
        if i == j:
            hessian[i, i] = (g[at] - 2 * g[0] + g[at + 1]) / STEP**2
            at += 2
        else:
            hessian[i, j] = hessian[j, i] = (g[at] - g[at + 1] - g[at + 2] + g[at + 3]) / (4 * STEP**2)
            at += 4
    return np.linalg.eigvalsh(hessian / slope), u, g
