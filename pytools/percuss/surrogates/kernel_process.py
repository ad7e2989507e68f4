"""Gaussian-process regression with a trend: one length a parameter, nugget, analytic leave-one-out.

    y = F b + Z,   cov Z = s^2 R,   R = K + g I,   K_ij = k(sum_k (x_ik - x_jk)^2 / l_k^2)

with the kernels of `percuss.surrogates.kernels`. Lengths l, nugget g and the kernel's shape maximise the restricted
likelihood, in which b and s^2 are profiled out (Harville, 1977), less what the kernel takes off for its shape. Of
several kernels the likeliest is taken, but one after the first only where it is so by e^3, which Kass and Raftery
(1995) call strong. With
P = R^-1 - R^-1 F (F' R^-1 F)^-1 F' R^-1 and n - p degrees of freedom,

    s^2 = y' P y / (n - p)
    L = -(n - p)/2 log s^2 - log|R|/2 - log|F' R^-1 F|/2
    dL = (y' P dR P y / s^2 - tr(P dR)) / 2
    y_i - y_-i(x_i) = (P y)_i / P_ii      (leave-one-out with the trend refitted; Dubrule, 1983)

The trend is a constant by default, or the terms of a polynomial chaos (Schoebi, Sudret and Wiart, 2015). Points are in
canonical variables, standardised here. Starts of the search are fixed, so that the same data give the same process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.surrogates.kernels import KERNELS, MATERN, NO_SHAPE, Pull

Array = NDArray[Any]

SHORTEST = 0.05  # length, in standard deviations of the points
LARGEST_NUGGET = 1.0
# By how much the logarithm of a likelihood must be larger for a kernel that is not the first.
STRONG = 3.0
# Trial lengths of the search; the most likely of each kernel are optimised.
STARTS = (0.5, 1.5, 4.0, 12.0)
START_NUGGETS = (1e-8, 1e-3)
# Cost grows with the cube of the number of points: beyond this a fit takes minutes.
MOST_POINTS = 2000


@dataclass(frozen=True)
class Hyperparameters:
    """What was searched for: lengths (in standardised canonical variables), nugget relative to the variance, kernel
    and its shape.
    """

    lengths: Array
    nugget: float
    kernel: str = MATERN
    shape: Array = field(default_factory=lambda: NO_SHAPE)

    @property
    def logs(self) -> Array:
        """As the search sees them."""
        return np.asarray(np.log(np.concatenate([self.lengths, self.shape, [self.nugget]])))

    @classmethod
    def of_logs(cls, logs: Array, dimensions: int, kernel: str) -> Hyperparameters:
        """As they came out of the search."""
        return cls(np.exp(logs[:dimensions]), math.exp(logs[-1]), kernel, np.exp(logs[dimensions:-1]))


@dataclass(frozen=True)
class Process:
    """A fitted process of one output. `weights` are R^-1 (y - F b): with `trend` all a mean prediction needs."""

    points: Array
    scale: Array
    hyper: Hyperparameters
    variance: float
    trend: Array
    weights: Array
    basis: Array

    def kernel(self, points: Array) -> Array:
        """Correlations (n, training points) of canonical points with the training points."""
        unit = self.scale * self.hyper.lengths
        return KERNELS[self.hyper.kernel].between(points / unit, self.points / unit, self.hyper.shape)

    def mean(self, points: Array, basis: Array) -> Array:
        """The mean at canonical points; `basis` holds the trend's terms there."""
        return np.asarray(basis @ self.trend + self.kernel(points) @ self.weights)

    def slope(self, points: Array) -> Array:
        """Derivatives (n, d) of the part without the trend with respect to canonical variables."""
        unit = self.scale * self.hyper.lengths
        away = (points[:, None, :] - self.points[None, :, :]) / unit
        return np.asarray(KERNELS[self.hyper.kernel].slope(away, self.weights, self.hyper.shape) / unit)

    def prediction_variance(self, points: Array, basis: Array) -> Array:
        """Variance of a new observation: of the process, the trend's uncertainty and the nugget."""
        factor, inverse_trend, trend_factor = self._factors
        k = self.kernel(points).T
        half = _solve_lower(factor, k)
        left = basis.T - inverse_trend.T @ half
        trend = _solve_lower(trend_factor, left)
        explained = np.einsum("ij,ij->j", half, half)
        spare = 1.0 + self.hyper.nugget - explained + np.einsum("ij,ij->j", trend, trend)
        return np.asarray(self.variance * np.maximum(spare, self.hyper.nugget))

    @cached_property
    def _factors(self) -> tuple[Array, Array, Array]:
        """Cholesky factor of R, the trend's terms through it, and the factor of F' R^-1 F."""
        correlation = self.kernel(self.points)
        correlation[np.diag_indices_from(correlation)] += self.hyper.nugget
        factor = np.linalg.cholesky(correlation)
        through = _solve_lower(factor, self.basis)
        return factor, through, np.linalg.cholesky(through.T @ through)


@dataclass(frozen=True)
class Fit:
    """A process and its leave-one-out residuals and variances, hyperparameters kept."""

    process: Process
    residuals: Array
    variances: Array
    likelihood: float


def fit_process(
    points: Array,
    values: Array,
    basis: Array | None = None,
    start: Hyperparameters | None = None,
    kernels: Sequence[str] = (MATERN,),
) -> Fit:
    """Fit one output (n,) at canonical points (n, d) with trend terms `basis` (n, p), by default the constant.

    `start` spares the search over starts and kernels where a fit of nearly the same data is known.
    """
    n, d = points.shape
    if n > MOST_POINTS:
        raise InputError(
            f"{n} points are too many for a Gaussian process: at most {MOST_POINTS}", hint="take --family chaos"
        )
    trend = np.ones((n, 1)) if basis is None else basis
    if n - trend.shape[1] < 2:
        raise InputError(f"{n} points are too few for a Gaussian process with a trend of {trend.shape[1]} terms")
    scale = points.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    size = float(values.std()) or 1.0
    y = (values - values.mean()) / size
    if np.ptp(values) > 0:
        hyper = _search(points, scale, y, trend, start, kernels)
    else:
        shape, _ = KERNELS[kernels[0]].shapes(d)
        hyper = Hyperparameters(np.ones(d), START_NUGGETS[-1], kernels[0], shape)
    state = _state(KERNELS[hyper.kernel].geometry(points, scale), y, trend, hyper)
    weights = state.weights
    coefficients = size * state.trend
    # The mean that was taken off goes back into the constant, which every trend has first.
    coefficients[0] += values.mean()
    diagonal = np.diag(state.projector)
    residuals = size * weights / diagonal
    variance = size * size * state.variance
    process = Process(points, scale, hyper, variance, coefficients, size * weights, trend)
    return Fit(process, residuals, variance / diagonal, state.likelihood)


def correlations(process: Process) -> Array:
    """R of all points of a process."""
    rules, hyper = KERNELS[process.hyper.kernel], process.hyper
    own, _ = rules.matrix(rules.geometry(process.points, process.scale), hyper.lengths, hyper.shape)
    own[np.diag_indices_from(own)] += hyper.nugget
    return own


def refit(process: Process, correlation: Array, rows: NDArray[np.intp], values: Array) -> tuple[Array, Array]:
    """Trend and weights of the process on some of its points (each once), hyperparameters kept; `correlation` is R of
    all its points.
    """
    centre = float(values.mean())
    solved = _solved(correlation[np.ix_(rows, rows)], values - centre, process.basis[rows])
    trend = solved.trend
    trend[0] += centre
    return trend, solved.weights


@dataclass(frozen=True)
class _State:
    projector: Array
    pull: Pull
    weights: Array
    trend: Array
    variance: float
    likelihood: float


@dataclass(frozen=True)
class _Solved:
    factor: Array
    orthonormal: Array
    weights: Array
    trend: Array
    variance: float
    likelihood: float


def _solved(correlation: Array, y: Array, trend: Array) -> _Solved:
    """Trend and weights for R, its factor and an orthonormal basis of the trend through it; LinAlgError where R is not
    definite or the trend takes all points.
    """
    n, p = trend.shape
    if n <= p:
        raise np.linalg.LinAlgError
    factor = np.linalg.cholesky(correlation)
    # Through the factor all is a least-squares problem; its QR keeps the digits that products with R^-1 would lose.
    orthonormal, upper = np.linalg.qr(_solve_lower(factor, trend))
    whitened = _solve_lower(factor, y)
    along = orthonormal.T @ whitened
    rest = whitened - orthonormal @ along
    diagonal = np.abs(np.diag(upper))
    if diagonal.min() <= 1e-12 * diagonal.max():
        raise np.linalg.LinAlgError
    variance = max(float(rest @ rest) / (n - p), 1e-300)
    likelihood = -0.5 * (n - p) * math.log(variance) - float(np.log(np.diag(factor)).sum() + np.log(diagonal).sum())
    weights = _solve_lower(factor, rest, transposed=True)
    return _Solved(factor, orthonormal, weights, np.linalg.solve(upper, along), variance, likelihood)


def _state(geometry: Array, y: Array, trend: Array, hyper: Hyperparameters) -> _State:
    """Everything the likelihood and its derivatives are made of."""
    from scipy.linalg import lapack

    own, pull = KERNELS[hyper.kernel].matrix(geometry, hyper.lengths, hyper.shape)
    solved = _solved(own + hyper.nugget * np.eye(len(y)), y, trend)
    inverse, failed = lapack.dpotri(solved.factor, lower=1)
    if failed:
        raise np.linalg.LinAlgError
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    half = _solve_lower(solved.factor, solved.orthonormal, transposed=True)
    projector = inverse - half @ half.T
    return _State(projector, pull, solved.weights, solved.trend, solved.variance, solved.likelihood)


def _search(
    points: Array, scale: Array, y: Array, trend: Array, start: Hyperparameters | None, kernels: Sequence[str]
) -> Hyperparameters:
    from scipy.optimize import minimize

    dimensions = points.shape[1]
    considered = kernels if start is None else (start.kernel,)
    geometries = {kernel: KERNELS[kernel].geometry(points, scale) for kernel in considered}

    def objective(logs: Array, kernel: str) -> tuple[float, Array]:
        hyper = Hyperparameters.of_logs(logs, dimensions, kernel)
        try:
            state = _state(geometries[kernel], y, trend, hyper)
        except np.linalg.LinAlgError:
            return 1e25, np.zeros_like(logs)
        lost, by_shape = KERNELS[kernel].penalty(hyper.shape)
        slope = -_gradient(state, hyper)
        slope[dimensions:-1] += by_shape
        return lost - state.likelihood, slope

    def climb(logs: Array, kernel: str) -> Any:
        rules = KERNELS[kernel]
        _, shapes = rules.shapes(dimensions)
        bounds = [(math.log(SHORTEST), math.log(rules.longest))] * dimensions
        bounds += [(math.log(low), math.log(high)) for low, high in shapes]
        bounds.append((math.log(rules.least_nugget), math.log(LARGEST_NUGGET)))
        at = np.clip(logs, *np.array(bounds).T)
        options = {"maxiter": 100, "ftol": rules.tolerance}
        return minimize(objective, at, (kernel,), "L-BFGS-B", jac=True, bounds=bounds, options=options)

    if start is not None:
        starts = [(start.logs, start.kernel)]
    else:
        starts = []
        for kernel in kernels:
            shape, _ = KERNELS[kernel].shapes(dimensions)
            trials = [
                np.log(np.concatenate([np.full(dimensions, length), shape, [g]]))
                for length in STARTS
                for g in START_NUGGETS
            ]
            scored = sorted((objective(trial, kernel)[0], i) for i, trial in enumerate(trials))
            climbs = max(KERNELS[kernel].climbs // len(kernels), 1)
            starts += [(trials[i], kernel) for _, i in scored[:climbs]]
    optima = [(climb(logs, kernel), kernel) for logs, kernel in starts]
    best, kernel = min(optima, key=lambda optimum: float(optimum[0].fun) + STRONG * (optimum[1] != kernels[0]))
    return Hyperparameters.of_logs(best.x, dimensions, kernel)


def _gradient(state: _State, hyper: Hyperparameters) -> Array:
    """Derivatives of the likelihood with respect to the logarithms of lengths, shape and nugget."""
    inner = np.outer(state.weights, state.weights) / state.variance - state.projector
    return np.append(state.pull(inner), 0.5 * hyper.nugget * float(np.trace(inner)))


def _solve_lower(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, right, lower=True, trans=int(transposed), check_finite=False))
