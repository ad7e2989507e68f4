"""Indices read off an expansion: ratios of sums of squared coefficients (Sudret, 2008), exact for the expansion.

Intervals are those of the coefficients on resampled designs, the terms kept: what the design leaves open, not what the
terms cannot follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from percuss.sensitivity.indices import Array, Indices, bare, with_interval
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

METHOD = "expansion"
MEASURES = ("first", "total", "shapley")


def part_indices(
    surrogate: Surrogate, part: LoadedPart, groups: Mapping[str, Sequence[int]], level: float
) -> dict[int, Indices]:
    """Indices of the outputs a part of a surrogate stands for, by column."""
    model = part.model
    assert isinstance(model, Expansions)
    found: Mapping[str, Any] = model.core.sobol([list(members) for members in groups.values()])
    replicates = _replicates(surrogate, part, model)
    indices = {}
    for i, number in enumerate(part.columns):
        column = surrogate.columns[number]
        known = bool(replicates) and found["variance"][i] > 0
        measures = {
            name: with_interval(found[name][i], replicates[name][:, i], level) if known else bare(found[name][i])
            for name in MEASURES
        }
        shares = {
            name: (float(found["group_closed"][i, k]), float(found["group_total"][i, k]))
            for k, name in enumerate(groups)
        }
        variance = float(found["variance"][i])
        indices[number] = Indices(
            column.case, column.output, METHOD, float(found["mean"][i]), variance, measures, found["second"][i], shares
        )
    return indices


def _replicates(surrogate: Surrogate, part: LoadedPart, model: Expansions) -> dict[str, Array]:
    """Indices on every resampled design: (replicates, outputs, parameters) by measure; empty without them."""
    if not surrogate.bands:
        return {}
    rows = np.concatenate([surrogate.bands[number].replicates.coefficients for number in part.columns], axis=1)
    every: list[Mapping[str, Any]] = [model.core.with_coefficients(np.ascontiguousarray(row)).sobol() for row in rows]
    return {name: np.array([one[name] for one in every]) for name in MEASURES}
