"""What a family of surrogates is: a module with `fit` and `load`, and the fitted models they give.

All is in canonical variables and for several outputs over the same distinct points; `percuss.surrogates.surrogate` puts
parameters, cases and families together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.settings import Settings

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[Any]
Families = list[tuple[str, list[float]]]
Tables = dict[str, "pl.DataFrame"]


@dataclass
class Data:
    """Distinct canonical points (n, d), families of their measures, outputs (n, m).

    `known` keeps what several families need of the same data.
    """

    families: Families
    points: Array
    values: Array
    known: dict[str, Any] = field(default_factory=dict)

    def rows(self, rows: NDArray[np.intp]) -> Data:
        """Some of the points."""
        return Data(self.families, np.ascontiguousarray(self.points[rows]), np.ascontiguousarray(self.values[rows]))


class Replicates(NamedTuple):
    """One output fitted to resampled designs: coefficients of its terms (b, p), weights of its points (b, n or 0)."""

    coefficients: Array
    weights: Array


class Model(Protocol):
    """Fitted surrogates of the outputs of `Data`, in their order."""

    def loo_residuals(self, data: Data) -> Array:
        """y_i - y_-i(x_i) of the data it was fitted to, (n, m), selection and hyperparameters kept."""
        ...

    def facts(self) -> list[dict[str, Any]]:
        """What there is to say of each output; the keys are those of the table in docs/surrogates.md."""
        ...

    def mean(self, points: Array) -> Array:
        """Predictions (n, m)."""
        ...

    def gradient(self, points: Array) -> tuple[Array, Array]:
        """Predictions (n, m) and their derivatives (n, m, d) with respect to canonical variables."""
        ...

    def distance(self, other: Any, probes: Array) -> Array:
        """Mean square (m,) over the prior between this model and another of its family; `probes` are points of it."""
        ...

    def variance(self, points: Array) -> Array | None:
        """The family's own variance of a prediction (n, m), or None where it has none."""
        ...

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        """Fit each output anew to resampled designs (rows of `counts`: how often each point), terms and such kept."""
        ...

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        """Predictions (b, n) of one output by its replicates."""
        ...

    def take(self, columns: Sequence[int]) -> Model:
        """Only these outputs."""
        ...

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        """All there is to store but the points; outputs are known there by their numbers in `columns`."""
        ...


class FamilyModule(Protocol):
    """What a module of the table in `registry` offers."""

    def fit(self, data: Data, settings: Settings, near: Model | None = None) -> Model:
        """Fit all outputs; `near` is a fit of this family to nearly the same data, to start from."""
        ...

    def load(self, families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Model:
        """The stored model of these outputs, with the table `points` of its data: predicts the same bits."""
        ...


class Standing(Protocol):
    """A model and the numbers of the columns that it stands for."""

    @property
    def columns(self) -> Sequence[int]: ...
    @property
    def model(self) -> Model: ...


def mean_of_parts(parts: Sequence[Standing], points: Array) -> Array:
    """Means (n, m) at canonical variables (n, d), of parts that stand for all m columns."""
    means = np.empty((len(points), sum(len(part.columns) for part in parts)))
    for part in parts:
        means[:, list(part.columns)] = part.model.mean(points)
    return means
