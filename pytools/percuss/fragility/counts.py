"""Maximum likelihood from counts: whether each run shows a state, and nothing else (Baker, 2015).

With one state this is Baker's eq. 9, for stripes as for runs at intensities of their own. With several states and one
dispersion a run falls between two states, and the likelihood is that of an ordered probit (McCullagh, 1980), concave in
1/b and ln m / b: Fisher scoring finds its only maximum. With a dispersion for each state they are fitted one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from percuss.errors import InputError
from percuss.fragility.curves import LARGEST, SMALLEST, Array, Curves

TINY = 1e-300


def fit_counts(intensity: Array, damage: NDArray[np.intp], states: int, *, common: bool = True) -> Curves:
    """Medians and dispersions of the states, from how many of them each run exceeds."""
    if not common and states > 1:
        fits = [fit_counts(intensity, np.asarray(damage > k, np.intp), 1) for k in range(states)]
        return Curves(*(np.concatenate([getattr(fit, name) for fit in fits]) for name in ("median", "dispersion")))
    x = np.log(intensity)
    for k in range(states):
        share = float((damage > k).mean())
        if share in (0.0, 1.0):
            raise InputError(f"state {k + 1} of {states}: {'every' if share else 'no'} run exceeds it")
    slope, cuts = _start(x, damage, states)
    value = _likelihood(x, damage, slope, cuts)
    for _ in range(200):
        gradient, information = _scores(x, damage, slope, cuts)
        try:
            move = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break
        share = 1.0
        while share > 1e-6:
            trial_slope, trial_cuts = slope + share * move[0], cuts + share * move[1:]
            trial = _likelihood(x, damage, trial_slope, trial_cuts)
            if trial >= value and trial_slope > 0:
                break
            share /= 2
        else:
            break
        gain, (slope, cuts, value) = trial - value, (trial_slope, trial_cuts, trial)
        if gain <= 1e-12 * max(1.0, abs(value)) or 1 / slope < SMALLEST:
            break
    dispersion = float(np.clip(1 / slope, SMALLEST, LARGEST))
    return Curves(np.exp(cuts / slope), np.full(states, dispersion))


def log_likelihood(intensity: Array, damage: NDArray[np.intp], curves: Curves) -> float:
    """Of the ordered probit; minus infinity where curves cross at an intensity that was run."""
    u = (np.log(intensity)[:, None] - np.log(curves.median)) / curves.dispersion
    return _of_levels(u, damage)


def _start(x: Array, damage: NDArray[np.intp], states: int) -> tuple[float, Array]:
    """Between the mean logarithms of runs that show a state and of those that do not."""
    slope = 1 / max(float(x.std()), 0.05)
    means = [0.5 * (x[damage > k].mean() + x[damage <= k].mean()) for k in range(states)]
    return slope, np.maximum.accumulate(np.array(means) + 1e-6 * np.arange(states)) * slope + 1e-3 * np.arange(states)


def _of_levels(u: Array, damage: NDArray[np.intp]) -> float:
    levels = ndtr(np.column_stack([np.full(len(u), np.inf), u, np.full(len(u), -np.inf)]))
    rows = np.arange(len(u))
    chance = levels[rows, damage] - levels[rows, damage + 1]
    return float(np.log(chance).sum()) if (chance > 0).all() else -np.inf


def _likelihood(x: Array, damage: NDArray[np.intp], slope: float, cuts: Array) -> float:
    with np.errstate(divide="ignore"):
        return _of_levels(slope * x[:, None] - cuts, damage)


def _scores(x: Array, damage: NDArray[np.intp], slope: float, cuts: Array) -> tuple[Array, Array]:
    """Gradient and expected information of the ordered probit for the slope and the cuts."""
    n, states = len(x), len(cuts)
    u = slope * x[:, None] - cuts
    density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    # Rate of each level's probability for (slope, cuts).
    rates = np.zeros((n, states + 2, states + 1))
    for k in range(states):
        rates[:, k + 1, 0] = density[:, k] * x
        rates[:, k + 1, k + 1] = -density[:, k]
    levels = ndtr(np.column_stack([np.full(n, np.inf), u, np.full(n, -np.inf)]))
    chance = np.maximum(levels[:, :-1] - levels[:, 1:], TINY)
    between = rates[:, :-1] - rates[:, 1:]
    rows = np.arange(n)
    gradient = (between[rows, damage] / chance[rows, damage][:, None]).sum(axis=0)
    parts = (between / np.sqrt(np.maximum(chance, 1e-12))[:, :, None]).reshape(-1, states + 1)
    return gradient, parts.T @ parts + 1e-9 * np.eye(states + 1)
