"""The error of a wrong model: a smooth function of a control variable, the same in all data (Kennedy, O'Hagan, 2001).

delta ~ N(0, std^2 K) over the places x of the control variable: time along a curve, or an input that the cases set. A
free delta can mimic the parameters, and neither is known then. With `orthogonal` it cannot: what the parameters do to
the data, the gradient G of the model, is taken out of it (Plumlee, 2017, "Bayesian calibration of inexact computer
models", J. Am. Stat. Assoc. 112),

    K = R - R G (G' R G)^-1 G' R,    R a Matern correlation,

which is R given that G' delta = 0 at the data; G is that of the parameters that fit the data best, where the
parameters of a wrong model are defined. Without it the prior of `std` is what bounds delta.

`anchored` says where the model is right: delta and its slope are zero where the control variable is zero. K is then R
given both. Parameters that the model's behaviour there defines (the stiffness of a spring at rest, say) are no longer
biased by what is wrong farther out (Brynjarsdottir, O'Hagan, 2014, "Learning about physical parameters: the importance
of model discrepancy", Inverse Problems 30, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.correlated import KERNELS, ROOT_3, ROOT_5, Correlated
from percuss.inference.discrepancies.discrepancy import Unknowns, at
from percuss.settings import Setting, table_of

# Directions of G that R hardly sees are left out: relative to the strongest.
FAINT = 1e-10
# Added to the diagonal of K, which is singular by construction, to draw from it.
JITTER = 1e-9
INSTANT = "instant"
SMOOTH = "matern-5/2"
# Minus the slope of each kernel at distances h, and its curvature at none: covariances with the slope of the process.
SLOPES: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "matern-3/2": (lambda h: 3 * h * np.exp(-ROOT_3 * h), 3.0),
    "matern-5/2": (lambda h: 5 / 3 * h * (1 + ROOT_5 * h) * np.exp(-ROOT_5 * h), 5 / 3),
}


@dataclass(frozen=True, eq=False)
class ModelError(Correlated):
    """Over `places` (m,) of the control variable `over`; `slopes` (m, d) is the gradient of the model there, None while
    it is not known.
    """

    systematic: ClassVar[bool] = True
    settings: ClassVar[Mapping[str, Setting]] = {
        **Correlated.settings,
        **table_of(
            replace(Correlated.settings["kernel"], default=SMOOTH),
            Setting("over", "text", INSTANT, doc="control variable: the instant, or an input that the cases set"),
            Setting("orthogonal", "boolean", True, doc="what the parameters do to the data is taken out of the error"),
            Setting("anchored", "boolean", False, doc="the model is right where the control variable is zero"),
        ),
    }

    kernel: str = SMOOTH
    over: str = INSTANT
    orthogonal: bool = True
    slopes: Floats | None = None
    anchored: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anchored and self.orthogonal:
            raise InputError(
                "a model error is `anchored` or `orthogonal`, not both: they define the parameters differently",
                hint="orthogonal = false",
            )
        if self.anchored and self.kernel not in SLOPES:
            raise InputError(f"a model error that is anchored needs a kernel with a slope: {' or '.join(SLOPES)}")

    @property
    def in_linear_time(self) -> bool:
        return False

    def covariance(self, variance: Floats, unknowns: Unknowns) -> Floats:
        noise = np.zeros((*variance.shape, variance.shape[-1]))
        np.einsum("...ii->...i", noise)[...] = variance
        own = self.prior_covariance(np.empty(0), unknowns)
        return np.asarray((own[0] if len(own) == 1 and not self.unknowns() else own) + noise)

    def prior_covariance(self, more: Floats, unknowns: Unknowns) -> Floats:
        """std^2 K at the places of the data and at `more` of them: (p, m + q, m + q), p is 1 or n."""
        places = np.concatenate([self.places, more])
        length = np.reshape(at(self.length, unknowns), (-1, 1, 1))
        correlation = KERNELS[self.kernel](np.abs(places[:, None] - places) / length)
        if self.orthogonal and self.slopes is not None:
            size = np.linalg.norm(self.slopes, axis=0)
            gradient = self.slopes[:, size > 0] / size[size > 0]
            seen = correlation[:, :, : len(self.places)] @ gradient
            inner = gradient.T @ seen[:, : len(self.places)]
            correlation = correlation - seen @ np.linalg.pinv(inner, FAINT, hermitian=True) @ seen.swapaxes(1, 2)
        if self.anchored:
            away = places / length[:, 0]
            slope, curvature = SLOPES[self.kernel]
            value = KERNELS[self.kernel](np.abs(away))[:, :, None]
            steep = (np.sign(away) * slope(np.abs(away)))[:, :, None]
            correlation = correlation - value @ value.swapaxes(1, 2) - steep @ steep.swapaxes(1, 2) / curvature
        std = np.reshape(at(self.std, unknowns), (-1, 1, 1))
        return np.asarray(std * std * correlation)

    def draw_error(self, n: int, more: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        """Draw delta at the data and at `more` places, as it is before any data: (n, m + q)."""
        covariance = self.prior_covariance(more, unknowns)
        size = covariance.shape[-1]
        scale = np.max(np.diagonal(covariance, axis1=1, axis2=2), axis=1)[:, None, None]
        factor = np.linalg.cholesky(covariance + (JITTER * scale + 1e-300) * np.eye(size))
        return np.asarray((factor @ generator.standard_normal((n, size, 1)))[:, :, 0])

    def draw_given(
        self, residual: Floats, more: Floats, variance: Floats, unknowns: Unknowns, generator: np.random.Generator
    ) -> Floats:
        """Draw delta at the data and at `more` places, given residuals (n, m): a draw from before, moved by what the
        data say (Matheron's rule).
        """
        n, m = residual.shape
        before = self.draw_error(n, more, unknowns, generator)
        noise = np.sqrt(variance) * generator.standard_normal((n, m))
        covariance = self.prior_covariance(more, unknowns)
        known = covariance[:, :m, :m] + np.eye(m) * np.atleast_2d(variance)[:, None, :]
        pull = np.linalg.solve(known, (residual - before[:, :m] - noise)[:, :, None])
        return np.asarray(before + (covariance[:, :, :m] @ pull)[:, :, 0])

    def check_variance(self, variance: Floats) -> None:
        """Refuse data without an error of their own: K alone is singular."""
        if not (variance > 0).all():
            raise InputError(
                "a model error needs data with an error of their own", hint="give the measurement a std above 0"
            )
