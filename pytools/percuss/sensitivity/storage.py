"""Indices as tables and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.sensitivity.compute import Computed
from percuss.sensitivity.indices import Indices

if TYPE_CHECKING:
    import polars as pl


def indices_tables(computed: Computed) -> dict[str, pl.DataFrame]:
    """The tables `indices`, `second` and `groups`, where there are such."""
    tables = {"indices": indices_table(computed)}
    if any(item.second is not None for item in computed.indices):
        tables["second"] = second_table(computed)
    if any(item.groups for item in computed.indices):
        tables["groups"] = groups_table(computed)
    return tables


def indices_table(computed: Computed) -> pl.DataFrame:
    """One row a case, output, measure and parameter."""
    import polars as pl

    rows = []
    for item in (*computed.indices, *computed.together):
        for measure, estimate in item.measures.items():
            for k, name in enumerate(computed.names):
                rows.append(
                    {
                        "case": item.case,
                        "output": item.output,
                        "method": item.method,
                        "measure": measure,
                        "parameter": name,
                        "value": _number(estimate.values[k]),
                        "low": _number(estimate.low[k]),
                        "high": _number(estimate.high[k]),
                    }
                )
    text, number = pl.String(), pl.Float64()
    schema: dict[str, Any] = dict.fromkeys(("case", "output", "method", "measure", "parameter"), text)
    return pl.DataFrame(rows, schema | dict.fromkeys(("value", "low", "high"), number))


def second_table(computed: Computed) -> pl.DataFrame:
    """One row a case, output and pair of parameters."""
    import polars as pl

    rows = [
        {"case": item.case, "output": item.output, "first": a, "second": b, "value": _number(value)}
        for item in (*computed.indices, *computed.together)
        for (a, b), value in pairs(item, computed.names).items()
    ]
    text = pl.String()
    return pl.DataFrame(rows, {"case": text, "output": text, "first": text, "second": text, "value": pl.Float64()})


def groups_table(computed: Computed) -> pl.DataFrame:
    """One row a case, output and group of parameters: closed and total share."""
    import polars as pl

    rows = [
        {"case": item.case, "output": item.output, "group": name, "closed": _number(closed), "total": _number(total)}
        for item in (*computed.indices, *computed.together)
        for name, (closed, total) in item.groups.items()
    ]
    return pl.DataFrame(rows)


def pairs(item: Indices, names: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Second-order indices by pair of parameters."""
    if item.second is None:
        return {}
    d = len(names)
    return {(names[i], names[j]): float(item.second[i, j]) for i in range(d) for j in range(i + 1, d)}


def facts(item: Indices, names: tuple[str, ...]) -> dict[str, object]:
    """Indices of one output for JSON."""
    body: dict[str, object] = {
        "case": item.case,
        "output": item.output,
        "method": item.method,
        "mean": _number(item.mean),
        "variance": _number(item.variance),
    }
    for measure, values in item.measures.items():
        body[measure] = _named(names, values.values)
        if np.isfinite(values.low).any():
            intervals = zip(names, values.low, values.high, strict=True)
            body[f"{measure}_interval"] = {name: [_number(a), _number(b)] for name, a, b in intervals}
    if item.second is not None:
        body["second"] = {f"{a},{b}": _number(value) for (a, b), value in pairs(item, names).items()}
    if item.groups:
        body["groups"] = {name: {"closed": _number(c), "total": _number(t)} for name, (c, t) in item.groups.items()}
    return body


def _named(names: tuple[str, ...], values: Any) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(names, values, strict=True)}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
