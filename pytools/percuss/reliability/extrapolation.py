"""Enhanced Monte Carlo (Naess, Leira and Batsevych, 2009): the tail of a parametric set of limits, extrapolated.

    M(l) = M - mean(M) (1 - l),   P(M(l) <= 0) ~ q exp(-a (l - b)^c),   l -> 1

Of `n` draws the probabilities at smaller l are seen; the four constants are fitted by least squares to their
logarithms, each weighted by its precision. The interval is that of refits to resampled
counts. It does not know whether the tail goes on as it is seen: it takes the form for granted.
"""

from __future__ import annotations

import math

import numpy as np

from percuss.errors import AnswerIsNo
from percuss.reliability.estimate import Array, Estimate, Samples, Settings, always_reached, too_wide
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 20_000
OPTIONS = table_of(
    Setting(
        "from",
        "bare",
        0.1,
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        doc="the least l of the fit, by the share that fails there",
    )
)
PLACES = 30
REFITS = 200
FEWEST = 10  # failures at the largest l that is fitted
# Shapes that are tried: c of the exponent, and b over the range of l.
SHAPES = np.linspace(0.6, 3.0, 25)
ORIGINS = np.linspace(0.0, 3.0, 31)


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Draw, fit, extrapolate to l = 1."""
    random = np.random.Generator(np.random.PCG64(settings.seed))
    u = random.standard_normal((settings.n, limit.dimension))
    g = limit(u, limit.fresh_noise(len(u), random))
    if (g <= 0).all():
        raise always_reached(settings.n)
    finite = g[np.isfinite(g)]
    centre = float(finite.mean())
    if centre <= 0:
        raise AnswerIsNo("the mean of the limit function fails already: there is no tail", hint="--method monte-carlo")
    places = _places(finite, centre, settings.option(OPTIONS["from"]))
    counts = (g[None, :] - centre * (1 - places[:, None]) <= 0).sum(axis=1)
    fitted = _fit(places, counts, settings.n)
    spread = np.empty(REFITS)
    for k in range(REFITS):
        drawn = g[random.integers(0, len(g), len(g))]
        again = (drawn[None, :] - centre * (1 - places[:, None]) <= 0).sum(axis=1)
        spread[k] = _fit(places, again, settings.n)
    tail = (1 - settings.level) / 2
    low, high = (math.exp(q) for q in np.quantile(spread, [tail, 1 - tail]))
    p = math.exp(fitted)
    cv = math.sqrt(math.expm1(min(float(spread.var(ddof=1)), 50.0)))
    samples = Samples(u, g, np.full(len(g), np.nan))
    facts = {"lambda_from": float(places[0]), "lambda_to": float(places[-1])}
    note = "an extrapolation: the interval takes the form of the tail for granted"
    reason = too_wide(cv, settings.cv, settings.n)
    return Estimate(p, (min(low, p), max(high, p)), cv, reason, samples, facts=facts, notes=(note,))


def _places(g: Array, centre: float, share: float) -> Array:
    """Values of l from where `share` fails to where ten do, at most 1."""
    order = np.sort(g)
    first = 1 - float(order[int(share * len(order))]) / centre
    last = 1 - float(order[min(FEWEST, len(order) - 1)]) / centre
    first, last = min(first, 0.95), min(last, 1.0)
    if not first < last:
        raise AnswerIsNo("too few distinct values for a tail to be fitted", hint="more draws: --n")
    return np.linspace(first, last, PLACES)


def _fit(places: Array, counts: Array, n: int) -> float:
    """log p at l = 1 of the best fit over shapes; for each of them it is linear in log q and a."""
    seen = counts > 0
    at, k = places[seen], counts[seen]
    y = np.log(k / n)
    # Variance of log p is (1 - p) / (p n).
    w = np.sqrt(k / np.maximum(1 - k / n, 1e-12))
    start = at[0] - ORIGINS * (1 - at[0])
    x = (at[None, None, :] - start[None, :, None]) ** SHAPES[:, None, None]
    at_one = (1 - start[None, :]) ** SHAPES[:, None]
    weight = w * w / (w * w).sum()
    mx, my = (x * weight).sum(-1), float((y * weight).sum())
    dx, dy = x - mx[..., None], y - my
    slope = (weight * dx * dy).sum(-1) / np.maximum((weight * dx * dx).sum(-1), 1e-300)
    left = (weight * (dy - slope[..., None] * dx) ** 2).sum(-1)
    left = np.where(slope < 0, left, np.inf)
    best = np.unravel_index(int(np.argmin(left)), left.shape)
    return min(float(my + slope[best] * (at_one[best] - mx[best])), 0.0)
