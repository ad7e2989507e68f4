"""Outputs of a rough simulator as a smooth part and roughness, both learnt from its runs.

A run of outputs q at points w (coordinates in which the points have unit covariance) is taken to be

    y(w) = F(w) b + Z(w) + r,   cov Z_j(w, w') = k_j M(|w - w'| / length),   r ~ N(0, S),  new at every point

with a quadratic trend F b, M the kernel Matern 5/2, and r the roughness: what two runs close to each other do not have
in common. Sizes k_j of the smooth rest and s_j^2 of the roughness, for each output, and one length for all maximise the
restricted likelihood (Patterson, Thompson, 1971; Harville, 1977). Contrasts v = B' y that the trend does not reach,
chosen so that B' M B is diagonal, are independent with variances k_j lambda_i + s_j^2: one eigenvalue problem for each
length gives the likelihood of every ratio of the two sizes. Correlations of the roughness between outputs are those of
its best linear predictions, shrunk as far as few runs demand (`percuss.surrogates.common_error`).

The smooth part is predicted by kriging with the trend's own uncertainty (universal kriging: Cressie, 1993, section
3.4). Structure too fine for the runs to resolve counts as roughness.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.learnt_density import quadratic, trend_terms
from percuss.surrogates.common_error import correlation
from percuss.surrogates.kernels import KERNELS, MATERN, NO_SHAPE

# Lengths that are tried, in standard deviations of the points. What varies within one is too fine to be learnt.
LENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
# Logarithms of the odds of roughness in the variance that the trend leaves, tried coarsely and then finely.
LOG_ODDS = np.arange(-20.0, 21.0)
FINER = np.linspace(-1.0, 1.0, 21)


@dataclass(frozen=True, eq=False)
class SmoothPart:
    """Fitted to runs at points w (n, p), of q outputs: `roughness` (q,) is the std of each, `together` their
    correlation (q, q); `smooth` (q,) the variance of the smooth rest about the trend.
    """

    points: Floats
    length: float
    roughness: Floats
    together: Floats
    smooth: Floats
    _trend: Floats
    _weights: Floats
    # Points to trend coefficients by least squares (terms, n), contrasts B (n, n - terms) and their eigenvalues.
    _solved: Floats
    _contrasts: Floats
    _eigenvalues: Floats

    def mean(self, w: Floats) -> Floats:
        """The smooth part at points (k, p): (k, q)."""
        return np.asarray(quadratic(w) @ self._trend + self._kernel(w, self.points) @ self._weights)

    def errors(self, w: Floats) -> Floats:
        """Standard deviation to which the smooth part is known at points (k, p): (k, q)."""
        known, explained, through = self._parts(w)
        before = 1.0 - 2.0 * np.sum(through * known, axis=1) + np.sum((through @ self._gram) * through, axis=1)
        scatter = np.sum(through * through, axis=1)
        smooth, rough = self.smooth, self.roughness**2
        gained = (explained**2) @ (smooth**2 / (self._eigenvalues[:, None] * smooth + rough))
        variance = np.outer(before, smooth) + np.outer(scatter, rough) - gained
        return np.sqrt(np.maximum(variance, 0.0))

    def covariances(self, w: Floats) -> Floats:
        """Covariance of that error between points (k, p), output by output: (q, k, k)."""
        known, explained, through = self._parts(w)
        across = through @ known.T
        before = self._kernel(w, w) - across - across.T + through @ self._gram @ through.T
        scatter = through @ through.T
        sizes = zip(self.smooth, self.roughness**2, strict=True)
        gains = [smooth**2 / (self._eigenvalues * smooth + rough) for smooth, rough in sizes]
        return np.stack(
            [
                smooth * before + rough**2 * scatter - (explained * gain) @ explained.T
                for smooth, rough, gain in zip(self.smooth, self.roughness, gains, strict=True)
            ]
        )

    @cached_property
    def _gram(self) -> Floats:
        return self._kernel(self.points, self.points)

    def _kernel(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(KERNELS[MATERN].between(a / self.length, b / self.length, NO_SHAPE))

    def _parts(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """Correlations (k, n) with the runs, what of them the contrasts see (k, n - terms), and weights (k, n) by which
        least squares would take the trend from the runs.
        """
        known = self._kernel(w, self.points)
        through = quadratic(w) @ self._solved
        return known, (known - through @ self._gram) @ self._contrasts, through


def fit_smooth_part(w: Floats, outputs: Floats, lengths: tuple[float, ...] = LENGTHS) -> SmoothPart:
    """Fit runs (n, q) at points (n, p), more of them than the trend has terms."""
    terms = trend_terms(w.shape[1])
    basis = quadratic(w)
    orthonormal, upper = np.linalg.qr(basis, mode="complete")
    solved = np.asarray(np.linalg.solve(upper[:terms], orthonormal[:, :terms].T))
    rest = orthonormal[:, terms:]
    centre, scale = outputs.mean(axis=0), outputs.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    y = (outputs - centre) / scale
    best: tuple[float, float, Floats, Floats, Floats, Floats] | None = None
    for length in lengths:
        kernel = KERNELS[MATERN].between(w / length, w / length, NO_SHAPE)
        values, axes = np.linalg.eigh(rest.T @ kernel @ rest)
        values = np.maximum(values, 0.0)
        contrasts = rest @ axes
        seen = contrasts.T @ y
        size = max(float(values.mean()), 1e-300)
        share, variance, likelihood = _likeliest(values / size, seen)
        if best is None or likelihood > best[0]:
            best = (likelihood, length, values, contrasts, (1.0 - share) * variance / size, share * variance)
    assert best is not None
    _, length, values, contrasts, smooth, rough = best
    kernel = KERNELS[MATERN].between(w / length, w / length, NO_SHAPE)
    seen = contrasts.T @ y
    whitened = seen / (values[:, None] * smooth + rough)
    pull = contrasts @ whitened
    trend = solved @ (y - kernel @ (pull * smooth) - pull * rough)
    # Best linear predictions of the roughness in each contrast.
    together, _ = correlation(rough * whitened / np.sqrt(rough))
    trend = trend * scale
    trend[0] += centre
    return SmoothPart(
        w,
        length,
        np.sqrt(rough) * scale,
        together,
        smooth * scale**2,
        trend,
        pull * smooth * scale,
        solved,
        contrasts,
        values,
    )


def _likeliest(values: Floats, seen: Floats) -> tuple[Floats, Floats, float]:
    """Share of the roughness in the variance of contrasts (n, q) with eigenvalues (n,) of mean one, and that variance,
    for each output; and the log-likelihood of all.
    """
    n, q = seen.shape
    squares = seen**2

    def likelihoods(log_odds: Floats) -> tuple[Floats, Floats]:
        """Of odds (o, q): log-likelihoods and variances (o, q)."""
        share = 1.0 / (1.0 + np.exp(-log_odds))
        size = values[:, None, None] * (1.0 - share) + share
        variance = np.maximum(np.mean(squares[:, None] / size, axis=0), 1e-300)
        return -0.5 * (n * np.log(variance) + np.sum(np.log(size), axis=0)), variance

    tried = np.repeat(LOG_ODDS[:, None], q, axis=1)
    columns = np.arange(q)
    tried = tried[np.argmax(likelihoods(tried)[0], axis=0), columns] + FINER[:, None]
    logs, variances = likelihoods(tried)
    best = np.argmax(logs, axis=0)
    share = 1.0 / (1.0 + np.exp(-tried[best, columns]))
    return share, variances[best, columns], float(np.sum(logs[best, columns]))
