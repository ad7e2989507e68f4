"""A posterior learnt from the outputs of a simulator, where the posterior is: what its runs can be proposed by.

All outputs are one Gaussian process with a quadratic trend (`percuss.inference.learnt_density.quadratic`), Matern 5/2,
over the parameters of the model in coordinates in which the points have unit covariance; likelihood and prior are then
the true ones. Outputs are smoother than the density they make, and what data and discrepancy add needs no learning: for
the same runs this is an order more exact than a process of the log density. One length and one nugget for all outputs,
those of least leave-one-out error (closed form: Dubrule, 1983), out of a table: a fit costs no search.

The mean square of the leave-one-out residuals where the posterior is goes into the likelihood as the error of the
outputs. Of a simulator whose runs scatter this makes a density that is wider than each of its teeth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.learnt_density import Learnt, quadratic, standardised
from percuss.inference.likelihood import Forward, Likelihood
from percuss.inference.target import Target, Transform
from percuss.surrogates.kernels import KERNELS, MATERN, NO_SHAPE

# The ellipsoid in which outputs are trusted reaches so many times as far as the farthest point. A density that is
# learnt by its values may rise out there; outputs that miss the data by more and more do not come back.
REACH = 1.6
# Tried: lengths in standard deviations of the points, nuggets in parts of the variance.
LENGTHS = (2.0, 5.0, 12.0, 30.0)
NUGGETS = (1e-8, 1e-5, 1e-3, 0.03, 1.0, 30.0)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs (n, m) at points w (n, p): trend (terms, m), weights of the kernel (n, m), leave-one-out residuals."""

    points: Floats
    length: float
    trend: Floats
    weights: Floats
    residuals: Floats

    def mean(self, w: Floats) -> Floats:
        """Outputs at points (k, p)."""
        kernel = KERNELS[MATERN].between(w / self.length, self.points / self.length, NO_SHAPE)
        return np.asarray(quadratic(w) @ self.trend + kernel @ self.weights)


def fit_outputs(w: Floats, outputs: Floats) -> Outputs:
    """Fit outputs (n, m) at points (n, p), more of them than the trend has terms."""
    basis = quadratic(w)
    centre, scale = outputs.mean(axis=0), outputs.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    y = (outputs - centre) / scale
    best: Outputs | None = None
    least = np.inf
    for length in LENGTHS:
        correlation = KERNELS[MATERN].between(w / length, w / length, NO_SHAPE)
        for nugget in NUGGETS:
            try:
                fit = _solved(w, basis, y, length, correlation + nugget * np.eye(len(w)))
            except np.linalg.LinAlgError:
                continue
            error = float(np.mean(fit.residuals**2))
            if error < least:
                best, least = fit, error
    assert best is not None  # a nugget of 1 makes every correlation definite
    trend = best.trend * scale
    trend[0] += centre
    return replace(best, trend=trend, weights=best.weights * scale, residuals=best.residuals * scale)


def _solved(w: Floats, basis: Floats, y: Floats, length: float, correlation: Floats) -> Outputs:
    """P = R^-1 - R^-1 F (F' R^-1 F)^-1 F' R^-1 gives weights P y and residuals (P y)_i / P_ii."""
    inverse_factor = np.linalg.inv(np.linalg.cholesky(correlation))
    through = inverse_factor @ basis
    orthonormal, upper = np.linalg.qr(through)
    whitened = inverse_factor @ y
    along = orthonormal.T @ whitened
    weights = inverse_factor.T @ (whitened - orthonormal @ along)
    half = inverse_factor.T @ orthonormal
    diagonal = np.einsum("ji,ji->i", inverse_factor, inverse_factor) - np.einsum("ij,ij->i", half, half)
    if not diagonal.min() > 0:
        raise np.linalg.LinAlgError
    return Outputs(w, length, np.linalg.solve(upper, along), weights, weights / diagonal[:, None])


def learn_outputs(
    target: Target, likelihood: Likelihood, z: Floats, outputs: dict[str, Floats], high: NDArray[np.int64]
) -> Learnt:
    """Fit the outputs (n, m) of every forward model at unbounded points (n, d), some of which (`high`) are where the
    posterior is; what is learnt is the posterior of the whole target.
    """
    p = len(likelihood.parameters)
    w, centre, factor, farthest = standardised(z[:, :p])
    inverse = np.asarray(np.linalg.inv(factor), np.float64)
    forwards: dict[str, Forward] = {}
    for name, values in outputs.items():
        fit = fit_outputs(w, values)
        forwards[name] = _forward(target, fit, centre, inverse, np.mean(fit.residuals[high] ** 2, axis=0))
    learnt = replace(target, log_likelihood=replace(likelihood, forwards=forwards))
    return Learnt(learnt.log_density, centre, factor, REACH * farthest)


def _forward(target: Target, fit: Outputs, centre: Floats, inverse: Floats, variance: Floats) -> Forward:
    transform = Transform.of(target.priors[: len(centre)])

    def forward(theta: Floats) -> tuple[Floats, Floats]:
        away = transform.unbounded(theta) - centre
        return fit.mean(np.einsum("ij,nj->ni", inverse, away)), variance

    return forward
