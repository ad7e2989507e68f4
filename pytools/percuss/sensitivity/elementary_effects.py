"""Screening by elementary effects (Morris, 1991; Campolongo, Cariboni and Saltelli, 2007).

Along a trajectory of d + 1 points one parameter after the other moves by half of its probability. The effect of a step
is the change of the output over that half: mu is its mean, mu_star the mean of its size, sigma its spread (large:
interactions or curvature). In the output's SI unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from percuss.designs.morris import trajectories
from percuss.errors import InputError
from percuss.sensitivity.indices import Array, Indices, bare, with_interval
from percuss.sensitivity.sampling import Function

METHOD = "morris"
RESAMPLES = 200


def screen(
    function: Function, dimensions: int, names: Sequence[tuple[str, str]], count: int, seed: int, level: float
) -> list[Indices]:
    """Screen a function of the unit cube along `count` trajectories."""
    unit = trajectories(count, dimensions, seed)
    values = function(unit)
    indices = []
    for j, (case, output) in enumerate(names):
        effects = elementary_effects(unit, values[:, [j]], np.zeros(len(unit), bool))[0]
        indices.append(_indices(case, output, effects[:, :, 0], values[:, j], level, seed))
    return indices


def design_effects(
    unit: Array,
    values: Array,
    failed: NDArray[np.bool_],
    case: str,
    outputs: Sequence[str],
    level: float,
    seed: int,
) -> tuple[list[Indices], int]:
    """Screening from the runs of a `morris` design; and how many trajectories holes cost."""
    effects, lost = elementary_effects(unit, values, failed)
    if len(effects) < 2:
        raise InputError(f"case {case}: {len(effects)} trajectories have all their runs, and two are needed")
    good = values[~failed]
    return [_indices(case, output, effects[:, :, j], good[:, j], level, seed) for j, output in enumerate(outputs)], lost


def elementary_effects(unit: Array, values: Array, failed: NDArray[np.bool_]) -> tuple[Array, int]:
    """Effects (trajectories, parameters, outputs) of whole trajectories, and how many were not whole."""
    d = unit.shape[1]
    count = len(unit) // (d + 1)
    effects = []
    for t in range(count):
        rows = slice(t * (d + 1), (t + 1) * (d + 1))
        if failed[rows].any():
            continue
        steps, changes = np.diff(unit[rows], axis=0), np.diff(values[rows], axis=0)
        effect = np.empty((d, values.shape[1]))
        for step, change in zip(steps, changes, strict=True):
            k = int(np.argmax(np.abs(step)))
            effect[k] = change / step[k]
        effects.append(effect)
    return np.array(effects).reshape(len(effects), d, values.shape[1]), count - len(effects)


def _indices(case: str, output: str, effects: Array, values: Array, level: float, seed: int) -> Indices:
    r = len(effects)
    drawn = np.random.default_rng([seed, r, 23]).integers(0, r, (RESAMPLES, r))
    size = np.abs(effects)
    measures = {
        "mu_star": with_interval(size.mean(axis=0), size[drawn].mean(axis=1), level),
        "mu": bare(effects.mean(axis=0)),
        "sigma": bare(effects.std(axis=0, ddof=1) if r > 1 else np.zeros(effects.shape[1])),
    }
    return Indices(case, output, METHOD, float(values.mean()), float(values.var()), measures)
