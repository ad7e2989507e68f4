"""First-order reliability method: p = Phi(-beta) at the design point (Hasofer and Lind, 1974; iHLRF).

An approximation without a known error: exact where the limit surface is a plane, wrong where it is curved or has
several design points. A series of elements has the bounds of Ditlevsen (1979); their middle is given, the bounds,
which are those of the approximation and not of the truth, are among the facts. For parallel systems it is refused.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from percuss.errors import InputError
from percuss.reliability.design_point import Search, elements_of, search
from percuss.reliability.estimate import Array, Estimate, Samples, Settings, normal_cdf
from percuss.reliability.limit import Limit
from percuss.settings import Setting

DEFAULT_N = 10_000
OPTIONS: dict[str, Setting] = {}
NOTE = "a first-order approximation: its error is not known; --method importance has an interval"


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Search the design point of every element."""
    searches = design_searches(limit)
    points = tuple(s.point for s in searches)
    low, high = ditlevsen_bounds(np.array([p.beta for p in points]), np.array([p.alpha for p in points]))
    facts = {"beta": min(p.beta for p in points), "steps": float(sum(s.steps for s in searches))}
    facts |= {"ditlevsen_low": low, "ditlevsen_high": high} if len(points) > 1 else {}
    return Estimate(
        0.5 * (low + high), None, None, reason_of(searches), path_of(searches), points, facts, notes=(NOTE,)
    )


def design_searches(limit: Limit) -> list[Search]:
    """One search for each element, from the origin."""
    if limit.parallel:
        raise InputError(
            "form and sorm take limits and series of limits: the design point of a parallel system is another one",
            hint="--method subset",
        )
    return [search(limit, element) for element in elements_of(limit)]


def reason_of(searches: list[Search]) -> str:
    """Why searches have not converged; empty: they have."""
    lost = [s for s in searches if not s.converged]
    return f"no design point of {len(lost)} of {len(searches)} elements after {lost[0].steps} steps" if lost else ""


def path_of(searches: list[Search]) -> Samples:
    """The points that were seen on the way: they make no estimate."""
    u = np.concatenate([s.u for s in searches])
    return Samples(u, np.concatenate([s.values for s in searches]), np.full(len(u), np.nan))


def ditlevsen_bounds(betas: Array, alphas: Array) -> tuple[float, float]:
    """Bounds of the probability that any of several half spaces holds u (Ditlevsen, 1979), the likeliest first."""
    order = np.argsort(betas, kind="stable")
    b, a = betas[order], alphas[order]
    single = ndtr(-b)
    low = high = float(single[0])
    for i in range(1, len(b)):
        joint = np.array([both_fail(b[i], b[j], float(a[i] @ a[j])) for j in range(i)])
        low += max(float(single[i] - joint.sum()), 0.0)
        high += float(single[i] - joint.max())
    return low, min(high, 1.0)


def both_fail(beta_1: float, beta_2: float, correlation: float) -> float:
    """Phi_2(-b1, -b2; rho) by quadrature of Phi((rho t - b2) / sqrt(1 - rho^2)) beyond b1 (Owen, 1956)."""
    rho = min(max(correlation, -1.0), 1.0)
    if rho > 1 - 1e-9:
        return normal_cdf(-max(beta_1, beta_2))
    if rho < -1 + 1e-9:
        return max(normal_cdf(-beta_1) - normal_cdf(beta_2), 0.0)
    from scipy.integrate import quad

    root = float(np.sqrt(1 - rho * rho))

    def inner(t: float) -> float:
        return float(np.exp(-0.5 * t * t) * ndtr((rho * t - beta_2) / root))

    return float(quad(inner, beta_1, beta_1 + 12, limit=200)[0]) / float(np.sqrt(2 * np.pi))
