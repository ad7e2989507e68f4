"""A fit as tables: of terms and processes, of errors, residuals, resampled designs, holes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from percuss.execution.results import Campaign
from percuss.surrogates.fit import ColumnFit, Fitted
from percuss.surrogates.model import Array

if TYPE_CHECKING:
    import polars as pl


def surrogate_tables(campaign: Campaign, fitted: Fitted) -> dict[str, pl.DataFrame]:
    """Everything a surrogate consists of, by role."""
    import polars as pl

    tables: dict[str, list[pl.DataFrame]] = {}
    for part in fitted.parts:
        for role, table in part.model.tables(part.columns, part.group).items():
            tables.setdefault(role, []).append(table)
        for number, model in enumerate(part.folds):
            for role, table in model.tables(part.columns, part.group).items():
                tables.setdefault(f"fold_{role}", []).append(table.with_columns(fold=pl.lit(number, pl.Int64)))
    merged = {role: one_table(parts) for role, parts in tables.items()}
    merged["points"] = pl.concat([points_table(group.number, group.data.points) for group in fitted.groups])
    merged["outputs"] = _outputs_table(fitted)
    merged["residuals"] = _residuals_table(campaign, fitted)
    if fitted.bands:
        merged["replicates"] = _replicates_table(fitted)
    if any(runs.failures for runs in campaign.cases):
        merged["holes"] = holes_table(campaign)
    return dict(sorted(merged.items()))


def one_table(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables of several families in one: kernels of some processes have a shape, and those of others none."""
    import polars as pl

    return pl.concat(parts, how="diagonal")


def points_table(group: int, points: Array) -> pl.DataFrame:
    """The distinct canonical points of a group of outputs."""
    import polars as pl

    return pl.DataFrame(
        {
            "group": pl.Series([group] * len(points), dtype=pl.Int64),
            "canonical": pl.Series(points.tolist(), dtype=pl.List(pl.Float64)),
        }
    )


def _inflation(column: ColumnFit) -> float | None:
    """By how much a family's own variance must be raised for its mean to be the trusted error."""
    typical = column.facts.get("loo_variance")
    if not typical:
        return None
    return max(1.0, column.errors.trusted * column.variance / float(typical))


def _outputs_table(fitted: Fitted) -> pl.DataFrame:
    import polars as pl

    text, number, whole = pl.String(), pl.Float64(), pl.Int64()
    schema: dict[str, Any] = {
        "column": whole, "group": whole, "case": text, "output": text, "family": text, "loo": number,
        "loo_corrected": number, "nested": number, "elsewhere": number, "held_out": number, "mean": number,
        "variance": number, "inflation": number, "band_floor": number, "points": whole, "method": text,
        "degree": whole, "q": number, "candidates": whole, "terms": whole, "leverage": number, "condition": number,
        "warnings": pl.List(pl.String()), "tried": pl.List(pl.String()), "tried_errors": pl.List(pl.Float64()),
    }  # fmt: skip
    # Of two levels: what the low one is multiplied by, and how it goes with the runs.
    levels = [name for name in ("rho", "correlation") if any(name in column.facts for column in fitted.columns)]
    schema |= dict.fromkeys(levels, number)
    rows = []
    group_of = {number: group.number for group in fitted.groups for number in group.columns}
    for i, column in enumerate(fitted.columns):
        e, facts = column.errors, column.facts
        rows.append(
            {
                "column": i,
                "group": group_of[i],
                "case": column.case,
                "output": column.output,
                "family": column.family,
                "loo": e.loo,
                "loo_corrected": e.loo_corrected,
                "nested": e.nested,
                "elsewhere": e.elsewhere,
                "held_out": e.held_out,
                "mean": column.mean,
                "variance": column.variance,
                "inflation": _inflation(column),
                "band_floor": fitted.bands[i].floor if i in fitted.bands else None,
                "points": column.points,
                **{key: facts.get(key) for key in ("method", "degree", "q", "candidates", "terms", "leverage")},
                "condition": facts.get("condition"),
                **{key: facts.get(key) for key in levels},
                "warnings": list(column.warnings),
                "tried": list(column.tried),
                "tried_errors": list(column.tried.values()),
            }
        )
    return pl.DataFrame(rows, schema)


def _residuals_table(campaign: Campaign, fitted: Fitted) -> pl.DataFrame:
    import polars as pl

    parts = []
    for number, r in sorted(fitted.residuals.items()):
        n = len(r.rows)
        places = [campaign.places[int(row)] for row in r.rows]
        empty = [None] * n
        parts.append(
            pl.DataFrame(
                {
                    "column": pl.Series([number] * n, dtype=pl.Int64),
                    "design": pl.Series([campaign.designs[k].id for k, _ in places], dtype=pl.String),
                    "sample": pl.Series([i for _, i in places], dtype=pl.Int64),
                    "value": pl.Series(r.values, dtype=pl.Float64),
                    "fitted": pl.Series(r.fitted, dtype=pl.Float64),
                    "left_out": pl.Series(r.left_out, dtype=pl.Float64),
                    "nested": pl.Series(empty if r.nested is None else r.nested, dtype=pl.Float64),
                    "fold": pl.Series(empty if r.folds is None else r.folds, dtype=pl.Int64),
                    "scale": pl.Series(empty if r.scale is None else r.scale, dtype=pl.Float64),
                }
            )
        )
    return pl.concat(parts)


def _replicates_table(fitted: Fitted) -> pl.DataFrame:
    import polars as pl

    parts = []
    for number, band in sorted(fitted.bands.items()):
        coefficients, weights = band.replicates
        listed = pl.List(pl.Float64)
        parts.append(
            pl.DataFrame(
                {
                    "column": pl.Series([number] * len(coefficients), dtype=pl.Int64),
                    "coefficients": pl.Series(coefficients.tolist(), dtype=listed),
                    "weights": pl.Series(weights.tolist(), dtype=listed),
                }
            )
        )
    return pl.concat(parts)


def holes_table(campaign: Campaign) -> pl.DataFrame:
    """Runs that failed: case, design, sample, parameters in SI, reason."""
    import polars as pl

    rows: list[dict[str, object]] = []
    for runs in campaign.cases:
        for row, reason in sorted(runs.failures.items()):
            design, sample = campaign.places[row]
            values = dict(zip(campaign.names, campaign.theta[row].tolist(), strict=True))
            rows.append(
                {"case": runs.case, "design": campaign.designs[design].id, "sample": sample, **values, "failed": reason}
            )
    return pl.DataFrame(rows)
