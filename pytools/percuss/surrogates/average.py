"""The family `average`: the mean of surrogates of one output that nested errors hardly tell apart.

    y(x) = sum_k w_k y_k(x),   w_k proportional to 1 / (loo_k nested_k elsewhere_k),   sum_k w_k = 1

Errors of a few dozen runs rank surrogates badly where these are nearly as good as each other, and the mean of such
surrogates is better than most of them, since their errors differ. Weights inverse to a mean square error are those of
Bates and Granger (1969), and powers of the cross-validated one those of Goel, Haftka, Shyy and Queipo (2007). Here it
is the cube of the geometric mean of three errors, each of which sees what the others do not: `nested` what a surrogate
cannot follow, `elsewhere` how much it depends on the runs it was given, and `loo` that of all runs may be far better
than those without a fold. What weighs less than a twentieth of the best is left out.

Members are expansions and processes as their own families make and store them: their rows in the tables have a `member`
and its `weight` beside. Means, slopes, resampled designs and leave-one-out residuals are sums of theirs. The variance
is that of a mixture: the mean of theirs, and what they differ by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import LedgerError
from percuss.surrogates.model import BUILT_IN, Array, Data, Families, Model, Replicates, Tables, family_module

if TYPE_CHECKING:
    import polars as pl

LEAST_WEIGHT = 0.05
# Errors below are rounding, and all the same.
ROUNDING = 1e-30


def weights_of(loo: Array, nested: Array, elsewhere: Array) -> Array:
    """Weights (k, ...) of surrogates with these errors (k, ...), which add up to one along the first axis."""
    product = np.prod([np.maximum(errors, ROUNDING) for errors in (loo, nested, elsewhere)], axis=0)
    weights = product.min(axis=0) / product
    weights = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    return np.asarray(weights / weights.sum(axis=0))


def family_of(member: str) -> str:
    """The family that fits and loads a member: `gp-rough` is `gp` with another kernel."""
    return member if member in BUILT_IN else "gp"


@dataclass(frozen=True)
class Member:
    """A surrogate of one output, and what it counts for."""

    name: str
    weight: float
    model: Model


@dataclass(frozen=True)
class Averages:
    """The members of every output, and the typical variance of each at points that were left out of a fit."""

    outputs: tuple[tuple[Member, ...], ...]
    typical: tuple[float, ...] = ()

    def loo_residuals(self, data: Data) -> Array:
        residuals = []
        for j, members in enumerate(self.outputs):
            own = Data(data.families, data.points, data.values[:, [j]])
            residuals.append(_sum(members, [member.model.loo_residuals(own)[:, 0] for member in members]))
        return np.stack(residuals, axis=1)

    def facts(self) -> list[dict[str, Any]]:
        named = [", ".join(f"{m.name} {m.weight:.2f}" for m in members) for members in self.outputs]
        return [{"method": n, "loo_variance": v} for n, v in zip(named, self.typical, strict=True)]

    def mean(self, points: Array) -> Array:
        return np.stack([_sum(members, _means(members, points)) for members in self.outputs], axis=1)

    def gradient(self, points: Array) -> tuple[Array, Array]:
        means, slopes = [], []
        for members in self.outputs:
            both = [member.model.gradient(points) for member in members]
            means.append(_sum(members, [mean[:, 0] for mean, _ in both]))
            slopes.append(_sum(members, [slope[:, 0] for _, slope in both]))
        return np.stack(means, axis=1), np.stack(slopes, axis=1)

    def distance(self, other: Any) -> Array | None:
        return None

    def variance(self, points: Array) -> Array | None:
        variances = []
        for members in self.outputs:
            local = {i: member.model.variance(points) for i, member in enumerate(members)}
            own = _known(members, {i: None if v is None else v[:, 0] for i, v in local.items()})
            each = np.stack(_means(members, points))
            variances.append(own + _sum(members, (each - _sum(members, each)) ** 2))
        return np.stack(variances, axis=1)

    def resampled(self, data: Data, counts: NDArray[np.intp]) -> list[Replicates]:
        every = []
        for j, members in enumerate(self.outputs):
            own = Data(data.families, data.points, data.values[:, [j]])
            each = [member.model.resampled(own, counts)[0] for member in members]
            coefficients = np.concatenate([one.coefficients for one in each], axis=1)
            every.append(Replicates(coefficients, np.concatenate([one.weights for one in each], axis=1)))
        return every

    def replicate_sizes(self, output: int) -> tuple[int, int]:
        each = [member.model.replicate_sizes(0) for member in self.outputs[output]]
        return sum(c for c, _ in each), sum(w for _, w in each)

    def replicate_means(self, points: Array, output: int, replicates: Replicates) -> Array:
        members = self.outputs[output]
        means, first, of_weights = [], 0, 0
        for member in members:
            coefficients, weights = member.model.replicate_sizes(0)
            own = Replicates(
                replicates.coefficients[:, first : first + coefficients],
                replicates.weights[:, of_weights : of_weights + weights],
            )
            means.append(member.model.replicate_means(points, 0, own))
            first, of_weights = first + coefficients, of_weights + weights
        return _sum(members, means)

    def take(self, columns: Sequence[int]) -> Model:
        typical = tuple(self.typical[j] for j in columns) if self.typical else ()
        return Averages(tuple(self.outputs[j] for j in columns), typical)

    def tables(self, columns: Sequence[int], group: int) -> Tables:
        import polars as pl

        parts: dict[str, list[pl.DataFrame]] = {}
        for column, members in zip(columns, self.outputs, strict=True):
            for member in members:
                for role, table in member.model.tables([column], group).items():
                    marked = table.with_columns(member=pl.lit(member.name), weight=pl.lit(member.weight, pl.Float64))
                    parts.setdefault(role, []).append(marked)
        return {role: pl.concat(tables, how="diagonal") for role, tables in parts.items()}


def typical_variance(members: Sequence[Member], left_out: Sequence[Array]) -> float:
    """The typical variance at points that were left out, of which `left_out` is what each member says."""
    known = {i: member.model.facts()[0].get("loo_variance") for i, member in enumerate(members)}
    mean = _sum(members, left_out)
    apart = _sum(members, [(one - mean) ** 2 for one in left_out])
    return float(_known(members, known)) + float(apart.mean())


def _means(members: Sequence[Member], points: Array) -> list[Array]:
    return [member.model.mean(points)[:, 0] for member in members]


def _sum(members: Sequence[Member], each: Sequence[Array] | Array) -> Array:
    """What the members say, each with its weight: always in their order, so that the bits are the same."""
    total = members[0].weight * each[0]
    for member, one in zip(members[1:], each[1:], strict=True):
        total = total + member.weight * one
    return np.asarray(total)


def _known(members: Sequence[Member], values: Mapping[int, Any]) -> Any:
    """The mean of what some members know: expansions have no variance of their own."""
    known = {i: value for i, value in values.items() if value is not None}
    return sum(members[i].weight * value for i, value in known.items()) / sum(members[i].weight for i in known)


def load(families: Families, tables: Mapping[str, pl.DataFrame], columns: Sequence[int]) -> Model:
    """The members of these outputs, in the order in which they were stored."""
    import polars as pl

    outputs = []
    for column in columns:
        own = {
            role: tables[role].filter(pl.col("column") == column) for role in ("terms", "processes") if role in tables
        }
        listed = {
            name: weight for table in own.values() for name, weight in table.select("member", "weight").iter_rows()
        }
        members = []
        for name in ordered(listed):
            rows = {role: table.filter(pl.col("member") == name) for role, table in own.items()}
            model = family_module(family_of(name)).load(families, {**rows, "points": tables["points"]}, [column])
            members.append(Member(name, listed[name], model))
        if not members:
            raise LedgerError(f"a surrogate without the members of its output {column}")
        outputs.append(tuple(members))
    return Averages(tuple(outputs))


def ordered(names: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Members by family, then by name."""
    return sorted(names, key=lambda name: (BUILT_IN.index(family_of(name)), name))
