"""The family `gp`: a Gaussian process for each output, for responses with kinks that polynomials follow badly.

The process itself is in `kernel_process`; here are many outputs, storage and resampled designs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import LedgerError
from percuss.surrogates.kernel_process import Fit, Hyperparameters, Process, correlations, fit_process, refit
from percuss.surrogates.kernels import MATERN, kernels_of_gp
from percuss.surrogates.model import Array, Data, Families, Model, Replicates, Settings, Tables

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Processes:
    """One process an output, all over the same points, with a constant for a trend."""

    processes: tuple[Process, ...]
    residuals: Array
    variances: Array

    def loo_residuals(self, data: Data) -> Array:
        return self.residuals

    def facts(self) -> list[dict[str, Any]]:
        return process_facts(self.processes, self.variances)

    def mean(self, points: Array) -> Array:
        constant = np.ones((len(points), 1))
        return np.stack([process.mean(points, constant) for process in self.processes], axis=1)

    def gradient(self, points: Array) -> tuple[Array, Array]:
        return self.mean(points), np.stack([process.slope(points) for process in self.processes], axis=1)

    def distance(self, other: Model) -> Array | None:
        return None

    def variance(self, points: Array) -> Array | None:
        constant = np.ones((len(points), 1))
        return np.stack([process.prediction_variance(points, constant) for process in self.processes], axis=1)

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        return resampled_processes(self.processes, data, counts)

    def replicate_sizes(self, output: int) -> tuple[int, int]:
        process = self.processes[output]
        return len(process.trend), len(process.weights)

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        return np.asarray(replicates.coefficients + replicates.weights @ self.processes[output].kernel(points).T)

    def take(self, columns: Sequence[int]) -> Model:
        chosen = list(columns)
        return Processes(tuple(self.processes[j] for j in chosen), self.residuals[:, chosen], self.variances[:, chosen])

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        return {"processes": process_table(self.processes, columns, group)}


def fit(data: Data, settings: Settings, near: Model | None = None) -> Model:
    """Fit every output."""
    starts: Sequence[Process | None] = [None] * data.values.shape[1]
    if isinstance(near, Processes):
        starts = near.processes
    kernels = kernels_of_gp(settings.kernels)
    fits = [
        fit_process(data.points, data.values[:, j], start=start.hyper if start else None, kernels=kernels)
        for j, start in enumerate(starts)
    ]
    residuals, variances = loo_of(fits)
    return Processes(tuple(f.process for f in fits), residuals, variances)


def load(families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Model:
    """The processes of these outputs."""
    nothing = np.empty((0, len(columns)))
    return Processes(load_processes(tables, columns, None), nothing, nothing)


def resampled_processes(processes: Sequence[Process], data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
    """Processes on resampled designs: a point drawn twice is there once, a process passes through it anyway."""
    refitted = []
    for j, process in enumerate(processes):
        coefficients = np.empty((len(counts), len(process.trend)))
        weights = np.zeros((len(counts), len(data.points)))
        correlation = correlations(process)
        for b, count in enumerate(counts):
            rows = np.flatnonzero(count)
            try:
                coefficients[b], weights[b, rows] = refit(process, correlation, rows, data.values[rows, j])
            except np.linalg.LinAlgError:
                # Too few distinct points for the trend: this design has nothing to say.
                coefficients[b], weights[b] = process.trend, process.weights
        refitted.append(Replicates(coefficients, weights))
    return refitted


def loo_of(fits: Sequence[Fit]) -> tuple[Array, Array]:
    """Leave-one-out residuals and variances (n, m) of all outputs."""
    return np.stack([f.residuals for f in fits], axis=1), np.stack([f.variances for f in fits], axis=1)


def process_facts(processes: Sequence[Process], variances: Array) -> list[dict[str, Any]]:
    """What there is to say of processes."""
    return [
        {"terms": len(process.trend), "loo_variance": float(variances[:, j].mean())}
        for j, process in enumerate(processes)
    ]


def process_table(processes: Sequence[Process], columns: Sequence[int], group: int) -> pl.DataFrame:
    """Processes as a table: one row an output; the points they share are those of their group."""
    import polars as pl

    listed = pl.List(pl.Float64)
    # Older kernels have no shape, and their tables no such column.
    shapes = {"shape": pl.Series([p.hyper.shape.tolist() for p in processes], dtype=listed)}
    return pl.DataFrame(
        {
            "column": pl.Series(list(columns), dtype=pl.Int64),
            "group": pl.Series([group] * len(processes), dtype=pl.Int64),
            "lengths": pl.Series([p.hyper.lengths.tolist() for p in processes], dtype=listed),
            "kernel": pl.Series([p.hyper.kernel for p in processes], dtype=pl.String),
            "nugget": pl.Series([p.hyper.nugget for p in processes], dtype=pl.Float64),
            "variance": pl.Series([p.variance for p in processes], dtype=pl.Float64),
            "trend": pl.Series([p.trend.tolist() for p in processes], dtype=listed),
            "weights": pl.Series([p.weights.tolist() for p in processes], dtype=listed),
        }
        | (shapes if any(len(p.hyper.shape) for p in processes) else {})
    )


def load_processes(
    tables: Mapping[str, pl.DataFrame], columns: Sequence[int], bases: Mapping[int, Array] | None
) -> tuple[Process, ...]:
    """Processes of these outputs; `bases` gives the trend's terms at the points where it is not just the constant."""
    import polars as pl

    processes = []
    shared: dict[int, Array] = {}
    for column in columns:
        rows = tables["processes"].filter(pl.col("column") == column)
        if rows.height != 1:
            raise LedgerError(f"a surrogate without the process of its output {column}")
        row = rows.row(0, named=True)
        group = row["group"]
        if group not in shared:
            listed = tables["points"].filter(pl.col("group") == group)["canonical"].to_list()
            shared[group] = np.array(listed, float)
        points = shared[group]
        scale = points.std(axis=0)
        basis = np.ones((len(points), 1)) if bases is None else bases[column]
        processes.append(
            Process(
                points,
                np.where(scale > 0, scale, 1.0),
                # Processes of older events have no kernel: there was one.
                Hyperparameters(
                    np.array(row["lengths"]),
                    row["nugget"],
                    row.get("kernel", MATERN),
                    np.array(row.get("shape") or [], float),
                ),
                row["variance"],
                np.array(row["trend"]),
                np.array(row["weights"]),
                basis,
            )
        )
    return tuple(processes)
