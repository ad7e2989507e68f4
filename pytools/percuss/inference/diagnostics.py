"""Do the chains agree, and how many independent draws are they worth?

Rank-normalised split R-hat, bulk and tail effective sample size and Monte Carlo standard errors after Vehtari, Gelman,
Simpson, Carpenter, Buerkner (2021), "Rank-normalization, folding, and localization: an improved R-hat". Draws are
(chains, draws) for one quantity; (chains, draws, d) for `diagnose`. Constant or non-finite draws give NaN, which no
threshold accepts.

Beside it stands the plain split R-hat of the values themselves (Gelman et al., 2013). Ranks hide one thing: a chain
among many that arrives late from far out. It moves few ranks, and all of the variance. In the unbounded space tails are
exponential at most, so that the plain one has the moments it needs.

None of these tells how well a standard deviation is known: ranks do not feel how far out a tail reaches. Its own Monte
Carlo error comes from the effective number of squared deviations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats

# Quantiles whose efficiency makes the tail ESS.
TAILS = (0.05, 0.95)


# Kinds of R-hat and of effective sample size by the names of their columns.
R_HATS = {"r_hat": "rank", "r_hat_plain": "plain"}
SIZES = {"ess_bulk": "bulk", "ess_tail": "tail"}


def worst_figures(names: Sequence[str], columns: Mapping[str, Floats]) -> str:
    """The largest R-hat of either kind and the least effective sample size of either, and which they are.

    Every account of a posterior tells these two, so that all tell the same.
    """

    def entries(kinds: Mapping[str, str]) -> list[tuple[float, str, str]]:
        return [
            (float(value), kind, name)
            for key, kind in kinds.items()
            if key in columns
            for name, value in zip(names, columns[key], strict=True)
        ]

    def text(entry: tuple[float, str, str], figure: str) -> str:
        return f"{figure} ({entry[1]}, of {entry[2]})"

    # NaN is worse than any number.
    worst = max(entries(R_HATS), key=lambda entry: math.inf if math.isnan(entry[0]) else entry[0])
    least = min(entries(SIZES), key=lambda entry: -math.inf if math.isnan(entry[0]) else entry[0])
    return (
        f"largest R-hat {text(worst, f'{worst[0]:.4f}')}, least effective sample size {text(least, f'{least[0]:.0f}')}"
    )


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """One entry a quantity: the parameters, and last the log density itself. `std_error`, of the parameters only, is
    the Monte Carlo error of a standard deviation in parts of it.
    """

    names: tuple[str, ...]
    r_hat: Floats
    r_hat_plain: Floats
    ess_bulk: Floats
    ess_tail: Floats
    std_error: Floats

    @property
    def worst_r_hat(self) -> float:
        """The largest R-hat of either kind; NaN when any is."""
        return float(max(np.max(self.r_hat), np.max(self.r_hat_plain)))

    def figures(self) -> str:
        """The largest R-hat and the least effective sample size, each with its kind and quantity."""
        return worst_figures(self.names, {key: getattr(self, key) for key in (*R_HATS, *SIZES)})

    @property
    def least_ess(self) -> float:
        """The smallest of all bulk and tail ESS; NaN when any is."""
        return float(min(np.min(self.ess_bulk), np.min(self.ess_tail)))


def diagnose(draws: Floats, log_density: Floats, names: Sequence[str], stated: Floats | None = None) -> Diagnostics:
    """Judge draws (chains, draws, d) and their log density (chains, draws).

    `stated` are the same draws in the variables whose standard deviation will be stated.
    """
    stated = draws if stated is None else stated
    columns = [draws[:, :, j] for j in range(draws.shape[2])] + [log_density]
    r_hat_and_ess = np.array([_r_hat_and_ess(column) for column in columns])
    spread = np.array([std_error(stated[:, :, j]) for j in range(stated.shape[2])])
    r_hats, plain, bulk, tail = r_hat_and_ess.T
    return Diagnostics((*names, "log density"), r_hats, plain, bulk, tail, spread)


def r_hat(x: Floats) -> float:
    """Larger of the rank-normalised split R-hat and the same of the folded draws."""
    return _r_hat_and_ess(x)[0]


def r_hat_plain(x: Floats) -> float:
    """Split R-hat of the draws as they are."""
    return _plain_r_hat(_split(x)) if _usable(x) else np.nan


def ess_bulk(x: Floats) -> float:
    """Effective sample size of the rank-normalised draws."""
    return _ess(_normal_scores(_split(x))) if _usable(x) else np.nan


def ess_tail(x: Floats) -> float:
    """Smaller of the effective sample sizes of the 5 % and 95 % quantiles."""
    return min(ess_quantile(x, p) for p in TAILS)


def ess_mean(x: Floats) -> float:
    """Effective sample size of the mean of the draws as they are."""
    return _ess(_split(x)) if _usable(x) else np.nan


def ess_quantile(x: Floats, p: float) -> float:
    """Effective sample size of the estimate of quantile p."""
    return _ess(_split((x <= np.quantile(x, p)).astype(float))) if _usable(x) else np.nan


def mcse_mean(x: Floats) -> float:
    """Monte Carlo standard error of the mean."""
    return float(np.std(x, ddof=1) / np.sqrt(ess_mean(x)))


def std_error(x: Floats) -> float:
    """Monte Carlo standard error of the standard deviation, in parts of it."""
    if not _usable(x):
        return np.nan
    squares = (x - np.mean(x)) ** 2
    # d std / std is half of d variance / variance.
    return float(np.std(squares) / np.mean(squares) / 2 / np.sqrt(_ess(_split(squares))))


def mcse_std(x: Floats) -> float:
    """Monte Carlo standard error of the standard deviation."""
    return float(np.std(x)) * std_error(x)


def mcse_quantile(x: Floats, p: float) -> float:
    """Monte Carlo standard error of quantile p: half the width of its 68 % interval, read off the ordered draws."""
    from scipy.special import betaincinv

    size = ess_quantile(x, p)
    if not np.isfinite(size):
        return np.nan
    ordered = np.sort(x, axis=None)
    low, high = betaincinv(size * p + 1, size * (1 - p) + 1, [0.1586553, 0.8413447]) * len(ordered) - 1
    first, last = int(max(np.floor(low), 0)), int(min(np.ceil(high), len(ordered) - 1))
    return float(ordered[last] - ordered[first]) / 2


def _usable(x: Floats) -> bool:
    return x.shape[1] >= 4 and bool(np.isfinite(x).all()) and float(np.ptp(x)) > 0


def _split(x: Floats) -> Floats:
    """Take both halves of every chain as chains; the middle draw of an odd number is left out."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _r_hat_and_ess(x: Floats) -> tuple[float, float, float, float]:
    if not _usable(x):
        return np.nan, np.nan, np.nan, np.nan
    halves = _split(x)
    scores = _normal_scores(halves)
    folded = _normal_scores(np.abs(halves - np.median(halves)))
    ranked = max(_plain_r_hat(scores), _plain_r_hat(folded))
    return ranked, _plain_r_hat(halves), _ess(scores), ess_tail(x)


def _plain_r_hat(x: Floats) -> float:
    n = x.shape[1]
    within = float(np.mean(np.var(x, axis=1, ddof=1)))
    between = n * float(np.var(np.mean(x, axis=1), ddof=1))
    return float(np.sqrt((between / within + n - 1) / n)) if within > 0 else np.inf


def _normal_scores(x: Floats) -> Floats:
    """Normal quantiles of the ranks over all chains (Blom's offset); ties share their mean rank."""
    from scipy.special import ndtri

    flat = np.ravel(x)
    # Any order of equal values will do: they share a rank.
    order = np.argsort(flat)
    ordered = flat[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    begins = np.flatnonzero(first)
    ends = np.append(begins[1:], len(flat))
    # One quantile for each distinct value: a chain that stays has few of them.
    scores = ndtri(((begins + 1 + ends) / 2 - 0.375) / (len(flat) + 0.25))
    out = np.empty(len(flat))
    out[order] = scores[np.cumsum(first) - 1]
    return out.reshape(x.shape)


def _ess(x: Floats) -> float:
    """Effective sample size of the mean, by Geyer's initial monotone sequence over all chains (Eqs. 10-13)."""
    chains, n = x.shape
    if np.ptp(x) == 0:
        return float(x.size)
    means = np.mean(x, axis=1)
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x - means[:, None], length, axis=1)
    # The mean of the chains' autocovariances is that of their power spectra.
    covariance = np.fft.irfft(np.mean(spectrum.real**2 + spectrum.imag**2, axis=0), length)[:n] / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (np.var(means, ddof=1) if chains > 1 else 0.0)
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0

    # Sums of neighbours are positive and decrease, for a reversible chain: cut where noise takes over.
    t = 1
    while t < n - 3 and rho[t - 1] + rho[t] > 0:
        t += 2
    last = t - 2
    pairs = rho[: last + 1].reshape(-1, 2).sum(axis=1) if last > 0 else np.zeros(0)
    pairs = np.minimum.accumulate(pairs)
    after = max(float(rho[last + 1]), 0.0)
    time = -1.0 + 2.0 * float(np.sum(pairs)) + after
    # Negative correlations may make draws worth more than independent ones, within reason.
    return float(x.size / max(time, 1.0 / np.log10(x.size)))
