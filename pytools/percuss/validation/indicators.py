"""What speaks against a model in the course of its drift filter.

    wander       spread of a parameter's path over the spread the filter itself gives it. Constant parameters wander by
                 about 0.7 of it at most: half the variance of a filter that expects steps is those steps
    gain         how much more likely the data are when parameters may drift as asked than when they hardly may: the
                 log-likelihood at the largest drift of a ladder less that at the smallest. Negative for constant ones
    surprise     mean of the squared normalised innovations; 1 if the filter errs as much as it expects
    trend        z-score of the slope of the normalised innovations over time
    period       Fisher's test for a single period hidden in the innovations: the probability of so high a peak of the
                 periodogram in white noise, and where it lies
    memory       test of Ljung and Box (1978) for correlation of the innovations over twenty lags: its probability

All are taken after the filter has settled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from percuss.validation.drift_filter import Filtered
from percuss.validation.following import Floats

LAGS = 20


@dataclass(frozen=True)
class Wandering:
    """One parameter after settling, SI: its path and how it wanders."""

    name: str
    mean: float
    std: float
    low: float
    high: float
    own_std: float
    wander: float
    slope_per_s: float


@dataclass(frozen=True)
class Innovations:
    """One channel after settling; probabilities are those of the like in white noise."""

    name: str
    used: int
    surprise: float
    surprise_z: float
    trend_z: float
    period_probability: float
    period_s: float
    memory_probability: float


def settled(times_s: Floats, settle_s: float | None) -> int:
    """First sample that counts: after `settle_s`, by default after a tenth of the record."""
    after = times_s[0] + (0.1 * (times_s[-1] - times_s[0]) if settle_s is None else settle_s)
    return int(np.searchsorted(times_s, after - 1e-9 * (times_s[1] - times_s[0])))


def path_of(filtered: Filtered, name: str, first: int) -> Wandering:
    """How a parameter went."""
    mean, std = (values[first:] for values in filtered.path(name))
    own = float(np.mean(std))
    spread = float(np.std(mean))
    times = filtered.times_s[first:] - filtered.times_s[first:].mean()
    slope = float(np.sum(times * mean) / np.sum(times * times))
    wander = spread / own if own > 0 else math.inf
    return Wandering(name, float(mean.mean()), spread, float(mean.min()), float(mean.max()), own, wander, slope)


def innovations_of(filtered: Filtered, channel: int, first: int) -> Innovations:
    """How a channel surprised the filter."""
    e = filtered.normalised[first:, channel]
    there = ~np.isnan(e)
    n = int(there.sum())
    if n < 2 * LAGS:
        nan = math.nan
        return Innovations(filtered.quantities[channel], n, nan, nan, nan, nan, nan, nan)
    seen = e[there]
    surprise = float(np.mean(seen * seen))
    times = (filtered.times_s[first:] - filtered.times_s[first:].mean())[there]
    times = times - times.mean()
    trend = float(np.sum(times * seen) / math.sqrt(float(np.sum(times * times)) * surprise))
    # gaps count as no surprise, so that lags and periods keep their places
    filled = np.where(there, e, 0.0)
    filled = filled - np.where(there, filled.sum() / n, 0.0)
    probability, period = _fisher(filled, filtered.times_s[1] - filtered.times_s[0])
    return Innovations(
        filtered.quantities[channel],
        n,
        surprise,
        (surprise - 1.0) * math.sqrt(n / 2.0),
        trend,
        probability,
        period,
        _ljung_box(filled, n),
    )


def _fisher(e: Floats, step_s: float) -> tuple[float, float]:
    """Probability of the highest peak of the periodogram, and its period (Fisher, 1929: m (1 - g)^(m - 1) at most)."""
    power = np.abs(np.fft.rfft(e)[1 : (len(e) + 1) // 2]) ** 2
    m = len(power)
    top = int(np.argmax(power))
    g = float(power[top] / power.sum())
    log = math.log(m) + (m - 1) * math.log1p(-g) if g < 1 else -math.inf
    return min(1.0, math.exp(max(log, -700.0))), len(e) * step_s / (top + 1)


def _ljung_box(e: Floats, n: int) -> float:
    from scipy.special import gammaincc

    size = float(np.sum(e * e))
    r = np.array([float(np.sum(e[lag:] * e[:-lag])) / size for lag in range(1, LAGS + 1)])
    q = n * (n + 2) * float(np.sum(r * r / (n - np.arange(1, LAGS + 1))))
    return float(gammaincc(LAGS / 2, q / 2))
