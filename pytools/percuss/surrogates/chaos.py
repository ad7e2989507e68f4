"""The family `chaos`: sparse polynomial-chaos expansions, fitted and evaluated by the core.

    y(x) = sum_a c_a prod_k p_{a_k}(x_k),   ||a||_q <= degree       (Blatman and Sudret, 2011)

Degree, q and terms are those with the least corrected leave-one-out error. Stored as one row a term: output, degree of
each parameter, coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss._core import ChaosExpansion, chaos_fit
from percuss.errors import InputError, LedgerError
from percuss.surrogates.model import Array, Data, Families, Model, Replicates, Settings, Tables

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Expansions:
    """Expansions of all outputs; `notes` is what the fit had to say of each."""

    core: ChaosExpansion
    notes: tuple[dict[str, Any], ...] = field(default=())

    @cached_property
    def terms(self) -> list[NDArray[np.uint8]]:
        """Multi-indices (terms, parameters) of each output, the constant first."""
        indices, terms, offsets = self.core.indices, self.core.terms, self.core.offsets
        return [indices[terms[offsets[j] : offsets[j + 1]]] for j in range(self.core.outputs)]

    @cached_property
    def coefficients(self) -> list[Array]:
        """Coefficients of each output, in the order of its terms."""
        offsets, values = self.core.offsets, self.core.coefficients
        return [values[offsets[j] : offsets[j + 1]] for j in range(self.core.outputs)]

    @cached_property
    def bases(self) -> list[ChaosExpansion]:
        """For each output its terms one by one, as outputs of their own."""
        return [basis_of(self.core.families, terms) for terms in self.terms]

    def loo_residuals(self, data: Data) -> Array:
        residuals = np.empty_like(data.values)
        for j, basis in enumerate(self.bases):
            orthonormal, _ = np.linalg.qr(basis.predict(data.points))
            leverage = np.einsum("ij,ij->i", orthonormal, orthonormal)
            y = data.values[:, j]
            residual = y - orthonormal @ (orthonormal.T @ y)
            residuals[:, j] = residual / np.maximum(1.0 - leverage, 1e-12)
        return residuals

    def facts(self) -> list[dict[str, Any]]:
        return list(self.notes)

    def mean(self, points: Array) -> Array:
        return self.core.predict(points)

    def gradient(self, points: Array) -> tuple[Array, Array]:
        return self.core.predict_with_gradient(points)

    def distance(self, other: Expansions) -> Array:
        """Exactly: the terms are orthonormal under the prior, far out in its tails as well."""
        distances = []
        for j in range(self.core.outputs):
            terms = np.concatenate([self.terms[j], other.terms[j]])
            both, numbers = np.unique(terms, axis=0, return_inverse=True)
            signed = np.concatenate([self.coefficients[j], -other.coefficients[j]])
            apart = np.bincount(numbers.reshape(-1), signed, len(both))
            distances.append(float(apart @ apart))
        return np.array(distances)

    def variance(self, points: Array) -> Array | None:
        return None

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        replicates = []
        for j, basis in enumerate(self.bases):
            psi = basis.predict(data.points)
            rows = [weighted_least_squares(psi, data.values[:, j], count) for count in counts]
            replicates.append(Replicates(np.array(rows), np.empty((len(rows), 0))))
        return replicates

    def replicate_sizes(self, output: int) -> tuple[int, int]:
        return len(self.coefficients[output]), 0

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        return replicates.coefficients @ self.bases[output].predict(points).T

    def take(self, columns: Sequence[int]) -> Model:
        notes = tuple(self.notes[j] for j in columns) if self.notes else ()
        chosen = [(self.terms[j], self.coefficients[j]) for j in columns]
        return Expansions(expansion_of(self.core.families, chosen), notes)

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        return {"terms": term_table(columns, self.terms, self.coefficients)}


def fit(data: Data, settings: Settings, near: Model | None = None) -> Expansions:
    """Fit every output. The same data are fitted once, whoever asks."""
    if "chaos" not in data.known:
        data.known["chaos"] = _fit(data, settings)
    expansions: Expansions = data.known["chaos"]
    return expansions


def _fit(data: Data, settings: Settings) -> Expansions:
    try:
        core, facts = chaos_fit(
            data.families,
            data.points,
            data.values,
            degrees=list(settings.degrees),
            q=list(settings.qs),
            method=settings.method,  # type: ignore[arg-type]
            search=settings.search,  # type: ignore[arg-type]
            max_candidates=settings.max_candidates,
        )
    except ValueError as fault:
        raise InputError(f"chaos: {fault}", hint=_hint(str(fault))) from None
    sizes = np.diff(core.offsets)
    notes = tuple(
        {
            "constant": bool(facts["constant"][j]),
            "method": facts["method"][j],
            "degree": int(facts["degree"][j]),
            "q": float(facts["q"][j]),
            "candidates": int(facts["candidates"][j]),
            "terms": int(sizes[j]),
            "loo_corrected": float(facts["corrected_loo"][j]),
            "leverage": float(facts["largest_leverage"][j]),
            "condition": float(facts["condition"][j]),
        }
        for j in range(core.outputs)
    )
    return Expansions(core, notes)


def _hint(message: str) -> str | None:
    if "too few" in message:
        return "lower --degree, take --method best, or run more points (percuss design --extend)"
    if "max_candidates" in message:
        return "lower --degree or --q"
    return None


def load(families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Expansions:
    """The expansions of these outputs."""
    return Expansions(expansion_of(families, [read_terms(tables["terms"], column) for column in columns]))


def term_table(columns: Sequence[int], terms: Sequence[NDArray[np.uint8]], coefficients: Sequence[Array]) -> Any:
    """Terms as a table: one row a term."""
    import polars as pl

    return pl.DataFrame(
        {
            "column": pl.Series(np.repeat(columns, [len(t) for t in terms]), dtype=pl.Int64),
            "degrees": pl.Series([row for t in terms for row in t.tolist()], dtype=pl.List(pl.Int64)),
            "coefficient": pl.Series(np.concatenate(coefficients), dtype=pl.Float64),
        }
    )


def read_terms(table: pl.DataFrame, column: int) -> tuple[NDArray[np.uint8], Array]:
    """Multi-indices and coefficients of one output."""
    import polars as pl

    rows = table.filter(pl.col("column") == column)
    if not rows.height:
        raise LedgerError(f"a surrogate without the terms of its output {column}")
    return np.array(rows["degrees"].to_list(), np.uint8), rows["coefficient"].to_numpy()


def expansion_of(families: Families, outputs: Sequence[tuple[NDArray[np.uint8], Array]]) -> ChaosExpansion:
    """One expansion from the terms and coefficients of each output."""
    every = np.concatenate([terms for terms, _ in outputs])
    indices, numbers = np.unique(every, axis=0, return_inverse=True)
    sizes = [len(terms) for terms, _ in outputs]
    return ChaosExpansion(
        families,
        np.ascontiguousarray(indices),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        numbers.reshape(-1).astype(np.uint32),
        np.ascontiguousarray(np.concatenate([coefficients for _, coefficients in outputs])),
    )


def basis_of(families: Families, terms: NDArray[np.uint8]) -> ChaosExpansion:
    """Each term as an output of its own."""
    count = len(terms)
    numbers = np.arange(count, dtype=np.uint32)
    return ChaosExpansion(families, np.ascontiguousarray(terms), np.arange(count + 1), numbers, np.ones(count))


def weighted_least_squares(psi: Array, y: Array, weights: NDArray[np.intp]) -> Array:
    """Coefficients for points counted so many times; the shortest solution where they do not determine it."""
    from scipy.linalg import cho_factor, cho_solve

    used = np.flatnonzero(weights)
    rows, right = psi[used], y[used]
    weighted = rows * weights[used, None]
    if len(used) > rows.shape[1]:
        try:
            factor = cho_factor(weighted.T @ rows, lower=True, check_finite=False)
            diagonal = np.diag(factor[0])
            # Beyond this ratio the normal equations would lose half the digits.
            if diagonal.min() > 1e-6 * diagonal.max():
                return np.asarray(cho_solve(factor, weighted.T @ right, check_finite=False))
        except np.linalg.LinAlgError:
            pass
    root = np.sqrt(weights[used])
    return np.asarray(np.linalg.lstsq(rows * root[:, None], right * root, rcond=1e-10)[0])
