"""Indices of whole curves: at every instant, and of the curve as one.

With y(t) = m(t) + sum_k s_k f_k(t) and expansions of the scores s_k, the coefficients at an instant are sums of
those of the scores, and so are the indices: exact for the surrogate. Over the whole curve partial variances are
integrated (Lamboni, Monod and Makowski, 2011): an instant counts by its variance. Scores with other surrogates have no
expansion; then there are no indices over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.modes import load_modes
from percuss.surrogates.surrogate import Surrogate

_SCHEMA: dict[str, Any] = dict.fromkeys(("case", "parameter"), pl.String())
_SCHEMA |= dict.fromkeys(("axis", "first", "total", "variance"), pl.Float64())


def over_time_table(surrogate: Surrogate, cases: Sequence[str]) -> pl.DataFrame:
    """One row a case (of these), instant and parameter: first-order and total index, variance of the curve there."""
    if any(part.family != "chaos" for part in surrogate.parts):
        raise InputError("indices over time need expansions of all modes", hint="fit the curves with --family chaos")
    (part,) = surrogate.parts
    model = part.model
    assert isinstance(model, Expansions)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for case in cases:
        modes = load_modes(surrogate.tables, case)
        numbers = [i for i, number in enumerate(part.columns) if surrogate.columns[number].case == case]
        terms = np.unique(np.concatenate([model.terms[i] for i in numbers]), axis=0)
        row_of = {tuple(row): i for i, row in enumerate(terms.tolist())}
        scores = np.zeros((len(numbers), len(terms)))
        for k, i in enumerate(numbers):
            for row, value in zip(model.terms[i].tolist(), model.coefficients[i], strict=True):
                scores[k, row_of[tuple(row)]] = value
        squares = (modes.modes.T @ scores) ** 2
        support = terms > 0
        squares[:, ~support.any(axis=1)] = 0.0
        variance = squares.sum(axis=1)
        alone = support.sum(axis=1) == 1
        for j, name in enumerate(surrogate.names):
            first = squares @ (support[:, j] & alone)
            total = squares @ support[:, j]
            parts.append(
                pl.DataFrame(
                    {
                        "case": [case] * len(modes.axis),
                        "parameter": [name] * len(modes.axis),
                        "axis": modes.axis,
                        "first": _share(first, variance),
                        "total": _share(total, variance),
                        "variance": variance,
                    }
                )
            )
    return pl.concat(parts)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Ratios; NaN where the curve does not vary."""
    tiny = 1e-14 * whole.max(initial=0.0)
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > tiny))


def summary(table: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Indices of each case's curve as one, by parameter."""
    summaries: dict[str, dict[str, dict[str, float]]] = {}
    for (case, name), rows in table.partition_by(["case", "parameter"], as_dict=True, maintain_order=True).items():
        axis, variance = rows["axis"].to_numpy(), rows["variance"].to_numpy()
        whole = float(np.trapezoid(variance, axis))
        shares = {
            key: float(np.trapezoid(np.nan_to_num(rows[key].to_numpy()) * variance, axis)) / whole if whole > 0 else 0.0
            for key in ("first", "total")
        }
        summaries.setdefault(str(case), {})[str(name)] = shares
    return summaries
