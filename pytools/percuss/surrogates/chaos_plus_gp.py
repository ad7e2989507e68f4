"""The family `chaos-plus-gp`: the terms of a sparse expansion as trend, a Gaussian process on what they leave.

    y = sum_a c_a psi_a(x) + Z(x)       (Schoebi, Sudret and Wiart, 2015)

The expansion selects the terms; coefficients and process are then found together by restricted likelihood, so that the
process is not fitted to residuals which the expansion has already made too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates import chaos
from percuss.surrogates.gaussian_process import (
    load_processes,
    loo_of,
    process_facts,
    process_table,
    resampled_processes,
)
from percuss.surrogates.kernel_process import Process, fit_process
from percuss.surrogates.kernels import kernels_under_a_trend
from percuss.surrogates.model import Array, Data, Families, Model, Replicates, Settings, Tables

if TYPE_CHECKING:
    import polars as pl

# Terms a trend may have, as a share of the points: the process needs the other degrees of freedom.
LARGEST_SHARE = 0.5


@dataclass(frozen=True)
class ChaosPlusProcesses:
    """A trend (an expansion with the coefficients of the trend) and a process for each output."""

    trend: chaos.Expansions
    processes: tuple[Process, ...]
    residuals: Array
    variances: Array

    def loo_residuals(self, data: Data) -> Array:
        return self.residuals

    def facts(self) -> list[dict[str, Any]]:
        return process_facts(self.processes, self.variances)

    def mean(self, points: Array) -> Array:
        rest = np.stack([p.kernel(points) @ p.weights for p in self.processes], axis=1)
        return np.asarray(self.trend.mean(points) + rest)

    def gradient(self, points: Array) -> tuple[Array, Array]:
        _, slopes = self.trend.gradient(points)
        return self.mean(points), slopes + np.stack([p.slope(points) for p in self.processes], axis=1)

    def distance(self, other: Model) -> Array | None:
        return None

    def variance(self, points: Array) -> Array | None:
        pairs = zip(self.processes, self.trend.bases, strict=True)
        return np.stack([p.prediction_variance(points, basis.predict(points)) for p, basis in pairs], axis=1)

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        return resampled_processes(self.processes, data, counts)

    def replicate_sizes(self, output: int) -> tuple[int, int]:
        process = self.processes[output]
        return len(process.trend), len(process.weights)

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        trend = replicates.coefficients @ self.trend.bases[output].predict(points).T
        return np.asarray(trend + replicates.weights @ self.processes[output].kernel(points).T)

    def take(self, columns: Sequence[int]) -> Model:
        chosen = list(columns)
        trend = self.trend.take(chosen)
        assert isinstance(trend, chaos.Expansions)
        processes = tuple(self.processes[j] for j in chosen)
        return ChaosPlusProcesses(trend, processes, self.residuals[:, chosen], self.variances[:, chosen])

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        return self.trend.tables(columns, group) | {"processes": process_table(self.processes, columns, group)}


def fit(data: Data, settings: Settings, near: Model | None = None) -> Model:
    """Select terms by an expansion, then fit trend and process of every output."""
    selected = chaos.fit(data, settings)
    starts: Sequence[Process | None] = [None] * data.values.shape[1]
    if isinstance(near, ChaosPlusProcesses):
        starts = near.processes
    kernels = kernels_under_a_trend(settings.kernels)
    outputs, fits = [], []
    for j, start in enumerate(starts):
        terms = _leading(selected.terms[j], selected.coefficients[j], int(LARGEST_SHARE * len(data.points)))
        psi = chaos.basis_of(data.families, terms).predict(data.points)
        process = fit_process(data.points, data.values[:, j], psi, start.hyper if start else None, kernels)
        outputs.append((terms, process.process.trend))
        fits.append(process)
    trend = chaos.Expansions(chaos.expansion_of(data.families, outputs))
    residuals, variances = loo_of(fits)
    return ChaosPlusProcesses(trend, tuple(f.process for f in fits), residuals, variances)


def _leading(terms: NDArray[np.uint8], coefficients: Array, most: int) -> NDArray[np.uint8]:
    """The constant, and as many of the largest terms as may be kept, in their order."""
    if len(terms) <= most:
        return terms
    size = np.abs(coefficients)
    size[~terms.any(axis=1)] = np.inf
    return terms[np.sort(np.argsort(-size, kind="stable")[:most])]


def load(families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Model:
    """The trends and processes of these outputs."""
    trend = chaos.load(families, tables, columns)
    points = load_processes(tables, columns, None)
    bases = {
        column: basis.predict(process.points)
        for column, basis, process in zip(columns, trend.bases, points, strict=True)
    }
    nothing = np.empty((0, len(columns)))
    return ChaosPlusProcesses(trend, load_processes(tables, columns, bases), nothing, nothing)
