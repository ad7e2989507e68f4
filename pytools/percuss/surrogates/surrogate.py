"""A surrogate as the ledger holds it, read back: what calibration and sensitivity work with.

    surrogate = load_surrogate(session, event)
    mean, variance = surrogate.predict(theta)       # (n, d) in SI -> (n, m), and (m,) or (n, m)
    mean, gradient = surrogate.gradient(theta)      # (n, m), (n, m, d)
    low, high = surrogate.band(theta, 0.95)

`variance` is that of the surrogate's own error, so that it can be carried into a likelihood: the trusted relative error
times the variance of the output for expansions; for families that know their local variance that one, raised where
the nested error says it is too small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError, LedgerError
from percuss.kinds.surrogate_fitted import KIND, SurrogateFitted
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.study import Study
from percuss.surrogates.assessment import Band, Errors
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.model import FAMILIES, Array, Model, Replicates, family_module, mean_of_parts
from percuss.surrogates.modes import load_modes

if TYPE_CHECKING:
    import polars as pl

BLOCK = 2048


@dataclass(frozen=True)
class Column:
    """One output of one case: name, family and errors."""

    case: str
    output: str
    family: str
    errors: Errors
    mean: float
    variance: float
    inflation: float
    group: int | None

    @property
    def name(self) -> str:
        """As verdicts name it."""
        return f"{self.case}/{self.output}"


@dataclass(frozen=True)
class LoadedPart:
    """A model and the columns it stands for."""

    family: str
    columns: tuple[int, ...]
    model: Model


@dataclass(frozen=True)
class Surrogate:
    """Surrogates of every output of every case, over the parameters `names` (order of theta's columns)."""

    event: Event
    study: Study
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    canonical: Canonical
    parts: tuple[LoadedPart, ...]
    tables: Mapping[str, pl.DataFrame]

    @property
    def outputs(self) -> tuple[tuple[str, str], ...]:
        """(case, output) of every column of a prediction."""
        return tuple((column.case, column.output) for column in self.columns)

    def column(self, case: str, output: str) -> int:
        """Number of a column."""
        try:
            return self.outputs.index((case, output))
        except ValueError:
            raise InputError(f"surrogate {self.event.id}: has no output {output} of case {case}") from None

    @property
    def error(self) -> Array:
        """The trusted error of every column, relative to the variance of its output."""
        return np.array([column.errors.trusted for column in self.columns])

    def predict(self, theta: NDArray[Any]) -> tuple[Array, Array]:
        """Means (n, m) at parameters (n, d) in SI, and variances of the surrogates' errors, (m,) or (n, m)."""
        if all(part.family == "chaos" for part in self.parts):
            return self.mean(theta), self._fixed_variance
        parts = [self._predict(block) for block in self._blocks(theta)]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate([variance for _, variance in parts])

    def _predict(self, theta: Array) -> tuple[Array, Array]:
        points = self._points(theta)
        mean = np.empty((len(points), len(self.columns)))
        own: dict[int, Array] = {}
        for part in self.parts:
            columns = list(part.columns)
            mean[:, columns] = part.model.mean(points)
            local = part.model.variance(points)
            if local is not None:
                own |= {number: local[:, i] for i, number in enumerate(columns)}
        variance = np.tile(self._fixed_variance, (len(points), 1))
        for number, local in own.items():
            variance[:, number] = local * self.columns[number].inflation
        return mean, variance

    def mean(self, theta: NDArray[Any]) -> Array:
        """Means (n, m) alone: the quickest call."""
        if len(self.parts) == 1 and self.parts[0].family == "chaos":
            return self.parts[0].model.mean(self._points(theta))
        return np.concatenate([self._mean(block) for block in self._blocks(theta)])

    def _mean(self, theta: Array) -> Array:
        return self.mean_of_canonical(self._points(theta))

    def mean_of_canonical(self, points: Array) -> Array:
        """Means (n, m) at canonical variables (n, d)."""
        return mean_of_parts(self.parts, points)

    def gradient(self, theta: NDArray[Any]) -> tuple[Array, Array]:
        """Means (n, m) and derivatives (n, m, d) with respect to the parameters in SI."""
        parts = [self._gradient(block) for block in self._blocks(theta)]
        return np.concatenate([mean for mean, _ in parts]), np.concatenate([slope for _, slope in parts])

    def _gradient(self, theta: Array) -> tuple[Array, Array]:
        mean, gradient = self._slopes(self._points(theta))
        return mean, self.canonical.to_parameters(gradient, np.asarray(theta, float))

    def _slopes(self, points: Array) -> tuple[Array, Array]:
        """Means and derivatives with respect to canonical variables."""
        mean = np.empty((len(points), len(self.columns)))
        gradient = np.empty((len(points), len(self.columns), len(self.names)))
        for part in self.parts:
            columns = list(part.columns)
            mean[:, columns], gradient[:, columns] = part.model.gradient(points)
        return mean, gradient

    def slopes_at(self, points: pl.DataFrame) -> tuple[Array, Array]:
        """Of its own points, named by design and sample: canonical variables (n, d), derivatives (n, m, d) there."""
        import polars as pl

        own = []
        for group, canonical in self.tables["points"].partition_by("group", as_dict=True, maintain_order=True).items():
            column = next(i for i, column in enumerate(self.columns) if column.group == group[0])
            own.append(self._residuals(column).select("design", "sample").with_columns(canonical["canonical"]))
        every = pl.concat(own).unique(["design", "sample"], maintain_order=True)
        chosen = np.array(points.join(every, on=["design", "sample"], how="left")["canonical"].to_list(), float)
        return chosen, self._slopes(chosen)[1]

    def band(self, theta: NDArray[Any], level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends (n, m) of the local prediction bands."""
        parts = [self._band(block, level) for block in self._blocks(theta)]
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])

    def _band(self, theta: Array, level: float) -> tuple[Array, Array]:
        points = self._points(theta)
        mean = self.mean(theta)
        half = np.empty_like(mean)
        for part in self.parts:
            for i, number in enumerate(part.columns):
                half[:, number] = self._needed_band(number).width(part.model, i, points, level)
        return mean - half, mean + half

    def _needed_band(self, number: int) -> Band:
        if number not in self.bands:
            raise InputError(
                f"surrogate {self.event.id}: was fitted without resampled designs", hint="fit it with --bootstrap 100"
            )
        return self.bands[number]

    @property
    def has_curves(self) -> bool:
        """Whether the outputs are scores of the modes of curves."""
        return "modes" in self.tables

    def curves(self, theta: NDArray[Any], case: str) -> tuple[Array, Array, Array]:
        """Axis (t,), mean curves (n, t) of a case and the variance (n, t) of their errors."""
        modes = load_modes(self.tables, case)
        numbers = [number for number, column in enumerate(self.columns) if column.case == case]
        mean, variance = self.predict(theta)
        own = np.broadcast_to(variance, mean.shape)[:, numbers]
        return modes.axis, modes.curves(mean[:, numbers]), own @ modes.modes**2 + modes.rest

    def curve_band(self, theta: NDArray[Any], case: str, level: float = 0.95) -> tuple[Array, Array, Array]:
        """Axis (t,), lower and upper ends (n, t): the level holds on average over instants and points."""
        modes = load_modes(self.tables, case)
        axis, mean, _ = self.curves(theta, case)
        points = self._points(theta)
        square = np.tile(modes.rest, (len(points), 1))
        residuals, scale = np.zeros(1), modes.rest
        for part in self.parts:
            for i, number in enumerate(part.columns):
                if self.columns[number].case != case:
                    continue
                k = int(self.columns[number].output.rpartition("#")[2]) - 1
                band = self._needed_band(number)
                square += band.spread(part.model, i, points)[:, None] * modes.modes[k] ** 2
                residuals = residuals + band.residuals[:, None] * modes.modes[k]
                scale = scale + (band.scale**2)[:, None] * modes.modes[k] ** 2
        scores = np.sort(np.abs(residuals) / np.sqrt(scale + 1e-300), axis=None)
        factor = float(np.quantile(scores, level))
        return axis, mean - factor * np.sqrt(square), mean + factor * np.sqrt(square)

    @cached_property
    def bands(self) -> dict[int, Band]:
        """What bands are made of, by column; empty without resampled designs."""
        if "replicates" not in self.tables:
            return {}
        by_column = {}
        for number, rows in enumerate(self.tables["replicates"].partition_by("column", maintain_order=True)):
            own_residuals = self._residuals(number)
            seen = own_residuals["nested"] if own_residuals["nested"].null_count() == 0 else own_residuals["left_out"]
            floor = float(self.tables["outputs"]["band_floor"][number])
            coefficients = np.array(rows["coefficients"].to_list(), float).reshape(rows.height, -1)
            weights = np.array(rows["weights"].to_list(), float).reshape(rows.height, -1)
            residuals = own_residuals["value"].to_numpy() - seen.to_numpy()
            by_column[number] = Band(
                Replicates(coefficients, weights), floor, residuals, own_residuals["scale"].to_numpy()
            )
        return by_column

    @cached_property
    def folds(self) -> tuple[tuple[LoadedPart, ...], ...]:
        """The models that were fitted without each fold in turn, as `parts`; none without folds."""
        import polars as pl

        stored = {role.removeprefix("fold_"): table for role, table in self.tables.items() if role.startswith("fold_")}
        if not stored:
            return ()
        models = []
        for number in range(1 + max(int(table["fold"].max()) for table in stored.values())):  # type: ignore[arg-type]
            tables = {role: table.filter(pl.col("fold") == number) for role, table in stored.items()}
            tables["points"] = self._outside(number)
            parts = []
            for part in self.parts:
                model = family_module(part.family).load(self.canonical.families, tables, part.columns)
                parts.append(LoadedPart(part.family, part.columns, model))
            models.append(tuple(parts))
        return tuple(models)

    def _outside(self, fold: int) -> pl.DataFrame:
        """The points that are not in a fold."""
        import polars as pl

        kept = []
        for group, points in self.tables["points"].partition_by("group", as_dict=True, maintain_order=True).items():
            column = next(i for i, column in enumerate(self.columns) if column.group == group[0])
            kept.append(points.filter(self._residuals(column)["fold"] != fold))
        return pl.concat(kept)

    def _residuals(self, number: int) -> pl.DataFrame:
        """The rows of the residuals of a column, in the order of its points."""
        import polars as pl

        return self.tables["residuals"].filter(pl.col("column") == number)

    def nested(self, number: int) -> tuple[Array, Array, NDArray[np.intp]]:
        """Of a column: canonical points (n, d), nested residuals, and the fold each point was in."""
        import polars as pl

        points = self.tables["points"].filter(pl.col("group") == self.columns[number].group)["canonical"].to_list()
        rows = self._residuals(number)
        missed = (rows["value"] - rows["nested"]).to_numpy()
        return np.array(points, float), missed, rows["fold"].to_numpy().astype(np.intp)

    @cached_property
    def _fixed_variance(self) -> Array:
        return np.array([column.errors.trusted * column.variance for column in self.columns])

    def _blocks(self, theta: NDArray[Any]) -> list[Array]:
        """Points in pieces whose correlations with all training points, and replicates, fit into memory."""
        parameters = np.atleast_2d(np.asarray(theta, float))
        return [parameters[i : i + BLOCK] for i in range(0, len(parameters), BLOCK)] or [parameters]

    def _points(self, theta: NDArray[Any]) -> Array:
        parameters = np.asarray(theta, float)
        if parameters.ndim != 2 or parameters.shape[1] != len(self.names):
            raise InputError(
                f"theta of shape {parameters.shape}: one row a point, one column each for {', '.join(self.names)}"
            )
        return self.canonical.points(parameters)


def load_surrogate(session: Session, event: Event) -> Surrogate:
    """Read a surrogate back; it predicts the same bits as when it was fitted."""
    event = session.take(event, KIND.name)
    tables = {blob.role: session.table(event, blob.role) for blob in event.blobs}
    return read_surrogate(event, session.study(event), SurrogateFitted.of(event).names, tables)


def read_surrogate(event: Event, study: Study, names: tuple[str, ...], tables: Mapping[str, pl.DataFrame]) -> Surrogate:
    """A surrogate from its tables."""
    import polars as pl

    try:
        canonical = Canonical.of_study(study)
        columns = tuple(_column(row) for row in tables["outputs"].iter_rows(named=True))
        parts = []
        for family in dict.fromkeys([*FAMILIES, *(column.family for column in columns)]):
            numbers = tuple(i for i, column in enumerate(columns) if column.family == family)
            if numbers:
                parts.append(
                    LoadedPart(family, numbers, family_module(family).load(canonical.families, tables, numbers))
                )
    except (KeyError, ValueError, TypeError, pl.exceptions.PolarsError) as fault:
        raise LedgerError(f"surrogate {event.id}: cannot be read ({fault})") from fault
    return Surrogate(event, study, names, columns, canonical, tuple(parts), tables)


def _column(row: Mapping[str, Any]) -> Column:
    # Surrogates of a time before their folds were kept have neither `elsewhere` nor `group`.
    errors = Errors(row["loo"], row["loo_corrected"], row["nested"], row["held_out"], row.get("elsewhere"))
    inflation = row["inflation"] or 1.0
    return Column(
        row["case"], row["output"], row["family"], errors, row["mean"], row["variance"], inflation, row.get("group")
    )
