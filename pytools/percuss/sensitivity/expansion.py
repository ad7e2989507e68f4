"""Indices read off an expansion: ratios of sums of squared coefficients (Sudret, 2008), exact for the expansion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from percuss.sensitivity.indices import Array, Indices, bare
from percuss.sensitivity.intervals import Shares, expansion_effects, fold_model, missed, widened
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

METHOD = "expansion"
MEASURES = ("first", "total", "shapley")


def part_indices(
    surrogate: Surrogate, part: LoadedPart, groups: Mapping[str, Sequence[int]], level: float, seed: int
) -> dict[int, Indices]:
    """Indices of the outputs a part of a surrogate stands for, by column."""
    model = part.model
    assert isinstance(model, Expansions)
    sobol: Mapping[str, Any] = model.core.sobol([list(members) for members in groups.values()])
    indices = {}
    for i, number in enumerate(part.columns):
        column = surrogate.columns[number]
        variance = float(sobol["variance"][i])
        measures = {name: bare(sobol[name][i]) for name in MEASURES}
        by = missed(surrogate, number, expansion_effects) if variance > 0 else None
        if by is not None:
            whole = Shares({name: variance * sobol[name][i] for name in MEASURES}, variance)
            measures = widened(measures, by, [whole, _fold_shares(surrogate, number)], level, seed)
        shares = {
            name: (float(sobol["group_closed"][i, k]), float(sobol["group_total"][i, k]))
            for k, name in enumerate(groups)
        }
        indices[number] = Indices(
            column.case, column.output, METHOD, float(sobol["mean"][i]), variance, measures, sobol["second"][i], shares
        )
    return indices


def _fold_shares(surrogate: Surrogate, number: int) -> Shares:
    """Mean shares of the expansions that were fitted without each fold."""
    parts: dict[str, Array] = {}
    whole, count = 0.0, len(surrogate.folds)
    for fold in range(count):
        model = fold_model(surrogate, fold, number)
        assert isinstance(model, Expansions)
        sobol: Mapping[str, Any] = model.core.sobol()
        variance = float(sobol["variance"][0])
        whole += variance / count
        for name in MEASURES:
            # Indices of a constant are not numbers, and its shares are none.
            parts[name] = parts.get(name, 0.0) + variance * np.nan_to_num(sobol[name][0]) / count
    return Shares(parts, whole)
